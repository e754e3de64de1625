import csv
import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import core
from core.cli import main, parser, settings_from
from core.cli.console import progress_text
from core.foundation import DEPTHS, WNN
from core.reconstruction import settings_to_dict

pytestmark = pytest.mark.usefixtures("brief_search")

FAST = ["--rank", "2", "--rotations", "truth", "--objective", "wnn"]


def same(first, second):
    """Whether two results are equal, bit for bit, in all but how long they took."""
    arrays = ("tracks", "visible", "rotations", "translations", "B", "C", "weights", "intrinsics")
    assert (first.loss, first.eta) == (second.loss, second.eta)
    assert np.array_equal(first.history[:, [0, 2]], second.history[:, [0, 2]])
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in arrays)


def test_solve_gives_the_numbers_of_python(solved, tracks):
    again = core.reconstruct(core.read_sequence(tracks), rank=2, rotations="truth", objective="wnn")
    assert same(core.load_result(solved), again)


def test_solve_writes_every_output_and_prints_one_json_object(tracks, tmp_path, capsys):
    outputs = [tmp_path / name for name in ("a.npz", "a.mat", "a.csv", "a.ply", "a.obj")]
    history = tmp_path / "loss.csv"
    words = ["solve", tracks, *FAST, "--json", "--history", str(history)]
    for path in outputs:
        words += ["-o", str(path)]
    assert main(words) == 0
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert captured.err == (  # no progress where stderr is no terminal
        "nrsfm solve: minimizes the weighted nuclear norm of the shapes plus the pOSE error of the tracks "
        "(--objective)\n"
    )
    assert said["output"] == [str(path) for path in outputs]
    assert all(path.stat().st_size for path in outputs)
    result = core.load_result(outputs[0])
    assert said["loss"] == result.loss and said["log10_loss"] == np.log10(result.loss)
    assert said["iterations"] == result.iterations and said["seconds"] == result.seconds
    assert said["status"] == "converged" and said["rank"] == 2
    assert 1 < said["starts_agreed"] <= len(said["starts"]) == core.Settings().starts
    assert said["remarks"] == []
    procrustes = {f"procrustes_mm{kind}" for kind in ("", "_reference", "_mirror")}
    assert set(said["errors"]) == procrustes | {"reprojection_px"}
    assert 0 < said["errors"]["reprojection_px"] < 20 and 0 < said["errors"]["procrustes_mm"] < 50
    with history.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["loss"]) for row in rows] == result.history[:, 2].tolist()
    assert "rank 1" in rows[0]["phase"] and rows[-1]["phase"] == "refine"
    assert rows[0]["primal"] == rows[0]["dual"] == ""  # which only ADMM has
    assert rows[0]["energy"] == ""  # which only a refinement has


def test_the_summary_is_for_people_unless_quiet(tracks, tmp_path, capsys):
    words = ["solve", tracks, *FAST, "-o", str(tmp_path / "a.npz")]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("log10 loss -") and "reprojection_px" in said and f"wrote {tmp_path}" in said
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_the_line_of_progress_has_the_objective_that_is_minimized():
    sequence = core.simulate("paper", frames=8, points=16, noise=0.3, seed=2)
    texts = {}
    for each in core.iterate(sequence, core.Settings(rank=2, starts=1, rotations="truth", noise=0.25)):
        texts[each.phase.objective] = progress_text(each, 1.0), each.record
    text, record = texts[WNN]
    assert f"log10 loss {np.log10(record.loss):.5f}" in text and "energy" not in text
    text, record = texts[DEPTHS]
    assert f"energy {record.energy:.5f}" in text and "loss" not in text


def test_the_command_in_a_result_reproduces_it(solved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = core.load_result(solved)
    words = shlex.split(result.meta["command"])
    words[words.index("-o") + 1] = "again.npz"
    assert words[0] == "nrsfm" and main([*words[1:], "--quiet"]) == 0
    assert same(core.load_result("again.npz"), result)


def test_a_result_names_what_it_was_made_of(solved, tracks):
    meta = core.load_result(solved).meta
    assert meta["source"] == str(Path(tracks).resolve()) and len(meta["digest"]) == 64
    assert meta["digest"] == core.read_sequence(tracks).digest
    assert meta["status"] == "converged" and meta["preset"] is None
    assert meta["settings"]["rank"] == 2 and meta["versions"]["numpy"] == np.__version__
    assert meta["units"] == "px" and meta["truth_units"] == "mm"


def test_reading_options_are_kept_in_the_recipe(tmp_path, folder):
    counted = shutil.copytree(folder, tmp_path / "paper")
    shutil.rmtree(counted / "truth")  # whose frames would contradict the other base
    source = tmp_path / "base.npz"
    words = "--camera orthogonal --path line --frame-base 0 --rank 2 --iterates 3 --objective wnn --quiet"
    assert main(["solve", str(counted), *words.split(), "-o", str(source)]) == 0
    result = core.load_result(source)
    words = shlex.split(result.meta["command"])
    assert words[words.index("--frame-base") + 1] == "0"
    words[words.index("-o") + 1] = str(tmp_path / "again.npz")
    assert main([*words[1:], "--quiet"]) == 0
    again = core.load_result(tmp_path / "again.npz")
    assert same(again, result) and again.truth.reference == result.truth.reference
    assert result.camera.value == "orthogonal" and result.eta == 1.0


def test_explicit_weights_set_the_rank(tracks, tmp_path):
    path = tmp_path / "a.npz"
    words = "--rotations truth --weights 0.01,0.02,0.05 --objective wnn --starts 1 --quiet"
    assert main(["solve", tracks, *words.split(), "-o", str(path)]) == 0
    result = core.load_result(path)
    assert result.weights.tolist() == [0.01, 0.02, 0.05] and result.rank == 3
    assert "--weights 0.01,0.02,0.05" in result.meta["command"] and "--rank" not in result.meta["command"]


@pytest.mark.parametrize("method", core.METHODS)
def test_a_method_alone_is_enough_on_the_cameras_that_it_is_for(folder, tmp_path, method):
    path, solved = tmp_path / "a.npz", []
    for camera in ("perspective", "orthogonal"):
        sample = str(folder / "sequence" / camera / "circle.txt")
        words = ["solve", sample, "--method", method, "--quiet", "-o", str(path)]
        if settings_from(parser().parse_args(words)).refusal(core.read_sequence(sample).camera) is None:
            briefly = ["--max-iterations", "3", "--starts", "1", "--objective", "wnn", "--rotations", "truth"]
            assert main([*words, *briefly]) == 0
            meta = core.load_result(path).meta
            assert meta["method"] == method
            again = parser().parse_args(shlex.split(meta["command"])[1:])
            assert settings_to_dict(settings_from(again)) == meta["settings"]
            solved.append(sample)
    assert solved


@pytest.mark.parametrize(
    ("words", "penalty"),
    [
        ("--method bmm", core.NuclearNorm()),
        ("--method bmm --mu 0.02", core.NuclearNorm(mu=0.02)),
        ("--method r-bmm", core.PRESETS["recommended"].penalty),
        ("--method r-bmm --preset paper", core.PRESETS["paper"].penalty),
        ("--method r-bmm --preset lowrank --problem nonrigid", core.WeightedNuclearNorm()),
        ("--method r-bmm --preset lowrank --problem nonrigid --xi 0.3", core.WeightedNuclearNorm(xi=0.3)),
        ("--method admm", core.PRESETS["recommended"].penalty),
        ("--method paper --problem lowrank", core.PRESETS["lowrank"].penalty),
        ("--method bmm --penalty nn --mu 0.1", core.NuclearNorm(mu=0.1)),
    ],
)
def test_a_method_brings_a_penalty_where_that_of_the_preset_does_not_suit(words, penalty):
    args = parser().parse_args(["solve", "a.txt", "-o", "a.npz", *words.split()])
    assert settings_from(args).penalty == penalty


def test_rotations_and_intrinsics_come_from_files_and_numbers(tracks, folder, tmp_path):
    truth = folder / "truth" / "circle.npz"
    fx, fy, cx, cy = 1400.0, 1390.5, 640.0, 480.0
    path = tmp_path / "a.npz"
    words = ["solve", tracks, "--rank", "2", "--rotations", str(truth), "--objective", "wnn"]
    words += ["--quiet", "-o", str(path)]
    assert main([*words, "--intrinsics", f"{fx},{fy},{cx},{cy}"]) == 0
    result = core.load_result(path)
    assert np.array_equal(result.intrinsics, [[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
    with np.load(truth) as stored:
        assert np.allclose(result.rotations, stored["R"], atol=1e-7)  # the file has single precision


@pytest.mark.parametrize(("camera", "warned"), [("perspective", True), ("orthogonal", False)])
def test_pixels_treated_as_calibrated_are_solved_with_a_warning(camera, warned, folder, tmp_path, capsys):
    path = tmp_path / "a.npz"
    words = f"--intrinsics calibrated --camera {camera} --path circle --iterates 2 --quiet".split()
    assert main(["solve", str(folder), *FAST, *words, "-o", str(path)]) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == warned and ("which looks like pixels" in said) == warned
    assert path.exists()


@pytest.mark.slow
def test_ctrl_c_writes_the_best_so_far_and_prints_where(tracks, tmp_path):
    output = tmp_path / "kept.npz"
    words = ["solve", tracks, "--rotations", "truth", "--starts", "5000", "--json", "-o", str(output)]
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
    result = core.load_result(output)
    said = json.loads(out)
    assert said["status"] == result.meta["status"] == "stopped"
    assert said["loss"] == result.loss and result.iterations > 0
    assert "Traceback" not in shown


def test_version_prints_where_core_was_loaded_from(capsys):
    assert main(["--version"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("nrsfm ") and str(Path(__file__).resolve().parents[3] / "core") in said
