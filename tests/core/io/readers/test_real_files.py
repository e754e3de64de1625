from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from core import CameraModel, list_sequences, read_sequence

PERSPECTIVE, ORTHOGONAL = CameraModel.PERSPECTIVE, CameraModel.ORTHOGONAL


class Expected(NamedTuple):
    camera: CameraModel
    frames: int
    points: int
    visible: float = 1.0
    truth: bool = True
    focal: float | None = None
    rotations: bool = False
    edges: int = 0


FILES = {
    "mocap/pickup.mat": Expected(ORTHOGONAL, 357, 41, rotations=True, edges=55),
    "mocap/drink.mat": Expected(ORTHOGONAL, 1102, 41, rotations=True, edges=53),
    "mocap/stretch.mat": Expected(ORTHOGONAL, 370, 41, rotations=True, edges=51),
    "mocap/dance.mat": Expected(ORTHOGONAL, 264, 75),
    "mocap/face.mat": Expected(ORTHOGONAL, 316, 40),
    "mocap/jaws.mat": Expected(ORTHOGONAL, 240, 91),
    "pyproximal/mocap.npz": Expected(ORTHOGONAL, 357, 41),
    "kinect_paper/mdh_results-KPaper.mat": Expected(PERSPECTIVE, 23, 301, focal=528.0144),
    "kinect_mat/mat.mat": Expected(PERSPECTIVE, 60, 1500, focal=1054.66875),
    "back/back_L_3D.mat": Expected(PERSPECTIVE, 150, 245),
    "door/data.mat": Expected(PERSPECTIVE, 12, 17650, visible=0.664, focal=2398.12, rotations=True),
    "book/book.mat": Expected(ORTHOGONAL, 668, 85, visible=0.6465, truth=False),
    "rigid/dinosaur_trimmed.mat": Expected(PERSPECTIVE, 36, 319, visible=0.2308, truth=False, focal=3217.33),
    "rigid/house.mat": Expected(PERSPECTIVE, 10, 672, visible=0.4235, truth=False, focal=645.555),
}


@pytest.mark.parametrize("name", FILES)
def test_it_loads_as_described(data, name):
    expected = FILES[name]
    read = read_sequence(data / "real" / name)
    assert read.camera is expected.camera
    assert (read.frame_count, read.point_count) == (expected.frames, expected.points)
    assert read.visible.mean() == pytest.approx(expected.visible, abs=1e-3)
    assert (read.truth is not None) == expected.truth
    focal = None if read.intrinsics is None else read.intrinsics[0, 0]
    assert focal == pytest.approx(expected.focal, abs=1e-2)
    assert (read.rotations is not None) == expected.rotations
    assert (0 if read.edges is None else len(read.edges)) == expected.edges
    assert len(read.digest) == 64 and read.source == data / "real" / name


@pytest.mark.parametrize("name", [name for name, expected in FILES.items() if expected.rotations])
def test_true_cameras_and_shapes_give_the_tracks(data, name):
    read = read_sequence(data / "real" / name)
    seen = read.rotations @ read.truth.points + read.translations[:, :, None]
    if read.intrinsics is not None:
        seen = read.intrinsics @ seen
        seen = seen[:, :2] / seen[:, 2:]
    misses = (seen[:, :2] - read.tracks).transpose(0, 2, 1)[read.visible]
    rms = np.sqrt((misses**2).mean())
    assert rms < (0.45 if name.startswith("door") else 1e-12)
    assert np.linalg.det(read.rotations) == pytest.approx(1)


def test_everything_is_listed_from_the_folder_above(data):
    entries = list_sequences(data / "real")
    assert not any(entry.problem for entry in entries)
    assert {str(entry.file.relative_to(data / "real")) for entry in entries} == set(FILES)
    assert len(list_sequences(data / "real" / "kinect_paper")) == 1


# -- the tracks of one object as models of structure from motion have them -----------------------------------


@pytest.fixture
def native(data):
    return read_sequence(data / "challenge_more" / "drink" / "sequence" / "perspective" / "circle.txt")


@pytest.mark.parametrize("name", ["bundle.out", "colmap"])
def test_a_model_of_structure_from_motion_gives_tracks_and_the_camera(name, native, data):
    read = read_sequence(data / "foreign" / name)
    np.testing.assert_array_equal(read.visible, native.visible)
    middle = np.array([640, 480])[:, None] if name == "bundle.out" else 0  # where Bundler has its origin
    difference = np.where(native.visible[:, None], read.tracks + middle - native.tracks, 0)
    assert np.abs(difference).max() <= 1e-3
    assert read.intrinsics[0, 0] == 1400 and read.camera is CameraModel.PERSPECTIVE
