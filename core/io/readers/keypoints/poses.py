"""What the formats of pose tools have in common: individuals, scores, positions relative to a picture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....data.sequence import CameraModel
from ....foundation.exceptions import InputError
from ...files.variables import joined, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence as SequenceOf

    from ....foundation.types import Floats
    from ...files.reading_options import ReadingOptions
    from ...files.variables import Parts

CUTOFF = 0.6  # of a likelihood, as in the projects of DeepLabCut
HALF = 0.5  # of any other score
_MOST_NAMED = 8
_LONGEST = 30  # characters of a name
_INSIDE = 0.95  # share of the positions from 0 to 1 by which all are relative to the picture


def chosen_individual(names: SequenceOf[str], shares: SequenceOf[float] | None, asked: str | None) -> int:
    """Return which of several individuals is read.

    Raises InputError where there are several and none is named, or one that is not there.
    """
    listed = [shortened(name) for name in names]
    if shares is not None:
        listed = [
            f"{name[:_LONGEST]} ({share:.0%} visible)" for name, share in zip(listed, shares, strict=True)
        ]
    there = ", ".join(listed[:_MOST_NAMED]) + (", ..." if len(listed) > _MOST_NAMED else "")
    if asked is not None and asked not in names:
        raise InputError(f"there is no individual {asked!r}; there are {there}")
    if asked is None and len(names) > 1:
        raise InputError(
            f"holds {len(names)} individuals: {there}; choose one by --individual NAME (individual=)"
        )
    return 0 if asked is None else list(names).index(asked)


def in_pixels(parts: Parts, options: ReadingOptions) -> Parts:
    """Return parts whose tracks are in pixels, where they are relative to the picture: x / width, y / height.

    Tracks are taken for relative ones where nearly all lie between 0 and 1 and none is far outside.

    Raises InputError where the size of the picture is not given.
    """
    places = parts.tracks.transpose(0, 2, 1)[parts.seen]
    if options.camera_model is CameraModel.ORTHOGONAL or not _is_relative(places):
        return parts
    size = options.image_size
    if size is None:
        raise InputError(
            "x and y lie between 0 and 1, relative to the picture; accepted with the picture's size in "
            "pixels: --size WIDTHxHEIGHT (size=)"
        )
    note = f"x and y are relative to the picture: times {size[0]} and {size[1]} px"
    return replace(
        parts,
        tracks=parts.tracks * np.array(size, dtype=np.float64)[:, None],
        image_size=size,
        camera=CameraModel.PERSPECTIVE,
        reading={**parts.reading, "size": f"{size[0]}x{size[1]}"},
        units="px",
        provenance=joined(parts.provenance, note),
    )


def _is_relative(places: Floats) -> bool:
    if not places.size or places.min() < -1 or places.max() > 2:
        return False
    return bool(((places >= 0) & (places <= 1)).all(axis=1).mean() >= _INSIDE and np.ptp(places) > 0)
