"""Bad input of the command line: a sentence and exit code 2, and no file is touched."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from core import load_result, simulate, write_npz
from core.cli import main

REFUSED = {
    "no command": ([], "COMMAND"),
    "unknown command": (["solves"], "invalid choice: 'solves'"),
    "no output": (["solve", "{tracks}"], "-o/--output"),
    "unknown option": (["solve", "{tracks}", "-o", "a.npz", "--ranks", "2"], "--ranks"),
    "not a number": (["solve", "{tracks}", "-o", "a.npz", "--rank", "two"], "invalid int value: 'two'"),
    "rank 0": (["solve", "{tracks}", "-o", "a.npz", "--rank", "0"], "rank is 0"),
    "rank too large": (["solve", "{tracks}", "-o", "a.npz", "--rank", "99", "--rotations", "truth"], "rank"),
    "eta": (
        ["solve", "{tracks}", "-o", "a.npz", "--eta", "1.5"],
        "eta is 1.5; accepted is a number above 0 and at most 1",
    ),
    "decreasing weights": (["solve", "{tracks}", "-o", "a.npz", "--weights", "2,1"], "weights decrease"),
    "negative weight": (["solve", "{tracks}", "-o", "a.npz", "--weights=-1,1"], "must not be negative"),
    "words for weights": (
        ["solve", "{tracks}", "-o", "a.npz", "--weights", "a,b"],
        "--weights is 'a,b'; accepted are numbers A1,A2,...",
    ),
    "intrinsics that are no number": (
        ["solve", "{tracks}", "-o", "a.npz", "--intrinsics", "nan,1,2,3"],
        "--intrinsics nan,1,2,3 holds a value that is not finite; accepted are finite numbers",
    ),
    "intrinsics of no camera": (
        ["solve", "{tracks}", "-o", "a.npz", "--intrinsics=-9,9,2,3"],
        "--intrinsics -9,9,2,3 has focal lengths -9 and 9; both must be positive",
    ),
    "absent intrinsics": (
        ["solve", "{tracks}", "-o", "a.npz", "--intrinsics", "absent.txt"],
        "--intrinsics is 'absent.txt'; accepted are four numbers fx,fy,cx,cy, an existing file, auto",
    ),
    "text for rotations": (
        ["solve", "{tracks}", "-o", "a.npz", "--rotations", "{tracks}"],
        "is not an .npz file: it is no zip archive",
    ),
    "text for a result": (["evaluate", "{tracks}"], "is not an .npz file: it is no zip archive"),
    "text for the truth": (["evaluate", "{solved}", "--truth", "{tracks}"], "is not an .npz file"),
    "rank and weights": (["solve", "{tracks}", "-o", "a.npz", "--weights", "1,2", "--rank", "3"], "gives 2"),
    "two penalties": (["solve", "{tracks}", "-o", "a.npz", "--weights", "1,2", "--xi", "1"], "both given"),
    "foreign number": (
        ["solve", "{tracks}", "-o", "a.npz", "--mu", "1"],
        "does not belong to the penalty 'wnn'",
    ),
    "negative xi": (["solve", "{tracks}", "-o", "a.npz", "--xi", "-1"], "xi is -1"),
    "suffix": (["solve", "{tracks}", "-o", "a.stl"], "accepted are .npz"),
    "long name": (["info", 400 * "a"], "aaa: File name too long"),
    "long output": (
        ["solve", "absent.txt", "-o", 400 * "a" + ".npz"],
        "aaa.npz cannot be written: File name",
    ),
    "output folder": (["solve", "absent.txt", "-o", "absent/a.npz"], "the folder absent does not exist"),
    "history folder": (["solve", "absent.txt", "-o", "a.npz", "--history", "absent/a.csv"], "absent/a.csv"),
    "absent sequence": (["solve", "absent.txt", "-o", "a.npz"], "absent.txt"),
    "which path": (["solve", "{folder}", "-o", "a.npz"], "--camera perspective --path circle"),
    "no such path": (["solve", "{folder}", "-o", "a.npz", "--path", "flyby"], "has no such sequence"),
    "which object": (["solve", "{folder}/..", "-o", "a.npz", "--path", "flyby"], "has no such sequence"),
    "rotations file": (["solve", "{tracks}", "-o", "a.npz", "--rotations", "absent.npz"], "absent.npz"),
    "three intrinsics": (["solve", "{tracks}", "-o", "a.npz", "--intrinsics", "1,2,3"], "fx,fy,cx,cy"),
    "absent result": (["evaluate", "absent.npz"], "absent.npz: there is no such file"),
    "no result": (["evaluate", "{folder}/truth/circle.npz"], "lacks 'meta'"),
    "truth without S": (["evaluate", "{solved}", "--truth", "{solved}"], "accepted is an npz with S"),
    "export suffix": (["export", "{solved}", "-o", "a.stl"], "accepted are .npz"),
    "speed of a still shape": (
        ["export", "{solved}", "-o", "a.ply", "--fps", "25"],
        "--fps has no effect on a.ply; it is for .usda, .glb, .gltf, .html",
    ),
    "alignment of a whole result": (
        ["export", "{solved}", "-o", "a.npz", "-o", "a.mat", "--align", "truth"],
        "--align has no effect on a.npz, a.mat; it is for .usda",
    ),
    "numbered glTF": (
        ["export", "{solved}", "-o", "a.glb", "--all-frames"],
        "--all-frames or --stacked has no effect",
    ),
    "export frame": (["export", "{solved}", "-o", "a.ply", "--frame", "15"], "frames 1 to 14"),
    "frame and all": (
        ["export", "{solved}", "-o", "a.ply", "--frame", "1", "--all-frames"],
        "not allowed with",
    ),
    "absent info": (["info", "absent"], "absent"),
    "simulate what": (["simulate", "teapot", "-o", "a"], "teapot"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_sentence_and_exit_code_2(
    case, tracks, folder, solved, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words, sentence = REFUSED[case]
    places = {"tracks": tracks, "folder": folder, "solved": solved}
    assert main([word.format(**places) for word in words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("nrsfm") and captured.err.count("\n") == 1
    assert sentence in captured.err
    assert not list(tmp_path.iterdir())


def test_an_unwritable_output_is_refused_before_anything_is_read(tmp_path, capsys):
    assert main(["solve", str(tmp_path / "absent.mat"), "-o", str(tmp_path / "no" / "a.npz")]) == 2
    assert f"the folder {tmp_path / 'no'} does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("solve {input} -o {input}", "-o {input} is the input"),
        ("solve {input} -o linked.npz", "-o linked.npz is the input"),
        ("solve {input} -o a.npz --history {input}", "--history {input} is the input"),
        ("solve {input} -o {rotations} --rotations {rotations}", "is the file of --rotations"),
        ("solve {input} -o {camera} --intrinsics {camera}", "is the file of --intrinsics"),
        ("solve {input} -o a.npz -o ./below/../a.npz", "is another output (-o)"),
        ("solve {input} -o a.csv --history a.csv", "--history a.csv is another output (-o)"),
        ("solve {tracks} -o {truth}", "is a file of the input"),
        ("solve {tracks} -o a.npz --history {folder}/edges.txt", "edges.txt is a file of the input"),
        ("solve {tracks} -o a.npz --history {folder}/faces.txt", "faces.txt is a file of the input"),
        ("solve {tracks} -o a.npz --history {frame}", "is a file of the input"),
        ("solve {tracks} -o a.npz --history {visibility}", "is a file of the input"),
        ("solve {tracks} -o a.npz --history {companion}", "is a file of the input"),
        ("solve {input} -o a.npz --hide hide.txt --history hide.txt", "is the file of --hide"),
        ("solve {input} -o a.npz --history /dev/null", "/dev/null is a device; name a file to write"),
        ("solve {input} -o pipe.npz", "pipe.npz is a pipe; name a file to write"),
        ("solve {input} -o fixed.npz", "fixed.npz cannot be written: the file is read-only"),
        ("export of_input.npz -o {input}", "is the sequence of the result"),
        ("export {solved} -o {solved}", "-o {solved} is the input"),
        ("export {solved} -o a.ply -o a.ply", "is another output (-o)"),
    ],
)
def test_an_output_never_replaces_an_input_or_another_output(
    words, sentence, tracks, folder, solved, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("below").mkdir()
    sequence = simulate("paper", frames=6, points=20)
    write_npz(sequence, Path("input.npz"))
    Path("linked.npz").symlink_to("input.npz")
    np.savez("rotations.npz", R=sequence.rotations)
    np.savez("camera.npz", K=sequence.intrinsics)
    result = load_result(solved)
    result.meta["source"] = str(Path("input.npz").absolute())
    result.save("of_input.npz")
    Path("hide.txt").write_text("3:2")
    Path("fixed.npz").touch(0o444)
    os.mkfifo("pipe.npz")
    names = ("input", "rotations", "camera")
    places = {name: f"{name}.npz" for name in names} | {"tracks": tracks, "solved": solved, "folder": folder}
    places |= {
        "truth": folder / "truth" / "circle.npz",
        "visibility": folder / "visibility" / "perspective" / "circle.txt",
        "companion": folder / "sequence" / "orthogonal" / "circle.txt",
        "frame": next(folder.glob("gt_frame_*.txt")),
    }
    files = [file for file in (*tmp_path.iterdir(), *folder.rglob("*"), solved) if file.is_file()]
    before = [path.read_bytes() for path in files]
    assert main(words.format(**places).split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and sentence.format(**places) in said
    assert [path.read_bytes() for path in files] == before
    assert not list(tmp_path.glob("a.*"))
