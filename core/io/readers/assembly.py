"""The sequence of what a reader found in a file, for all formats alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.sequence import CameraModel, GroundTruth, Sequence
from .contents import check_camera, digest, naming, sequence_name

if TYPE_CHECKING:
    from ...foundation.types import Bools
    from .reading_options import ReadingOptions
    from .variables import LoadedFile, Parts


def as_sequence(found: Parts | Sequence, file: LoadedFile, options: ReadingOptions) -> Sequence:
    """Return the sequence of what was found in a file, with the options that give it again.

    Parameters
    ----------
    found
        what its reader made of the file.
    file, options
        the file, and how it was to be read.

    Returns
    -------
    Sequence
        whose `reading` are the options.

    Raises
    ------
    InputError
        where the parts do not agree with each other or with the camera that is asked for.
    """
    if not isinstance(found, Sequence):
        with naming(file.path):
            found = sequence_of(found, file, options)
    given = options.given()
    return replace(found, reading=given) if given else found


def sequence_of(parts: Parts, file: LoadedFile, options: ReadingOptions) -> Sequence:
    """Return the sequence of what was found in a file.

    Parameters
    ----------
    parts
        what a layout made of the file.
    file, options
        the file, and how it was to be read.

    Returns
    -------
    Sequence
        without the options.

    Raises
    ------
    InputError
        where the parts do not agree with each other or with the camera that is asked for.
    """
    notes = [parts.provenance] if parts.provenance else []
    model = parts.camera
    if parts.camera_assumed:
        model = options.camera_model or parts.camera
        if options.camera_model is None:
            notes.append(f"the file does not name its camera: {model.value} is assumed (camera=, --camera)")
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
        provenance="; ".join(notes),
        truth_name=parts.truth_name,
        image_size=options.image_size or parts.image_size,
        point_names=parts.point_names,
    )
