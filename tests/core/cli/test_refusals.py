from pathlib import Path

import numpy as np
import pytest

from core import load_result, simulate, write_npz
from core.cli import main

HUGE = 20 * "9"
SOLVE, ORTHOGONAL = "solve {tracks} -o a.npz", "solve sample:balloon/circle/orthogonal -o a.npz"
GUIDE = "guide {tracks} --quiet --rank 3 --starts 1 --rotations truth --objective wnn"
SWEEP = "sweep {folder} -o out"
REFUSED = {
    "": "COMMAND",
    "solves": "invalid choice: 'solves'",
    "solve {tracks}": "-o/--output",
    "solve {tracks} -o a.npz --rank two": "invalid int value: 'two'",
    "solve {tracks} -o a.npz --rank 99 --rotations truth": "rank",
    "solve {tracks} -o a.npz --eta 1.5": "eta is 1.5; accepted is a number above 0 and at most 1",
    "solve {tracks} -o a.npz --weights 2,1": "weights decrease",
    "solve {tracks} -o a.npz --weights a,b": "--weights is 'a,b'; accepted are numbers A1,A2,...",
    f"{SOLVE} --intrinsics nan,1,2,3": "--intrinsics nan,1,2,3 holds a value that is not finite; accepted",
    f"{SOLVE} --intrinsics=-9,9,2,3": "--intrinsics -9,9,2,3 has focal lengths -9 and 9; both must be",
    f"{SOLVE} --intrinsics absent.txt": "--intrinsics is 'absent.txt'; accepted are four numbers fx,fy,cx,cy",
    "solve {tracks} -o a.npz --rotations {tracks}": "is not an .npz file: it is no zip archive",
    "evaluate {solved} --truth {tracks}": "is not an .npz file",
    "solve {tracks} -o a.npz --weights 1,2 --rank 3": "gives 2",
    "solve {tracks} -o a.npz --mu 1": "does not belong to the penalty 'wnn'",
    "solve {tracks} -o a.stl": "accepted are .npz",
    "info " + 400 * "a": "aaa: File name too long",
    "solve absent.txt -o absent/a.npz": "the folder absent does not exist",
    "solve absent.txt -o a.npz --history absent/a.csv": "absent/a.csv",
    "solve {folder} -o a.npz": "--camera perspective --path circle",
    "solve {folder} -o a.npz --path flyby": "has no such sequence",
    "solve {tracks} -o a.npz --path flyby": "is one sequence; a path (flyby) chooses among",
    "guide sample:balloon --path flyby": "has no such sequence; there are: --camera perspective --path c",
    "solve sample:balloon -o a.npz": "holds 3 sequences; choose one: --camera perspective --path circle",
    "solve {tracks} -o a.npz --rotations absent.npz": "absent.npz",
    "evaluate absent.npz": "absent.npz: there is no such file",
    "evaluate {folder}/truth/circle.npz": "lacks 'meta'",
    "evaluate {solved} --truth {solved}": "accepted is an npz with S",
    "export {solved} -o a.stl": "accepted are .npz",
    "export {solved} -o a.ply --fps 25": "--fps has no effect on a.ply; it is for .usda, .glb, .gltf, .html",
    "export {solved} -o a.npz -o a.mat --align truth": "--align has no effect on a.npz, a.mat; it is for .us",
    "export {solved} -o a.glb --all-frames": "--all-frames or --stacked has no effect",
    "export {solved} -o a.ply --frame 15": "frames 1 to 14",
    "export {solved} -o a.ply --frame 1 --all-frames": "not allowed with",
    "simulate teapot -o a": "teapot",
    "info .": "holds no sequence",
    "info {folder} --order ntxy": "--order says how a file is read",
    "benchmark --sizes 40": "--sizes holds '40'; accepted is FxP",
    "benchmark --sizes 8x15 --rank 9": "the rank is 9; accepted is a whole number from 1 to 8",
    "benchmark --seconds 0": "--seconds is 0",
    "benchmark --growth --rank 3": "--rank has no effect together with --growth",
    # numbers that are far too large
    "solve {tracks} -o a.npz --rank 1000000000": "accepted",
    f"solve {{tracks}} -o a.npz --then=--rank={HUGE}": "accepted",
    "guide {tracks} --folds 1000000000": "accepted",
    "simulate paper -o a --frames 1000000 --points 1000000": "accepted",
    f"reproduce table1 -o a --jobs {HUGE}": "accepted",
    "benchmark --sizes 999999999x999999 --seconds 1": "accepted",
    # the paper's experiments
    "reproduce all --data absent -o a": "there is no such file or folder",
    "reproduce all --data . -o a": "holds no sequence",
    "reproduce all --data {folder} -o a --jobs 0": "--jobs is 0",
    "reproduce all --data {folder} -o a --seconds 0": "seconds is 0",
    "reproduce all --data {folder} -o a --real absent": "there is no such folder",
    "reproduce all --data {folder} -o a --real .": "none of the files of Figure 1",
    "reproduce mocap -o a": "there is no motion capture; --real is a folder with one of mocap/",
    "reproduce mocap --real . -o a": "there is no motion capture; --real is a folder with one of mocap/",
    # options without a value
    "solve {tracks} -o a.npz --rank=--": "argument --rank: '--' is no value",
    "solve {tracks} -o a.npz --then=--eta=--": "--then: argument --eta: '--' is no value",
    # penalties and methods
    f"{SOLVE} --penalty log --theta 1": ("--theta does not belong to the penalty 'log', which takes --mu,"),
    f"{SOLVE} --penalty rank --p 0.5": "--p does not belong to the penalty 'rank', which takes --mu",
    f"{SOLVE} --epsilon 1": "--epsilon does not belong to the penalty 'wnn'",
    f"{SOLVE} --weights 1,2 --penalty mcp": "--weights and --penalty are both given",
    f"{SOLVE} --weights 1,2 --theta 1": "--weights and --theta are both given",
    f"{ORTHOGONAL} --method bmm --penalty wnn": "BMM minimizes the nuclear norm",
    f"{ORTHOGONAL} --method bmm --xi 0.1": "--xi does not belong to the penalty 'nn', which takes --mu",
    f"{ORTHOGONAL} --method bmm --weights 1,2": "BMM minimizes the nuclear norm",
    f"{ORTHOGONAL} --method r-bmm --penalty log": "R-BMM's weights are xi / (sigma_k + gamma)",
    f"{ORTHOGONAL} --method irnn --penalty rank": "IRNN weighs singular values by the slope",
    f"{ORTHOGONAL} --method paper --penalty mcp": "Algorithm 1 takes penalties that are linear",
    # the depths
    f"{SOLVE} --mode-weights 2,1": "the weights of the modes are 2, 1; accepted are numbers of at least 0",
    f"{SOLVE} --mode-weights a": "--mode-weights is 'a'; accepted are numbers A1,A2,..., the last one of all",
    f"{SOLVE} --smallest-movement 0": "smallest_movement is 0; accepted is a number above 0 and at most 1",
    f"{SOLVE} --problem lowrank --objective depths": "the low-rank problem has no energy of depths",
    # what guidance varies
    f"{GUIDE} --over mu": "the parameter to vary is 'mu'; accepted here are xi, rank, eta, objective",
    f"{GUIDE} --values 1,a": "a value of xi is 'a'; accepted are numbers with commas between them",
    f"{GUIDE} --over neighbors --values 0 --objective depths": "neighbors is 0; accepted is a whole number",
    f"{GUIDE} --share 0.9": "the held-out share is 0.9",
    f"{GUIDE} --over rank --values 24": "no observation can be hidden at rank 24",
    # what a sweep varies
    f"{SWEEP} --set rank": "accepted are NAME=VALUES",
    f"{SWEEP} --set rank=x": "--set: argument --rank: invalid int value",
    f"{SWEEP} --set etta=1": "--set: unrecognized arguments",
    f"{SWEEP} --set eta=7": "eta is 7",
    f"{SWEEP} --set rank={HUGE}": "is too large",
    f"{SWEEP} --set rank=2 rank=3": "--set has rank twice",
    f"{SWEEP} --set xi=log:1:9:101 --seeds 0:100000": "combinations; accepted are",
    f"{SWEEP} --seeds 5:0": "--seeds is '5:0'",
    f"{SWEEP} --camera fisheye": "--camera",
    f"{SWEEP} --order best-first": "argument --order: invalid choice: 'best-first'",
    f"{SWEEP} --path nowhere": "--path is 'nowhere'",
    "sweep sample:balloon -o a --path line": "which the data does not have; it has circle, tricky",
    f"{SWEEP} --set rank=2 --rank 3": "--rank is given together with --set rank",
    f"{SWEEP} --seeds 0:3 --seed 1": "--seeds is given together",
    f"{SWEEP} --object cow": "--object is 'cow', which the data does not have; it has paper",
    f"{SWEEP} --jobs 0": "--jobs is 0",
    f"{SWEEP} --timeout 0": "--timeout is 0",
    f"{SWEEP} --backend dask": "--backend dask and --scheduler ADDRESS are given together",
    f"{SWEEP} --by rank": "--by has no effect without --table",
}


@pytest.fixture
def places(tracks, folder, solved):
    return {"tracks": tracks, "folder": folder, "solved": solved}


@pytest.mark.parametrize("words", REFUSED)
def test_bad_input_is_one_sentence_and_exit_code_2(words, places, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words.format(**places).split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("nrsfm") and captured.err.count("\n") == 1
    assert REFUSED[words] in captured.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("solve {input} -o linked.npz", "-o linked.npz is the input"),
        ("solve {input} -o {rotations} --rotations {rotations}", "is the file of --rotations"),
        ("solve {input} -o {camera} --intrinsics {camera}", "is the file of --intrinsics"),
        ("solve {input} -o a.npz -o ./below/../a.npz", "is another output (-o)"),
        ("solve {input} -o a.csv --history a.csv", "--history a.csv is another output (-o)"),
        ("solve {input} -o a.npz --hide hide.txt --history hide.txt", "is the file of --hide"),
        ("export of_input.npz -o {input}", "is the sequence of the result"),
    ],
)
def test_an_output_never_replaces_an_input_or_another(words, sentence, places, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("below").mkdir()
    sequence = simulate("paper", frames=6, points=20)
    write_npz(sequence, Path("input.npz"))
    Path("linked.npz").symlink_to("input.npz")
    np.savez("rotations.npz", R=sequence.rotations)
    np.savez("camera.npz", K=sequence.intrinsics)
    result = load_result(places["solved"])
    result.meta["source"] = str(Path("input.npz").absolute())
    result.save("of_input.npz")
    Path("hide.txt").write_text("3:2")
    files = (*tmp_path.iterdir(), *places["folder"].rglob("*"), places["solved"])
    files = [file for file in files if file.is_file()]
    places |= {name: f"{name}.npz" for name in ("input", "rotations", "camera")}
    before = [path.read_bytes() for path in files]
    assert main(words.format(**places).split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and sentence.format(**places) in said
    assert [path.read_bytes() for path in files] == before
    assert not list(tmp_path.glob("a.*"))
