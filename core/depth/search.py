"""The schedule of the depth refinement, as one stream of steps.

Each level begins where the one before ended, with the edges of the shapes there: from scales at which many
wrong shapes have no minimum of their own to those of the tracks' noise.  The energies of two levels do not
compare, and neither do those of two levels with other edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..foundation.representation import one_line_repr
from ..solvers.solver import iterate
from .energy import DepthLevel, LevelEnergy
from .lbfgs import LBFGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .problem import DepthPoint, DepthProblem

SCHEDULE = (
    DepthLevel(0.1, 0.15, iterations=80, tolerance=1e-7),
    DepthLevel(0.05, 0.07, iterations=120, tolerance=1e-7),
    DepthLevel(0.02, 0.03, iterations=200),
    DepthLevel(0.02, 0.08, relative=True, iterations=150),
    DepthLevel(0.02, 0.03, relative=True, iterations=300),
    DepthLevel(0.01, 0.015, relative=True, iterations=200),
    DepthLevel(0.005, 0.0075, relative=True, iterations=200),
)


@dataclass(frozen=True)
class DepthOptions:
    """What a depth refinement is asked for.

    Parameters
    ----------
    isometry
        weight of the lengths of edges.
    neighbors
        of each point, that it has edges to.
    thorough
        whether all starts are searched, or the first one only.
    """

    isometry: float = 0.3
    neighbors: int = 8
    thorough: bool = True

    __repr__ = one_line_repr


@dataclass(frozen=True, eq=False)
class DepthEnd:
    """Where a start ended: its name, its point, and the energy of the last level there."""

    name: str
    point: DepthPoint
    energy: float

    __repr__ = one_line_repr


@dataclass(frozen=True, eq=False)
class DepthStep:
    """One iteration of a depth refinement."""

    point: DepthPoint
    energy: float  # of the current level
    best: DepthPoint  # what a stopped run keeps
    best_energy: float  # of `best`, at the level where it was kept
    phase: str
    fraction: float  # of the refinement that is done
    finished: bool = False
    ends: tuple[DepthEnd, ...] = ()  # of the last step, the lowest first

    __repr__ = one_line_repr


def refine_depths(
    problem: DepthProblem, starts: Mapping[str, DepthPoint], options: DepthOptions
) -> Iterator[DepthStep]:
    """Yield the steps of a refinement; it pauses while none is asked for.

    Parameters
    ----------
    problem
        the tracks.
    starts
        points by name; the first is the anchor of the problem.
    options
        what is asked for.

    Yields
    ------
    DepthStep
        one per iteration; the last is finished, and has the ends.
    """
    name, point = next(iter(starts.items()))
    problem = problem.anchored(point)
    whole, done = sum(level.iterations for level in SCHEDULE), 0
    for number, level in enumerate(SCHEDULE, start=1):
        level = replace(level, isometry=options.isometry)
        energy = LevelEnergy.about(problem, level, point, options.neighbors)
        algorithm = LBFGS(level.iterations, level.tolerance)
        for snapshot in iterate(energy, algorithm, point):
            current, value = energy.point(snapshot.state.x), snapshot.progress.loss
            share = (done + snapshot.progress.iteration) / whole
            step = DepthStep(
                current, value, current, value, f"depth: level {number} of {len(SCHEDULE)}", share
            )
            if not snapshot.status.finished:
                yield step
        done += level.iterations
        point = step.point
        if number < len(SCHEDULE):
            yield step
    yield replace(step, fraction=1.0, finished=True, ends=(DepthEnd(name, point, step.energy),))
