import re

import numpy as np
import pytest
from refusals import refuses
from tracker_files import RNG, SEEN, TRACKS, F, P
from tracker_files import TNXY as XY

from core import InputError, read_sequence, simulate, write_npz


@pytest.fixture
def save(tmp_path):
    def write(variables):
        path = tmp_path / "tracks.npz"
        np.savez(path, **variables)
        return path

    return write


# Of (F, 2, P): the shape, and the name of an array of tracks that has it.
ARRANGED = {
    "interleaved": (lambda array: array.reshape(-1, P), "W"),
    "blocked": (lambda array: np.concatenate([array[:, 0], array[:, 1]]), "W2D"),
    "frames-points-xy": (lambda array: array.transpose(0, 2, 1), "tracks"),
    "xy-points-frames": (lambda array: array.transpose(1, 2, 0), "tracks"),
    "frames-xy-points": (lambda array: array, "tracks"),
}
MASKS = {
    "F x P": SEEN,
    "P x F": SEEN.T,
    "1 x F x P": SEEN[None],
    "F x P x 1": SEEN[:, :, None],
    "1 x P x F x 1": SEEN.T[None, :, :, None],
}


MASKED = "points visibles", "trajectories isVisible", "xy confidence", "xy ~occluded", "xy ~pred_occlusion"


@pytest.mark.parametrize("names", [*MASKED, "xy ~hidden", "xy ~Missing"])
@pytest.mark.parametrize("kind", [bool, np.float32])
def test_a_mask_is_paired_with_the_tracks_by_its_name(save, names, kind):
    tracks, mask = names.split()
    name, shown = mask.removeprefix("~"), (~SEEN if mask[0] == "~" else SEEN).astype(kind)
    read = read_sequence(save({tracks: XY, name: shown}))
    np.testing.assert_array_equal(read.visible, SEEN)
    np.testing.assert_array_equal(read.tracks, TRACKS)
    assert f"{name} is the visibility mask" in read.provenance


@pytest.mark.parametrize("layout", ARRANGED)
def test_an_array_is_read_by_its_shape_with_a_mask_in_either_order_or_of_its_shape(save, layout):
    arrange, name = ARRANGED[layout]
    tracks = TRACKS.copy()
    tracks[2, :, 3] = tracks[4, 1, 5] = np.nan  # where a point is missing
    for asked in ({}, {"layout": layout}, {"layout": layout, "tracks": name}):
        read = read_sequence(save({name: arrange(tracks), "frame_rate": 25.0}), **asked)
        np.testing.assert_array_equal(read.tracks, tracks)
        assert np.argwhere(~read.visible).tolist() == [[2, 3], [4, 5]] and read.reading == asked
    for mask in MASKS.values():
        read = read_sequence(save({name: arrange(TRACKS), "visibility": mask}))
        np.testing.assert_array_equal(read.visible, SEEN)
        np.testing.assert_array_equal(read.tracks, TRACKS)
    both = np.repeat(SEEN[:, None], 2, axis=1)
    both[1, 0, 2], both[1, 1, 2] = True, False  # a point is seen where both coordinates are
    read = read_sequence(save({name: arrange(TRACKS), "visible": arrange(both)}))
    np.testing.assert_array_equal(read.visible, both.all(axis=1))


def test_a_square_mask_has_the_order_of_the_tracks(save):
    tracks, seen = XY[:P], SEEN[:P]
    for arrays in ((tracks, seen), (tracks.transpose(2, 1, 0), seen.T)):
        read = read_sequence(save(dict(zip(("tracks", "visibility"), arrays, strict=True))))
        np.testing.assert_array_equal(read.visible, seen)


def test_each_of_two_tracks_has_the_mask_of_its_name(save):
    other = ~SEEN
    other[:, 0] = other[:2] = True
    right = {"right_tracks": XY + 1, "right_visibility": other}
    file = save({"left_tracks": XY, "left_visibility": SEEN, **right})
    refuses(file, r"fits several.*points-xy of left_tracks, frames-points-xy of")
    left, right = (read_sequence(file, tracks=f"{side}_tracks") for side in ("left", "right"))
    np.testing.assert_array_equal(left.visible, SEEN)
    np.testing.assert_array_equal(right.visible, other)
    assert "not read: right_tracks (12 x 9 x 2), right_visibility (12 x 9)" in left.provenance


CONFIDENCES = np.where(SEEN, 0.9, 0.2)
COULD_BE = "could be the visibility mask"
REFUSED = [
    ({"confidence": CONFIDENCES}, "confidence (12 x 9) is the visibility mask, and"),
    ({"certain": CONFIDENCES}, f"certain (12 x 9) {COULD_BE}"),
    ({"a": np.where(SEEN, 0.5, np.nan)}, f"a (12 x 9) {COULD_BE}"),
    ({"flags": SEEN}, f"flags (12 x 9) {COULD_BE}"),
    ({"mask": SEEN}, f"mask (12 x 9) {COULD_BE}"),  # it may mark either
    ({"not_visible": ~SEEN}, f"not_visible (12 x 9) {COULD_BE}"),
    ({"visibility": SEEN, "confidence": CONFIDENCES}, f"confidence (12 x 9) {COULD_BE}, and so could v"),
    ({"visibility": SEEN * np.uint8(255)}, "visibility (12 x 9) is the visibility mask"),
    ({"visibility": SEEN[1:]}, "visibility (11 x 9) is named as a visibility mask"),
    ({"valid": SEEN[:1]}, "valid (1 x 9) is named as a visibility mask"),
    ({"on": XY * 0 + 1}, f"on (12 x 9 x 2) {COULD_BE}"),
]


@pytest.mark.parametrize(("others", "sentence"), REFUSED, ids=lambda value: "-".join(value))
def test_what_could_be_a_mask_is_refused_with_what_settles_it(save, others, sentence):
    file, first = save({"tracks": XY, **others}), min(others)
    two = sentence.replace(f" {COULD_BE}, and so could v", f", visibility (12 x 9) {COULD_BE}")
    shape = {"layout": "frames-points-xy"}
    for options, expected in (({}, sentence), (shape, two), (shape | {"tracks": "tracks"}, two)):
        with pytest.raises(InputError) as refused:
            read_sequence(file, **options)
        said = str(refused.value)
        assert said.startswith(f"{file}: {expected}")
        for words in ("--visible", f"{first} where 1 is seen", f"~{first} where", "--threshold 0.5", "none"):
            assert words in said
        assert read_sequence(file, **shape | {"tracks": "tracks", "visible": "none"}).visible.all()


SCORE = np.where(np.arange(P) == 0, 1.0, CONFIDENCES)
SCORE[2, 3] = np.nan  # that is hidden, whichever way a score counts
KNOWN = SEEN & np.isfinite(SCORE)


@pytest.mark.parametrize(
    ("mask", "threshold", "expected"),
    [
        ("flags", None, SEEN),
        ("~hiding", None, SEEN),
        ("score", 0.5, KNOWN),
        ("score", 0.95, np.broadcast_to(np.arange(P) == 0, (F, P))),
        ("~doubt", 0.5, KNOWN),
        ("none", None, np.ones_like(SEEN)),
    ],
)
def test_a_mask_is_named_with_its_meaning(save, mask, threshold, expected):
    assert SEEN[2, 3]
    file = save({"tracks": XY, "flags": SEEN, "hiding": ~SEEN, "score": SCORE, "doubt": 1 - SCORE})
    asked = {"visible": mask} | ({} if threshold is None else {"threshold": threshold})
    for options in (asked, {"layout": "frames-points-xy", "tracks": "tracks"} | asked):
        read = read_sequence(file, **options)
        np.testing.assert_array_equal(read.visible, expected)
        assert read.reading == options


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        ("gone", "gone is absent; accepted is a mask of 12 frames and 9 points, 12 x 9 or 9 x 12, or 'none'"),
        ("short", "short is 11 x 9; accepted is a mask of 12 frames and 9 points, 12 x 9 or 9 x 12, or 'no"),
        ("score", "score (12 x 9) holds not only 0 and 1; accepted is a threshold too, --threshold 0.5"),
    ],
)
def test_a_mask_that_cannot_be_one_is_refused(save, mask, sentence):
    file = save({"tracks": XY, "short": SEEN[1:], "score": CONFIDENCES})
    refuses(file, re.escape(sentence), visible=mask)


@pytest.mark.parametrize("layout", [None, "mocap"])
def test_a_mask_of_a_known_layout_counts_too(save, layout):
    shapes = RNG.normal(size=(F, 3, P))
    variables = {"W": shapes[:, :2].reshape(-1, P), "S": shapes.reshape(-1, P)}
    read = read_sequence(save(variables | {"visibility": SEEN}), layout=layout)
    np.testing.assert_array_equal(read.visible, SEEN)
    unnamed = save(variables | {"flags": SEEN})
    refuses(unnamed, r"flags \(12 x 9\) could.*--visible .*: flags where 1 is seen", layout=layout)
    np.testing.assert_array_equal(read_sequence(unnamed, layout=layout, visible="flags").visible, SEEN)
    assert read_sequence(unnamed, layout=layout, visible="none").visible.all()


def test_python_objects_are_no_mask(save):
    file = save({"tracks": XY, "visibility": np.empty(F, dtype=object)})
    refuses(file, r"visibility \(Python objects, which are not read\) is named as")
    np.testing.assert_array_equal(read_sequence(file, visible="none").tracks, TRACKS)


def test_the_program_s_own_file_read_by_a_layout_keeps_its_mask(tmp_path):
    sequence = simulate("paper", frames=6, points=20, seed=2)
    assert not sequence.visible.all()
    write_npz(sequence, tmp_path / "own.npz")
    for name, visible in (("tracks", sequence.visible), ("companion_tracks", sequence.companion.visible)):
        read = read_sequence(tmp_path / "own.npz", layout="frames-xy-points", tracks=name)
        np.testing.assert_array_equal(read.visible, visible)
