"""Tables of a sweep: all runs as csv and Parquet, and the mean of a number over settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError, printable
from ...foundation.representation import one_line_repr
from ..report import ReportTable, TableCell, TableRow, format_significant, write_csv_table
from .columns import MISSING, cell_text, shown_value
from .rows import Sweep, sorted_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ...foundation.types import Floats, Ints

TABLES = TABLE_CSV, TABLE_PARQUET = "table.csv", "table.parquet"  # in the folder of a sweep
MOST_CELLS = 250_000  # of a table
SMALLEST_POWER = -4  # of ten, of a number that is written without an exponent
# Columns that may differ between runs with the same settings, and what a caption calls them.
ORIGINS = {"version": "versions of the program (version)", "data": "states of a sequence (data)"}
# What a cell of a table has of the numbers of its runs.
REDUCTIONS: dict[str, Callable[[Floats], float]] = {
    "mean": np.mean, "median": np.median, "least": np.min, "most": np.max,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SweepTable:
    """A number of the runs, reduced to one value over all settings but some. R rows, C columns."""

    number: str  # its name
    by: tuple[str, ...]  # the settings; the last one is over the columns, the others down the rows
    rows: tuple[tuple[Any, ...], ...]  # (R,) the values of all settings but the last
    columns: tuple[Any, ...]  # (C,) those of the last
    value: Floats  # (R, C) the mean, or another one of REDUCTIONS; NaN where no run has the number
    deviation: Floats  # (R, C) standard deviation over the runs of a cell; NaN of fewer than two
    counts: Ints  # (R, C) runs that have the number
    failed: Ints  # (R, C) runs that do not
    cells: Ints  # (runs,) the cell of every run, counted along the rows
    reduction: str = "mean"
    mixed: tuple[str, ...] = ()  # why runs of a cell may differ that have the same settings

    __repr__ = one_line_repr


def tabulate(sweep: Sweep, number: str, by: Sequence[str], *, reduction: str = "mean") -> SweepTable:
    """Return the mean of a number for every combination of some settings.

    Raises InputError where a name is none of the sweep's, or is given twice, or there are too many cells.
    """
    number = sweep.number_name(number)
    names = tuple(sweep.setting_name(name) for name in by)
    if not names or len(set(names)) < len(names):
        raise InputError(f"the settings are {', '.join(by) or 'none'}; accepted are one or more, each once")
    down, across = names[:-1], names[-1]
    labels_of_rows = [tuple(row[name] for name in down) for row in sweep.rows]
    values_across = [row[across] for row in sweep.rows]
    rows, columns = sorted_values(labels_of_rows), sorted_values((value,) for value in values_across)
    if len(rows) * len(columns) > MOST_CELLS:
        raise InputError(
            f"{', '.join(names)} have {len(rows)} x {len(columns)} values; accepted are {MOST_CELLS} cells"
        )
    row_of = {labels: k for k, labels in enumerate(rows)}
    column_of = {value: k for k, (value,) in enumerate(columns)}
    down_codes = np.array([row_of[labels] for labels in labels_of_rows], dtype=np.int64)
    across_codes = np.array([column_of[value] for value in values_across], dtype=np.int64)
    cells = down_codes * len(columns) + across_codes
    numbers = np.array([math.nan if row[number] is None else row[number] for row in sweep.rows], dtype=float)
    known = np.isfinite(numbers)
    shape = len(rows), len(columns)
    counts, failed = (
        np.bincount(cells[which], minlength=shape[0] * shape[1]).reshape(shape) for which in (known, ~known)
    )
    reduced, deviation = np.full((2, counts.size), np.nan)
    order = np.flatnonzero(known)[np.argsort(cells[known], kind="stable")]
    for group in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
        if group.size:
            cell, values = cells[group[0]], numbers[group]
            reduced[cell] = REDUCTIONS[reduction](values)
            deviation[cell] = np.std(values, ddof=1) if group.size > 1 else math.nan
    heads = tuple(value for (value,) in columns)
    mixed = tuple(text for name, text in ORIGINS.items() if name in sweep.changed and name not in names)
    return SweepTable(
        number, names, tuple(rows), heads, reduced.reshape(shape), deviation.reshape(shape), counts, failed,
        cells, reduction, mixed,
    )  # fmt: skip


def report_table(table: SweepTable, where: str = "") -> ReportTable:
    """Return a table for `render_markdown` and `render_latex`; the least value is strong."""
    *down, across = table.by
    heads = (cell_text(shown_value(across, value)) for value in table.columns)
    known = np.isfinite(table.value)
    least = format_significant(float(table.value[known].min())) if known.sum() > 1 else ""
    rows = []
    for labels, *cells_of_row in zip(table.rows, table.value, table.deviation, table.counts, strict=True):
        cells = [
            TableCell(cell_text(shown_value(name, label))) for name, label in zip(down, labels, strict=True)
        ]
        for value, spread, count in zip(*cells_of_row, strict=True):
            strong = bool(count) and format_significant(value) == least  # whatever digits are not shown
            cells.append(TableCell(_mean_text(value, spread) if count else MISSING, strong=strong))
        rows.append(TableRow(tuple(cells)))
    header = (*down, *(f"{across} = {head}" for head in heads))
    return ReportTable(_caption(table, where), header, tuple(rows), labels=len(down))


def _mean_text(value: float, spread: float) -> str:
    """Return a mean, and its deviation, NaN of one run: three digits of the larger one, the same decimals."""
    if not math.isfinite(spread):
        return format_significant(value)
    larger = max(abs(value), spread)
    power = math.floor(math.log10(larger)) if larger > 0 else 0
    if power < SMALLEST_POWER:
        return f"({value / 10.0**power:.2f} ± {spread / 10.0**power:.2f})e{power}"
    decimals = max(2 - power, 0)
    return f"{value:.{decimals}f} ± {spread:.{decimals}f}"


def _caption(table: SweepTable, where: str) -> str:
    used = table.counts[table.counts > 0]
    low, high = (int(used.min()), int(used.max())) if used.size else (0, 0)
    runs = f"{high} run{'s' if high != 1 else ''}" if low == high else f"{low} to {high} runs"
    spread = ", ± one standard deviation" if high > 1 else ""
    lost = int(table.failed.sum())
    failed = f"; {lost} without a result are left out" if lost else ""
    mixed = f"; of several {' and '.join(table.mixed)}" if table.mixed else ""
    only = f"; where {where}" if where else ""
    return f"{table.number}, {table.reduction} of {runs}{spread}{failed}{mixed}{only}"


def write_tables(sweep: Sweep) -> list[Path]:
    """Write table.csv into the folder of a sweep, and table.parquet where pyarrow is installed.

    Raises InputError where they cannot be written.
    """
    path = sweep.folder / TABLE_CSV
    write_csv_table(path, sweep.columns, ([row[name] for name in sweep.columns] for row in sweep.rows))
    written = [path]
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        return written
    path = sweep.folder / TABLE_PARQUET
    columns = {name: _one_type([row[name] for row in sweep.rows]) for name in sweep.columns}
    with replacing(path) as temporary, temporary.open("wb") as stream:  # its path need not be UTF-8
        parquet.write_table(arrow.table(columns), stream)
    return [*written, path]


def _one_type(values: list[Any]) -> list[Any]:
    """Return a column whose values are all numbers or all texts."""
    if any(isinstance(value, str) for value in values):
        return [None if value is None else printable(str(value)) for value in values]
    if any(isinstance(value, float) for value in values):
        return [None if value is None else float(value) for value in values]
    return values
