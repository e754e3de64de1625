import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from patience import PATIENCE

from core.cli import main
from core.experiments.benchmark import problems, results
from core.experiments.benchmark.methods import BENCHMARK_METHODS, TIME_LIMIT, CurvePoint, Stopwatch
from core.experiments.benchmark.runs import STOPPED, MethodRun, measure_method, run_benchmark, run_method
from core.experiments.job_store import JobStore
from core.experiments.report import render_markdown
from core.foundation.processes import ProcessDied

CASE = problems.BenchmarkCase(frames=12, points=15, rank=2)
LIMIT = 0.15  # CPU seconds


def method_run(method, status, *points, case=CASE):
    """A run of (seconds, loss) points."""
    curve = tuple(CurvePoint(i, s, loss, loss) for i, (s, loss) in enumerate(points))
    return MethodRun(method, curve, case, status)


def seconds_to(row):
    return [row[f"seconds_to_{power}"] for power in ("1e-3", "1e-6", "1e-10")]


def test_times_are_those_of_the_first_point_within_the_tolerance_of_the_best_loss_of_all():
    rows = results.benchmark_table(
        [
            method_run("bilinear", "converged", (0.0, 5.0), (0.01, 1.0005), (0.02, 1.0 + 5e-7), (0.03, 1.0)),
            method_run("lm", "converged", (0.0, 5.0), (0.2, 1.0 + 5e-11)),
            method_run("admm", "stalled", (0.0, 5.0), (3.0, 1.5)),
            method_run("algorithm1", TIME_LIMIT, (0.0, 5.0), (60.0, 1.1)),
            method_run("scipy", "failed: no memory"),
        ]
    )
    ours, lm, admm, paper, failed = rows.to_dict("records")
    assert seconds_to(ours) == [0.01, 0.02, 0.03]
    assert seconds_to(lm) == [0.2, 0.2, 0.2]
    assert ours["times_fastest"] == 1.0 and lm["times_fastest"] == pytest.approx(10.0)
    # It ended by itself: it never gets there, and there is no bound to tell.
    assert np.isnan([*seconds_to(admm), admm["times_fastest"]]).all() and not admm["bound"]
    assert paper["bound"] and paper["times_fastest"] == pytest.approx(3000.0)
    assert admm["excess"] == pytest.approx(0.5)
    assert math.isnan(failed["loss"]) and math.isnan(failed["times_fastest"])
    text = render_markdown(results.benchmark_blocks(rows))
    lines = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in text.splitlines() if "|" in line}
    assert lines[BENCHMARK_METHODS["algorithm1"].title][3:7] == ["> 60", "> 60", "> 60", "> 3000"]
    assert lines[BENCHMARK_METHODS["admm"].title][3:7] == ["-", "-", "-", "-"]


def test_runs_on_other_problems_are_not_compared():
    other = method_run("lm", "converged", (3.0, 1.0), case=replace(CASE, points=16))
    rows = results.benchmark_table([method_run("bilinear", "converged", (1.0, 2.0)), other])
    assert rows["times_fastest"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("problem", ["nonrigid", pytest.param("lowrank", marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", list(BENCHMARK_METHODS))
def test_every_method_runs_to_its_end_or_its_limit(method, problem, monkeypatch):
    monkeypatch.setattr("core.experiments.benchmark.runs.BUDGET", 0.0)  # no repetitions
    case = replace(CASE, problem=problem, rank=2 if problem == "nonrigid" else 4)
    posed = case.pose()
    start = problems.bilinear_start(posed)
    found = measure_method(case, method, start, LIMIT)
    assert found.status in ("converged", "stalled", TIME_LIMIT)
    seconds = [point.seconds for point in found.curve]
    assert seconds == sorted(seconds) and seconds[-1] < LIMIT + 1
    assert (found.status == TIME_LIMIT) <= (seconds[-1] >= LIMIT)
    algorithm = BENCHMARK_METHODS[method].algorithm
    if algorithm is None or not algorithm.on_matrix:
        assert found.curve[0].loss <= (1 + 1e-12) * posed.loss(start)
        assert found.loss < 0.999 * posed.loss(start)
    else:  # on X itself: the cut costs something; the method's own objective falls, of ADMM not in each step
        assert min(point.own_loss for point in found.curve) < found.curve[0].own_loss


@pytest.mark.parametrize("start", list(problems.BENCHMARK_STARTS))
@pytest.mark.parametrize("rank", [1, 3])
def test_starts_are_in_exact_gauge_and_always_the_same(start, rank):
    problem = replace(CASE, rank=rank).pose()
    point = problems.bilinear_start(problem, start)
    assert point.rank == rank
    np.testing.assert_array_equal(point.B, problems.bilinear_start(problem, start).B)
    np.testing.assert_allclose(point.C.mean(axis=2), 0.0, atol=1e-12)
    flat = point.C.reshape(rank, -1)
    np.testing.assert_allclose(point.B.T @ point.B, flat @ flat.T, atol=1e-9 * point.gamma().max())


@pytest.mark.slow
def test_methods_on_the_factors_agree_on_the_minimum():
    start = problems.bilinear_start(CASE.pose())
    ends = [measure_method(CASE, method, start, 1.0).loss for method in ("bilinear", "lm", "scipy")]
    assert ends[1] == pytest.approx(ends[0], rel=1e-9)
    assert ends[2] == pytest.approx(ends[0], rel=1e-3)


def test_least_squares_stops_within_an_iteration_and_its_own_objective_is_half_the_loss():
    problem = CASE.pose()
    watch = Stopwatch(0.02)
    assert BENCHMARK_METHODS["scipy"].run(problem, problems.bilinear_start(problem), watch) == TIME_LIMIT
    assert all(point.own_loss == pytest.approx(point.loss / 2) for point in watch.curve)


def test_a_stopwatch_counts_only_while_it_runs(monkeypatch):
    clock = [7.0]
    monkeypatch.setattr("core.experiments.benchmark.methods.time.process_time", lambda: clock[0])

    def busy(seconds):
        clock[0] += seconds

    watch = Stopwatch(10.0)
    busy(3)
    with watch.running():
        busy(4)
        with watch.paused():
            busy(5)
        busy(6)
        assert watch.seconds == 10 and watch.expired
    busy(7)
    assert watch.seconds == 10


@pytest.mark.slow
def test_a_run_has_a_process_of_its_own_which_ends_with_ctrl_c():
    start = problems.bilinear_start(CASE.pose())
    found = run_method(CASE, "bilinear", start, 5.0)
    assert found.status == "converged" and found.peak_mb is not None and found.process_mb > found.peak_mb

    big = problems.BenchmarkCase(frames=60, points=80, rank=2)

    def interrupt(mark):
        if mark is not None:
            raise KeyboardInterrupt

    stopped = run_method(big, "algorithm1", problems.bilinear_start(big.pose()), 60.0, interrupt)
    assert stopped.status == STOPPED and stopped.curve


@pytest.mark.slow
def test_what_is_done_is_written_after_ctrl_c(tmp_path):
    command = [sys.executable, "-m", "core", "benchmark", "--sizes", "60x80", "--seconds", "60"]
    command += ["--methods", "bilinear", "algorithm1", "-o", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines, until = tmp_path / "runs.jsonl", time.monotonic() + PATIENCE
    while not (lines.exists() and lines.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "stopped" in err and BENCHMARK_METHODS["bilinear"].title in out
    rows = read(tmp_path / "benchmark.csv")
    assert [row["method"] for row in rows] == ["bilinear", "algorithm1"]
    assert rows[1]["status"] == STOPPED
    (line,) = lines.read_text().splitlines()
    assert json.loads(line)["method"] == "bilinear"


@pytest.mark.slow
def test_of_runs_that_are_in_the_store_only_those_that_failed_are_measured_again(tmp_path, monkeypatch):
    def die(*_arguments, **_options):
        raise ProcessDied(-9)

    with JobStore(tmp_path) as store:
        with monkeypatch.context() as patch:
            patch.setattr("core.experiments.benchmark.runs.call_in_process", die)
            (failed,) = run_benchmark([CASE], ["bilinear"], 5.0, store=store)
        first, second = run_benchmark([CASE], ["bilinear", "lm"], 5.0, store=store)
    assert failed.failed and not first.failed
    with JobStore(tmp_path) as store:
        again = list(run_benchmark([CASE], ["lm", "bilinear"], 5.0, store=store))
        assert len(store.path.read_text().splitlines()) == 3
    for before, after in zip((second, first), again, strict=True):
        assert after.curve == before.curve and after.status == before.status and after.case == CASE
        assert (after.peak_mb, after.process_mb) == (before.peak_mb, before.process_mb)


def read(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow
def test_the_command_writes_tables_and_a_plot_also_of_runs_that_ended_before(tmp_path, capsys, monkeypatch):
    arguments = ["--sizes", "8x15", "--methods", "bilinear", "admm", "--seconds", "0.3", "-o", str(tmp_path)]
    assert main(["benchmark", *arguments]) == 0
    out = capsys.readouterr().out
    assert "nonrigid, paper, 8 x 15, K = 2, start closed" in out
    rows = read(tmp_path / "benchmark.csv")
    facts = [(row["method"], row["frames"], row["points"]) for row in rows]
    assert facts == [("bilinear", "8", "15"), ("admm", "8", "15")]
    assert float(rows[0]["seconds_to_1e-10"]) >= float(rows[0]["seconds_to_1e-3"]) > 0
    curves = [row for row in read(tmp_path / "curves.csv") if row["method"] == "bilinear"]
    assert len(curves) == int(rows[0]["iterations"]) + 1
    assert float(curves[-1]["loss"]) == float(rows[0]["loss"])
    assert (tmp_path / "benchmark.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir(tmp_path)) == ["benchmark.csv", "benchmark.png", "curves.csv", "runs.jsonl"]
    tables = [tmp_path / name for name in ("benchmark.csv", "curves.csv")]
    written = [path.read_bytes() for path in tables]
    for path in tables:
        path.unlink()
    monkeypatch.setattr("core.experiments.benchmark.runs.run_method", None)  # nothing is measured
    assert main(["benchmark", *arguments]) == 0
    assert [path.read_bytes() for path in tables] == written


def test_growth_finds_the_power_of_a_law():
    runs = [
        method_run("bilinear", "converged", *((i, 1.0) for i in (0.0, 3e-7 * size**2)), case=case)
        for case in problems.growth_cases()["P"]
        for size in [case.points]
    ]
    table = results.growth_table("P", [*runs, method_run("bilinear", STOPPED, (1.0, 1.0))])
    assert table["value"].tolist() == list(problems.GROWTH_SIZES["P"])
    assert results.growth_slopes(table)["seconds"] == pytest.approx(2.0)
    text = render_markdown(results.growth_blocks(table))
    assert "slope in log-log: per iteration 2.00, to the end 2.00" in text
