"""The columns of a sweep, its filter, its tables as text, and its map."""

import csv
import io

import numpy as np
import pytest

from core.experiments.sweep.filter import apply_filter, find_column
from core.experiments.sweep.frame import REDUCTIONS as CORE_REDUCTIONS
from nrsfm_gui.text.sweep_map import REDUCTIONS, build_map, default_settings, map_text
from nrsfm_gui.text.sweep_rows import number_format, number_text, setting_texts
from nrsfm_gui.text.table_text import LATEX, MARKDOWN, TABS

pytestmark = pytest.mark.usefixtures("qapp")


def test_columns_are_what_varied_then_numbers_then_how_runs_ended(rows):
    assert rows.count_text(8) == "8 runs · 1 without a result"
    assert rows.count_text(3) == "3 shown · 8 runs · 1 without a result"
    names = [column.name for column in rows.columns]
    assert names[:4] == ["rank", "eta", "seed", "procrustes_mm"] and names[-2:] == ["status", "error"]
    assert find_column(rows.sweep, "3-d error").name == "procrustes_mm" and rows.sweep.failed.sum() == 1
    assert "penalty wnn" in rows.common_settings() and "rank" not in rows.common_settings()


def test_a_failed_run_has_its_sentence_and_no_numbers(rows):
    failed = int(np.flatnonzero(rows.sweep.failed)[0])
    assert rows.run_details(failed, kept=False).startswith("failed: LinAlgError: <b>the matrix</b>")
    assert rows.column("procrustes_mm").text(failed) == "–"
    good = int(np.flatnonzero(~rows.sweep.failed)[0])
    assert "its result was not kept" in rows.run_details(good, kept=False)
    assert "mm" in rows.run_details(good, kept=True) and "kept" not in rows.run_details(good, kept=True)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("", 8), ("rank=2 eta>0.1 seed!=0", 1), ("FAILED", 1), ("singular", 1), ("rank=x", 0),
        ("nothing=1", 0), ("rank=1,2 eta=0.2,", 4), ("rank= 2, 3", 4), ("RANK=2", 4),
        ("eta = 0.20 converged", 3), ("time (s) < 1", 8), ("Error>=0 mm rank=2", 3),
        ("procrustes-mm>=0mm", 7), ("tolerance<1 penalty=WNN starts=1", 8), ("balloon", 8), ("rank=", 8),
        ("wnn rank=2", 4), ("failure!=–", 1), ("version>0", 8),
    ],
)  # fmt: skip
def test_a_filter_keeps_the_runs_that_have_all_its_words(rows, pattern, count):
    assert apply_filter(rows.sweep, pattern).kept.sum() == count


def test_a_number_equals_a_value_to_its_digits_unless_one_is_that_value(rows):
    error = rows.column("procrustes_mm").numbers
    best = int(np.nanargmin(error))
    for digits in (2, 3, 5):
        kept = apply_filter(rows.sweep, f"error={error[best]:.{digits}g}").kept
        assert kept[best] and all(f"{e:.{digits}g}" == f"{error[best]:.{digits}g}" for e in error[kept])
    assert apply_filter(rows.sweep, "eta=0.05").kept.sum() == 4


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("rnk=2", "No column rnk; rank?"), ("nothing=1", "No column nothing"),
        ("rank=", "No value after rank ="),
        ("seed", 'No value after seed, such as "rank=4"'), ("=4", 'No name before =, such as "rank=4"'),
        ("rank=x", "rank: x is no number"), ("error<0,5", "3-D error: 0,5 is no number"), ("rank=2", ""),
        ("", ""), ("nothing", ""), ("toleranc<1", "No column toleranc; tolerance?"),
    ],
)  # fmt: skip
def test_what_a_filter_does_not_understand_is_named(rows, pattern, problem):
    assert apply_filter(rows.sweep, pattern).problem == problem


def test_the_example_of_a_filter_keeps_runs_of_the_sweep(rows):
    example = rows.filter_example()
    assert example.startswith("rank=") and "3-D error<" in example and example.endswith("converged")
    found = apply_filter(rows.sweep, example)
    assert found.problem == "" and 0 < found.kept.sum() < len(rows)


def test_tables_are_copied_with_all_digits(rows):
    order = np.arange(len(rows))[::-1]
    read = list(csv.DictReader(io.StringIO(rows.text(rows.columns, order, TABS)), delimiter="\t"))
    assert [float(row["eta"]) for row in read] == [rows.sweep.row(k)["eta"] for k in order]
    errors = [rows.sweep.row(k)["procrustes_mm"] for k in order]
    assert [row["3-D error (mm)"] for row in read] == ["" if e is None else str(e) for e in errors]
    assert "<b>" not in rows.text(rows.columns, order, MARKDOWN)


def test_the_map_has_the_reduction_of_every_cell_and_finds_its_best_run(rows):
    assert REDUCTIONS.keys() == CORE_REDUCTIONS.keys()
    every = np.ones(len(rows), dtype=bool)
    assert default_settings(rows) == ("eta", "rank")
    found = build_map(rows, every, "procrustes_mm", "eta", "rank", "least")
    assert found.title == "3-D error (mm), balloon, least over seed"
    assert found.note == "1 to 2 runs a cell · 1 failed"
    assert found.rows == ("1", "2") and found.columns == ("0.05", "0.2")
    assert found.table.counts.tolist() == [[2, 2], [2, 1]]
    errors = rows.column("procrustes_mm").numbers
    for (row, column), runs in found.members.items():
        best = found.best_run(row, column)
        assert best in runs and errors[best] == np.nanmin(errors[runs]) == found.values[row, column]
        assert found.cell_of(best) == (row, column) and rows.run_title(best) in found.tip(row, column)
    assert "without a result: 1" in found.tip(1, 1) and "2 runs" in found.tip(0, 0)


def test_a_map_over_one_setting_has_one_row_and_one_over_no_run_is_none(rows):
    every = np.ones(len(rows), dtype=bool)
    found = build_map(rows, every, "seconds", "rank", "", "mean")
    assert found.values.tolist() == [[0.5, 0.5]] and found.down == "" and "eta and seed" in found.title
    assert build_map(rows, ~every, "seconds", "rank", "", "mean") is None


@pytest.mark.parametrize(
    ("numbers", "unit", "texts"),
    [
        ((3.1213, 3.12, 1.0, 12.25), "mm", ("3.121", "3.120", "1.000", "12.250")),
        ((1.0, 18.83, np.nan), "s", ("1.0", "18.8", "–")),
        ((100.04, 99.5), "MB", ("100", "100")),
        ((40.0, 590.0), "", ("40", "590")),
        ((0.015, 1.5e-7, 0.0), "", ("1.500e−02", "1.500e−07", "0.000e+00")),
        ((-1.82528, -12.5), "", ("−1.83", "−12.50")),
        ((2e-5, 3e-6), "mm", ("2.000e−05", "3.000e−06")),
        ((0.5, 0.5), "s", ("0.5", "0.5")),
        ((1e308, -1e308), "s", ("1.000e+308", "−1.000e+308")),
        ((np.nan,), "mm", ("–",)),
    ],
)
def test_numbers_of_a_column_have_the_same_decimals(numbers, unit, texts):
    spec = number_format(np.array(numbers), unit)
    assert tuple(number_text(number, spec) for number in numbers) == texts


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((0.001, 0.00562341, 0.0316228), ("0.001", "0.0056", "0.032")),
        ((0.125, 12, "wnn", None), ("0.125", "12", "wnn", "–")),
        ((0.10001, 0.10002), ("0.10001", "0.10002")),
        ((1234.5, -1234.25), ("1234", "−1234")),
    ],
)
def test_settings_are_short_and_differ_where_they_do(values, texts):
    assert setting_texts(values) == texts


def test_copied_tables_have_numbers_on_the_right_and_text_on_the_left(rows):
    columns = [rows.column(name) for name in ("rank", "log10_loss", "status")]
    order = np.arange(len(rows))
    markdown, latex = (rows.text(columns, order, form) for form in (MARKDOWN, LATEX))
    lines = markdown.splitlines()
    assert lines[:2] == ["| rank | log10 loss | status |", "| ---: | ---: | :--- |"] and len(lines) == 10
    assert (
        r"\begin{tabular}{rrl}" in latex
        and r"\toprule" in latex
        and r"rank & log10 loss & status \\" in latex
    )
    assert "−" not in markdown + latex and "$-$" not in latex and " & -" in latex


def test_a_map_is_copied_as_a_table(rows):
    state = build_map(rows, np.ones(len(rows), dtype=bool), "procrustes_mm", "eta", "rank", "mean")
    header, *lines = (line.split("\t") for line in map_text(state, TABS).splitlines())
    assert header == ["rank", "eta = 0.05", "eta = 0.2"]
    assert [[float(cell) for cell in line[1:]] for line in lines] == state.values.tolist()
    for form, strong in ((MARKDOWN, "**"), (LATEX, r"\textbf{")):
        text = map_text(state, form)
        assert state.title in text and strong in text and "eta = 0.05" in text
