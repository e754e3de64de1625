"""The sequence of what a reader found in a file, for all formats alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.sequence import CameraModel, GroundTruth, Sequence
from ..files.contents import check_camera, digest, refusing_damage, sequence_name
from ..files.reading_options import NO_MASK
from ..files.variables import without_unseen

if TYPE_CHECKING:
    from ...foundation.types import Bools
    from ..files.reading_options import ReadingOptions
    from ..files.variables import LoadedFile, Parts


PIXELS = 20.0  # units that tracks in pixels extend over at least
BELOW = (
    0.05  # share of their extent by which tracks in pixels may leave the picture at its first row or column
)


def complete(parts: Parts, options: ReadingOptions) -> Parts:
    """Return parts without frames and points that cannot be reconstructed, and with a camera model.

    Tracks in pixels are a perspective camera's, whose focal length is unknown where the file has no K; other
    tracks without K are orthogonal.
    """
    parts = without_unseen(_without_zeros(parts, options))
    if not parts.camera_assumed or options.camera is not None:
        return parts
    perspective, guesses = parts.camera is CameraModel.PERSPECTIVE, parts.guesses
    if not perspective and look_like_pixels(parts):
        perspective = True
        guesses += ("the numbers look like pixels of a camera with perspective (--camera orthogonal if not)",)
    model = CameraModel.PERSPECTIVE if perspective else CameraModel.ORTHOGONAL
    unknown = " with an unknown focal length" if perspective and parts.intrinsics is None else ""
    note = f"the file does not name its camera: {model.value} is assumed{unknown} (camera=, --camera)"
    provenance = "; ".join(filter(None, (parts.provenance, note)))
    return replace(parts, camera=model, guesses=guesses, provenance=provenance)


def _without_zeros(parts: Parts, options: ReadingOptions) -> Parts:
    """Return parts whose points at (0, 0) are hidden, where no mask says what is: many programs write so."""
    if options.visible == NO_MASK or {"visibility", "scores"} & set(parts.roles.values()):
        return parts
    finite: Bools = np.asarray(np.isfinite(parts.tracks).all(axis=1))
    zero: Bools = np.asarray((parts.tracks == 0).all(axis=1))
    visible: Bools = finite if parts.visible is None else parts.visible
    others = parts.tracks.transpose(0, 2, 1)[visible & ~zero]
    if not (visible & zero).any() or not others.size or others.min() < 0:
        return parts
    share = (visible & zero).mean()
    guess = f"{share:.1%} of the points are at (0, 0) and count as hidden (--visible none: they are seen)"
    tracks = np.where(zero[:, None], np.nan, parts.tracks)
    return replace(parts, tracks=tracks, visible=visible & ~zero, guesses=(*parts.guesses, guess))


def look_like_pixels(parts: Parts) -> bool:
    """Return whether coordinates lie in a picture with first pixel (0, 0): not centered, and not small."""
    known = parts.tracks.transpose(1, 0, 2)[:, np.isfinite(parts.tracks).all(axis=1)]
    if known.size == 0:
        return False
    extent = float(np.ptp(known, axis=1).max())
    return bool(extent > PIXELS and (known.min(axis=1) >= -BELOW * extent).all())


def as_sequence(found: Parts | Sequence, file: LoadedFile, options: ReadingOptions) -> Sequence:
    """Return the sequence of what was found in a file, with the options that give it again.

    Raises InputError where the parts do not agree with each other or with the camera that is asked for.
    """
    if not isinstance(found, Sequence):
        with refusing_damage(file.path):
            found = _sequence_of(found, file, options)
    given = options.given()
    return replace(found, reading=given) if given else found


def _sequence_of(parts: Parts, file: LoadedFile, options: ReadingOptions) -> Sequence:
    """Return the sequence of parts, without the options."""
    model = parts.camera
    if parts.camera_assumed:
        model = options.camera_model or parts.camera
    else:
        check_camera(model, options.camera_model, file.path)
    perspective = model is CameraModel.PERSPECTIVE
    finite: Bools = np.asarray(np.isfinite(parts.tracks).all(axis=1))
    return Sequence(
        parts.tracks,
        finite if parts.visible is None else parts.visible,
        model,
        sequence_name(file.path),
        intrinsics=parts.intrinsics if perspective else None,
        truth=None if parts.shapes is None else GroundTruth.of_all_frames(parts.shapes),
        rotations=parts.rotations,
        translations=parts.translations,
        edges=parts.edges,
        units="px" if perspective else parts.units,
        truth_units=parts.truth_units,
        source=file.path.absolute(),
        digest=digest(file.content) if file.content else "",
        provenance=parts.provenance,
        truth_name=parts.truth_name,
        image_size=options.image_size or parts.image_size,
        point_names=parts.point_names,
    )
