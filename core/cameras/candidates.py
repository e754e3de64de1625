"""Which rotations a reconstruction may use, by name; each is computed when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Bools, Floats, InputError, frozen
from ..sequence import CameraModel
from .perspective import turned_to_object
from .rotations import estimate_rotations, flip_depth, largest_rank, load_rotations

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..sequence import Sequence

COMPANION_RANKS = (1, 2, 3, 4)
TRACKS_RANKS = (2, 3)


@dataclass(frozen=True)
class RotationCandidate:
    """Rotations that have a name and are computed on demand."""

    name: str  # as in "companion, rank 2, flipped"
    compute: Callable[[], Floats]  # returns R (F, 3, 3), world to camera


def rotation_candidates(
    sequence: Sequence, tracks: Floats, *, source: str | Path, rank: int | None = None
) -> tuple[RotationCandidate, ...]:
    """Return the rotations that a source offers.

    Parameters
    ----------
    sequence
        what is known about the tracks.
    tracks
        (F, 2, P) calibrated.
    source
        "truth", "companion", "tracks", "best" (the companion's where there is one, and the tracks'), or an
        .npz file with R (F, 3, 3). An orthogonal sequence is its own companion.
    rank
        K of the factorization (rank 3K); None: 1 to 4 from a companion, 2 and 3 from perspective tracks.

    Raises
    ------
    InputError
        where the sequence has no true rotations or no companion, the file does not fit, or no candidate's
        rank is possible for so few frames or points.
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
    found: list[RotationCandidate] = []
    companion = sequence.companion
    if sequence.camera is CameraModel.ORTHOGONAL:
        found += _estimated("tracks", tracks, sequence.visible, rank, COMPANION_RANKS)
    else:
        if companion is None and source == "companion":
            raise InputError(
                f"{sequence.name}: there are no companion tracks of an orthogonal camera; choose another source"
            )
        if companion is not None and source != "tracks":
            found += _estimated("companion", companion.tracks, companion.visible, rank, COMPANION_RANKS)
        if source != "companion":
            found += _estimated("tracks", tracks, sequence.visible, rank, TRACKS_RANKS, perspective=True)
    if not found:
        most = largest_rank(sequence.frame_count, sequence.point_count)
        raise InputError(
            f"{sequence.name}: {sequence.frame_count} frames of {sequence.point_count} points allow rotations "
            f"to be estimated at rank 1 to {most}"
            + (f"; rank {rank} was asked for" if rank is not None else "; give them in a file")
        )
    return tuple(found)


def _from_file(sequence: Sequence, path: Path) -> RotationCandidate:
    R = frozen(load_rotations(path))
    if len(R) != sequence.frame_count:
        raise InputError(
            f"{path}: R has {len(R)} frames; the tracks of {sequence.name} have {sequence.frame_count}"
        )
    return RotationCandidate(path.name, lambda: R)


def _estimated(
    name: str,
    tracks: Floats,
    visible: Bools,
    rank: int | None,
    ranks: tuple[int, ...],
    *,
    perspective: bool = False,
) -> list[RotationCandidate]:
    """Return both depth reflections of every possible rank; the factorization of a rank is done once."""
    most = largest_rank(*visible.shape)

    @cache
    def estimate(K: int) -> tuple[Floats, Floats]:
        if not perspective:
            R = estimate_rotations(tracks, visible, rank=K).R
            return R, frozen(flip_depth(R))
        turned, turns = turned_to_object(tracks, visible)
        R = estimate_rotations(turned, visible, rank=K).R
        back = np.swapaxes(turns, 1, 2)
        return frozen(back @ R), frozen(back @ flip_depth(R))

    return [
        RotationCandidate(
            f"{name}, rank {K}{', flipped' if flipped else ''}",
            lambda K=K, flipped=flipped: estimate(K)[flipped],  # type: ignore[misc]
        )
        for K in (ranks if rank is None else (rank,))
        if K <= most
        for flipped in (False, True)
    ]
