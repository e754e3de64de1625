"""The video behind the camera of a scene: a card that fills its picture, and the pictures on it.

The card belongs to the camera and moves with it, behind all points. Its corners are those of the picture
(`core.io.writers.scene`), so that a rendered shape lies over the video as the tracks do. Pictures are JPEG,
the frames of the tracks and no others, turned as players show them.
"""

from __future__ import annotations

import io
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from ...foundation.exceptions import InputError, needs
from ...tracking.video import Video

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ...foundation.types import Floats, Ints
    from ...reconstruction.result import Result
    from .scene import SceneCameras

BEHIND = 1.2  # distances of the farthest point
QUALITY = 92  # of JPEG, of 100


def with_video_size(result: Result, path: Path) -> Result:
    """Return a result whose picture is that of its video, where it does not know the size of its pictures.

    Raises InputError where it names no video, or that cannot be read.
    """
    if not result.meta.get("video"):
        raise InputError(f"{path}: the result names no video to put behind the camera")
    if find_spec("PIL") is None:
        raise InputError(needs("A video behind the camera", "Pillow", "video"))
    if result.meta.get("image_size") is not None:
        return result
    video = _open(result)
    video.close()
    return replace(result, meta=result.meta | {"image_size": list(video.size)})


def read_pictures(result: Result, frames: Ints) -> Iterator[bytes]:
    """Yield the pictures of frames as JPEG. Raises InputError where one cannot be read."""
    from PIL import Image

    numbers, video = result.meta.get("video_frames"), _open(result)
    try:
        for frame in frames.tolist():
            stream = io.BytesIO()
            pixels = video.read(frame if numbers is None else numbers[frame])
            Image.fromarray(pixels).save(stream, "JPEG", quality=QUALITY)
            yield stream.getvalue()
    finally:
        video.close()


def card_corners(cameras: SceneCameras, frames: Ints) -> Floats:
    """Return the corners (N, 4, 3) of the card in the axes of the camera, y up, which looks along -z.

    They begin at the lower left one and go around to the right.
    """
    left, top, right, bottom = cameras.picture[frames].T
    away = BEHIND * cameras.depths[1]
    corners = np.stack([[left, -bottom], [right, -bottom], [right, -top], [left, -top]])  # (4, 2, N)
    corners = corners.transpose(2, 0, 1) * (away if cameras.perspective else 1.0)
    return np.concatenate((corners, np.full((len(frames), 4, 1), -away)), axis=2)


def _open(result: Result) -> Video:
    from pathlib import Path

    return Video(Path(str(result.meta["video"])))
