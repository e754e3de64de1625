"""From the units of a sequence's tracks to calibrated observations, and back.

    perspective    m = K^-1 (x, y, 1), so that m = Y_12 / Y_3 in the camera frame
    orthogonal     m = (x - c) / s with K = [[s, 0, c_x], [0, s, c_y], [0, 0, 1]]

The s and c of an orthogonal sequence have no physical meaning.  c is the mean of all visible tracks, and s
makes their root mean square distance from the mean of their frame 0.25, about that
of a perspective image which an object fills, so that the weights of a penalty have about the same effect for
both camera models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.sequence import CameraModel
from ..foundation.exceptions import InputError

if TYPE_CHECKING:
    from ..data.sequence import Observations
    from ..foundation.types import Bools, Floats

SAME = 1e-12  # spread of points that coincide, relative to their coordinates
ORTHOGONAL_SPREAD = 0.25  # root mean square distance of calibrated tracks from their frame's mean


def calibrate(observations: Observations, intrinsics: Floats, camera: CameraModel) -> Floats:
    """Return the calibrated tracks, (F, 2, P); hidden entries without a value stay NaN.

    Raises
    ------
    InputError
        where K is not an upper triangular matrix with positive focal lengths.
    """
    K = checked_intrinsics(intrinsics)
    if camera is CameraModel.ORTHOGONAL and K[0, 1] != 0:
        raise InputError(f"K of an orthogonal camera has skew {K[0, 1]:g}; accepted is 0")
    return from_pixels(observations.tracks, K)


def from_pixels(pixels: Floats, intrinsics: Floats) -> Floats:
    """Return points in the units of the tracks (F, 2, P) as calibrated ones: the inverse of `to_pixels`."""
    calibrated: Floats = np.linalg.inv(intrinsics[:2, :2]) @ (pixels - intrinsics[:2, 2:])
    return calibrated


def to_pixels(calibrated: Floats, intrinsics: Floats) -> Floats:
    """Return calibrated points (F, 2, P) in the units of the tracks: the inverse of `calibrate`."""
    pixels: Floats = intrinsics[:2, :2] @ calibrated + intrinsics[:2, 2:]
    return pixels


def project(points: Floats, intrinsics: Floats, camera: CameraModel) -> Floats:
    """Return where points in the camera frame (F, 3, P) are seen, (F, 2, P), in the units of the tracks.

    A point at depth 0 of a perspective camera is NaN.
    """
    flat = points[:, :2]
    if camera is CameraModel.PERSPECTIVE:
        depth = points[:, 2:]
        flat = flat / np.where(depth == 0, np.nan, depth)
    return to_pixels(flat, intrinsics)


def project_low_rank(cameras: Floats, homogeneous: Floats, norm: float) -> Floats:
    """Return norm X_12 / X_3 of X_f = P_f U, (F, 2, P), for P (F, 3, K) and U (K, P); NaN where X_3 is 0."""
    X = cameras @ homogeneous
    depth = X[:, 2:]
    images: Floats = norm * X[:, :2] / np.where(depth == 0, np.nan, depth)
    return images


def orthogonal_intrinsics(observations: Observations) -> Floats:
    """Return the affine normalization (3, 3) of an orthogonal sequence (see the module).

    Raises
    ------
    InputError
        where all visible tracks coincide.
    """
    seen = observations.visible[:, None]
    size = spread(observations.tracks, observations.visible) / ORTHOGONAL_SPREAD
    center = np.where(seen, observations.tracks, 0.0).sum(axis=(0, 2)) / seen.sum()
    return np.array([[size, 0.0, center[0]], [0.0, size, center[1]], [0.0, 0.0, 1.0]])


def spread(tracks: Floats, visible: Bools) -> float:
    """Return the root mean square distance of the visible tracks (F, 2, P) from the mean of their frame.

    Raises
    ------
    InputError
        where all visible tracks of every frame coincide, but for rounding.
    """
    seen = visible[:, None]
    tracks = np.where(seen, tracks, 0.0)
    means = tracks.sum(axis=2, keepdims=True) / seen.sum(axis=2, keepdims=True)
    away = np.where(seen, tracks - means, 0.0)
    size = float(np.sqrt((away**2).sum() / seen.sum()))
    if not size > SAME * float(np.abs(tracks).max()):
        raise InputError("all visible tracks of every frame coincide; a sequence needs points that differ")
    return size


def checked_intrinsics(intrinsics: Floats, name: str = "K") -> Floats:
    """Return K divided by its last entry.

    Raises
    ------
    InputError
        where it is not a finite upper triangular 3x3 matrix with positive focal lengths.
    """
    K = np.asarray(intrinsics, dtype=float)
    if K.shape != (3, 3):
        raise InputError(f"{name} has shape {K.shape}; accepted is (3, 3)")
    if not np.isfinite(K).all():
        raise InputError(f"{name} holds a value that is not finite; accepted are finite numbers")
    if K[2, 2] == 0 or (K[[1, 2, 2], [0, 0, 1]] != 0).any():
        raise InputError(
            f"{name} is {K.tolist()}; accepted is [[fx, skew, cx], [0, fy, cy], [0, 0, 1]] with zeros there"
        )
    K = np.asarray(K / K[2, 2])
    if not (K[0, 0] > 0 and K[1, 1] > 0):
        raise InputError(f"{name} has focal lengths {K[0, 0]:g} and {K[1, 1]:g}; both must be positive")
    return K
