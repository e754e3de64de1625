r"""The focal length by the energy of the refined depths: a self-calibration that needs no rigid part.

Rays m = (x - c) / f of another focal length f' are m' = (f / f') m.  With depths about the mean of their
frame scaled by f / f' in return, lateral and depth extents keep their ratio, and the shape in one frame is
the same but for the curvature of the perspective.  Over the frames it is not: what a wrong f does to a shape
depends on its pose and on its distance, so that an object which turns or comes nearer deforms with its
motion.  Lengths between neighbors then vary, and the deviations need more modes.  This is what the energy of
`energy` charges,

    E = F/2 log det(D D'/F + eps^2 I) + iso F P / (2 n) sum_e log(var_f(L_fe) / r_e + eiso^2) + extent,

n the number of edges: the negative logarithm of a likelihood of the shapes X.  X is in units of the lateral
size of the tracks, so that its lateral coordinates are, up to the depths' own variation, the tracks over
their size.  f is in neither, and energies at different f compare.  (The losses of the bilinear problem do
not: with f the tracks shrink against its penalty, and they fall.)  Rays are exact; the edges, their
references and the anchored extent are the same for all f, and so is the level.

E is computed where the refinement ended, its depths scaled as above and relaxed, for focal lengths COARSE
times the present one, then about the lowest.  A parabola through the last three in x = log f has its vertex
at x1 and the curvature 1 / s1^2.  The model is rough: on five sequences of `challenge_like` the errors of x1
had 2.2 times the root mean square that s1 states, so that the likelihood counts 1 / MODEL^2.  It is combined
with what is known of cameras, x = log f0 +- PRIOR about the assumed f0,

    x = (x1 / v + log f0 / PRIOR^2) / (1 / v + 1 / PRIOR^2),       v = (MODEL s1)^2,

of variance 1 / (1 / v + 1 / PRIOR^2).  Where v > PRIOR^2, or the energy has no minimum in range, the tracks
do not determine f.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..foundation.representation import OneLine
from .alternatives import relax, scale_depths
from .energy import DepthLevel
from .problem import DepthPoint, DepthProblem
from .schedule import DepthOptions
from .subset import anchored_subset

POINTS = 50  # that the energies are of
COARSE = tuple(np.geomspace(0.5, 2.0, 7).tolist())  # focal lengths over the present one
FINE = (0.87, 1.0, 1.15)  # over the lowest of these
MOST_EXTENDED = 3  # further coarse ones, where the lowest is the first or the last
LEVELS = (
    DepthLevel(0.05, 0.07, iterations=40, tolerance=1e-7),
    DepthLevel(0.02, 0.03, relative=True, iterations=200, tolerance=3e-8),
)
MODEL = 2.5  # by which errors exceed what the curvature states
PRIOR = 0.35  # standard deviation of the log of the focal length about the assumed one: half to twice


@dataclass(frozen=True, eq=False)
class FocalProfile(OneLine):
    """The energy over the focal length, and the estimate that follows."""

    focals: np.ndarray  # (N,) focal lengths, increasing
    energies: np.ndarray  # (N,) E, in nats
    assumed: float  # the focal length that is assumed where the tracks do not determine it

    @property
    def vertex(self) -> tuple[float, float]:
        """Log of the focal length of lowest energy, and its variance; infinite where there is no minimum."""
        x, k = np.log(self.focals), int(np.argmin(self.energies))
        if not 0 < k < len(x) - 1:
            return float(x[k]), np.inf
        near = slice(k - 1, k + 2)
        curvature, slope, _ = np.polyfit(x[near] - x[k], self.energies[near], 2)
        variance = MODEL**2 / (2.0 * curvature) if curvature > 0 else np.inf
        return float(x[k] - slope / (2.0 * curvature)) if curvature > 0 else float(x[k]), float(variance)

    @property
    def determined(self) -> bool:
        """Whether the tracks determine the focal length better than what is known of cameras."""
        return self.vertex[1] < PRIOR**2

    @property
    def focal(self) -> float:
        """The estimate; the assumed one where it is not determined."""
        at, variance = self.vertex
        if not self.determined:
            return self.assumed
        weight = 1.0 / (1.0 + variance / PRIOR**2)
        return float(np.exp(weight * at + (1.0 - weight) * np.log(self.assumed)))

    @property
    def deviation(self) -> float:
        """Standard deviation of the log of the estimate."""
        variance = self.vertex[1]
        return PRIOR if not self.determined else float(1.0 / np.sqrt(1.0 / variance + 1.0 / PRIOR**2))


def profile_focal(
    problem: DepthProblem, point: DepthPoint, focal: float, options: DepthOptions
) -> Iterator[FocalProfile]:
    """Yield the energy over the focal length, one more focal length at a time.

    `focal`: the present focal length, in any unit.
    """
    rays = np.where(problem.visible[:, None, :], problem.tracks, point.rays)
    point = replace(point, rays=rays)
    exact = problem.with_noise(0.0)
    subset = anchored_subset(exact.anchored(point), point, POINTS)
    part, own = subset.part, subset.restrict(point)
    energies: dict[float, float] = {}

    def profile() -> FocalProfile:
        known = sorted(energies)
        return FocalProfile(np.array(known), np.array([energies[each] for each in known]), focal)

    def compute(at: float) -> FocalProfile:
        scaled = replace(part, tracks=part.tracks * (focal / at))
        start = scale_depths(own, focal / at)
        start = DepthPoint(start.rotations, start.depths, start.rays * (focal / at), own.affine)
        energies[at] = relax(scaled, start, LEVELS, options)[1]
        return profile()

    for ratio in COARSE:
        yield compute(ratio * focal)
    step = COARSE[1] / COARSE[0]
    for _ in range(MOST_EXTENDED):
        lowest = min(energies, key=lambda each: energies[each])
        if lowest == min(energies):
            yield compute(lowest / step)
        elif lowest == max(energies):
            yield compute(lowest * step)
        else:
            break
    lowest = float(np.exp(profile().vertex[0]))
    coarse = dict(energies)
    energies.clear()
    for ratio in FINE:
        yield compute(ratio * lowest)
    if not np.isfinite(profile().vertex[1]):  # a minimum of the coarse ones that the fine ones do not have
        energies = coarse
        yield profile()
