r"""The dual absolute quadric of a projective reconstruction, from which its metric upgrade follows.

A projective reconstruction X_f ~ A_f U is defined up to a 4x4 matrix Q.  The metric one satisfies
A_f Q = s_f K_f [R_f t_f]; only its first three columns L (4 x 3) are needed, because the last one only
determines the origin.  The dual absolute quadric is Omega = L L' (rank 3, positive semidefinite), and

    A_f Omega A_f' = s_f^2 K_f K_f'        (Triggs 1997; Hartley & Zisserman, section 19.3)

is linear in its ten entries wherever K_f K_f' is known but for its scale, or has entries that are equal or 0.
The linear solution does not weight the equations well; `refine_quadric` minimizes the constraints themselves,

    sum_f | M_f M_f' / (tr(M_f M_f') / 3) - I |^2,    M_f = diag(f, f, 1)^-1 A_f L,

over L (its rotation and scale are free; the damping makes the step unique) and, where it is unknown, over one
focal length f common to all views.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..foundation.linalg import levenberg_marquardt
from ..foundation.types import Floats

ROUNDS = 5  # of reweighting the linear equations by 1 / s_f^2
# Standard deviations of an unknown camera's constraints, in units of half the picture (Pollefeys et al.
# 2002): zero skew, unit aspect ratio, principal point in the middle, focal length about 1.
SKEW, ASPECT, CENTER, FOCAL = 0.01, 0.2, 0.1, 9.0
FOCALS = np.geomspace(0.5, 20.0, 12)  # of the starts where the focal length is unknown, in the same units
TOLERANCE = 1e-13
GAUGE = 4  # directions of (L, f) without effect: the rotation of the object frame, and its size


@dataclass(frozen=True, eq=False)
class QuadricRoot:
    """L of the dual absolute quadric L L', with figures on its accuracy."""

    root: Floats  # (4, 3)
    focal: float  # in the units of the cameras; 1 where it was known
    rms: float  # root mean square of the entries of M M' / (tr(M M') / 3) - I
    conditioning: float  # smallest over largest singular value of the constraints' Jacobian, gauge excluded
    uncertainty: float  # standard deviation of the worst determined direction, relative to L


def solve_quadric(cameras: Floats, *, focal_known: bool) -> QuadricRoot:
    """Return the root of the dual absolute quadric with the lowest constraint error over several starts.

    `cameras`: (F, 3, 4) in calibrated units where K is known; else with the principal point at 0 and half the
    picture's size as the unit. All of about the same norm, their stack well conditioned; `focal_known`:
    whether K = I; else K = diag(f, f, 1) with one f for all views.
    """
    starts = [(_root(_linear(cameras, _calibrated)), 1.0), (_affine_start(cameras), 1.0)]
    if not focal_known:
        free = _root(_linear(cameras, _uncalibrated))
        starts = [(free, _focal_of(cameras, free))]
        for focal in FOCALS:
            scaled = cameras / np.array([focal, focal, 1.0])[:, None]
            starts.append((_root(_linear(scaled, _calibrated)), float(focal)))
    ends = [refine_quadric(cameras, root, focal, focal_known=focal_known) for root, focal in starts]
    return min(ends, key=lambda end: end.rms)


def _symmetric(entries: Floats, size: int) -> Floats:
    """Return the (..., n, n) matrices of n (n + 1) / 2 entries each, row by row of their upper triangles."""
    row, column = np.triu_indices(size)
    matrix = np.empty((*entries.shape[:-1], size, size))
    matrix[..., row, column] = matrix[..., column, row] = entries
    return matrix


def _calibrated(S: Floats) -> Floats:
    """Return the five numbers that vanish where S (..., 3, 3) is a multiple of I."""
    root = np.sqrt(2.0)
    rows = (
        root * S[..., 0, 1],
        root * S[..., 0, 2],
        root * S[..., 1, 2],
        (S[..., 0, 0] - S[..., 1, 1]) / root,
        (S[..., 0, 0] + S[..., 1, 1] - 2.0 * S[..., 2, 2]) / np.sqrt(6.0),
    )
    return np.stack(rows)


def _uncalibrated(S: Floats) -> Floats:
    """Return six numbers that are small where S is about diag(f^2, f^2, 1), f about 1."""
    rows = (
        S[..., 0, 1] / SKEW,
        S[..., 0, 2] / CENTER,
        S[..., 1, 2] / CENTER,
        (S[..., 0, 0] - S[..., 1, 1]) / ASPECT,
        (S[..., 0, 0] - S[..., 2, 2]) / FOCAL,
        (S[..., 1, 1] - S[..., 2, 2]) / FOCAL,
    )
    return np.stack(rows)


def _linear(cameras: Floats, constraints: Callable[[Floats], Floats]) -> Floats:
    """Return Omega (4, 4) that satisfies linear constraints best, every view divided by its own s_f^2."""
    basis = _symmetric(np.eye(10), 4)  # (10, 4, 4)
    images = np.einsum("fai,nij,fbj->fnab", cameras, basis, cameras)
    equations = constraints(images)  # (rows, F, 10)
    weights = np.ones(len(cameras))
    omega = np.eye(4)
    for _ in range(ROUNDS):
        weighted = (equations * weights[:, None]).reshape(-1, 10)
        omega = _symmetric(np.linalg.svd(weighted)[2][-1], 4)
        sizes = np.abs(np.einsum("fai,ij,faj->f", cameras, omega, cameras))
        weights = 1.0 / np.maximum(sizes, 1e-3 * sizes.max())
        weights /= weights.max()
    return omega


def _root(omega: Floats) -> Floats:
    """Return L (4, 3) with L L' near Omega or -Omega, whichever is the more positive.

    Eigenvalues of the wrong sign are raised to a small positive number, from which the refinement continues.
    """
    values, vectors = np.linalg.eigh(omega)
    if values.sum() < 0:
        values, vectors = -values[::-1], vectors[:, ::-1]
    kept = np.maximum(values[1:], 1e-3 * values[-1])
    root: Floats = vectors[:, 1:] * np.sqrt(kept)
    return root


def _affine_start(cameras: Floats) -> Floats:
    """Return L with the plane at infinity where third coordinates are most nearly equal.

    It is the best plane for distant cameras; with it, M_f M_f' = s_f^2 I is linear in a 3 x 3 matrix.
    """
    third = cameras[:, 2]
    plane = np.linalg.svd(third / np.linalg.norm(third, axis=1, keepdims=True))[2][0]
    inside = np.linalg.svd(plane[None])[2][1:].T  # (4, 3), a basis of directions at infinity
    M = cameras[:, :2] @ inside
    images = np.einsum("fai,nij,fbj->fnab", M, _symmetric(np.eye(6), 3), M)
    equations = np.stack((images[..., 0, 1], 0.5 * (images[..., 0, 0] - images[..., 1, 1])))
    inner = _symmetric(np.linalg.svd(equations.reshape(-1, 6))[2][-1], 3)
    values, vectors = np.linalg.eigh(inner)
    if values.sum() < 0:
        values = -values
    L = inside @ (vectors * np.sqrt(np.maximum(values, 1e-3 * values.max())))
    # Without depth all third coordinates vanish on the plane: tilt it so that they need not.
    tilted: Floats = L + 1e-3 * plane[:, None]
    return tilted


def _focal_of(cameras: Floats, root: Floats) -> float:
    """Return the focal length that a root gives at the median view."""
    M = cameras @ root
    S = M @ M.transpose(0, 2, 1)
    squared = 0.5 * (S[:, 0, 0] + S[:, 1, 1]) / np.maximum(S[:, 2, 2], 1e-12 * S[:, 0, 0])
    return float(np.clip(np.sqrt(np.median(squared)), FOCALS[0], FOCALS[-1]))


def constraint_residuals(cameras: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Return the entries of M M' / (tr(M M') / 3) - I, (9 F,), and their Jacobian (9 F, len(x)).

    x holds L row by row and, where it has a thirteenth entry, the logarithm of f.
    """
    count = len(cameras)
    L = x[:12].reshape(4, 3)
    scale = np.ones(3)
    if len(x) > 12:
        scale[:2] = np.exp(-x[12])
    A = cameras * scale[:, None]
    M = A @ L
    S = M @ M.transpose(0, 2, 1)
    size = np.trace(S, axis1=1, axis2=2) / 3.0
    # dM = A_ai E_ik for the entry (i, k) of L; scale' = -scale (1, 1, 0) for the logarithm of f.
    dM = np.zeros((count, len(x), 3, 3))
    entries = dM[:, :12].reshape(count, 4, 3, 3, 3)
    for k in range(3):
        entries[:, :, k, :, k] = A.transpose(0, 2, 1)
    if len(x) > 12:
        dM[:, 12, :2] = -M[:, :2]
    dS = dM @ M.transpose(0, 2, 1)[:, None]
    dS = dS + dS.transpose(0, 1, 3, 2)
    d_size = np.trace(dS, axis1=2, axis2=3) / 3.0
    ratio = S / size[:, None, None]
    J = (dS - ratio[:, None] * d_size[..., None, None]) / size[:, None, None, None]
    r = ratio - np.eye(3)
    return r.ravel(), J.transpose(0, 2, 3, 1).reshape(9 * count, len(x))


def refine_quadric(cameras: Floats, root: Floats, focal: float, *, focal_known: bool) -> QuadricRoot:
    """Minimize the constraint error from a root, and from a focal length where it is unknown."""
    size = np.linalg.norm(root)
    start = root.ravel() / size
    if not focal_known:
        start = np.append(start, np.log(focal))

    def residuals(x: Floats) -> tuple[Floats, Floats]:
        with np.errstate(all="ignore"):
            return constraint_residuals(cameras, x)

    best = levenberg_marquardt(residuals, start, tolerance=TOLERANCE, max_iterations=200)
    L = best.x[:12].reshape(4, 3)
    L = L / np.linalg.norm(L)
    x = np.append(L.ravel(), best.x[12:])
    _, J = constraint_residuals(cameras, x)
    sigma = np.linalg.svd(J, compute_uv=False)
    least = float(sigma[len(x) - GAUGE - 1])
    rms = float(np.sqrt(best.cost / (9 * len(cameras))))
    return QuadricRoot(
        root=L,
        focal=1.0 if focal_known else float(np.exp(best.x[12])),
        rms=rms,
        conditioning=least / float(sigma[0]),
        uncertainty=rms / least if least > 0 else np.inf,
    )
