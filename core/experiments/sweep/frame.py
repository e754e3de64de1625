"""The runs of a sweep as a DataFrame, its columns as a person sees them, and means of its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...evaluation.metrics import ERROR_NAMES
from ...foundation import Bools, Floats, InputError, Ints, printable, replacing
from ..job_store import RESULTS, WITHOUT_RESULT
from ..report import ReportTable, TableCell, format_significant, without_missing, write_frame

if TYPE_CHECKING:
    import pandas as pd

SEQUENCE_COLUMNS = ("object", "camera", "path", "sequence")
RENAMED_SETTINGS = {"loss": "loss_function"}  # because the loss is a number of a result
METRIC_ALIASES = {"mean_mm": "procrustes_mm"}
# Title, unit and tip of the numbers of a run; of any other one the name is the title.
NUMBERS = {
    **{
        name: (title, unit, meaning[0].upper() + meaning[1:])
        for name, (title, unit, meaning) in ERROR_NAMES.items()
    },
    "loss": ("loss", "", "Loss of the bilinear problem at the end of the run"),
    "log10_loss": ("log10 loss", "", "Logarithm of the loss to base 10"),
    "gradient": ("gradient", "", "Relative gradient at the end of the run: 0 at a minimum"),
    "iterations": ("iterations", "", "Iterations of the run"),
    "seconds": ("time", "s", "Seconds that the run took"),
    "memory_mb": ("memory", "MB", "Highest memory of its process"),
}
# In this order; what is not named comes between the reprojection and the loss.
FIRST_NUMBERS = ("procrustes_mm", "reprojection_px", "challenge_v02")
LAST_NUMBERS = ("loss", "log10_loss", "gradient", "iterations", "seconds", "memory_mb")
STATUS = "status"  # the column that says how a run ended
FAILURE = "error"  # the column that says why a run has no result
VARIED_TIP = "Varied in this sweep"
TIPS = {
    STATUS: "How the run ended",
    FAILURE: "Why a run has no result",
    "version": "Version of the program that made the run: the sweep has runs of several",
    "data": "Hash of the sequence: it was changed between runs",
}
MISSING = "–"  # what a run does not have
DATA_DIGITS = 8  # of the hash of a sequence in a table
TABLES = TABLE_CSV, TABLE_PARQUET = "table.csv", "table.parquet"  # in the folder of a sweep
MOST_CELLS = 250_000  # of a table
SMALLEST_POWER = -4  # of ten, of a number that is written without an exponent
# Columns that may differ between runs with the same settings, and what a caption calls them.
ORIGINS = {"version": "versions of the program (version)", "data": "states of a sequence (data)"}
# What a cell of a table has of the numbers of its runs.
REDUCTIONS = {"mean": "mean", "median": "median", "least": "min", "most": "max"}


@dataclass(frozen=True, eq=False)
class RunColumn:
    """One column of the runs of a sweep; R rows."""

    name: str  # as on the command line
    title: str
    unit: str  # "" where there is none
    tip: str
    numbers: Floats  # (R,) NaN of what is no number
    values: tuple[Any, ...] | None  # of a setting, each once, in their order; None of numbers
    codes: Ints | None  # (R,) the value of every row

    def matching(self, accepted: Callable[[str], bool]) -> Bools | None:
        """Return the rows whose value as text is accepted, None of a column of numbers."""
        if self.values is None or self.codes is None:
            return None
        return np.array([accepted(cell_text(value)) for value in self.values], dtype=bool)[self.codes]


@dataclass(frozen=True, eq=False)
class Sweep:
    """The runs of a sweep, a row each, by sequence, then by settings; what a run does not have is missing.

    The columns are the sequence (object, camera, path, sequence), all settings by their names on the command
    line, how the run ended (status, error), its numbers (loss, log10_loss, gradient, iterations, and every
    metric), where it is from (data, version, command, result, key), and seconds and memory_mb. Texts and
    settings that runs share are categories in the order of tables.
    """

    folder: Path
    runs: pd.DataFrame
    settings: tuple[str, ...]  # the columns that are settings
    numbers: tuple[str, ...]  # those that are numbers of results, and that any run has
    damaged: int = 0  # lines that could not be read
    planned: int | None = None  # runs that there are in the end, None where that is not known
    swept: tuple[str, ...] = ()  # columns that have several values in the end

    def __len__(self) -> int:
        return len(self.runs)

    def row(self, run: int) -> dict[str, Any]:
        """Return a run by the names of the columns; what it does not have is None."""
        return records_of(self.runs.iloc[[run]])[0]

    @cached_property
    def columns(self) -> tuple[RunColumn, ...]:
        """What a person sees: settings that vary first, then numbers, then how runs ended."""
        columns = [self.setting(name, TIPS.get(name, VARIED_TIP)) for name in self.varied]
        for name in self.ordered_numbers:
            title, unit, tip = NUMBERS.get(name, (name, "", name))
            numbers = self.runs[name].to_numpy(float, na_value=np.nan)
            columns.append(RunColumn(name, title, unit, tip, numbers, None, None))
        columns.append(self.setting(STATUS, TIPS[STATUS]))
        if self.failed.any():
            columns.append(replace(self.setting(FAILURE, TIPS[FAILURE]), title="failure"))
        return tuple(columns)

    def setting(self, name: str, tip: str = "") -> RunColumn:
        """Return a column of values that are numbers, texts or missing, in the order of tables."""
        given = self.runs[name].astype("category").cat.remove_unused_categories().cat
        values, codes = [*given.categories], given.codes.to_numpy(int)
        if (codes < 0).any():
            codes = np.where(codes < 0, len(values), codes)
            values.append(None)
        if name == "data":
            values = [value[:DATA_DIGITS] for value in values]
        known = [value if isinstance(value, int | float) else np.nan for value in values]
        numbers = np.array(known, dtype=float)[codes]
        return RunColumn(name, name, "", tip, numbers, tuple(values), codes)

    @property
    def ordered_numbers(self) -> list[str]:
        """The numbers, errors first."""
        ends = (*FIRST_NUMBERS, *LAST_NUMBERS)
        others = [name for name in self.numbers if name not in ends]
        return [name for name in (*FIRST_NUMBERS, *others, *LAST_NUMBERS) if name in self.numbers]

    @cached_property
    def failed(self) -> Bools:
        """(R,) whether a run has no result."""
        failed: Bools = self.runs["status"].isin(WITHOUT_RESULT).to_numpy()
        return failed

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """The columns of sequences and settings that have or will have several values, and `changed`."""
        names = (*SEQUENCE_COLUMNS[:-1], *self.settings)
        varied = [name for name in names if name in self.swept or self.runs[name].nunique(dropna=False) > 1]
        return (*varied, *self.changed)

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Of `version` and `data` what was changed between runs of the same sequence."""
        contents = self.runs.groupby("sequence", observed=True)["data"].nunique()
        several = {"version": self.runs["version"].nunique() > 1, "data": (contents > 1).any()}
        return tuple(name for name, changed in several.items() if changed)

    def result(self, run: int) -> Path | None:
        """Return the result file of a run, None where there is none: it failed, or results were left out."""
        path = self.folder / RESULTS / f"{self.runs['key'].iat[run]}.npz"
        return path if self.runs["result"].iat[run] and path.is_file() else None

    def number_name(self, name: str) -> str:
        """Return the name of a column of numbers."""
        found = METRIC_ALIASES.get(name, name)
        if found not in self.numbers:
            known = ", ".join(self.numbers) or "none"
            failed = ", because none of them has a result" if self.failed.all() else ""
            raise InputError(f"the number is {name!r}; the runs of {self.folder} have {known}{failed}")
        return found

    def setting_name(self, name: str) -> str:
        """Return the name of a column of sequences or settings, given with dashes or underscores."""
        found = name.replace("-", "_")
        found = RENAMED_SETTINGS.get(found, found)
        if found not in (*SEQUENCE_COLUMNS, *self.settings, "version", "data"):
            varied = ", ".join(self.varied) or "none"
            raise InputError(
                f"{name!r} is no setting of the runs of {self.folder}; several values have {varied}"
            )
        return found


def records_of(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table by the names of its columns, None where a value is missing."""
    records: list[dict[str, Any]] = without_missing(runs).to_dict("records")
    return records


def cell_text(value: Any) -> str:
    """Return a setting as text; what a run does not have is a dash. `value`: a number, a text, or None."""
    if value is None or value == "":
        return MISSING
    return f"{value:g}" if isinstance(value, float) else str(value)


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
    """Return the mean of a number for every combination of some settings."""
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
        cells: list[str | TableCell] = [cell_text(label) for label in labels]
        for value, spread, count in zip(*cells_of_row, strict=True):
            strong = bool(count) and format_significant(value) == least  # whatever digits are not shown
            cells.append(TableCell(_mean_text(value, spread) if count else MISSING, strong=strong))
        rows.append(cells)
    header = (*down, *(f"{across} = {head}" for head in heads))
    return ReportTable(_caption(table, where), header, rows, labels=len(down))


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
    """Write table.csv into the folder of a sweep, and table.parquet where pyarrow is installed."""
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
