"""How the time of the default method grows with F, P and K."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..figures import GrowthPanel
from ..report import Paragraph, ReportTable
from .problems import BenchmarkCase

if TYPE_CHECKING:
    from ...foundation.types import Floats
    from ..report import ReportBlock
    from .runs import MethodRun

GROWTH_METHOD = "bilinear"
BASE_CASE = BenchmarkCase(frames=100, points=100, rank=2, start="grown")  # where iterations vary least
# Every parameter by itself, the others as in BASE_CASE.
GROWTH_SIZES: dict[str, tuple[int, ...]] = {
    "F": (50, 100, 200, 400, 800),
    "P": (50, 100, 200, 400, 800, 1600),
    "K": (1, 2, 3, 4, 6, 8, 10),
}
CASE_FIELDS = {"F": "frames", "P": "points", "K": "rank"}
GROWTH_HEADER = (
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
class GrowthCurve:
    """The runs along one parameter."""

    parameter: str  # a key of GROWTH_SIZES
    runs: tuple[MethodRun, ...]

    @property
    def values(self) -> Floats:
        """The values of the parameter."""
        return np.array([getattr(run.case, CASE_FIELDS[self.parameter]) for run in self.runs], dtype=float)

    @property
    def title(self) -> str:
        """The parameter, and the values of the others."""
        case = self.runs[0].case
        fixed = [
            f"{name} = {getattr(case, CASE_FIELDS[name])}" for name in GROWTH_SIZES if name != self.parameter
        ]
        return f"time against {self.parameter} at {', '.join(fixed)}"

    def series(self) -> dict[str, Floats]:
        """Return CPU seconds by name; the start counts as one more iteration."""
        seconds = np.array([run.seconds for run in self.runs])
        steps = np.array([run.iterations + 1 for run in self.runs])
        return {"per iteration": seconds / steps, "to the end": seconds}

    def slope(self, name: str) -> float:
        """Return the least-squares slope of a series in log-log; NaN of fewer than two values."""
        if len(self.runs) < 2:
            return float("nan")
        return float(np.polyfit(np.log(self.values), np.log(self.series()[name]), 1)[0])

    def rows(self) -> list[list[Any]]:
        """Return a line of csv for every value, as GROWTH_HEADER."""
        per_iteration = self.series()["per iteration"]
        return [
            [
                self.parameter,
                int(value),
                run.case.frames,
                run.case.points,
                run.case.rank,
                run.iterations,
                run.seconds,
                float(each),
                run.peak_mb,
            ]
            for value, run, each in zip(self.values, self.runs, per_iteration, strict=True)
        ]

    def blocks(self) -> list[ReportBlock]:
        """Return a table, and its slopes."""
        rows = []
        for _, value, *_, iterations, seconds, each, peak in self.rows():
            memory = "-" if peak is None else f"{peak:.0f}"
            texts = (str(value), str(iterations), f"{1e3 * seconds:.1f}", f"{1e3 * each:.3f}", memory)
            rows.append(texts)
        header = (self.parameter, "iterations", "CPU ms", "CPU ms per iteration", "MB")
        slopes = ", ".join(f"{name} {self.slope(name):.2f}" for name in self.series())
        table = ReportTable.of_texts(self.title, header, rows, labels=0)
        return [table, Paragraph(f"slope in log-log: {slopes}")]

    def panel(self) -> GrowthPanel:
        """Return the curves for `draw_growth`."""
        labeled = {
            f"{name}: slope {self.slope(name):.2f}": seconds for name, seconds in self.series().items()
        }
        return GrowthPanel(self.title, self.parameter, self.values, labeled)


def growth_cases() -> dict[str, list[BenchmarkCase]]:
    """Return the problems along every parameter, by parameter."""
    found: dict[str, list[BenchmarkCase]] = {}
    for parameter, values in GROWTH_SIZES.items():
        changes: list[dict[str, Any]] = [{CASE_FIELDS[parameter]: value} for value in values]
        found[parameter] = [replace(BASE_CASE, **change) for change in changes]
    return found


def growth_curve(parameter: str, runs: list[MethodRun]) -> GrowthCurve | None:
    """Return the growth along a parameter; None where no run ended by its own criterion."""
    good = tuple(run for run in runs if run.curve and not run.limited)
    return GrowthCurve(parameter, good) if good else None
