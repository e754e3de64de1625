"""The tracks of one object as pose tools, tables and other programs have them: ../shared/data/foreign."""

import os
from pathlib import Path

import numpy as np
import pytest

from core import CameraModel, read_sequence

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[5] / "shared" / "data"))
FOREIGN = DATA / "foreign"
pytestmark = pytest.mark.skipif(not FOREIGN.is_dir(), reason="../shared/data/foreign is absent")

POINTS_25 = slice(25)  # OpenPose keeps these
LANDMARKS_33 = slice(33)


@pytest.fixture(scope="module")
def native():
    return read_sequence(DATA / "challenge_more" / "drink" / "sequence" / "perspective" / "circle.txt")


READ = {
    "dlc.csv": ({}, slice(None), 1e-3, True),
    "long_ok.csv": ({}, slice(None), 1e-3, None),
    "long_other_names.csv": ({}, slice(None), 1e-3, None),
    "wide.csv": ({}, slice(None), 1e-3, None),
    "sleap.analysis.h5": ({}, slice(None), 1e-9, True),
    "sleap_renamed.mat": ({}, slice(None), 1e-9, True),
    "openpose": ({}, POINTS_25, 1e-5, True),
    "mediapipe.json": ({"size": "1280x960"}, LANDMARKS_33, 1e-5, None),
}


@pytest.mark.parametrize("name", READ)
def test_tracks_are_those_of_the_object(name, native):
    options, points, tolerance, keeps_visibility = READ[name]
    read = read_sequence(FOREIGN / name, **options)
    visible = native.visible[:, points]
    if keeps_visibility:
        np.testing.assert_array_equal(read.visible, visible)
    else:
        assert not (visible & ~read.visible).any()
    difference = np.abs(read.tracks - native.tracks[:, :, points])[
        np.broadcast_to(visible[:, None], read.tracks.shape)
    ]
    assert difference.max() <= tolerance
    assert read.camera is CameraModel.PERSPECTIVE and read.units == "px"


@pytest.mark.parametrize("name", ["bundle.out", "colmap"])
def test_a_model_of_structure_from_motion_gives_tracks_and_the_camera(name, native):
    read = read_sequence(FOREIGN / name)
    np.testing.assert_array_equal(read.visible, native.visible)
    middle = np.array([640, 480])[:, None] if name == "bundle.out" else 0  # where Bundler has its origin
    difference = np.where(native.visible[:, None], read.tracks + middle - native.tracks, 0)
    assert np.abs(difference).max() <= 1e-3
    assert read.intrinsics[0, 0] == 1400 and read.camera is CameraModel.PERSPECTIVE
