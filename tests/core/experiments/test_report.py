import csv
import re
import shlex
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

from core import CameraModel, load_result, write_challenge
from core.cli import main
from core.experiments import figures, jobs
from core.experiments.job_store import JobStore
from core.experiments.jobs import load_job_results
from core.experiments.report import (
    BulletList,
    CodeBlock,
    Heading,
    Paragraph,
    ReportTable,
    TableCell,
    render_html,
    render_markdown,
    write_frame,
)
from core.experiments.reproduce import shape_blocks
from core.experiments.tables import PUBLISHED_ERRATA, TABLE_ROWS, load_table_data, penalty_of, table_job

ORTHOGONAL = CameraModel.ORTHOGONAL


@pytest.fixture(scope="module")
def report(folder, tmp_path_factory):
    """The report of Table 1, made through the command."""
    output = tmp_path_factory.mktemp("made") / "report"
    assert main(["reproduce", "table1", "--data", str(folder), "-o", str(output), "--jobs", "1"]) == 0
    return output


def numbers(report):
    with (report / "numbers.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow
def test_on_every_sequence_the_search_ends_no_higher_than_any_other_method(report):
    losses = {(r["object"], r["path"], r["camera"], r["method"]): float(r["loss"]) for r in numbers(report)}
    assert losses.keys() == {
        ("balloon", path, camera.value, method)
        for path in ("circle", "zigzag")
        for (camera, _), methods in TABLE_ROWS.items()
        for method in methods
    }
    for (*place, method), loss in losses.items():
        assert losses[*place, f"Search-{penalty_of(method)}"] <= loss * (1 + 1e-9)


@pytest.mark.slow
def test_a_number_is_made_again_by_its_command(report, tmp_path):
    row = next(r for r in numbers(report) if r["method"] == "Search-WNN" and r["camera"] == "perspective")
    words = shlex.split(row["command"])[1:]
    words[words.index("-o") + 1] = str(tmp_path / "again.npz")
    assert main([*words, "--quiet"]) == 0
    assert load_result(tmp_path / "again.npz").loss == pytest.approx(float(row["loss"]), rel=1e-9)


@pytest.mark.slow
def test_substitutes_are_marked_and_have_no_published_numbers(report, cells):
    for name in ("report.md", "report.html"):
        text = (report / name).read_text(encoding="utf-8")
        assert "Substitutes" in text and "not the NRSfM Challenge's" in text
        assert PUBLISHED_ERRATA[0][:20] in text  # what is wrong in the published tables is said anyway
    table = cells((report / "report.md").read_text(encoding="utf-8"), "## Table 1")
    assert "published" not in table[0]


@pytest.mark.slow
def test_table_2_continues_table_1_and_shows_every_sequence(folder, report, tmp_path, monkeypatch, cells):
    def refuse(job, caller):
        raise AssertionError(f"{job.label} is computed again")

    monkeypatch.setattr(jobs, "_run_job", refuse)
    report = shutil.copytree(report, tmp_path / "report")
    assert main(["reproduce", "table2", "--data", str(folder), "-o", str(report), "--jobs", "1"]) == 0
    text = (report / "report.html").read_text(encoding="utf-8")
    shown = re.findall(r'<img src="(pictures/[^"]+)"', text)
    assert len(shown) == 4 and all((report / path).stat().st_size > 5000 for path in shown)
    table = cells((report / "report.md").read_text(encoding="utf-8"), "`procrustes_mm_reference`")
    row = next(r for r in table if r[1] == "Search-WNN" and r[0] == "")  # orthogonal is first
    errors = [
        float(r["procrustes_mm_reference"])
        for r in numbers(report)
        if (r["object"], r["camera"], r["method"]) == ("balloon", "orthogonal", "Search-WNN")
    ]
    assert float(row[2]) == pytest.approx(np.mean(errors), abs=6e-3)


@pytest.mark.slow
def test_ends_of_data_that_was_moved_are_made_again_from_there(folder, report, tmp_path, monkeypatch, cells):
    moved, again = shutil.copytree(folder, tmp_path / "moved"), shutil.copytree(report, tmp_path / "again")
    monkeypatch.setattr(jobs, "_run_job", None)  # nothing is computed again
    assert main(["reproduce", "table1", "--data", str(moved), "-o", str(again), "--jobs", "1"]) == 0
    before, after = ([row["command"] for row in numbers(each)] for each in (report, again))
    assert sum(map(bool, after)) == 20  # of 24: there is no command for refining BMM
    assert after == [command.replace(str(folder), str(moved)) for command in before]
    settings = cells((again / "report.md").read_text(encoding="utf-8"), "## Settings")
    commands = {row[1]: row[2] for row in settings[2:]}
    assert commands["ADMM-WNN"] == "`nrsfm solve … --preset paper --method admm --max-iterations 3000`"
    # Its own penalty is the nuclear norm.
    assert commands["BMM"].endswith("--preset paper --method bmm --tau 1.0 --max-iterations 2000`")
    assert [row[2] for row in settings].count("from Python alone") == 2


@pytest.mark.slow
def test_pictures_of_shapes_are_titled_with_the_error_they_show(folder, report, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(figures, "draw_shapes", lambda *given: drawn.append(given))
    shape_jobs = [table_job(item, "WNN") for item in load_table_data(folder)]
    with JobStore(report / "jobs") as store:
        found = load_job_results(store, shape_jobs)
    shape_blocks(shape_jobs, found, tmp_path)
    assert len(drawn) == 4
    for _, truth, estimates, _ in drawn:
        for title, estimate in estimates.items():
            distance = np.linalg.norm(estimate - truth, axis=0).mean()
            assert float(title.split()[-2]) == pytest.approx(distance, abs=6e-3), title
    orthogonal = [job for job in shape_jobs if job.sequence.camera is ORTHOGONAL]
    errors = [row["errors"] for job in orthogonal for row in found[job.key].facts["rows"]]
    assert any(e["procrustes_mm_reference"] > e["procrustes_mm_reference_mirror"] + 1 for e in errors)


@pytest.mark.slow
def test_a_sequence_that_cannot_be_solved_is_named_and_the_others_continue(tmp_path):
    root = write_challenge(tmp_path / "data", "paper", paths=("circle", "line"), frames=9, points=16)
    (root / "sequence" / "orthogonal" / "line.txt").unlink()  # then line has no companion
    data, output = tmp_path / "data", tmp_path / "report"
    assert main(["reproduce", "tableA1", "--data", str(data), "-o", str(output), "--jobs", "1"]) == 0
    text = (output / "report.md").read_text(encoding="utf-8")
    assert "## Not computed" in text and "no companion tracks" in text
    assert {row["path"] for row in numbers(output)} == {"circle"}


@pytest.mark.parametrize("name", ["jinja2", "matplotlib", "pandas"])
def test_what_is_not_installed_is_named(name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, name, None)
    assert main(["reproduce", "table1"]) == 2
    said = capsys.readouterr().err
    install = "which is not installed here; install it with: pip install 'nrsfm-gui[experiments]'"
    assert said == f"nrsfm reproduce: this needs {name}, {install}\n"


def test_markdown_and_html_have_the_same_content(tmp_path):
    cells = (TableCell("`m`"), TableCell("1.0", strong=True))
    table = ReportTable("a < b", ("name", "x | y"), (cells,), rules=frozenset({0}))
    blocks = [Heading("A & B", 1), Paragraph("see **this** and `x < y`"), CodeBlock("a > b"), table]
    assert render_markdown(blocks) == (
        "# A & B\n\nsee **this** and `x < y`\n\n```\na > b\n```\n\n"
        "a < b\n\n| name | x \\| y |\n| :--- | ---: |\n| `m` | **1.0** |\n"
    )
    page = render_html(blocks, "T")
    assert "<h1>A &amp; B</h1>" in page and "<b>this</b> and <code>x &lt; y</code>" in page
    assert "<code>a &gt; b</code>" in page and "<caption>a &lt; b</caption>" in page
    assert '<td class="label"><code>m</code></td>' in page and "<td><b>1.0</b></td>" in page


HOSTILE = "<img src=file:///etc/passwd>[x](file:///etc/passwd)|a\x1b[31m\nb"


def test_names_in_a_report_are_no_markup():
    """Neither tags nor links nor rows of a table can be made by a name."""
    table = ReportTable(HOSTILE, ("name", HOSTILE), ((TableCell(HOSTILE), TableCell("1")),))
    blocks = [Heading(HOSTILE, 2), Paragraph(f"of {HOSTILE} and `x <y>`, x`{HOSTILE}"), table]
    text = render_markdown(blocks)
    assert "<img" not in text and "[x](" not in text and "\x1b" not in text and "`x <y>`" in text
    (row,) = (line for line in text.splitlines() if line.startswith("| &lt;img"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    page = render_html(blocks, HOSTILE)
    assert "<img" not in page and "script-src 'none'" in page


@pytest.mark.parametrize(
    "name",
    [
        "[x](u)", r"\[x\](u)", r"\\[x\\](u)", "``[x](u)`", r"\`[x](u)`", "`a``b` [x](u) `c`", "<img src=x>",
        "``<img src=x>`", "`a\n[x](u) `b` [x](u)", "`\n<!-- `", "``<!-- `", "```\n[x](u) <img src=x>",
    ],
)  # fmt: skip
def test_a_reader_of_markdown_finds_no_markup_in_names(name):
    table = ReportTable(name, ("a", name), ((TableCell(name), TableCell("1")),))
    blocks = [Heading(name), Paragraph(name), BulletList((name,)), table]
    page = MarkdownIt("commonmark").enable("table").render(render_markdown(blocks))
    assert not re.search(r"<(a|img|!--)", page)


def test_csv_has_whole_numbers_as_they_are_and_no_text_that_a_spreadsheet_would_compute(tmp_path):
    formulas = ["=1+1", "+cmd|' /C calc'!A0", "-cmd", "@SUM(A1)", "\t=1", "\r=1"]
    whole = pd.array([None, *range(6)], "Int64")
    write_frame(tmp_path / "a.csv", pd.DataFrame({"=x": [*formulas, "name"], "n": -1.5, "k": whole}))
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["'=x", "n", "k"] and all(row[1] == "-1.5" for row in rows[1:])
    assert [row[2] for row in rows[1:]] == ["", *"012345"]
    assert [row[0][0] for row in rows[1:-1]] == ["'"] * len(formulas)
    assert rows[-1][0] == "name"
