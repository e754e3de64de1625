r"""The three-dimensional geometry of a point of a problem: shapes, cameras and reprojections.

A non-rigid problem defines all of it.  A low-rank one has only projective cameras P_f (3 x K) and points u_j
(K numbers), X_fj = P_f u_j in units of the tracks.  Where K >= 4 the four leading ones may be upgraded
(`core.cameras.metric_upgrade`),

    K_c^-1 P_f,1..4 Q ~ s_f [R_f t_f],    Q^-1 u_j,1..4 = w_j (S_j, 1),

and the contribution of the others to X_fj / (s_f w_j) moves the points of frame f,

    S_fj = S_j + sum over k > 4 of R_f' K_c^-1 P_fk u_jk / (s_f w_j),

so that S_f has 1 + 3 (K - 4) basis shapes, and K_c (R_f S_fj + t_f) is X_fj up to scale and the error of the
nearest rotations.  Where no upgrade exists X itself is shown, in the camera's frame: R_f = I, t_f = 0, and
the 3 K basis shapes e_c u_k' with the coefficients P_f,ck.

**Metric view.**  pOSE at eta = 0.05 biases depths toward 1, and a calibration is sensitive to that: Door's
minimum has a reprojection error of 2.75 px, its metric upgrade 3.8 px, where its cameras allow 0.41 px; for
scenes with less perspective the upgrade is inaccurate or fails.  So `metric_view` follows a rigid solution to
a small eta, without a penalty, then upgrades and adjusts it.  The solution itself does not change: the view
serves to show it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..cameras.bundle_adjustment import Bundle, adjust_bundle
from ..cameras.calibration import project_low_rank
from ..cameras.metric_upgrade import MetricUpgrade, metric_upgrade, reprojection_rms
from ..depth import LENGTHS, DepthPoint, DepthStep
from ..foundation.exceptions import InputError
from ..foundation.linalg import relative_distance
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats
from ..problem.factors import Factors, balance
from ..problem.low_rank import LowRankProblem
from ..problem.nonrigid import NonRigidProblem, Problem
from ..solvers.solver import single_threaded, solve
from ..solvers.variable_projection import VariableProjection
from .settings import Settings
from .verdicts import NEGLIGIBLE, singular_values

PROJECTIVE = 4  # rank of a rigid scene
DOUBTFUL = 0.1  # constraint error of a given K from which auto-calibration is tried as well
FEW_VIEWS = 4.0  # of a point, on average: with fewer a failed upgrade is no finding on the cameras
SPARSE = 0.5  # share of the entries that are seen, below which that holds
LEAST_DEPTH = 0.5  # median |X_3| below which the penalty has removed the depth; without one it is 1


@dataclass(frozen=True, eq=False)
class Projective(OneLine):
    """A low-rank solution: x = norm X_12 / X_3 of X_f = P_f U."""

    cameras: Floats  # (F, 3, K)
    homogeneous: Floats  # (K, P)
    norm: float  # of the tracks

    def reprojections(self) -> Floats:
        """Return where it projects to, (F, 2, P), in the units of the tracks; NaN where X_3 is 0."""
        return project_low_rank(self.cameras, self.homogeneous, self.norm)


@dataclass(frozen=True, eq=False)
class Geometry(OneLine):
    """Shapes S_f = sum_k B_fk C_k in an object frame and the cameras that see them."""

    B: Floats  # (F, K')
    C: Floats  # (3P, K'), rows: x of all points, then y, then z
    rotations: Floats  # (F, 3, 3)
    translations: Floats  # (F, 3)
    intrinsics: Floats  # (3, 3) from the camera frame to the units of the tracks
    affine: bool  # whether depth is not measured, so that the projection is orthogonal
    projective: Projective | None = None  # the solution of a low-rank problem
    figures: dict[str, Any] = field(default_factory=dict)  # of the upgrade, for `meta`
    flat: bool = False  # whether the penalty has removed the depth
    std: Floats | None = None  # (F, 3, P) standard deviation of the points along the axes of the camera
    refinement: dict[str, Any] | None = None  # noise, energies and ends of a refined solution, for `meta`

    @property
    def points(self) -> Floats:
        """(F, 3, P) shapes in the object frame."""
        return shapes_of_factors(self.B, self.C)

    @property
    def depth_point(self) -> DepthPoint:
        """The shapes and rotations of a refined solution as unknowns of its energy."""
        Y = self.rotations @ self.points + self.translations[:, :, None]
        return DepthPoint.of_shapes(Y, self.rotations, affine=self.affine)


def shapes_of_factors(B: Floats, C: Floats) -> Floats:
    """Return (F, 3, P) shapes of factors, the same to the last digit by any number of threads."""
    with single_threaded():
        product: Floats = B @ C.T
    return product.reshape(len(B), 3, -1)


def geometry_of(
    problem: Problem, factors: Factors, intrinsics: Floats, calibration: Floats | None = None
) -> Geometry:
    """Return the geometry of a point.

    `intrinsics` (3, 3) undo the calibration of the tracks; of a low-rank problem they are diag(norm, norm,
    1), and `calibration` is the K (3, 3) of the views, where it is known.
    """
    if isinstance(problem, LowRankProblem):
        return _of_low_rank(problem, factors, float(intrinsics[0, 0]), calibration)
    assert isinstance(problem, NonRigidProblem)  # there are two kinds
    t = np.einsum("fab,fb->fa", problem.rotations, factors.s)
    if problem.affine:
        t[:, 2] = 0.0  # it is not measured
    C = factors.C.reshape(factors.rank, -1).T
    return Geometry(factors.B, C, problem.rotations, t, intrinsics, problem.affine)


def refined_geometry(step: DepthStep, intrinsics: Floats, settings: Settings, noise: float) -> Geometry:
    """Return the geometry of the best point of a refinement: every frame is a basis shape of its own.

    `intrinsics` (3, 3) undo the calibration of the tracks, in whose units the refinement expects `noise`.
    """
    best = step.best
    Y, R = best.camera_points(), best.rotations
    t = Y.mean(axis=2)
    S = R.transpose(0, 2, 1) @ (Y - t[:, :, None])
    if best.affine:
        t[:, 2] = 0.0  # it is not measured
    refinement = {
        "noise_px": noise,
        "isometry": settings.isometry,
        "length_share": step.length_share,
        "lengths": step.level and {name: getattr(step.level, name) for name in LENGTHS},
        "neighbors": settings.neighbors,
        "smallest_movement": settings.smallest_movement,
        "mode_weights": list(settings.mode_weights),
        "energy": step.best_energy,
        "ends": [
            {"name": end.name, "excess": end.excess, "distance": _distance(end.point, best)}
            for end in step.ends
        ],
    }
    C = S.reshape(len(Y), -1).T
    return Geometry(np.eye(len(Y)), C, R, t, intrinsics, best.affine, refinement=refinement)


def mean_and_modes(points: Floats) -> tuple[Floats, Floats]:
    """Return B (F, K) and C (3P, K) of shapes (F, 3, P): their mean, then the modes of the deviations.

    K is 1 + min(F - 1, 3P). Both factors of a mode have the norm sqrt(sigma), as balanced factors do.
    """
    frames = len(points)
    S = points.reshape(frames, -1)
    mean = S.mean(axis=0)
    U, sigma, Vt = np.linalg.svd(S - mean, full_matrices=False)
    count, root = min(frames - 1, len(mean)), np.sqrt(sigma)
    B = np.column_stack((np.ones(frames), (U * root)[:, :count]))
    return B, np.column_stack((mean, (Vt.T * root)[:, :count]))


def _distance(one: DepthPoint, other: DepthPoint) -> float:
    """Return how far shapes are apart, relative to the size of the other ones."""
    points, others = one.camera_points(), other.camera_points()
    return 0.0 if one is other else relative_distance(points, others, mirrors=one.affine)


def _of_low_rank(
    problem: LowRankProblem, factors: Factors, norm: float, calibration: Floats | None
) -> Geometry:
    factors = balance(factors)  # leading ones first
    cameras, homogeneous = problem.cameras(factors), problem.homogeneous(factors)
    frames = len(cameras)
    X = cameras @ homogeneous
    seen = problem.visible
    figures: dict[str, Any] = {
        "projective_rms": norm * reprojection_rms(X, problem.tracks, seen),
        "metric": False,
    }
    depth = float(np.median(np.abs(X[:, 2][seen])))
    found = None
    if factors.rank < PROJECTIVE:
        figures["reason"] = f"the rank is {factors.rank}; a metric upgrade needs {PROJECTIVE}"
    elif depth < LEAST_DEPTH:
        value = f"(the median third coordinate is {depth:.2g}, where it should be about 1)"
        figures["reason"] = (
            f"the penalty has removed the depth {value}: lower mu, or leave the first four singular values "
            "free (tnn, ramp)"
            if problem.slopes(factors)[:PROJECTIVE].any()
            else f"the solution has no depth {value}: raise eta, whose term keeps it from shrinking to zero"
        )
    else:
        found = _try_upgrade(problem, cameras, homogeneous, norm, calibration, figures)
    scale = np.diag([norm, norm, 1.0])
    solved = Projective(cameras, homogeneous, norm)
    if found is None:
        B = cameras.reshape(frames, -1)  # coefficients P_f,ck of e_c u_k'
        C = _along_axes(homogeneous)
        still = np.broadcast_to(np.eye(3), (frames, 3, 3))
        flat = depth < LEAST_DEPTH
        return Geometry(B, C, still, np.zeros((frames, 3)), scale, False, solved, figures, flat)
    B, C = _deforming_basis(found, scale @ cameras, homogeneous)
    R, t, K = found.rotations, found.translations, found.intrinsics
    geometry = Geometry(B, C, R, t, K, False, solved, figures)
    Y = R @ geometry.points + t[:, :, None]
    figures["metric_rms"] = reprojection_rms(K @ Y, norm * problem.tracks, seen)
    return geometry


def _sparse_reason(visible: Bools, rms: float) -> str:
    """Return why sparse tracks have no upgrade: their solution may be wrong; empty where enough is seen."""
    views, each = len(visible), float(visible.sum() / visible.any(axis=0).sum())
    if each >= FEW_VIEWS or visible.mean() >= SPARSE:
        return ""
    return (
        f"no metric upgrade: the tracks are sparse (a point is seen in {each:.1f} of {views} views on "
        f"average, {visible.mean():.0%} of all entries), and the solution, which fits to {rms:.3g} in the "
        "units of the tracks, may be of a wrong minimum or too uncertain; track the points through more "
        "views, or raise starts"
    )


def _try_upgrade(
    problem: LowRankProblem,
    cameras: Floats,
    homogeneous: Floats,
    norm: float,
    calibration: Floats | None,
    figures: dict[str, Any],
) -> MetricUpgrade | None:
    """Upgrade the leading four, with K where it is known and fits, else also by auto-calibration."""
    P = np.diag([norm, norm, 1.0]) @ cameras[:, :, :PROJECTIVE]
    tracks, visible = norm * problem.tracks, problem.visible
    found: list[MetricUpgrade] = []
    reasons: dict[str, str] = {}
    for K in (calibration, None) if calibration is not None else (None,):
        try:
            one = metric_upgrade(P, homogeneous[:PROJECTIVE], tracks=tracks, visible=visible, intrinsics=K)
        except InputError as error:
            reasons["K unknown" if K is None else "K as given"] = str(error)
            continue
        found.append(one)
        if one.constraint_rms < DOUBTFUL:
            break
    if len(reasons) == 2 and len(set(reasons.values())) == 1:  # of the solution, whatever K
        figures["reason"] = reasons["K unknown"]
    elif reasons:
        figures["reason"] = "; ".join(f"{about}: {words}" for about, words in reasons.items())
    if not found:
        figures["reason"] = _sparse_reason(visible, figures["projective_rms"]) or figures["reason"]
        return None
    best = min(found, key=lambda one: one.metric_rms)
    figures |= {
        "metric": True,
        "assumed": best.assumed,
        "constraint_rms": best.constraint_rms,
        "in_front": best.in_front,
        "intrinsics": best.intrinsics.tolist(),
    }
    return best


def _deforming_basis(found: MetricUpgrade, P: Floats, U: Floats) -> tuple[Floats, Floats]:
    """Return B (F, 1 + 3 (K - 4)) and C (3P, the same) of the shapes in the upgraded frame."""
    B, C = np.ones((len(P), 1)), found.points.reshape(-1, 1)
    if len(U) == PROJECTIVE:
        return B, C
    normalized = np.linalg.inv(found.intrinsics) @ P
    leading = normalized[:, :, :PROJECTIVE] @ found.upgrade
    size = np.einsum("fab,fab->f", found.rotations, leading[:, :, :3]) / 3.0
    w = np.linalg.solve(found.upgrade, U[:PROJECTIVE])[3]
    turned = found.rotations.transpose(0, 2, 1) @ normalized[:, :, PROJECTIVE:] / size[:, None, None]
    placed = found.points.any(axis=0)  # the others are at the origin, and stay there
    moved = np.divide(U[PROJECTIVE:], w, out=np.zeros_like(U[PROJECTIVE:]), where=placed)
    B = np.concatenate((B, turned.reshape(len(P), -1)), axis=1)
    return B, np.concatenate((C, _along_axes(moved)), axis=1)


def _along_axes(U: Floats) -> Floats:
    """Return the basis shapes e_c u_k', (3P, 3K), of numbers (K, P)."""
    shapes: Floats = np.einsum("cd,kp->cpdk", np.eye(3), U)
    return shapes.reshape(3 * U.shape[1], -1)


# -- metric view ---------------------------------------------------------------------------------------------

ETAS = (0.01, 2e-3, 5e-4)
FOLLOWED = VariableProjection(tolerance=1e-6, max_iterations=20, damping=1e-6)
MOST = 1_000_000  # frames times points, above which the view is not adjusted
GOOD = 2.0  # times the projective error, or that under a free focal length: up to there a given K is kept
STEPS = 25  # of the adjustment


def metric_view(
    problem: LowRankProblem, factors: Factors, intrinsics: Floats, calibration: Floats | None
) -> Geometry:
    """Return the geometry of a solution, adjusted where it is rigid and becomes metric.

    It is rigid where four singular values are not zero, whatever the rank. The matrices are as in
    `geometry_of`.
    """
    seen = geometry_of(problem, factors, intrinsics, calibration)
    sigma = singular_values(factors)
    rigid = np.count_nonzero(sigma > NEGLIGIBLE * sigma[0]) == PROJECTIVE
    if not rigid or seen.flat or problem.visible.size > MOST:
        return seen
    leading = balance(factors)
    leading = Factors(leading.B[:, :PROJECTIVE], leading.C[:PROJECTIVE], leading.s)
    cameras, homogeneous = _follow_to_small_eta(problem, leading)
    P, visible = intrinsics @ cameras, problem.visible
    tracks = intrinsics[0, 0] * problem.tracks
    limit = GOOD * reprojection_rms(P @ homogeneous, tracks, visible)
    found: list[tuple[float, Bundle, str, float]] = []
    for K in (calibration, None) if calibration is not None else (None,):
        try:
            upgrade = metric_upgrade(P, homogeneous, tracks=tracks, visible=visible, intrinsics=K)
        except InputError:
            continue  # the figures of `geometry_of` hold the reason
        end = adjust_bundle(upgrade, tracks, visible, focal_free=K is None, max_iterations=STEPS)
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
