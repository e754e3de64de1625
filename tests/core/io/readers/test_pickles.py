"""Single arrays with the masks next to them, and pickles of arrays: nothing that a pickle names is run."""

import codecs
import os
import pickle
import struct

import numpy as np
import pytest
from refusals import refuses
from tracker_files import NTXY, RNG, SEEN, TNXY, TRACKS, F, P, tap_vid_videos

from core import CameraModel, inspect_file, list_sequences, read_sequence


def save(folder, value, protocol=4):
    (folder / "clip.pkl").write_bytes(pickle.dumps(value, protocol=protocol))
    return folder / "clip.pkl"


# -- single arrays -------------------------------------------------------------------------------------------

TURNED = np.ascontiguousarray(TNXY.transpose(1, 0, 2)).transpose(1, 0, 2)  # axes in neither order
STORED = [TNXY, TURNED, np.asfortranarray(TNXY), TNXY.astype("<f4"), TNXY.astype(">f8")]


@pytest.mark.parametrize("array", [*STORED, TNXY[None], TRACKS.reshape(-1, P)])
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
    refuses(tmp_path / f"{mask}.npy", f"is the visibility of {tracks}.npy; open that file")
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
        (np.array([object()]), "cloth.npy: is a"),
        (np.array({}), "fits no layout that is known; it holds nothing"),
    ],
)
def test_an_array_that_is_no_tracks_is_refused(tmp_path, array, sentence):
    np.save(tmp_path / "cloth.npy", array)
    refuses(tmp_path / "cloth.npy", sentence)


# -- pickles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("coords", STORED)
def test_the_arrays_of_delta_are_read_from_every_protocol(tmp_path, protocol, coords):
    value = {"coords": coords, "vis": SEEN, "conf": np.ones((F, P)), "fps": np.float32(25)}
    found = inspect_file(save(tmp_path, value, protocol))
    assert found.producer == "DELTA" and found.clear, found.problem
    np.testing.assert_array_equal(found.sequence.tracks, coords.transpose(0, 2, 1))
    np.testing.assert_array_equal(found.sequence.visible, SEEN)


def test_one_video_of_tap_vid_is_chosen_by_its_name(tmp_path):
    file = save(tmp_path, tap_vid_videos())
    refuses(file, r"holds 2 individuals: dogs, breakdance; choose one")
    assert inspect_file(file).individuals == ("dogs", "breakdance")
    found = inspect_file(file, individual="dogs")
    assert found.producer == "TAP-Vid" and found.clear
    np.testing.assert_allclose(found.sequence.tracks, TRACKS / 10)  # the video is a tenth as large
    assert found.sequence.image_size == (96, 72)
    assert [entry.name for entry in found.arrays if entry.role == "tracks"] == ["points"]
    assert "breakdance/points" in {entry.name for entry in found.arrays}
    assert read_sequence(file, individual="dogs", tracks=found.arrays[0].name).frame_count == F
    assert found.sequence.reading == {"individual": "dogs"}
    again = read_sequence(file, **found.reading)
    np.testing.assert_array_equal(again.tracks, found.sequence.tracks)
    refuses(file, "there is no individual 'cats'; there are dogs, breakdance", individual="cats")


def test_videos_of_a_list_are_numbered_and_a_single_one_needs_no_name(tmp_path):
    file = save(tmp_path, list(tap_vid_videos().values()))
    assert inspect_file(file).individuals == ("0", "1")
    assert read_sequence(file, individual="1").frame_count == 8
    assert read_sequence(save(tmp_path, {"dogs": tap_vid_videos()["dogs"]})).frame_count == F
    file = save(tmp_path, tap_vid_videos()["dogs"])
    refuses(file, "individual is 'dogs'; the file holds only one video", individual="dogs")


def test_an_array_alone_and_dicts_by_name_or_number_are_read(tmp_path):
    np.testing.assert_array_equal(read_sequence(save(tmp_path, TNXY)).tracks, TRACKS)
    np.save(tmp_path / "clip.npy", {"tracks": TNXY, "visibility": SEEN})
    np.testing.assert_array_equal(read_sequence(tmp_path / "clip.npy").visible, SEEN)
    found = inspect_file(save(tmp_path, {0: TNXY, -1: SEEN}))
    assert {array.name for array in found.arrays} == {"0", "-1"}


# -- hostile -------------------------------------------------------------------------------------------------


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def op(text, *more):
    return b"\x80\x02" + text.encode() + b"".join(more)


MANY = b"\x80\x04]\x94("


def laughs(levels):
    """Lists that hold the one before ten times each."""
    return b"\x80\x04]\x94" + b"".join(b"](" + bytes((104, n)) * 10 + b"e\x94" for n in range(levels)) + b"."


def with_type(kind, data):
    """An array of two elements of a type, with its bytes."""
    state = b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    dtype = b"cnumpy\ndtype\n(" + kind + b"K\x00K\x01tR" + state
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
    return b"\x80\x02" + array + b"(K\x01(K\x02t" + dtype + b"\x89" + data + b"tb."


HOSTILE = {
    "os.system": lambda mark: pickle.dumps(Calls(os.system, f"touch {mark}")),
    "getattr": pickle.dumps(Calls(getattr, "text", "join")),
    "numpy.fromfile": op("cnumpy\nfromfile\n(X\x0b\x00\x00\x00/etc/passwdtR."),
    "a dotted name": b"\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93.",
    "codecs": pickle.dumps(Calls(codecs.decode, "abc", "rot13")),
    "an encoding": op("c_codecs\nencode\n(X\x03\x00\x00\x00abcX\x03\x00\x00\x00hextR."),
    "an instance": b"(i__main__\nThing\n.",
    "a new object": b"\x80\x02cnumpy\nndarray\n)\x81.",
    "an extension": b"\x80\x02\x82\x01.",
    "a persistent name": b"\x80\x02X\x01\x00\x00\x00aQ.",
    "a changed function": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n}X\x08\x00\x00\x00__code__K\x01sb.",
    "a changed mark": b"\x80\x02cnumpy\nndarray\nN}X\x08\x00\x00\x00__code__K\x01s\x86b.",
    "a mark alone": b"\x80\x02cnumpy\nndarray\n.",
    "an array of objects": pickle.dumps(np.array([{}, None, []], dtype=object)),
    "an array with fields": pickle.dumps(np.zeros(3, dtype=[("a", "f4"), ("b", "O")])),
    "an array of dates": pickle.dumps(np.zeros(3, dtype="M8[s]")),
    "a larger array than its bytes": with_type(b"U\x02f8", b"U\x08" + bytes(8)),
    "an array of no valid type": with_type(b"U\x08f9999999", b"U\x10" + bytes(16)),
    "a list in itself": b"\x80\x02]q\x00h\x00a.",
    "a set": pickle.dumps({1, 2, 3}),
    "a key that is no text": pickle.dumps({(1, 2): np.zeros(3)}),
}
DEADLY = {
    "an enormous text": b"\x80\x04\x8d" + struct.pack("<Q", 2**40) + b"a.",
    "an enormous memo": b"\x80\x02]r" + struct.pack("<I", 2**32 - 1) + b".",
    "a deep list": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "a list of lists of lists": laughs(12),
    "a deep tuple as a key": b"\x80\x04}" + b")" + b"\x85" * 200_000 + b"K\x01s.",
    "a large list, many times": MANY + b"K\x01" * 3_000 + b"e]\x94(" + b"h\x00" * 3_000 + b"e.",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_pickle_is_refused_in_a_sentence_and_runs_nothing(tmp_path, case, capfd):
    mark, content = tmp_path / "mark", HOSTILE[case]
    content = content(mark) if callable(content) else content
    (tmp_path / "clip.pkl").write_bytes(content)
    found = inspect_file(tmp_path / "clip.pkl")
    assert found.problem and found.sequence is None
    assert "is a pickle that is not read" in found.problem or "cannot be read as Pickled" in found.problem
    assert not mark.exists()
    assert capfd.readouterr().out == ""


@pytest.mark.usefixtures("sandboxed")
def test_a_pickle_that_asks_for_too_much_is_refused(tmp_path):
    for case, content in DEADLY.items():
        (tmp_path / "clip.pkl").write_bytes(content)
        assert inspect_file(tmp_path / "clip.pkl").problem, case


def test_the_array_that_the_hostile_ones_change_is_read_also_after_them(tmp_path):
    """The one that is right, so that they are refused for what is wrong with them."""
    for content in (HOSTILE["a changed function"], with_type(b"U\x02f8", b"U\x10" + bytes(16))):
        (tmp_path / "clip.pkl").write_bytes(content)
        found = inspect_file(tmp_path / "clip.pkl")
    assert found.arrays[0].size == "2"
    assert read_sequence(save(tmp_path, TNXY, 2)).frame_count == F
