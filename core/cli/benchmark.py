"""`nrsfm benchmark`: the methods against one another on the same problems, loss against CPU seconds."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..experiments import figures
from ..experiments.benchmark import results
from ..experiments.benchmark.methods import BENCHMARK_METHODS, CurvePoint
from ..experiments.benchmark.problems import BENCHMARK_STARTS, DEFAULT_RANKS, BenchmarkCase, growth_cases
from ..experiments.benchmark.runs import MethodRun, run_benchmark
from ..experiments.job_store import JobStore
from ..experiments.report import ReportBlock, check_installed, render_markdown, write_frame
from ..foundation import InputError, check_replaceable
from ..solvers.methods import PROBLEMS
from ..synthetic import KINDS
from .command_line import INTERRUPTED, declare, explained
from .console import ProgressLine, duration_text

DEFAULT_SIZES = ("40x40", "51x211", "193x207", "432x405")
METHOD_SECONDS = 60.0
# The defaults of the comparison, and the options that only the comparison has.
PROBLEM, OBJECT, START = "nonrigid", "paper", "closed"
COMPARISON_OPTIONS = ("sizes", "methods", "rank", "problem", "start", "object")
EXCESS_LABELS = "CPU seconds", "loss / best loss - 1"
GROWTH_LABELS = "size of the problem", "CPU seconds"
FILES = {  # what is written into FOLDER: tables, a picture
    "comparison": ("benchmark.csv", "curves.csv", "benchmark.png"),
    "growth": ("growth.csv", "growth.png"),
}
DESCRIPTION = """\
Minimize the same simulated problems by several methods and print how fast each approaches the best loss
that any of them reaches. Times are CPU seconds of one thread. The bilinear methods all start at one point,
the methods on the matrix itself at the closed form. Every method runs in a process of its own: its memory is
how far that process rises above what it has with the problem posed. Tables are printed, and with -o also
written into FOLDER, with all curves and a plot. What has ended is kept there in runs.jsonl: the same command
measures only what is not in it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `benchmark`."""
    parser.description = DESCRIPTION
    ranks = ", ".join(f"{rank} for {name}" for name, rank in DEFAULT_RANKS.items())
    declare(
        parser,
        f"""
        --growth: in place of the comparison: time of the default method against F, P and K
        --sizes FxP: frames x points (default {" ".join(DEFAULT_SIZES)})
        --methods METHOD: {explained({name: one.title for name, one in BENCHMARK_METHODS.items()})} (default
            all)
        --rank K: basis shapes (default {ranks})
        --problem: default {PROBLEM}
        --start: of the bilinear methods: {explained(BENCHMARK_STARTS)} (default {START}, and the only one of
            lowrank)
        --object: default {OBJECT}
        --seconds LIMIT: CPU seconds for each method at each size (default %(default)g)
        -o --output FOLDER: where to write csv and plots
        """,
        sizes={"nargs": "+"},
        methods={"nargs": "+", "choices": list(BENCHMARK_METHODS)},
        rank=int,
        problem=list(PROBLEMS),
        start=list(BENCHMARK_STARTS),
        object=list(KINDS),
        seconds=METHOD_SECONDS,
        output=Path,
    )


def run(args: argparse.Namespace) -> int:
    """Measure and print; write what is done after every run."""
    for name in COMPARISON_OPTIONS:
        if args.growth and getattr(args, name) is not None:
            raise InputError(f"--{name} has no effect together with --growth, which has its own problems")
    if not args.seconds > 0:
        raise InputError(f"--seconds is {args.seconds:g}; accepted is a number above 0")
    check_installed("jinja2", "pandas")
    what = "growth" if args.growth else "comparison"
    files = [] if args.output is None else [args.output / name for name in FILES[what]]
    check_replaceable(files)
    with (
        ProgressLine(sys.stderr) as line,
        nullcontext() if args.output is None else JobStore(args.output) as store,
    ):
        return (_growth if args.growth else _comparison)(args, line, store, files)


def _comparison(
    args: argparse.Namespace, line: ProgressLine, store: JobStore | None, files: list[Path]
) -> int:
    problem, kind, start = args.problem or PROBLEM, args.object or OBJECT, args.start or START
    rank = DEFAULT_RANKS[problem] if args.rank is None else args.rank
    cases = [BenchmarkCase(*_size(size), rank, problem, kind, start) for size in args.sizes or DEFAULT_SIZES]
    methods = list(dict.fromkeys(args.methods or BENCHMARK_METHODS))
    progress = _progress(line, len(cases) * len(methods), args.seconds)
    runs: list[MethodRun] = []
    shown = code = 0
    try:
        for run in run_benchmark(cases, methods, args.seconds, progress, store=store):
            runs.append(run)
            if files:
                write_frame(files[0], results.benchmark_table(runs))
                results.write_benchmark_curves(files[1], runs)
            if len(runs) - shown == len(methods):
                _show(line, results.benchmark_blocks(results.benchmark_table(runs[shown:])))
                shown = len(runs)
    except KeyboardInterrupt:
        code = _stopped(line)
        if runs[shown:]:
            _show(line, results.benchmark_blocks(results.benchmark_table(runs[shown:])))
    if files and runs:
        titles = {name: method.title for name, method in BENCHMARK_METHODS.items()}
        _draw(line, files[-1], results.excess_panels(runs), EXCESS_LABELS, titles=titles)
    return code


def _growth(args: argparse.Namespace, line: ProgressLine, store: JobStore | None, files: list[Path]) -> int:
    tasks = [(name, case) for name, cases in growth_cases().items() for case in cases]
    progress = _progress(line, len(tasks), args.seconds)
    found: dict[str, list[MethodRun]] = {name: [] for name, _ in tasks}
    code = 0
    try:
        runs = run_benchmark(
            [case for _, case in tasks], [results.GROWTH_METHOD], args.seconds, progress, store=store
        )
        for (name, _), run in zip(tasks, runs, strict=False):
            found[name].append(run)
    except KeyboardInterrupt:
        code = _stopped(line)
    tables = [one for name, runs in found.items() if (one := results.growth_table(name, runs)) is not None]
    for one in tables:
        _show(line, results.growth_blocks(one))
    if files and tables:
        import pandas as pd

        write_frame(files[0], pd.concat(tables))
        panels = {results.growth_title(one): results.growth_panel(one) for one in tables}
        _draw(line, files[-1], panels, GROWTH_LABELS, across=3, ticks=True)
    return code


def _progress(
    line: ProgressLine, total: int, limit: float
) -> Callable[[int, BenchmarkCase, str, CurvePoint | None], None]:
    """Return what writes the line of progress; the time left is what the limits allow at most."""

    def show(done: int, case: BenchmarkCase, method: str, point: CurvePoint | None) -> None:
        parts = [f"{done} of {total}", f"{case.size} {BENCHMARK_METHODS[method].title}"]
        left = (total - done) * limit
        if point is not None:
            parts.append(f"iteration {point.iteration}, {point.seconds:.0f} of at most {limit:g} s")
            left = max(left - point.seconds, 0.0)
        line.write("  ".join([*parts, f"ETA at most {duration_text(left)}"]))

    return show


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)[x×](\d+)", text)
    if not found:
        raise InputError(f"--sizes holds {text!r}; accepted is FxP, such as 51x211")
    return int(found[1]), int(found[2])


def _show(line: ProgressLine, blocks: list[ReportBlock]) -> None:
    line.clear()
    print(render_markdown(blocks), flush=True)


def _stopped(line: ProgressLine) -> int:
    line.clear()
    print("nrsfm benchmark: stopped; what was done before is kept", file=sys.stderr)
    return INTERRUPTED


def _draw(line: ProgressLine, path: Path, *what: Any, **how: Any) -> None:
    """Draw curves; where matplotlib is not installed, print that: the tables are written without it."""
    line.write("drawing")
    try:
        figures.draw_curves(path, *what, **how)
    except InputError as error:
        line.clear()
        print(f"nrsfm benchmark: {error}", file=sys.stderr)
