"""What every command writes: nothing over an input, a folder, a device, a pipe or a read-only file."""

from __future__ import annotations

import itertools
import os
import stat
from importlib import import_module
from pathlib import Path

import pytest
from rendering import render

from core.cli import main
from core.cli.command_line import COMMANDS, CheckedParser
from core.solvers.methods import METHODS

QUICK = "--rank 2 --rotations truth --objective wnn --quiet"
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
    "sweep -o": (
        "sweep {tracks} --set rank=2 --objective wnn --jobs 1 -o out",
        [f"out/{name}" for name in ("table.csv", "runs.jsonl")],
    ),
}  # fmt: skip
FILES = [(name, file) for name, (_words, files) in WRITTEN.items() for file in files]
KINDS = ("folder", "pipe", "device", "read-only file")
IN_THE_WAY = [  # of every file one of them by turns, the others are slow
    pytest.param(*file, kind, marks=[] if (index + turn) % len(KINDS) == 0 else pytest.mark.slow)
    for index, file in enumerate(FILES)
    for turn, kind in enumerate(KINDS)
]

# The other options and arguments that are paths: they are read.
READ = {
    "info path", "evaluate --truth", "evaluate result", "export result", "reproduce --data",
    "reproduce --real", "solve --start", "track video", "track --mask",
}  # fmt: skip
# Those of all commands that are texts: what is read, and what is no file.
TEXTS = {
    "sequence", "data", "--rotations", "--intrinsics", "--hide", "--scheduler",
    "--path", "--layout", "--tracks", "--visible", "--threshold", "--size", "--individual", "--columns",
    "--region", "--mirror", "--scale", "--weights", "--mode-weights", "--then", "--over", "--values",
    "--object", "--camera", "--set", "--seeds", "--table", "--by", "--where", "--sizes",
    "--upright",
    *(f"--{option.name}" for method in METHODS.values() for option in method.options),
}  # fmt: skip


def test_the_table_has_every_option_that_names_an_output():
    paths, texts = set(), set()
    for command in COMMANDS:
        own = CheckedParser()
        import_module(f"core.cli.{command}").add_arguments(own)
        for action in own._actions:
            name = min(action.option_strings, key=len, default=action.dest)
            if action.type is Path:
                paths.add(f"{command} {name}")
            elif action.nargs != 0 and not action.choices and action.type not in (int, float):
                texts.add(name)
    assert paths - READ == {" ".join(name.split()[:2]) for name in WRITTEN}
    assert texts <= TEXTS


@pytest.fixture(scope="module")
def inputs(folder, tracks, solved, tmp_path_factory):
    """The files that the commands read."""
    made = tmp_path_factory.mktemp("inputs")
    video = made / "video.mp4"
    render("paper", frames=5, size=(96, 72)).write(video)
    return {"tracks": tracks, "solved": solved, "data": folder.parent, "video": video}


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


@pytest.mark.parametrize(("name", "file", "kind"), IN_THE_WAY)
def test_what_cannot_be_written_is_refused_and_stays(name, file, kind, inputs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentence = _hostile(Path(file), kind)
    before = _state(tmp_path)
    assert main(WRITTEN[name][0].format(**inputs).split()) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and Path(file).name in error and sentence in error
    after = _state(tmp_path)
    assert {path: after[path] for path in before} == before


def _files_read(words: str, inputs: dict[str, object]) -> list[Path]:
    """Return the files of the inputs of a command line: of an object all of one path."""
    names = [name for name in inputs if f"{{{name}}}" in words]
    files = []
    for path in (Path(str(inputs[name])) for name in names):
        if path.is_dir():
            files += path.rglob("*.*")
        elif path.name == "circle.txt":
            files += [file for file in path.parents[2].rglob("*.*") if file.stem != "line"]
        else:
            files.append(path)
    return files


# In more runs the same as another one.
SEVERAL = ("reproduce -o", "solve -o series", "solve --history", "export -o list")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SEVERAL else ())
        for name, (words, _files) in WRITTEN.items()
        if "{" in words
    ],
)
def test_no_file_of_the_input_is_written_over(name, inputs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, outputs = WRITTEN[name]
    sources = _files_read(words, inputs)
    content = {file: file.read_bytes() for file in sources}
    count = {"solve": 8, "sweep": 8, "reproduce": 13}.get(name.split()[0], 1)
    assert "solved" in words or len(sources) == count
    # One that is written after the solver has run is tried with a single file.
    cases = [(file, source) for file, source in itertools.product(outputs, sources)]
    cases = [(file, source) for file, source in cases if file == outputs[0] or source == sources[0]]
    for (file, source), link in itertools.product(cases, (os.symlink, os.link)):
        output = Path(file)
        output.parent.mkdir(parents=True, exist_ok=True)
        link(source, output)
        assert main(words.format(**inputs).split()) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "which would be overwritten" in error and output.name in error
        assert output.samefile(source) and {each: each.read_bytes() for each in sources} == content
        output.unlink()


@pytest.mark.parametrize("kind", ["file", "pipe"])
@pytest.mark.parametrize("name", [name for name, (words, _) in WRITTEN.items() if words.endswith("-o out")])
def test_a_folder_that_is_none_is_a_sentence(name, kind, inputs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if kind == "file":
        Path("out").write_bytes(b"kept")
    else:
        _hostile(Path("out"), kind)
    before = _state(tmp_path)
    assert main(WRITTEN[name][0].format(**inputs).split()) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "cannot be made: " in error and f"out is a {kind}" in error
    assert _state(tmp_path) == before


@pytest.mark.parametrize("name", ["solve -o", "export -o list", "track -o"])
def test_a_link_to_nowhere_is_followed_or_refused(name, inputs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, (file, *_others) = WRITTEN[name]
    words = words.format(**inputs).split()
    output, target = Path(file), tmp_path / "elsewhere" / "target"
    output.symlink_to(target)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"the folder {target.parent} does not exist" in error
    assert not target.parent.exists()
    target.parent.mkdir()
    assert main(words) == 0, capsys.readouterr().err
    assert output.is_symlink() and target.stat().st_size > 0


@pytest.mark.parametrize("name", ["solve --history", "export -o series", "simulate -o"])
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
