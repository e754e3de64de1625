"""What the trials of `core.held_out` come to: a curve, its lowest point, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .arrays import Floats
    from .held_out import Trial

TIE = 1e-3  # relative difference below which the lower rank is the better one
ROUNDING = 1e-6  # relative difference that solves of the same problem leave


@dataclass(frozen=True, eq=False)
class Curve:
    """What the trials of a plan come to, by value in increasing order; folds that are not complete count."""

    values: Floats  # (N,)
    errors: Floats  # (folds, N) root mean square error of what was hidden, NaN where it is not known yet
    medians: Floats  # (folds, N)
    kept_errors: Floats  # (folds, N) of what was used
    whole: bool  # whether a count has no half: the lower of two that tie is the better one

    @property
    def held(self) -> Floats:
        """(N,) root mean square error of what was hidden, averaged over folds."""
        return np.asarray(np.nanmean(self.errors, axis=0))

    @property
    def median(self) -> Floats:
        """(N,) median error of what was hidden, averaged over folds."""
        return np.asarray(np.nanmean(self.medians, axis=0))

    @property
    def kept(self) -> Floats:
        """(N,) root mean square error of what was used, averaged over folds."""
        return np.asarray(np.nanmean(self.kept_errors, axis=0))

    @property
    def deviation(self) -> Floats:
        """(N,) standard error of `held` over folds, NaN of one fold."""
        return _standard_error(self.errors)

    @property
    def best(self) -> int:
        """The index of the lowest held-out error."""
        held = self.held
        if not self.whole:
            return int(np.argmin(held))
        return int(np.flatnonzero(held <= held.min() * (1 + TIE))[0])

    @property
    def close(self) -> tuple[float, float]:
        """The ends of the values around the best that are worse by a standard error, or rounding, at most.

        It is that of the difference, fold by fold: what makes a share hard is hard for every value.
        """
        apart = self.errors - self.errors[:, [self.best]]
        worst = np.nan_to_num(_standard_error(apart)) + ROUNDING * self.held[self.best]
        near = ~(np.nanmean(apart, axis=0) > worst)
        first = last = self.best
        while first > 0 and near[first - 1]:
            first -= 1
        while last + 1 < len(near) and near[last + 1]:
            last += 1
        return float(self.values[first]), float(self.values[last])


def _standard_error(errors: Floats) -> Floats:
    count = np.isfinite(errors).sum(axis=0)
    if len(errors) < 2:
        return np.full(errors.shape[1], np.nan)
    spread = np.sqrt(np.nanmean((errors - np.nanmean(errors, axis=0)) ** 2, axis=0))
    return np.where(count > 1, spread / np.sqrt(np.maximum(count - 1, 1)), np.nan)


def curve(trials: Iterable[Trial], parameter: str) -> Curve:
    """Gather the trials of a plan, or those that there are yet."""
    known = {(trial.fold, trial.value): trial for trial in trials}
    values = sorted({value for _, value in known})
    folds = 1 + max(fold for fold, _ in known)
    tables = np.full((3, folds, len(values)), np.nan)
    for (fold, value), trial in known.items():
        tables[:, fold, values.index(value)] = trial.held.rms, trial.held.median, trial.kept.rms
    held, median, kept = tables
    return Curve(np.array(values), held, median, kept, whole=parameter == "rank")
