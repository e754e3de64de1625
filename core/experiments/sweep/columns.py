"""The runs of a sweep by columns: what was varied, the numbers with their titles, how runs ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ...foundation.types import Floats, Ints
    from .rows import Sweep

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
    "reprojection_px_projective": (
        "reprojection, projective",
        "px",
        "RMS distance of the tracks and the reprojections before the metric upgrade",
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

    @cached_property
    def labels(self) -> tuple[str, ...] | None:
        """The values as text."""
        return None if self.values is None else tuple(map(cell_text, self.values))


def run_columns(sweep: Sweep) -> tuple[RunColumn, ...]:
    """Return the columns of a sweep: settings that vary first, then numbers, then how runs ended."""
    columns = [setting_column(sweep, name, TIPS.get(name, VARIED_TIP)) for name in sweep.varied]
    for name in number_names(sweep):
        title, unit, tip = NUMBERS.get(name, (name, "", name))
        numbers = sweep.runs[name].to_numpy(float, na_value=np.nan)
        columns.append(RunColumn(name, title, unit, tip, numbers, None, None))
    columns.append(setting_column(sweep, STATUS, TIPS[STATUS]))
    if sweep.failed.any():
        columns.append(replace(setting_column(sweep, FAILURE, TIPS[FAILURE]), title="failure"))
    return tuple(columns)


def setting_column(sweep: Sweep, name: str, tip: str = "") -> RunColumn:
    """Return a column of values that are numbers, texts or missing, in the order of tables."""
    given = sweep.runs[name].astype("category").cat.remove_unused_categories().cat
    values, codes = [*given.categories], given.codes.to_numpy(int)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(values), codes)
        values.append(None)
    if name == "data":
        values = [value[:DATA_DIGITS] for value in values]
    known = [value if isinstance(value, int | float) else np.nan for value in values]
    numbers = np.array(known, dtype=float)[codes]
    return RunColumn(name, name, "", tip, numbers, tuple(values), codes)


def number_names(sweep: Sweep) -> list[str]:
    """Return the numbers of a sweep, errors first."""
    ends = (*FIRST_NUMBERS, *LAST_NUMBERS)
    others = [name for name in sweep.numbers if name not in ends]
    return [name for name in (*FIRST_NUMBERS, *others, *LAST_NUMBERS) if name in sweep.numbers]


def cell_text(value: Any) -> str:
    """Return a setting as text; what a run does not have is a dash. `value`: a number, a text, or None."""
    if value is None or value == "":
        return MISSING
    return f"{value:g}" if isinstance(value, float) else str(value)
