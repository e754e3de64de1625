"""The search for the lowest minimum: how many starts are followed how far, and when one is given up.

Minima are few but far apart in loss, and each has a basin that a few percent to all of the starts fall into
(`initialization`).  So many random starts take a few cheap steps (`solvers.screening`, on a subset); the best
distinct ones are followed on, until one comes near an end that is known or cannot reach the lowest any more.
The starts that are not random are not screened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..solvers.screening import apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..problem.factors import Factors

UNSCREENED = 3  # starts: the rigid one, the cut of the closed form, and the lowest end at a raised rank
GROUP = 32  # starts that go side by side
SURVIVORS = 3  # distinct starts of a group that are followed to their end
CLOSE = 1e-3  # relative difference in loss
TOGETHER = 0.02  # share of B not spanned, see `apart`: below both limits two points are of one minimum
OUTLOOK = 30  # a converging run does not go down by more than so many times its last decrease
FIRST_JUDGED = 3  # steps before a run is given up


@dataclass(frozen=True, eq=False)
class End:
    """Where a start has ended."""

    name: str
    factors: Factors
    loss: float


def phases(starts: int, first: int) -> int:
    """Return about how many phases a search has, when the first start takes `first` of them.

    The second takes one, the last two.
    """
    sizes = [len(group) for group in groups(starts - UNSCREENED)]
    return first + (starts > 1) + 2 * (starts > 2) + sum(1 + min(SURVIVORS, size) for size in sizes)


def groups(count: int) -> list[range]:
    """Return which starts go side by side."""
    return [range(first, min(first + GROUP, count)) for first in range(0, count, GROUP)]


def met(factors: Factors, loss: float, ends: Iterable[End]) -> End | None:
    """Return the end that a point is about to come to from above, if there is one."""
    for end in ends:
        if end.loss <= loss <= (1 + CLOSE) * end.loss and apart(factors.B, end.factors.B) < TOGETHER:
            return end
    return None


def hopeless(losses: list[float], lowest: float) -> bool:
    """Whether a run with these losses so far will not get below the lowest one that is known.

    A second-order method converges faster and faster, so that what is left is of the order of the last
    decrease; `OUTLOOK` times it is granted.
    """
    if len(losses) <= FIRST_JUDGED:
        return False
    decrease = losses[-2] - losses[-1]
    return 0 < OUTLOOK * decrease < losses[-1] - lowest


def traced(start: int, merged: Mapping[int, int]) -> int:
    """Return the start that one stands for after all mergers."""
    while start in merged:
        start = merged[start]
    return start
