"""Focal lengths in pixels, millimeters and degrees, and the size of a picture guessed from its tracks."""

import numpy as np
import pytest

from core import InputError, Observations
from core.cameras import SENSOR, focal_from_lens, focal_from_view, lens_of_focal, view_of_focal
from core.cameras.intrinsics import guess_image_size


def tracks_in(low, high, frames=8, points=30):
    """Tracks that reach from one corner to the other."""
    tracks = np.random.default_rng(1).uniform(size=(frames, 2, points))
    tracks[0, :, 0], tracks[0, :, 1] = 0.0, 1.0
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    return Observations(low[:, None] + (high - low)[:, None] * tracks, np.ones((frames, points), dtype=bool))


@pytest.mark.parametrize("focal", (300.0, 1536.0, 9000.0))
def test_a_lens_sees_the_angle_that_its_sensor_and_its_length_make(focal):
    millimeters = lens_of_focal(focal, 1280.0)
    assert np.isclose(np.tan(np.radians(0.5 * view_of_focal(focal, 1280.0))), 0.5 * SENSOR / millimeters)
    assert np.isclose(focal_from_lens(millimeters, 1280.0), focal)
    assert np.isclose(focal_from_lens(lens_of_focal(focal, 1280.0, 6.3), 1280.0, 6.3), focal)
    assert np.isclose(focal_from_view(view_of_focal(focal, 1280.0), 1280.0), focal)
    assert np.isclose(focal_from_lens(4.25, 1920.0, 5.64), 1920.0 / 5.64 * 4.25)


def test_what_is_no_lens_or_angle_is_refused():
    for millimeters, sensor in ((0.0, 36.0), (26.0, -1.0)):
        with pytest.raises(InputError, match="above 0"):
            focal_from_lens(millimeters, 1280.0, sensor)
    with pytest.raises(InputError, match="between 0 and 180"):
        focal_from_view(180.0, 1280.0)


@pytest.mark.parametrize(
    ("low", "high", "size"),
    [
        ((400.0, 250.0), (1530.0, 820.0), (1920.0, 1080.0)),
        ((250.0, 400.0), (820.0, 1530.0), (1080.0, 1920.0)),
        *(((0.0, 0.0), high, None) for high in ((639.0, 479.0), (1279.0, 300.0), (5000.0, 2000.0))),
    ],
)
def test_the_guessed_picture_has_the_tracks_in_its_middle_and_holds_them(low, high, size):
    guessed, middle = guess_image_size(tracks_in(low, high))
    assert size in (None, guessed)
    assert guessed >= high and guessed[1] >= high[1]
    assert middle == (0.5 * guessed[0], 0.5 * guessed[1])


def test_tracks_measured_from_another_origin_have_a_picture_about_their_middle():
    size, middle = guess_image_size(tracks_in((-300.0, -100.0), (340.0, 140.0)))
    assert np.allclose(size, (640.0, 240.0))
    assert np.allclose(middle, (20.0, 20.0))
