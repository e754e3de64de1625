"""Hidden observations as a mask, as text, and in blocks of neighbors over successive frames."""

import numpy as np
import pytest

from core import InputError, Observations, Settings, simulate
from core.data import format_hidden, hide_observations, normalize_hidden, occluded_blocks, parse_hidden


def test_entries_name_points_and_frames_from_one():
    mask = parse_hidden("3:12-14,2;1:18-;5:*", frames=20, points=5)
    expected = np.zeros((20, 5), dtype=bool)
    expected[[11, 12, 13, 1], 2] = True
    expected[17:, 0] = True
    expected[:, 4] = True
    assert np.array_equal(mask, expected)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.95, 1.0])
def test_the_text_of_a_mask_reads_back_to_the_mask(share):
    mask = np.random.default_rng(3).uniform(size=(23, 17)) < share
    text = format_hidden(mask)
    assert np.array_equal(parse_hidden(text, 23, 17), mask)
    assert normalize_hidden(text) == (text or None)
    assert bool(text) == mask.any()


def test_spaces_line_breaks_and_dashes_of_a_text_do_not_matter():
    written = " 3 : 12 \u2013 18, 40\n17:45 -;\n\n 20:* ;"
    assert normalize_hidden(written) == "3:12-18,40;17:45-;20:*"
    assert Settings(hide=written) == Settings(hide="3:12-18,40;17:45-;20:*")
    assert Settings(hide=" \n") == Settings()


@pytest.mark.parametrize(
    "text", ["3", "3:", "0:1", "3:0", "3:5-4", "x:1", "3:1;;;4", "3:1-2-3", "3:-4", "3:1,,2", "3:1.5", "-1:*"]
)
def test_a_text_that_names_no_observations_is_refused(text):
    with pytest.raises(InputError, match=r"hide has the entry .*; accepted are a point and its frames"):
        Settings(hide=text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("6:*", "hide names point 6; accepted are points from 1 to 5"),
        ("2:3,21", "hide names frame 21 of point 2; accepted are frames from 1 to 20"),
        ("2:4-22", "hide names frame 22 of point 2; accepted are frames from 1 to 20"),
        ("2:21-", "hide names frame 21 of point 2; accepted are frames from 1 to 20"),
    ],
)
def test_what_the_tracks_do_not_have_is_refused(text, sentence):
    with pytest.raises(InputError, match=sentence):
        parse_hidden(text, frames=20, points=5)


def test_hidden_observations_are_no_longer_visible_and_nothing_else_changes():
    scene = simulate("paper", frames=10, points=15, seed=2)
    hidden = hide_observations(scene, "2:3-5;7:*")
    assert not hidden.visible[2:5, 1].any()
    assert not hidden.visible[:, 6].any()
    rest = ~parse_hidden("2:3-5;7:*", 10, 15)
    assert np.array_equal(hidden.visible[rest], scene.visible[rest])
    assert np.array_equal(hidden.tracks, scene.tracks)
    assert isinstance(hidden.observations, Observations)
    assert hidden.companion is scene.companion
    assert hide_observations(scene, None) is scene


def test_a_frame_that_would_be_left_without_a_point_is_refused():
    scene = simulate("paper", frames=10, points=15, seed=2)
    text = ";".join(f"{point}:4" for point in range(1, 16))
    with pytest.raises(InputError, match="hide leaves frame 4 without any point; every frame needs at least"):
        hide_observations(scene, text)


def test_a_block_is_the_visible_neighbors_of_a_point_in_successive_frames():
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(40, 3, 24))
    visible = rng.random((40, 24)) < 0.9
    blocks = list(occluded_blocks(positions, visible, (0.25, 0.125), np.random.default_rng(1)))
    assert len(blocks) > 24
    for frames, points in blocks:
        assert 0 <= frames.start and frames.stop <= 40 and frames.stop - frames.start == 10
        middle = frames.start + 5
        assert len(points) == 3 and visible[middle, points].all()
        distance = np.linalg.norm(positions[middle] - positions[middle][:, points[:1]], axis=0)
        farther = np.setdiff1d(np.flatnonzero(visible[middle]), points)
        assert distance[points].max() < distance[farther].min()
