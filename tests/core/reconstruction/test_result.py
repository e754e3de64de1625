import json
from dataclasses import fields, replace

import numpy as np
import pytest

import core
from core.foundation import DEPTHS, WNN
from core.reconstruction.result import LOW_RANK, OPTIONAL, REFINED, SHAPES


def rewritten(path, **changes):
    """Write the file again with some arrays replaced, or removed where the value is None."""
    with np.load(path) as archive:
        arrays = dict(archive.items())
    arrays.update(changes)
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return path


@pytest.mark.parametrize("kind", ["small_result", "refined_result"])
def test_a_result_survives_its_file_bit_for_bit(request, tmp_path, kind):
    result = request.getfixturevalue(kind)
    path = core.save_result(result, tmp_path / "result.npz")
    read = core.load_result(path)
    for entry in fields(result):
        before, after = getattr(result, entry.name), getattr(read, entry.name)
        if isinstance(before, np.ndarray):
            assert np.array_equal(before, after, equal_nan=entry.name == "best_losses"), entry.name
            assert before.dtype == after.dtype
            assert not after.flags.writeable
        elif isinstance(before, core.GroundTruth):
            assert np.array_equal(before.points, after.points, equal_nan=True)
            assert np.array_equal(before.frames, after.frames)
            assert before.reference == after.reference == 3
        else:
            assert before == after, entry.name


def test_the_file_holds_plain_arrays_with_the_documented_names(small_result, tmp_path):
    path = core.save_result(small_result, tmp_path / "result.npz")
    with np.load(path, allow_pickle=False) as archive:
        assert set(archive.files) == set(SHAPES) - LOW_RANK - REFINED - {"std", "robust_weights"} | {"meta"}
        S = (archive["B"] @ archive["C"].T).reshape(5, 3, 7)
        assert np.array_equal(archive["points"], S)
        meta = json.loads(str(archive["meta"]))
    assert (meta["format"], meta["version"], meta["camera"]) == ("nrsfm-result", 1, "perspective")
    bare = replace(small_result, truth=None, edges=None, faces=None, best_losses=None)
    with np.load(core.save_result(bare, path)) as archive:
        assert not OPTIONAL & set(archive.files)
    read = core.load_result(path)
    assert read.truth is None and read.edges is None and read.faces is None and read.best_losses is None


def test_perspective_reprojection_of_an_exact_result_meets_the_tracks(small_result):
    fitted, measured = small_result.reprojections(), small_result.observations()
    assert np.isnan(measured).any(axis=1).sum() == 2  # the hidden ones
    assert np.abs(fitted - measured).max(axis=1)[small_result.visible].max() < 1e-9
    f, p = 3, 2  # and by the pinhole formula, written out
    Y = small_result.rotations[f] @ small_result.points[f][:, p] + small_result.translations[f]
    homogeneous = small_result.intrinsics @ Y
    assert np.allclose(fitted[f, :, p], homogeneous[:2] / homogeneous[2], rtol=1e-13)
    K = np.array([[30.0, 0, 4.0], [0, 30.0, -5.0], [0, 0, 1]])  # an orthogonal one does not divide by depth
    flat = replace(small_result, camera=core.CameraModel.ORTHOGONAL, intrinsics=K).reprojections()
    assert np.allclose(flat[f, :, p], 30.0 * Y[:2] + [4.0, -5.0], rtol=1e-13)


def test_the_affine_term_alone_reprojects_without_dividing_by_depth():
    sequence = core.read_sequence("sample:balloon/circle")
    result = core.reconstruct(
        sequence, core.Settings(rank=2, eta=1.0, rotations="truth", starts=1, objective="wnn")
    )
    assert np.abs(result.translations[:, 2]).max() < 1e-9  # nothing measures it
    missed = core.reprojection_px(result.reprojections(), result.observations(), result.visible)
    assert 0 < missed.mean < 30
    # The affine term is the squared distance in calibrated units, so that pixels are K times it.
    calibrated = (result.camera_points[:, :2] - result.tracks).transpose(0, 2, 1)[result.visible]
    pixels = calibrated @ result.intrinsics[:2, :2].T
    assert missed.mean == pytest.approx(np.sqrt((pixels**2).sum(axis=1).mean()), rel=1e-9)


def test_a_refined_result_keeps_the_solution_that_its_loss_is_of(small_result, refined_result):
    assert refined_result.refined and not small_result.refined
    assert (refined_result.rank, refined_result.frame_count) == (2, 5)
    expected = small_result.B, small_result.C, small_result.rotations, small_result.translations
    for result in (small_result, refined_result):
        assert all(np.array_equal(one, two) for one, two in zip(result.bilinear, expected, strict=True))
        np.testing.assert_array_equal(result.singular_values, small_result.singular_values)
        np.testing.assert_array_equal(result.wnn_weights, small_result.weights)
    assert (small_result.objective, refined_result.objective) == (WNN, DEPTHS)
    assert not np.allclose(refined_result.points, small_result.points)
    # Along the rays nothing moves in the picture.
    np.testing.assert_allclose(
        refined_result.reprojections(), small_result.reprojections(), rtol=1e-9, equal_nan=True
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"bilinear_C": None}, "lacks 'bilinear_C'; a refined result needs the bilinear solution"),
        (
            {"bilinear_B": np.zeros((5, 3))},
            r"bilinear_C has shape \(21, 2\); accepted is \(3P, R\), here \(21, 3\)",
        ),
        ({"weights": np.zeros(2)}, r"weights has shape \(2,\); accepted is \(K\), here \(5\)"),
        ({"std": np.zeros((5, 7))}, r"std has shape \(5, 7\)"),
    ],
)
def test_part_of_a_bilinear_solution_is_refused(refined_result, changes, sentence):
    with pytest.raises(core.InputError, match=sentence):
        replace(refined_result, **changes)


def test_numbers_read_off_a_result(small_result):
    assert small_result.log_loss == pytest.approx(-3, abs=1e-12)
    assert (small_result.rank, small_result.frame_count, small_result.point_count) == (2, 5, 7)
    assert (small_result.iterations, small_result.seconds) == (2, 0.5)
    empty = replace(small_result, history=np.zeros((0, 3)), best_losses=None, loss=0.0)
    assert (empty.iterations, empty.seconds, empty.log_loss) == (0, 0.0, -np.inf)


def meta_of(**entries):
    """Return the meta of a file."""
    return {"meta": np.array(json.dumps(entries))}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        *(({name: None}, f" lacks the array '{name}'") for name in ("tracks", "weights", "points")),
        ({"meta": None}, "lacks 'meta'"),
        ({"B": np.zeros((4, 2))}, r"B has shape \(4, 2\); accepted is \(F, K\), here \(5, 2\)"),
        ({"C": np.zeros((20, 2))}, r"C has shape \(20, 2\); accepted is \(3P, K\), here \(21, 2\)"),
        ({"tracks": np.full((5, 2, 7), "a")}, "tracks has type .*; accepted are numbers"),
        ({"meta": np.array("{")}, "meta is not JSON text"),
        ({"meta": np.array("[1]")}, "does not name the format"),
        (meta_of(format="nrsfm-result", version=2), "version 2; this program reads version 1"),
        (meta_of(format="nrsfm-result", version=1), "camera model; accepted are perspective"),
        ({"B": np.full((5, 2), np.nan)}, "B holds nan; accepted are finite numbers"),
        ({"rotations": np.full((5, 3, 3), np.inf)}, "rotations holds inf; accepted are finite numbers"),
        ({"loss": np.array(np.nan)}, "loss holds nan; accepted are finite numbers"),
        ({"truth_frames": np.array([3, -(2**31)])}, "frames that do not increase from 0 or more"),
        ({"truth_frames": np.array([3, 9])}, r"the ground truth is of frame 9 \(0-based\)"),
        ({"truth_frames": np.array([3, np.nan])}, "truth_frames holds float64; accepted are whole numbers"),
        ({"edges": np.array([[0, np.nan]])}, "edges holds float64; accepted are whole numbers"),
        ({"visible": np.zeros((5, 7), dtype=bool)}, "visible marks no point as seen"),
        (
            {"norm": np.array(0.0), "cameras": np.ones((5, 3, 2)), "homogeneous": np.ones((2, 7))},
            "norm is 0.0; accepted is a positive number",
        ),
        ({"cameras": np.ones((5, 3, 2)), "homogeneous": np.ones((2, 7))}, "lacks 'norm'"),
        ({"tracks": np.full((5, 2, 7), np.longdouble("1e400"))}, r"accepted are numbers up to 1e\+30"),
        ({"truth_reference": np.array(np.nan)}, "truth_reference is nan; accepted is one of truth_frames"),
        ({"truth_points": np.full((2, 3, 7), 1e300)}, r"truth_points holds numbers above 1e\+50"),
        ({"tracks": np.full((5, 2, 7), 1e300)}, r"tracks hold 1e\+300 where visible marks a point"),
        ({"B": np.full((5, 2), 3e307)}, r"B holds 3e\+307; accepted are finite numbers"),
    ],
)
def test_a_broken_file_is_refused_with_a_sentence(small_result, tmp_path, changes, sentence):
    path = rewritten(core.save_result(small_result, tmp_path / "result.npz"), **changes)
    with pytest.raises(core.InputError, match=rf"result\.npz.*{sentence}"):
        core.load_result(path)


@pytest.mark.parametrize("name", ["history", "energy_history"])
@pytest.mark.parametrize(("column", "value"), [(0, np.inf), (1, np.nan), (2, np.inf)])
def test_a_history_is_numbered_and_timed_and_its_losses_may_be_infinite(
    refined_result, tmp_path, name, column, value
):
    history = getattr(refined_result, name).copy()
    history[-1, column] = value
    path = core.save_result(replace(refined_result, **{name: history}), tmp_path / "result.npz")
    if column == 2:
        assert np.array_equal(getattr(core.load_result(path), name), history)
    else:
        with pytest.raises(core.InputError, match=rf"{name} holds {value}; accepted are finite numbers"):
            core.load_result(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("settings", "a"), ("low_rank", 1), ("scale", []), ("units", 1), ("video", {})],
        *[("frame_rate", value) for value in (0, float("nan"), 10**400, "25", True)],
        *[("starts", [{"loss": "a"}]), ("verdicts", [{"kind": 1}]), ("image_size", [1e300, 1])],
        *[("point_names", [1]), ("scale", {"factor": 0}), ("refinement", {"noise_px": "a"})],
        ("refinement", {"lengths": {"other": "free", "share": 0.0}}),
        *[("robust", {"scale": -1}), ("low_rank", {"metric": "yes"}), ("iterations", -1), ("seconds", "a")],
    ],
)
def test_an_entry_of_meta_of_another_kind_is_refused(small_result, tmp_path, name, value):
    """Whoever uses it later would fail."""
    changes = meta_of(format="nrsfm-result", version=1, camera="perspective", **{name: value})
    path = rewritten(core.save_result(small_result, tmp_path / "result.npz"), **changes)
    with pytest.raises(core.InputError, match=rf"result\.npz: meta\.{name}.*(; accepted | lacks )"):
        core.load_result(path)


def test_entries_of_meta_with_other_names_are_free(small_result, tmp_path):
    free = replace(small_result, meta={"lens": "long", "settings": {"of another version": 1}})
    assert core.load_result(core.save_result(free, tmp_path / "result.npz")).meta == free.meta


def test_a_result_that_is_in_doubt_says_so(small_result):
    verdict = {"kind": "parallax", "sentence": "The depth is hardly measured.", "frames": [0, 1]}
    doubtful = replace(small_result, meta={**small_result.meta, "verdicts": [verdict | {"action": "look"}]})
    assert doubtful.verdicts == ("The depth is hardly measured.",) and small_result.verdicts == ()
    assert repr(doubtful).endswith("; the depth is hardly measured)")
    assert repr(small_result).removesuffix(")") == repr(doubtful).partition(";")[0]
