"""How the time of the default method grows with F, P and K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .problems import BenchmarkCase

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...foundation.types import Floats
    from .runs import BenchmarkRun

METHOD = "bilinear"
BASE = BenchmarkCase(frames=100, points=100, rank=2, start="grown")  # where iterations vary least
# Every parameter by itself, the others as in BASE.
STEPS: dict[str, tuple[int, ...]] = {
    "F": (50, 100, 200, 400, 800),
    "P": (50, 100, 200, 400, 800, 1600),
    "K": (1, 2, 3, 4, 6, 8, 10),
}
FIELD = {"F": "frames", "P": "points", "K": "rank"}
HEADER = (
    "parameter",
    "value",
    "frames",
    "points",
    "rank",
    "iterations",
    "seconds",
    "seconds_per_iteration",
    "peak_mb",
)


@dataclass(frozen=True, eq=False)
class Growth:
    """The outcomes along one parameter."""

    parameter: str  # of STEPS
    outcomes: tuple[BenchmarkRun, ...]

    @property
    def values(self) -> Floats:
        """The values of the parameter."""
        return np.array([getattr(o.case, FIELD[self.parameter]) for o in self.outcomes], dtype=float)

    @property
    def title(self) -> str:
        """What is held."""
        case = self.outcomes[0].case
        held = [f"{name} = {getattr(case, FIELD[name])}" for name in STEPS if name != self.parameter]
        return f"time against {self.parameter} at {', '.join(held)}"

    def series(self) -> dict[str, Floats]:
        """Return CPU seconds by what they are of; an iteration more stands for the start."""
        seconds = np.array([outcome.seconds for outcome in self.outcomes])
        steps = np.array([outcome.iterations + 1 for outcome in self.outcomes])
        return {"per iteration": seconds / steps, "to the end": seconds}

    def slope(self, name: str) -> float:
        """Return the least-squares slope of a series in log-log; NaN of fewer than two values."""
        if len(self.outcomes) < 2:
            return float("nan")
        return float(np.polyfit(np.log(self.values), np.log(self.series()[name]), 1)[0])

    def rows(self) -> list[list[Any]]:
        """Return a line of csv for every value, as HEADER."""
        per_iteration = self.series()["per iteration"]
        return [
            [
                self.parameter,
                int(value),
                outcome.case.frames,
                outcome.case.points,
                outcome.case.rank,
                outcome.iterations,
                outcome.seconds,
                float(each),
                outcome.peak_mb,
            ]
            for value, outcome, each in zip(self.values, self.outcomes, per_iteration, strict=True)
        ]

    def markdown(self) -> str:
        """Return a table with the slopes below."""
        lines = [
            self.title,
            "",
            f"| {self.parameter} | iterations | CPU ms | CPU ms per iteration | MB |",
            "|---:|---:|---:|---:|---:|",
        ]
        for _, value, *_, iterations, seconds, each, peak in self.rows():
            memory = "-" if peak is None else f"{peak:.0f}"
            lines.append(f"| {value} | {iterations} | {1e3 * seconds:.1f} | {1e3 * each:.3f} | {memory} |")
        slopes = ", ".join(f"{name} {self.slope(name):.2f}" for name in self.series())
        return "\n".join([*lines, "", f"slope in log-log: {slopes}"]) + "\n"


def cases(
    base: BenchmarkCase = BASE, steps: dict[str, tuple[int, ...]] = STEPS
) -> dict[str, list[BenchmarkCase]]:
    """Return the problems along every parameter."""
    found: dict[str, list[BenchmarkCase]] = {}
    for parameter, values in steps.items():
        own = {name: getattr(base, name) for name in ("frames", "points", "rank", "problem", "kind", "start")}
        found[parameter] = [BenchmarkCase(**(own | {FIELD[parameter]: value})) for value in values]
    return found


def along(parameter: str, outcomes: Collection[BenchmarkRun]) -> Growth | None:
    """Return the growth along a parameter from the outcomes that went well; None where there are none."""
    good = tuple(outcome for outcome in outcomes if outcome.marks and not outcome.limited)
    return Growth(parameter, good) if good else None
