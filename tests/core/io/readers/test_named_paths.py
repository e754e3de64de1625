"""What a file of somebody else names is not looked at on another computer, nor out of its folder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core.io.readers import load_arrays, named_path, write_npz

ELSEWHERE = r"""
//host/share/a.mp4 \\host\share\a.mp4 \/host/a.mp4 \\?\UNC\host\share\a.mp4 \\.\pipe\a
smb://host/a.mp4 file://host/a.mp4 FILE:/a.mp4 http://host/a.mp4 /net/host/a.mp4
../a.mp4 ..\a.mp4 below/../../a.mp4
""".split()


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_name_that_leads_elsewhere_is_not_followed(name, tmp_path):
    assert named_path(name, tmp_path / "a.npz") is None


def test_other_names_are_meant_from_the_folder_of_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for by in (tmp_path / "a.npz", Path("a.npz")):
        assert named_path("b/a..mp4", by) == tmp_path / "b" / "a..mp4"
        assert named_path("/other/../a.mp4", by) == Path("/other/../a.mp4")
        assert named_path("C:/a.mp4", by) is not None
    assert named_path("//HOST/b/a.mp4", Path("//host/share/a.npz")) == Path("//HOST/b/a.mp4")
    assert named_path("/net/host/a.mp4", Path("/net/other/a.npz")) is None


@pytest.mark.parametrize("name", ["//host/share/a.mp4", "../a.mp4"])
def test_a_sequence_does_not_know_a_video_elsewhere(name, tmp_path):
    sequence = core.simulate("balloon", frames=12, points=20, seed=1)
    path = tmp_path / "a.npz"
    write_npz(replace(sequence, video=tmp_path / "a.mp4"), path)
    assert core.read_sequence(path).video == tmp_path / "a.mp4"
    np.savez(path, **(load_arrays(path.read_bytes(), path) | {"video": np.array(name)}))
    assert core.read_sequence(path).video is None
