"""The rotations that a reconstruction may use: known ones, those of a file, and estimates.

`rotation_candidates` returns them by name; an estimate is computed at first use.  A few thousand points
determine the rotations of a sequence: of more, estimates use some that are evenly spaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from ..data.sequence import CameraModel, Sequence, check_rotations
from ..foundation.exceptions import InputError
from ..foundation.linalg import nearest_rotation, rotation_onto_axis
from ..foundation.types import Bools, Floats, read_only
from ..io.files.contents import load_arrays, read_bytes, refusing_damage
from ..io.files.variables import describe
from .factorization import estimate_rotations, flip_depth, largest_rank
from .rigid import refine_rigid

COMPANION_RANKS = (1, 2, 3, 4)
TRACKS_RANKS = (2, 3)
MOST_OBSERVATIONS, FEWEST_POINTS = 200_000, 500  # of a longer sequence, about, that estimates use
NOT_EXACT = 1e-4  # largest accepted entry of R R' - I in a file of rotations, with which it is solved


@dataclass(frozen=True)
class RotationCandidate:
    """Rotations that have a name and are computed on demand."""

    name: str  # as in "companion, rank 2, flipped"
    compute: Callable[[], Floats]  # returns R (F, 3, 3), world to camera


def rotation_candidates(
    sequence: Sequence,
    tracks: Floats,
    *,
    source: str | Path,
    rank: int | None = None,
    camera: CameraModel | None = None,
) -> tuple[RotationCandidate, ...]:
    """Return the rotations that a source offers for a sequence and its calibrated tracks (F, 2, P).

    It is "truth", "companion", "tracks", "best" (the companion's where there is one, and the tracks'), or an
    .npz file with R (F, 3, 3). An orthogonal sequence is its own companion. The rank of the factorization is
    3K; without K it is 1 to 4 from a companion, 2 and 3 from perspective tracks, which also give the
    rotations of a rigid shape.
    """
    if isinstance(source, Path):
        return (_from_file(sequence, source),)
    if source == "truth":
        true = sequence.rotations
        if true is None:
            raise InputError(f"{sequence.name}: the true rotations are not known; choose another source")
        return (RotationCandidate("truth", lambda: true),)
    if source not in ("best", "companion", "tracks"):
        raise InputError(f"rotations are {source!r}; accepted are best, truth, companion, tracks, or a file")
    some, visible = _some_points(tracks, sequence.visible)
    if (camera or sequence.camera) is CameraModel.ORTHOGONAL:
        ranks = _ranks(sequence, rank, COMPANION_RANKS)
        return tuple(_factor("tracks", some, visible, ranks)[::2])  # reflections see the same
    companion = sequence.companion
    if companion is None and source == "companion":
        raise InputError(
            f"{sequence.name}: there are no companion tracks of an orthogonal camera; choose another source"
        )
    found: list[RotationCandidate] = []
    if companion is not None and source != "tracks":
        ranks = _ranks(sequence, rank, COMPANION_RANKS)
        found += _factor("companion", *_some_points(companion.tracks, companion.visible), ranks)
    if source != "companion":
        ranks = _ranks(sequence, rank, TRACKS_RANKS)
        found += _from_perspective(some, visible, ranks, with_rigid=rank is None)
    return tuple(found)


def _some_points(tracks: Floats, visible: Bools) -> tuple[Floats, Bools]:
    """Return evenly spaced points of many, or all where a frame would lose its last visible point."""
    frames, points = visible.shape
    if visible.size <= MOST_OBSERVATIONS:
        return tracks, visible
    wanted = max(FEWEST_POINTS, MOST_OBSERVATIONS // frames)
    some = np.linspace(0, points - 1, min(wanted, points)).round().astype(np.int64)
    if not visible[:, some].any(axis=1).all():
        return tracks, visible
    return tracks[:, :, some], visible[:, some]


def _ranks(sequence: Sequence, rank: int | None, usual: tuple[int, ...]) -> tuple[int, ...]:
    """Return the given rank, or the possible ones of the usual ranks, or 1, which always is."""
    frames, points = sequence.visible.shape
    most = largest_rank(frames, points)
    if rank is None:
        return tuple(K for K in usual if K <= most) or (1,)
    if not 1 <= rank <= most:
        raise InputError(
            f"{sequence.name}: rotation rank is {rank}; {frames} frames of {points} points allow 1 to {most}"
        )
    return (rank,)


def _from_file(sequence: Sequence, path: Path) -> RotationCandidate:
    R = read_only(load_rotations(path))
    if len(R) != sequence.frame_count:
        raise InputError(
            f"{path}: R has {len(R)} frames; the tracks of {sequence.name} have {sequence.frame_count}"
        )
    return RotationCandidate(path.name, lambda: R)


def _factor(name: str, tracks: Floats, visible: Bools, ranks: tuple[int, ...]) -> list[RotationCandidate]:
    """Return both depth reflections of every rank; the factorization of a rank is done once."""

    @cache
    def estimate(rank: int) -> Floats:
        return estimate_rotations(tracks, visible, rank=rank).R

    def compute(rank: int, flipped: bool) -> Floats:
        R = estimate(rank)
        return read_only(flip_depth(R)) if flipped else R

    return [
        RotationCandidate(f"{name}, rank {rank}{', flipped' * flipped}", partial(compute, rank, flipped))
        for rank in ranks
        for flipped in (False, True)
    ]


def _from_perspective(
    tracks: Floats, visible: Bools, ranks: tuple[int, ...], *, with_rigid: bool
) -> list[RotationCandidate]:
    """Return what `_factor` does for cameras rotated toward the object, and the first refined as rigid."""
    turned, turns = rotate_to_object(tracks, visible)

    def back(compute: Callable[[], Floats]) -> Floats:
        return read_only(np.swapaxes(turns, 1, 2) @ compute())

    def rigid(compute: Callable[[], Floats]) -> Floats:
        return read_only(refine_rigid(tracks, visible, compute()).R)

    found = [
        RotationCandidate(item.name, cache(partial(back, item.compute)))
        for item in _factor("tracks", turned, visible, ranks)
    ]
    if with_rigid:
        found += [
            RotationCandidate(item.name.replace(f"rank {ranks[0]}", "rigid"), partial(rigid, item.compute))
            for item in found[:2]
        ]
    return found


def rotate_to_object(tracks: Floats, visible: Bools) -> tuple[Floats, Floats]:
    """Rotate every frame's camera so that its axis is the mean of its visible rays.

    The image of an object on the axis of a camera is nearly a weak perspective, which a factorization needs.
    Returns the tracks (F, 2, P) of the rotated cameras, 0 where hidden, and the rotations Q (F, 3, 3): a
    rotation R of the rotated camera is Q' R of the given one.
    """
    seen = visible[:, None, :]
    rays = np.concatenate((np.where(seen, tracks, 0.0), np.ones((len(tracks), 1, tracks.shape[2]))), axis=1)
    mean = np.where(seen, rays, 0.0).sum(axis=2) / visible.sum(axis=1)[:, None]
    turns = rotation_onto_axis(mean)
    Y = turns @ rays
    rotated = np.where(seen & (Y[:, 2:] > 0), Y[:, :2] / np.where(Y[:, 2:] > 0, Y[:, 2:], 1.0), 0.0)
    return rotated, turns


def load_rotations(path: Path) -> Floats:
    """Return R (F, 3, 3) from an .npz, made exactly orthogonal."""
    with refusing_damage(path):
        arrays = load_arrays(read_bytes(path), path)
        R = arrays.get("R")
        if R is None or R.dtype.kind not in "fiu" or R.ndim != 3 or R.shape[1:] != (3, 3):
            raise InputError(
                f"{path}: accepted is an array R (F, 3, 3) of numbers; the file holds {describe(arrays)}"
            )
        return checked_rotations(R, path)


def checked_rotations(R: Floats, path: Path) -> Floats:
    """Return matrices (F, 3, 3) that `path` holds made exactly orthogonal."""
    R = np.asarray(R, dtype=float)
    check_rotations(R, f"{path}: R", NOT_EXACT)
    return nearest_rotation(R)
