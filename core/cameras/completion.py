"""Hidden entries of tracks, filled in by a matrix of low rank.

The tracks of an affine camera, minus each frame's translation, form a 2F x P matrix of rank 3K.  Where all
entries are known it is only centered.  Where some are hidden, A (2F x r), B (P x r) and t (2F) minimize

    sum over visible of |W - A B' - t|^2 + ridge (|A|^2 + |B|^2)

by alternation: each half is one small system per frame or per point.  The ridge keeps points that are seen in
few frames near 0 and falls from one step to the next, so that it leaves no bias where the data suffice.  It
does not begin far above its end: a ridge above the square of a singular value shrinks that column to nothing
within a few steps, and what grows again under a lower ridge has the direction that rounding left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..foundation.types import Bools, Floats

STEPS = 40
FIRST_RIDGE, LAST_RIDGE = 1e-4, 3e-6  # relative to the mean square of the entries, per entry of a system
SETTLED = 1e-6  # relative change of the filled entries at which the alternation ends


def centered_and_complete(tracks: Floats, visible: Bools, rank: int) -> Floats:
    """Return the tracks (F, 2, P) with hidden entries filled in and the mean of every row removed.

    `rank` is that of the fit (3K for K basis shapes); visible entries are kept as they are.
    """
    seen = visible[:, None, :]
    W = np.where(seen, tracks, 0.0)
    count = visible.sum(axis=1)[:, None, None]
    W = np.where(seen, W - W.sum(axis=2, keepdims=True) / count, 0.0)
    if not visible.all():
        W = np.where(seen, W, _fit(W, visible, min(rank, 2 * len(W), W.shape[2])))
    centered: Floats = W - W.mean(axis=2, keepdims=True)
    return centered


def _fit(W: Floats, visible: Bools, rank: int) -> Floats:
    """Return A B' + t as (F, 2, P)."""
    frames, _, points = W.shape
    mask = visible.astype(float)
    size = float(np.sqrt((W**2).sum() / (2.0 * mask.sum()))) or 1.0
    _, sigma, Vt = np.linalg.svd(W.reshape(2 * frames, points) / size, full_matrices=False)
    B = Vt[:rank].T * np.sqrt(sigma[:rank])
    rows = (W / size).transpose(1, 0, 2)  # (2, F, P)
    fit = np.zeros_like(W)
    ridge = FIRST_RIDGE
    factor = (LAST_RIDGE / FIRST_RIDGE) ** (1.0 / (STEPS - 1))
    for _ in range(STEPS):
        A, t = _rows(rows, mask, B, ridge * frames)
        B = _columns(rows, mask, A, t, ridge * frames)
        new = (A @ B.T + t[:, :, None]).transpose(1, 0, 2)
        moved = np.linalg.norm((new - fit)[np.repeat(~visible[:, None, :], 2, axis=1)])
        fit = new
        ridge *= factor
        if moved <= SETTLED * np.linalg.norm(fit):
            break
    return fit * size


def _rows(rows: Floats, mask: Floats, B: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Return the best A (2, F, r) and t (2, F): one system of r + 1 unknowns per frame, shared by x and y."""
    points, rank = B.shape
    design = np.concatenate((B, np.ones((points, 1))), axis=1)
    size = rank + 1
    normal = (mask @ (design[:, :, None] * design[:, None, :]).reshape(points, -1)).reshape(-1, size, size)
    diagonal = np.arange(rank)
    normal[:, diagonal, diagonal] += ridge
    right = rows @ design  # hidden entries of the rows are 0
    solution: Floats = np.asarray(np.linalg.solve(normal, right.transpose(1, 2, 0)))  # (F, r + 1, 2)
    return solution[:, :rank].transpose(2, 0, 1), solution[:, rank].T


def _columns(rows: Floats, mask: Floats, A: Floats, t: Floats, ridge: float) -> Floats:
    """Return the best B (P, r): one system per point."""
    _, frames, rank = A.shape
    square = np.einsum("cfi,cfj->fij", A, A).reshape(frames, -1)
    normal = (mask.T @ square).reshape(-1, rank, rank)
    diagonal = np.arange(rank)
    normal[:, diagonal, diagonal] += ridge
    right = np.einsum("cfp,cfi->pi", rows - t[:, :, None] * mask, A)
    solution: Floats = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
    return solution
