"""The comparison with pyproximal as a table, as csv and as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .known_cameras import OURS
from .table import number, power, write_csv

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from ...foundation.types import Floats
    from .known_cameras import SolverCurve

TOLERANCES = (1e-6, 1e-8)  # relative, above the optimum
HEADER = [
    "method",
    "iterations",
    "seconds",
    *(f"seconds_to_{power(tolerance)}" for tolerance in TOLERANCES),
    *(f"times_ours_to_{power(tolerance)}" for tolerance in TOLERANCES),
    "objective",
    "excess",
    "rank",
    "lower_bound",
]


def rows(courses: Collection[SolverCurve]) -> list[list[object]]:
    """Return a line for every solver, as HEADER; a time that was not reached is None."""
    optimum = min(course.objective for course in courses)
    own = {course.method: course for course in courses}.get(OURS)
    lines: list[list[object]] = []
    for course in courses:
        reached = [course.seconds_to((1 + tolerance) * optimum) for tolerance in TOLERANCES]
        base = [own.seconds_to((1 + tolerance) * optimum) if own else None for tolerance in TOLERANCES]
        times = [a / b if a and b else None for a, b in zip(reached, base, strict=True)]
        last = course.marks[-1]
        least = course.objective
        end = (least, least / optimum - 1, course.rank, course.bound)
        lines.append([course.method, last.iteration, last.seconds, *reached, *times, *end])
    return lines


def markdown(courses: Collection[SolverCurve]) -> str:
    """Return the table, with what was proved about the optimum below."""
    header = [
        "method",
        "iterations",
        "CPU s",
        *(f"s to {power(tolerance)}" for tolerance in TOLERANCES),
        *(f"times ours to {power(tolerance)}" for tolerance in TOLERANCES),
        "objective",
        "excess",
    ]
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    for method, iterations, *numbers, objective, excess, _, _ in rows(courses):
        cells = ["-" if value is None else number(float(str(value))) for value in numbers]
        cells = [str(method), str(iterations), *cells, f"{objective:.6f}", f"{excess:.1e}"]
        lines.append("| " + " | ".join(cells) + " |")
    for course in courses:
        if course.bound is not None:
            gap = max(1 - course.bound / course.objective, 0.0)
            lines += [
                "",
                f"optimum {course.objective:.6f}, proved to a relative {gap:.1e}; K = {course.rank}",
            ]
    return "\n".join(lines) + "\n"


def write_rows(path: Path, courses: Collection[SolverCurve]) -> None:
    """Write one line per solver; what is not known or was not reached is empty.

    Raises
    ------
    InputError
        where the file cannot be written.
    """
    write_csv(path, HEADER, rows(courses))


def write_curves(path: Path, courses: Collection[SolverCurve]) -> None:
    """Write one line per point of every curve.

    Raises
    ------
    InputError
        where the file cannot be written.
    """
    lines = [[c.method, m.iteration, m.seconds, m.loss] for c in courses for m in c.marks]
    write_csv(path, ["method", "iteration", "seconds", "objective"], lines)


def curves(courses: Collection[SolverCurve]) -> dict[str, tuple[Floats, Floats]]:
    """Return seconds and relative excess of every solver, for `draw_panels`."""
    optimum = min(course.objective for course in courses)
    return {
        course.method: (
            np.array([mark.seconds for mark in course.marks]),
            np.minimum.accumulate([mark.loss for mark in course.marks]) / optimum - 1,
        )
        for course in courses
    }
