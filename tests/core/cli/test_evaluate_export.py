import json
from dataclasses import replace

import numpy as np
import pytest

from core import WRITERS, CameraModel, Result, load_result, save_result, simulate
from core.cameras import calibrate
from core.cameras.calibration import orthogonal_intrinsics
from core.cli import as_lines, main, summary_of
from core.io.writers import KINDS


@pytest.fixture
def evaluated(capsys):
    """Return what `evaluate` prints as JSON."""

    def evaluate(path, *words):
        assert main(["evaluate", str(path), *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return evaluate


def test_evaluate_agrees_with_the_loss_and_finds_a_zero_gradient(solved, evaluated, capsys):
    said = evaluated(solved)
    assert said["loss_difference"] < 1e-10
    assert said["relative_gradient"] < 1e-7
    assert {"procrustes_mm", "challenge_v02", "reprojection_px"} <= set(said["errors"])
    assert main(["evaluate", str(solved)]) == 0
    assert "relative gradient" in capsys.readouterr().out


@pytest.mark.parametrize("penalty", ["log", "mcp"])
def test_evaluate_knows_the_objective_of_a_concave_penalty(tracks, tmp_path, evaluated, penalty):
    path = tmp_path / "result.npz"
    words = ["--rotations", "truth", "--rank", "2", "--starts", "1", "--penalty", penalty, "--mu", "0.01"]
    words += ["--objective", "wnn"]
    assert main(["solve", tracks, *words, "-o", str(path), "--quiet"]) == 0
    said = evaluated(path)
    assert said["loss_difference"] < 1e-10 and said["relative_gradient"] < 1e-6


def test_evaluate_measures_the_minimum_of_a_refined_result_where_the_refinement_began(
    solved, tmp_path, evaluated, move_along_rays, capsys
):
    path = save_result(move_along_rays(load_result(solved)), tmp_path / "refined.npz")
    said = evaluated(solved), evaluated(path)
    assert said[0]["loss_recomputed"] == said[1]["loss_recomputed"]
    assert said[0]["relative_gradient"] == said[1]["relative_gradient"] < 1e-7
    assert said[0]["errors"]["procrustes_mm"] != said[1]["errors"]["procrustes_mm"]
    energy = load_result(path).energy
    assert said[0]["energy"] is None and said[1]["energy"] == energy
    assert main(["evaluate", str(path)]) == 0
    first = f"energy of the depths {energy:.8g} per point and frame; loss and gradient of its start\n"
    assert capsys.readouterr().out.startswith(first)


def test_the_summary_of_a_refined_result_names_its_energies_and_what_may_be_wrong(refined_result):
    ends = [{"name": "lowest", "excess": 0.0, "distance": 0.0}, {"name": "2", "excess": 0.5, "distance": 0.1}]
    figures = {"energy": -12.5, "noise_px": 0.3, "isometry": 0.3, "neighbors": 8, "ends": ends}
    figures |= {"smallest_movement": 0.0025, "mode_weights": [0.0, 1.5], "length_share": 1 / 6}
    result = replace(refined_result, meta=refined_result.meta | {"refinement": figures})
    lines = as_lines(summary_of(result) | {"output": []})
    assert lines[0] == "answer: the rotation jumps between two frames"
    assert summary_of(result)["answer"] == "the rotation jumps between two frames"
    assert lines[1] == (
        "energy of the depths -12.5 per point and frame, noise 0.3 px, isometry 0.3 times 0.17, since "
        "lengths do not stay, smallest movement 0.0025, 8 neighbors, mode weights 0, 1.5"
    )
    assert "end of lowest: the lowest energy" in lines
    assert "end of 2: energy 0.5 higher, 10 % of the object apart" in lines
    (start,) = [line for line in lines if line.startswith("its start: log10 loss")]
    assert start.endswith(f"rank {refined_result.rank}")
    assert "note: It jumps at frame 2." in lines
    stopped = replace(result, meta=result.meta | {"status": "stopped"})
    assert as_lines(summary_of(stopped) | {"output": []})[0] == lines[1]  # its worth is not known


def test_export_colors_by_deviation_where_there_is_one(refined_result, small_result, tmp_path, capsys):
    for name, result, code in (("with", refined_result, 0), ("without", small_result, 2)):
        path = save_result(result, tmp_path / f"{name}.npz")
        assert main(["export", str(path), "-o", str(tmp_path / f"{name}.glb"), "--color", "std"]) == code
    assert "has no standard deviations" in capsys.readouterr().err
    assert main(["export", str(path), "-o", str(tmp_path / "a.ply"), "--color", "std"]) == 2
    assert "--color has no effect on a.ply; it is for .usda, .glb, .gltf" in capsys.readouterr().err


def test_evaluate_notices_a_result_that_is_no_minimum(solved, tmp_path, evaluated):
    result = load_result(solved)
    path = save_result(replace(result, B=result.B * 1.01), tmp_path / "moved.npz")
    said = evaluated(path)
    assert said["loss_difference"] > 1e-6 and said["relative_gradient"] > 1e-4


def made_of(sequence, K, *, tracks, translations, shapes, **more):
    """A result with these shapes (F, 3, P), each of them a basis shape of its own."""
    frames = len(shapes)
    factors = {"B": np.eye(frames), "C": shapes.reshape(frames, -1).T, "weights": np.zeros(frames)}
    run = {"eta": 1.0, "loss": 0.0, "history": np.zeros((0, 3)), "intrinsics": K}
    known = {name: getattr(sequence, name) for name in ("visible", "rotations", "camera", "truth")}
    return Result(tracks=tracks, translations=translations, **factors, **run, **known, **more)


def test_evaluate_adds_the_errors_of_published_tables_where_the_truth_allows_them(tmp_path, evaluated):
    """An exact orthogonal reconstruction, its frames its basis: all errors vanish, but not for a wrong R."""
    sequence = simulate("stretch", camera=CameraModel.ORTHOGONAL, frames=8, points=25, noise=0, occlusion=0)
    K = orthogonal_intrinsics(sequence.observations)
    S, R = sequence.truth.points, sequence.rotations
    tracks = calibrate(sequence.observations, K, sequence.camera)
    t = (sequence.translations - [*K[:2, 2], 0.0]) / K[0, 0]
    exact = made_of(sequence, K, tracks=tracks, translations=t, shapes=S / K[0, 0])
    path = save_result(exact, tmp_path / "exact.npz")
    for name, rotations in (("right", R), ("wrong", R[::-1])):
        truth = tmp_path / f"{name}.npz"
        np.savez(truth, S=S, R=rotations)
        errors = evaluated(path, "--truth", str(truth))["errors"]
        assert errors["reprojection_px"] < 1e-9 and errors["procrustes_mm"] < 1e-9
        for table in ("e3d_global", "frobenius_relative"):
            assert errors[table] < 1e-9 if name == "right" else errors[table] > 0.1
    assert "e3d_global" not in evaluated(path)["errors"]


def test_evaluate_aligns_as_asked_and_prints_the_alignment(tmp_path, evaluated, capsys):
    """The depth of an exact orthogonal reconstruction is inverted, and it is 5 mm beside its place."""
    sequence = simulate("stretch", camera=CameraModel.ORTHOGONAL, frames=8, points=25, noise=0, occlusion=0)
    K, S = np.diag([40.0, 40.0, 1.0]), sequence.truth.points
    R, t = sequence.rotations, sequence.translations
    inverted = np.swapaxes(R, 1, 2) @ (np.diag([1.0, 1.0, -1.0]) @ R @ S) / 40.0
    moved = np.array([5.0, 0.0, 0.0])
    tracks, beside = (sequence.tracks + moved[:2, None]) / 40.0, (t + moved) / 40.0
    meta = {"units": "mm"}
    result = made_of(sequence, K, tracks=tracks, translations=beside, shapes=inverted, meta=meta)
    path, truth = save_result(result, tmp_path / "moved.npz"), tmp_path / "truth.npz"
    np.savez(truth, S=S, R=R, t=t)

    def said(*words):
        known = evaluated(path, *words)
        return known["errors"]["aligned_mm"], known["alignment"]

    error, name = said("--align", "rigid")
    assert error < 1e-9 and name == "rigid motion per frame, found mirrored"
    error, name = said("--align", "as-is", "--truth", str(truth))
    assert error == pytest.approx(5.0) and name == "as is, by the cameras, found mirrored"
    error, name = said("--mirror", "off")
    assert error > 5.0 and name == "per-frame similarity"
    for factors, sentence in (((2.0, 1.0), "is not a rotation"), ((1.0, np.nan), "t holds")):
        np.savez(tmp_path / "wrong.npz", S=S, R=factors[0] * R, t=factors[1] * t)
        assert main(["evaluate", str(path), "--truth", str(tmp_path / "wrong.npz")]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["evaluate", str(path), "--align", "sequence", "--mirror", "on"]) == 0
    assert "mean 3-D error, one similarity for all frames, mirrored" in capsys.readouterr().out
    assert main(["evaluate", str(path), "--align", "as-is"]) == 2
    assert capsys.readouterr().err.startswith(
        f"nrsfm evaluate: {path}: the alignment 'as-is' needs the true rotations and translations"
    )


def test_evaluate_names_outliers_of_the_truth_and_leaves_them_out(solved, tmp_path, evaluated, capsys):
    result, truth = load_result(solved), tmp_path / "truth.npz"
    S = np.random.default_rng(0).normal(1.0, 0.001, result.points.shape) * result.points
    S[4, :, 2] += 20 * S[4].std()
    np.savez(truth, S=S)
    found = evaluated(solved, "--truth", str(truth))
    assert found["truth_outliers"] == 1
    assert found["errors"]["procrustes_mm_inliers"] < 0.1 * found["errors"]["procrustes_mm"]
    assert main(["evaluate", str(solved), "--truth", str(truth), "--without-outliers"]) == 0
    lines = capsys.readouterr().out
    assert "note: 1 of " in lines and "this error falls by 9" in lines
    assert "per-frame similarity, without outliers of the truth" in lines


def test_export_writes_what_was_asked_for(solved, tmp_path, capsys):
    words = ["export", str(solved), "-o", str(tmp_path / "a.ply"), "-o", str(tmp_path / "a.obj")]
    assert main([*words, "--all-frames", "--coordinates", "camera", "--align", "truth"]) == 0
    assert len(list(tmp_path.glob("a_*.ply"))) == len(list(tmp_path.glob("a_*.obj"))) == 14
    assert "wrote" in capsys.readouterr().err
    assert main(["export", str(solved), "-o", str(tmp_path / "b.csv"), "--frame", "14"]) == 0
    rows = (tmp_path / "b.csv").read_text().splitlines()
    assert len(rows) == 1 + 24 and rows[-1].startswith("13,23,")  # of arrays, from 0
    assert main(["export", str(solved), "-o", str(tmp_path / "d.obj"), "--frame", "14"]) == 0
    assert "o frame_14" in (tmp_path / "d.obj").read_text()
    words = ["export", str(solved), "-o", str(tmp_path / "c.glb"), "-o", str(tmp_path / "c.trajectories.csv")]
    assert main([*words, "--align", "sequence", "--mirror", "--fps", "25", "--interpolation", "step"]) == 0
    assert len((tmp_path / "c.trajectories.csv").read_text().splitlines()) == 1 + 14 * 24
    assert (tmp_path / "c.glb").read_bytes().startswith(b"glTF")


def test_every_format_is_listed_by_the_help_and_by_the_page_of_formats(capsys):
    assert main(["export", "--help"]) == 0
    told = capsys.readouterr().out
    assert main(["formats"]) == 0
    page = capsys.readouterr().out
    for suffix, writer in WRITERS.items():
        assert f"    {suffix} " in told and writer.label in told and writer.purpose in told
        assert f"`{suffix}`" in page
    assert [line.strip() for line in told.splitlines() if line.strip() in KINDS.values()] == [*KINDS.values()]
