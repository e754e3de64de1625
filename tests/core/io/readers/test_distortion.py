"""Distorted points of COLMAP's and Bundler's cameras: undone as OpenCV makes them, and in their files."""

from __future__ import annotations

import numpy as np
import pytest

from core import read_sequence
from core.io.readers.geometry.scenes import undistorted

cv2 = pytest.importorskip("cv2")

POINTS = np.random.default_rng(1).uniform(-0.6, 0.6, (500, 2))
PINHOLE = {
    "SIMPLE_RADIAL": [-0.2],
    "RADIAL": [-0.2, 0.05],
    "OPENCV": [-0.2, 0.05, 0.01, -0.006],
    "FULL_OPENCV": [-0.2, 0.05, 0.01, -0.006, 0.01, 0.02, 0.01, -0.01],
}
FISHEYE = {
    "SIMPLE_RADIAL_FISHEYE": [0.05],
    "RADIAL_FISHEYE": [0.05, -0.01],
    "OPENCV_FISHEYE": [0.05, -0.01, 0.004, -0.001],
}


def seen_by_opencv(model: str) -> np.ndarray:
    """Return where OpenCV sees `POINTS` at depth 1, in focal lengths."""
    if model in FISHEYE:
        values = np.zeros(4)
        values[: len(FISHEYE[model])] = FISHEYE[model]
        return cv2.fisheye.distortPoints(POINTS[:, None], np.eye(3), values)[:, 0]
    values = np.zeros(max(4, len(PINHOLE[model])))
    values[: len(PINHOLE[model])] = PINHOLE[model]
    ahead = np.column_stack([POINTS, np.ones(len(POINTS))])
    return cv2.projectPoints(ahead, np.zeros(3), np.zeros(3), np.eye(3), values)[0][:, 0]


@pytest.mark.parametrize("model", [*PINHOLE, *FISHEYE])
def test_points_are_where_a_camera_without_distortion_sees_them(model):
    seen = seen_by_opencv(model)
    assert np.abs(seen - POINTS).max() > 1e-3
    found = undistorted(seen, model, np.array((PINHOLE | FISHEYE)[model]))
    np.testing.assert_allclose(found, POINTS, atol=1e-9)


def test_a_point_that_no_direction_is_seen_at_is_nan():
    # r (1 - r^2) is at most 2 / (3 sqrt 3) = 0.385, at r = 0.577.
    found = undistorted(np.array([[0.38, 0], [0.39, 0]]), "SIMPLE_RADIAL", np.array([-1.0]))
    assert 0.5 < found[0, 0] < 0.577 and np.isnan(found[1]).all()


def test_tracks_of_a_model_of_colmap_are_without_the_distortion(tmp_path):
    focal, middle = 800.0, np.array([320.0, 240.0])
    pixels = focal * seen_by_opencv("OPENCV") + middle
    values = " ".join(map(str, PINHOLE["OPENCV"]))
    (tmp_path / "cameras.txt").write_text(f"1 OPENCV 640 480 800 800 320 240 {values}\n")
    lines = []
    for frame in range(3):
        keys = " ".join(f"{x!r} {y!r} {point}" for point, (x, y) in enumerate(pixels.tolist()))
        lines += [f"{frame + 1} 1 0 0 0 0 0 0 1 {frame}.png", keys]
    (tmp_path / "images.txt").write_text("\n".join(lines) + "\n")
    read = read_sequence(tmp_path)
    np.testing.assert_allclose(read.tracks[0].T, focal * POINTS + middle, atol=1e-6)
    assert "the distortion of the cameras is undone" in read.provenance
