"""The runs of the benchmark compared: times to the best loss as tables, as csv and as curves."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ..report import ReportTable, format_significant, write_csv_table
from .methods import BENCHMARK_METHODS, TIME_LIMIT
from .runs import STOPPED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from ...foundation.types import Floats
    from ..report import ReportBlock
    from .measurement import CurvePoint
    from .runs import MethodRun

BENCHMARK_TOLERANCES = (1e-3, 1e-6, 1e-10)  # relative, above the best loss of any method on the same problem
COMPARED_TOLERANCE = 1e-6  # where the methods' times are compared


def power_of_ten(tolerance: float) -> str:
    """Return a power of ten as text, such as 1e-3."""
    return f"1e{round(math.log10(tolerance))}"


BENCHMARK_HEADER = (
    "method",
    "iterations",
    "CPU s",
    *(f"s to {power_of_ten(tolerance)}" for tolerance in BENCHMARK_TOLERANCES),
    f"times the fastest's to {power_of_ten(COMPARED_TOLERANCE)}",
    "MB",
    "log10 loss",
    "excess",
    "log10 own",
    "end",
)


@dataclass(frozen=True)
class BenchmarkRow:
    """One method on one problem; seconds are of CPU, a time that was not reached is None."""

    problem: str
    object: str
    start: str
    frames: int
    points: int
    rank: int
    method: str
    status: str
    iterations: int
    seconds: float
    seconds_to: tuple[float | None, ...]  # as BENCHMARK_TOLERANCES
    times_fastest: float | None  # to COMPARED_TOLERANCE; where `bound` is set, at least that
    bound: bool  # the run was ended before it was there
    loss: float | None  # at rank K
    excess: float | None  # relative, above the best
    own: float | None  # what the method itself minimizes, at the end
    peak_mb: float | None
    process_mb: float | None

    @property
    def limited(self) -> bool:
        """Whether the run was ended before its own criterion."""
        return self.status in (TIME_LIMIT, STOPPED)


def benchmark_rows(runs: Iterable[MethodRun]) -> list[BenchmarkRow]:
    """Compare the runs on the same problem with the best of them."""
    groups: dict[object, list[MethodRun]] = {}
    for run in runs:
        groups.setdefault(run.case, []).append(run)
    return [row for group in groups.values() for row in _compare_runs(group)]


def _compare_runs(group: list[MethodRun]) -> list[BenchmarkRow]:
    best = min(run.loss for run in group)
    target = (1 + COMPARED_TOLERANCE) * best
    fastest = min((s for run in group if (s := run.seconds_to(target)) is not None), default=None)
    return [_row(run, best, fastest) for run in group]


def _row(run: MethodRun, best: float, fastest: float | None) -> BenchmarkRow:
    reached = tuple(run.seconds_to((1 + tolerance) * best) for tolerance in BENCHMARK_TOLERANCES)
    there = reached[BENCHMARK_TOLERANCES.index(COMPARED_TOLERANCE)]
    bound = there is None and run.limited
    spent = run.seconds if bound else there
    case, curve = run.case, run.curve
    return BenchmarkRow(
        problem=case.problem,
        object=case.kind,
        start=case.start,
        frames=case.frames,
        points=case.points,
        rank=case.rank,
        method=run.method,
        status=run.status,
        iterations=run.iterations,
        seconds=run.seconds,
        seconds_to=reached,
        times_fastest=spent / fastest if fastest and spent is not None else None,
        bound=bound,
        loss=run.loss if curve else None,
        excess=run.loss / best - 1 if curve and best > 0 else None,
        own=curve[-1].own_loss if curve else None,
        peak_mb=run.peak_mb,
        process_mb=run.process_mb,
    )


def benchmark_blocks(rows: list[BenchmarkRow]) -> list[ReportBlock]:
    """Return a table for every problem, with the problem as its caption."""
    groups: dict[str, list[list[str]]] = {}
    for row in rows:
        caption = (
            f"{row.problem}, {row.object}, {row.frames} x {row.points}, K = {row.rank}, start {row.start}"
        )
        groups.setdefault(caption, []).append(_cells(row))
    return [ReportTable.of_texts(caption, BENCHMARK_HEADER, lines) for caption, lines in groups.items()]


def _cells(row: BenchmarkRow) -> list[str]:
    limit = f"> {format_significant(row.seconds)}" if row.limited else "-"
    times = "-" if row.times_fastest is None else f"{'> ' * row.bound}{format_significant(row.times_fastest)}"
    return [
        BENCHMARK_METHODS[row.method].title,
        str(row.iterations),
        format_significant(row.seconds),
        *(limit if seconds is None else format_significant(seconds) for seconds in row.seconds_to),
        times,
        "-" if row.peak_mb is None else f"{row.peak_mb:.0f}",
        _log10(row.loss),
        "-" if row.excess is None else f"{max(row.excess, 0.0):.1e}",
        _log10(row.own),
        row.status,
    ]


def _log10(value: float | None) -> str:
    return f"{math.log10(value):.6f}" if value is not None and 0 < value < math.inf else "-"


def excess_panels(runs: Iterable[MethodRun]) -> dict[str, dict[str, tuple[Floats, Floats]]]:
    """Return CPU seconds and the relative excess over the best loss, by problem and method."""
    groups: dict[str, list[MethodRun]] = {}
    for run in runs:
        case = run.case
        groups.setdefault(f"{case.problem}, {case.size}, K = {case.rank}", []).append(run)
    panels = {}
    for title, group in groups.items():
        best = min(run.loss for run in group)
        panels[title] = {run.method: relative_excess(run.curve, best) for run in group if run.curve}
    return panels


def relative_excess(curve: Collection[CurvePoint], best: float) -> tuple[Floats, Floats]:
    """Return the CPU seconds of a curve, and the least loss up to each relative to the best one, minus 1."""
    losses = np.minimum.accumulate([point.loss for point in curve])
    return np.array([point.seconds for point in curve]), losses / best - 1


def write_benchmark_rows(path: Path, rows: list[BenchmarkRow]) -> None:
    """Write one line per method and problem; what is not known or was not reached is empty.

    Raises InputError where the file cannot be written.
    """
    names = [entry.name for entry in fields(BenchmarkRow)]
    at = names.index("seconds_to")
    header = [
        *names[:at],
        *(f"seconds_to_{power_of_ten(tolerance)}" for tolerance in BENCHMARK_TOLERANCES),
        *names[at + 1 :],
    ]
    lines = []
    for row in rows:
        values = [getattr(row, name) for name in names]
        lines.append([*values[:at], *row.seconds_to, *values[at + 1 :]])
    write_csv_table(path, header, lines)


def write_benchmark_curves(path: Path, runs: Iterable[MethodRun]) -> None:
    """Write one line per point of every curve: the loss at rank K, and what the method itself minimizes.

    Raises InputError where the file cannot be written.
    """
    case_fields = ("problem", "kind", "start", "frames", "points", "rank")
    header = ["problem", "object", *case_fields[2:], "method", "iteration", "seconds", "loss", "own"]
    lines = []
    for run in runs:
        case = [getattr(run.case, name) for name in case_fields]
        lines += [
            [*case, run.method, point.iteration, point.seconds, point.loss, point.own_loss]
            for point in run.curve
        ]
    write_csv_table(path, header, lines)
