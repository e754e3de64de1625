"""What the trials of `cross_validation` come to: a curve, its lowest point, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..foundation.types import Floats
    from .cross_validation import Trial

TIE = 1e-3  # relative difference below which the lower rank is the better one
ROUNDING = 1e-6  # relative difference that solves of the same problem leave


@dataclass(frozen=True, eq=False)
class Curve:
    """What the trials of a plan come to, by value in increasing order, over folds that have all values.

    What is hidden in one fold may be far harder to predict than in another: a value that was tried in more
    folds than the others would be judged by that.
    """

    values: Floats  # (N,)
    folds: tuple[int, ...]  # that have all values
    errors: Floats  # (folds, N) root mean square error of what was hidden, NaN where it is seen nowhere
    medians: Floats  # (folds, N)
    kept_errors: Floats  # (folds, N) of what was used
    whole: bool  # whether a count has no half: the lower of two that tie is the better one

    @property
    def held(self) -> Floats:
        """(N,) root mean square error of what was hidden, averaged over folds."""
        return np.asarray(self.errors.mean(axis=0))

    @property
    def median(self) -> Floats:
        """(N,) median error of what was hidden, averaged over folds."""
        return np.asarray(self.medians.mean(axis=0))

    @property
    def kept(self) -> Floats:
        """(N,) root mean square error of what was used, averaged over folds."""
        return np.asarray(self.kept_errors.mean(axis=0))

    @property
    def deviation(self) -> Floats:
        """(N,) standard error of `held` over folds, NaN of one fold."""
        return _standard_error(self.errors)

    @property
    def best(self) -> int:
        """The index of the lowest held-out error."""
        held = np.nan_to_num(self.held, nan=np.inf)
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
        near = apart.mean(axis=0) <= worst
        first = last = self.best
        while first > 0 and near[first - 1]:
            first -= 1
        while last + 1 < len(near) and near[last + 1]:
            last += 1
        return float(self.values[first]), float(self.values[last])


def _standard_error(errors: Floats) -> Floats:
    folds, count = errors.shape
    if folds < 2:
        return np.full(count, np.nan)
    return np.asarray(errors.std(axis=0, ddof=1) / np.sqrt(folds))


def curve(trials: Iterable[Trial], parameter: str) -> Curve:
    """Gather the trials of a plan, or those that there are yet.

    A sweep goes fold by fold, so that its first fold has all values that were tried. Of other trials those
    values count that the fold with most of them has.
    """
    folds: dict[int, dict[float, Trial]] = {}
    for trial in trials:
        folds.setdefault(trial.fold, {})[trial.value] = trial
    widest = max(folds.values(), key=len)
    values = sorted(widest)
    complete = tuple(number for number, fold in folds.items() if fold.keys() >= widest.keys())
    of_all = [
        [(t.held.rms, t.held.median, t.kept.rms) for t in (folds[number][value] for value in values)]
        for number in complete
    ]
    held, median, kept = np.moveaxis(np.array(of_all), 2, 0)
    return Curve(np.array(values), complete, held, median, kept, whole=parameter == "rank")
