r"""Standard deviations of the points of a refined solution, along the axes of the camera.

The energy is a negative log likelihood of a model that real objects meet roughly: few shapes, lengths that
stay.  The errors are mostly those of the minimum, about which its curvature says little.  The variance of a
point is the sum of what is known of how it may be wrong,

    v = MOVED l + z^2 R(CURVATURE c + ELONGATION e, CURVATURE h) + d + tilt,

of the points Y = z (m, 1) of a frame, each term by coordinate:

    l    the search.  The squared distance to where the last level with exact rays ended, whose scales are
         eight times those of the last one; where lengths are loose, the first level that leaves them so.
         Where the model is right both have the same minimum.  LOCAL of it is that of the point, the rest the
         mean over its frame: a small distance may be chance;
    c    the point.  The variance of its log depth given the other points: the diagonal of the inverse
         Gauss-Newton block of its depths in all frames (`energy`), at scales between the two (MODEL);
    h    the same of each coordinate of a free ray: hidden, or an observation with noise.  R moves the point
         along its ray and across: R(c, h) = (m_x^2 c + h, m_y^2 c + h, c);
    e    the elongation.  The squared log depth, less the mean of its frame, times log(SCALE)^2 exp(-u / TIE):
         the depths of `alternatives` differ by SCALE, and u, at least -MOST_LOWER, is the smaller excess of
         the flatter and the deeper ones.  It is near 0 or negative where the camera moves little;
    d    other ends.  With p_i = exp(-u_i / TIE_END) of an end whose excess is u_i,
         sum_i p_i (Y^i - Y)^2 / (1 + sum_i p_i);
    tilt of the lateral coordinates: TILT^2 times the mean over the frame of the other terms along z.  Shapes
         are compared after a rotation in each frame, which carries errors along the rays across them.

An excess is an energy per frame above that of the solution, a log likelihood ratio. Those of other ends, at
least 0, are of the level where ends are ranked, before the closing ones: the mean over the points that they
were ranked on, times all points. Distances are after the rotation of each frame, and then the size, that
makes them least. Where the camera is orthogonal, z = 1, m = 0 and depths take the place of log depths.

The shares were chosen on 162 sequences: nine objects on six paths, whole, 20 frames of each, and the first
15.  Errors at points that were hidden from the run, over their curvature, do not help to predict those of the
shapes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.linalg import nearest_rotation
from ..foundation.types import Floats
from .alternatives import SCALE, Alternative
from .energy import DepthLevel
from .following import DepthEnd, DepthStep
from .problem import DepthPoint, DepthProblem
from .reflections import MIRROR
from .schedule import DepthOptions
from .subset import DepthSubset

MODEL = (0.01, 0.015)  # scales of deviations and of lengths, in units of s and of the edges' references
MOVED, CURVATURE, ELONGATION = 1.5, 1.2, 0.03
LOCAL = 0.25
TIE, TIE_END = 0.05, 0.3  # energy per frame
MOST_LOWER = 0.1  # energy per frame
TILT = 0.15
NEAREST = 8  # points of a refined part that the uncertainty of another one is the mean of


def standard_deviations(
    problem: DepthProblem, step: DepthStep, options: DepthOptions, alternatives: Sequence[Alternative]
) -> Floats:
    """Return the standard deviation of every point of every frame.

    Returns (F, 3, P) along x, y and z of the camera, in the units of the points. Raises InputError where the
    step is not the last one.
    """
    point, coarser = step.best, step.coarser
    if coarser is None:
        raise InputError("the refinement has not ended; accepted is its last step")
    along, across = _conditional_variances(problem, point, options)
    relief = point.relief - point.relief.mean(axis=1, keepdims=True)
    along *= CURVATURE
    along += ELONGATION * _elongation_variance(alternatives) * np.square(relief)
    across *= CURVATURE
    if point.affine:
        lateral = np.stack((across, across), axis=1)
    else:
        squared = np.square(point.depths)
        along *= squared
        lateral = np.square(point.rays) * along[:, None] + (across * squared)[:, None]
    variance = np.concatenate((lateral, along[:, None]), axis=1)
    moved = MOVED * _squared_distances(point, coarser)
    variance += LOCAL * moved + (1 - LOCAL) * moved.mean(axis=2, keepdims=True)
    variance += _spread(point, step.ends)
    variance[:, :2] += TILT**2 * variance[:, 2].mean(axis=1)[:, None, None]
    std: Floats = np.sqrt(variance)
    return std


def carried_deviations(subset: DepthSubset, point: DepthPoint, of_part: DepthPoint, std: Floats) -> Floats:
    """Return the standard deviations of all points where only a part was refined, which the others follow.

    A point follows from those of the part near it, and so does its uncertainty. On simulated sequences of 800
    points the shares of true errors within 1 and 2 standard deviations are those of the part.

    `of_part`: those of the part, of another unit where the camera is perspective; `std`: (F, 3, P') of the
    part. Returns (F, 3, P) in the unit of `point`: of a point that is not of the part the root mean square
    over the nearest ones of the part in the mean shape.
    """
    from scipy.spatial import cKDTree  # slow to load

    scale = 1.0 if point.affine else float(np.median(point.depths[:, subset.points] / of_part.depths))
    variance = np.square(scale * std)
    mean = subset.problem.shapes(point).mean(axis=0).T
    count = min(NEAREST, len(subset.points))
    near = cKDTree(mean[subset.points]).query(mean, k=count)[1].reshape(len(mean), count)
    carried: Floats = np.zeros((*variance.shape[:2], len(mean)))
    for each in near.T:  # one at a time: together they are large
        carried += variance[:, :, each] / count
    carried[:, :, subset.points] = variance
    np.sqrt(carried, out=carried)
    return carried


def _conditional_variances(
    problem: DepthProblem, point: DepthPoint, options: DepthOptions
) -> tuple[Floats, Floats]:
    """Return c and h, (F, P)."""
    energy = options.energy(problem, DepthLevel(*MODEL, relative=True), point)
    return energy.conditional_variances(energy.start(point))


def _elongation_variance(alternatives: Sequence[Alternative]) -> float:
    """Return the variance of the log of the scale of all depths, before its share."""
    excess = min(each.excess for each in alternatives if each.kind in ("flatter", "deeper"))
    return float(np.log(SCALE) ** 2 * np.exp(-max(excess, -MOST_LOWER) / TIE))


def _squared_distances(point: DepthPoint, other: DepthPoint) -> Floats:
    """Return the squared distances of the points from another solution, (F, 3, P), each frame being aligned.

    Of an orthogonal camera the mirror image in depth of the other is the same solution.
    """
    Y, Z = point.camera_points(), other.camera_points()
    Y -= Y.mean(axis=2, keepdims=True)
    Z -= Z.mean(axis=2, keepdims=True)
    found: list[Floats] = []
    for image in (Z, MIRROR @ Z) if point.affine else (Z,):
        moved = nearest_rotation(Y @ np.swapaxes(image, 1, 2)) @ image
        moved *= ((Y * moved).sum(axis=(1, 2)) / np.square(moved).sum(axis=(1, 2)))[:, None, None]
        found.append(np.square(moved - Y))
    return min(found, key=np.sum)


def _spread(point: DepthPoint, ends: Sequence[DepthEnd]) -> Floats:
    """Return d (F, 3, P), the mean squared distance of the other ends that count."""
    total, weights = np.zeros((len(point.depths), 3, point.depths.shape[1])), 1.0
    for end in ends[1:]:
        excess = max(end.excess, 0.0) * point.depths.shape[1]
        weight = float(np.exp(-excess / TIE_END))
        total += weight * _squared_distances(point, end.point)
        weights += weight
    return total / weights
