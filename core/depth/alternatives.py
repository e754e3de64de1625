r"""Other shapes that might explain the tracks as well as a refined one, and what they cost.

    mirrored    every frame mirrored in depth; left out where the camera is orthogonal, whose tracks are those
                of the mirror image too
    block       a run of frames between suspicious links mirrored, and turned onto the others (`reflections`)
    flatter     depths about the mean of each frame divided by SCALE
    deeper      and multiplied; the extent of the anchor is scaled with them, so that it does not pull back

Each, and the solution itself, is relaxed for a few iterations on some of the points, at the levels where the
starts of a refinement compete.  The excess of an alternative is its energy less that of the solution, per
frame: a log likelihood ratio.  Where it is far above 0 the tracks exclude the alternative.

The excess e of the two scales measures the curvature along the elongation: with t the log of the scale,
E(t) = E(0) + F e (t / log SCALE)^2, so that the tracks leave t the variance

    log(SCALE)^2 / (2 F e),       e the mean of the two, at least LEAST_EXCESS.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.representation import one_line_repr
from ..solvers.solver import solve
from .energy import DepthLevel
from .lbfgs import LBFGS
from .reflections import (
    FrameBlock,
    candidate_blocks,
    mirror_in_depth,
    reflect_block,
    shape_distances,
    suspicions,
)
from .subset import point_subset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .problem import DepthPoint, DepthProblem
    from .search import DepthOptions

COMPARED_POINTS = 40
SCALE = 1.25
MOST_BLOCKS = 8  # the most suspicious
LEVEL = DepthLevel(0.05, 0.07, tolerance=1e-6)
OWN = (replace(LEVEL, iterations=25),)
TRIAL = (DepthLevel(0.1, 0.15, iterations=8, tolerance=1e-5), replace(LEVEL, iterations=10, tolerance=1e-5))
SCALED = (replace(LEVEL, iterations=40),)
LEAST_EXCESS = 0.01


@dataclass(frozen=True)
class Alternative:
    """Another shape, and what it costs."""

    kind: str  # "mirrored", "block", "flatter" or "deeper"
    excess: float  # energy per frame above that of the solution
    distance: float  # root mean square distance of its shapes from the solution's, relative to their size
    block: FrameBlock | None = None  # the frames that are mirrored; None of the others

    __repr__ = one_line_repr


def find_alternatives(
    problem: DepthProblem, point: DepthPoint, options: DepthOptions
) -> Iterator[Alternative]:
    """Yield the alternatives of a refined solution, each of which takes as long as tens of iterations."""
    subset = point_subset(problem, problem.shapes(point), COMPARED_POINTS)
    problem, own = subset.part, subset.restrict(point)
    problem = problem.anchored(own)
    own, lowest = relax(problem, own, OWN, options)
    X = problem.shapes(own)
    size = float(np.square(X).sum())

    def compare(
        kind: str,
        problem: DepthProblem,
        start: DepthPoint,
        levels: Sequence[DepthLevel],
        block: FrameBlock | None = None,
    ) -> Alternative:
        other, energy = relax(problem, start, levels, options)
        distance = np.sqrt(shape_distances(problem.shapes(other), X).sum() / size)
        return Alternative(kind, (energy - lowest) / len(X), float(distance), block)

    mirrored = mirror_in_depth(own)
    if not problem.affine:
        yield compare("mirrored", problem, mirrored, TRIAL)
    for kind, scale in (("flatter", 1.0 / SCALE), ("deeper", SCALE)):
        scaled = replace(problem, extent=scale * problem.extent)
        yield compare(kind, scaled, scale_depths(own, scale), SCALED)
    for block in candidate_blocks(suspicions(problem, own, mirrored))[:MOST_BLOCKS]:
        yield compare("block", problem, reflect_block(problem, own, mirrored, block), TRIAL, block)


def elongation_variance(alternatives: Sequence[Alternative], frames: int) -> float:
    """Return the variance of the log of the scale of all depths."""
    excess = float(np.mean([each.excess for each in alternatives if each.kind in ("flatter", "deeper")]))
    return float(np.log(SCALE) ** 2 / (2.0 * frames * max(excess, LEAST_EXCESS)))


def scale_depths(point: DepthPoint, scale: float) -> DepthPoint:
    """Return a point whose depths about the mean of each frame are scaled: log depths if perspective."""
    depths = point.depths if point.affine else np.log(point.depths)
    mean = depths.mean(axis=1, keepdims=True)
    scaled = mean + scale * (depths - mean)
    return replace(point, depths=scaled if point.affine else np.exp(scaled))


def relax(
    problem: DepthProblem, point: DepthPoint, levels: Sequence[DepthLevel], options: DepthOptions
) -> tuple[DepthPoint, float]:
    """Return where levels end, and the energy there."""
    for level in levels:
        energy = options.energy(problem, level, point)
        last = solve(energy, LBFGS(level.iterations, level.tolerance), point)
        point = energy.point(last.state.x)
    return point, last.progress.loss
