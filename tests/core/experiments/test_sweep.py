import csv
import errno
import json
import math
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pyarrow.parquet
import pytest
from patience import PATIENCE

from core import InputError, errors_of, load_result, read_sequence, simulate, write_challenge, write_csv
from core.cli import main
from core.cli.sweep import parse_seeds, parse_values
from core.evaluation import optimality
from core.experiments.job_store import JobStore
from core.experiments.sweep.frame import records_of, report_table, tabulate
from core.experiments.sweep.rows import MEASURED_COLUMNS, SweepReader, is_sweep_folder, read_sweep
from core.reconstruction import settings_to_dict

QUICK = ["--rotations", "truth", "--objective", "wnn", "--starts", "1"]  # a run takes about 50 ms


@pytest.fixture(scope="module")
def data(folder):
    """The words for a sweep of two sequences under four settings."""
    return ["sweep", str(folder), "--camera", "perspective", "--set", "rank=1,2", "eta=0.05,0.2", *QUICK]


def lines(folder, name="runs.jsonl"):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def write_lines(folder, rows):
    (folder / "runs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def rows_of(folder):
    """All rows of a sweep by the names of their columns, None for what is missing."""
    return records_of(read_sweep(folder).runs)


def comparable(folder):
    """All rows of a sweep without what is measured, and without the folder's own name."""
    return [{name: row[name] for name in row if name not in MEASURED_COLUMNS} for row in rows_of(folder)]


@pytest.fixture(scope="module")
def swept(data, tmp_path_factory):
    """The folder of a finished sweep, run by one process."""
    output = tmp_path_factory.mktemp("swept")
    assert main([*data, "--jobs", "1", "-o", str(output)]) == 0
    return output


# -- grids ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "whole", "values"),
    [
        ("2,4,6", True, ("2", "4", "6")),
        ("log:1e-3:1:4", False, ("0.001", "0.01", "0.1", "1")),
        ("lin:0:1:5", False, ("0", "0.25", "0.5", "0.75", "1")),
        ("1,log:2:32:5", True, ("1", "2", "4", "8", "16", "32")),
        ("log:1:3:9", True, ("1", "2", "3")),
        ("[1400,1400,640,480],gt", False, ("1400,1400,640,480", "gt")),
        ("3,3", True, ("3",)),
    ],
)
def test_values_are_lists_and_ranges(text, whole, values):
    assert parse_values(text, whole=whole) == values


def test_seeds_are_read_and_what_lists_no_values_or_seeds_is_refused():
    assert parse_seeds("2:5") == ("2", "3", "4") and parse_seeds("7,1") == ("7", "1")
    for text in ("5:5", "x", "1:2:3", "-1:3", ""):
        with pytest.raises(InputError):
            parse_seeds(text)
    for text in ("", *"1, ,1 [1,2 log:0:1:3 log:1:2 lin:1:2:1 log:1:2:x lin:1:inf:3".split()):
        with pytest.raises(InputError):
            parse_values(text)


@pytest.mark.slow
def test_numbers_that_a_penalty_does_not_have_are_left_out(folder, tmp_path, capsys):
    words = ["sweep", str(folder), "--camera", "perspective", "--path", "circle", *QUICK, "--rank", "1"]
    words += ["--set", "penalty=nn,wnn", "mu=0.01,0.1", "xi=0.1,0.5,1", "method=bilinear,bmm"]
    assert main([*words, "--jobs", "1", "-o", str(tmp_path)]) == 0
    first = capsys.readouterr().out.splitlines()
    assert first[0].startswith("5 runs of 1 sequence; about ")
    assert any("are left out: BMM is for orthogonal cameras" in line for line in first)
    found = {(row["penalty"], row["mu"], row["xi"]) for row in rows_of(tmp_path)}
    assert found == {("nn", 0.01, None), ("nn", 0.1, None), *(("wnn", None, xi) for xi in (0.1, 0.5, 1.0))}


# -- rows ----------------------------------------------------------------------------------------------------


def test_every_run_is_a_line_with_all_that_is_known_of_it_and_its_command_makes_it_again(swept, tmp_path):
    rows = lines(swept)
    assert len(rows) == 8 == len({row["key"] for row in rows})
    for row in rows:
        result = load_result(swept / row["result"])
        sequence = read_sequence(row["sequence"])
        assert row["loss"] == result.loss and row["log10_loss"] == result.log_loss
        assert row["gradient"] == optimality(result)["relative_gradient"] < 1e-5
        assert row["metrics"].items() >= errors_of(result).items() and "challenge_v02" in row["metrics"]
        assert row["iterations"] == result.iterations and row["status"] == result.meta["status"]
        assert row["data"] == sequence.content and row["settings"]["rank"] == result.rank
        assert row["seconds"] > 0 and row["memory_mb"] > 10 and row["version"]
        assert (row["object"], row["camera"]) == ("balloon", "perspective") and row["error"] == ""
    row = lines(swept)[0]
    words = shlex.split(row["command"])
    words[words.index("-o") + 1] = str(tmp_path / "again.npz")
    assert main([*words[1:], "--quiet"]) == 0
    assert load_result(tmp_path / "again.npz").loss == row["loss"]


def test_the_same_call_goes_on_and_repairs_a_torn_line(data, swept, tmp_path, capsys):
    half = (swept / "runs.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"".join(half[:3]) + half[3][:40])
    assert len(rows_of(tmp_path)) == 3 and read_sweep(tmp_path).damaged == 0
    assert main([*data, "--jobs", "1", "--no-results", "-o", str(tmp_path)]) == 0
    assert "3 have ended, 5 are left" in capsys.readouterr().out
    assert path.read_bytes().splitlines(keepends=True)[:3] == half[:3]
    kept = {json.loads(line)["key"] for line in half[:3]}
    expected = [row if row["key"] in kept else row | {"result": ""} for row in comparable(swept)]
    assert comparable(tmp_path) == expected
    before = path.read_bytes()
    assert main([*data, "-o", str(tmp_path)]) == 0
    assert path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signals")
@pytest.mark.parametrize(("kind", "jobs", "code"), [("INT", "2", 130), ("TERM", "1", 143), ("HUP", "2", 129)])
def test_a_signal_keeps_what_has_ended(kind, jobs, code, data, tmp_path):
    command = [sys.executable, "-m", "core", *data, "--seeds", "0:40", "--jobs", jobs, "-o", str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    path = tmp_path / "runs.jsonl"
    while process.poll() is None and (not path.exists() or len(path.read_bytes().splitlines()) < 2):
        time.sleep(0.002)
    process.send_signal(getattr(signal, f"SIG{kind}"))
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    kept = len(lines(tmp_path))
    assert 2 <= kept < 320
    assert errors == (
        f"nrsfm sweep: stopped; {kept} of 320 runs are kept in {tmp_path}, "
        "and the same command continues from there\n"
    )


@pytest.mark.slow
def test_a_failed_run_is_a_row_and_runs_again_when_asked(folder, tmp_path, capsys):
    words = ["sweep", str(folder), "--camera", "perspective", "--path", "circle", "--jobs", "1", *QUICK]
    words += ["--set", "rank=1,99", "-o", str(tmp_path)]
    assert main(words) == 0
    assert "1 without a result (--retry failed runs them again)" in capsys.readouterr().out
    good, bad = rows_of(tmp_path)
    assert bad["status"] == "failed" and "99" in bad["error"] and bad["rank"] == 99 and bad["loss"] is None
    assert bad["command"] and good["status"] == "converged"
    assert read_sweep(tmp_path).result(1) is None and read_sweep(tmp_path).result(0).is_file()
    assert main(words) == 0
    assert len(lines(tmp_path)) == 2
    assert main([*words, "--retry", "failed"]) == 0
    assert [row["status"] for row in lines(tmp_path)][2:] == [bad["status"]]
    assert len(rows_of(tmp_path)) == 2


def test_a_run_beyond_the_time_limit_is_ended_and_recorded(folder, tmp_path):
    words = ["sweep", str(folder), "--camera", "perspective", "--path", "circle", "--jobs", "1"]
    words += ["--rank", "1", *QUICK, "-o", str(tmp_path)]
    assert main([*words, "--timeout", "0.01"]) == 0
    (row,) = rows_of(tmp_path)
    assert (row["status"], row["error"]) == ("time limit", "it was ended after 0.01 s")
    assert main([*words, "--retry", "failed"]) == 0
    (row,) = rows_of(tmp_path)
    assert row["status"] == "converged" and len(lines(tmp_path)) == 2


def test_a_table_without_a_result_or_without_pandas_says_so(swept, tmp_path, monkeypatch, capsys):
    write_lines(tmp_path, [lines(swept)[0] | {"status": "time limit", "metrics": {}, "loss": None}])
    table = ["--table", "mean_mm", "--by", "rank"]
    assert main(["sweep", str(tmp_path), *table]) == 2
    found = capsys.readouterr().err
    assert "the number is 'mean_mm'" in found and "because none of them has a result" in found
    assert main(["sweep", str(swept), *table, "-o", str(tmp_path / "out")]) == 2
    assert "is the folder of a sweep; --table without -o" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert main(["sweep", str(swept), *table]) == 2
    said = capsys.readouterr().err
    assert "pandas" in said and "nrsfm-gui[experiments]" in said and said.count("\n") == 1
    assert is_sweep_folder(swept)  # which is asked of every folder that is opened


def test_runs_are_read_from_regular_files_that_no_other_process_writes(swept, tmp_path):
    with JobStore(swept), pytest.raises(InputError, match="is being written by another process"):
        JobStore(swept)
    reader = SweepReader(tmp_path)
    os.mkfifo(tmp_path / "runs.jsonl")
    with pytest.raises(InputError, match=r"runs\.jsonl: is a pipe; accepted is a file"):
        reader.read()
    assert not is_sweep_folder(tmp_path)
    with pytest.raises(InputError, match=r"runs\.jsonl is a pipe"):
        JobStore(tmp_path)


def test_a_file_system_without_locks_is_written(tmp_path, monkeypatch):
    def flock(_file, _operation):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", flock)
    with JobStore(tmp_path) as store:
        store.append({"key": "a", "status": "converged"})
    assert (tmp_path / "runs.jsonl").stat().st_size


def test_a_line_that_the_disk_refuses_leaves_the_file_as_it_was(tmp_path):
    resource = pytest.importorskip("resource", reason="Windows has no limits")

    def fill(folder):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        store = JobStore(folder)
        try:
            for k in range(100):
                store.append({"key": str(k), "status": "done", "text": 90 * "x"})
        except InputError as error:
            os._exit(7 if "cannot be written" in str(error) else 8)

    process = multiprocessing.get_context("fork").Process(target=fill, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == 7
    content = (tmp_path / "runs.jsonl").read_bytes()
    assert content.endswith(b"}\n") and len(content.splitlines()) == 7


@pytest.mark.slow
def test_a_result_that_the_disk_refuses_ends_the_sweep_and_is_no_failure_of_its_run(data, swept, tmp_path):
    resource = pytest.importorskip("resource", reason="Windows has no limits")
    done = subprocess.run(
        [sys.executable, "-m", "core", *data, "--jobs", "2", "-o", str(tmp_path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY)),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"nrsfm sweep: {tmp_path / 'results'}") and done.stderr.count("\n") == 1
    kept = f"0 of 8 runs are kept in {tmp_path}, and the same command continues from there"
    assert done.stderr.endswith(f".npz cannot be written: File too large; {kept}\n")
    assert lines(tmp_path) == []
    assert main([*data, "--jobs", "1", "-o", str(tmp_path)]) == 0
    assert comparable(tmp_path) == comparable(swept)


def test_lines_of_no_run_are_counted_and_left_out(swept, tmp_path):
    rows = (swept / "runs.jsonl").read_bytes()
    first = json.loads(rows.splitlines()[0])
    strange = b'{"key": 1}\n[1]\n\xff\xfe\n{"key": "a", "object": "b", "settings": 3}\n'
    strange += b"[" * 100_000 + b"\n"
    strange += json.dumps(first | {"key": "../elsewhere"}).encode() + b"\n"
    (tmp_path / "runs.jsonl").write_bytes(strange + rows)
    found = read_sweep(tmp_path)
    assert found.damaged == 6 and rows_of(tmp_path) == rows_of(swept)
    assert is_sweep_folder(swept) and not is_sweep_folder(tmp_path.parent)
    with pytest.raises(InputError, match="holds no runs of a sweep"):
        read_sweep(tmp_path.parent)


def test_numbers_that_are_too_large_for_a_result_are_left_out(swept, tmp_path):
    first = lines(swept)[0]
    values = [1e200, -1e300, 10**60, 3.0, 5.0]
    measured = ({"loss": value, "metrics": {"procrustes_mm": value}} for value in values)
    write_lines(tmp_path, [first | {"key": f"{k:032x}"} | each for k, each in enumerate(measured)])
    sweep = read_sweep(tmp_path)
    assert [row["loss"] for row in rows_of(tmp_path)] == [None, None, None, 3.0, 5.0]
    table = tabulate(sweep, "procrustes_mm", ["rank"])
    assert table.value.item() == 4.0 and table.counts.item() == 2 and table.failed.item() == 3
    assert table.deviation.item() == pytest.approx(math.sqrt(2))


def test_runs_that_need_too_much_memory_are_refused_before_it_is_used(swept, monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.00001")
    with pytest.raises(InputError, match=r"need more than 1e-05 GB of memory, of which \d+ could be read"):
        read_sweep(swept)


@pytest.mark.slow
def test_the_memory_of_the_runs_of_a_sweep_is_that_of_their_rows_not_files(swept, tmp_path, monkeypatch):
    first = lines(swept)[0]
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.001")
    # 4 MB: each run but the last counts no more.
    write_lines(tmp_path, [first | {"iterations": k, "unknown": "x" * 2000} for k in range(1000)])
    (row,) = rows_of(tmp_path)
    assert row["iterations"] == 999
    rows = [first | {"key": f"{k:032x}"} for k in range(3000)]
    write_lines(tmp_path, rows)
    reader = SweepReader(tmp_path)
    with pytest.raises(InputError, match=r"need more than 0\.001 GB of memory, of which \d+ could be read"):
        reader.read()
    write_lines(tmp_path, rows[:400])
    assert len(reader.read()) == 400


@pytest.mark.slow
def test_a_million_runs_fit_into_what_a_file_may_need(swept, tmp_path):
    first = lines(swept)[0]
    rows = [
        first | {"key": f"{k:032x}", "loss": k / 7, "command": f"{first['command']} {k:09}"}
        for k in range(5000)
    ]
    write_lines(tmp_path, rows)
    tracemalloc.start()
    sweep = read_sweep(tmp_path)
    used = tracemalloc.get_traced_memory()[0] / len(rows)
    tracemalloc.stop()
    stated = sweep.runs.memory_usage(deep=True).sum() / len(rows)
    assert used < 1.5 * stated < 2000  # the default is 2 GB


def test_a_reader_reads_only_what_was_appended(swept, tmp_path):
    whole = (swept / "runs.jsonl").read_bytes().splitlines(keepends=True)
    file = tmp_path / "runs.jsonl"
    file.write_bytes(b"")
    assert is_sweep_folder(tmp_path)  # it has begun
    reader = SweepReader(tmp_path)
    assert len(reader.read()) == 0 and reader.read().planned is None
    file.write_bytes(whole[0] + whole[1][:50])
    first = reader.read()
    assert len(first) == 1 and first.damaged == 0 and reader.read() is first
    torn = b"?" * len(whole[0])  # what was read before is not read again
    file.write_bytes(torn[:-1] + b"\n" + b"".join(whole[1:]))
    (tmp_path / "plan.json").write_bytes((swept / "plan.json").read_bytes())
    assert reader.read().runs.equals(read_sweep(swept).runs) and reader.read().planned == 8
    file.write_bytes(whole[0])  # begun anew
    assert reader.read().runs.equals(first.runs)


def test_a_reader_returns_what_a_run_was_made_of(swept):
    reader = SweepReader(swept)
    for row in records_of(reader.read().runs):
        run = reader.load_run(row["key"])
        assert (run.source, run.content) == (row["sequence"], row["data"])
        assert (run.settings.rank, run.settings.eta) == (row["rank"], row["eta"])
        assert load_result(swept / row["result"]).meta["settings"] == settings_to_dict(run.settings)


def test_the_folder_of_the_data_is_refused_as_the_output(tmp_path, capsys):
    sequence = simulate("paper", frames=8, points=16, seed=1)
    write_csv(sequence, tmp_path / "table.csv")
    content = (tmp_path / "table.csv").read_bytes()
    assert main(["sweep", str(tmp_path), *QUICK, "--rank", "1", "-o", str(tmp_path)]) == 2
    assert "holds the data; name another folder" in capsys.readouterr().err
    assert (tmp_path / "table.csv").read_bytes() == content and len(list(tmp_path.iterdir())) == 1
    write_challenge(tmp_path / "objects", "paper", paths=["circle"], frames=8, points=16)
    assert main(["sweep", str(tmp_path / "objects"), *QUICK, "-o", str(tmp_path / "objects")]) == 2
    assert "holds the data; name another folder" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["tried", "paper"])
def test_a_sweep_below_its_data_goes_on(tmp_path, capsys, place):
    write_challenge(tmp_path, "paper", paths=["circle"], frames=8, points=16)
    words = ["sweep", str(tmp_path), *QUICK, "--rank", "1", "--jobs", "1", "-o", str(tmp_path / place)]
    assert main(words) == 0 and main([*words, "--seeds", "0:2"]) == 0
    said = capsys.readouterr().out
    assert "4 runs of 2 sequences; 2 have ended, 2 are left" in said
    assert "\nminimizes the weighted nuclear norm of the shapes plus the pOSE error of the tracks\n" in said
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    assert main(words) == 2 and "(--object A,B chooses others)" in capsys.readouterr().err
    assert main([*words, "--object", "paper"]) == 0


# -- orders --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_best_first_tries_every_value_and_then_follows_the_least_errors(folder, tmp_path):
    words = ["sweep", str(folder), "--camera=perspective", *QUICK, "--jobs=1", "--run-order=best-first"]
    assert main([*words, "--set", "rank=1,3", "xi=0.1,0.5,100", "-o", str(tmp_path)]) == 0
    rows = [(row["settings"]["rank"], row["settings"]["penalty"]["xi"]) for row in lines(tmp_path)]
    errors = {}
    for values, row in zip(rows, lines(tmp_path), strict=True):
        errors.setdefault(values, []).append(row["metrics"]["procrustes_mm"])
    assert {xi for _, xi in rows[:4]} == {0.1, 0.5, 100.0} and {rank for rank, _ in rows[:4]} == {1, 3}
    order = sorted(errors, key=lambda values: np.mean(np.log(errors[values])))
    place = {values: np.mean([k for k, row in enumerate(rows) if row == values]) for values in errors}
    assert np.corrcoef([place[values] for values in order], np.arange(len(order)))[0, 1] > 0.3
    assert rows.index(order[0]) < len(rows) / 2


# -- tables --------------------------------------------------------------------------------------------------


def test_a_table_has_the_mean_over_all_other_settings(swept, capsys):
    found = tabulate(read_sweep(swept), "mean_mm", ["rank", "eta"])
    assert found.number == "procrustes_mm" and found.rows == ((1,), (2,)) and found.columns == (0.05, 0.2)
    for r, rank in enumerate((1, 2)):
        for c, eta in enumerate((0.05, 0.2)):
            rows = (row for row in rows_of(swept) if (row["rank"], row["eta"]) == (rank, eta))
            values = [row["procrustes_mm"] for row in rows]
            assert found.value[r, c] == pytest.approx(np.mean(values))
            assert found.counts[r, c] == len(values) == 2
            assert found.deviation[r, c] == pytest.approx(np.std(values, ddof=1))
    assert main(["sweep", str(swept), "--table", "mean_mm", "--by", "rank,eta", "--markdown"]) == 0
    text = capsys.readouterr().out
    assert "| rank | eta = 0.05 | eta = 0.2 |" in text and text.count(" ± ") == 5
    assert main(["sweep", str(swept), "--table", "log10_loss", "--by", "path,rank,eta", "--latex"]) == 0
    text = capsys.readouterr().out
    assert r"path & rank & eta = 0.05 & eta = 0.2 \\" in text and text.count("circle & ") == 2
    assert main(["sweep", str(swept), "--table", "loss", "--by", "color"]) == 2
    assert "'color' is no setting of the runs" in capsys.readouterr().err
    assert main(["sweep", str(swept), "--table", "beauty", "--by", "rank"]) == 2
    assert "have loss, log10_loss" in capsys.readouterr().err


def test_the_least_value_of_a_table_is_strong_and_so_is_what_is_equal_as_written(swept):
    sweep = read_sweep(swept)
    table = tabulate(sweep, "procrustes_mm", ["rank", "eta"])
    values = np.array([[1.0001, 2.0], [1.0002, 3.0]])
    cells = [[cell.strong for cell in row[1:]] for row in report_table(replace(table, value=values)).rows]
    assert cells == [[True, False], [True, False]]
    one = tabulate(sweep, "procrustes_mm", ["object"])
    assert not any(cell.strong for row in report_table(one).rows for cell in row)


def test_a_table_is_of_the_runs_that_a_filter_keeps(swept, capsys):
    table = ["sweep", str(swept), "--table", "mean_mm", "--by", "rank"]
    assert main([*table, "--where", "eta=0.05 path=circle iterations>0"]) == 0
    text = capsys.readouterr().out
    rows = [row for row in rows_of(swept) if (row["path"], row["eta"]) == ("circle", 0.05)]
    assert "mean of 1 run; where eta=0.05 path=circle" in text and len(rows) == 2
    assert all(f"{row['procrustes_mm']:.3g}" in text for row in rows)
    for pattern, sentence in (("etta=1", "No column etta; eta?"), ("rank=9", "none of the 8 runs matches")):
        assert main([*table, "--where", pattern]) == 2
        assert sentence in capsys.readouterr().err


def test_a_mean_over_versions_or_other_data_says_so(swept, tmp_path, capsys):
    rows = lines(swept)
    changes = {"key": "0" * 32, "data": "f" * 64}, {"key": "1" * 32, "version": "9.9"}
    write_lines(tmp_path, [*rows, *(rows[0] | each for each in changes)])
    table = ["sweep", str(tmp_path), "--table", "mean_mm", "--by"]
    assert main([*table, "rank"]) == 0
    assert "of several versions of the program (version) and states of a sequence" in capsys.readouterr().out
    assert main([*table, "data,version", "--where", "rank=1,2"]) == 0
    found = capsys.readouterr().out
    assert "several" not in found and "| ffffffff | " in found and "version = 9.9" in found
    assert not read_sweep(swept).varied[-1].startswith(("version", "data"))


def test_the_deviation_of_a_mean_has_its_decimals(swept):
    table = tabulate(read_sweep(swept), "procrustes_mm", ["eta"])
    values, spreads = [[2.4, 0.0012]], [[3e-11, 23.4]]
    found = report_table(replace(table, value=np.array(values), deviation=np.array(spreads))).rows[0]
    assert [cell.text for cell in found] == ["2.40 ± 0.00", "0.0 ± 23.4"]
    found = report_table(replace(table, value=np.array([[2e-7, 150]]), deviation=np.array([[3e-9, 12.0]])))
    assert [cell.text for cell in found.rows[0]] == ["(2.00 ± 0.03)e-7", "150 ± 12"]


def test_the_table_of_a_sweep_is_said_to_be_one_where_sequences_are_listed(swept, capsys):
    assert main(["info", str(swept)]) == 2
    said = "table.csv: is the table of a sweep, not a sequence; `nrsfm sweep DIR --table NUMBER` reads it\n"
    assert capsys.readouterr().err.endswith(said)


def test_csv_and_parquet_hold_all_rows(swept):
    sweep = read_sweep(swept)
    with (swept / "table.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    table = pyarrow.parquet.read_table(swept / "table.parquet").to_pylist()
    assert len(rows) == len(table) == len(sweep)
    for row, text, typed in zip(rows_of(swept), rows, table, strict=True):
        assert tuple(text) == tuple(sweep.runs) == tuple(typed)
        assert float(text["procrustes_mm"]) == row["procrustes_mm"] == typed["procrustes_mm"]
        assert typed["key"] == text["key"] == row["key"] and typed["rank"] == row["rank"]
    assert sweep.varied == ("path", "rank", "eta")
