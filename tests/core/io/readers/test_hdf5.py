"""HDF5 files that lead elsewhere, to themselves, or ask for far too much."""

import h5py
import numpy as np
import pytest
from programs import run_python

from core import InputError
from core.io.readers import refusing_damage
from core.io.readers.arrays.mat import load_variables


def load(path):
    with refusing_damage(path, "HDF5 arrays"):
        return load_variables(path.read_bytes())


REFUSED = {
    "external link": "it links to another file",
    "external storage": "the numbers of a variable are in another file",
    "virtual array": "the numbers of a variable are in another file",
    "huge array": "needs 80000 MB of memory",
    "huge empty array": "needs too much of memory",
    "repeated array": "needs 800 MB of memory",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_leads_out_of_a_file_or_is_far_larger_is_refused(tmp_path, case):
    secret = str(tmp_path / "secret.h5")
    with h5py.File(secret, "w") as file:
        file["tracks"] = np.ones((5, 2))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        match case:
            case "external link":
                file["tracks"] = h5py.ExternalLink(secret, "/tracks")
            case "external storage":
                file.create_dataset("tracks", (4, 2), "f8", external=[(secret, 0, h5py.h5f.UNLIMITED)])
            case "virtual array":
                layout = h5py.VirtualLayout((5, 2), "f8")
                layout[:] = h5py.VirtualSource(secret, "tracks", (5, 2))
                file.create_virtual_dataset("tracks", layout)
            case "huge array":
                file.create_dataset("tracks", (10**9, 10), "f8", chunks=(1000, 10))
            case "huge empty array":
                file.create_dataset("tracks", data=np.array([10**9, 10**9])).attrs["MATLAB_empty"] = 1
            case "repeated array":
                array = file.create_dataset("#array", data=np.zeros((100, 1000)))
                file.create_dataset("cells", data=np.array([array.ref] * 1000, dtype=h5py.ref_dtype))
    with pytest.raises(InputError, match=rf"a\.h5: .*{REFUSED[case]}"):
        load(tmp_path / "a.h5")


def test_references_that_branch_or_return_are_followed_once(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        below = file.create_dataset("#0", data=np.ones((2, 3))).ref
        for level in range(1, 20):
            below = file.create_dataset(f"#{level}", data=np.array([below] * 2, dtype=h5py.ref_dtype)).ref
        file.create_dataset("tree", data=np.array([below], dtype=h5py.ref_dtype))
        file.create_group("loop")["again"] = file["/"]
        file["soft"] = h5py.SoftLink("/loop")
        file.create_dataset("W", data=np.arange(6.0).reshape(2, 3))
    found = load(tmp_path / "a.h5")
    assert set(found) == {"loop", "tree", "W"}
    np.testing.assert_array_equal(found["W"], np.arange(6.0).reshape(2, 3).T)
    monkeypatch.setenv("NRSFM_FILE_MEMORY", "0.01")
    with pytest.raises(InputError, match="needs 50 MB of memory"):  # 2^20 times the same 48 bytes
        load(tmp_path / "a.h5")


def test_items_of_other_types_are_left_out(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        tracks = file.create_dataset("tracks", data=np.ones((3, 2, 4)))
        file.create_dataset("empty", data=h5py.Empty("f8"))
        file.create_dataset("ragged", (3,), dtype=h5py.vlen_dtype("f8"))[0] = np.ones(4)
        file.create_dataset("region", (1,), dtype=h5py.regionref_dtype)[0] = tracks.regionref[:2]
        file["type"] = np.dtype("f8")
        pair, time = h5py.h5s.create_simple((2,)), h5py.h5t.UNIX_D32LE  # which NumPy has not
        h5py.h5d.create(file.id, b"time", time, pair)
        h5py.h5d.create(file.id, b"opaque", h5py.h5t.create(h5py.h5t.OPAQUE, 5), pair)
        h5py.h5a.create(file.create_dataset("marked", data=[1.0]).id, b"MATLAB_class", time, pair)
        file.create_dataset("pairs", data=[1.0]).attrs["MATLAB_empty"] = [0, 0]
        file.create_dataset("names", data=np.array([b"a\xff"], dtype=object), dtype=h5py.string_dtype())
        file.create_dataset("cells", (2,), dtype=h5py.ref_dtype)[0] = tracks.ref
        file.create_dataset("table", (3,), dtype=[("x", "f8", (5,)), ("inside", [("a", "f8")])])
        file.create_dataset("flags", data=[0, 1], dtype=h5py.enum_dtype({"NO": 0, "YES": 1}, "i"))
    found = load(tmp_path / "a.h5")
    assert set(found) == {"tracks", "cells", "table", "flags", "names", "pairs"}
    assert found["names"].tolist() == ["a\ufffd"] and found["pairs"].tolist() == [1.0]
    assert found["tracks"].shape == found["cells"][0].shape == (4, 2, 3) and found["cells"][1] is None
    assert set(found["table"]) == {"x"}


def test_a_script_without_a_guard_reads_such_files(tmp_path):
    """The process of the library does not run the script that reads the file."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["tracks"] = np.random.default_rng(0).normal(size=(2, 9, 12))
    script = tmp_path / "script.py"
    script.write_text("import sys, core\nprint(core.read_sequence(sys.argv[1]).frame_count)\n")
    done = run_python(script, tmp_path / "a.h5", check=True)
    assert done.stdout == "12\n"
