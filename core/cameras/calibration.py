"""Calibration: the intrinsics K of a camera, estimated, read or given, and the tracks calibrated with it.

    perspective    m = K^-1 (x, y, 1), so that m = Y_12 / Y_3 in the camera frame
    orthogonal     m = (x - c) / s with K = [[s, 0, c_x], [0, s, c_y], [0, 0, 1]]

The s and c of an orthogonal sequence have no physical meaning.  c is the mean of all visible tracks, and s
makes their root mean square distance from the mean of their frame 0.25, about that of a perspective image
which an object fills, so that the weights of a penalty have about the same effect for both camera models.

The K of a perspective camera is estimated from one frame whose 3-D shape is known.  Each pair of a point X
and its picture x gives two equations that are linear in the 3x4 camera P, x ~ P (X, 1).  The direct linear
transform solves them after both point sets are normalized (Hartley & Zisserman, Multiple View Geometry,
algorithm 7.1); RQ splits P = K [R t]; the sum of squared reprojection errors is then minimized over
(f_x, f_y, c_x, c_y), R and t, with the skew held at 0.  Coplanar points leave a family of cameras, and nearly
coplanar ones a long valley.  The first are refused before the fit, the second after it, where the standard
deviation that the residuals leave to the focal lengths is that of a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..data.sequence import LARGEST_COORDINATE, CameraModel, Observations, checked_intrinsics
from ..foundation.exceptions import InputError
from ..foundation.linalg import cross_matrix, levenberg_marquardt, rotation_from_vector, rq
from ..foundation.parameters import chosen_of
from ..foundation.types import Bools, Floats, read_only
from ..io.files.contents import is_zip, load_arrays, parse_matrix, read_bytes
from ..io.files.variables import describe

SAME = 1e-12  # spread of points that coincide, relative to their coordinates
ORTHOGONAL_SPREAD = 0.25  # root mean square distance of calibrated tracks from their frame's mean


def calibrate(observations: Observations, intrinsics: Floats, camera: CameraModel | str) -> Floats:
    """Return the calibrated tracks, (F, 2, P); hidden entries without a value stay NaN.

    Parameters
    ----------
    observations
        tracks in the units of the sequence.
    intrinsics
        (3, 3) K.
    camera
        the camera model, or its name; K of an orthogonal camera has no skew.

    Returns
    -------
    Floats
        (F, 2, P) m of equation 5.1: K^-1 (x, y, 1) without its last entry.

    Raises
    ------
    InputError
        where K is not an upper triangular matrix with positive focal lengths, or there is no such camera.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> core.calibrate(sequence.observations, sequence.intrinsics, sequence.camera).shape
    (12, 2, 20)
    """
    K = checked_intrinsics(intrinsics)
    if chosen_of(CameraModel, "camera", camera) is CameraModel.ORTHOGONAL and K[0, 1] != 0:
        raise InputError(f"K of an orthogonal camera has skew {K[0, 1]:g}; accepted is 0")
    with np.errstate(over="ignore"):
        calibrated = from_pixels(observations.tracks, K)
    seen = calibrated.transpose(0, 2, 1)[observations.visible]
    if not (np.abs(seen) <= LARGEST_COORDINATE).all():
        raise InputError(
            f"K, with focal lengths {K[0, 0]:g} and {K[1, 1]:g}, turns the tracks into coordinates above "
            f"{LARGEST_COORDINATE:g}; accepted is the K of the camera that saw them"
        )
    return calibrated


def camera_matrix(fx: float, fy: float, cx: float, cy: float) -> Floats:
    """Return K (3, 3) without skew."""
    return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])


def from_pixels(pixels: Floats, intrinsics: Floats) -> Floats:
    """Return points in the units of the tracks (F, 2, P) as calibrated ones: the inverse of `to_pixels`."""
    calibrated: Floats = np.linalg.inv(intrinsics[:2, :2]) @ (pixels - intrinsics[:2, 2:])
    return calibrated


def to_pixels(calibrated: Floats, intrinsics: Floats) -> Floats:
    """Return calibrated points (F, 2, P) in the units of the tracks: the inverse of `calibrate`."""
    pixels: Floats = intrinsics[:2, :2] @ calibrated + intrinsics[:2, 2:]
    return pixels


def project(points: Floats, intrinsics: Floats, camera: CameraModel) -> Floats:
    """Return where points (F, 3, P) of the camera frame are seen, in the tracks' units; NaN at depth 0."""
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
    """Return the affine normalization (3, 3) of an orthogonal sequence (see the module)."""
    seen = observations.visible[:, None]
    size = spread(observations.tracks, observations.visible) / ORTHOGONAL_SPREAD
    center = np.where(seen, observations.tracks, 0.0).sum(axis=(0, 2)) / seen.sum()
    return camera_matrix(size, size, *center)


def spread(tracks: Floats, visible: Bools) -> float:
    """Return the root mean square distance of the visible tracks (F, 2, P) from the mean of their frame."""
    seen = visible[:, None]
    tracks = np.where(seen, tracks, 0.0)
    means = tracks.sum(axis=2, keepdims=True) / seen.sum(axis=2, keepdims=True)
    away = np.where(seen, tracks - means, 0.0)
    size = float(np.sqrt((away**2).sum() / seen.sum()))
    if not size > SAME * float(np.abs(tracks).max()):
        raise InputError("all visible tracks of every frame coincide; a sequence needs points that differ")
    return size


# -- intrinsics ----------------------------------------------------------------------------------------------

LEAST_POINTS = 6
LEAST_THICKNESS = 5e-3  # smallest over largest singular value of the centered points
LEAST_SIZE = 1e-100  # and the smallest, whose square is a number
MOST_UNCERTAIN = 0.15  # largest accepted standard deviation of a focal length, relative: a guess is as good
SQUAREST = 3.0  # largest accepted ratio of the focal lengths, either way
FARTHEST = 10.0  # largest accepted distance of the principal point from the tracks, in extents of the tracks
IN_A_FILE = "accepted are a text of 3 x 3 numbers or of fx fy cx cy, or an .npz with K (3, 3)"
ADVICE = "give the intrinsics as fx,fy,cx,cy or in a file"
LONGEST = 1e3  # largest accepted focal length, in extents of the tracks: beyond, the view is affine


@dataclass(frozen=True, eq=False)
class Intrinsics:
    """An estimated camera and how well it fits."""

    K: Floats  # (3, 3), skew 0
    rotation: Floats  # (3, 3) of the frame: x ~ K (R X + t); a reflection where X is a mirror image
    translation: Floats  # (3,) in the units of the points
    rms: float  # root mean square reprojection error, in the units of the tracks
    uncertainty: float  # relative standard deviation of the focal lengths, the larger one

    def __post_init__(self) -> None:
        for name in ("K", "rotation", "translation"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def estimate_intrinsics(points: Floats, tracks: Floats, visible: Bools) -> Intrinsics:
    """Estimate K from the points (3, P) of one frame and their picture (2, P), where seen and finite."""
    used = visible & np.isfinite(points).all(axis=0) & np.isfinite(tracks).all(axis=0)
    X, x = np.asarray(points, dtype=float)[:, used], np.asarray(tracks, dtype=float)[:, used]
    if X.shape[1] < LEAST_POINTS:
        raise InputError(
            f"the ground-truth frame has {X.shape[1]} points that are seen and known in 3-D; estimating the "
            f"intrinsics needs at least {LEAST_POINTS}"
        )
    sizes = np.linalg.svd(X - X.mean(axis=1, keepdims=True), compute_uv=False)
    if not sizes[2] > max(LEAST_THICKNESS * sizes[0], LEAST_SIZE):
        raise InputError(
            "the points of the ground-truth frame that are seen are planar, or nearly so, and do not "
            f"determine the intrinsics; {ADVICE}"
        )
    spread(x[None], np.ones((1, x.shape[1]), dtype=np.bool_))  # refuses tracks that coincide
    estimate = _refine(X, x, *_resection(X, x))
    _check(estimate, X, x)
    return estimate


def _normalization(points: Floats) -> Floats:
    """Return the (n+1, n+1) transform to mean 0 and root mean square distance sqrt(n)."""
    size = len(points)
    center = points.mean(axis=1)
    spread = np.sqrt(np.mean(np.sum((points - center[:, None]) ** 2, axis=0)) / size)
    transform = np.eye(size + 1)
    transform[:size, :size] /= spread
    transform[:size, size] = -center / spread
    return transform


def _resection(X: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return K, R, t of the direct linear transform, the skew dropped."""
    ones = np.ones((1, X.shape[1]))
    of_X, of_x = _normalization(X), _normalization(x)
    U = of_X @ np.concatenate((X, ones))
    u = of_x @ np.concatenate((x, ones))
    zero = np.zeros_like(U)
    rows = np.concatenate(
        (np.concatenate((U, zero, -u[0] * U)), np.concatenate((zero, U, -u[1] * U))), axis=1
    )  # (12, 2P)
    vectors, _, _ = np.linalg.svd(rows, full_matrices=False)
    P = np.linalg.inv(of_x) @ vectors[:, 11].reshape(3, 4) @ of_X
    if np.median(P[2] @ np.concatenate((X, ones))) < 0:
        P = -P
    K, R = rq(P[:, :3])
    t = np.linalg.solve(K, P[:, 3])
    K = K / K[2, 2]
    K[0, 1] = 0.0
    return K, R, t


def _refine(X: Floats, x: Floats, K: Floats, R: Floats, t: Floats) -> Intrinsics:
    """Minimize the reprojection error over fx, fy, cx, cy, a turn of R, and t."""

    def residuals(z: Floats) -> tuple[Floats, Floats]:
        turned = rotation_from_vector(z[4:7]) @ RX
        Y = turned + z[7:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            m = Y[:2] / Y[2]
            r = z[:2, None] * m + z[2:4, None] - x
        of_Y = np.zeros((count, 2, 3))  # derivative of the picture in Y
        of_Y[:, 0, 0], of_Y[:, 1, 1] = z[0] / Y[2], z[1] / Y[2]
        of_Y[:, :, 2] = -(z[:2, None] * m / Y[2]).T
        J = np.zeros((count, 2, 10))
        J[:, [0, 1], [0, 1]] = m.T
        J[:, [0, 1], [2, 3]] = 1.0
        J[:, :, 4:7] = of_Y @ -cross_matrix(turned.T) @ _left_jacobian(z[4:7])
        J[:, :, 7:] = of_Y
        return r.T.ravel(), J.reshape(2 * count, 10)

    count = X.shape[1]
    RX = R @ X
    start = np.concatenate(([K[0, 0], K[1, 1], K[0, 2], K[1, 2]], np.zeros(3), t))
    best = levenberg_marquardt(residuals, start, tolerance=1e-20, max_iterations=300)
    fx, fy, cx, cy = best.x[:4]
    _, J = residuals(best.x)
    deviation = np.sqrt(np.diag(np.linalg.pinv(J.T @ J))[:2] * best.cost / (2 * count - 10))
    return Intrinsics(
        camera_matrix(fx, fy, cx, cy),
        rotation_from_vector(best.x[4:7]) @ R,
        best.x[7:],
        float(np.sqrt(best.cost / count)),
        float(np.max(deviation / np.abs([fx, fy]))),
    )


def _left_jacobian(vector: Floats) -> Floats:
    """Return J with d(exp[v]x u) = -[exp[v]x u]x J dv."""
    angle = float(np.linalg.norm(vector))
    cross = cross_matrix(vector)
    if angle < 1e-4:
        return np.asarray(np.eye(3) + 0.5 * cross + cross @ cross / 6.0)
    once, twice = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.asarray(np.eye(3) + once * cross + twice * cross @ cross)


def _check(estimate: Intrinsics, X: Floats, x: Floats) -> None:
    """Refuse what is no camera, or too uncertain to be used as one."""
    K = estimate.K
    fx, fy, center = K[0, 0], K[1, 1], K[:2, 2]
    depth = (estimate.rotation @ X)[2] + estimate.translation[2]
    extent = float(np.linalg.norm(np.ptp(x, axis=1)))
    away = float(np.linalg.norm(center - x.mean(axis=1)))
    found = f"estimated intrinsics are fx {fx:.4g}, fy {fy:.4g}, cx {center[0]:.4g}, cy {center[1]:.4g}"
    if not (np.isfinite(K).all() and fx > 0 and fy > 0 and (depth > 0).all()):
        raise InputError(f"{found}, with points behind the camera; {ADVICE}")
    if not 1.0 / SQUAREST < fx / fy < SQUAREST:
        raise InputError(f"{found}: the focal lengths differ more than {SQUAREST:g}-fold; {ADVICE}")
    if max(fx, fy) > LONGEST * extent or away > FARTHEST * extent:
        raise InputError(
            f"{found}, too large for tracks of extent {extent:.4g}: the view has almost no perspective; "
            f"{ADVICE}"
        )
    if not estimate.uncertainty < MOST_UNCERTAIN:
        raise InputError(
            f"{found}, with a relative standard deviation of {estimate.uncertainty:.0%}: the points of the "
            f"ground-truth frame are too few or too flat; {ADVICE}"
        )


def load_intrinsics(path: Path) -> Floats:
    """Return K (3, 3) from an .npz with `K`, or from a text of 3x3 numbers or of fx fy cx cy."""
    content = read_bytes(path)
    if is_zip(content) or path.suffix.lower() == ".npz":
        arrays = load_arrays(content, path)
        if "K" not in arrays or arrays["K"].dtype.kind not in "fiu":
            raise InputError(
                f"{path}: accepted is an array K (3, 3) of numbers; the file holds {describe(arrays)}"
            )
        return checked_intrinsics(arrays["K"], f"{path}: K")
    if b"\0" in content:  # a .npy, a .mat, a picture
        raise InputError(f"{path}: is neither text nor an .npz file; {IN_A_FILE}")
    try:
        numbers = parse_matrix(content.replace(b",", b" "), path)
    except InputError as error:
        raise InputError(f"{error}; {IN_A_FILE}") from error
    if numbers.size == 4:
        return from_four(numbers.ravel(), f"{path}: K")
    if numbers.shape == (3, 3):
        return checked_intrinsics(numbers, f"{path}: K")
    raise InputError(f"{path}: holds {numbers.shape[0]} x {numbers.shape[1]} numbers; {IN_A_FILE}")


def from_four(numbers: Floats, name: str) -> Floats:
    """Return K (3, 3) of fx, fy, cx, cy; `name` is said where it is refused."""
    return checked_intrinsics(camera_matrix(*map(float, numbers)), name)
