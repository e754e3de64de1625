from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from core import (
    CameraModel,
    GroundTruth,
    InputError,
    Settings,
    load_result,
    read_sequence,
    reconstruct,
    reprojection_px,
    save_result,
)
from core.foundation import DEPTHS, WNN
from core.reconstruction.provenance import settings_from_dict
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
    path = save_result(result, tmp_path / "result.npz")
    read = load_result(path)
    for entry in fields(result):
        before, after = getattr(result, entry.name), getattr(read, entry.name)
        if isinstance(before, np.ndarray):
            assert np.array_equal(before, after, equal_nan=entry.name == "best_losses"), entry.name
            assert before.dtype == after.dtype
            assert not after.flags.writeable
        elif isinstance(before, GroundTruth):
            assert np.array_equal(before.points, after.points, equal_nan=True)
            assert np.array_equal(before.frames, after.frames)
            assert before.reference == after.reference == 3
        else:
            assert before == after, entry.name


def test_the_file_holds_plain_arrays_with_the_documented_names(small_result, tmp_path):
    path = save_result(small_result, tmp_path / "result.npz")
    with np.load(path, allow_pickle=False) as archive:
        assert set(archive.files) == set(SHAPES) - LOW_RANK - REFINED - {"std", "robust_weights"} | {"meta"}
        S = (archive["B"] @ archive["C"].T).reshape(5, 3, 7)
        assert np.array_equal(archive["points"], S)
        meta = json.loads(str(archive["meta"]))
    assert (meta["format"], meta["version"], meta["camera"]) == ("nrsfm-result", 1, "perspective")


def test_optional_arrays_may_be_absent(small_result, tmp_path):
    bare = replace(small_result, truth=None, edges=None, faces=None, best_losses=None)
    path = save_result(bare, tmp_path / "result.npz")
    with np.load(path) as archive:
        assert not OPTIONAL & set(archive.files)
    read = load_result(path)
    assert read.truth is None and read.edges is None and read.faces is None and read.best_losses is None


def test_perspective_reprojection_of_an_exact_result_meets_the_tracks(small_result):
    fitted, measured = small_result.reprojections(), small_result.observations()
    assert np.isnan(measured).any(axis=1).sum() == 2  # the hidden ones
    seen = small_result.visible
    difference = np.abs(fitted - measured).max(axis=1)[seen]
    assert difference.max() < 1e-9
    f, p = 3, 2  # and by the pinhole formula, written out
    Y = small_result.rotations[f] @ small_result.points[f][:, p] + small_result.translations[f]
    homogeneous = small_result.intrinsics @ Y
    assert np.allclose(fitted[f, :, p], homogeneous[:2] / homogeneous[2], rtol=1e-13)


def test_orthogonal_reprojection_does_not_divide_by_depth(small_result):
    scale, cx, cy = 30.0, 4.0, -5.0
    K = np.array([[scale, 0, cx], [0, scale, cy], [0, 0, 1]])
    result = replace(small_result, camera=CameraModel.ORTHOGONAL, intrinsics=K)
    f, p = 1, 6
    Y = result.rotations[f] @ result.points[f][:, p] + result.translations[f]
    assert np.allclose(result.reprojections()[f, :, p], [scale * Y[0] + cx, scale * Y[1] + cy], rtol=1e-13)


def test_the_affine_term_alone_reprojects_without_dividing_by_depth():
    sequence = read_sequence("sample:balloon/circle")
    result = reconstruct(sequence, Settings(rank=2, eta=1.0, rotations="truth", starts=1, objective="wnn"))
    assert np.abs(result.translations[:, 2]).max() < 1e-9  # nothing measures it
    missed = reprojection_px(result.reprojections(), result.observations(), result.visible)
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
    np.testing.assert_array_equal(refined_result.singular_values, small_result.singular_values)
    for result in (small_result, refined_result):
        np.testing.assert_array_equal(result.wnn_weights, small_result.weights)
    assert (small_result.objective, refined_result.objective) == (WNN, DEPTHS)
    assert not np.allclose(refined_result.points, small_result.points)
    # Along the rays nothing moves in the picture.
    np.testing.assert_allclose(
        refined_result.reprojections(), small_result.reprojections(), rtol=1e-9, equal_nan=True
    )


def test_part_of_a_bilinear_solution_is_refused(refined_result):
    with pytest.raises(InputError, match="lacks 'bilinear_C'; a refined result needs the bilinear solution"):
        replace(refined_result, bilinear_C=None)
    with pytest.raises(
        InputError, match=r"bilinear_C has shape \(21, 2\); accepted is \(3P, R\), here \(21, 3\)"
    ):
        replace(refined_result, bilinear_B=np.zeros((5, 3)))
    with pytest.raises(InputError, match=r"weights has shape \(2,\); accepted is \(K\), here \(5\)"):
        replace(refined_result, weights=refined_result.bilinear_weights)
    with pytest.raises(InputError, match=r"std has shape \(5, 7\)"):
        replace(refined_result, std=np.zeros((5, 7)))


def test_numbers_read_off_a_result(small_result):
    assert small_result.log_loss == pytest.approx(-3, abs=1e-12)
    assert (small_result.rank, small_result.frame_count, small_result.point_count) == (2, 5, 7)
    assert (small_result.iterations, small_result.seconds) == (2, 0.5)
    empty = replace(small_result, history=np.zeros((0, 3)), best_losses=None, loss=0.0)
    assert (empty.iterations, empty.seconds, empty.log_loss) == (0, 0.0, -np.inf)


@pytest.mark.parametrize("name", ["tracks", "weights", "points"])
def test_a_missing_array_is_named(small_result, tmp_path, name):
    path = rewritten(save_result(small_result, tmp_path / "result.npz"), **{name: None})
    with pytest.raises(InputError, match=rf"result\.npz lacks the array '{name}'"):
        load_result(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"B": np.zeros((4, 2))}, r"B has shape \(4, 2\); accepted is \(F, K\), here \(5, 2\)"),
        ({"C": np.zeros((20, 2))}, r"C has shape \(20, 2\); accepted is \(3P, K\), here \(21, 2\)"),
        ({"tracks": np.full((5, 2, 7), "a")}, "tracks has type .*; accepted are numbers"),
        ({"meta": None}, "lacks 'meta'"),
        ({"meta": np.array("{")}, "meta is not JSON text"),
        ({"meta": np.array("[1]")}, "does not name the format"),
        (
            {"meta": np.array('{"format": "nrsfm-result", "version": 2}')},
            "version 2; this program reads version 1",
        ),
        (
            {"meta": np.array('{"format": "nrsfm-result", "version": 1}')},
            "camera model; accepted are perspective",
        ),
    ],
)
def test_a_broken_file_is_refused_with_a_sentence(small_result, tmp_path, changes, sentence):
    path = rewritten(save_result(small_result, tmp_path / "result.npz"), **changes)
    with pytest.raises(InputError, match=sentence) as caught:
        load_result(path)
    assert "result.npz" in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("B", np.nan), ("rotations", np.inf), ("loss", np.nan)])
def test_a_value_that_is_not_finite_is_refused_with_its_array(small_result, tmp_path, name, value):
    array = np.array(getattr(small_result, name))
    array.flat[-1] = value
    path = rewritten(save_result(small_result, tmp_path / "result.npz"), **{name: array})
    with pytest.raises(InputError, match=rf"result\.npz: {name} holds {value}; accepted are finite numbers"):
        load_result(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"truth_frames": np.array([3, -(2**31)])}, "frames that do not increase from 0 or more"),
        ({"truth_frames": np.array([3, 9])}, r"the ground truth is of frame 9 \(0-based\)"),
        ({"truth_frames": np.array([3, np.nan])}, "truth_frames holds float64; accepted are whole numbers"),
        ({"edges": np.array([[0, np.nan]])}, "edges holds float64; accepted are whole numbers"),
        ({"visible": np.zeros((5, 7), dtype=bool)}, "visible marks no point as seen"),
        (
            {"norm": np.array(0.0), "cameras": np.ones((5, 3, 2)), "homogeneous": np.ones((2, 7))},
            "norm is 0.0; accepted is a positive number",
        ),
        ({"tracks": np.full((5, 2, 7), np.longdouble("1e400"))}, r"accepted are numbers up to 1e\+30"),
        ({"truth_reference": np.array(np.nan)}, "truth_reference is nan; accepted is one of truth_frames"),
        ({"truth_points": np.full((2, 3, 7), 1e300)}, r"truth_points holds numbers above 1e\+50"),
        ({"tracks": np.full((5, 2, 7), 1e300)}, r"tracks hold 1e\+300 where visible marks a point"),
        ({"B": np.full((5, 2), 3e307)}, r"B holds 3e\+307; accepted are finite numbers"),
    ],
)
def test_numbers_that_no_result_has_are_refused(small_result, tmp_path, changes, sentence):
    path = rewritten(save_result(small_result, tmp_path / "result.npz"), **changes)
    with pytest.raises(InputError, match=rf"result\.npz: .*{sentence}"):
        load_result(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[
            ("settings", "a"),
            ("low_rank", 1),
            ("scale", []),
            ("units", 1),
            ("video", {}),
            ("seconds", "long"),
        ],
        *[("frame_rate", value) for value in (0, float("nan"), 10**400, "25", True)],
        *[("starts", [{"loss": "a"}]), ("verdicts", [{"kind": 1}]), ("image_size", [1e300, 1])],
        *[("point_names", [1]), ("scale", {"factor": 0}), ("refinement", {"noise_px": "a"})],
        *[("robust", {"scale": -1}), ("low_rank", {"metric": "yes"}), ("iterations", -1)],
    ],
)
def test_an_entry_of_meta_of_another_kind_is_refused(small_result, tmp_path, name, value):
    """Whoever uses it later would fail."""
    meta = {"format": "nrsfm-result", "version": 1, "camera": "perspective", name: value}
    changes = {"meta": np.array(json.dumps(meta))}
    path = rewritten(save_result(small_result, tmp_path / "result.npz"), **changes)
    with pytest.raises(InputError, match=rf"result\.npz: meta\.{name}.*(; accepted | lacks )"):
        load_result(path)


def test_entries_of_meta_with_other_names_are_free(small_result, tmp_path):
    free = replace(small_result, meta={"lens": "long", "settings": {"of another version": 1}})
    assert load_result(save_result(free, tmp_path / "result.npz")).meta == free.meta


@pytest.mark.parametrize("values", ["nonrigid", [1], {"options": np.nan}, {"rank": [2]}, {"penalty": 3}])
def test_settings_of_another_kind_are_refused(values):
    with pytest.raises(InputError):
        settings_from_dict(values)


def test_a_result_that_is_in_doubt_says_so(small_result):
    verdict = {
        "kind": "parallax",
        "sentence": "The depth is hardly measured.",
        "frames": [0, 1],
        "action": "look",
    }
    doubtful = replace(small_result, meta={**small_result.meta, "verdicts": [verdict]})
    assert doubtful.verdicts == ("The depth is hardly measured.",) and small_result.verdicts == ()
    assert repr(doubtful).endswith("; the depth is hardly measured)")
    assert repr(small_result).removesuffix(")") == repr(doubtful).partition(";")[0]
