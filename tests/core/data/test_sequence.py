"""Sequences made from arrays."""

import numpy as np
import pytest

from core import CameraModel, GroundTruth, InputError, Sequence


@pytest.fixture
def tracks():
    return np.random.default_rng(3).normal(size=(4, 2, 6))


def test_nan_is_hidden_where_no_visibility_is_given(tracks):
    tracks[1, 0, 2] = np.nan  # one coordinate is enough
    tracks[3, :, 5] = np.nan
    sequence = Sequence(tracks)
    assert np.argwhere(~sequence.visible).tolist() == [[1, 2], [3, 5]]
    assert not sequence.tracks.flags.writeable and not sequence.visible.flags.writeable


def test_given_visibility_is_kept(tracks):
    visible = np.ones((4, 6), dtype=bool)
    visible[0, 0] = False
    assert np.array_equal(Sequence(tracks, visible).visible, visible)
    tracks[2, 1, 1] = np.nan
    with pytest.raises(InputError, match=r"frame 2, point 1 .* marked visible"):
        Sequence(tracks, visible)


def test_a_camera_is_given_by_its_name_or_as_a_value(tracks):
    assert Sequence(tracks).camera is CameraModel.PERSPECTIVE
    assert Sequence(tracks, camera="orthogonal").camera is CameraModel.ORTHOGONAL
    assert Sequence(tracks, camera=CameraModel.ORTHOGONAL).camera is CameraModel.ORTHOGONAL
    with pytest.raises(InputError, match="camera is 'fisheye'; accepted are perspective, orthogonal"):
        Sequence(tracks, camera="fisheye")


def test_tracks_with_coordinates_last_are_refused_with_a_way_out(tracks):
    with pytest.raises(InputError, match=r"\(4, 6, 2\); accepted is .*transpose\(0, 2, 1\)"):
        Sequence(tracks.transpose(0, 2, 1))
    with pytest.raises(InputError, match=r"tracks have shape \(8, 6\); accepted is \(frames, 2, points\)$"):
        Sequence(tracks.reshape(8, 6))


def test_complex_numbers_are_refused(tracks):
    with pytest.raises(InputError, match="an array holds complex128 numbers; accepted are real ones"):
        Sequence(tracks + 1j)
    with pytest.raises(InputError, match="an array holds complex128 numbers; accepted are real ones"):
        GroundTruth.of_all_frames(np.zeros((4, 3, 6), complex))


def test_truth_of_all_frames_refers_to_the_frame_with_most_known_points():
    points = np.random.default_rng(0).normal(size=(4, 3, 6))
    points[[0, 1, 3], :, 2] = np.nan
    truth = GroundTruth.of_all_frames(points)
    assert truth.reference == 2 and truth.frames.tolist() == [0, 1, 2, 3]
    assert repr(truth) == "GroundTruth(4 frames, 6 points)"
