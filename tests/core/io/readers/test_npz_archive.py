"""Archives of arrays: nothing is unpacked that would fill the memory."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

from core import InputError
from core.io.files import allowance, contents
from core.io.readers import load_arrays, opened_archive


def test_a_small_file_that_would_fill_the_memory_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.01")
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as stream:
        np.lib.format.write_array_header_1_0(
            stream, {"descr": "<f8", "fortran_order": False, "shape": (1_500_000,)}
        )
        for _ in range(12):
            stream.write(bytes(1_000_000))
    with pytest.raises(InputError, match=r"bomb\.npz: needs 12 MB of memory; accepted .* are 10 MB"):
        load_arrays(path.read_bytes(), path)


def test_arrays_that_are_mostly_zero_are_read(tmp_path, monkeypatch):
    """Of tracks that are nearly all hidden a compressed file keeps little."""
    monkeypatch.setattr(allowance, "LEAST_SIZE_LIMIT", 0)
    rng = np.random.default_rng(0)
    tracks = np.where(rng.random((200, 2, 1000)) < 0.02, rng.normal(size=(200, 2, 1000)), 0.0)
    content = io.BytesIO()
    np.savez_compressed(content, tracks=tracks)
    assert tracks.nbytes > 20 * len(content.getvalue())
    np.testing.assert_array_equal(load_arrays(content.getvalue(), tmp_path)["tracks"], tracks)


def test_an_archive_of_too_many_parts_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "MOST_ARRAYS", 2)
    content = io.BytesIO()
    np.savez(content, a=1, b=2, c=3)
    with pytest.raises(InputError, match="holds 3 parts; accepted are up to 2"):
        load_arrays(content.getvalue(), tmp_path)


def test_parts_are_counted_before_they_are_listed_whatever_the_end_of_the_file_states(tmp_path, monkeypatch):
    """zipfile goes by the size of the list, and not by the number that stands beside it."""
    content = bytearray(_archive_of(5))
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


def _archive_of(parts: int) -> bytes:
    content = io.BytesIO()
    np.savez(content, **{f"a{part}": part for part in range(parts)})
    return content.getvalue()
