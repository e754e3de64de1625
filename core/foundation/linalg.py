"""Geometry in three dimensions, batched over leading axes, and least squares for few unknowns.

Only `numpy.linalg` is used here: its factorizations release the interpreter lock, which those of
`scipy.linalg` hold, and these functions run in a thread next to the user interface.

`levenberg_marquardt` minimizes |r(x)|^2 for cameras, alignments and corrective triplets.  Each step solves
(J'J + lambda D) dx = -J'r, D the largest diagonal of J'J so far (Moré 1978), so that the unknowns may have
different units.  lambda decreases with the ratio of actual to predicted decrease (Nielsen 1999), and grows by
2, 4, 8, ... at successive rejected steps.

`scipy.optimize.least_squares` takes 1.3 to 3.5 (lm) and 2.0 to 5.7 (trf) times the CPU time.  It ends at the
same cost, to 1e-6, in all fits of intrinsics and in about nine of ten of corrective triplets and absolute
quadrics.  In the others, and in the alignments of the Challenge's score, either can end lower
(tests/benchmarks/bench_least_squares.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .exceptions import InputError
from .representation import OneLine
from .types import Floats

CYCLE = (0, 1, 2), (1, 2, 0), (2, 0, 1)  # of the axes
SERIES = 1e-3  # radians below which functions of a turn are series
FAR_OUT = 5.0  # times the median distance from the middle: a point farther out has no part in the size


@dataclass(frozen=True, eq=False)
class Similarity(OneLine):
    """x -> scale rotation x + translation, one or one per leading index."""

    scale: Floats  # (...)
    rotation: Floats  # (..., 3, 3) orthogonal; a reflection where one was allowed and is better
    translation: Floats  # (..., 3)

    def apply(self, points: Floats) -> Floats:
        """Return the moved points, (..., 3, P)."""
        scale = np.asarray(self.scale)[..., None, None]
        moved: Floats = scale * (self.rotation @ points) + self.translation[..., :, None]
        return moved

    def after(self, first: Similarity) -> Similarity:
        """Return the similarity that moves points as `first` does, and then as this one."""
        scale, rotation = np.asarray(self.scale), self.rotation
        moved = scale[..., None] * np.einsum("...ab,...b->...a", rotation, first.translation)
        return Similarity(scale * first.scale, rotation @ first.rotation, moved + self.translation)

    def inverse(self) -> Similarity:
        """Return the similarity that undoes this one, NaN where it moves all points to one."""
        size = np.asarray(self.scale, dtype=float)
        scale = np.divide(1.0, size, out=np.full(size.shape, np.nan), where=size != 0)
        rotation = np.swapaxes(self.rotation, -1, -2)
        translation = -scale[..., None] * np.einsum("...ab,...b->...a", rotation, self.translation)
        return Similarity(scale, rotation, translation)


def procrustes(source: Floats, target: Floats, *, scale: bool = True, reflection: bool = False) -> Similarity:
    """Return the similarity that moves `source` onto `target` with the least sum of squared distances.

    Umeyama, PAMI 1991. Both are (..., 3, P), and a leading index has its own similarity. Columns that are not
    finite in either are ignored; where fewer than one column is left, the identity is returned.
    """
    source, target = np.asarray(source, dtype=float), np.asarray(target, dtype=float)
    if source.shape != target.shape or source.ndim < 2 or source.shape[-2] != 3:
        raise InputError(
            f"point sets have shapes {source.shape} and {target.shape}; accepted are two of (..., 3, P)"
        )
    known = (np.isfinite(source) & np.isfinite(target)).all(axis=-2, keepdims=True)
    count = np.maximum(known.sum(axis=-1), 1)
    source, target = np.where(known, source, 0.0), np.where(known, target, 0.0)
    source_mean, target_mean = source.sum(axis=-1) / count, target.sum(axis=-1) / count
    source = np.where(known, source - source_mean[..., None], 0.0)
    target = np.where(known, target - target_mean[..., None], 0.0)
    U, sigma, Vt = np.linalg.svd(target @ np.swapaxes(source, -1, -2))
    if not reflection:
        sign = np.where(np.linalg.det(U @ Vt) < 0, -1.0, 1.0)
        U[..., :, 2] *= sign[..., None]
        sigma[..., 2] *= sign
    rotation = U @ Vt
    spread = (source * source).sum(axis=(-2, -1))
    factor = np.ones(spread.shape)
    if scale:
        np.divide(sigma.sum(axis=-1), spread, out=factor, where=spread > 0)
    moved = factor[..., None] * np.einsum("...ab,...b->...a", rotation, source_mean)
    return Similarity(factor, rotation, target_mean - moved)


def object_size(points: Floats) -> float:
    """Return the root mean square distance of points (F, 3, P) from their centroid, mean over the frames.

    Lengths are relative to it. Points that are far outside their frame have no part in it: those more than
    five times as far from its median point as half of the others.
    """
    sizes = []
    for frame in points:
        known = frame[:, np.isfinite(frame).all(axis=0)]
        if known.shape[1] < 2:
            continue
        distance = np.linalg.norm(known - np.median(known, axis=1, keepdims=True), axis=0)
        near = known[:, distance <= FAR_OUT * np.median(distance)]
        if near.shape[1] < 2:  # half of the points are one
            near = known
        sizes.append(np.sqrt(np.square(near - near.mean(axis=1, keepdims=True)).sum(axis=0).mean()))
    return float(np.mean(sizes)) if sizes else float("nan")


def relative_distance(points: Floats, other: Floats, *, mirrors: bool = False) -> float:
    """Return the mean distance of shapes (F, 3, P) after a similarity per frame, over the others' size.

    `mirrors`: whether the mirror image is the same shape.
    """
    if mirrors:
        return min(relative_distance(each, other) for each in (points, -points))
    distances = np.linalg.norm(procrustes(points, other).apply(points) - other, axis=-2)
    return float(distances.mean()) / object_size(other)


def nearest_rotation(matrix: Floats) -> Floats:
    """Return the rotation nearest in the Frobenius norm to each 3x3 matrix, (..., 3, 3).

    The polar factor, with the direction of the smallest singular value flipped where its determinant is -1.
    """
    U, _, Vt = np.linalg.svd(np.asarray(matrix, dtype=float))
    U[..., :, 2] *= np.where(np.linalg.det(U @ Vt) < 0, -1.0, 1.0)[..., None]
    rotation: Floats = U @ Vt
    return rotation


def cross_matrix(vector: Floats) -> Floats:
    """Return [v]x with [v]x u = v x u, for v (..., 3)."""
    vector = np.asarray(vector, dtype=float)
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    zero = np.zeros_like(x)
    rows = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=-1)
    return rows.reshape(*vector.shape, 3)


def turn_series(w: Floats) -> tuple[Floats, Floats, Floats]:
    """Return sin t / t, (1 - cos t) / t^2, (1 - sin t / t) / t^2, each (...,), for w (3, ...) and t = |w|."""
    square = np.square(w).sum(axis=0)
    safe = np.sqrt(np.maximum(square, SERIES**2))
    sine, half = np.sin(safe) / safe, np.sin(0.5 * safe) / safe
    small = square < SERIES**2
    a = np.where(small, 1.0 - square / 6.0, sine)
    b = np.where(small, 0.5 - square / 24.0, 2.0 * half * half)
    c = np.where(small, 1.0 / 6.0 - square / 120.0, (1.0 - sine) / (safe * safe))
    return a, b, c


def rotation_matrix(w: Floats, a: Floats, b: Floats) -> Floats:
    """Return R = I + a [w]x + b [w]x^2 (3, 3, ...) for w (3, ...), with the first two of `turn_series`."""
    bw = b * w
    R: Floats = bw[:, None] * w[None]
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    for i in range(3):
        R[i, i] += 1.0 - trace
    for i, j, k in CYCLE:
        turned = a * w[k]
        R[j, i] += turned
        R[i, j] -= turned
    return R


def rotation_from_vector(vector: Floats) -> Floats:
    """Return the rotation by |v| radians about v (Rodrigues), for v (..., 3)."""
    w = np.moveaxis(np.asarray(vector, dtype=float), -1, 0)
    a, b, _ = turn_series(w)
    rotation: Floats = np.ascontiguousarray(np.moveaxis(rotation_matrix(w, a, b), (0, 1), (-2, -1)))
    return rotation


def rotation_onto_axis(direction: Floats) -> Floats:
    """Return the smallest rotation that turns each direction (..., 3) onto the z axis.

    The direction need not have length 1; it must not be zero nor point along -z.
    """
    unit = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    # About the axis v = unit x z, with cosine c = unit_z: I + [v]x + [v]x^2 / (1 + c).
    axis = np.stack((unit[..., 1], -unit[..., 0], np.zeros_like(unit[..., 0])), axis=-1)
    cross = cross_matrix(axis)
    rotation: Floats = np.eye(3) + cross + cross @ cross / (1.0 + unit[..., 2])[..., None, None]
    return rotation


def rotation_angle(rotation: Floats) -> Floats:
    """Return the angle of each rotation (..., 3, 3) in degrees, 0 to 180, exact also for small angles."""
    R = np.asarray(rotation, dtype=float)
    twice_sine = np.sqrt(
        (R[..., 2, 1] - R[..., 1, 2]) ** 2
        + (R[..., 0, 2] - R[..., 2, 0]) ** 2
        + (R[..., 1, 0] - R[..., 0, 1]) ** 2
    )
    twice_cosine = np.trace(R, axis1=-2, axis2=-1) - 1.0
    angle: Floats = np.degrees(np.arctan2(twice_sine, twice_cosine))
    return angle


def rq(matrix: Floats) -> tuple[Floats, Floats]:
    """Factor a 3x3 matrix of full rank as T Q: T upper triangular with a positive diagonal, Q orthogonal."""
    lower, orthogonal = np.linalg.qr(np.asarray(matrix, dtype=float)[::-1].T)
    upper, Q = orthogonal.T[::-1, ::-1], lower.T[::-1]
    sign = np.where(np.diag(upper) < 0, -1.0, 1.0)
    return upper * sign, sign[:, None] * Q


# -- least squares -------------------------------------------------------------------------------------------

INITIAL_DAMPING = 1e-3
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e15  # the lower one keeps directions that change nothing solvable


@dataclass(frozen=True, eq=False)
class Minimum:
    """The result of `levenberg_marquardt`."""

    x: Floats  # (n,)
    cost: float  # |r(x)|^2
    iterations: int


def _square(r: Floats) -> float:
    """Return |r|^2, infinity where it is beyond the largest number."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(r @ r)


def levenberg_marquardt(
    residuals: Callable[[Floats], tuple[Floats, Floats]],
    start: Floats,
    *,
    tolerance: float = 1e-14,
    max_iterations: int = 100,
) -> Minimum:
    """Minimize |r(x)|^2 from a start x (n,).

    `residuals` returns r (m,) and its Jacobian (m, n); where r is not finite, the step is rejected.
    """
    x = np.array(start, dtype=float)
    r, J = residuals(x)
    cost = _square(r)
    damping, growth = INITIAL_DAMPING, 2.0
    scale = np.zeros(len(x))
    for iteration in range(max_iterations):
        gradient, normal = J.T @ r, J.T @ J
        scale = np.maximum(scale, np.diag(normal))
        floor = np.where(scale > 0, scale, 1.0)
        step = -np.linalg.solve(normal + np.diag(damping * floor), gradient)
        predicted = float(step @ (damping * floor * step - gradient))
        if not predicted > tolerance * cost:
            return Minimum(x, cost, iteration)
        trial_r, trial_J = residuals(x + step)
        trial = _square(trial_r)
        if trial < cost:
            gain = (cost - trial) / predicted
            damping = max(damping * max(1.0 / 3.0, 1.0 - (2.0 * gain - 1.0) ** 3), LEAST_DAMPING)
            growth = 2.0
            x, r, J, cost = x + step, trial_r, trial_J, trial
            continue
        damping, growth = damping * growth, growth * 2.0
        if damping > MOST_DAMPING:
            return Minimum(x, cost, iteration)
    return Minimum(x, cost, max_iterations)
