import pickle
import re
from argparse import ArgumentParser
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from refusals import refuses
from scipy.io import savemat

import core
from core.cli import add_sequence_options
from core.io.readers import READERS


def assert_equal(first, second):
    """Compare bit for bit, NaN with NaN."""
    assert type(first) is type(second)
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype and first.shape == second.shape
        assert first.tobytes() == second.tobytes()
    elif isinstance(first, core.Observations | core.GroundTruth):
        for name in vars(first):
            assert_equal(getattr(first, name), getattr(second, name))
    else:
        assert first == second


def awkward():
    """A sequence with every field set, and values that text would lose."""
    full = core.simulate("articulated", frames=5, points=20, seed=2)
    tracks, visible, truth = full.tracks.copy(), full.visible.copy(), full.truth.points[1:4].copy()
    tracks[0, :, 0] = np.pi * 1e-200, -0.0
    visible[1, 2] = visible[3, 4] = False
    tracks[1, :, 2] = truth[0, :, 5] = np.nan
    return replace(
        full,
        tracks=tracks,
        visible=visible,
        name="a name with Ünicode",
        truth=core.GroundTruth(np.array([1, 2, 3]), truth, 2),
        faces=np.array([[0, 1, 2]]),
        truth_units="cm",
        truth_name="a learned reconstruction",
        image_size=(1280, 960),
        frame_rate=29.97,
        video_frames=5 + 3 * np.arange(len(tracks)),
        video=Path("/videos/sheet.mp4"),
        point_names=tuple(f"joint {point}" for point in range(full.point_count)),
        provenance="made up; for a test",
    )


def test_npz_round_trip_loses_nothing(tmp_path):
    original, file = awkward(), tmp_path / "sequence.npz"
    assert not [name for name, value in vars(original).items() if value is None and name != "source"]
    core.write_npz(original, file)
    read = core.read_sequence(file)
    for name in set(vars(original)) - {"source", "digest"}:
        assert_equal(getattr(original, name), getattr(read, name))
    assert read.source == file
    assert [item.name for item in tmp_path.iterdir()] == ["sequence.npz"]


def test_a_video_next_to_the_tracks_may_be_moved_with_them(tmp_path):
    there, then = tmp_path / "there", tmp_path / "then"
    there.mkdir()
    core.write_npz(replace(awkward(), video=there / "sheet.mp4"), there / "tracks.npz")
    there.rename(then)
    assert core.read_sequence(then / "tracks.npz").video == then / "sheet.mp4"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"image_size": (0, 480)}, "accepted are width and height"),
        ({"image_size": (640,)}, "accepted are width and height"),
        ({"video_frames": np.array([3, 4])}, "accepted are"),
        ({"video_frames": np.full(5, 2**64 - 1, np.uint64)}, "are from 18446744073709551615 to "),
        ({"frame_rate": 0.0}, "accepted are 1e-06 to "),
    ],
)
def test_what_is_known_about_the_picture_and_the_points_is_checked(changes, sentence):
    with pytest.raises(core.InputError, match=sentence):
        replace(awkward(), **changes)


def test_a_foreign_npz_is_read_by_its_variables_and_never_unpickled(tmp_path):
    sequence = core.simulate("paper", camera=core.CameraModel.ORTHOGONAL, frames=6, points=15)
    M, X_gt = sequence.tracks.reshape(-1, 15), sequence.truth.points.reshape(-1, 15)
    markers = np.array([{"not": "read"}], dtype=object)
    np.savez(tmp_path / "mocap.npz", M=M, X_gt=X_gt, R=sequence.rotations, markers=markers)
    read = core.read_sequence(tmp_path / "mocap.npz")
    np.testing.assert_array_equal(read.tracks, sequence.tracks)
    assert read.rotations is None and "estimate" in read.provenance
    np.testing.assert_array_equal(read.truth.points, sequence.truth.points)


def test_csv_round_trip_keeps_every_digit_and_what_is_missing(tmp_path):
    original = awkward()
    core.write_csv(original, tmp_path / "tracks.csv")
    read = core.read_sequence(tmp_path / "tracks.csv", camera=core.CameraModel.PERSPECTIVE)
    assert_equal(original.observations, read.observations)
    assert read.camera is core.CameraModel.PERSPECTIVE and read.reading == {"camera": "perspective"}


def test_a_single_text_file_is_interleaved_unless_another_layout_is_given(tmp_path):
    tracks = np.random.default_rng(0).normal(size=(5, 2, 7))
    np.savetxt(tmp_path / "w.txt", tracks.reshape(-1, 7), fmt="%.17g")
    assert_equal(core.read_sequence(tmp_path / "w.txt").tracks, tracks)
    np.savetxt(tmp_path / "b.txt", np.concatenate([tracks[:, 0], tracks[:, 1]]), fmt="%.17g")
    assert_equal(core.read_sequence(tmp_path / "b.txt", layout="blocked").tracks, tracks)
    entry = core.list_sequences(tmp_path / "w.txt")[0]
    assert (entry.object_name, entry.frames, entry.points) == ("w", 5, 7)


@pytest.mark.parametrize("stacked", [False, True])
def test_rows_of_points_are_not_taken_for_rows_of_frames(tmp_path, stacked):
    steps = np.random.default_rng(0).normal(size=(20, 2, 1)).cumsum(axis=0)
    tracks = 300 * np.random.default_rng(1).random((1, 2, 7)) + [[[400], [0]]] + steps
    by_point = tracks.transpose(1, 2, 0) if stacked else tracks.transpose(2, 1, 0)
    np.savez(tmp_path / "a.npz", W=by_point.reshape(14, 20))
    refuses(tmp_path / "a.npz", r"W \(14 x 20\) is smooth along the axis of its points.*--order ntxy")
    assert_equal(core.read_sequence(tmp_path / "a.npz", order="ntxy").tracks, tracks)
    assert core.read_sequence(tmp_path / "a.npz", order="tnxy").tracks.shape == (7, 2, 20)


def test_a_layout_is_accepted_of_the_formats_that_its_help_names(tmp_path):
    W = np.random.default_rng(0).normal(size=(10, 7))
    np.savetxt(tmp_path / "w.txt", W)
    np.savez(tmp_path / "w.npz", W=W)
    np.save(tmp_path / "w.npy", W)
    (tmp_path / "w.pkl").write_bytes(pickle.dumps({"W": W}))
    savemat(tmp_path / "w.mat", {"W": W})
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["W"] = W.T  # MATLAB's order is the reverse of that of HDF5
    core.write_csv(awkward(), tmp_path / "w.csv")
    accepted = set()
    for suffix in READERS:
        with suppress(core.InputError):
            read = core.read_sequence(tmp_path / f"w{suffix}", layout="blocked")
            np.testing.assert_array_equal(read.tracks[:, 1], W[5:])
            accepted.add(suffix)
    parser = ArgumentParser()
    add_sequence_options(parser)
    (option,) = (action for action in parser._actions if action.dest == "reading_layout")
    assert set(re.findall(r"\.[a-z]\w*", str(option.help))) == accepted


def test_a_file_whose_name_many_have_is_called_after_its_folder(tmp_path):
    sequence = core.simulate("paper", frames=4, points=20, seed=1)
    for file, name in (("door/data.csv", "door"), ("door/Tracks.csv", "door"), ("a/gate.csv", "gate")):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        core.write_csv(sequence, path)
        assert core.read_sequence(path).name == name
    (tmp_path / "door" / "data.csv").write_text("no numbers")
    assert {entry.object_name for entry in core.list_sequences(tmp_path / "door")} == {"door"}
