"""The orbiting camera: pure numbers."""

import numpy as np
import pytest
from reconstructions import build_shapes

from nrsfm_gui.model.numbers import nice_step, ticks
from nrsfm_gui.scene.orbit_camera import MARGINS, Orbit, image_window, locked_projection
from nrsfm_gui.scene.scene import build_scene

BOX = np.array([[-40.0, -30.0, -90.0], [60.0, 50.0, 30.0]])


def corners(box):
    return np.array([[x, y, z] for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])


@pytest.mark.parametrize("orthographic", [False, True])
def test_opengl_matrix_and_pixels_are_the_same_map(orthographic):
    projection = Orbit((3.0, -2.0, 5.0), 400.0, 33.0, 21.0, orthographic).projection(800, 600)
    points = np.random.default_rng(0).uniform(-60, 60, (50, 3))
    clip = np.concatenate([points, np.ones((50, 1))], axis=1) @ projection.clip_matrix().T
    device = clip[:, :3] / clip[:, 3:]
    pixels, depth = projection.pixels(points)
    np.testing.assert_allclose(pixels[:, 0], (device[:, 0] + 1) * 400, atol=1e-9)
    np.testing.assert_allclose(pixels[:, 1], (1 - device[:, 1]) * 300, atol=1e-9)
    assert (np.abs(device[:, 2]) < 1).all()
    order = np.argsort(depth)
    assert (np.diff(device[order, 2]) > 0).all()  # nearer is in front


@pytest.mark.parametrize("preset", ["top", "iso"])
@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("size", [(500, 900), (1600, 500)])
def test_fit_shows_all_of_a_box_and_fills_the_view(preset, orthographic, size):
    orbit = Orbit(orthographic=orthographic).preset(preset).fitted(corners(BOX), *size)
    pixels, _ = orbit.projection(*size).pixels(corners(BOX))
    room = np.concatenate([pixels.min(axis=0), size - pixels.max(axis=0)])  # left, above, right, below
    assert (room >= np.array(MARGINS) - 1e-6).all()
    assert np.isclose(room, MARGINS).reshape(2, 2).all(axis=0).any()  # it touches both margins of a direction


@pytest.mark.parametrize(("orthographic", "size"), [(False, (1600, 500)), (True, (500, 900))])
def test_what_is_fitted_all_around_stays_in_the_picture_while_it_turns(orthographic, size):
    orbit = Orbit(orthographic=orthographic).preset("iso").around(corners(BOX), *size)
    least = np.inf
    for turn in range(0, 360, 5):
        pixels, _ = orbit.turned(turn, 0.0).projection(*size).pixels(corners(BOX))
        room = np.concatenate([pixels.min(axis=0), size - pixels.max(axis=0)])
        least = min(least, (room - MARGINS).min())
    assert abs(least) < 1e-6  # it never leaves, and is no smaller than that takes


def test_presets_look_along_the_axes():
    def axes(preset):
        orbit = Orbit(distance=10.0, orthographic=True).preset(preset)
        return orbit.projection(600, 600).pixels(np.eye(3))[0]

    for preset, right, down in (("front", 0, 1), ("side", 2, 1)):
        assert axes(preset)[right, 0] > 300 + 10 and axes(preset)[down, 1] > 300 + 10
    pixels = axes("top")
    assert pixels[0, 0] > 300 + 10  # x to the right
    assert pixels[2, 1] < 300 - 10  # z away from the viewer, upwards
    np.testing.assert_allclose(pixels[1], 300, atol=1e-6)


def test_a_drag_turns_the_near_side_with_the_mouse():
    front, near_side = Orbit(distance=10.0).preset("front"), np.array([[0.0, 0.0, -1.0]])
    orbits = front, front.turned(10.0, 10.0)
    before, after = (orbit.projection(600, 600).pixels(near_side)[0] for orbit in orbits)
    assert (after > before + 5).all()
    assert (Orbit().turned(0, 500).elevation, Orbit().turned(0, -500).elevation) == (90, -90)
    assert Orbit(azimuth=170.0).turned(-30, 0).azimuth == pytest.approx(-160)


def test_points_behind_the_camera_have_no_pixel():
    projection = Orbit(distance=10.0).preset("front").projection(600, 600)
    pixels, _ = projection.pixels(np.array([[0.0, 0.0, -20.0], [0.0, 0.0, 0.0]]))
    assert np.isnan(pixels[0]).all()
    assert np.isfinite(pixels[1]).all()


@pytest.mark.parametrize("affine", [False, True])
def test_locked_view_is_the_picture_of_the_tracks(make_known, affine):
    known = make_known(affine=affine)
    shapes = build_shapes(known.sequence, known.result)
    scene = build_scene(known.sequence, shapes, frame=3)
    projection = locked_projection(scene.camera, scene.shapes.image_extent, scene.extent, 700, 500)
    pixels, _ = projection.pixels(scene.estimate)
    window = image_window(scene.shapes.image_extent, 700, 500)
    expected = scene.reprojected @ window[:2, :2].T + window[:2, 2]
    np.testing.assert_allclose(pixels, expected, atol=1e-6)
    assert (pixels > 0).all() and (pixels < (700, 500)).all()
    clip = np.concatenate([scene.estimate, np.ones((len(pixels), 1))], axis=1) @ projection.clip_matrix().T
    np.testing.assert_allclose((clip[:, 0] / clip[:, 3] + 1) * 350, pixels[:, 0], atol=1e-6)
    assert (np.abs(clip[:, 2]) < clip[:, 3]).all()  # within the clipping planes


def test_steps_are_1_2_or_5_and_ticks_are_round_and_inside():
    sizes = 100.0, 1.3, 0.011, 7.0, 1000
    assert [nice_step(size) for size in sizes] == pytest.approx([20.0, 0.5, 0.005, 2.0, 200])
    for low, high in ((0, 1), (-3.2, 4.1), (1e-9, 3e-9), (12345, 12399)):
        found = ticks(low, high)
        assert 2 <= len(found) <= 8 and low - 1e-9 <= found[0] and found[-1] <= high + 1e-9
        step = found[1] - found[0]
        mantissa = step / 10.0 ** np.floor(np.log10(step) + 1e-9)
        assert min(abs(mantissa - wanted) for wanted in (1, 2, 5, 10)) < 1e-6
