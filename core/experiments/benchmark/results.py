"""The runs of the benchmark compared: times to the best loss, and their growth, as tables and as curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from ..figures import Curves
from ..report import Paragraph, ReportBlock, format_significant, table_of
from .methods import BENCHMARK_METHODS
from .problems import CASE_FIELDS
from .runs import ENDED_EARLY, MethodRun

if TYPE_CHECKING:
    import pandas as pd

LEAST_EXCESS, EARLIEST_SECONDS = 1e-15, 1e-4  # what is drawn of curves at least
NONE = "-"  # what was not reached, or is not known
# Relative, above the best loss of any method on the same problem; at one of them times are compared.
BENCHMARK_TOLERANCES = {"1e-3": 1e-3, "1e-6": 1e-6, "1e-10": 1e-10}
COMPARED_TOLERANCE = "1e-6"
REACHED = {f"seconds_to_{name}": tolerance for name, tolerance in BENCHMARK_TOLERANCES.items()}
COMPARED = f"seconds_to_{COMPARED_TOLERANCE}"
CASE_COLUMNS = {
    "problem": "problem", "kind": "object", "start": "start", "frames": "frames", "points": "points",
    "rank": "rank",
}  # fmt: skip
CASE = [*CASE_COLUMNS.values()]

GROWTH_METHOD = "bilinear"
GROWTH_COLUMNS = ("frames", "points", "rank", "iterations", "seconds", "seconds_per_iteration", "peak_mb")
SERIES = {"seconds_per_iteration": "per iteration", "seconds": "to the end"}  # what grows


def benchmark_table(runs: list[MethodRun]) -> pd.DataFrame:
    """Compare the runs on the same problem with the best of them, a row each, as benchmark.csv has them.

    What was not reached is missing. `excess`: how far the least loss is above the best one, relatively;
    `bound`: whether a run was ended before it was at the tolerance of `times_fastest`, which is then at least
    that; `own`: what the method itself minimizes, at the end.
    """
    import pandas as pd

    table = pd.DataFrame(
        {
            **_place(run),
            "status": run.status,
            "iterations": run.iterations,
            "seconds": run.seconds,
            **dict.fromkeys([*REACHED, "times_fastest"]),
            "bound": run.limited,
            "loss": run.loss if run.curve else None,
            "excess": None,
            "own": run.curve[-1].own_loss if run.curve else None,
            "peak_mb": run.peak_mb,
            "process_mb": run.process_mb,
        }
        for run in runs
    )
    table = table.astype(dict.fromkeys(("seconds", "loss", "own", "peak_mb", "process_mb"), float))
    best = table.groupby(CASE)["loss"].transform("min")
    table["excess"] = (table["loss"] / best - 1).where(best > 0)
    for column, tolerance in REACHED.items():
        limits = (1 + tolerance) * best
        reached = [run.seconds_to(limit) for run, limit in zip(runs, limits, strict=True)]
        table[column] = np.array(reached, dtype=float)
    there = table[COMPARED]
    table["bound"] &= there.isna()
    fastest = there.groupby([table[name] for name in CASE]).transform("min")
    table["times_fastest"] = there.mask(table["bound"], table["seconds"]) / fastest
    return table


def _place(run: MethodRun) -> dict[str, Any]:
    return {column: getattr(run.case, name) for name, column in CASE_COLUMNS.items()} | {"method": run.method}


def benchmark_blocks(table: pd.DataFrame) -> list[ReportBlock]:
    """Return a table for every problem, with the problem as its caption."""
    blocks: list[ReportBlock] = []
    for place, group in table.groupby(CASE, sort=False):
        problem, kind, start, frames, points, rank = place
        caption = f"{problem}, {kind}, {frames} x {points}, K = {rank}, start {start}"
        blocks.append(table_of(caption, [_cells(row) for row in group.to_dict("records")]))
    return blocks


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    limited = row["status"] in ENDED_EARLY
    limit = f"> {format_significant(row['seconds'])}" if limited else NONE
    times = _known(row["times_fastest"])
    if row["bound"] and times != NONE:
        times = f"> {times}"
    reached = {f"s to {name}": _known(row[f"seconds_to_{name}"], limit) for name in BENCHMARK_TOLERANCES}
    return {
        "method": BENCHMARK_METHODS[row["method"]].title,
        "iterations": str(row["iterations"]),
        "CPU s": format_significant(row["seconds"]),
        **reached,
        f"times the fastest's to {COMPARED_TOLERANCE}": times,
        "MB": _megabytes(row["peak_mb"]),
        "log10 loss": _log10(row["loss"]),
        "excess": NONE if math.isnan(row["excess"]) else f"{max(row['excess'], 0.0):.1e}",
        "log10 own": _log10(row["own"]),
        "end": row["status"],
    }


def _known(value: float, missing: str = NONE) -> str:
    return missing if math.isnan(value) else format_significant(value)


def _megabytes(value: float) -> str:
    return NONE if math.isnan(value) else f"{value:.0f}"


def _log10(value: float) -> str:
    return f"{math.log10(value):.6f}" if 0 < value < math.inf else NONE


def benchmark_curves(runs: Iterable[MethodRun]) -> pd.DataFrame:
    """Return a row per point of every curve: the loss at rank K, and what the method itself minimizes."""
    import pandas as pd

    rows = [[*_place(run).values(), *astuple(point)] for run in runs for point in run.curve]
    return pd.DataFrame(rows, columns=[*CASE, "method", "iteration", "seconds", "loss", "own"])


def excess_panels(curves: pd.DataFrame) -> dict[str, Curves]:
    """Return CPU seconds and the relative excess over the best loss so far, by problem and method."""
    panels: dict[str, Curves] = {}
    for (problem, frames, points, rank), group in curves.groupby(
        ["problem", "frames", "points", "rank"], sort=False
    ):
        best = group["loss"].min()
        panels[f"{problem}, {frames} x {points}, K = {rank}"] = {
            method: (
                np.maximum(curve["seconds"].to_numpy(), EARLIEST_SECONDS),
                np.maximum(np.minimum.accumulate(curve["loss"].to_numpy()) / best - 1, LEAST_EXCESS),
            )
            for method, curve in group.groupby("method", sort=False)
        }
    return panels


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
        {
            row["parameter"]: str(row["value"]),
            "iterations": str(row["iterations"]),
            "CPU ms": f"{1e3 * row['seconds']:.1f}",
            "CPU ms per iteration": f"{1e3 * row['seconds_per_iteration']:.3f}",
            "MB": _megabytes(row["peak_mb"]),
        }
        for row in table.to_dict("records")
    ]
    slopes = ", ".join(f"{SERIES[name]} {slope:.2f}" for name, slope in growth_slopes(table).items())
    return [table_of(growth_title(table), lines, labels=0), Paragraph(f"slope in log-log: {slopes}")]


def growth_panel(table: pd.DataFrame) -> Curves:
    """Return the curves of the series, named with their slopes."""
    sizes = table["value"].to_numpy(float)
    return {
        f"{SERIES[name]}: slope {slope:.2f}": (sizes, table[name].to_numpy())
        for name, slope in growth_slopes(table).items()
    }
