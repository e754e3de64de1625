"""Observations that are hidden from the solver, or have little weight, in what is drawn and measured."""

from dataclasses import replace

import numpy as np
import pytest
from reconstructions import build_shapes

from core import Settings, simulate
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.points.points_table import WEIGHT, PointsTable
from nrsfm_gui.panels.view2d.tracks_dots import described
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.scene.incumbent import incumbent_of, quality
from nrsfm_gui.scene.scene import build_scene, error_series
from nrsfm_gui.scene.sequence_errors import frame_ahead
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.text.run_numbers import numbers
from nrsfm_gui.text.run_rows import run_row
from nrsfm_gui.text.status_text import headline_text

ROBUST = Settings(rank=2, rotations="truth", starts=1, objective="wnn", loss="cauchy")
FRAME, POINT = 3, 4  # of the outlier
HIDE = Settings(hide="6:5;8:4-")


@pytest.fixture
def mask(known):
    found = np.zeros(known.sequence.visible.shape, dtype=bool)
    found[4, 5] = found[3:, 7] = True
    return found


def test_residuals_are_those_of_what_was_solved(known, make_iterate, mask):
    iterate = replace(make_iterate(known, noise=0.0), settings=HIDE)
    shapes = build_shapes(known.sequence, iterate)
    assert np.array_equal(np.isfinite(shapes.residuals), known.sequence.visible & ~mask)
    one = frame_ahead(shapes, known.sequence, iterate, 4)
    assert np.array_equal(np.isfinite(one.residuals[0]), np.isfinite(shapes.residuals[4]))
    result = replace(known.result, visible=known.result.visible & ~mask)
    of_result = build_shapes(known.sequence, result).residuals
    assert np.array_equal(np.isfinite(of_result), np.isfinite(shapes.residuals))


def test_the_numbers_of_a_run_count_what_was_hidden(session, known, make_iterate, add_run, mask):
    session.set_sequence(known.sequence)
    run = add_run(session, replace(make_iterate(known, noise=0.0), settings=HIDE), HIDE)
    rows = {row.label: row.value for row in numbers(run, incumbent_of(run, run.last, None), known.sequence)}
    share = mask.sum() / known.sequence.visible.sum()
    assert rows["held out"] == f"{mask.sum()} of {known.sequence.visible.sum()} ({100 * share:.2g} %)"
    plain = add_run(session, make_iterate(known, noise=0.0), Settings())
    rows = numbers(plain, incumbent_of(plain, plain.last, None), known.sequence)
    assert "held out" not in {row.label for row in rows}


def test_without_a_truth_the_error_of_a_run_is_that_at_held_out_observations(known, make_iterate):
    bare = replace(known.sequence, truth=None)
    end = replace(make_iterate(known, noise=0.1), settings=HIDE)
    run = Run(1, bare, HIDE, last=end)
    found = incumbent_of(run, end, quality(build_shapes(bare, end)))
    error = measure(found.errors.held_out, bare.units)
    assert run_row(run, found).error == f"{error} held out"
    assert {row.label: row.value for row in numbers(run, found, bare)}["held-out RMS"] == error
    assert f"{error} at held-out" in headline_text(found, bare).large[0]
    uncertain = replace(found.errors, held_out=None, uncertainty=0.079, size=1.0)
    assert run_row(run, replace(found, errors=uncertain)).error == "± 7.9 %"


def test_a_scene_separates_what_is_excluded_from_what_is_hidden(known, mask):
    shapes = build_shapes(known.sequence, known.result)
    scene = build_scene(known.sequence, shapes, frame=4, excluded=mask)
    assert np.flatnonzero(scene.excluded).tolist() == [5, 7]
    assert np.array_equal(scene.visible, known.sequence.visible[4] & ~mask[4])
    assert "excluded: hidden from the solver" in described(scene, 5)
    assert "hidden from the solver" not in described(scene, 3)
    assert not build_scene(known.sequence, shapes, frame=4).excluded.any()


def test_excluded_points_are_crosses_and_hidden_ones_are_rings(show, known, mask, near):
    view = show(TracksView(), 640, 480)
    shapes = build_shapes(known.sequence, known.result)
    view.set_scene(build_scene(known.sequence, shapes, frame=4))
    assert not near(view.grab_image(), DARK.warning, tolerance=30).any()
    scene = build_scene(known.sequence, shapes, frame=4, excluded=mask)
    view.set_scene(scene)
    assert view._dots.excluded.crossed and not view._dots.hidden.crossed
    assert np.array_equal(view._dots.excluded.positions, scene.measured[[5, 7]])
    assert near(view.grab_image(), DARK.warning, tolerance=60).sum() > 20
    assert "excluded" in [entry.text for entry in view._dots.legend(scene)]


def test_the_timeline_can_show_what_the_solver_does_not_see(known, make_iterate, mask):
    iterate = replace(make_iterate(known, noise=0.0), settings=HIDE)
    kinds = error_series(known.sequence, build_shapes(known.sequence, iterate))
    assert [each.name for each in kinds] == ["3-D error", "reprojection error", "hidden"]
    assert np.array_equal(kinds[-1].per_point, ~(known.sequence.visible & ~mask))
    seen = replace(known.sequence, tracks=np.nan_to_num(known.sequence.tracks), visible=np.ones_like(mask))
    full = replace(known.result, tracks=seen.tracks, visible=seen.visible)
    assert len(error_series(seen, build_shapes(seen, full))) == 2


# The weights under a robust loss


@pytest.fixture(scope="module")
def outlying():
    found = simulate("paper", frames=14, points=30, noise=0.3, seed=2)
    tracks = np.array(found.tracks)
    tracks[FRAME, :, POINT] += 200.0
    return replace(found, tracks=tracks, digest="wrong")


@pytest.fixture
def weighted(outlying, solve_once):
    return build_shapes(outlying, solve_once(outlying, ROBUST)[-1])


def test_the_outlier_has_little_weight_in_the_scene_the_table_and_the_strip(outlying, weighted):
    assert weighted.weights[FRAME, POINT] < 0.15 < 0.5 < np.median(weighted.weights)
    scene = build_scene(outlying, weighted, frame=FRAME)
    assert scene.weights[POINT] == weighted.weights[FRAME, POINT]
    assert "weight 0.0" in described(scene, POINT)
    (series,) = (kind for kind in error_series(outlying, weighted) if kind.name == "lost weight")
    assert series.per_point[FRAME, POINT] > 0.85 and np.nanmax(series.per_point) <= 1.0


def test_points_of_little_weight_are_rings(show, outlying, weighted, near):
    view = show(TracksView(), 640, 480)
    scene = build_scene(outlying, weighted, frame=FRAME)
    view.set_scene(scene)
    doubted = scene.visible & (scene.weights < 0.5)
    assert doubted[POINT]
    assert np.array_equal(view._dots.doubted.positions, scene.measured[doubted])
    assert view._dots.doubted.hollow and not view._dots.doubted.crossed
    assert "weight below 0.5" in [entry.text for entry in view._dots.legend(scene)]
    assert near(view.grab_image(), DARK.warning, tolerance=60).sum() > 5


def test_the_table_has_a_column_of_weights_where_there_are_some(
    show, outlying, weighted, known, make_iterate
):
    table = show(PointsTable(), 500, 200)
    table.set_shapes(outlying, weighted)
    assert not table.isColumnHidden(WEIGHT)
    seen, model = outlying.visible[:, 9], table.model()
    assert model.data(model.index(9, WEIGHT)) == f"{weighted.weights[seen, 9].mean():.3g}"
    least_squares = build_shapes(known.sequence, known.result)
    assert least_squares.weights is None
    assert build_scene(known.sequence, least_squares, frame=4).weights is None
    table.set_shapes(known.sequence, least_squares)
    assert table.isColumnHidden(WEIGHT)
