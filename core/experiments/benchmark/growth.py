"""How the time of the default method grows with F, P and K."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..figures import GrowthPanel
from ..report import Paragraph, ReportTable
from .problems import BenchmarkCase
from .results import benchmark_table

if TYPE_CHECKING:
    import pandas as pd

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
GROWTH_COLUMNS = ("frames", "points", "rank", "iterations", "seconds", "seconds_per_iteration", "peak_mb")
SERIES = {"seconds_per_iteration": "per iteration", "seconds": "to the end"}  # what grows


def growth_cases() -> dict[str, list[BenchmarkCase]]:
    """Return the problems along every parameter, by parameter."""
    found: dict[str, list[BenchmarkCase]] = {}
    for parameter, values in GROWTH_SIZES.items():
        changes: list[dict[str, Any]] = [{CASE_FIELDS[parameter]: value} for value in values]
        found[parameter] = [replace(BASE_CASE, **change) for change in changes]
    return found


def growth_table(parameter: str, runs: list[MethodRun]) -> pd.DataFrame | None:
    """Return the runs along a parameter, a row each; None where no run ended by its own criterion.

    Its columns are parameter, value and GROWTH_COLUMNS; the start counts as one more iteration.
    """
    good = [run for run in runs if run.curve and not run.limited]
    if not good:
        return None
    table = benchmark_table(good)
    table["seconds_per_iteration"] = table["seconds"] / (table["iterations"] + 1)
    table = table.assign(parameter=parameter, value=table[CASE_FIELDS[parameter]])
    return table[["parameter", "value", *GROWTH_COLUMNS]]


def growth_title(table: pd.DataFrame) -> str:
    """Return the parameter, and the values of the others."""
    first = table.iloc[0]
    fixed = [f"{name} = {first[field]}" for name, field in CASE_FIELDS.items() if name != first["parameter"]]
    return f"time against {first['parameter']} at {', '.join(fixed)}"


def growth_slopes(table: pd.DataFrame) -> dict[str, float]:
    """Return the least-squares slopes of the series in log-log; NaN of fewer than two values."""
    if len(table) < 2:
        return dict.fromkeys(SERIES, float("nan"))
    sizes = np.log(table["value"].astype(float))
    return {name: float(np.polyfit(sizes, np.log(table[name]), 1)[0]) for name in SERIES}


def growth_blocks(table: pd.DataFrame) -> list[ReportBlock]:
    """Return a table, and its slopes."""
    lines = [
        (
            str(row["value"]),
            str(row["iterations"]),
            f"{1e3 * row['seconds']:.1f}",
            f"{1e3 * row['seconds_per_iteration']:.3f}",
            "-" if np.isnan(row["peak_mb"]) else f"{row['peak_mb']:.0f}",
        )
        for row in table.to_dict("records")
    ]
    header = (table["parameter"].iat[0], "iterations", "CPU ms", "CPU ms per iteration", "MB")
    slopes = ", ".join(f"{SERIES[name]} {slope:.2f}" for name, slope in growth_slopes(table).items())
    shown = ReportTable.of_texts(growth_title(table), header, lines, labels=0)
    return [shown, Paragraph(f"slope in log-log: {slopes}")]


def growth_panel(table: pd.DataFrame) -> GrowthPanel:
    """Return the curves for `draw_growth`."""
    labeled = {
        f"{SERIES[name]}: slope {slope:.2f}": table[name].to_numpy()
        for name, slope in growth_slopes(table).items()
    }
    sizes = table["value"].to_numpy(float)
    return GrowthPanel(growth_title(table), table["parameter"].iat[0], sizes, labeled)
