"""Arrays in single files, and the masks next to them."""

from __future__ import annotations

import numpy as np
import pytest

from core import CameraModel, InputError, inspect_file, list_sequences, read_sequence

F, P = 12, 9
RNG = np.random.default_rng(8)
TIME = np.arange(F)[:, None, None]
TRACKS = RNG.uniform(200, 700, size=(1, 2, P)) + 8 * np.sin(TIME / 3 + RNG.uniform(0, 6, (1, 2, P)))
SEEN = RNG.random((F, P)) < 0.8
SEEN[:, 0] = SEEN[:2] = True
TNXY, NTXY = TRACKS.transpose(0, 2, 1), TRACKS.transpose(2, 0, 1)


@pytest.mark.parametrize(
    "array", [TNXY, TNXY[None], np.asfortranarray(TNXY), TNXY.astype(">f8"), TRACKS.reshape(-1, P)]
)
def test_an_array_is_read_by_its_shape(tmp_path, array):
    np.save(tmp_path / "cloth.npy", array)
    found = inspect_file(tmp_path / "cloth.npy")
    assert found.producer == "NumPy array"
    np.testing.assert_array_equal(found.sequence.tracks, TRACKS)
    assert found.sequence.camera is CameraModel.PERSPECTIVE and "look like pixels" in found.guesses[-1]


@pytest.mark.parametrize(
    ("tracks", "mask", "first", "values"),
    [
        ("cloth_tracks", "cloth_visibility", TNXY, SEEN),
        ("pred_tracks", "pred_visibility", TNXY[None], SEEN[None, :, :, None]),
        ("cloth_tracks", "cloth_visibles", NTXY, SEEN.T),
        ("cloth_tracks", "cloth_occluded", NTXY, ~SEEN.T),
        ("a_coords", "a_vis", TNXY, SEEN),
    ],
)
def test_the_mask_in_a_file_next_to_it_is_read(tmp_path, tracks, mask, first, values):
    np.save(tmp_path / f"{tracks}.npy", first)
    np.save(tmp_path / f"{mask}.npy", values)
    found = inspect_file(tmp_path / f"{tracks}.npy")
    assert found.clear
    np.testing.assert_array_equal(found.sequence.tracks, TRACKS)
    np.testing.assert_array_equal(found.sequence.visible, SEEN)
    with pytest.raises(InputError, match=f"is the visibility of {tracks}.npy; open that file"):
        read_sequence(tmp_path / f"{mask}.npy")
    assert [entry.file.name for entry in list_sequences(tmp_path)] == [f"{tracks}.npy"]


def test_the_depth_of_spatial_tracker_is_not_read(tmp_path):
    depth = 2 + 0.1 * RNG.random((F, P, 1))
    np.save(tmp_path / "butterfly_spatracker_tracks.npy", np.concatenate([TNXY, depth], axis=2))
    found = inspect_file(tmp_path / "butterfly_spatracker_tracks.npy")
    assert found.producer == "SpatialTracker" and not found.clear
    assert any("the depth is not read" in guess for guess in found.guesses)
    np.testing.assert_array_equal(found.sequence.tracks, TRACKS)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (RNG.normal(size=(F, P, 3)), "points in space without cameras; accepted are tracks"),
        (RNG.normal(size=(F, P, 6)), "fits no layout that is known"),
        (np.zeros(5), "fits no layout that is known"),
        (np.array(["a", "b"]), "fits no layout that is known"),
        (np.array([object()]), "cloth.npy: is a"),
    ],
)
def test_an_array_that_is_no_tracks_is_refused(tmp_path, array, sentence):
    np.save(tmp_path / "cloth.npy", array)
    with pytest.raises(InputError, match=sentence):
        read_sequence(tmp_path / "cloth.npy")
