"""`nrsfm benchmark`: the methods against one another on the same problems, loss against CPU seconds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..experiments.benchmark import growth, known_cameras, plot, pyproximal, pyproximal_table, table
from ..experiments.benchmark.contestants import CONTESTANTS
from ..experiments.benchmark.problems import RANKS, STARTS, BenchmarkCase
from ..experiments.benchmark.runs import compare
from ..foundation.exceptions import InputError
from ..solvers.methods import PROBLEMS
from ..synthetic import KINDS
from . import INTERRUPTED
from .console import ProgressLine

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection

    from ..experiments.benchmark.known_cameras import SolverCurve
    from ..experiments.benchmark.runs import BenchmarkProgress, BenchmarkRun

SIZES = ("40x40", "51x211", "193x207", "432x405")
SECONDS = 60.0
# What the comparison takes where it is not said, and the options that only it takes.
PROBLEM, OBJECT, START = "nonrigid", "paper", "closed"
COMPARED = ("sizes", "methods", "rank", "problem", "start", "object")
DESCRIPTION = """\
Minimize the same simulated problems by several methods and tell how fast each comes how near to the best loss
that any of them reaches. Times are CPU seconds of one thread. The bilinear methods all start at one point,
the methods on the matrix itself at the closed form. Every method runs in a process of its own: its memory is
how far that process rises above what it has with the problem posed. Tables go to stdout, and with -o also to
FOLDER, with all curves and a plot.
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
        "--sizes",
        nargs="+",
        metavar="FxP",
        help=f"frames x points (default {' '.join(SIZES)})",
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=list(CONTESTANTS),
        metavar="METHOD",
        help="; ".join(f"{name}: {one.title}" for name, one in CONTESTANTS.items()) + " (default all)",
    )
    ranks = ", ".join(f"{rank} for {name}" for name, rank in RANKS.items())
    parser.add_argument("--rank", type=int, metavar="K", help=f"basis shapes (default {ranks})")
    parser.add_argument("--problem", choices=list(PROBLEMS), help=f"default {PROBLEM}")
    starts = "; ".join(f"{name}: {meaning}" for name, meaning in STARTS.items())
    parser.add_argument(
        "--start",
        choices=list(STARTS),
        help=f"of the bilinear methods: {starts} (default {START}, and the only one of lowrank)",
    )
    parser.add_argument("--object", choices=list(KINDS), help=f"default {OBJECT}")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        metavar="LIMIT",
        help="CPU seconds for each method at each size (default %(default)g)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="where to write csv and plots")


def run(args: argparse.Namespace) -> int:
    """Measure, print, and write after every run what there is by then."""
    for alone in ("growth", "pyproximal"):
        for name in COMPARED:
            if getattr(args, alone) and getattr(args, name) is not None:
                raise InputError(f"--{name} has no effect beside --{alone}, which has problems of its own")
    if not args.seconds > 0:
        raise InputError(f"--seconds is {args.seconds:g}; accepted is a number above 0")
    if args.output is not None:
        try:
            args.output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{args.output} cannot be made: {error.strerror or error}") from error
    line = ProgressLine(sys.stderr)
    try:
        if args.pyproximal is not None:
            return _pyproximal(args, line)
        return _growth(args, line) if args.growth else _comparison(args, line)
    finally:
        line.clear()


def _comparison(args: argparse.Namespace, line: ProgressLine) -> int:
    problem, kind, start = args.problem or PROBLEM, args.object or OBJECT, args.start or START
    rank = RANKS[problem] if args.rank is None else args.rank
    cases = [BenchmarkCase(*_size(size), rank, problem, kind, start) for size in args.sizes or SIZES]
    methods = list(dict.fromkeys(args.methods or CONTESTANTS))
    outcomes: list[BenchmarkRun] = []
    shown = 0
    code = 0
    try:
        for outcome in compare(cases, methods, args.seconds, lambda now: line.write(standing_text(now))):
            outcomes.append(outcome)
            if args.output is not None:
                table.write_rows(args.output / "benchmark.csv", table.rows(outcomes))
                table.write_curves(args.output / "curves.csv", outcomes)
            if len(outcomes) - shown == len(methods):
                _show(outcomes[shown:], line)
                shown = len(outcomes)
    except KeyboardInterrupt:
        code = _stopped(line)
        if outcomes[shown:]:
            _show(outcomes[shown:], line)
    if args.output is not None and outcomes:
        _draw(line, lambda: plot.draw_curves(args.output / "benchmark.png", outcomes))
    return code


def _growth(args: argparse.Namespace, line: ProgressLine) -> int:
    tasks = [(name, case) for name, cases in growth.cases().items() for case in cases]
    found: dict[str, list[BenchmarkRun]] = {name: [] for name, _ in tasks}
    cases = [case for _, case in tasks]
    code = 0
    try:
        outcomes = compare(cases, [growth.METHOD], args.seconds, lambda now: line.write(standing_text(now)))
        for (name, _), outcome in zip(tasks, outcomes, strict=False):
            found[name].append(outcome)
    except KeyboardInterrupt:
        code = _stopped(line)
    growths = [one for name, outcomes in found.items() if (one := growth.along(name, outcomes))]
    line.clear()
    for one in growths:
        print(one.markdown())
    if args.output is not None and growths:
        rows = [row for one in growths for row in one.rows()]
        table.write_csv(args.output / "growth.csv", growth.HEADER, rows)
        _draw(line, lambda: plot.draw_growth(args.output / "growth.png", growths))
    return code


def _pyproximal(args: argparse.Namespace, line: ProgressLine) -> int:
    scene = known_cameras.read_scene(args.pyproximal)
    courses: list[SolverCurve] = []
    code = 0
    try:
        for course in pyproximal.compare(scene, args.seconds, line.write):
            courses.append(course)
    except InputError as error:
        if not courses:
            raise
        line.clear()
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        code = _stopped(line)
        if not courses:
            return code
    line.clear()
    size = f"{len(scene.tracks)} x {scene.tracks.shape[2]}"
    against = f", pyproximal {pyproximal.version()}" if len(courses) > 1 else ""
    print(f"{args.pyproximal.name}, {size}{against}\n\n{pyproximal_table.markdown(courses)}")
    if args.output is not None:
        pyproximal_table.write_rows(args.output / "pyproximal.csv", courses)
        pyproximal_table.write_curves(args.output / "pyproximal_curves.csv", courses)
        panels = {f"{args.pyproximal.name}, {size}": pyproximal_table.curves(courses)}
        titles = {method: method for method in pyproximal.METHODS}
        _draw(line, lambda: plot.draw_panels(args.output / "pyproximal.png", panels, titles))
    return code


def standing_text(now: BenchmarkProgress) -> str:
    """Return the line of progress; the time left is what the limits allow at most."""
    parts = [f"{now.done} of {now.total}", f"{now.case.size} {CONTESTANTS[now.method].title}"]
    if now.mark is not None:
        parts.append(f"iteration {now.mark.iteration}, {now.mark.seconds:.0f} of at most {now.limit:g} s")
    left = now.most_left
    parts.append(f"ETA at most {f'{left:.0f} s' if left < 120 else f'{left / 60:.0f} min'}")
    return "  ".join(parts)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)[x×](\d+)", text)
    if not found:
        raise InputError(f"--sizes holds {text!r}; accepted is FxP, such as 51x211")
    return int(found[1]), int(found[2])


def _show(outcomes: Collection[BenchmarkRun], line: ProgressLine) -> None:
    line.clear()
    print(table.markdown(table.rows(outcomes)), flush=True)


def _stopped(line: ProgressLine) -> int:
    line.clear()
    print("nrsfm benchmark: stopped; what was done until then is kept", file=sys.stderr)
    return INTERRUPTED


def _draw(line: ProgressLine, draw: Callable[[], None]) -> None:
    """Draw a picture; where matplotlib is not installed, say so, because the tables are there."""
    line.write("drawing")
    try:
        draw()
    except InputError as error:
        line.clear()
        print(f"nrsfm benchmark: {error}", file=sys.stderr)
