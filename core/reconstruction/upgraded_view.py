"""The metric view of a rigid low-rank solution: from the minimum of pOSE to that of the reprojection error.

pOSE at eta = 0.05 biases depths toward 1, and a calibration is sensitive to that: Door's minimum has a
reprojection error of 2.75 px, its metric upgrade 3.8 px, where its cameras allow 0.41 px; for scenes with
less perspective the upgrade is inaccurate or fails.  So the solution is followed to a small eta, without a
penalty, then upgraded, then adjusted.  The solution itself does not change: the view serves to show it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..cameras.bundle_adjustment import Bundle, adjust_bundle
from ..cameras.metric_upgrade import metric_upgrade, reprojection_rms
from ..foundation.exceptions import InputError
from ..problem.factors import Factors, balance
from ..problem.low_rank import LowRankProblem
from ..solvers.solver import solve
from ..solvers.variable_projection import VariableProjection
from .diagnostics import NEGLIGIBLE, singular_values
from .geometry import PROJECTIVE, Geometry, geometry_of

if TYPE_CHECKING:
    from ..foundation.types import Bools, Floats

ETAS = (0.01, 2e-3, 5e-4)
FOLLOWED = VariableProjection(tolerance=1e-6, max_iterations=20, damping=1e-6)
MOST = 1_000_000  # frames times points, above which the view is not adjusted
GOOD = 2.0  # times the projective error, or that under a free focal length: up to there a given K is kept
STEPS = 25  # of the adjustment


def metric_view(
    problem: LowRankProblem, factors: Factors, intrinsics: Floats, calibration: Floats | None
) -> Geometry:
    """Return the geometry of a solution, adjusted where it is rigid and becomes metric.

    It is rigid where four singular values are not zero, whatever the rank of the settings.

    Parameters
    ----------
    problem, factors
        the solution.
    intrinsics
        (3, 3) diag(norm, norm, 1).
    calibration
        (3, 3) K of the views; None where it is unknown.
    """
    seen = geometry_of(problem, factors, intrinsics, calibration)
    sigma = singular_values(factors)
    rigid = np.count_nonzero(sigma > NEGLIGIBLE * sigma[0]) == PROJECTIVE
    if not rigid or seen.flat or problem.visible.size > MOST:
        return seen
    cameras, homogeneous = _follow_to_small_eta(problem, _leading_factors(factors))
    P, visible = intrinsics @ cameras, problem.visible
    tracks = intrinsics[0, 0] * problem.tracks
    limit = GOOD * reprojection_rms(P @ homogeneous, tracks, visible)
    found: list[tuple[float, Bundle, str, float]] = []
    for K in (calibration, None) if calibration is not None else (None,):
        try:
            upgrade = metric_upgrade(P, homogeneous, tracks=tracks, visible=visible, intrinsics=K)
        except InputError:
            continue  # the figures of `geometry_of` hold the reason
        start = Bundle(upgrade.rotations, upgrade.translations, upgrade.points, upgrade.intrinsics)
        end = adjust_bundle(start, tracks, visible, focal_free=K is None, max_iterations=STEPS)
        rms = reprojection_rms(end.intrinsics @ end.camera_points(), tracks, visible)
        assumed = (
            upgrade.assumed if K is not None else f"{upgrade.assumed}; adjusted to {end.intrinsics[0, 0]:.0f}"
        )
        found.append((rms, end, assumed, 1.0 if K is not None else GOOD))
        if rms < limit:
            break
    if not found:
        return seen
    rms, bundle, assumed, _ = min(found, key=lambda one: one[0] * one[3])
    if seen.figures["metric"] and seen.figures["metric_rms"] < rms:
        return seen
    return _with_bundle(seen, bundle, rms, assumed, visible)


def _leading_factors(factors: Factors) -> Factors:
    """Return the factors of the four largest singular values."""
    whole = balance(factors)
    return Factors(whole.B[:, :PROJECTIVE], whole.C[:PROJECTIVE], whole.s)


def _follow_to_small_eta(problem: LowRankProblem, factors: Factors) -> tuple[Floats, Floats]:
    """Return cameras and points after eta has become small."""
    for eta in ETAS:
        if eta < problem.eta:
            problem = LowRankProblem(problem.tracks, problem.visible, eta, np.zeros(PROJECTIVE))
            factors = solve(problem, FOLLOWED, factors).state.factors
    return problem.cameras(factors), problem.homogeneous(factors)


def _with_bundle(seen: Geometry, bundle: Bundle, rms: float, assumed: str, visible: Bools) -> Geometry:
    """Return the geometry with the adjusted bundle in place of the upgraded one."""
    figures = {name: value for name, value in seen.figures.items() if name != "reason"}
    in_front = float((bundle.camera_points()[:, 2] > 0)[visible].mean())
    figures |= {
        "metric": True,
        "upgraded_rms": seen.figures.get("metric_rms"),
        "metric_rms": rms,
        "assumed": assumed,
        "in_front": in_front,
        "intrinsics": bundle.intrinsics.tolist(),
    }
    return replace(
        seen,
        B=np.ones((len(bundle.rotations), 1)),
        C=bundle.points.reshape(-1, 1),
        rotations=bundle.rotations,
        translations=bundle.translations,
        intrinsics=bundle.intrinsics,
        figures=figures,
    )
