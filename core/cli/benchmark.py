"""`nrsfm benchmark`: the methods against one another on the same problems, loss against CPU seconds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..experiments import figures
from ..experiments.benchmark import pyproximal
from ..experiments.benchmark.known_cameras import read_scene
from ..experiments.benchmark.methods import BENCHMARK_METHODS
from ..experiments.benchmark.problems import BENCHMARK_STARTS, DEFAULT_RANKS, BenchmarkCase, growth_cases
from ..experiments.benchmark.results import (
    GROWTH_METHOD,
    benchmark_blocks,
    benchmark_table,
    excess_panel,
    excess_panels,
    growth_blocks,
    growth_panel,
    growth_table,
    growth_title,
    write_benchmark_curves,
)
from ..experiments.benchmark.runs import run_benchmark
from ..experiments.job_store import JobStore
from ..experiments.report import check_installed, render_markdown, write_frame
from ..foundation.exceptions import InputError
from ..foundation.outputs import check_replaceable, make_folder, protecting
from ..solvers.methods import PROBLEMS
from ..synthetic import KINDS
from .command_line import INTERRUPTED
from .console import ProgressLine, duration_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ..experiments.benchmark.known_cameras import SolverCurve
    from ..experiments.benchmark.runs import BenchmarkProgress, MethodRun

DEFAULT_SIZES = ("40x40", "51x211", "193x207", "432x405")
METHOD_SECONDS = 60.0
# The defaults of the comparison, and the options that only the comparison has.
PROBLEM, OBJECT, START = "nonrigid", "paper", "closed"
COMPARISON_OPTIONS = ("sizes", "methods", "rank", "problem", "start", "object")
# What is written into FOLDER: tables, curves, a picture.
COMPARISON_FILES = BENCHMARK_ROWS, BENCHMARK_CURVES, BENCHMARK_PLOT = (
    "benchmark.csv",
    "curves.csv",
    "benchmark.png",
)
EXCESS_LABELS = "CPU seconds", "loss / best loss - 1"
GROWTH_LABELS = "size of the problem", "CPU seconds"
GROWTH_FILES = GROWTH_ROWS, GROWTH_PLOT = "growth.csv", "growth.png"
PYPROXIMAL_FILES = PYPROXIMAL_ROWS, PYPROXIMAL_CURVES, PYPROXIMAL_PLOT = (
    "pyproximal.csv",
    "pyproximal_curves.csv",
    "pyproximal.png",
)
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
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--growth",
        action="store_true",
        help="in place of the comparison: time of the default method against F, P and K",
    )
    what.add_argument(
        "--pyproximal",
        type=Path,
        metavar="FILE",
        help="in place of the comparison: against pyproximal on its tutorial's mocap.npz",
    )
    parser.add_argument(
        "--sizes", nargs="+", metavar="FxP", help=f"frames x points (default {' '.join(DEFAULT_SIZES)})"
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=list(BENCHMARK_METHODS),
        metavar="METHOD",
        help="; ".join(f"{name}: {one.title}" for name, one in BENCHMARK_METHODS.items()) + " (default all)",
    )
    ranks = ", ".join(f"{rank} for {name}" for name, rank in DEFAULT_RANKS.items())
    parser.add_argument("--rank", type=int, metavar="K", help=f"basis shapes (default {ranks})")
    parser.add_argument("--problem", choices=list(PROBLEMS), help=f"default {PROBLEM}")
    starts = "; ".join(f"{name}: {meaning}" for name, meaning in BENCHMARK_STARTS.items())
    parser.add_argument(
        "--start",
        choices=list(BENCHMARK_STARTS),
        help=f"of the bilinear methods: {starts} (default {START}, and the only one of lowrank)",
    )
    parser.add_argument("--object", choices=list(KINDS), help=f"default {OBJECT}")
    parser.add_argument(
        "--seconds",
        type=float,
        default=METHOD_SECONDS,
        metavar="LIMIT",
        help="CPU seconds for each method at each size (default %(default)g)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="where to write csv and plots")


def run(args: argparse.Namespace) -> int:
    """Measure and print; write what is done after every run."""
    for alone in ("growth", "pyproximal"):
        for name in COMPARISON_OPTIONS:
            if getattr(args, alone) and getattr(args, name) is not None:
                raise InputError(
                    f"--{name} has no effect together with --{alone}, which has its own problems"
                )
    if not args.seconds > 0:
        raise InputError(f"--seconds is {args.seconds:g}; accepted is a number above 0")
    check_installed("jinja2", "pandas")
    line = ProgressLine(sys.stderr)
    try:
        if args.pyproximal is not None:
            with protecting({args.pyproximal: "the input"}):
                return _pyproximal(args, line)
        run_all, files = (_growth, GROWTH_FILES) if args.growth else (_comparison, COMPARISON_FILES)
        if args.output is None:
            return run_all(args, line, None)
        check_replaceable(args.output / name for name in files)
        with JobStore(args.output) as store:
            return run_all(args, line, store)
    finally:
        line.clear()


def _comparison(args: argparse.Namespace, line: ProgressLine, store: JobStore | None) -> int:
    problem, kind, start = args.problem or PROBLEM, args.object or OBJECT, args.start or START
    rank = DEFAULT_RANKS[problem] if args.rank is None else args.rank
    cases = [BenchmarkCase(*_size(size), rank, problem, kind, start) for size in args.sizes or DEFAULT_SIZES]
    methods = list(dict.fromkeys(args.methods or BENCHMARK_METHODS))
    runs: list[MethodRun] = []
    shown = 0
    code = 0
    try:
        for run in run_benchmark(cases, methods, args.seconds, _progress(line), store=store):
            runs.append(run)
            if args.output is not None:
                write_frame(args.output / BENCHMARK_ROWS, benchmark_table(runs))
                write_benchmark_curves(args.output / BENCHMARK_CURVES, runs)
            if len(runs) - shown == len(methods):
                _show(runs[shown:], line)
                shown = len(runs)
    except KeyboardInterrupt:
        code = _stopped(line)
        if runs[shown:]:
            _show(runs[shown:], line)
    if args.output is not None and runs:
        titles = {name: method.title for name, method in BENCHMARK_METHODS.items()}
        _draw(line, args.output / BENCHMARK_PLOT, excess_panels(runs), EXCESS_LABELS, titles=titles)
    return code


def _growth(args: argparse.Namespace, line: ProgressLine, store: JobStore | None) -> int:
    tasks = [(name, case) for name, cases in growth_cases().items() for case in cases]
    found: dict[str, list[MethodRun]] = {name: [] for name, _ in tasks}
    cases = [case for _, case in tasks]
    code = 0
    try:
        runs = run_benchmark(cases, [GROWTH_METHOD], args.seconds, _progress(line), store=store)
        for (name, _), run in zip(tasks, runs, strict=False):
            found[name].append(run)
    except KeyboardInterrupt:
        code = _stopped(line)
    tables = [one for name, runs in found.items() if (one := growth_table(name, runs)) is not None]
    line.clear()
    for one in tables:
        print(render_markdown(growth_blocks(one)))
    if args.output is not None and tables:
        import pandas as pd

        write_frame(args.output / GROWTH_ROWS, pd.concat(tables))
        panels = {growth_title(one): growth_panel(one) for one in tables}
        _draw(line, args.output / GROWTH_PLOT, panels, GROWTH_LABELS, across=3, ticks=True)
    return code


def _pyproximal(args: argparse.Namespace, line: ProgressLine) -> int:
    if args.output is not None:
        make_folder(args.output)
        check_replaceable(args.output / name for name in PYPROXIMAL_FILES)
    scene = read_scene(args.pyproximal)
    curves: list[SolverCurve] = []
    code = 0
    try:
        for curve in pyproximal.compare_with_pyproximal(scene, args.seconds, line.write):
            curves.append(curve)
    except InputError as error:
        if not curves:
            raise
        line.clear()
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        code = _stopped(line)
        if not curves:
            return code
    line.clear()
    size = f"{len(scene.tracks)} x {scene.tracks.shape[2]}"
    against = f", pyproximal {pyproximal.pyproximal_version()}" if len(curves) > 1 else ""
    caption = f"{args.pyproximal.name}, {size}{against}"
    print(render_markdown(pyproximal.pyproximal_blocks(curves, caption)))
    if args.output is not None:
        write_frame(args.output / PYPROXIMAL_ROWS, pyproximal.pyproximal_table(curves))
        pyproximal.write_pyproximal_curves(args.output / PYPROXIMAL_CURVES, curves)
        panels = {f"{args.pyproximal.name}, {size}": excess_panel(curves)}
        titles = {method: method for method in pyproximal.PYPROXIMAL_METHODS}
        _draw(line, args.output / PYPROXIMAL_PLOT, panels, EXCESS_LABELS, titles=titles)
    return code


def _progress(line: ProgressLine) -> Callable[[BenchmarkProgress], None]:
    return lambda now: line.write(benchmark_progress_text(now))


def benchmark_progress_text(now: BenchmarkProgress) -> str:
    """Return the line of progress; the time left is what the limits allow at most."""
    parts = [f"{now.done} of {now.total}", f"{now.case.size} {BENCHMARK_METHODS[now.method].title}"]
    if now.point is not None:
        parts.append(f"iteration {now.point.iteration}, {now.point.seconds:.0f} of at most {now.limit:g} s")
    parts.append(f"ETA at most {duration_text(now.most_left)}")
    return "  ".join(parts)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)[x×](\d+)", text)
    if not found:
        raise InputError(f"--sizes holds {text!r}; accepted is FxP, such as 51x211")
    return int(found[1]), int(found[2])


def _show(runs: list[MethodRun], line: ProgressLine) -> None:
    line.clear()
    print(render_markdown(benchmark_blocks(benchmark_table(runs))), flush=True)


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
