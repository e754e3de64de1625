"""Masks in foreign files: paired with the tracks by their names, asked for, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core import InputError, read_sequence, simulate, write_npz

if TYPE_CHECKING:
    from pathlib import Path

F, P = 6, 9
RNG = np.random.default_rng(5)
TRACKS = RNG.normal(size=(F, 2, P)) * 100 + 300
SEEN = RNG.random((F, P)) < 0.7
SEEN[:, 0] = True

Save = "Callable[[dict[str, Any]], Path]"


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(variables: dict[str, Any]) -> Path:
        path = tmp_path / "tracks.npz"
        np.savez(path, **variables)
        return path

    return write


def xy(tracks: np.ndarray = TRACKS) -> np.ndarray:
    """(F, 2, P) as a tracker has it: (F, P, 2)."""
    return tracks.transpose(0, 2, 1)


ARRANGED = {
    "interleaved": (TRACKS.reshape(-1, P), "W"),
    "blocked": (np.concatenate([TRACKS[:, 0], TRACKS[:, 1]]), "W2D"),
    "frames-points-xy": (xy(), "tracks"),
    "xy-points-frames": (TRACKS.transpose(1, 2, 0), "tracks"),
    "frames-xy-points": (TRACKS, "tracks"),
}
MASKS = {
    "F x P": SEEN,
    "P x F": SEEN.T,
    "1 x F x P": SEEN[None],
    "F x P x 1": SEEN[:, :, None],
    "1 x P x F x 1": SEEN.T[None, :, :, None],
}


@pytest.mark.parametrize(
    ("tracks", "mask"),
    [
        ("tracks", "visibility"),
        ("pred_tracks", "pred_visibility"),
        ("coords", "vis"),
        ("points", "visibles"),
        ("trajectories", "isVisible"),
        ("xy", "confidence"),  # of 0 and 1 alone
    ],
)
@pytest.mark.parametrize("kind", [bool, np.float32])
def test_a_mask_is_paired_with_the_tracks_by_its_name(save: Save, tracks: str, mask: str, kind: type) -> None:
    read = read_sequence(save({tracks: xy(), mask: SEEN.astype(kind)}))
    np.testing.assert_array_equal(read.visible, SEEN)
    np.testing.assert_array_equal(read.tracks, TRACKS)
    assert f"{mask} is the visibility mask" in read.provenance


@pytest.mark.parametrize("name", ["occluded", "pred_occlusion", "hidden", "Missing"])
def test_a_mask_of_what_is_hidden_is_turned_round(save: Save, name: str) -> None:
    np.testing.assert_array_equal(read_sequence(save({"xy": xy(), name: ~SEEN})).visible, SEEN)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("layout", ARRANGED)
def test_a_mask_has_frames_and_points_in_either_order(save: Save, layout: str, mask: str) -> None:
    array, name = ARRANGED[layout]
    read = read_sequence(save({name: array, "visibility": MASKS[mask]}))
    np.testing.assert_array_equal(read.visible, SEEN)
    np.testing.assert_array_equal(read.tracks, TRACKS)


@pytest.mark.parametrize("layout", ARRANGED)
def test_a_mask_may_have_the_shape_of_the_tracks(save: Save, layout: str) -> None:
    array, name = ARRANGED[layout]
    both = np.repeat(SEEN[:, None], 2, axis=1)
    both[1, 0, 2], both[1, 1, 2] = True, False  # a point is seen where both coordinates are
    arranged = {
        "interleaved": both.reshape(-1, P),
        "blocked": np.concatenate([both[:, 0], both[:, 1]]),
        "frames-points-xy": both.transpose(0, 2, 1),
        "xy-points-frames": both.transpose(1, 2, 0),
        "frames-xy-points": both,
    }[layout]
    read = read_sequence(save({name: array, "visible": arranged}))
    np.testing.assert_array_equal(read.visible, both.all(axis=1))


def test_a_square_mask_has_the_order_of_the_tracks(save: Save) -> None:
    seen = SEEN[:, :F]
    frames_first = read_sequence(save({"tracks": xy()[:, :F], "visibility": seen}))
    np.testing.assert_array_equal(frames_first.visible, seen)
    points_first = read_sequence(save({"tracks": xy()[:, :F].transpose(2, 1, 0), "visibility": seen.T}))
    np.testing.assert_array_equal(points_first.visible, seen)


def test_each_of_two_tracks_has_the_mask_of_its_name(save: Save) -> None:
    other = ~SEEN
    other[:, 0] = other[:2] = True
    file = save(
        {"left_tracks": xy(), "left_visibility": SEEN, "right_tracks": xy() + 1, "right_visibility": other}
    )
    with pytest.raises(InputError, match=r"fits several.*points-xy:left_tracks, frames-points-xy:right_tr"):
        read_sequence(file)
    left = read_sequence(file, layout="frames-points-xy:left_tracks")
    right = read_sequence(file, layout="frames-points-xy:right_tracks")
    np.testing.assert_array_equal(left.visible, SEEN)
    np.testing.assert_array_equal(right.visible, other)
    assert "not read: right_tracks (6 x 9 x 2), right_visibility (6 x 9)" in left.provenance


CONFIDENCES = np.where(SEEN, 0.9, 0.2)
REFUSED = {
    "confidences": ({"confidence": CONFIDENCES}, "confidence (6 x 9) is the visibility mask, and"),
    "unnamed confidences": ({"certain": CONFIDENCES}, "certain (6 x 9) could be the visibility mask"),
    "confidences with gaps": ({"a": np.where(SEEN, 0.5, np.nan)}, "a (6 x 9) could be the visibility mask"),
    "unnamed": ({"flags": SEEN}, "flags (6 x 9) could be the visibility mask"),
    "mask, which may be either": ({"mask": SEEN}, "mask (6 x 9) could be the visibility mask"),
    "negated": ({"not_visible": ~SEEN}, "not_visible (6 x 9) could be the visibility mask"),
    "both": ({"visibility": SEEN, "confidence": CONFIDENCES}, "confidence (6 x 9)"),
    "of pictures": ({"visibility": SEEN * np.uint8(255)}, "visibility (6 x 9) is the visibility mask"),
    "another size": ({"visibility": SEEN[1:]}, "visibility (5 x 9) is named as a visibility mask"),
    "one per point": ({"valid": SEEN[:1]}, "valid (1 x 9) is named as a visibility mask"),
    "of the tracks' shape": ({"on": xy() * 0 + 1}, "on (6 x 9 x 2) could be the visibility mask"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_be_a_mask_is_refused_with_what_settles_it(save: Save, case: str) -> None:
    others, sentence = REFUSED[case]
    file, first = save({"tracks": xy(), **others}), min(others)
    for layout in (None, "frames-points-xy", "frames-points-xy:tracks"):
        with pytest.raises(InputError) as refused:
            read_sequence(file, layout=layout)
        said = str(refused.value)
        assert said.startswith(f"{file}: {sentence}")
        if case == "both":
            both = (
                ", visibility (6 x 9) could be the"
                if layout
                else " could be the visibility mask, and so could visib"
            )
            assert f"{sentence}{both}" in said
        for words in ("--visible", f"{first} where 1 is seen", f"~{first} where", "--threshold 0.5", "none"):
            assert words in said
    without = read_sequence(file, layout="frames-points-xy:tracks:none")
    assert without.visible.all()
    assert read_sequence(file, tracks="tracks", visible="none").visible.all()


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("flags", SEEN),
        ("~hiding", SEEN),
        ("score@0.5", SEEN),
        ("score@0.95", CONFIDENCES >= 0.95),
        ("~doubt@0.5", SEEN),
        ("none", np.ones_like(SEEN)),
    ],
)
def test_the_layout_names_the_mask_and_its_meaning(save: Save, mask: str, expected: np.ndarray) -> None:
    score = CONFIDENCES.copy()
    score[:, 0] = 1.0
    expected = expected | (mask == "score@0.95") & (score == 1.0)
    file = save({"tracks": xy(), "flags": SEEN, "hiding": ~SEEN, "score": score, "doubt": 1 - score})
    read = read_sequence(file, layout=f"frames-points-xy:tracks:{mask}")
    np.testing.assert_array_equal(read.visible, expected)
    assert read.reading == {"layout": f"frames-points-xy:tracks:{mask}"}
    np.testing.assert_array_equal(read_sequence(file, layout=f"frames-points-xy::{mask}").visible, expected)


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        ("gone", "gone is absent; accepted is a mask of 6 frames and 9 points, 6 x 9 or 9 x 6, or 'none'"),
        ("short", "short is 5 x 9; accepted is a mask of 6 frames and 9 points, 6 x 9 or 9 x 6, or 'none'"),
        ("score", "score (6 x 9) holds not only 0 and 1; accepted is a threshold too, --threshold 0.5"),
        ("score@half", "'score@half' has no number after @; accepted is like score@0.5"),
    ],
)
def test_a_mask_that_cannot_be_one_is_refused(save: Save, mask: str, sentence: str) -> None:
    file = save({"tracks": xy(), "short": SEEN[1:], "score": CONFIDENCES})
    with pytest.raises(InputError) as refused:
        read_sequence(file, layout=f"frames-points-xy:tracks:{mask}")
    assert sentence in str(refused.value)


@pytest.mark.parametrize("layout", [None, "mocap"])
def test_a_mask_of_a_known_layout_counts_too(save: Save, layout: str | None) -> None:
    shapes = RNG.normal(size=(F, 3, P))
    variables = {"W": shapes[:, :2].reshape(-1, P), "S": shapes.reshape(-1, P)}
    read = read_sequence(save(variables | {"visibility": SEEN}), layout=layout)
    np.testing.assert_array_equal(read.visible, SEEN)
    unnamed = save(variables | {"flags": SEEN})
    with pytest.raises(InputError, match=r"flags \(6 x 9\) could.*--visible .*: flags where 1 is seen"):
        read_sequence(unnamed, layout=layout)
    np.testing.assert_array_equal(read_sequence(unnamed, layout="mocap::flags").visible, SEEN)
    assert read_sequence(unnamed, layout="mocap::none").visible.all()


def test_python_objects_are_no_mask(tmp_path: Path) -> None:
    box = np.empty(F, dtype=object)
    np.savez(tmp_path / "tracks.npz", tracks=xy(), visibility=box)
    with pytest.raises(InputError, match=r"visibility \(Python objects, which are not read\) is named as"):
        read_sequence(tmp_path / "tracks.npz")
    read = read_sequence(tmp_path / "tracks.npz", layout="frames-points-xy:tracks:none")
    np.testing.assert_array_equal(read.tracks, TRACKS)


def test_the_program_s_own_file_read_by_a_layout_keeps_its_mask(tmp_path: Path) -> None:
    sequence = simulate("paper", frames=6, points=20, seed=2)
    assert not sequence.visible.all() and sequence.companion is not None
    write_npz(sequence, tmp_path / "own.npz")
    read = read_sequence(tmp_path / "own.npz", layout="frames-xy-points:tracks")
    np.testing.assert_array_equal(read.visible, sequence.visible)
    companion = read_sequence(tmp_path / "own.npz", layout="frames-xy-points:companion_tracks")
    np.testing.assert_array_equal(companion.visible, sequence.companion.visible)


def test_a_point_without_a_score_is_hidden_whichever_way_the_score_counts(save: Save) -> None:
    score = CONFIDENCES.copy()
    seen = SEEN.copy()
    score[2, 3], seen[2, 3] = np.nan, False
    assert SEEN[2].sum() > 1 and SEEN[2, 3]
    file = save({"tracks": xy(), "score": score, "doubt": 1 - score})
    for mask in ("score@0.5", "~doubt@0.5"):
        read = read_sequence(file, layout=f"frames-points-xy:tracks:{mask}")
        np.testing.assert_array_equal(read.visible, seen)


def test_a_frame_that_a_mask_hides_and_a_point_seen_once_are_left_out_and_named(save: Save) -> None:
    seen = np.ones((F, P), dtype=bool)
    seen[2] = seen[1:, 4] = False
    read = read_sequence(save({"tracks": xy(), "visible": seen}))
    kept = np.delete(np.arange(P), 4)
    np.testing.assert_array_equal(read.tracks, TRACKS[[0, 1, 3, 4, 5]][:, :, kept])
    assert (
        "frames that show no point are left out: 3 of 6; the numbers of those after them no longer"
        in read.provenance
    )
    assert "points that fewer than 2 frames show are left out: 5 of 9" in read.provenance
