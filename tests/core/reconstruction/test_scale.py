"""A length that is known gives the result and its files their units, and changes no number of a run."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import core
from core import Alignment, InputError
from core.evaluation import Kind, Views, align_all
from core.reconstruction import parse_scale, settings_from_dict, settings_to_dict
from core.reconstruction.scale import MOST_PAIRED

QUICK = core.Settings(rank=2, starts=1, rotations="truth", objective="wnn")


@pytest.fixture(scope="module")
def scene():
    return core.simulate("paper", frames=12, points=20, seed=1)


@pytest.fixture(scope="module")
def result(scene):
    return core.reconstruct(scene, QUICK.with_changes(scale="3-17=85mm"))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("3-17=85mm", "3-17=85mm"),
        (" 17 - 3 = 8.5e1 mm", "17-3=85mm"),
        ("size=0.2m", "size=0.2m"),
        ("size = 7 µm", "size=7um"),
    ],
)
def test_a_rule_is_read_and_written(text, rule):
    assert str(parse_scale(text)) == rule
    assert parse_scale(rule) == parse_scale(text)


@pytest.mark.parametrize(
    "text",
    ["", "85mm", "3-17=85", "3-3=85mm", "0-4=1mm", "size=0mm", "size=2 lightyears", "3-17=.mm", "3=4mm"],
)
def test_what_is_no_rule_is_refused_with_what_is(text):
    with pytest.raises(InputError, match="accepted"):
        core.Settings(scale=text)


def test_the_two_points_are_as_far_apart_as_the_rule_asks_on_average_over_the_frames(result):
    factor, unit = result.scale
    assert unit == "mm"
    apart = np.linalg.norm(result.points[:, :, 2] - result.points[:, :, 16], axis=1)
    assert np.isclose(factor * apart.mean(), 85.0)


@pytest.mark.parametrize(("points", "rtol"), [(20, 1e-12), (MOST_PAIRED + 200, 0.01)])
def test_the_size_is_the_largest_distance_of_the_median_frame(points, rtol):
    shapes = np.random.default_rng(0).normal(size=(3, 3, points))
    exact = np.median([pdist(S.T).max() for S in shapes])
    assert np.isclose(parse_scale("size=1m").factor(shapes), 1.0 / exact, rtol=rtol)


def test_a_run_has_the_same_numbers_with_and_without(scene, result):
    plain = core.reconstruct(scene, QUICK)
    assert plain.scale == (1.0, "")
    assert plain.loss == result.loss
    np.testing.assert_array_equal(plain.points, result.points)
    assert plain.errors() == result.errors()


def test_files_are_in_the_units_of_the_rule(result, tmp_path):
    (table,) = core.export(result, tmp_path / "shape.csv", frame=2, coordinates="object")
    row = table.read_text().splitlines()[1].split(",")
    np.testing.assert_allclose([float(value) for value in row[2:5]], result.scale[0] * result.points[2, :, 0])
    aligned, plain = (  # to the truth, whose units they have then
        core.export(one, tmp_path / name, frame=2, text=True, align="truth")[0].read_text().splitlines()[-20:]
        for one, name in ((result, "aligned.ply"), (replace(result, meta={}), "plain.ply"))
    )
    assert aligned == plain


def test_the_command_and_the_file_hold_the_rule(scene, result, tmp_path):
    assert "--scale 3-17=85mm" in result.meta["command"]
    assert settings_from_dict(settings_to_dict(QUICK.with_changes(scale="size=2cm"))).scale == "size=2cm"
    loaded = core.load_result(result.save(tmp_path / "result.npz"))
    assert loaded.scale == result.scale


def test_what_has_no_length_is_refused(scene, result):
    with pytest.raises(InputError, match="points from 1 to 20"):  # before anything is solved
        core.iterate(scene, QUICK.with_changes(scale="3-21=85mm"))
    flat = replace(result, meta={"low_rank": {"metric": False}})
    with pytest.raises(InputError, match="no metric view"):
        flat.with_scale("size=1m")


def test_a_known_length_is_the_size_of_a_rigid_alignment(scene, result):
    cameras = result.rotations, result.translations, result.intrinsics
    views = Views(*cameras, orthogonal=False, size=result.size_in("mm"))
    moved = align_all(result.points, scene.truth, Alignment(Kind.RIGID), views=views)
    np.testing.assert_allclose(moved.scale, result.scale[0])
    sized = result.with_scale("size=2cm")
    assert np.isclose(sized.size_in("mm"), 10 * sized.scale[0]) and result.size_in("frames") is None
