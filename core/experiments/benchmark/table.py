"""What the runs come to: rows with times to the best loss, as Markdown and csv."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ...foundation.atomic import replacing
from .contestants import CONTESTANTS, TIME_LIMIT
from .runs import STOPPED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from .runs import BenchmarkRun

TOLERANCES = (1e-3, 1e-6, 1e-10)  # relative, above the best loss of any method on the same problem
COMPARED = 1e-6  # where the methods' times are compared


def power(tolerance: float) -> str:
    """Return a power of ten as text: 1e-3."""
    return f"1e{round(math.log10(tolerance))}"


HEADER = (
    "method",
    "iterations",
    "CPU s",
    *(f"s to {power(tolerance)}" for tolerance in TOLERANCES),
    f"times the fastest's to {power(COMPARED)}",
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
    seconds_to: tuple[float | None, ...]  # as TOLERANCES
    times_fastest: float | None  # to COMPARED; where `bound` is set, at least that
    bound: bool  # the run was ended before it was there
    loss: float | None  # at rank K
    excess: float | None  # relative, above the best
    own: float | None  # what the method itself minimizes, at the end
    peak_mb: float | None
    process_mb: float | None

    @property
    def limited(self) -> bool:
        """Whether the run would have gone on."""
        return self.status in (TIME_LIMIT, STOPPED)


def rows(outcomes: Iterable[BenchmarkRun]) -> list[BenchmarkRow]:
    """Compare the outcomes that belong to the same problem with the best of them."""
    groups: dict[object, list[BenchmarkRun]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.case, []).append(outcome)
    return [row for group in groups.values() for row in _compared(group)]


def _compared(group: Collection[BenchmarkRun]) -> list[BenchmarkRow]:
    best = min(outcome.loss for outcome in group)
    target = (1 + COMPARED) * best
    fastest = min((s for o in group if (s := o.seconds_to(target)) is not None), default=None)
    return [_row(outcome, best, fastest) for outcome in group]


def _row(outcome: BenchmarkRun, best: float, fastest: float | None) -> BenchmarkRow:
    reached = tuple(outcome.seconds_to((1 + tolerance) * best) for tolerance in TOLERANCES)
    there = reached[TOLERANCES.index(COMPARED)]
    bound = there is None and outcome.limited
    spent = outcome.seconds if bound else there
    case, marks = outcome.case, outcome.marks
    return BenchmarkRow(
        problem=case.problem,
        object=case.kind,
        start=case.start,
        frames=case.frames,
        points=case.points,
        rank=case.rank,
        method=outcome.method,
        status=outcome.status,
        iterations=outcome.iterations,
        seconds=outcome.seconds,
        seconds_to=reached,
        times_fastest=spent / fastest if fastest and spent is not None else None,
        bound=bound,
        loss=outcome.loss if marks else None,
        excess=outcome.loss / best - 1 if marks and best > 0 else None,
        own=marks[-1].own if marks else None,
        peak_mb=outcome.peak_mb,
        process_mb=outcome.process_mb,
    )


def markdown(table: Collection[BenchmarkRow]) -> str:
    """Return one Markdown table for every problem, with a line above that says which it is."""
    blocks: dict[tuple[object, ...], list[str]] = {}
    for row in table:
        key = (row.problem, row.object, row.start, row.frames, row.points, row.rank)
        lines = blocks.setdefault(
            key,
            [
                f"{row.problem}, {row.object}, {row.frames} x {row.points}, "
                f"K = {row.rank}, start {row.start}",
                "",
                "| " + " | ".join(HEADER) + " |",
                "|---" + "|---:" * (len(HEADER) - 2) + "|---|",
            ],
        )
        lines.append("| " + " | ".join(_cells(row)) + " |")
    return "\n\n".join("\n".join(lines) for lines in blocks.values()) + "\n"


def _cells(row: BenchmarkRow) -> list[str]:
    limit = f"> {number(row.seconds)}" if row.limited else "-"
    times = "-" if row.times_fastest is None else f"{'> ' * row.bound}{number(row.times_fastest)}"
    return [
        CONTESTANTS[row.method].title,
        str(row.iterations),
        number(row.seconds),
        *(limit if seconds is None else number(seconds) for seconds in row.seconds_to),
        times,
        "-" if row.peak_mb is None else f"{row.peak_mb:.0f}",
        _log10(row.loss),
        "-" if row.excess is None else f"{max(row.excess, 0.0):.1e}",
        _log10(row.own),
        row.status,
    ]


def number(value: float) -> str:
    """Return a number with three digits that count."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _log10(value: float | None) -> str:
    return f"{math.log10(value):.6f}" if value is not None and 0 < value < math.inf else "-"


def write_rows(path: Path, table: Collection[BenchmarkRow]) -> None:
    """Write one line per method and problem; what is not known or was not reached is empty.

    Raises
    ------
    InputError
        where the file cannot be written.
    """
    names = [entry.name for entry in fields(BenchmarkRow)]
    at = names.index("seconds_to")
    header = [*names[:at], *(f"seconds_to_{power(tolerance)}" for tolerance in TOLERANCES), *names[at + 1 :]]
    lines = []
    for row in table:
        values = [getattr(row, name) for name in names]
        lines.append([*values[:at], *row.seconds_to, *values[at + 1 :]])
    write_csv(path, header, lines)


def write_curves(path: Path, outcomes: Iterable[BenchmarkRun]) -> None:
    """Write one line per point of every curve: the loss at rank K, and what the method itself minimizes.

    Raises
    ------
    InputError
        where the file cannot be written.
    """
    case_fields = ("problem", "kind", "start", "frames", "points", "rank")
    header = ["problem", "object", *case_fields[2:], "method", "iteration", "seconds", "loss", "own"]
    lines = []
    for outcome in outcomes:
        case = [getattr(outcome.case, name) for name in case_fields]
        lines += [
            [*case, outcome.method, mark.iteration, mark.seconds, mark.loss, mark.own]
            for mark in outcome.marks
        ]
    write_csv(path, header, lines)


def write_csv(path: Path, header: Collection[str], lines: Iterable[Collection[object]]) -> None:
    """Write a table, numbers with all their digits, None as nothing.

    Raises
    ------
    InputError
        where the file cannot be written.
    """
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(lines)
