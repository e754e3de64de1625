from __future__ import annotations

import csv
import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.cameras.calibrate import calibrate, orthogonal_intrinsics
from core.cli import main
from core.files import read_sequence, write_npz
from core.reconstruct import solve_sequence
from core.result import Result, load_result, save_result
from core.sequence import CameraModel
from core.settings import Settings
from core.synthetic import simulate, write_challenge

FAST = ["--rank", "2", "--rotations", "truth"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An object's folder in the Challenge's layout: two paths, both cameras."""
    root = tmp_path_factory.mktemp("challenge")
    return write_challenge(root, "paper", paths=("circle", "line"), frames=14, points=24, seed=3)


@pytest.fixture(scope="module")
def tracks(folder):
    return str(folder / "sequence" / "perspective" / "circle.txt")


@pytest.fixture(scope="module")
def solved(tracks, tmp_path_factory):
    """A result file that the command line wrote."""
    path = tmp_path_factory.mktemp("solved") / "result.npz"
    assert main(["solve", tracks, *FAST, "--quiet", "-o", str(path)]) == 0
    return path


def same(first, second):
    """Whether two results are equal, bit for bit, in all but how long they took."""
    arrays = ("tracks", "visible", "rotations", "translations", "B", "C", "weights", "intrinsics")
    assert (first.loss, first.eta) == (second.loss, second.eta)
    assert np.array_equal(first.history[:, [0, 2]], second.history[:, [0, 2]])
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in arrays)


def test_solve_gives_the_numbers_of_python(solved, tracks):
    sequence = read_sequence(tracks)
    assert same(load_result(solved), solve_sequence(sequence, Settings(rank=2, rotations="truth")))


def test_solve_writes_every_output_and_says_so_in_one_json_object(tracks, tmp_path, capsys):
    outputs = [tmp_path / name for name in ("a.npz", "a.mat", "a.csv", "a.ply", "a.obj")]
    history = tmp_path / "loss.csv"
    words = ["solve", tracks, *FAST, "--json", "--history", str(history)]
    for path in outputs:
        words += ["-o", str(path)]
    assert main(words) == 0
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert captured.err == ""  # no progress where stderr is no terminal
    assert said["output"] == [str(path) for path in outputs]
    assert all(path.stat().st_size for path in outputs)
    result = load_result(outputs[0])
    assert said["loss"] == result.loss and said["log10_loss"] == np.log10(result.loss)
    assert said["iterations"] == result.iterations and said["seconds"] == result.seconds
    assert said["status"] == "converged" and said["rank"] == 2
    assert 1 < said["starts_agreed"] <= len(said["starts"]) == Settings().starts and said["remarks"] == []
    assert set(said["errors"]) == {
        "procrustes_mm", "procrustes_mm_reference", "procrustes_mm_mirror", "reprojection_px",
    }  # fmt: skip
    assert 0 < said["errors"]["reprojection_px"] < 20 and 0 < said["errors"]["procrustes_mm"] < 50
    with history.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["loss"]) for row in rows] == result.history[:, 2].tolist()
    assert "rank 1" in rows[0]["phase"] and rows[-1]["phase"] == "refine"
    assert rows[0]["primal"] == rows[0]["dual"] == ""  # which only ADMM has


def test_the_summary_is_for_people_unless_quiet(tracks, tmp_path, capsys):
    words = ["solve", tracks, *FAST, "-o", str(tmp_path / "a.npz")]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("log10 loss -") and "reprojection_px" in said and f"wrote {tmp_path}" in said
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_command_in_a_result_makes_it_again(solved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = load_result(solved)
    words = shlex.split(result.meta["command"])
    words[words.index("-o") + 1] = "again.npz"
    assert words[0] == "nrsfm" and main([*words[1:], "--quiet"]) == 0
    assert same(load_result("again.npz"), result)


def test_the_python_in_a_result_makes_it_again(solved, tmp_path):
    result = load_result(solved)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", result.meta["python"]],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert same(load_result(tmp_path / "result.npz"), result)


def test_a_result_says_what_it_was_made_of(solved, tracks):
    meta = load_result(solved).meta
    assert meta["source"] == str(Path(tracks).resolve()) and len(meta["digest"]) == 64
    assert meta["digest"] == read_sequence(tracks).digest
    assert meta["status"] == "converged" and meta["preset"] is None
    assert meta["settings"]["rank"] == 2 and meta["versions"]["numpy"] == np.__version__
    assert meta["units"] == "px" and meta["truth_units"] == "mm"


def test_reading_options_are_kept_in_the_recipe(tmp_path, folder):
    counted = shutil.copytree(folder, tmp_path / "paper")
    shutil.rmtree(counted / "truth")  # whose frames would contradict the other base
    source = tmp_path / "base.npz"
    assert main(
        ["solve", str(counted), "--camera", "orthogonal", "--path", "line", "--frame-base", "0",
         "--rank", "2", "--quiet", "-o", str(source)]
    ) == 0  # fmt: skip
    result = load_result(source)
    words = shlex.split(result.meta["command"])
    assert words[words.index("--frame-base") + 1] == "0"
    words[words.index("-o") + 1] = str(tmp_path / "again.npz")
    assert main([*words[1:], "--quiet"]) == 0
    again = load_result(tmp_path / "again.npz")
    assert same(again, result) and again.truth.reference == result.truth.reference
    assert result.camera.value == "orthogonal" and result.eta == 1.0


def test_explicit_weights_set_the_rank(tracks, tmp_path):
    path = tmp_path / "a.npz"
    words = [
        "solve",
        tracks,
        "--rotations",
        "truth",
        "--weights",
        "0.01,0.02,0.05",
        "--quiet",
        "-o",
        str(path),
    ]
    assert main(words) == 0
    result = load_result(path)
    assert result.weights.tolist() == [0.01, 0.02, 0.05] and result.rank == 3
    assert "--weights 0.01,0.02,0.05" in result.meta["command"] and "--rank" not in result.meta["command"]


@pytest.mark.parametrize("method", ["lm", "admm", "admm+bilinear"])
def test_every_method_runs_from_the_command_line(tracks, tmp_path, method):
    path = tmp_path / "a.npz"
    words = [
        "solve",
        tracks,
        *FAST,
        "--method",
        method,
        "--max-iterations",
        "200",
        "--quiet",
        "-o",
        str(path),
    ]
    assert main(words) == 0
    assert load_result(path).meta["method"] == method


def test_rotations_and_intrinsics_come_from_files_and_numbers(tracks, folder, tmp_path):
    truth = folder / "truth" / "circle.npz"
    fx, fy, cx, cy = 1400.0, 1390.5, 640.0, 480.0
    path = tmp_path / "a.npz"
    words = ["solve", tracks, "--rank", "2", "--rotations", str(truth), "--quiet", "-o", str(path)]
    assert main([*words, "--intrinsics", f"{fx},{fy},{cx},{cy}"]) == 0
    result = load_result(path)
    assert np.array_equal(result.intrinsics, [[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
    with np.load(truth) as stored:
        assert np.allclose(result.rotations, stored["R"], atol=1e-7)  # the file has single precision


@pytest.mark.parametrize(
    ("given", "warned"), [(["calibrated"], True), (["gt"], False), (["calibrated", "--camera"], False)]
)
def test_pixels_that_are_taken_as_calibrated_are_solved_with_a_warning(
    given, warned, tracks, folder, tmp_path, capsys
):
    path = tmp_path / "a.npz"
    words = ["--intrinsics", *given]
    source = tracks
    if "--camera" in given:
        source = str(folder)
        words += ["orthogonal", "--path", "circle"]
    limits = ["--starts", "1", "--max-iterations", "20", "--quiet"]
    assert main(["solve", source, *FAST, *words, *limits, "-o", str(path)]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == warned and ("which looks like pixels" in said) == warned
    assert path.exists()


def test_evaluate_agrees_with_the_loss_and_finds_no_slope(solved, capsys):
    assert main(["evaluate", str(solved), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["loss_difference"] < 1e-10
    assert said["relative_gradient"] < 1e-7
    assert {"procrustes_mm", "challenge_v02", "reprojection_px"} <= set(said["errors"])
    assert main(["evaluate", str(solved)]) == 0
    assert "relative gradient" in capsys.readouterr().out


@pytest.mark.parametrize("penalty", ["log", "mcp"])
def test_evaluate_knows_the_objective_of_a_concave_penalty(tmp_path, capsys, penalty):
    path = tmp_path / "result.npz"
    words = ["--rotations", "truth", "--rank", "2", "--starts", "2", "--penalty", penalty, "--mu", "0.01"]
    assert main(["solve", "sample:balloon/circle", *words, "-o", str(path), "--quiet"]) == 0
    assert main(["evaluate", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["loss_difference"] < 1e-10 and said["relative_gradient"] < 1e-6


def test_evaluate_notices_a_result_that_is_no_minimum(solved, tmp_path, capsys):
    result = load_result(solved)
    path = save_result(replace(result, B=result.B * 1.01), tmp_path / "moved.npz")
    assert main(["evaluate", str(path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["loss_difference"] > 1e-6 and said["relative_gradient"] > 1e-4


def test_evaluate_adds_the_errors_of_published_tables_where_the_truth_allows_them(tmp_path, capsys):
    """An exact orthogonal reconstruction, its frames its basis: all errors vanish, but not for a wrong R."""
    sequence = simulate("stretch", camera=CameraModel.ORTHOGONAL, frames=8, points=25, noise=0, occlusion=0)
    K = orthogonal_intrinsics(sequence.observations)
    S, R = sequence.truth.points, sequence.rotations
    exact = Result(
        tracks=calibrate(sequence.observations, K, sequence.camera),
        visible=sequence.visible,
        rotations=R,
        translations=(sequence.translations - [*K[:2, 2], 0.0]) / K[0, 0],
        B=np.eye(8),
        C=S.reshape(8, -1).T / K[0, 0],
        weights=np.zeros(8),
        eta=1.0,
        loss=0.0,
        history=np.zeros((0, 3)),
        intrinsics=K,
        camera=sequence.camera,
        truth=sequence.truth,
    )
    path = save_result(exact, tmp_path / "exact.npz")
    for name, rotations in (("right", R), ("wrong", R[::-1])):
        truth = tmp_path / f"{name}.npz"
        np.savez(truth, S=S, R=rotations)
        assert main(["evaluate", str(path), "--truth", str(truth), "--json"]) == 0
        errors = json.loads(capsys.readouterr().out)["errors"]
        assert errors["reprojection_px"] < 1e-9 and errors["procrustes_mm"] < 1e-9
        for table in ("e3d_global", "frobenius_relative"):
            assert errors[table] < 1e-9 if name == "right" else errors[table] > 0.1
    assert main(["evaluate", str(path)]) == 0
    assert "e3d_global" not in capsys.readouterr().out


def test_evaluate_aligns_as_it_is_told_and_says_how(tmp_path, capsys):
    """The depth of an exact orthogonal reconstruction is inverted, and it is 5 mm beside its place."""
    sequence = simulate("stretch", camera=CameraModel.ORTHOGONAL, frames=8, points=25, noise=0, occlusion=0)
    K, S, R, t = (
        np.diag([40.0, 40.0, 1.0]), sequence.truth.points, sequence.rotations, sequence.translations
    )  # fmt: skip
    inverted = np.swapaxes(R, 1, 2) @ (np.diag([1.0, 1.0, -1.0]) @ R @ S) / 40.0
    result = Result(
        tracks=(sequence.tracks + np.array([[5.0], [0.0]])) / 40.0,
        visible=sequence.visible,
        rotations=R,
        translations=(t + np.array([5.0, 0.0, 0.0])) / 40.0,
        B=np.eye(8),
        C=inverted.reshape(8, -1).T,
        weights=np.zeros(8),
        eta=1.0,
        loss=0.0,
        history=np.zeros((0, 3)),
        intrinsics=K,
        camera=sequence.camera,
        truth=sequence.truth,
        meta={"units": "mm"},
    )
    path, truth = save_result(result, tmp_path / "moved.npz"), tmp_path / "truth.npz"
    np.savez(truth, S=S, R=R, t=t)

    def said(*words):
        assert main(["evaluate", str(path), *words, "--json"]) == 0
        known = json.loads(capsys.readouterr().out)
        return known["errors"]["aligned_mm"], known["alignment"]

    error, name = said("--align", "rigid")
    assert error < 1e-9 and name == "rigid motion per frame, found mirrored"
    error, name = said("--align", "as-is", "--truth", str(truth))
    assert error == pytest.approx(5.0) and name == "as is, by the cameras, found mirrored"
    error, name = said("--mirror", "off")
    assert error > 5.0 and name == "per-frame similarity"
    for cameras, sentence in (
        ({"R": 2.0 * R, "t": t}, "is not a rotation"),
        ({"R": R, "t": t * np.nan}, "t holds"),
    ):
        np.savez(tmp_path / "wrong.npz", S=S, **cameras)
        assert main(["evaluate", str(path), "--truth", str(tmp_path / "wrong.npz")]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["evaluate", str(path), "--align", "sequence", "--mirror", "on"]) == 0
    assert "mean 3-D error, one similarity for all frames, mirrored" in capsys.readouterr().out
    assert main(["evaluate", str(path), "--align", "as-is"]) == 2
    assert "needs the true rotations and translations" in capsys.readouterr().err


def test_evaluate_takes_another_truth(solved, tmp_path, capsys):
    result = load_result(solved)
    truth = tmp_path / "truth.npz"
    np.savez(truth, S=300.0 * result.points + 7.0)
    assert main(["evaluate", str(solved), "--truth", str(truth), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["errors"]["procrustes_mm"] < 1e-9


def test_export_writes_what_was_asked_for(solved, tmp_path, capsys):
    words = ["export", str(solved), "-o", str(tmp_path / "a.ply"), "-o", str(tmp_path / "a.obj")]
    assert main([*words, "--all-frames", "--camera-frame", "--align", "truth"]) == 0
    assert len(list(tmp_path.glob("a_*.ply"))) == len(list(tmp_path.glob("a_*.obj"))) == 14
    assert "wrote" in capsys.readouterr().err
    assert main(["export", str(solved), "-o", str(tmp_path / "b.csv"), "--frame", "3"]) == 0
    assert len((tmp_path / "b.csv").read_text().splitlines()) == 1 + 24
    words = ["export", str(solved), "-o", str(tmp_path / "c.glb"), "-o", str(tmp_path / "c.trajectories.csv")]
    assert main([*words, "--align", "sequence", "--mirror", "--fps", "25", "--interpolation", "step"]) == 0
    assert len((tmp_path / "c.trajectories.csv").read_text().splitlines()) == 1 + 14 * 24
    assert (tmp_path / "c.glb").read_bytes().startswith(b"glTF")


def test_version_says_where_core_is_from(capsys):
    assert main(["--version"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("nrsfm ") and str(Path(__file__).resolve().parents[2] / "core") in said


REFUSED = {
    "no command": ([], "COMMAND"),
    "unknown command": (["solves"], "invalid choice: 'solves'"),
    "no output": (["solve", "{tracks}"], "-o/--output"),
    "unknown option": (["solve", "{tracks}", "-o", "a.npz", "--ranks", "2"], "--ranks"),
    "not a number": (["solve", "{tracks}", "-o", "a.npz", "--rank", "two"], "invalid int value: 'two'"),
    "rank 0": (["solve", "{tracks}", "-o", "a.npz", "--rank", "0"], "rank is 0"),
    "rank too large": (["solve", "{tracks}", "-o", "a.npz", "--rank", "99", "--rotations", "truth"], "rank"),
    "eta": (["solve", "{tracks}", "-o", "a.npz", "--eta", "1.5"], "0 < eta <= 1"),
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
    "absent result": (["evaluate", "absent.npz"], "absent.npz is not a file"),
    "no result": (["evaluate", "{folder}/truth/circle.npz"], "lacks 'meta'"),
    "truth without S": (["evaluate", "{solved}", "--truth", "{solved}"], "accepted is an npz with S"),
    "export suffix": (["export", "{solved}", "-o", "a.stl"], "accepted are .npz"),
    "speed of a still shape": (
        ["export", "{solved}", "-o", "a.ply", "--fps", "25"],
        "--fps has no effect on a.ply; it is for .gltf, .glb",
    ),
    "alignment of a whole result": (
        ["export", "{solved}", "-o", "a.npz", "-o", "a.mat", "--align", "truth"],
        "--align has no effect on a.npz, a.mat; it is for .csv",
    ),
    "numbered glTF": (
        ["export", "{solved}", "-o", "a.glb", "--all-frames"],
        "--all-frames or --stacked has no effect",
    ),
    "export frame": (["export", "{solved}", "-o", "a.ply", "--frame", "14"], "frames 0 to 13"),
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
        ("solve {tracks} -o {truth}", "is the ground truth of the input"),
        ("export {solved} -o {solved}", "-o {solved} is the input"),
        ("export {solved} -o a.ply -o a.ply", "is another output (-o)"),
    ],
)
def test_an_output_never_takes_the_place_of_an_input_or_of_another_output(
    words, sentence, tracks, folder, solved, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("below").mkdir()
    sequence = simulate("paper", frames=6, points=20)
    write_npz(sequence, Path("input.npz"))
    Path("linked.npz").symlink_to("input.npz")
    np.savez("rotations.npz", R=sequence.rotations)
    np.savez("camera.npz", K=sequence.intrinsics)
    truth = folder / "truth" / "circle.npz"
    names = ("input", "rotations", "camera")
    places = {name: f"{name}.npz" for name in names} | {"tracks": tracks, "solved": solved, "truth": truth}
    files = [*(Path(places[name]) for name in names), Path(tracks), solved, truth]
    before = [path.read_bytes() for path in files]
    assert main(words.format(**places).split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and sentence.format(**places) in said
    assert [path.read_bytes() for path in files] == before
    assert not list(tmp_path.glob("a.*"))


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    """A sequence that keeps the solver busy for minutes, given enough starts."""
    path = tmp_path_factory.mktemp("long") / "long.npz"
    write_npz(simulate("articulated", frames=150, points=150), path)
    return path


def test_ctrl_c_keeps_the_best_so_far_and_says_where(long_run, tmp_path):
    output = tmp_path / "kept.npz"
    words = ["solve", str(long_run), "--rotations", "truth", "--starts", "500", "--json", "-o", str(output)]
    terminal, theirs = pty.openpty()
    command = [sys.executable, "-m", "core", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        shown = ""
        interrupted = False
        try:
            while True:  # until the other side is closed
                shown += os.read(terminal, 4096).decode()
                if "ETA" in shown and not interrupted:  # the progress line, which a terminal gets
                    process.send_signal(signal.SIGINT)
                    interrupted = True
        except OSError:
            os.close(terminal)
        out = process.stdout.read()
    assert process.returncode == 130
    assert "iteration" in shown and "it/s" in shown and "log10 loss" in shown
    assert f"stopped; the best so far is in {output}" in shown
    result = load_result(output)
    said = json.loads(out)
    assert said["status"] == result.meta["status"] == "stopped"
    assert said["loss"] == result.loss and result.iterations > 0
    assert "Traceback" not in shown


def test_a_reader_that_goes_away_is_no_error(solved):
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m core export --help | head -n 1",
        shell=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith("usage: nrsfm export") and done.stderr == ""
