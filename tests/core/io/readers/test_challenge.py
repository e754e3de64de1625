import shutil

import numpy as np
import pytest

from core import CameraModel, InputError, list_sequences, read_sequence, simulate, write_challenge
from core.io.files import contents
from core.io.readers import challenge

FRAMES, POINTS = 9, 20


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder above two objects of two paths."""
    folder = tmp_path_factory.mktemp("challenge")
    for kind in ("balloon", "articulated"):
        write_challenge(folder, kind, paths=("flyby", "circle"), frames=FRAMES, points=POINTS, seed=3)
    return folder


@pytest.fixture
def balloon(written, tmp_path):
    """A copy of one object that a test may change."""
    shutil.copytree(written / "balloon", tmp_path / "balloon")
    return tmp_path / "balloon"


def test_everything_that_was_simulated_is_read_back(written):
    true = simulate("balloon", path="flyby", frames=FRAMES, points=POINTS, seed=3)
    read = read_sequence(written / "balloon" / "sequence" / "perspective" / "flyby.txt")
    assert (read.camera, read.name, read.units) == (CameraModel.PERSPECTIVE, "balloon flyby", "px")
    for one, other in ((read, true), (read.companion, true.companion)):
        np.testing.assert_allclose(one.tracks, other.tracks, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(one.visible, other.visible)
    assert read.truth.reference == FRAMES // 2
    np.testing.assert_allclose(read.truth.points, true.truth.points, rtol=0, atol=1e-4)
    for name in ("rotations", "translations", "edges", "faces"):
        np.testing.assert_array_equal(getattr(read, name), getattr(true, name))
    orthogonal = read_sequence(written / "balloon", camera=CameraModel.ORTHOGONAL)
    seen = orthogonal.rotations @ orthogonal.truth.points + orthogonal.translations[:, :, None]
    assert np.abs(seen[:, :2] - orthogonal.tracks).max() < 1.0  # mm; the noise has 0.1


def test_a_folder_gives_perspective_and_its_first_path(written):
    read = read_sequence(written / "balloon")
    assert (read.camera, read.name) == (CameraModel.PERSPECTIVE, "balloon circle")
    assert read_sequence(written / "balloon", path_name="flyby").name == "balloon flyby"
    file = written / "balloon" / "sequence" / "perspective" / "flyby.txt"
    assert read_sequence(file, path_name="flyby").source == file
    with pytest.raises(InputError, match=r"flyby\.txt: is one sequence; a path \(circle\) chooses among"):
        read_sequence(file, path_name="circle")
    for below, count in (("sequence", 4), ("sequence/perspective", 2)):
        assert len(list_sequences(written / "balloon" / below)) == count


def test_an_object_nested_in_a_folder_of_its_name_is_found(balloon, tmp_path):
    outer = tmp_path / "all" / "balloon"
    outer.mkdir(parents=True)
    balloon.rename(outer / "balloon")
    assert len(list_sequences(tmp_path / "all")) == 4
    shutil.move(outer / "balloon" / "gt_frame_5.txt", outer / "gt_frame_5.txt")
    shutil.rmtree(outer / "balloon" / "truth")
    truth = read_sequence(outer).truth
    assert list(truth.frames) == [4]


def test_the_content_follows_every_file_that_a_reconstruction_is_of(balloon):
    """The digest is of the tracks' file alone."""
    known = read_sequence(balloon)
    assert read_sequence(balloon).content == known.content
    found = {known.content}
    changes = [
        lambda: shutil.rmtree(balloon / "visibility"),
        lambda: (balloon / "sequence" / "orthogonal" / "circle.txt").unlink(),
        lambda: (balloon / "truth" / "circle.npz").unlink(),
        lambda: (balloon / "gt_frame_5.txt").rename(balloon / "gt_frame_4.txt"),
        lambda: (balloon / "gt_frame_4.txt").unlink(),
    ]
    for count, change in enumerate(changes, start=2):
        change()
        read = read_sequence(balloon)
        assert read.digest == known.digest
        found.add(read.content)
        assert len(found) == count


@pytest.mark.parametrize("number", ["%d", "%.6e", "%.1f"])
def test_a_point_is_seen_only_where_both_its_rows_are_nonzero_in_any_number_format(balloon, number):
    mask = np.random.default_rng(0).random((2 * FRAMES, POINTS)) < 0.8
    mask[:, :4] = True
    np.savetxt(balloon / "visibility" / "perspective" / "circle.txt", mask, fmt=number)
    np.testing.assert_array_equal(read_sequence(balloon).visible, mask[::2] & mask[1::2])


def test_the_index_base_of_the_ground_truth_is_a_setting_and_noticed_where_all_frames_are_known(balloon):
    with pytest.raises(InputError, match=r"gt_frame_5\.txt: is not frame 5 .*counted from 0"):
        read_sequence(balloon, frame_base=0)
    shutil.rmtree(balloon / "truth")
    for base, frame in ((1, 4), (0, 5)):
        read = read_sequence(balloon, frame_base=base)
        assert (read.truth.reference, list(read.truth.frames)) == (frame, [frame])
        entry = list_sequences(balloon, frame_base=base)[0]
        assert (entry.truth_frame, entry.truth_frames) == (frame, 1)
    assert read.reading == {"frame_base": 0}


def test_hidden_entries_may_be_nan_and_the_ground_truth_transposed(balloon):
    shutil.rmtree(balloon / "truth")
    shape = np.loadtxt(balloon / "gt_frame_5.txt")
    np.savetxt(balloon / "gt_frame_5.txt", shape.T)
    file, mask = (balloon / name / "perspective" / "circle.txt" for name in ("sequence", "visibility"))
    tracks, seen = np.loadtxt(file), np.loadtxt(mask)
    tracks[4:6, 2], seen[4:6, 2] = np.nan, 0
    np.savetxt(file, tracks)
    np.savetxt(mask, seen, fmt="%d")
    read = read_sequence(balloon)
    assert np.isnan(read.tracks[2, :, 2]).all() and not read.visible[2, 2]
    np.testing.assert_allclose(read.truth.at(4), shape)


def test_a_listing_has_the_facts_without_reading_the_numbers(written):
    entries = list_sequences(written)
    assert [(e.object_name, e.camera.value, e.path_name) for e in entries if e.camera] == [
        (kind, camera, path)
        for kind in ("articulated", "balloon")
        for camera in ("perspective", "orthogonal")
        for path in ("circle", "flyby")
    ]
    for entry in entries:
        read = read_sequence(entry.file)
        assert (entry.frames, entry.points) == (read.frame_count, read.point_count)
        assert entry.visible_fraction == read.visible.mean()
        assert entry.truth_frame == read.truth.reference
        assert entry.truth_frames == len(read.truth.frames)
        assert entry.companion == (read.companion is not None)
        assert entry.edges == len(read.edges)
        assert entry.rotations and not entry.intrinsics


def test_a_listing_parses_no_tracks_and_reads_no_file_of_a_sequence_twice(written, monkeypatch):
    files = []
    monkeypatch.setattr(challenge, "read_bytes", lambda file: files.append(file) or contents.read_bytes(file))
    monkeypatch.setattr(challenge, "parse_matrix", lambda *_: pytest.fail("a listing parses no numbers"))
    assert len(list_sequences(written)) == 8
    assert len(files) == len(set(files))
