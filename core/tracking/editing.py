"""Tracks corrected by a person: one is left out, cut in two, or replaced from a frame on."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..data.triangulation import triangulate_tracks
from ..foundation.exceptions import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..data.sequence import Sequence
    from ..foundation.types import Floats


def without_track(sequence: Sequence, point: int) -> Sequence:
    """Return a sequence without one of its points.

    Raises InputError where too few points or a frame without any are left.
    """
    return _with_tracks(sequence, np.delete(_tracks(sequence), point, axis=2))


def cut_track(sequence: Sequence, point: int, frame: int) -> Sequence:
    """Return a sequence with one track cut in two: what it shows from a frame on is another point, the last.

    Raises InputError where the track has nothing before the frame, or nothing from it on.
    """
    tracks = _tracks(sequence)
    seen = np.isfinite(tracks[:, 0, point])
    if not seen[:frame].any() or not seen[frame:].any():
        first, *_, last = np.flatnonzero(seen) + 1
        raise InputError(f"the track is seen in frames {first} to {last}; it cannot be cut at {frame + 1}")
    later = np.where(np.arange(len(tracks))[:, None] >= frame, tracks[:, :, point], np.nan)
    tracks[frame:, :, point] = np.nan
    return _with_tracks(sequence, np.concatenate([tracks, later[:, :, None]], axis=2))


def replace_track(sequence: Sequence, point: int, frame: int, places: npt.ArrayLike) -> Sequence:
    """Return a sequence with one track replaced from a frame on.

    `places`: (F - frame, 2) px, NaN where the point is not seen. Raises InputError where the shape is
    another, or a frame without any point is left.
    """
    tracks, new = _tracks(sequence), np.asarray(places, dtype=np.float64)
    if new.shape != tracks[frame:, :, point].shape:
        raise InputError(f"places have shape {new.shape}; accepted is ({len(tracks) - frame}, 2)")
    tracks[frame:, :, point] = new
    return _with_tracks(sequence, tracks)


def _tracks(sequence: Sequence) -> Floats:
    """Return a copy of the tracks, NaN where they are hidden."""
    return np.where(sequence.visible[:, None], sequence.tracks, np.nan)


def _with_tracks(sequence: Sequence, tracks: Floats) -> Sequence:
    visible = np.isfinite(tracks[:, 0])
    return replace(
        sequence,
        tracks=tracks,
        visible=visible,
        faces=triangulate_tracks(tracks, visible),
        digest=hashlib.sha256(np.ascontiguousarray(tracks).data).hexdigest(),
    )
