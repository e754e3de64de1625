"""What a refinement yields, and how its shape follows the parameters at the finest level.

A movement of a parameter changes the objective of the search, and the shape goes on to the minimum nearby.
Where points are very many some of them do, and the others are carried along (`subset`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..foundation.phases import Phase, PhaseKind
from ..foundation.representation import OneLine
from ..solvers.solver import iterate
from .alternatives import OwnEnd
from .energy import DepthLevel, LevelEnergy, Preconditioner
from .lbfgs import LBFGS
from .problem import DepthPoint, DepthProblem
from .schedule import LOOSE_EDGES, DepthOptions
from .subset import DepthSubset, anchored_subset, carried_along

# Where a shape that is shown follows its parameters: a movement and its reverse end in the same place.
FOLLOW_TOLERANCE, FOLLOW_ITERATIONS = 1e-8, 4000
ANSWER_ITERATIONS = 3  # of the first step after a movement

FOLLOWED, FEWEST_FOLLOWED = 20_000, 100  # observations, and points, that pass all levels where there are more
LENGTHS = ("edge_eps", "share", "rigid")  # what a search finds out about the last level
EQUAL = 3e-4  # of the energy: where another shape is lower by less, that which was found first is kept


@dataclass(frozen=True, eq=False)
class DepthEnd(OneLine):
    """Where a start ended: its name, its point, and the energy by which it was ranked.

    Those that passed the finest level are ranked there, ends that are nearly equal on all points, the others
    on those that starts are compared on. Its energy and the lowest one are always of the same points.
    """

    name: str
    point: DepthPoint
    energy: float  # per point and frame
    lowest: float  # that of the end that is shown, at the same level and on the same points

    @property
    def excess(self) -> float:
        """By how much its energy is above that of the end that is shown."""
        return self.energy - self.lowest


@dataclass(frozen=True, eq=False)
class DepthStep(OneLine):
    """One iteration of a depth refinement."""

    best: DepthPoint  # what is shown, and what a stopped run keeps
    best_energy: float  # of `best`, at the level where it was kept
    energy: float  # of the current level, per point and frame
    phase: Phase
    fraction: float  # of the refinement that is done
    finished: bool = False
    ends: tuple[DepthEnd, ...] = ()  # of the last step, the lowest first
    # Of the last step: where a coarser level ended, see `uncertainty`; None where only some points passed it.
    coarser: DepthPoint | None = None
    objective: LevelEnergy | None = None  # whose value `best_energy` is, at the finest level; None before
    level: DepthLevel | None = None  # of the objective
    length_share: float = 1.0  # of its problem
    own: OwnEnd | None = None  # of the last step of the part, before the closing levels; None if not known
    followed: Followed | None = None  # from where changes of the parameters are followed; None before
    known: tuple[Preconditioner, int] | None = None  # see `LBFGS`: of the first iterations of a movement

    @property
    def loose(self) -> bool:
        """Whether the finest level that it passed left lengths loose."""
        return self.level is not None and self.level.edge_eps == LOOSE_EDGES

    def under(self, objective: LevelEnergy) -> DepthStep:
        """Return the step whose `best_energy` is the value of an objective."""
        share = objective.problem.length_share
        return replace(self, objective=objective, level=objective.level, length_share=share)


def follow_depths(
    objective: LevelEnergy,
    point: DepthPoint,
    *,
    end: DepthPoint | None = None,
    coarser: DepthPoint | None = None,
    known: tuple[Preconditioner, int] | None = None,
) -> Iterator[DepthStep]:
    """Yield the steps from a point to a minimum of an objective at the finest level.

    A path through other objectives may lead into a higher basin than it came from. So the `end` of the search
    is followed as well, where its energy is below that of the minimum, and the lower of both minima is kept.
    The first step is of a few iterations: it answers a movement of a parameter, after which another one
    may follow at once. `coarser` is that of the last step, see `DepthStep`; `known` that of `LBFGS`.
    """
    phase = Phase(PhaseKind.FINEST)
    algorithm = LBFGS(FOLLOW_ITERATIONS, FOLLOW_TOLERANCE, known=known)
    count = objective.problem.visible.size
    best, lowest, done, share, largest = point, np.inf, False, 0.0, np.inf
    for start in (point,) if end is None or end is point else (point, end):
        if objective.value_and_gradient(objective.start(start))[0] / count >= lowest:
            continue
        for snapshot in iterate(objective, algorithm, start):
            energy = snapshot.progress.loss / count
            if energy < lowest:
                best, lowest = objective.point(snapshot.state.x), energy
            iteration, state = snapshot.progress.iteration, snapshot.state
            decrease = algorithm.decrease(state)
            largest = decrease if np.isinf(largest) else max(largest, decrease)
            share = max(share, _converged_share(decrease, largest))
            known = None  # the later ones would fill the memory of what keeps the steps
            if state.preconditioner is not None and iteration <= algorithm.refresh:
                known = state.preconditioner, state.age
            if done or iteration >= ANSWER_ITERATIONS:
                yield DepthStep(best, lowest, energy, phase, share, known=known).under(objective)
        done = True
    yield DepthStep(best, lowest, lowest, phase, 1.0, finished=True, coarser=coarser).under(objective)


def _converged_share(decrease: float, largest: float) -> float:
    """Return about which part of the iterations is done: the decrease falls by about a factor in each."""
    if not FOLLOW_TOLERANCE < decrease <= largest < np.inf:
        return float(decrease <= FOLLOW_TOLERANCE)
    return float(np.log(largest / decrease) / np.log(largest / FOLLOW_TOLERANCE))


@dataclass(frozen=True, eq=False)
class Followed(OneLine):
    """A point at the finest level, from which changes of the parameters are followed."""

    subset: DepthSubset  # the points that pass all levels; the others are carried along
    point: DepthPoint  # of the part
    objective: LevelEnergy  # of the search, on the part; each movement changes it anew
    end: DepthPoint  # of the search, on the part: a movement and its reverse end there
    shown: DepthPoint  # `point`, with the points that are carried along
    coarser: DepthPoint | None = None  # see `DepthStep`
    known: tuple[Preconditioner, int] | None = None  # see `DepthStep`
    ends: tuple[DepthEnd, ...] = ()  # of the search, on the part

    @classmethod
    def from_shape(
        cls, subset: DepthSubset, shown: DepthPoint, options: DepthOptions, lengths: Mapping[str, Any]
    ) -> Followed:
        """Return a shape that is known without its search, of a file, as the end of one.

        `lengths`: what the last level of the search says of lengths, see `DepthLevel`.
        """
        point = subset.restrict(shown)
        known = {name: lengths[name] for name in LENGTHS if name in lengths}
        level = replace(options.finest(loose=False)[-1], **known)
        return cls(subset, point, options.energy(subset.part, level, point), point, shown)

    def at(self, shown: DepthPoint) -> Followed:
        """Return the same from another end of the search."""
        point = self.subset.restrict(shown)
        return replace(self, point=point, end=point, shown=shown, coarser=None, known=None)

    def moved(self, step: DepthStep) -> Followed:
        """Return where a step of the part leads, the other points carried along."""
        shown = carried_along(self.subset, self.shown, self.point, step.best)
        return replace(self, point=step.best, shown=shown, known=step.known)


def follow_part(
    followed: Followed, options: DepthOptions, noise: float
) -> Iterator[tuple[DepthStep, DepthStep]]:
    """Yield the steps to the minimum under other parameters: of the part, and of all points.

    `noise`: of a coordinate of the tracks in calibrated units.
    """
    subset = followed.subset
    objective = options.objective(followed.objective, noise, followed.end)
    steps = follow_depths(
        objective, followed.point, end=followed.end, coarser=followed.coarser, known=followed.known
    )
    back = _way_back(followed, objective)
    for step in steps if back is None else (back,):
        followed = followed.moved(step)
        if step.finished and not subset.complete:
            shown = subset.extend(step.best, followed.shown.rays, options)
            followed = replace(followed, shown=shown)
        yield step, replace(step, best=followed.shown, followed=followed)


def _way_back(followed: Followed, objective: LevelEnergy) -> DepthStep | None:
    """Return the end of the search where its parameters are put back; None where another shape is lower.

    Energies that are nearly equal are of shapes which may differ much: the one that was found first is kept.
    """
    found, end = followed.objective, followed.end
    if (objective.level, objective.problem.noise, objective.neighbors) != (
        *(found.level, found.problem.noise, found.neighbors),
    ):
        return None
    known, here = (
        found.value_and_gradient(found.start(point))[0] / found.problem.visible.size
        for point in (end, followed.point)
    )
    if here < known - EQUAL * abs(known):
        return None
    phase = Phase(PhaseKind.FINEST)
    return DepthStep(end, known, known, phase, 1.0, finished=True, coarser=followed.coarser).under(found)


def followed_points(shape: tuple[int, int]) -> int:
    """Return how many points of a problem of so many frames and points pass all levels. `shape`: (F, P)."""
    frames, points = shape
    most = max(FEWEST_FOLLOWED, FOLLOWED // frames)
    return points if points <= 2 * most else most


def followed_part(problem: DepthProblem, anchor: DepthPoint) -> DepthSubset:
    """Return the points that pass all levels: all of them, or some where there are very many."""
    most = followed_points(problem.shape)
    if most == problem.shape[1]:
        problem = problem.anchored(anchor)
    return anchored_subset(problem, anchor, most)
