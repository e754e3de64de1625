import json
from dataclasses import replace

import numpy as np
import pytest

from core import read_sequence, simulate, write_npz
from core.cli import main


@pytest.fixture
def written(tmp_path):
    """A folder with one path of two objects."""
    for kind in ("paper", "articulated"):
        options = ["--path", "zigzag", "--frames", "7", "--points", "21", "--noise", "0.5", "--seed", "4"]
        assert main(["simulate", kind, *options, "-o", str(tmp_path)]) == 0
    return tmp_path


def test_simulate_writes_what_the_function_gives(written):
    expected = simulate("paper", path="zigzag", frames=7, points=21, noise=0.5, seed=4)
    read = read_sequence(written / "paper")
    np.testing.assert_allclose(read.tracks, expected.tracks, rtol=0, atol=1e-6)
    assert read.companion is not None


def test_simulate_writes_one_camera_or_all_paths_when_asked(tmp_path):
    options = ["--camera", "perspective", "--path", "all", "--frames", "3", "--points", "16"]
    assert main(["simulate", "stretch", *options, "-o", str(tmp_path)]) == 0
    assert len(list((tmp_path / "stretch" / "sequence" / "perspective").iterdir())) == 6
    assert not (tmp_path / "stretch" / "sequence" / "orthogonal").exists()


def test_info_prints_a_table_of_all_sequences_and_has_the_same_facts_as_json(written, capsys):
    capsys.readouterr()
    assert main(["info", str(written)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:6] == ["object", "camera", "path", "frames", "points", "visible"]
    rows = [line.split() for line in lines[1:5]]
    assert [row[:5] for row in rows] == [
        [kind, camera, "zigzag", "7", "21"]
        for kind in ("articulated", "paper")
        for camera in ("perspective", "orthogonal")
    ]
    assert all("all (frame 4)" in line for line in lines[1:5])
    assert lines[-1] == "4 sequences of 2 objects"
    assert main(["info", str(written / "paper"), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    read = read_sequence(first["file"])
    assert read.edges is not None
    assert (first["object"], first["camera"], first["path"]) == ("paper", "perspective", "zigzag")
    assert (first["frames"], first["points"], first["edges"]) == (7, 21, len(read.edges))
    assert first["visible"] == read.visible.mean()
    assert (first["truth_frame"], first["truth_frames"], first["companion"]) == (4, 7, True)


def test_info_continues_after_a_broken_file_and_prints_the_problem(written, capsys):
    (written / "paper" / "sequence" / "orthogonal" / "zigzag.txt").write_text("")
    capsys.readouterr()
    assert main(["info", str(written)]) == 0
    out = capsys.readouterr().out
    assert "3 sequences of 2 objects" in out
    assert "left out: " in out and "zigzag.txt: the file is empty" in out


@pytest.mark.parametrize("words", [["info"], ["solve", "-o", "a.npz"]])
def test_the_bundled_video_is_said_to_be_one(words, capsys):
    assert main([words[0], "sample:sheet", *words[1:]]) == 2
    assert "sheet.mp4: is a video; `nrsfm track`, or File > Track a video..., " in capsys.readouterr().err


def test_formats_prints_the_page_or_that_it_is_not_installed(capsys, monkeypatch):
    assert main(["formats"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# Files: what is read and what is written")
    assert "\n# Your own tracks\n" in out and "core.write_tracks(" in out
    monkeypatch.setattr("core.foundation.assets.asset_folder", lambda name: None)
    assert main(["formats"]) == 2
    assert "the page is not installed: the folder assets/help is missing" in capsys.readouterr().err


@pytest.fixture
def tracker(tmp_path):
    """A file as CoTracker's users save it, and a score that could be a mask."""
    frames, points = 12, 9
    start = np.random.default_rng(0).uniform(200, 700, (1, points, 2))
    tracks = start + 5 * np.sin(np.arange(frames)[:, None, None] / 3)
    seen = np.ones((frames, points), bool)
    seen[3:, 4] = False
    arrays = {"pred_tracks": tracks[None], "pred_visibility": seen[None], "K": np.diag([900, 900, 1])}
    np.savez(tmp_path / "clip.npz", **arrays)
    return tmp_path / "clip.npz"


def test_info_of_a_file_is_how_it_is_understood_and_as_json_the_arrays_that_it_is_from(tracker, capsys):
    assert main(["info", str(tracker)]) == 0
    said = capsys.readouterr().out
    for line in (
        "read as CoTracker:",
        "  tracks      pred_tracks      1 x 12 x 9 x 2  float64",
        "  visibility  pred_visibility  1 x 12 x 9      bool",
        "  intrinsics  K                3 x 3           int64",
        "camera: perspective, focal length 900 x 900 px, principal point 0, 0",
    ):
        assert line in said.splitlines()
    assert "guessed" not in said
    assert main(["info", str(tracker), "--json", "--size", "1280x720"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["frames"], found["points"], found["producer"]) == (12, 9, "CoTracker")
    assert found["visible"] == pytest.approx(1 - 9 / 108)
    assert found["camera"] == "perspective" and found["K"][0] == [900.0, 0.0, 0.0]
    assert found["image_size"] == [1280, 720] and found["clear"] is True and found["guesses"] == []
    assert [(entry["name"], entry["role"]) for entry in found["arrays"]] == [
        ("pred_tracks", "tracks"),
        ("pred_visibility", "visibility"),
        ("K", "intrinsics"),
    ]


def test_names_of_files_do_not_control_the_terminal(tmp_path, capsys):
    """Escape sequences and marks that turn text are printed as escapes, of names and of folders."""
    name = "x\x1b]0;title\x07\x1b[31mred\u202e\n1"
    sequence = replace(simulate("paper", frames=6, points=16), name=name, units=name, truth_units=name)
    assert sequence.name == "x\\x1b]0;title\\x07\\x1b[31mred\\u202e\\n1"
    folder = tmp_path / "b\x1b[2J"
    folder.mkdir()
    write_npz(sequence, folder / "a\x1b[31m.npz")
    for path in (folder, folder / "a\x1b[31m.npz"):
        assert main(["info", str(path)]) == 0
        said = capsys.readouterr()
        assert all(line.isprintable() for line in (said.out + said.err).split("\n"))
        assert "\\x1b]0;title" in said.out
        assert main(["info", str(path), "--json"]) == 0
        out = capsys.readouterr().out
        assert "\x1b" not in out and "\u202e" not in out
        assert json.loads(out)[0]["file"] == str(folder / "a\x1b[31m.npz")
