"""Tracks that are left out, cut and replaced, and points that are followed from given places."""

from pathlib import Path

import numpy as np
import pytest

from core import InputError, Sequence
from core.tracking import cut_track, follow_places, replace_track, track_video, video_path, without_track


@pytest.fixture
def sequence():
    tracks = np.random.default_rng(0).uniform(0, 100, (6, 2, 7))
    tracks[4:, :, 2] = np.nan
    return Sequence(tracks, image_size=(100, 100), name="sheet")


def test_a_track_is_left_out(sequence):
    left = without_track(sequence, 2)
    assert left.point_count == 6 and left.visible.all() and left.image_size == (100, 100)
    assert left.digest != sequence.digest


def test_a_track_is_cut_in_two(sequence):
    cut = cut_track(sequence, 1, 2)
    assert cut.visible[:, 1].tolist() == [True] * 2 + [False] * 4
    assert cut.visible[:, 7].tolist() == [False] * 2 + [True] * 4
    assert np.array_equal(cut.tracks[2:, :, 7], sequence.tracks[2:, :, 1])
    with pytest.raises(InputError, match="seen in frames 1 to 4; it cannot be cut at 5"):
        cut_track(sequence, 2, 4)


def test_a_track_is_replaced_from_a_frame_on(sequence):
    new = np.full((3, 2), 5.0)
    new[2] = np.nan
    changed = replace_track(sequence, 2, 3, new)
    assert changed.visible[:, 2].tolist() == [True] * 5 + [False]
    assert np.array_equal(changed.tracks[:3, :, 2], sequence.tracks[:3, :, 2])
    with pytest.raises(InputError, match=r"places have shape \(2, 2\); accepted is \(3, 2\)"):
        replace_track(sequence, 2, 3, new[:2])


def test_points_that_are_given_go_where_corners_at_the_same_places_go():
    pytest.importorskip("cv2", reason="following points needs OpenCV")
    pytest.importorskip("av", reason="videos need PyAV")
    path = video_path(Path("sample:sheet"))
    *_, last = track_video(path, points=40, end=5)
    begun = last.tracks[0].T
    first = np.isfinite(begun[:, 0])
    seen = []
    again = follow_places(path, begun[first], pictures=[0, 2, 4], watch=lambda *done: seen.append(done))
    assert again.shape == (3, 2, first.sum()) and seen[-1] == (5, 5)
    assert np.array_equal(again, last.tracks[[0, 2, 4]][:, :, first], equal_nan=True)
