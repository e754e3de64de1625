r"""The metric upgrade of a projective reconstruction, with known calibration or auto-calibration.

Given cameras P_f (3 x 4) and homogeneous points U (4 x N) with x_fj ~ P_f U_j, of which P_f Q and Q^-1 U are
equivalent for any 4x4 matrix Q, this module finds the Q for which

    K^-1 P_f Q = s_f [R_f t_f],    x_fj ~ K (R_f S_j + t_f).

Its first three columns come from the dual absolute quadric (`core.cameras.absolute_quadric`), the last one
places the origin at the centroid of the points.  The sign of s_f makes R_f a rotation; the sign of the three
columns, which mirrors the scene, is the one that has more points in front of their cameras.  The object frame
has the axes of the first camera, and the points' root mean square distance from the centroid is 1 (but for
points that are far off).  A point that is visible in no view, or at infinity, is placed at
the origin.

Where K is unknown it is taken as diag(f, f, 1) about the middle of the tracks, with one f for all views.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.sequence import checked_intrinsics
from ..foundation.exceptions import InputError
from ..foundation.linalg import nearest_rotation
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, read_only
from .absolute_quadric import QuadricRoot, solve_quadric
from .bundle_adjustment import Bundle
from .calibration import camera_matrix

LEAST_VIEWS = 3
LEAST_POINTS = 5
LEAST_SIZE = 1e-7  # of the fourth singular value of cameras and of points, relative to the first
LEAST_PERSPECTIVE = 1e-4  # second over first singular value of the depths: below, the cameras are affine
LEAST_CONDITIONING = 1e-6  # of the calibration constraints: below, the motion does not determine the upgrade
MOST_UNCERTAIN = 0.5
MOST_INCONSISTENT = 0.3  # root mean square of the constraints: beyond, they do not hold at all
LEAST_PARALLAX = 1.5  # least factor by which a common place of all cameras raises the reprojection error
LEAST_IN_FRONT = 0.8


@dataclass(frozen=True, eq=False)
class MetricUpgrade(Bundle, OneLine):
    """A metric reconstruction, up to a similarity of the object frame, and how it was found."""

    upgrade: Floats  # (4, 4) Q: K^-1 P Q ~ [R t], and the points are Q^-1 U
    assumed: str  # where K is from, in words
    constraint_rms: float  # of the entries of M M' / (tr(M M') / 3) - I, M the three columns of a camera
    in_front: float  # share of the visible observations whose point is in front of its camera
    metric_rms: float  # root mean square distance of tracks and reprojections, in the units of the tracks

    def __post_init__(self) -> None:
        for name in ("rotations", "translations", "points", "intrinsics", "upgrade"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def metric_upgrade(
    cameras: Floats, points: Floats, *, tracks: Floats, visible: Bools, intrinsics: Floats | None = None
) -> MetricUpgrade:
    """Upgrade cameras (F, 3, 4), in the units of the tracks, and points (4, N), each of any scale and sign.

    What was measured, (F, 2, N) and (F, N), is for reprojection errors and cheirality; K (3, 3) of all views
    may be known.
    """
    tracks = np.where(visible[:, None], tracks, 0.0)
    _check_input(cameras, points)
    rms = reprojection_rms(cameras @ points, tracks, visible)
    frame, assumed = _frame(tracks, visible, intrinsics)
    A, T, U = _condition(np.linalg.inv(frame) @ cameras, points)
    _check_perspective(A, U)
    _check_parallax(frame @ A, U, rms, tracks=tracks, visible=visible)
    found = solve_quadric(A, focal_known=intrinsics is not None)
    _check_upgrade(found)
    K = frame @ np.diag([found.focal, found.focal, 1.0])
    if intrinsics is None:
        assumed = assumed.format(K[0, 0])
    A = A / np.array([found.focal, found.focal, 1.0])[:, None]
    Q = _upgrade(A, U, found.root, visible)
    R, t = _euclidean(A @ Q)
    homogeneous = np.linalg.solve(Q, U)
    with np.errstate(divide="ignore", invalid="ignore"):
        S = homogeneous[:3] / homogeneous[3]
    S = np.where(np.isfinite(S).all(axis=0) & visible.any(axis=0), S, 0.0)
    Y = R @ S + t[:, :, None]
    in_front = float((Y[:, 2] > 0)[visible].mean())
    if not in_front >= LEAST_IN_FRONT:
        raise InputError(
            f"no metric upgrade: only {in_front:.0%} of the observations would have their point in front of "
            "the camera"
        )
    return MetricUpgrade(
        rotations=R,
        translations=t,
        points=S,
        intrinsics=K,
        upgrade=T @ Q,
        assumed=assumed,
        constraint_rms=found.rms,
        in_front=in_front,
        metric_rms=reprojection_rms(K @ Y, tracks, visible),
    )


def reprojection_rms(images: Floats, tracks: Floats, visible: Bools) -> float:
    """Return the root mean square distance of X_12 / X_3 (F, 3, N) and the visible tracks (F, 2, N)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.where(visible[:, None], images[:, :2] / images[:, 2:] - tracks, 0.0)
    return float(np.sqrt((away**2).sum() / visible.sum()))


def _check_input(P: Floats, U: Floats) -> None:
    if len(P) < LEAST_VIEWS:
        raise InputError(f"there are {len(P)} views; a metric upgrade needs at least {LEAST_VIEWS}")
    if U.shape[1] < LEAST_POINTS:
        raise InputError(f"there are {U.shape[1]} points; a metric upgrade needs at least {LEAST_POINTS}")
    if not (np.isfinite(P).all() and np.isfinite(U).all()):
        raise InputError("the projective cameras or points hold a value that is not finite")
    if not np.linalg.norm(P, axis=(1, 2)).all():
        raise InputError("a projective camera is zero; a metric upgrade needs every view")


def _frame(tracks: Floats, visible: Bools, intrinsics: Floats | None) -> tuple[Floats, str]:
    """Return K and its description; where it is unknown a matrix that divides by half the image size."""
    if intrinsics is not None:
        return checked_intrinsics(intrinsics, "intrinsics"), "K as given"
    seen = np.moveaxis(tracks, 1, 2)[visible]
    low, high = seen.min(axis=0), seen.max(axis=0)
    half = float(np.max(high - low)) / 2.0
    if not half > 0:
        raise InputError("all visible tracks coincide; a metric upgrade needs points that differ")
    x, y = 0.5 * (low + high)
    return camera_matrix(half, half, x, y), (
        "K found from the views (f = {:.0f}): square pixels, no skew, one focal length, the principal point "
        f"in the middle of the tracks, ({x:.0f}, {y:.0f})"
    )


def _condition(A: Floats, U: Floats) -> tuple[Floats, Floats, Floats]:
    """Return cameras T A_f / |.| whose stack is orthonormal up to scale, T^-1, and points of norm about 1.

    Singular values and angles of what follows then do not depend on the projective frame that was given.
    """
    size = len(A)
    A = A / np.linalg.norm(A, axis=(1, 2), keepdims=True)
    U = U / np.where(np.linalg.norm(U, axis=0) > 0, np.linalg.norm(U, axis=0), 1.0)
    T = np.eye(4)
    for _ in range(2):  # the norms of the views change with the frame, by less the second time
        left, sigma, right = np.linalg.svd(A.reshape(3 * size, 4), full_matrices=False)
        if not sigma[3] > LEAST_SIZE * sigma[0]:
            raise InputError(
                "the projective cameras have rank 3: the views are all from one place, and do not determine "
                "a metric upgrade"
            )
        A = left.reshape(size, 3, 4)
        T, U = T @ (right.T / sigma), (right * sigma[:, None]) @ U
        A = A / np.linalg.norm(A, axis=(1, 2), keepdims=True)
    sizes = np.linalg.norm(U, axis=0)
    U = U / np.where(sizes > 0, sizes, 1.0)
    sigma = np.linalg.svd(U @ U.T, compute_uv=False)
    if not sigma[3] > LEAST_SIZE**2 * sigma[0]:
        raise InputError("the projective points lie in one plane, and do not determine a metric upgrade")
    return A, T, U


def _check_perspective(A: Floats, U: Floats) -> None:
    """Refuse affine cameras: all depths of a view are then equal, but for the scale of the points."""
    root = np.linalg.cholesky(U @ U.T + 1e-30 * np.eye(4))
    depths = A[:, 2] @ root
    sizes = np.linalg.norm(depths, axis=1, keepdims=True)
    sigma = np.linalg.svd(depths / np.where(sizes > 0, sizes, 1.0), compute_uv=False)
    if not sigma[1] > LEAST_PERSPECTIVE * sigma[0]:
        raise InputError(
            "the cameras are affine (the depths of all points have the same ratios in every view): the "
            "quadric is singular, and no perspective upgrade exists"
        )


def _check_parallax(P: Floats, U: Floats, rms: float, *, tracks: Floats, visible: Bools) -> None:
    """Refuse views from one place: dropping the least direction of X then raises the error by little."""
    X = P @ U
    sizes = np.sqrt(np.mean(X**2, axis=(0, 1)))
    _, R_A = np.linalg.qr(P.reshape(-1, 4))
    _, R_U = np.linalg.qr((U / np.where(sizes > 0, sizes, 1.0)).T)
    _, _, right = np.linalg.svd(R_A @ R_U.T)
    # right' R_U'^-T U are the row space's coordinates in descending order: without the last, rank 3.
    axis = np.linalg.solve(R_U, right[3])
    flat = U - (R_U.T @ right[3])[:, None] * (axis @ U)
    if reprojection_rms(P @ flat, tracks, visible) < LEAST_PARALLAX * rms:
        raise InputError(
            "no metric upgrade: views from one place fit the tracks as well (there is no parallax beyond the "
            "errors), and their depth is not determined"
        )


def _check_upgrade(found: QuadricRoot) -> None:
    """Refuse an upgrade that is not determined, or that does not make the cameras metric."""
    if not found.rms < MOST_INCONSISTENT:
        values = np.linalg.svd(found.root, compute_uv=False)
        raise InputError(
            "no metric upgrade: no positive semidefinite quadric satisfies the calibration constraints, "
            f"which stay {found.rms:.2g} from the identity (root mean square; the smallest singular value of "
            f"the quadric's root is {values[2] / values[0]:.2g} of its largest): the cameras are nearly "
            "affine, or the intrinsics are wrong"
        )
    if found.conditioning < LEAST_CONDITIONING or found.uncertainty > MOST_UNCERTAIN:
        raise InputError(
            "no metric upgrade: the motion of the camera does not determine it (a critical motion, such as a "
            f"shift without turning where the focal length is unknown; conditioning {found.conditioning:.1e})"
        )


def _upgrade(A: Floats, U: Floats, root: Floats, visible: Bools) -> Floats:
    """Return Q (4, 4) for cameras A = s [R t] Q^-1: the sign by cheirality, then origin, turn and size."""
    infinity = np.linalg.svd(root)[0][:, 3]  # the plane at infinity, p'L = 0
    Q = np.column_stack((root, infinity))
    homogeneous = np.linalg.solve(Q, U)
    sign = np.where(homogeneous[3] < 0, -1.0, 1.0)
    M = A @ Q
    direction = np.where(np.linalg.det(M[:, :, :3]) < 0, -1.0, 1.0)
    depth = direction[:, None] * (M[:, 2] @ (homogeneous * sign))
    if (depth > 0)[visible].sum() < (depth < 0)[visible].sum():
        Q = Q * np.array([-1.0, -1.0, -1.0, 1.0])
        homogeneous[:3] *= -1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        S = homogeneous[:3] / homogeneous[3]
    S = S[:, np.isfinite(S).all(axis=0)]
    center = np.median(S, axis=1)
    reach = np.linalg.norm(S - center[:, None], axis=0)
    near = reach <= 10.0 * np.median(reach)  # a few points far off must not set the scale
    center = S[:, near].mean(axis=1)
    size = np.sqrt(np.mean(np.sum((S[:, near] - center[:, None]) ** 2, axis=0)))
    R, _ = _euclidean(A[:1] @ Q)
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = size * R[0].T, center
    product: Floats = Q @ place
    return product


def _euclidean(cameras: Floats) -> tuple[Floats, Floats]:
    """Return the rotations (F, 3, 3) and translations (F, 3) nearest to cameras s [R t], s of any sign."""
    M = cameras[:, :, :3]
    sign = np.where(np.linalg.det(M) < 0, -1.0, 1.0)
    R = nearest_rotation(sign[:, None, None] * M)
    scale = np.einsum("fab,fab->f", R, M) / 3.0
    return R, cameras[:, :, 3] / scale[:, None]
