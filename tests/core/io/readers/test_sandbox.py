"""What reads a file may crash, compute without end or take all memory: each is a sentence on the file."""

import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from scipy.io import savemat

from core import inspect_file, read_sequence
from core.io.files import sandbox
from core.io.files.sandbox import read_limited

READERS = """
import faulthandler
def crashes(content, allowance):
    faulthandler._sigsegv()
def raises(content, allowance):
    raise KeyError("a\\x1b[31mb")
def fills(content, allowance):
    return bytearray(10**10)
def returns(content, allowance):
    return {"size": len(content), "much": bytes(10**6)}
def endless(content, allowance):
    while True:
        pass
"""


@pytest.mark.usefixtures("sandboxed")
def test_whatever_becomes_of_a_reader_is_a_sentence_and_the_next_file_is_read(tmp_path, monkeypatch):
    (tmp_path / "careless.py").write_text(READERS)
    monkeypatch.syspath_prepend(tmp_path)
    careless = import_module("careless")
    for read, sentence in (
        (careless.crashes, "^its library ends with code -11$"),
        (careless.raises, r"^'a\\x1b\[31mb'$"),
        (careless.fills, "needs too much of memory; accepted of a file of this size are 64 MB$"),
    ):
        with pytest.raises(ValueError, match=sentence):
            read_limited(read, b"odd")
        assert read_limited(careless.returns, b"odd")["size"] == 3
    if sys.platform == "linux":  # a larger file may come next
        import resource

        limits = sandbox._processes().call(resource.getrlimit, resource.RLIMIT_AS)
        assert limits[0] == limits[1]


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
def test_a_reader_that_does_not_end_is_ended(tmp_path, monkeypatch):
    (tmp_path / "careless.py").write_text(READERS)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="no end after seconds"):
        read_limited(import_module("careless").endless, b"odd")


@pytest.mark.usefixtures("sandboxed")
def test_a_file_that_the_library_crashes_at_is_refused_and_others_are_read(tmp_path, data):
    W = np.random.default_rng(0).normal(size=(8, 6))
    savemat(tmp_path / "W.mat", {"W": W})
    problem = inspect_file(data / "hostile" / "sparse_oob.mat").problem
    assert "cannot be read as MATLAB variables (its library ends with code -11)" in problem
    np.testing.assert_array_equal(read_sequence(tmp_path / "W.mat").tracks.reshape(8, 6), W)
    assert read_sequence(data / "others" / "sleap_labels.mat").frame_count == 43  # with objects of MATLAB


FORKING = """
import multiprocessing, sys, warnings
import numpy as np
from scipy.io import savemat
import core

def read(number):
    return core.read_sequence(f"{sys.argv[1]}/{number}.mat").tracks[0, 0, 0]

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of threads
    for number in range(6):
        savemat(f"{sys.argv[1]}/{number}.mat", {"W": np.full((8, 6), 10.0 + number)})
    assert read(0) == 10.0
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(read, list(range(6)) * 5, chunksize=1) == [10.0 + n for n in range(6)] * 5
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_processes_that_a_script_forks_read_their_own_files(tmp_path):
    (tmp_path / "script.py").write_text(FORKING)
    subprocess.run([sys.executable, str(tmp_path / "script.py"), str(tmp_path)], check=True)
