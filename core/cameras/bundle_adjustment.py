r"""Bundle adjustment of a metric rigid reconstruction: least reprojection error, with K fixed or f free.

    min over R_f, t_f, S_j (and f) of sum |K_12 (Y_12 / Y_3) + c - x_fj|^2,    Y = R_f S_j + t_f.

Cameras and points that minimize the pOSE error do not minimize the error in the images, and the nearest
rotations add to it; both errors are small enough for a start of this minimization.  Levenberg-Marquardt on
all unknowns, the points eliminated (Triggs et al. 2000), which leaves 6 unknowns per view, and one for the
focal lengths, which share a factor.  Rotation, position and size of the scene are free; the damping makes the
step unique.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.batched_linalg import invert_batched, matmul_batched
from ..foundation.linalg import rotation_from_vector
from ..foundation.types import Bools, Floats

LEAST_VIEWS = 2  # that a point must be visible in to be adjusted
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e8


@dataclass(frozen=True, eq=False)
class Bundle:
    """Cameras x ~ K (R_f S_j + t_f) and the points that they see."""

    rotations: Floats  # (F, 3, 3)
    translations: Floats  # (F, 3)
    points: Floats  # (3, N)
    intrinsics: Floats  # (3, 3)

    def camera_points(self) -> Floats:
        """Return Y = R S + t, (F, 3, N)."""
        Y: Floats = self.rotations @ self.points + self.translations[:, :, None]
        return Y

    def residuals(self, tracks: Floats, visible: Bools) -> Floats:
        """Return reprojections less tracks, (F, 2, N), 0 where hidden."""
        Y = self.camera_points()
        with np.errstate(divide="ignore", invalid="ignore"):
            away = self.intrinsics[:2, :2] @ (Y[:, :2] / Y[:, 2:]) + self.intrinsics[:2, 2:] - tracks
        return np.where(visible[:, None], away, 0.0)

    def apply_step(self, cameras: Floats, points: Floats) -> Bundle:
        """Return the bundle after a step: (F, 6) turns and shifts, then the logarithm of f; (3, N)."""
        size = 6 * len(self.rotations)
        of_cameras = cameras[:size].reshape(-1, 6)
        K = self.intrinsics.copy()
        if len(cameras) > size:
            K[:2, :2] *= np.exp(cameras[size])
        R = rotation_from_vector(of_cameras[:, :3]) @ self.rotations
        return Bundle(R, self.translations + of_cameras[:, 3:], self.points + points, K)


def adjust_bundle(
    bundle: Bundle,
    tracks: Floats,
    visible: Bools,
    *,
    focal_free: bool = False,
    tolerance: float = 1e-7,
    max_iterations: int = 50,
) -> Bundle:
    """Return the bundle with the least sum of squared reprojection errors near a given one.

    `tracks` (F, 2, N) are in the units of K, `visible` is (F, N). Points seen in one view only do not move.
    """
    used = visible & (visible.sum(axis=0) >= LEAST_VIEWS)
    tracks = np.where(used[:, None], tracks, 0.0)
    system = _System(bundle, tracks, used, focal_free=focal_free)
    damping, growth = 1e-3, 2.0
    for _ in range(max_iterations):
        cameras, points, predicted = system.step(damping)
        if not predicted > tolerance * system.cost:
            break
        trial = bundle.apply_step(cameras, points)
        cost = _cost(trial, tracks, used)
        # A point that passes through a camera comes back from infinity on the other side.
        if cost < system.cost and _behind(trial, used) <= _behind(bundle, used):
            gain = (system.cost - cost) / predicted
            damping = max(damping * max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), LEAST_DAMPING)
            bundle, growth = trial, 2.0
            system = _System(bundle, tracks, used, focal_free=focal_free)
            continue
        damping, growth = damping * growth, growth * 2.0
        if damping > MOST_DAMPING:
            break
    return bundle


def _cost(bundle: Bundle, tracks: Floats, used: Bools) -> float:
    r = bundle.residuals(tracks, used)
    cost = float(np.vdot(r, r))
    return cost if np.isfinite(cost) else np.inf


def _behind(bundle: Bundle, used: Bools) -> int:
    return int((bundle.camera_points()[:, 2] <= 0)[used].sum())


class _System:
    """The normal equations at one bundle: blocks of the cameras, of the points, and their coupling.

    Arrays end with the index of the point, so that sums over few other indices run over long vectors.
    """

    def __init__(self, bundle: Bundle, tracks: Floats, used: Bools, *, focal_free: bool) -> None:
        frames, points = used.shape
        r = bundle.residuals(tracks, used)
        self.cost = float(np.vdot(r, r))
        of_camera, of_point, of_focal = _derivatives(bundle, used)
        size = 6 * frames
        count = size + focal_free
        flat = np.ascontiguousarray(of_camera.transpose(0, 2, 1, 3)).reshape(frames, 6, -1)
        self.A = np.zeros((count, count))
        index = np.arange(frames)
        self.A[:size, :size].reshape(frames, 6, frames, 6)[index, :, index] = flat @ flat.transpose(0, 2, 1)
        self.V = np.empty((3, 3, points))
        self.W = np.empty((count, 3, points))
        self.h = np.empty((3, points))
        in_pairs = self.W[:size].reshape(frames, 6, 3, points)
        for k in range(3):
            for i in range(3):
                self.V[i, k] = np.sum(of_point[:, :, i] * of_point[:, :, k], axis=(0, 1))
            np.sum(of_camera * of_point[:, :, None, k], axis=1, out=in_pairs[:, :, k])
            self.h[k] = np.sum(of_point[:, :, k] * r, axis=(0, 1))
            if focal_free:
                self.W[size, k] = np.sum(of_point[:, :, k] * of_focal, axis=(0, 1))
        self.V[:, :, ~used.any(axis=0)] = np.eye(3)[:, :, None]
        self.g = np.zeros(count)
        self.g[:size] = (flat @ r.reshape(frames, -1, 1)).ravel()
        if focal_free:
            self.A[size, :size] = self.A[:size, size] = (flat @ of_focal.reshape(frames, -1, 1)).ravel()
            self.A[size, size] = np.vdot(of_focal, of_focal)
            self.g[size] = np.vdot(of_focal, r)

    def step(self, damping: float) -> tuple[Floats, Floats, float]:
        """Return the step of the cameras, that of the points (3, N), and the decrease that it promises."""
        of_A, of_V = np.diag(self.A), np.stack([self.V[i, i] for i in range(3)])
        V = self.V.copy()
        for i in range(3):
            V[i, i] += damping * of_V[i]
        inverse = invert_batched(V)
        count = len(self.A)
        WV = np.stack([np.sum(self.W * inverse[:, k], axis=1) for k in range(3)], axis=1)
        reduced = self.A + np.diag(damping * of_A) - WV.reshape(count, -1) @ self.W.reshape(count, -1).T
        cameras = np.linalg.solve(reduced, WV.reshape(count, -1) @ self.h.ravel() - self.g)
        right = self.h + (cameras @ self.W.reshape(count, -1)).reshape(3, -1)
        points = -matmul_batched(inverse, right)
        scaled = damping * float(of_A @ cameras**2 + np.vdot(of_V, points**2))
        return cameras, points, scaled - float(self.g @ cameras) - float(np.vdot(self.h, points))


def _derivatives(bundle: Bundle, used: Bools) -> tuple[Floats, Floats, Floats]:
    """Return those of the pictures in turn and shift (F, 2, 6, N), in S (F, 2, 3, N), in log f (F, 2, N)."""
    frames, points = used.shape
    R, K = bundle.rotations, bundle.intrinsics[:2, :2]
    turned = R @ bundle.points
    Y = turned + bundle.translations[:, :, None]
    inverse = np.where(used, 1.0 / np.where(used, Y[:, 2], 1.0), 0.0)
    flat = K @ (Y[:, :2] * inverse[:, None])  # pictures less the principal point, 0 where hidden
    of_camera = np.empty((frames, 2, 6, points))
    of_Y = of_camera[:, :, 3:]
    of_Y[:, :, :2] = K[:, :, None] * inverse[:, None, None]
    of_Y[:, :, 2] = -flat * inverse[:, None]
    # d(exp[w]x R S) = w x R S: the cross product of R S with the derivative in Y.
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        of_camera[:, :, i] = turned[:, None, j] * of_Y[:, :, k] - turned[:, None, k] * of_Y[:, :, j]
    of_point = np.ascontiguousarray(R.transpose(0, 2, 1)[:, None] @ of_Y)
    return of_camera, of_point, flat
