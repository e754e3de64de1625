r"""Standard deviations of the points of a refined solution, along the axes of the camera.

The energy is a negative log likelihood, and the inverse of its Hessian a covariance.  Three parts of it are
cheap:

    c_fj   the variance of a log depth given the other points: the diagonal of the inverse Gauss-Newton block
           of the depths of point j in all frames (`energy`), at a level whose scales are those of what real
           objects deviate from few shapes and from isometry (MODEL);
    h_fj   likewise of each coordinate of a free ray: hidden, or an observation with noise;
    d_fj   how far other ends of about the same energy are from this one, along the axes of the camera.

Given the other points a depth varies less than if these move with it: what costs least is to move all points
together, along the elongation of a frame and with its rotation.  The diagonal of the inverse of a dense
Hessian (dance/circle) is a multiple of c_fj, of about the same size everywhere; INFLATION is its root, chosen
on sequences with known shapes.  With Y = z (m, 1)

    var z = INFLATION^2 z^2 c + d_z^2,
    var x = INFLATION^2 z^2 (m_x^2 c + h) + d_x^2 + TILT^2 mean_j var z         (y likewise),

and where the camera is orthogonal the same with z = 1 and m = 0.  The last term: shapes are compared after a
similarity in each frame, whose rotation carries a part of the errors along the rays across them.

Ends.  An end i whose energy is higher than the lowest by e_i |E| counts with p_i = exp(-e_i / TIE), and

    d_fj^2 = sum_i p_i (Y^i_fj - Y_fj)^2 / (1 + sum_i p_i)      by coordinate,

Y^i after the rotation of each frame that makes it nearest, and then of the size that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..foundation.linalg import nearest_rotation
from .energy import DepthLevel, LevelEnergy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..foundation.types import Floats
    from .problem import DepthPoint, DepthProblem
    from .search import DepthEnd, DepthOptions

MODEL = (0.01, 0.015)  # scales of deviations and of lengths, in units of s and of the edges' references
INFLATION = 3.0  # of a conditional standard deviation
TILT = 0.25  # of the standard deviation along the rays that is found across them
TIE = 2e-3  # of the energy: an end that is higher by as much counts 1 / e


def standard_deviations(
    problem: DepthProblem, point: DepthPoint, options: DepthOptions, ends: Sequence[DepthEnd] = ()
) -> Floats:
    """Return the standard deviation of every point of every frame.

    Parameters
    ----------
    problem
        the tracks; with an anchor.
    point
        the refined solution.
    options
        of the refinement.
    ends
        of the refinement, the lowest first; it is the one that led to the point.

    Returns
    -------
    Floats
        (F, 3, P) along x, y and z of the camera, in the units of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from core.depth import DepthOptions, DepthPoint, DepthProblem
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.normal(size=(3, 15)) + 0.1 * rng.normal(size=(6, 3, 15)) + [[0.0], [0.0], [8.0]]
    >>> problem = DepthProblem(Y[:, :2] / Y[:, 2:], np.ones((6, 15), dtype=bool), affine=False)
    >>> point = DepthPoint.from_camera_points(problem, Y, np.tile(np.eye(3), (6, 1, 1)))
    >>> std = standard_deviations(problem.anchored(point), point, DepthOptions())
    >>> bool((std[:, 2] > std[:, 0]).all())
    True
    """
    eps, edge_eps = MODEL
    level = DepthLevel(eps, edge_eps, options.isometry, relative=True)
    energy = LevelEnergy.about(problem, level, point, options.neighbors)
    along, across = energy.conditional_variances(energy.start(point))
    along *= INFLATION**2
    across *= INFLATION**2
    if point.affine:
        lateral = np.stack((across, across), axis=1)
    else:
        squared = np.square(point.depths)
        along *= squared
        lateral = np.square(point.rays) * along[:, None] + (across * squared)[:, None]
    variance = np.concatenate((lateral, along[:, None]), axis=1)
    variance += _spread(point, ends)
    variance[:, :2] += TILT**2 * variance[:, 2].mean(axis=1)[:, None, None]
    std: Floats = np.sqrt(variance)
    return std


def _spread(point: DepthPoint, ends: Sequence[DepthEnd]) -> Floats:
    """Return d^2 (F, 3, P), the mean squared distance of the other ends that count."""
    Y = point.camera_points()
    Y -= Y.mean(axis=2, keepdims=True)
    total, weights = np.zeros_like(Y), 1.0
    for end in ends[1:]:
        excess = (end.energy - ends[0].energy) / abs(ends[0].energy)
        weight = float(np.exp(-max(excess, 0.0) / TIE))
        Z = end.point.camera_points()
        Z -= Z.mean(axis=2, keepdims=True)
        turn = nearest_rotation(Y @ np.swapaxes(Z, 1, 2))
        Z = turn @ Z
        Z *= ((Y * Z).sum(axis=(1, 2)) / np.square(Z).sum(axis=(1, 2)))[:, None, None]
        total += weight * np.square(Z - Y)
        weights += weight
    return total / weights
