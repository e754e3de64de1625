"""The runs of a sweep as columns that can be sorted, filtered and written as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.foundation import printable
from nrsfm_gui.model.numbers import MINUS, NONE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from core.experiments import ReportTable, Sweep
    from core.foundation import Bools, Floats, Ints

# Title, unit and tip of the numbers of a run; of any other one the name is the title.
NUMBERS = {
    "procrustes_mm": (
        "3-D error",
        "mm",
        "Mean distance from the ground truth, each frame aligned by a similarity",
    ),
    "procrustes_mm_reference": ("3-D error, reference", "mm", "3-D error at the reference frame only"),
    "procrustes_mm_mirror": (
        "3-D error, mirror",
        "mm",
        "3-D error where the mirror image of the shape counts as right, too",
    ),
    "procrustes_mm_inliers": ("3-D error, inliers", "mm", "3-D error without the outliers of the truth"),
    "reprojection_px": ("reprojection", "px", "RMS distance of reprojections and tracks"),
    "reprojection_px_metric": (
        "reprojection, metric",
        "px",
        "RMS distance of the tracks and the reprojections of the metric shape",
    ),
    "challenge_v02": ("Challenge", "mm", "Score of the NRSfM Challenge at the reference frame"),
    "e3d_global": ("e3D, global", "", "Error of published tables: one alignment of all frames, no scaling"),
    "frobenius_relative": ("relative", "", "Relative Frobenius error of published tables"),
    "loss": ("loss", "", "Loss of the bilinear problem at the end of the run"),
    "log10_loss": ("log10 loss", "", "Logarithm of the loss to base 10"),
    "gradient": ("gradient", "", "Relative gradient at the end of the run: 0 at a minimum"),
    "iterations": ("iterations", "", "Iterations of the run"),
    "seconds": ("time", "s", "Seconds that the run took"),
    "memory_mb": ("memory", "MB", "Highest memory of its process"),
}
# In this order; what is not named comes between the reprojection and the loss.
FIRST = ("procrustes_mm", "reprojection_px", "challenge_v02")
LAST = ("loss", "log10_loss", "gradient", "iterations", "seconds", "memory_mb")
STATUS, FAILURE = "status", "error"
ENDINGS = {STATUS: "How the run ended", FAILURE: "Why a run has no result"}
TABLE_FORMS = TABS, MARKDOWN, LATEX = "tabs", "Markdown", "LaTeX"  # of a table that is copied
LONGEST_TEXT = 300  # characters of a cell
SHORT_DIGITS, MOST_DIGITS = 3, 17  # significant digits of a setting that is written as it is; of any number
DECIMALS = {"mm": 3, "px": 3, "s": 1, "MB": 0}  # of a column in a unit
SCIENTIFIC = ".3e"
PLAIN = (1e-3, 1e6)  # numbers from the first to below the second are written without an exponent


@dataclass(frozen=True, eq=False)
class SweepColumn:
    """One column; R rows."""

    name: str  # as on the command line
    title: str
    unit: str  # "" where there is none
    tip: str
    numbers: Floats  # (R,) NaN of what is no number
    labels: tuple[str, ...] | None  # the values of a setting as text, in their order; None of numbers
    codes: Ints | None  # (R,) the label of every row
    short: tuple[str, ...] = ()  # the labels as they are shown
    spec: str = ""  # format of all numbers

    @property
    def is_number(self) -> bool:
        """Whether any of its values is a number."""
        return self.labels is None or bool(np.isfinite(self.numbers).any())

    @property
    def heading(self) -> str:
        """Title and unit."""
        return f"{self.title} ({self.unit})" if self.unit else shortened(self.title)

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
        if self.labels is not None and self.codes is not None:
            return self.labels[int(self.codes[row])]
        value = float(self.numbers[row])
        return f"{value:.{MOST_DIGITS}g}".replace("-", MINUS) if np.isfinite(value) else NONE


@dataclass(frozen=True, eq=False)
class SweepRows:
    """All runs of a sweep as columns: what was varied, how the runs ended, their numbers. R rows."""

    sweep: Sweep
    columns: tuple[SweepColumn, ...]
    failed: Bools  # (R,) whether a run has no result

    def __len__(self) -> int:
        return len(self.sweep.rows)

    def column(self, name: str) -> SweepColumn | None:
        """Return a column by its name, None where there is none."""
        return next((each for each in self.columns if each.name == name), None)


def number_text(value: float, spec: str = "") -> str:
    """Return a measured number, a dash where there is none.

    Parameters
    ----------
    value
        the number.
    spec
        of `number_format`; "" for four digits.
    """
    if not np.isfinite(value):
        return NONE
    if not spec:
        whole = value == round(value) and abs(value) < 1e9
        text = f"{value:.0f}" if whole else f"{value:#.4g}".rstrip(".")
    else:
        text = f"{value:{spec}}"
    return text.replace("-", MINUS)


def number_format(numbers: Floats, unit: str) -> str:
    """Return the format that all numbers of a column or a map have, so that their points are aligned.

    Parameters
    ----------
    numbers
        of any shape; NaN of what is missing.
    unit
        a key of DECIMALS, whose decimals are usual; of other units the numbers decide.
    """
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
    if value is None or value == "":
        return NONE
    if isinstance(value, int | float):
        return f"{value:g}".replace("-", MINUS) if isinstance(value, float) else str(value)
    return shortened(str(value))


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


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text of a file on one line, without what cannot be printed, and not longer than a screen."""
    line = printable(" ".join(text[: 4 * most].split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def number_names(sweep: Sweep) -> list[str]:
    """Return the numbers of a sweep, errors first."""
    first = [name for name in FIRST if name in sweep.numbers]
    last = [name for name in LAST if name in sweep.numbers]
    return [*first, *(name for name in sweep.numbers if name not in (*FIRST, *LAST)), *last]


def number_heading(name: str) -> str:
    """Return the title of a number with its unit."""
    title, unit, _ = NUMBERS.get(name, (name, "", ""))
    return f"{title} ({unit})" if unit else shortened(title)


def build_rows(sweep: Sweep) -> SweepRows:
    """Return the columns of a sweep: settings that vary first, then numbers, then how runs ended.

    Parameters
    ----------
    sweep
        the runs.

    Returns
    -------
    SweepRows
        the sentences on failures come last, and only where a run failed.
    """
    from core.experiments import has_result

    rows = sweep.rows
    columns = [_coded(rows, name, name, "Varied in this sweep") for name in sweep.varied]
    for name in number_names(sweep):
        title, unit, tip = NUMBERS.get(name, (name, "", name))
        numbers = np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=float)
        spec = number_format(numbers, unit)
        columns.append(SweepColumn(name, title, unit, tip, numbers, None, None, spec=spec))
    columns.append(_coded(rows, STATUS, STATUS, ENDINGS[STATUS]))
    failed = np.array([not has_result(row) for row in rows], dtype=bool)
    if failed.any():
        columns.append(_coded(rows, FAILURE, "failure", ENDINGS[FAILURE]))
    return SweepRows(sweep, tuple(columns), failed)


def _coded(rows: Sequence[Mapping[str, Any]], name: str, title: str, tip: str) -> SweepColumn:
    """Return a column of few values that are numbers, texts or missing, in the order of the core's tables."""
    from core.experiments import distinct_values

    values = [each for (each,) in distinct_values(rows, (name,))]
    code = {value: k for k, value in enumerate(values)}
    codes = np.array([code[row[name]] for row in rows], dtype=int)
    known = [value if isinstance(value, int | float) else np.nan for value in values]
    numbers = np.array(known, dtype=float)[codes] if rows else np.zeros(0)
    labels = tuple(map(setting_text, values))
    return SweepColumn(name, title, "", tip, numbers, labels, codes, setting_texts(values))


def run_title(rows: SweepRows, run: int, *, sequence: bool = True) -> str:
    """Return the object and the varied settings of a run in words: "balloon, rank 4, eta 0.05, seed 2".

    Parameters
    ----------
    rows
        of a sweep.
    run
        which one.
    sequence
        whether the object is always among them, and camera and path where others vary, too.
    """
    values, varied = rows.sweep.rows[run], rows.sweep.varied
    if not sequence:
        varied = tuple(name for name in varied if name in rows.sweep.settings) or varied
    texts = {"object", "camera", "path", "penalty", "method", "problem"}  # whose values say what they are
    if sequence and "object" not in varied:
        varied = ("object", *varied)
    named = [
        setting_text(values[name]) if name in texts else f"{name} {setting_text(values[name])}"
        for name in varied
    ]
    return ", ".join(named) or setting_text(values["object"])


def common_settings(rows: SweepRows) -> str:
    """Return the settings that all runs have, a line each."""
    sweep = rows.sweep
    if not sweep.rows:
        return ""
    first, varied = sweep.rows[0], set(sweep.varied)
    names = [name for name in ("object", "camera", "path", *sweep.settings) if name not in varied]
    lines = [f"{name} {setting_text(first[name])}" for name in names if first[name] not in (None, "")]
    return "\n".join(("The same in all runs:", *lines))


def run_details(rows: SweepRows, run: int, *, kept: bool) -> str:
    """Return the main numbers of a run, or why it has none, and whether its result can be shown.

    Parameters
    ----------
    rows
        of a sweep.
    run
        which one.
    kept
        whether its result file is there.
    """
    values = rows.sweep.rows[run]
    if rows.failed[run]:
        return shortened(f"{values[STATUS]}: {values[FAILURE]}".rstrip(": "))
    names = [name for name in (*FIRST, "loss", "iterations", "seconds") if values.get(name) is not None]
    texts = [f"{NUMBERS[name][0]} {number_text(values[name])} {NUMBERS[name][1]}".strip() for name in names]
    if not kept:
        texts.append("its result was not kept")
    return " · ".join([shortened(str(values[STATUS])), *texts])


def count_text(rows: SweepRows, shown: int) -> str:
    """Return how many runs there are, how many failed, and how many a filter shows."""
    sweep, failed = rows.sweep, int(rows.failed.sum())
    done = f"{len(rows)} of {sweep.planned} runs" if _unfinished(sweep) else _counted(len(rows), "run")
    parts = [done, f"{failed} without a result" if failed else ""]
    if shown != len(rows):
        parts.insert(0, f"{shown} shown")
    if sweep.damaged:
        parts.append(f"{_counted(sweep.damaged, 'line')} damaged")
    return " · ".join(filter(None, parts))


def _unfinished(sweep: Sweep) -> bool:
    return sweep.planned is not None and len(sweep.rows) < sweep.planned


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def csv_cells(rows: SweepRows, columns: Sequence[SweepColumn], order: Ints) -> list[list[Any]]:
    """Return the cells of some rows with all digits of their numbers, None of what is missing.

    Parameters
    ----------
    rows, columns
        of a sweep.
    order
        (N,) the rows.
    """
    return [[rows.sweep.rows[row][column.name] for column in columns] for row in order]


def runs_text(rows: SweepRows, columns: Sequence[SweepColumn], order: Ints, form: str) -> str:
    """Return rows as a table in a text, with the headings of the window.

    Parameters
    ----------
    rows
        of a sweep.
    columns
        that are written.
    order
        (N,) the rows.
    form
        one of TABLE_FORMS: of TABS with all digits, of the others as they are shown.
    """
    from core.experiments import ReportTable, TableCell, TableRow

    header = tuple(column.heading for column in columns)
    if form == TABS:
        return tabbed_text([header, *csv_cells(rows, columns, order)])
    lines = (tuple(TableCell(column.text(row).replace(MINUS, "-")) for column in columns) for row in order)
    alignment = "".join("r" if column.is_number else "l" for column in columns)
    return rendered(ReportTable("", header, tuple(map(TableRow, lines)), alignment=alignment), form)


def tabbed_text(lines: Iterable[Iterable[Any]]) -> str:
    """Return cells for a spreadsheet: a tab between them, nothing for None."""
    from core.experiments import formula_safe

    texts = (
        ["" if cell is None else " ".join(str(formula_safe(cell)).split()) for cell in line] for line in lines
    )
    return "".join("\t".join(line) + "\n" for line in texts)


def rendered(table: ReportTable, form: str) -> str:
    """Return a table in Markdown or LaTeX.

    Parameters
    ----------
    table
        any table.
    form
        MARKDOWN or LATEX.
    """
    from core.experiments import render_latex, render_markdown

    return (render_latex(table) if form == LATEX else render_markdown([table]).strip()) + "\n"
