"""Tables of a sweep: all runs as csv and Parquet, and the mean of a number over settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError, printable
from ..report import ReportTable, TableCell, format_significant, write_frame
from .frame import MISSING, Sweep, cell_text, without_missing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from ...foundation.types import Floats, Ints

TABLES = TABLE_CSV, TABLE_PARQUET = "table.csv", "table.parquet"  # in the folder of a sweep
MOST_CELLS = 250_000  # of a table
SMALLEST_POWER = -4  # of ten, of a number that is written without an exponent
# Columns that may differ between runs with the same settings, and what a caption calls them.
ORIGINS = {"version": "versions of the program (version)", "data": "states of a sequence (data)"}
# What a cell of a table has of the numbers of its runs.
REDUCTIONS = {"mean": "mean", "median": "median", "least": "min", "most": "max"}


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


def tabulate(sweep: Sweep, number: str, by: Sequence[str], *, reduction: str = "mean") -> SweepTable:
    """Return the mean of a number for every combination of some settings.

    Raises InputError where a name is none of the sweep's, or is given twice, or there are too many cells.
    """
    import pandas as pd

    number = sweep.number_name(number)
    names = tuple(sweep.setting_name(name) for name in by)
    if not names or len(set(names)) < len(names):
        raise InputError(f"the settings are {', '.join(by) or 'none'}; accepted are one or more, each once")
    settings = [sweep.setting(name) for name in names]
    codes = [column.codes for column in settings if column.codes is not None]
    lines, line = np.unique(codes[:-1] or [np.zeros(len(sweep), int)], axis=1, return_inverse=True)
    heads, head = np.unique(codes[-1], return_inverse=True)
    shape = lines.shape[1], len(heads)
    if math.prod(shape) > MOST_CELLS:
        raise InputError(
            f"{', '.join(names)} have {shape[0]} x {shape[1]} values; accepted are {MOST_CELLS} cells"
        )
    cells = line.reshape(-1) * len(heads) + head
    numbers = pd.Series(sweep.runs[number].to_numpy(float, na_value=np.nan))
    made = numbers.groupby(cells).agg([REDUCTIONS[reduction], "std", "count", "size"])
    made = made.reindex(range(math.prod(shape)))
    value, deviation, counts, sizes = (made[name].to_numpy().reshape(shape) for name in made)
    counts, sizes = (np.nan_to_num(each).astype(int) for each in (counts, sizes))
    *down, across = [column.values or () for column in settings]
    labels = [tuple(map(getitem, down, places)) for places in lines.T.tolist()]
    mixed = tuple(text for name, text in ORIGINS.items() if name in sweep.changed and name not in names)
    return SweepTable(
        number, names, tuple(labels), tuple(across[code] for code in heads), value, deviation, counts,
        sizes - counts, cells, reduction, mixed,
    )  # fmt: skip


def report_table(table: SweepTable, where: str = "") -> ReportTable:
    """Return a table for `render_markdown` and `render_latex`; the least value is strong."""
    *down, across = table.by
    heads = map(cell_text, table.columns)
    known = np.isfinite(table.value)
    least = format_significant(float(table.value[known].min())) if known.sum() > 1 else ""
    rows = []
    for labels, *cells_of_row in zip(table.rows, table.value, table.deviation, table.counts, strict=True):
        cells = [TableCell(cell_text(label)) for label in labels]
        for value, spread, count in zip(*cells_of_row, strict=True):
            strong = bool(count) and format_significant(value) == least  # whatever digits are not shown
            cells.append(TableCell(_mean_text(value, spread) if count else MISSING, strong=strong))
        rows.append(tuple(cells))
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
    write_frame(path, sweep.runs)
    if find_spec("pyarrow") is None:
        return [path]
    typed = without_missing(sweep.runs).apply(_one_type)
    with replacing(sweep.folder / TABLE_PARQUET) as temporary, temporary.open("wb") as stream:
        typed.to_parquet(stream, engine="pyarrow", index=False)  # to a stream: a path need not be UTF-8
    return [path, sweep.folder / TABLE_PARQUET]


def _one_type(values: pd.Series) -> pd.Series:
    """Return a column whose values are all numbers or all texts."""
    if any(isinstance(value, str) for value in values):
        return values.map(lambda value: None if value is None else printable(str(value)))
    return values.infer_objects() if values.notna().any() else values
