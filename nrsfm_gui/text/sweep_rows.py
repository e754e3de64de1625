"""The runs of a sweep as columns that can be sorted, filtered and written as text."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from core.experiments.report import ReportTable, without_missing
from core.experiments.sweep.frame import FAILURE, FIRST_NUMBERS, NUMBERS, STATUS, RunColumn, Sweep, cell_text
from core.foundation import Floats, Ints
from nrsfm_gui.model.numbers import MINUS, NONE
from nrsfm_gui.text.table_text import TABS, rendered, shortened, tabbed_text

if TYPE_CHECKING:
    import pandas as pd

SHORT_DIGITS, MOST_DIGITS = 3, 17  # significant digits of a setting that is written as it is; of any number
DECIMALS = {"mm": 3, "px": 3, "s": 1, "MB": 0}  # of a column in a unit
SCIENTIFIC = ".3e"
PLAIN = (1e-3, 1e6)  # numbers from the first to below the second are written without an exponent


@dataclass(frozen=True, eq=False)
class SweepColumn(RunColumn):
    """One column as it is shown; R rows."""

    @cached_property
    def short(self) -> tuple[str, ...]:
        """The values as they are shown."""
        return setting_texts(self.values or ())

    @cached_property
    def spec(self) -> str:
        """The format of all numbers."""
        return number_format(self.numbers, self.unit)

    @property
    def is_number(self) -> bool:
        """Whether any of its values is a number."""
        return self.values is None or bool(np.isfinite(self.numbers).any())

    @property
    def heading(self) -> str:
        """Title and unit."""
        return _heading(self.title, self.unit)

    @property
    def sort_keys(self) -> Floats:
        """(R,) what rows are sorted by; NaN of what is missing."""
        return self.numbers if self.codes is None else self.codes.astype(float)

    def text(self, row: int) -> str:
        """Return a cell as text; numbers of a column have the same decimals."""
        if self.codes is not None:
            return self.short[int(self.codes[row])]
        return number_text(self.numbers[row], self.spec)

    def full_text(self, row: int) -> str:
        """Return a cell with all digits."""
        if self.values is not None and self.codes is not None:
            return setting_text(self.values[int(self.codes[row])])
        value = float(self.numbers[row])
        return f"{value:.{MOST_DIGITS}g}".replace("-", MINUS) if np.isfinite(value) else NONE


@dataclass(frozen=True, eq=False)
class SweepRows:
    """All runs of a sweep as columns: what was varied, how the runs ended, their numbers. R rows."""

    sweep: Sweep
    columns: tuple[SweepColumn, ...]

    def __len__(self) -> int:
        return len(self.sweep)

    def key(self, run: int) -> str:
        """Return the key of a run, which it has as long as the sweep."""
        return str(self.sweep.runs["key"].iat[run])

    def find(self, key: str) -> int:
        """Return the run with a key, -1 where there is none."""
        return next(iter(np.flatnonzero(self.sweep.runs["key"] == key).tolist()), -1)

    def column(self, name: str) -> SweepColumn | None:
        """Return a column by its name, None where there is none."""
        return next((each for each in self.columns if each.name == name), None)

    def run_title(self, run: int, *, sequence: bool = True) -> str:
        """Return object and varied settings of a run in words: "balloon, rank 4, eta 0.05, seed 2"."""
        values, varied = self.sweep.row(run), self.sweep.varied
        columns = {column.name: column for column in self.columns}
        if not sequence:
            varied = tuple(name for name in varied if name in self.sweep.settings) or varied
        texts = {"object", "camera", "path", "penalty", "method", "problem"}  # whose values say what they are
        if sequence and "object" not in varied:
            varied = ("object", *varied)

        def text(name: str) -> str:
            return columns[name].text(run) if name in columns else setting_text(values[name])

        named = [text(name) if name in texts else f"{name} {text(name)}" for name in varied]
        return ", ".join(named) or setting_text(values["object"])

    def common_settings(self) -> str:
        """Return the settings that all runs have, a line each."""
        sweep = self.sweep
        if not len(sweep):
            return ""
        first, varied = sweep.row(0), set(sweep.varied)
        names = [name for name in ("object", "camera", "path", *sweep.settings) if name not in varied]
        lines = [f"{name} {setting_text(first[name])}" for name in names if first[name] not in (None, "")]
        return "\n".join(("The same in all runs:", *lines))

    def run_details(self, run: int, *, kept: bool) -> str:
        """Return the main numbers of a run, or why it has none, and whether its result can be shown."""
        values = self.sweep.row(run)
        if self.sweep.failed[run]:
            return shortened(f"{values[STATUS]}: {values[FAILURE]}".rstrip(": "))
        shown = (*FIRST_NUMBERS, "loss", "iterations", "seconds")
        names = [name for name in shown if values.get(name) is not None]
        texts = [
            f"{NUMBERS[name][0]} {number_text(values[name])} {NUMBERS[name][1]}".strip() for name in names
        ]
        if not kept:
            texts.append("its result was not kept")
        return " · ".join([shortened(str(values[STATUS])), *texts])

    def count_text(self, shown: int) -> str:
        """Return how many runs there are, how many failed, and how many a filter shows."""
        sweep, failed = self.sweep, int(self.sweep.failed.sum())
        unfinished = sweep.planned is not None and len(sweep) < sweep.planned
        done = f"{len(self)} of {sweep.planned} runs" if unfinished else _counted(len(self), "run")
        parts = [done, f"{failed} without a result" if failed else ""]
        if shown != len(self):
            parts.insert(0, f"{shown} shown")
        if sweep.damaged:
            parts.append(f"{_counted(sweep.damaged, 'line')} damaged")
        return " · ".join(filter(None, parts))

    def table(self, columns: Sequence[SweepColumn], order: Ints) -> pd.DataFrame:
        """Return some columns of the rows `order` (N,)."""
        return self.sweep.runs.iloc[order][[column.name for column in columns]]

    def text(self, columns: Sequence[SweepColumn], order: Ints, form: str) -> str:
        """Return rows as a table in a text, with the headings of the window. `order`: (N,) the rows."""
        header = tuple(column.heading for column in columns)
        if form == TABS:
            cells = without_missing(self.table(columns, order))
            return tabbed_text([header, *cells.itertuples(index=False, name=None)])
        lines = [[column.text(row).replace(MINUS, "-") for column in columns] for row in order]
        alignment = "".join("r" if column.is_number else "l" for column in columns)
        return rendered(ReportTable("", header, lines, alignment=alignment), form)

    def filter_example(self) -> str:
        """Return a filter of settings and numbers that keeps at least one run, "" without a run."""
        if not len(self):
            return ""
        column, best, parts = self.column(next(iter(self.sweep.ordered_numbers), "")), 0, []
        if column is not None and np.isfinite(column.numbers).any():
            best = int(np.nanargmin(column.numbers))
            median = np.median(column.numbers[np.isfinite(column.numbers)])
            parts.append(f"{column.title}<{_above(float(median))}")
        for column in self.columns:
            text = column.text(best)
            one_word = text != NONE and len(text.split()) == 1 and "," not in text
            if one_word and column.name in self.sweep.varied:
                parts.insert(0, f"{column.name}={text}")
                break
        return " ".join((*parts, *setting_text(self.sweep.runs[STATUS].iat[best]).split()[:1]))


def number_text(value: float, spec: str = "") -> str:
    """Return a measured number, a dash where there is none."""
    if not np.isfinite(value):
        return NONE
    if not spec:
        whole = value == round(value) and abs(value) < 1e9
        text = f"{value:.0f}" if whole else f"{value:#.4g}".rstrip(".")
    else:
        text = f"{value:{spec}}"
    return text.replace("-", MINUS)


def number_format(numbers: Floats, unit: str) -> str:
    """Return the format of all numbers of a column or a map: the decimals of its unit, or what they need."""
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    if not sizes.size:
        return f".{DECIMALS.get(unit, 0)}f"
    least, largest = float(sizes.min()), float(sizes.max())
    if unit in DECIMALS and 10.0 ** -DECIMALS[unit] <= largest < PLAIN[1]:
        return f".{DECIMALS[unit]}f"
    if largest < 1e9 and bool((sizes == np.round(sizes)).all()):
        return ".0f"
    if least < PLAIN[0] or largest >= PLAIN[1]:
        return SCIENTIFIC
    return f".{max(3 - int(np.floor(np.log10(largest))), 0)}f"


def setting_text(value: Any) -> str:
    """Return a setting as text, a dash where a run does not have it."""
    text = cell_text(value)
    return text.replace("-", MINUS) if isinstance(value, float) else shortened(text)


def setting_texts(values: Collection[Any]) -> tuple[str, ...]:
    """Return settings as short texts that differ where the settings do: 0.00562341 becomes 0.0056."""
    for digits in range(2, 6):
        texts = tuple(_short_setting(value, digits) for value in values)
        if len(set(texts)) == len(values):
            return texts
    return tuple(map(setting_text, values))


def _short_setting(value: Any, digits: int) -> str:
    text = setting_text(value)
    if not isinstance(value, float) or f"{value:.{SHORT_DIGITS}g}".replace("-", MINUS) == text:
        return text
    size = abs(value)
    if 1 <= size < PLAIN[1]:
        digits = max(digits, len(f"{size:.0f}"))  # no exponent where there was none
    return f"{value:.{digits}g}".replace("-", MINUS)


def number_heading(name: str) -> str:
    """Return the title of a number with its unit."""
    return _heading(*NUMBERS.get(name, (name, "", ""))[:2])


def _heading(title: str, unit: str) -> str:
    return f"{title} ({unit})" if unit else shortened(title)


def build_rows(sweep: Sweep) -> SweepRows:
    """Return the columns of a sweep as they are shown."""
    columns = ([getattr(column, entry.name) for entry in fields(column)] for column in sweep.columns)
    return SweepRows(sweep, tuple(SweepColumn(*values) for values in columns))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _above(value: float) -> str:
    """Return the next number of two digits above a value."""
    if value == 0.0 or not math.isfinite(value):
        return "1"
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    return f"{(math.floor(value / step) + 1) * step:.3g}"
