"""The focal length of a camera in pixels, as millimeters of a lens, as a field of view; and its default.

For a picture whose longer side has w pixels on a sensor whose longer side measures s millimeters, a lens of l
millimeters has the focal length and the field of view along that side

    f = w l / s,        angle = 2 atan(w / 2f).

Where nothing is known of the camera, f is assumed to be 1.2 w: 43 mm on a sensor of 36 mm, 45 degrees.  The
main cameras of phones have about 0.7 w to 0.8 w, cropped by video stabilization to about 0.9 w; what was
filmed from farther off, with a zoom lens, has more.  An error of 20 % in f costs 5 to 25 % in the 3-D error.

The size of a picture of which only tracks are known is guessed as the usual size that holds all of them and
in which they leave the most equal margins, because what is filmed is in the middle of the picture.
"""

from __future__ import annotations

from math import atan, degrees, log, radians, tan

import numpy as np

from ..data.sequence import Observations
from ..foundation.exceptions import InputError

DEFAULT_RATIO = 1.2  # assumed focal length over the longer image side
SENSOR = 36.0  # millimeters of the longer side that "35 mm equivalent" focal lengths refer to
# Width and height of usual pictures; each may also stand upright.
USUAL_SIZES = (
    *((256, 256), (320, 240), (480, 270), (480, 360), (512, 384), (512, 512), (640, 360), (640, 480)),
    *((800, 600), (854, 480), (960, 540), (960, 720), (1024, 576), (1024, 768), (1024, 1024)),
    *((1280, 720), (1280, 960), (1440, 1080), (1600, 900), (1600, 1200)),
    *((1920, 1080), (1920, 1440), (2048, 1536), (2560, 1440), (2704, 1520), (3840, 2160), (4000, 3000)),
    *((4032, 3024), (5312, 2988), (7680, 4320)),
)
OUTSIDE = 0.02  # of the extent: how far tracks may lie outside of the picture that they are guessed to be of


def focal_from_lens(millimeters: float, side: float, sensor: float = SENSOR) -> float:
    """Return the focal length in pixels of a lens.

    `side`: longer side of the picture in pixels. Raises InputError where a number is not positive.
    """
    for name, number in (("lens", millimeters), ("sensor", sensor), ("image side", side)):
        if not 0 < number < np.inf:
            raise InputError(f"{name} is {number:g}; accepted is a number above 0")
    return side * millimeters / sensor


def lens_of_focal(focal: float, side: float, sensor: float = SENSOR) -> float:
    """Return the millimeters of the lens that has a focal length in pixels; inverse of `focal_from_lens`.

    `focal`: pixels; `side`: longer side of the picture in pixels.
    """
    return focal * sensor / side


def focal_from_view(angle: float, side: float) -> float:
    """Return the focal length in pixels of a camera with a field of view.

    `angle`: field of view along the longer side, in degrees; `side`: longer side of the picture in pixels.
    """
    if not 0 < angle < 180:
        raise InputError(f"field of view is {angle:g}; accepted are degrees between 0 and 180")
    return 0.5 * side / tan(radians(0.5 * angle))


def view_of_focal(focal: float, side: float) -> float:
    """Return the field of view of a focal length in pixels; inverse of `focal_from_view`.

    `focal`: pixels; `side`: longer side of the picture in pixels.
    """
    return degrees(2.0 * atan(0.5 * side / focal))


def guess_image_size(observations: Observations) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return width and height of the picture that tracks are likely of, and its middle.

    `observations`: tracks in pixels.
    """
    seen = np.moveaxis(observations.tracks, 1, 0)[:, observations.visible]
    low, high = seen.min(axis=1), seen.max(axis=1)
    slack = OUTSIDE * float((high - low).max())
    if low.min() >= -slack:
        margins = low + high  # the size in which the margins are equal
        usual = {size for width, height in USUAL_SIZES for size in ((width, height), (height, width))}
        fits = [(w, h) for w, h in usual if w >= high[0] - slack and h >= high[1] - slack]
        if fits:
            width, height = min(
                fits, key=lambda size: (sum(abs(log(size[a] / max(margins[a], 1.0))) for a in (0, 1)), size)
            )
            return (float(width), float(height)), (0.5 * width, 0.5 * height)
    extent, middle = high - low, 0.5 * (low + high)
    return (float(extent[0]), float(extent[1])), (float(middle[0]), float(middle[1]))
