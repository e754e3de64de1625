"""What the range of the plot of the loss follows: the run in front, its final part, or all runs."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from core.foundation import Floats
    from nrsfm_gui.model.history import History

SELECTION = "rotations"  # how the names of the phases begin that choose rotations


class Follow(Enum):
    """What the range follows."""

    WHOLE = "the whole run in front"
    FINAL = "its part after the choice of rotations"
    ALL = "all runs"
    NOTHING = "nothing since the mouse zoomed"


def followed_range(
    follow: Follow, front: History, histories: Iterable[History], place: Callable[[History], Floats]
) -> tuple[float, float, float, float]:
    """Return what is to be seen: left, right, least and largest logarithm of the loss.

    Parameters
    ----------
    follow
        anything but `NOTHING`.
    front
        the history of the run in front.
    histories
        those of all runs that are drawn.
    place
        where a history has its records along the horizontal axis.
    """
    x, y = place(front), front.log_losses
    low, high = float(y.min()), float(y.max())
    if follow is Follow.FINAL:
        first = _final_part(front)
        x, y = x[first:], y[first:]
        # The first steps of a phase may lie far above all others.
        low, high = float(y.min()), float(np.quantile(y, 0.9))
    left, right = float(x[0]), float(x[-1])
    if follow is Follow.ALL:
        every = list(histories)
        left, right = (f(float(place(h)[end]) for h in every) for f, end in ((min, 0), (max, -1)))
        low = min(float(h.log_losses.min()) for h in every)
        high = max(float(h.log_losses.max()) for h in every)
    return left, right, low, high


def _final_part(history: History) -> int:
    """Return the record after the last choice of rotations; 0 where there is none yet."""
    first = 0
    for phase in reversed(history.phases):
        if phase.name.startswith(SELECTION):
            break
        first = phase.first
    return first
