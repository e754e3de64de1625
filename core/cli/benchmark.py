"""`nrsfm benchmark`: the methods against one another on the same problems, loss against CPU seconds."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from ..experiments import figures
from ..experiments.benchmark import results
from ..experiments.benchmark.methods import BENCHMARK_METHODS, CurvePoint
from ..experiments.benchmark.problems import BENCHMARK_STARTS, DEFAULT_RANKS, BenchmarkCase, growth_cases
from ..experiments.benchmark.runs import MethodRun, run_benchmark
from ..experiments.job_store import JobStore
from ..experiments.report import check_installed, render_markdown, write_frame
from ..foundation import InputError, check_replaceable
from ..solvers.methods import PROBLEMS
from ..synthetic import KINDS
from .command_line import INTERRUPTED, declare, explained
from .console import ProgressLine, duration_text

if TYPE_CHECKING:
    import pandas as pd

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
written into FOLDER at the end, with all curves and a plot. What has ended is kept there in runs.jsonl at
once: the same command, also after it was killed, measures only what is not in it, and writes all tables.
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
    """Measure and print one table after the other, and write what there is, also after Ctrl-C."""
    for name in COMPARISON_OPTIONS:
        if args.growth and getattr(args, name) is not None:
            raise InputError(f"--{name} has no effect together with --growth, which has its own problems")
    if not args.seconds > 0:
        raise InputError(f"--seconds is {args.seconds:g}; accepted is a number above 0")
    check_installed("jinja2", "pandas")
    what = "growth" if args.growth else "comparison"
    files = [] if args.output is None else [args.output / name for name in FILES[what]]
    check_replaceable(files)
    groups = growth_cases() if args.growth else _compared_cases(args)
    methods = list(dict.fromkeys(args.methods or BENCHMARK_METHODS))
    if args.growth:
        methods = [results.GROWTH_METHOD]
    count = sum(map(len, groups.values())) * len(methods)
    runs: list[MethodRun] = []
    tables: list[pd.DataFrame] = []
    code = 0
    with (
        ProgressLine(sys.stderr) as line,
        nullcontext() if args.output is None else JobStore(args.output) as store,
    ):
        progress = _progress(line, runs, count, args.seconds)
        for name, cases in groups.items():
            before = len(runs)
            try:
                for run in run_benchmark(cases, methods, args.seconds, progress, store=store):
                    runs.append(run)
            except KeyboardInterrupt:
                line.clear()
                print("nrsfm benchmark: stopped; what was done before is kept", file=sys.stderr)
                code = INTERRUPTED
            table, some = None, runs[before:]
            if some:
                table = results.growth_table(name, some) if args.growth else results.benchmark_table(some)
            if table is not None:
                tables.append(table)
                line.clear()
                blocks = results.growth_blocks if args.growth else results.benchmark_blocks
                print(render_markdown(blocks(table)), flush=True)
            if code:
                break
        if files and tables:
            _write(line, files, runs, tables, growth=args.growth)
    return code


def _compared_cases(args: argparse.Namespace) -> dict[str, list[BenchmarkCase]]:
    """Return the problems of the comparison, by their sizes."""
    problem, kind, start = args.problem or PROBLEM, args.object or OBJECT, args.start or START
    rank = DEFAULT_RANKS[problem] if args.rank is None else args.rank
    sizes = dict.fromkeys(args.sizes or DEFAULT_SIZES)
    return {size: [BenchmarkCase(*_size(size), rank, problem, kind, start)] for size in sizes}


def _write(
    line: ProgressLine, files: list[Path], runs: list[MethodRun], tables: list[pd.DataFrame], *, growth: bool
) -> None:
    """Write the tables and draw the curves; without matplotlib say so, as the tables do not need it."""
    import pandas as pd

    write_frame(files[0], pd.concat(tables))
    line.write("drawing")
    try:
        if growth:
            panels = {results.growth_title(one): results.growth_panel(one) for one in tables}
            figures.draw_curves(files[-1], panels, GROWTH_LABELS, across=3, ticks=True)
            return
        curves = results.benchmark_curves(runs)
        write_frame(files[1], curves)
        titles = {name: method.title for name, method in BENCHMARK_METHODS.items()}
        panels = results.excess_panels(curves)
        if panels:
            figures.draw_curves(files[-1], panels, EXCESS_LABELS, titles=titles)
    except InputError as error:
        line.clear()
        print(f"nrsfm benchmark: {error}", file=sys.stderr)


def _progress(
    line: ProgressLine, runs: list[MethodRun], count: int, limit: float
) -> Callable[[BenchmarkCase, str, CurvePoint | None], None]:
    """Return what writes the line of progress; the time left is what the limits allow at most."""

    def show(case: BenchmarkCase, method: str, point: CurvePoint | None) -> None:
        parts = [f"{len(runs)} of {count}", f"{case.size} {BENCHMARK_METHODS[method].title}"]
        left = (count - len(runs)) * limit
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
