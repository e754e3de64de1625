"""The floor below the object and its grid."""

import numpy as np
import pytest

from core.reconstruction import orient
from nrsfm_gui.scene.floor import Floor
from nrsfm_gui.scene.framing import frame_points


@pytest.fixture(params=[[0.0, -1.0, 0.0], [0.6, 0.0, 0.8]])
def framing(request):
    """Return the framing of a walking cloud whose cameras have some axis upwards."""
    up = np.array(request.param)
    points = np.random.default_rng(2).uniform(-60, 60, (30, 3, 40))
    points[:, 1] += np.linspace(0, 900, 30)[:, None]
    ahead = np.cross(up, [0.0, 1.0, 0.1])
    ahead /= np.linalg.norm(ahead)
    rotation = np.stack([np.cross(-up, ahead), -up, ahead])
    return points, frame_points(points, orient(points, rotation[None]))


def test_the_floor_is_below_all_points_of_all_frames(framing):
    points, found = framing
    floor = Floor.below(found, 0)
    lowest = (points.transpose(0, 2, 1) @ floor.up).min()
    assert floor.level < lowest
    assert floor.level > lowest - 0.1 * floor.radius
    assert floor.center @ floor.up == pytest.approx(floor.level)


def test_the_grid_lies_in_the_floor_is_round_and_fades_out_around_the_object(framing):
    _, found = framing
    floor = Floor.below(found, 12)
    lines, opacity = floor.segments
    np.testing.assert_allclose(lines @ floor.up, floor.level, atol=1e-9 * floor.radius)
    away = np.linalg.norm(lines - floor.center, axis=1)
    assert away.max() <= floor.radius * (1 + 1e-9)
    assert opacity[away < 0.2 * floor.radius].min() == 1.0
    assert opacity[away > 0.97 * floor.radius].max() < 0.3
    assert ((opacity >= 0) & (opacity <= 1)).all()
    mantissa = floor.step / 10.0 ** np.floor(np.log10(floor.step) + 1e-9)
    assert min(abs(mantissa - wanted) for wanted in (1, 2, 5)) < 1e-9


def test_the_lines_stay_in_place_while_the_object_moves_over_them(framing):
    _, found = framing
    for frame in (0, 13, 29):
        floor = Floor.below(found, frame)
        start, end = floor.segments[0].reshape(-1, 2, 3).swapaxes(0, 1)
        across = np.cross(end - start, floor.up) / np.linalg.norm(end - start, axis=1, keepdims=True)
        places = np.einsum("ma,ma->m", start, across) / floor.step
        np.testing.assert_allclose(places, np.round(places), atol=1e-6)


def test_the_shadow_is_below_the_points_and_paler_below_high_ones():
    up = np.array([0.0, -1.0, 0.0])
    floor = Floor(np.array([10.0, 5.0, -20.0]), up, -5.0, 1.0, 100.0)
    cloud = np.random.default_rng(0).normal([40.0, -10.0, 0.0], 8, (300, 3))
    cloud[::7] = np.nan
    places, dark = floor.shadow(cloud)
    np.testing.assert_allclose(places @ up, -5.0)
    assert ((dark >= 0) & (dark < 1)).all()
    darkest = places[dark.argmax()]
    np.testing.assert_allclose(darkest[[0, 2]], np.nanmean(cloud, axis=0)[[0, 2]], atol=6.0)
    assert dark.max() > 0.5
    assert dark[np.linalg.norm(places - darkest, axis=1) > 60].max() < 0.02
    assert floor.shadow(cloud - [0.0, 80.0, 0.0])[1].max() < 0.8 * dark.max()
    for count in (60, 3000):  # as dark with any number of points of one shape
        cloud = np.random.default_rng(1).uniform(-30, 30, (count, 3))
        assert 0.4 < floor.shadow(cloud + floor.center)[1].max() < 0.95
    assert not floor.shadow(np.full((5, 3), np.nan))[1].any()
