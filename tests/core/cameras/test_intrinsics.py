import numpy as np
import pytest

from core import CameraModel, InputError, Observations, read_sequence
from core.cameras import (
    SENSOR,
    calibrate,
    estimate_intrinsics,
    focal_from_lens,
    focal_from_view,
    lens_of_focal,
    load_intrinsics,
    to_pixels,
    view_of_focal,
)
from core.cameras.calibration import ORTHOGONAL_SPREAD, orthogonal_intrinsics, project
from core.cameras.intrinsics import guess_image_size
from core.foundation import rotation_from_vector

K = np.array([[1400.0, 0.0, 640.0], [0.0, 1350.0, 480.0], [0.0, 0.0, 1.0]])
R = rotation_from_vector(np.array([0.4, -0.7, 0.2]))
T = np.array([6.0, -4.0, 420.0])


def view(points: np.ndarray) -> np.ndarray:
    return project((R @ points + T[:, None])[None], K, CameraModel.PERSPECTIVE)[0]


def cloud(count: int, seed: int = 0) -> np.ndarray:
    return 60.0 * np.random.default_rng(seed).normal(size=(3, count))


def seen(count: int) -> np.ndarray:
    return np.ones(count, dtype=bool)


@pytest.mark.parametrize("count", [6, 7, 40])
@pytest.mark.parametrize("mirrored", [False, True])
def test_exact_projections_recover_the_camera(count, mirrored):
    points, tracks, visible = cloud(count + 3), view(cloud(count + 3)), seen(count + 3)
    visible[3], tracks[:, 3] = False, 1e4  # three points that do not count
    points[1, 1], tracks[0, 2] = np.nan, np.nan
    found = estimate_intrinsics(points * [[1.0], [1.0], [-1.0 if mirrored else 1.0]], tracks, visible)
    np.testing.assert_allclose(found.K, K, rtol=1e-7)
    flip = np.diag([1.0, 1.0, -1.0 if mirrored else 1.0])  # a mirror image has the same intrinsics
    np.testing.assert_allclose(found.rotation, R @ flip, atol=1e-7)
    np.testing.assert_allclose(found.translation, T, rtol=1e-6, atol=1e-5)
    assert found.rms < 1e-6


def test_noise_moves_the_intrinsics_by_about_the_stated_uncertainty():
    rng = np.random.default_rng(1)
    points = cloud(60)
    noisy = (view(points) + 0.5 * rng.normal(size=(2, 60)) for _ in range(40))
    found = [estimate_intrinsics(points, tracks, seen(60)) for tracks in noisy]
    assert all(0.4 < each.rms / np.sqrt(0.5) < 1.4 for each in found)
    assert 0.6 < np.std([(each.K[0, 0] / 1400.0 - 1.0) / each.uncertainty for each in found]) < 1.5


def test_no_nearby_camera_fits_better_than_the_refined_one():
    rng = np.random.default_rng(2)
    points = cloud(15)
    tracks = view(points) + rng.normal(size=(2, 15))
    found = estimate_intrinsics(points, tracks, seen(15))
    for _ in range(200):
        other = found.K.copy()
        other[[0, 1, 0, 1], [0, 1, 2, 2]] += 0.5 * rng.normal(size=4)
        turn = rotation_from_vector(2e-3 * rng.normal(size=3)) @ found.rotation
        shifted = found.translation + 0.1 * rng.normal(size=3)
        picture = project((turn @ points + shifted[:, None])[None], other, CameraModel.PERSPECTIVE)[0]
        assert np.sqrt(np.mean(np.sum((picture - tracks) ** 2, axis=0))) > found.rms


RANDOM = np.random.default_rng(4)
FLAT, THIN = cloud(30), cloud(30) * [[1.0], [1.0], [0.01]]
FLAT[2] = 0.5 * FLAT[0] - FLAT[1]


@pytest.mark.parametrize(
    ("points", "tracks", "message"),
    [
        (cloud(5), view(cloud(5)), "has 5 points"),
        (FLAT, view(FLAT), "planar"),
        (THIN, view(THIN) + 3.0 * RANDOM.normal(size=(2, 30)), "relative standard deviation"),
        (cloud(30), (R @ cloud(30))[:2] * 3.0 + 500.0 + 0.3 * RANDOM.normal(size=(2, 30)), "fx,fy,cx,cy"),
        (cloud(12), 1000.0 * RANDOM.random(size=(2, 12)), "give the intrinsics as fx,fy,cx,cy"),
    ],
    ids=["few", "planar", "thin", "affine", "of something else"],
)
def test_what_does_not_determine_a_camera_is_refused(points, tracks, message):
    with pytest.raises(InputError, match=message):
        estimate_intrinsics(points, tracks, seen(points.shape[1]))


def test_intrinsics_of_the_challenge_like_sequences(data):
    for name in ("face", "pickup", "dance"):
        sequence = read_sequence(data / "challenge_like" / name / "sequence" / "perspective" / "tricky.txt")
        assert sequence.truth is not None
        frame = sequence.truth.reference
        found = estimate_intrinsics(sequence.truth.at(frame), sequence.tracks[frame], sequence.visible[frame])
        assert abs(found.K[0, 0] / 1400.0 - 1.0) < 0.02
        assert found.rms < 0.6


def observations(seed: int = 6) -> Observations:
    rng = np.random.default_rng(seed)
    tracks = 300.0 + 50.0 * rng.normal(size=(5, 2, 9))
    visible = rng.random(size=(5, 9)) > 0.2
    tracks[np.repeat(~visible[:, None, :], 2, axis=1)] = np.nan
    return Observations(tracks, visible)


@pytest.mark.parametrize("skew", [0.0, 20.0])
def test_calibrated_tracks_are_viewing_rays(skew):
    given, camera = observations(), K + skew * np.eye(3, k=1) * [[1.0], [0.0], [0.0]]
    calibrated = calibrate(given, camera, CameraModel.PERSPECTIVE)
    f, p = np.argwhere(given.visible)[4]
    ray = np.linalg.solve(camera, [*given.tracks[f, :, p], 1.0])
    np.testing.assert_allclose(calibrated[f, :, p], ray[:2] / ray[2], rtol=1e-12)
    assert np.isnan(calibrated[np.repeat(~given.visible[:, None, :], 2, axis=1)]).all()
    np.testing.assert_allclose(to_pixels(calibrated, camera), given.tracks, rtol=1e-12)
    with pytest.raises(InputError, match="camera is 'fisheye'; accepted are perspective, orthogonal"):
        calibrate(given, camera, "fisheye")
    if skew:
        with pytest.raises(InputError, match="K of an orthogonal camera has skew 20; accepted is 0"):
            calibrate(given, camera, "orthogonal")


def test_points_at_depth_zero_project_to_nan():
    Y = np.array([[[1.0, 2.0], [1.0, 2.0], [0.0, 2.0]]])
    picture = project(Y, np.eye(3), CameraModel.PERSPECTIVE)
    assert np.isnan(picture[0, :, 0]).all() and (picture[0, :, 1] == 1.0).all()
    np.testing.assert_array_equal(project(Y, np.eye(3), CameraModel.ORTHOGONAL), Y[:, :2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 2\n3 4\n5 6\n", "3 x 2 numbers"),
        ("1400 0 640\n0 1400\n", "row 2"),
        ("1400 1400 640 x\n", "'x'"),
        ("-1400 1400 640 480\n", "must be positive"),
        ("1400 0 640\n5 1400 480\n0 0 1\n", "accepted is"),
        ("", "empty"),
        ("fx\n", "'fx'.*accepted are a text of 3 x 3"),
        ("nan 1 2 3\n", "not finite; accepted are finite numbers"),
    ],
)
def test_a_file_that_holds_no_intrinsics_is_refused_by_name(tmp_path, content, message):
    file = tmp_path / "camera.txt"
    file.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        load_intrinsics(file)
    assert "camera.txt" in str(caught.value)


def test_intrinsics_are_read_from_text_and_npz(tmp_path):
    numbers, matrix, archive = (tmp_path / name for name in ("four.txt", "matrix.txt", "camera.npz"))
    numbers.write_text("1400, 1350, 640, 480\n")
    np.savetxt(matrix, 2.0 * K)  # K is known up to a factor
    np.savez(archive, K=K)
    for file in (numbers, matrix, archive):
        np.testing.assert_allclose(load_intrinsics(file), K)
    np.savez(archive, camera=K)
    with pytest.raises(InputError, match=r"camera\.npz.*camera 3 x 3"):
        load_intrinsics(archive)
    with pytest.raises(InputError, match="no such file"):
        load_intrinsics(tmp_path / "absent.txt")
    for name in ("K.npz", "K.txt"):  # of another kind, whose bytes are not shown
        with (tmp_path / name).open("wb") as stream:
            np.save(stream, K)
        with pytest.raises(InputError, match=name) as caught:
            load_intrinsics(tmp_path / name)
        assert str(caught.value).isprintable() and ".npz" in str(caught.value)


def test_orthogonal_tracks_get_the_extent_of_a_typical_perspective_view():
    given = observations()
    drift = np.arange(5.0)[:, None, None] * np.array([[40.0], [-25.0]])  # the translation does not count
    moved = Observations(given.tracks + drift, given.visible)
    for observed in (given, moved):
        found = orthogonal_intrinsics(observed)
        m = calibrate(observed, found, CameraModel.ORTHOGONAL)
        np.testing.assert_allclose(np.nansum(m, axis=(0, 2)), 0.0, atol=1e-12)
        centered = m - np.nanmean(m, axis=2, keepdims=True)
        spread = np.sqrt(np.nansum(centered**2) / observed.visible.sum())
        assert spread == pytest.approx(ORTHOGONAL_SPREAD, rel=1e-12)
        assert found[0, 0] == found[1, 1] == pytest.approx(orthogonal_intrinsics(given)[0, 0])
        np.testing.assert_allclose(to_pixels(m, found), observed.tracks, rtol=1e-12)


# -- focal lengths in several units, and the size of a picture guessed from its tracks --------------------


def tracks_in(low, high, frames=8, points=30):
    """Tracks that reach from one corner to the other."""
    tracks = np.random.default_rng(1).uniform(size=(frames, 2, points))
    tracks[0, :, 0], tracks[0, :, 1] = 0.0, 1.0
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    return Observations(low[:, None] + (high - low)[:, None] * tracks, np.ones((frames, points), dtype=bool))


@pytest.mark.parametrize("focal", (300.0, 1536.0, 9000.0))
def test_a_lens_sees_the_angle_that_its_sensor_and_its_length_make_and_what_is_none_is_refused(focal):
    millimeters = lens_of_focal(focal, 1280.0)
    assert np.isclose(np.tan(np.radians(0.5 * view_of_focal(focal, 1280.0))), 0.5 * SENSOR / millimeters)
    assert np.isclose(focal_from_lens(millimeters, 1280.0), focal)
    assert np.isclose(focal_from_lens(lens_of_focal(focal, 1280.0, 6.3), 1280.0, 6.3), focal)
    assert np.isclose(focal_from_view(view_of_focal(focal, 1280.0), 1280.0), focal)
    assert np.isclose(focal_from_lens(4.25, 1920.0, 5.64), 1920.0 / 5.64 * 4.25)
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
    guessed, middle = guess_image_size(tracks_in((-300.0, -100.0), (340.0, 140.0)))  # from another origin
    assert np.allclose(guessed, (640.0, 240.0)) and np.allclose(middle, (20.0, 20.0))
