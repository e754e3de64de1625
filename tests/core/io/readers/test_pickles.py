"""Pickles of arrays are read, and nothing that a pickle names is run."""

from __future__ import annotations

import codecs
import io
import os
import pickle
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from core import InputError, inspect_file, read_sequence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

F, P = 12, 9
RNG = np.random.default_rng(8)
TIME = np.arange(F)[:, None, None]
TRACKS = RNG.uniform(200, 700, size=(1, 2, P)) + 8 * np.sin(TIME / 3 + RNG.uniform(0, 6, (1, 2, P)))
SEEN = RNG.random((F, P)) < 0.8
SEEN[:, 0] = SEEN[:2] = True
TNXY, NTXY = TRACKS.transpose(0, 2, 1), TRACKS.transpose(2, 0, 1)
VIDEO = np.broadcast_to(np.uint8(0), (F, 72, 96, 3))


def save(folder: Path, value: Any, protocol: int = 4) -> Path:
    (folder / "clip.pkl").write_bytes(pickle.dumps(value, protocol=protocol))
    return folder / "clip.pkl"


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["<f4", ">f8"])
def test_the_arrays_of_delta_are_read_from_every_protocol(tmp_path: Path, protocol: int, kind: str) -> None:
    value = {"coords": TNXY.astype(kind), "vis": SEEN, "conf": np.ones((F, P)), "fps": np.float32(25)}
    found = inspect_file(save(tmp_path, value, protocol))
    assert found.producer == "DELTA" and found.clear and found.sequence is not None, found.problem
    np.testing.assert_array_equal(found.sequence.tracks, TRACKS.astype(kind))
    np.testing.assert_array_equal(found.sequence.visible, SEEN)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_arrays_whose_axes_are_in_another_order_are_read(tmp_path: Path, protocol: int) -> None:
    turned = np.ascontiguousarray(TNXY.transpose(1, 0, 2)).transpose(1, 0, 2)
    assert not turned.flags.c_contiguous and not turned.flags.f_contiguous
    value = {"coords": turned, "vis": SEEN, "conf": np.ones((F, P))}
    found = inspect_file(save(tmp_path, value, protocol))
    assert found.sequence is not None, found.problem
    np.testing.assert_array_equal(found.sequence.tracks, TRACKS)


def tapvid() -> dict[str, Any]:
    relative = NTXY / np.array([960, 720])
    other = {"points": relative[:, :8], "occluded": ~SEEN.T[:, :8], "video": VIDEO[:8]}
    return {"dogs": {"points": relative, "occluded": ~SEEN.T, "video": VIDEO}, "breakdance": other}


def test_one_video_of_tap_vid_is_chosen_by_its_name(tmp_path: Path) -> None:
    file = save(tmp_path, tapvid())
    with pytest.raises(InputError, match=r"holds 2 individuals: dogs, breakdance; choose one"):
        read_sequence(file)
    assert inspect_file(file).individuals == ("dogs", "breakdance")
    found = inspect_file(file, individual="dogs")
    assert found.sequence is not None and found.producer == "TAP-Vid" and found.clear
    np.testing.assert_allclose(found.sequence.tracks, TRACKS / 10)  # the video is a tenth as large
    assert found.sequence.image_size == (96, 72)
    assert found.arrays[0].name == "dogs/points" and found.arrays[0].role == "tracks"
    assert found.sequence.reading == {"individual": "dogs"}
    again = read_sequence(file, **found.reading)
    np.testing.assert_array_equal(again.tracks, found.sequence.tracks)
    with pytest.raises(InputError, match="there is no individual 'cats'; there are dogs, breakdance"):
        read_sequence(file, individual="cats")


def test_a_list_of_videos_is_numbered(tmp_path: Path) -> None:
    file = save(tmp_path, list(tapvid().values()))
    assert inspect_file(file).individuals == ("0", "1")
    assert read_sequence(file, individual="1").frame_count == 8


def test_a_single_video_needs_no_name(tmp_path: Path) -> None:
    assert read_sequence(save(tmp_path, {"dogs": tapvid()["dogs"]})).frame_count == F
    with pytest.raises(InputError, match="individual is 'dogs'; the file holds only one video"):
        read_sequence(save(tmp_path, tapvid()["dogs"]), individual="dogs")


def test_an_array_alone_is_read_by_its_shape(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read_sequence(save(tmp_path, TNXY)).tracks, TRACKS)


def test_a_dict_that_numpy_saved_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "clip.npy", {"tracks": TNXY, "visibility": SEEN})  # type: ignore[arg-type]
    np.testing.assert_array_equal(read_sequence(tmp_path / "clip.npy").visible, SEEN)


# -- hostile -------------------------------------------------------------------------------------------------


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def deep(levels: int) -> bytes:
    return b"\x80\x02" + b"]" * levels + b"a" * (levels - 1) + b"."


def op(text: str) -> bytes:
    return b"\x80\x02" + text.encode()


HOSTILE: dict[str, bytes | Callable[[Path], bytes]] = {
    "os.system": lambda mark: pickle.dumps(Calls(os.system, f"touch {mark}")),
    "builtins": pickle.dumps(Calls(print, "touched")),
    "numpy.fromfile": op("cnumpy\nfromfile\n(X\x0b\x00\x00\x00/etc/passwdtR."),
    "a dotted name": b"\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93.",
    "codecs": pickle.dumps(Calls(codecs.decode, "abc", "rot13")),
    "an object": pickle.dumps(Calls(io.BytesIO, b"")),
    "an instance": b"(i__main__\nThing\n.",
    "a persistent name": b"\x80\x02X\x01\x00\x00\x00aQ.",
    "a changed function": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n}X\x08\x00\x00\x00__code__K\x01sb.",
    "an array of objects": pickle.dumps(np.array([{}, None, []], dtype=object)),
    "an array with fields": pickle.dumps(np.zeros(3, dtype=[("a", "f4"), ("b", "O")])),
    "an array of dates": pickle.dumps(np.zeros(3, dtype="M8[s]")),
    "an enormous text": b"\x80\x04\x8d" + struct.pack("<Q", 2**40) + b"a.",
    "enormous bytes": b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b"a.",
    "an enormous memo": b"\x80\x02]r" + struct.pack("<I", 2**32 - 1) + b".",
    "a deep list": deep(100_000),
    "a list in itself": b"\x80\x02]q\x00h\x00a.",
    "a set": pickle.dumps({1, 2, 3}),
    "a deep tuple as a key": b"\x80\x04}" + b")" + b"\x85" * 200_000 + b"K\x01s.",
    "nothing": b"\x80\x04.",
    "a cut file": pickle.dumps({"coords": TNXY})[:-400],
}


@pytest.mark.usefixtures("sandboxed")
def test_hostile_pickles_are_refused_in_a_sentence_and_run_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "mark"
    for case, content in HOSTILE.items():
        content = content(mark) if callable(content) else content
        (tmp_path / "clip.pkl").write_bytes(content)
        found = inspect_file(tmp_path / "clip.pkl")
        assert found.problem and found.sequence is None, case
    assert not mark.exists()
    assert capfd.readouterr().out == ""
    assert read_sequence(save(tmp_path, TNXY, 2)).frame_count == F  # nothing has changed the next one


def test_numbers_are_keys(tmp_path: Path) -> None:
    found = inspect_file(save(tmp_path, {0: TNXY, -1: SEEN}))
    assert {array.name for array in found.arrays} == {"0", "-1"}
