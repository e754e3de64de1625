"""What a view must show of a sequence: the size, the motion and the default direction of the object."""

from dataclasses import replace

import numpy as np
import pytest

from core.foundation import rotation_from_vector
from core.reconstruction import orient
from nrsfm_gui.scene.framing import frame_points
from nrsfm_gui.scene.orbit_camera import Orbit, free_area

SIZE = (800, 500)


def bodies(frames=40, points=60, size=(50.0, 80.0, 20.0)):
    """Return a cloud (F, 3, P) that trembles in one place."""
    rng = np.random.default_rng(5)
    shape = rng.uniform(-1, 1, (3, points)) * np.array(size)[:, None]
    return shape + rng.normal(0, 0.5, (frames, 3, points))


def placed(orbit, points):
    """Return points (P, 3) in a picture, whose free part has the corners (-1, -1) and (1, 1)."""
    low, high = free_area(*SIZE)
    return (orbit.projection(*SIZE).pixels(points)[0] - (low + high) / 2) / ((high - low) / 2)


def share(orbit, points):
    """Return the larger side of the box of points (P, 3), of the free part of a picture."""
    return float(np.ptp(placed(orbit, points), axis=0).max() / 2)


def course(points, *, orthographic=False, follow=True):
    """Return the orbits that show the frames of points (F, 3, P) from the default direction."""
    framing = frame_points(points)
    aim = replace(framing.aim, orthographic=orthographic)
    return [framing.fit(aim, *SIZE, frame, follow=follow) for frame in range(len(points))]


def reach(orbit, points):
    """Return how far points (P, 3) reach from the middle of the free part of a picture; above 1: outside."""
    return float(np.abs(placed(orbit, points)).max())


def inflated(frames=45):
    """Return a cloud (F, 3, P) that becomes three times as large."""
    return bodies(frames) * np.linspace(1.0, 3.0, frames)[:, None, None]


def risen(frames=45):
    """Return a cloud (F, 3, P) half of which rises to three times its height, and comes down."""
    points = bodies(frames)
    points[:, 1, :30] -= 250.0 * np.sin(np.linspace(0.0, np.pi, frames))[:, None]
    return points


@pytest.mark.parametrize("orthographic", [False, True])
def test_a_trembling_object_fills_the_view_and_the_camera_hardly_moves(orthographic):
    points = bodies()
    orbits = course(points, orthographic=orthographic)
    found = [share(orbit, frame.T) for orbit, frame in zip(orbits, points, strict=True)]
    assert 0.7 < min(found) and max(found) < 0.95
    distances = [orbit.distance for orbit in orbits]
    assert max(distances) < 1.02 * min(distances)


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("make", [inflated, risen])
def test_an_object_that_grows_is_large_at_first_and_never_cut_by_a_camera_that_goes_back(make, orthographic):
    points = make()
    orbits = course(points, orthographic=orthographic)
    assert share(orbits[0], points[0].T) > 0.65
    assert all(reach(orbit, frame.T) < 1.02 for orbit, frame in zip(orbits, points, strict=True))
    still = course(points, orthographic=orthographic, follow=False)
    assert len(set(still)) == 1
    assert share(still[0], points[0].T) < 0.45
    shares = [share(orbit, frame.T) for orbit, frame in zip(orbits, points, strict=True)]
    if make is inflated:  # it is seen to grow
        assert shares[-1] > shares[0] + 0.15 and np.diff(shares).min() > -0.02


def test_the_camera_moves_evenly():
    away = np.log([orbit.distance for orbit in course(risen())])
    assert np.abs(np.diff(away)).max() < 0.08
    assert np.abs(np.diff(away, n=2)).max() < 0.03
    assert (np.diff(np.sign(np.diff(away))) != 0).sum() < 8  # back and forth once, but for the trembling


def test_a_few_long_frames_leave_the_others_as_large():
    points = bodies(frames=60)
    usual = course(points)
    points[30] *= 4.0
    found = course(points)
    for frame in (0, 15, 45, 59):
        assert found[frame].distance == pytest.approx(usual[frame].distance, rel=0.05)


def test_an_outlier_changes_neither_the_size_nor_the_floor():
    points = bodies()
    before = frame_points(points)
    points[7, :, 3] = 1e4
    after = frame_points(points)
    np.testing.assert_allclose(after.box, before.box, atol=2.0)
    assert after.orientation.floor == pytest.approx(before.orientation.floor, abs=2.0)


def test_an_object_that_walks_is_followed_and_keeps_its_size():
    still = bodies()
    way = np.linspace(0, 1000, len(still))[:, None] * np.array([0.8, 0.0, 0.6])
    framing = frame_points(still + way[:, :, None])
    assert framing.moves
    np.testing.assert_allclose(framing.displacements, way - np.median(way, axis=0), atol=1.0)
    alone = course(still)
    for frame in (0, 20):
        followed, unmoved = (framing.fit(framing.aim, *SIZE, frame, follow=each) for each in (True, False))
        assert followed.distance == pytest.approx(alone[frame].distance, rel=0.1)
        assert unmoved.distance > 2.0 * alone[frame].distance


def test_a_deformation_is_not_followed():
    points = bodies(size=(60.0, 60.0, 60.0))
    bend = np.sin(np.linspace(0, 6, len(points)))
    points[:, 0] += bend[:, None] * 20.0 * (points[:, 1] > 0)
    assert not frame_points(points).moves


def test_the_displacements_do_not_jitter():
    still = bodies(frames=80)
    way = np.linspace(0, 2000, 80)[:, None] * np.array([1.0, 0.0, 0.0])
    way[:, 1] += np.random.default_rng(0).normal(0, 10, 80)
    found = frame_points(still + way[:, :, None]).displacements
    assert np.abs(np.diff(found[:, 1], n=2)).max() < 0.1 * np.abs(np.diff(way[:, 1], n=2)).max()


def test_frames_without_points_are_bridged():
    still = bodies()
    way = np.linspace(0, 1000, len(still))[:, None] * np.array([1.0, 0.0, 0.0])
    points = still + way[:, :, None]
    points[10:14] = np.nan
    expected = (way - np.median(way, axis=0))[12]
    np.testing.assert_allclose(frame_points(points).displacements[12], expected, atol=5.0)
    assert frame_points(np.full((4, 3, 5), np.nan)) is None


def test_up_is_that_of_the_cameras_and_an_axis_where_one_is_near():
    points = bodies()
    z_up = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # y of the camera points against z of the object
    tilted = rotation_from_vector(np.array([0.3, 0.0, 0.0])) @ z_up
    cameras = np.repeat(tilted[None], 5, axis=0)
    found = orient(points, cameras, axes=np.eye(3))
    assert found.up.tolist() == [0.0, 0.0, 1.0]
    assert frame_points(points, found).by_cameras and not frame_points(points).by_cameras
    np.testing.assert_allclose(orient(points, cameras).up, -tilted[1])  # in coordinates without a truth
    turned = np.diag([-1.0, -1.0, 1.0]) @ z_up  # of tracks whose y points up
    assert orient(points, turned[None], axes=np.eye(3)).up.tolist() == [0.0, 0.0, 1.0]
    oblique = rotation_from_vector(np.array([0.0, 0.0, np.pi / 4]))
    np.testing.assert_allclose(orient(points, oblique[None], axes=np.eye(3)).up, -oblique[1])


@pytest.mark.parametrize("normal", [0, 1, 2])
def test_a_sheet_is_never_seen_edge_on(normal):
    framing = frame_points(bodies(size=np.where(np.arange(3) == normal, 0.5, 60.0)))
    assert abs(framing.aim.rotation[2, normal]) > 0.4


def test_the_default_view_is_from_the_side_of_the_cameras():
    framing = frame_points(bodies(size=(50.0, 50.0, 50.0)))
    for angle in (0.0, 1.0, 2.5, -2.0):
        R = rotation_from_vector(np.array([0.0, angle, 0.0]))
        seen = framing.aimed(orient(bodies(), R[None]))
        assert seen.aim.rotation[2] @ R[2] > 0.7
        np.testing.assert_allclose(seen.aim.preset("front", seen.front).rotation, R, atol=1e-12)


def test_an_orbit_about_another_axis_looks_in_the_same_direction():
    rng = np.random.default_rng(3)
    for azimuth, elevation in ((30.0, 20.0), (-100.0, -60.0), (0.0, 90.0)):
        orbit = Orbit(azimuth=azimuth, elevation=elevation, up=(0.0, 0.6, 0.8))
        for up in (orbit.up, tuple(orbit.rotation[1] * -1.0), *rng.normal(size=(3, 3))):
            up = np.array(up) / np.linalg.norm(up)
            found = orbit.about(up)
            np.testing.assert_allclose(found.rotation[2], orbit.rotation[2], atol=1e-6)
            assert found.rotation[0] @ up == pytest.approx(0.0, abs=1e-6)  # the horizon is level
        np.testing.assert_allclose(orbit.about(-orbit.rotation[1]).rotation, orbit.rotation, atol=1e-6)
