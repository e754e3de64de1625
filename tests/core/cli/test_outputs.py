"""What every command writes: nothing over an input, a folder, a device, a pipe or a read-only file."""

from __future__ import annotations

import argparse
import os
import stat
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from core.cli import main
from core.cli.command_line import COMMANDS
from core.synthetic import render

QUICK = "--rank 2 --rotations truth --refine none --quiet"
REPORT = ("report.md", "report.html", "numbers.csv", "jobs/runs.jsonl")

# Command lines, and the files that each writes. `{input}` is the file that it reads.
WRITTEN = {
    "solve -o": (f"solve {{tracks}} {QUICK} -o out.npz", ["out.npz"]),
    "solve -o series": (f"solve {{tracks}} {QUICK} -o out.pvd", ["out.pvd", "out_0003.vtp"]),
    "solve --history": (f"solve {{tracks}} {QUICK} -o kept.npz --history out.csv", ["out.csv"]),
    "export -o": ("export {solved} -o out.ply", ["out.ply"]),
    "export -o series": ("export {solved} -o out.ply --all-frames", ["out_0001.ply", "out_0014.ply"]),
    "export -o list": ("export {solved} -o out.pvd", ["out.pvd", "out_0014.vtp"]),
    "track -o": ("track {video} --points 9 --quiet -o out.npz", ["out.npz"]),
    "simulate -o": (
        "simulate paper --path line --camera orthogonal --frames 5 --points 15 -o out",
        [
            "out/paper/edges.txt", "out/paper/faces.txt", "out/paper/truth/line.npz",
            "out/paper/sequence/orthogonal/line.txt", "out/paper/visibility/orthogonal/line.txt",
        ],
    ),
    "reproduce -o": ("reproduce table1 --data {data} -o out --jobs 1", [f"out/{name}" for name in REPORT]),
    "benchmark -o": (
        "benchmark --sizes 8x9 --rank 2 --methods bilinear --seconds 0.1 -o out",
        [f"out/{name}" for name in ("benchmark.csv", "curves.csv", "benchmark.png", "runs.jsonl")],
    ),
    "benchmark -o growth": (
        "benchmark --growth --seconds 0.1 -o out", ["out/growth.csv", "out/growth.png", "out/runs.jsonl"],
    ),
    "benchmark -o pyproximal": (
        "benchmark --pyproximal {scene} --seconds 0.1 -o out",
        [f"out/pyproximal{name}" for name in (".csv", "_curves.csv", ".png")],
    ),
    "sweep -o": (
        "sweep {tracks} --set rank=2 --refine none --jobs 1 -o out",
        [f"out/{name}" for name in ("table.csv", "runs.jsonl")],
    ),
}  # fmt: skip
FILES = [(name, file) for name, (_words, files) in WRITTEN.items() for file in files]

# The other options and arguments that are paths: they are read.
READ = {
    "info path", "evaluate --truth", "evaluate result", "export result", "reproduce --data",
    "reproduce --real", "benchmark --pyproximal", "solve --start", "track video",
}  # fmt: skip


def test_the_table_has_every_option_that_names_an_output():
    paths = set()
    for command in COMMANDS:
        own = argparse.ArgumentParser()
        import_module(f"core.cli.{command}").add_arguments(own)
        for action in own._actions:
            if action.type is Path:
                paths.add(f"{command} {min(action.option_strings, key=len, default=action.dest)}")
    assert paths - READ == {" ".join(name.split()[:2]) for name in WRITTEN}


@pytest.fixture(scope="module")
def inputs(folder, tracks, solved, tmp_path_factory):
    """The files that the commands read."""
    made = tmp_path_factory.mktemp("inputs")
    video, scene = made / "video.mp4", made / "scene.npz"
    render("paper", frames=5, size=(96, 72)).write(video)
    np.savez(scene, R=np.tile(np.eye(3)[:2], (6, 1, 1)), X_gt=np.ones((18, 5)))
    return {"tracks": tracks, "solved": solved, "data": folder.parent, "video": video, "scene": scene}


def _hostile(file: Path, kind: str) -> str:
    """Put something where a file is to be written; return what the sentence calls it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to(os.devnull)
    else:
        file.write_bytes(b"kept")
        file.chmod(0o444)
        return "the file is read-only"
    return f"is a {kind}; name a file to write"


def _state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return the mode of every path below a folder, and the content of the files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        found[str(path)] = (mode, path.read_bytes() if stat.S_ISREG(mode) else b"")
    return found


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "read-only file"])
@pytest.mark.parametrize(("name", "file"), FILES)
def test_what_cannot_be_written_is_refused_and_stays(name, file, kind, inputs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentence = _hostile(Path(file), kind)
    before = _state(tmp_path)
    assert main(WRITTEN[name][0].format(**inputs).split()) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and Path(file).name in error and sentence in error
    after = _state(tmp_path)
    assert {path: after[path] for path in before} == before


# Of each command, a file of its input.
INPUT_OF = {
    "solve": "{tracks}", "export": "{solved}", "track": "{video}", "reproduce": "{tracks}",
    "benchmark": "{scene}", "sweep": "{tracks}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (name, file)
        for name, file in FILES
        if name.split()[0] in INPUT_OF and (name.split()[0] != "benchmark" or "{scene}" in WRITTEN[name][0])
    ],
)
def test_a_link_to_a_file_of_the_input_is_refused(name, file, inputs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = Path(INPUT_OF[name.split()[0]].format(**inputs))
    content = source.read_bytes()
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).symlink_to(source)
    assert main(WRITTEN[name][0].format(**inputs).split()) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "which would be overwritten" in error and Path(file).name in error
    assert source.read_bytes() == content and Path(file).is_symlink()


@pytest.mark.parametrize("name", ["solve --history", "export -o series", "track -o", "simulate -o"])
def test_links_are_followed_and_permissions_kept(name, inputs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words, (file, *_others) = WRITTEN[name]
    target = tmp_path / "elsewhere"
    target.write_bytes(b"old")
    target.chmod(0o604)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).symlink_to(target)
    assert main(words.format(**inputs).split()) == 0, capsys.readouterr().err
    assert Path(file).is_symlink() and target.read_bytes() != b"old"
    assert stat.S_IMODE(target.stat().st_mode) == 0o604


def test_the_true_shape_of_a_folder_is_compared_only_where_it_is_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    root = Path("out/paper")
    root.mkdir(parents=True)
    os.mkfifo(root / "gt_frame_3.txt")
    assert main(WRITTEN["simulate -o"][0].split()) == 2
    assert f"{root / 'gt_frame_3.txt'}: is a pipe; accepted is a file" in capsys.readouterr().err
