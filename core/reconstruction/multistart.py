"""The search for the lowest minimum: the number of starts, and when one is no longer followed.

Minima are few but differ much in loss, and each is reached from a few percent to all of the starts
(`initialization`).  So many random starts take a few cheap steps (`solvers.screening`, on a subset); the best
distinct ones are followed further, until one comes near a known end or is unlikely to reach the lowest.
The starts that are not random are not screened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..solvers.screening import span_distance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..problem.factors import Factors

UNSCREENED = 3  # starts: the rigid one, the cut of the closed form, and the lowest end at a raised rank
GROUP = 32  # starts that take their steps together
SURVIVORS = 3  # distinct starts of a group that are followed to their end
CLOSE = 1e-3  # relative difference in loss
SAME_SPAN = 0.02  # `span_distance`; below both limits two points are of one minimum
DECREASE_FACTOR = 30  # a converging run does not decrease by more than this multiple of its last decrease
LEAST_STEPS = 3  # steps before a run can be given up


@dataclass(frozen=True, eq=False)
class End:
    """The end of a start."""

    name: str
    factors: Factors
    loss: float


def count_phases(starts: int, first: int) -> int:
    """Return about how many phases a search has, when the first start takes `first` of them.

    The second takes one, the last two.
    """
    sizes = [len(group) for group in start_groups(starts - UNSCREENED)]
    return first + (starts > 1) + 2 * (starts > 2) + sum(1 + min(SURVIVORS, size) for size in sizes)


def start_groups(count: int) -> list[range]:
    """Return the starts that take their steps together, group by group."""
    return [range(first, min(first + GROUP, count)) for first in range(0, count, GROUP)]


def find_reached_end(factors: Factors, loss: float, ends: Iterable[End]) -> End | None:
    """Return the end that a point is about to reach from above, if there is one."""
    for end in ends:
        if end.loss <= loss <= (1 + CLOSE) * end.loss and span_distance(factors.B, end.factors.B) < SAME_SPAN:
            return end
    return None


def cannot_improve(losses: list[float], lowest: float) -> bool:
    """Whether a run with these losses so far is unlikely to get below the lowest known loss.

    A second-order method converges ever faster, so that the remaining decrease is of the order of the last
    decrease; `DECREASE_FACTOR` times that is allowed.
    """
    if len(losses) <= LEAST_STEPS:
        return False
    decrease = losses[-2] - losses[-1]
    return 0 < DECREASE_FACTOR * decrease < losses[-1] - lowest


def follow_merges(start: int, merged: Mapping[int, int]) -> int:
    """Return the start that one is merged into after all mergers."""
    while start in merged:
        start = merged[start]
    return start
