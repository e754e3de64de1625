"""Files that ask for too much or are no files: each ends in one sentence, before memory or time is used."""

from __future__ import annotations

import io
import os
import re
import socket
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from core import InputError, load_result, read_sequence
from core.cameras.calibration import load_intrinsics
from core.cameras.rotations import load_rotations
from core.io.files import allowance
from core.io.readers import (
    Allowance,
    check_file,
    inspect_file,
    load_arrays,
    memory_limit,
    opened_archive,
    parse_json,
    reason,
    set_memory_limit,
)
from core.tracking.video import Video

READ = {
    "sequence": read_sequence,
    "result": load_result,
    "rotations": load_rotations,
    "intrinsics": load_intrinsics,
    "video": Video,
}


def problem_of(path):
    problem = inspect_file(path).problem
    assert str(path) in problem
    return problem


# -- kinds of files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", READ)
def test_only_regular_files_are_opened(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    os.mkfifo("pipe.npz")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "link.npz").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.npz")
        for name, found in (
            ("pipe.npz", "a pipe"),
            ("socket.npz", "a socket"),
            ("link.npz", "a device"),
            ("folder.npz", "a folder|is a folder"),
        ):
            with pytest.raises(InputError, match=f"{name}: (is )?({found})|{name}: holds no sequence"):
                READ[kind](Path(name))
    with pytest.raises(InputError, match="cannot be the name of a file"):
        READ[kind](Path("a\0b.npz"))


def test_a_file_beyond_the_limit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.5")
    path = tmp_path / "large.npz"
    with path.open("wb") as stream:
        stream.truncate(10**12)
    with pytest.raises(InputError, match=r"large\.npz: has 1000000 MB; accepted are up to 500 MB \(NRSFM_FI"):
        read_sequence(path)
    assert check_file(path) == 10**12


def test_the_limit_is_a_value_of_the_process_and_of_those_that_it_starts(monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "")
    assert memory_limit() == 2_000_000_000
    set_memory_limit(3_500_000_000)
    assert memory_limit() == 3_500_000_000 and os.environ["NRSFM_FILE_MEMORY"] == "3.5"
    for text in ("much", "-1", "nan", "1e30"):
        monkeypatch.setenv("NRSFM_FILE_MEMORY", text)
        with pytest.raises(InputError, match=r"NRSFM_FILE_MEMORY is .*; accepted is a positive number of GB"):
            memory_limit()


def test_what_a_file_may_ask_for_grows_with_it_up_to_the_limit(monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "1")
    small = Allowance(100_000)
    small.use(80_000_000)
    assert small.left == 4_000_000
    with pytest.raises(InputError, match=r"^needs 85 MB .*; accepted of a file of this size are 84 MB$"):
        small.use(5_000_000)
    with pytest.raises(InputError, match=r"are 1000 MB; NRSFM_FILE_MEMORY in GB allows more"):
        Allowance(10**9).use_array((10**9,), 1)
    with pytest.raises(InputError, match="needs far too much of memory"):
        Allowance(1).use(10**400)
    Allowance(10**9).use_array((10, 10**4, 10**4, 1), 1)  # pictures stay bytes


# -- what is in files ----------------------------------------------------------------------------------------


def npy(shape, kind="<f8", content=bytes(8)):
    """An array that states a shape and a kind which its bytes may not have."""
    header = str({"descr": kind, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def archive(*names, content=b"", method=zipfile.ZIP_DEFLATED, comment=b""):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file, warnings.catch_warnings(action="ignore"):
        for name in names:
            file.writestr(f"{name}.npy", content)
            file.filelist[-1].comment = comment
    return stream.getvalue()


def endless_c3d():
    group = struct.pack("<bb", 5, -1) + b"POINT" + struct.pack("<hB", 3, 0)
    text = struct.pack("<bb", 6, 1) + b"LABELS" + struct.pack("<hb", 300, -1) + bytes((8, *[255] * 8))
    return bytes((2, 0x50)).ljust(512, b"\0") + (bytes((1, 0x50, 1, 84)) + group + text).ljust(512, b"\0")


def bundle(numbers, point):
    cameras, points = "500 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 0\n" * 2, f"0 0 0\n0 0 0\n{point}\n" * 5
    return f"# Bundle file v0.3\n{numbers}\n{cameras}{points}".encode()


GRID = "".join(f"\n{number},{number},1,2" for number in range(4000))
SMALL = "MB of memory; accepted of a file of this size are 10 MB"
WIDE = "has 50001 fields; accepted are up to 50000"
PROBLEMS: dict[str, tuple[str, bytes, str]] = {
    "a grid far larger than its lines": (
        "a.csv", b"frame,point,x,y" + GRID.encode(),
        "needs 256 MB of memory; accepted of a file of this size are 75 MB",
    ),
    "many columns": ("a.csv", b"1," * 50_000 + b"1\n", WIDE),
    "many columns in quotes": ("a.csv", b'"\n",' * 50_000 + b"1\n", WIDE),
    "many lines": ("small.txt", 500_000 * b"1\n", SMALL),
    "many rows": ("small.csv", 500_000 * b"1,2\n", SMALL),
    "a text of a C3D without an end": ("a.c3d", endless_c3d(), "a text that ends after the file"),
    "a camera below 0": ("a.out", bundle("2 5", "2 -1 0 1 2 -2 0 3 4"), "(point 0 is seen by camera -1 of 2"),
    "views below 0": ("a.out", bundle("2 5", "-1 0 0 1 2"), "(point 0 has 4 numbers for -1 views"),
    "other points": ("a.out", bundle("2 6", "1 0 0 1 2"), "(it has 26 lines for 2 cameras and 6 points"),
    "an enormous array": ("a.npy", npy((10**15,)), "of 1000000000000000 needs 8000000000000000 bytes, and"),
    "an array beyond numbers": ("a.npy", npy((10**30, 10**30)), "and there are 8"),
    "text beyond the last character": (
        "a.npy", npy((1,), [("a", ">U1")], struct.pack(">I", 0x110000)),
        "its text has the character 0x110000; the last one is 0x10ffff",
    ),
    "zeros that fill the memory": (
        "small.npz", archive("a", content=bytes(12_000_000)), "small.npz: needs 12 MB of memory; accepted"
    ),
    "many arrays": ("a.npz", archive(*map(str, range(20_001)), comment=bytes(500)), "holds 20001 parts; acc"),
    "one part many times": ("a.npz", archive("a", "a", "a"), "npz: holds 3 parts named a.npy; accepted is"),
    "bzip2": ("a.npz", archive("R", method=zipfile.ZIP_BZIP2), "R.npy is compressed by method 12; accepted"),
    "LZMA": ("a.npz", archive("R", method=zipfile.ZIP_LZMA), "R.npy is compressed by method 14; accepted"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROBLEMS)
def test_what_asks_for_too_much_or_is_not_what_it_states_is_refused(tmp_path, monkeypatch, case):
    name, content, sentence = PROBLEMS[case]
    if name.startswith("small"):
        monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.01")
    (tmp_path / name).write_bytes(content)
    assert sentence in problem_of(tmp_path / name)
    if name.endswith("npz"):  # wherever arrays are read
        for kind in ("result", "rotations", "intrinsics"):
            with pytest.raises(InputError, match=re.escape(sentence)):
                READ[kind](tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"\xff\x80text", b"\x93NUMPY\x01\x00\x02\x00{}"])
def test_a_member_that_is_no_array_is_one_sentence_wherever_arrays_are_read(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(archive("R", "K", "meta", "tracks", content=content))
    for kind in ("sequence", "result", "rotations", "intrinsics"):
        with pytest.raises(InputError, match=r"a\.npz: is damaged: R is no array of NumPy \(.+\)$"):
            READ[kind](tmp_path / "a.npz")


def test_arrays_that_are_mostly_zero_are_read(tmp_path, monkeypatch):
    """Of tracks that are nearly all hidden a compressed file keeps little."""
    monkeypatch.setattr(allowance, "LEAST_SIZE_LIMIT", 0)
    rng = np.random.default_rng(0)
    tracks = np.where(rng.random((200, 2, 1000)) < 0.02, rng.normal(size=(200, 2, 1000)), 0.0)
    content = io.BytesIO()
    np.savez_compressed(content, tracks=tracks)
    assert tracks.nbytes > 20 * len(content.getvalue())
    np.testing.assert_array_equal(load_arrays(content.getvalue(), tmp_path)["tracks"], tracks)


def test_parts_are_counted_before_they_are_listed_whatever_the_end_of_the_file_states(tmp_path, monkeypatch):
    """zipfile goes by the size of the list, and not by the number that stands beside it."""
    content = bytearray(archive(*"abcde"))
    monkeypatch.setattr(zipfile.ZipInfo, "__init__", None)  # which it makes for every part
    end = content.rindex(b"PK\x05\x06")
    content[end + 8 : end + 12] = struct.pack("<HH", 1, 1)
    (tmp_path / "a.npz").write_bytes(content)
    for source in (bytes(content), tmp_path / "a.npz"):
        with (
            pytest.raises(InputError, match=r"a\.npz: holds 5 parts; accepted are up to 4"),
            opened_archive(source, tmp_path / "a.npz", most=4),
        ):
            pass


@pytest.mark.parametrize("quoted", [b"a\x9b\x1b'", b'a"', b"", 200 * b"\xff"])
def test_bytes_that_a_library_quotes_are_left_out(quoted):
    sentence = reason(ValueError(f"File name in directory 'a.npy' and header {quoted!r} differ."))
    assert sentence == "File name in directory 'a.npy' and header other bytes differ."


@pytest.mark.parametrize(
    "text", [100_000 * "[", '{"a": ' * 100_000, "1" * 5000, "\xff", "[1, 2", "[" + "{}," * 400_000 + "{}]"]
)
def test_json_without_end_is_refused(text, monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.1")
    with pytest.raises(InputError, match=r"is no JSON|needs \d+ MB of memory"):
        parse_json(text.encode("latin-1"))
