"""Tables of a sweep: all runs as csv and Parquet, and the mean of a number over settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from ...foundation.representation import one_line_repr
from ..report import ReportTable, TableCell, TableRow, format_significant, write_csv_table
from .rows import Sweep, distinct_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ...foundation.types import Floats, Ints

TABLES = TABLE_CSV, TABLE_PARQUET = "table.csv", "table.parquet"  # in the folder of a sweep
MOST_CELLS = 250_000  # of a table


@dataclass(frozen=True, eq=False)
class SweepTable:
    """A number of the runs, averaged over all settings but some. R rows, C columns."""

    number: str  # its name
    by: tuple[str, ...]  # the settings; the last one is over the columns, the others down the rows
    rows: tuple[tuple[Any, ...], ...]  # (R,) the values of all settings but the last
    columns: tuple[Any, ...]  # (C,) those of the last
    mean: Floats  # (R, C), NaN where no run has the number
    deviation: Floats  # (R, C) standard deviation over the runs of a cell; NaN of fewer than two
    counts: Ints  # (R, C) runs that have the number
    failed: Ints  # (R, C) runs that do not

    __repr__ = one_line_repr


def tabulate(sweep: Sweep, number: str, by: Sequence[str]) -> SweepTable:
    """Return the mean of a number for every combination of some settings.

    Parameters
    ----------
    sweep
        the runs.
    number
        a column of numbers, such as "procrustes_mm" or "log10_loss".
    by
        columns of sequences and settings, one or more.

    Returns
    -------
    SweepTable
        the last of the settings over the columns, the others down the rows.

    Raises
    ------
    InputError
        where a name is none of the sweep's, or is given twice, or there are too many cells.
    """
    number = sweep.number_name(number)
    names = tuple(sweep.setting_name(name) for name in by)
    if not names or len(set(names)) < len(names):
        raise InputError(f"the settings are {', '.join(by) or 'none'}; accepted are one or more, each once")
    down, across = names[:-1], names[-1:]
    rows = distinct_values(sweep.rows, down)
    columns = distinct_values(sweep.rows, across)
    if len(rows) * len(columns) > MOST_CELLS:
        raise InputError(
            f"{', '.join(names)} have {len(rows)} x {len(columns)} values; accepted are {MOST_CELLS} cells"
        )
    row_of, column_of = ({values: k for k, values in enumerate(each)} for each in (rows, columns))
    cells: dict[tuple[int, int], list[float]] = {}
    failed = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for row in sweep.rows:
        place = row_of[tuple(row[name] for name in down)], column_of[tuple(row[name] for name in across)]
        if row[number] is None:
            failed[place] += 1
        else:
            cells.setdefault(place, []).append(row[number])
    mean, deviation = np.full((2, *failed.shape), np.nan)
    counts = np.zeros_like(failed)
    for place, values in cells.items():
        mean[place], counts[place] = np.mean(values), len(values)
        deviation[place] = np.std(values, ddof=1) if len(values) > 1 else math.nan
    heads = tuple(values[0] for values in columns)
    return SweepTable(number, names, tuple(rows), heads, mean, deviation, counts, failed)


def report_table(table: SweepTable) -> ReportTable:
    """Return a table for `render_markdown` and `render_latex`; the least mean of each row is strong.

    Parameters
    ----------
    table
        of a sweep.

    Returns
    -------
    ReportTable
        the mean, and the standard deviation where a cell has several runs.
    """
    *down, across = table.by
    header = (*down, *(f"{across} = {cell_text(value)}" for value in table.columns))
    rows = []
    for labels, mean, deviation, counts in zip(
        table.rows, table.mean, table.deviation, table.counts, strict=True
    ):
        least = np.nanmin(mean) if np.isfinite(mean).any() else np.nan
        cells = [TableCell(cell_text(label)) for label in labels]
        for value, spread, count in zip(mean, deviation, counts, strict=True):
            text = format_significant(value) if count else "–"
            text += f" ± {format_significant(spread)}" if count > 1 else ""
            cells.append(TableCell(text, strong=bool(len(table.columns) > 1 and value == least)))
        rows.append(TableRow(tuple(cells)))
    return ReportTable(_caption(table), header, tuple(rows), labels=len(down))


def _caption(table: SweepTable) -> str:
    used = table.counts[table.counts > 0]
    low, high = (int(used.min()), int(used.max())) if used.size else (0, 0)
    runs = f"{high} run{'s' if high != 1 else ''}" if low == high else f"{low} to {high} runs"
    spread = ", ± one standard deviation" if high > 1 else ""
    lost = int(table.failed.sum())
    failed = f"; {lost} without a result are left out" if lost else ""
    return f"{table.number}, mean of {runs}{spread}{failed}"


def cell_text(value: Any) -> str:
    """Return a setting as text; what a run does not have is a dash.

    Parameters
    ----------
    value
        a number, a text, or None.
    """
    if value is None:
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def write_tables(sweep: Sweep) -> list[Path]:
    """Write table.csv into the folder of a sweep, and table.parquet where pyarrow is installed.

    Parameters
    ----------
    sweep
        the runs.

    Returns
    -------
    list[Path]
        the files.

    Raises
    ------
    InputError
        where they cannot be written.
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
    with replacing(path) as temporary:
        parquet.write_table(arrow.table(columns), temporary)
    return [*written, path]


def _one_type(values: list[Any]) -> list[Any]:
    """Return a column whose values are all numbers or all texts."""
    if any(isinstance(value, str) for value in values):
        return [None if value is None else str(value) for value in values]
    if any(isinstance(value, float) for value in values):
        return [None if value is None else float(value) for value in values]
    return values
