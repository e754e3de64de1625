"""Rotations of a camera relative to a deforming object, from its 2-D tracks alone.

After Dai, Li, He: A simple prior-free method for non-rigid structure-from-motion factorization (IJCV 2014):
center and complete the tracks, factor them at rank 3K, find the corrective triplet (`core.cameras.triplet`),
and take the nearest rotation of every frame.  K here is a parameter of its own: the best for the rotations
need not be the rank of the shape.

The sign of a frame's first two rows is arbitrary where a basis shape's coefficient may change its sign: the
smaller rotation from the frame before decides.  The reflection in depth, (R, S) -> (D R D, D S) with D =
diag(1, 1, -1), does not change an affine camera's tracks: both are candidates.  Nor does a rotation of the
object, (R, S) -> (R Q', Q S).  Both are fixed by a convention (`canonical`), and singular values of the size
of rounding are dropped: the estimate is a function of the tracks, whatever the order of summation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.linalg import nearest_rotation
from ..foundation.types import Bools, Floats, read_only
from ..io.readers.npz_archive import load_arrays
from ..io.readers.source import read_bytes
from .calibration import spread
from .completion import centered_and_complete
from .triplet import corrective_triplet

if TYPE_CHECKING:
    from pathlib import Path

RANDOM_STARTS = 5
NEGLIGIBLE = 1e-10  # a singular value relative to the largest, below which it may be rounding
TILTED = 0.3  # of the largest tilt out of the image plane
RIGHTWARD = np.array([1.0, 0.2])
FLIP = np.diag([1.0, 1.0, -1.0])
NOT_A_ROTATION = 1e-4  # largest accepted entry of R'R - I in a file


@dataclass(frozen=True, eq=False)
class Rotations:
    """Estimated rotations, object to camera."""

    R: Floats  # (F, 3, 3)
    cost: float  # sum of squares of the triplet's residuals

    def __post_init__(self) -> None:
        object.__setattr__(self, "R", read_only(self.R))


def largest_rank(frames: int, points: int) -> int:
    """Return the largest K for which tracks of that size have a rank-3K factorization."""
    return min(2 * frames, points) // 3


def estimate_rotations(tracks: Floats, visible: Bools, *, rank: int, seed: int = 0) -> Rotations:
    """Estimate the rotation of every frame from the tracks of an affine camera.

    Parameters
    ----------
    tracks
        (F, 2, P) in any unit; hidden entries are ignored.
    visible
        (F, P).
    rank
        K; the factorization has rank 3K.
    seed
        of the random starts of the corrective triplet.

    Raises
    ------
    InputError
        where 3K exceeds min(2F, P), or all visible tracks of every frame coincide.
    """
    frames, _, points = tracks.shape
    if not 1 <= rank <= largest_rank(frames, points):
        raise InputError(
            f"rotation rank is {rank}; {frames} frames of {points} points allow 1 to "
            f"{largest_rank(frames, points)}"
        )
    spread(tracks, visible)  # refuses tracks that coincide, whose centered matrix is 0
    W = centered_and_complete(tracks, visible, 3 * rank)
    U, sigma, _ = np.linalg.svd(W.reshape(2 * frames, points), full_matrices=False)
    size = np.where(sigma > NEGLIGIBLE * sigma[0], np.sqrt(sigma / sigma[0]), 0.0)
    columns = min(3 * rank, 3 * math.ceil(np.count_nonzero(size) / 3))  # the further ones are zero
    motion = (U[:, :columns] * size[:columns]).reshape(frames, 2, columns)
    g, cost = corrective_triplet(motion, np.random.default_rng(seed), RANDOM_STARTS)
    return Rotations(canonical(continuous(rotations_from_rows(motion @ g))), cost)


def rotations_from_rows(rows: Floats) -> Floats:
    """Return the rotations whose first two rows are nearest to the given ones up to a factor, (F, 2, 3)."""
    U, _, Vt = np.linalg.svd(rows, full_matrices=False)
    first_two = U @ Vt
    third = np.cross(first_two[:, 0], first_two[:, 1])
    return np.concatenate((first_two, third[:, None]), axis=1)


def continuous(R: Floats) -> Floats:
    """Negate the first two rows of a frame where that makes the turn from the frame before smaller."""
    first_two = np.einsum("fab,fab->f", R[1:, :2], R[:-1, :2])
    sign = np.concatenate(([1.0], np.cumprod(np.where(first_two < 0, -1.0, 1.0))))
    R = R.copy()
    R[:, :2] *= sign[:, None, None]
    return R


def canonical(R: Floats) -> Floats:
    """Return rotations that explain the same affine tracks, in one form: (F, 3, 3), the first one I.

    Of the two depth reflections that one is taken whose first considerable tilt (R_13, R_23), the shift of
    what is in front, goes to the right; it is a little inclined, so that vertical tilts count too.
    """
    R = R @ R[0].T
    tilt = R[:, :2, 2]
    size = np.linalg.norm(tilt, axis=1)
    first = tilt[np.argmax(size >= TILTED * size.max())]
    return R if first @ RIGHTWARD >= 0 else flip_depth(R)


def flip_depth(R: Floats) -> Floats:
    """Return the rotations of the depth reflection, D R D with D = diag(1, 1, -1)."""
    flipped: Floats = FLIP @ R @ FLIP
    return flipped


def load_rotations(path: Path) -> Floats:
    """Return R (F, 3, 3) from an .npz, made exactly orthogonal.

    Raises
    ------
    InputError
        where the file cannot be read, has no such array, or a frame of it is not a rotation.
    """
    arrays = load_arrays(read_bytes(path), path)
    held = ", ".join(f"{name} {value.shape}" for name, value in sorted(arrays.items())) or "nothing"
    R = arrays.get("R")
    if R is None or R.dtype.kind not in "fiu" or R.ndim != 3 or R.shape[1:] != (3, 3):
        raise InputError(f"{path}: accepted is an array R (F, 3, 3) of numbers; the file holds {held}")
    return checked_rotations(R, path)


def checked_rotations(R: Floats, path: Path) -> Floats:
    """Return matrices (F, 3, 3) that `path` holds made exactly orthogonal.

    Raises
    ------
    InputError
        where one of them is not a rotation.
    """
    R = np.asarray(R, dtype=float)
    finite = np.asarray(np.isfinite(R).all(axis=(1, 2)))
    R = np.where(finite[:, None, None], R, 0.0)
    wrong = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    bad = (wrong > NOT_A_ROTATION) | (np.linalg.det(R) <= 0)
    if bad.any():
        frame = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"{path}: R of frame {frame} (0-based) is not a rotation (R R' must be I, and the determinant 1)"
        )
    return nearest_rotation(R)
