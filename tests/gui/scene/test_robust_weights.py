"""The weights of the observations under a robust loss: in the 2-D view, the table and the strip."""

from dataclasses import replace

import numpy as np
import pytest
from reconstructions import build_shapes

from core import Settings, simulate
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.points.points_table import WEIGHT, PointsTable
from nrsfm_gui.panels.view2d.tracks_dots import described
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.scene.scene import build_scene, error_series
from nrsfm_gui.text.point_table import point_table

ROBUST = Settings(rank=2, rotations="truth", starts=1, objective="wnn", loss="cauchy")
FRAME, POINT = 3, 4  # of the outlier


@pytest.fixture(scope="module")
def sequence():
    found = simulate("paper", frames=14, points=30, noise=0.3, seed=2)
    tracks = np.array(found.tracks)
    tracks[FRAME, :, POINT] += 200.0
    return replace(found, tracks=tracks, digest="wrong")


@pytest.fixture
def shapes(sequence, solve_once):
    return build_shapes(sequence, solve_once(sequence, ROBUST)[-1])


def test_least_squares_has_no_weights(known, make_iterate):
    shapes = build_shapes(known.sequence, make_iterate(known, noise=0.0))
    assert shapes.weights is None
    assert build_scene(known.sequence, shapes, frame=4).weights is None
    assert point_table(known.sequence, shapes).weight is None


def test_the_outlier_has_little_weight_in_the_scene_the_table_and_the_strip(sequence, shapes):
    assert shapes.weights[FRAME, POINT] < 0.15 < 0.5 < np.median(shapes.weights)
    scene = build_scene(sequence, shapes, frame=FRAME)
    assert scene.weights[POINT] == shapes.weights[FRAME, POINT]
    assert "weight 0.0" in described(scene, POINT)
    table = point_table(sequence, shapes)
    seen = sequence.visible[:, 9]
    assert table.weight[9] == pytest.approx(shapes.weights[seen, 9].mean())
    kinds, series = {}, error_series(sequence, shapes)
    while series is not None:
        kinds[series.name], series = series, series.other
    lost = kinds["lost weight"].per_point
    assert lost[FRAME, POINT] > 0.85 and np.nanmax(lost) <= 1.0


def test_points_of_little_weight_are_rings(show, sequence, shapes, near):
    view = show(TracksView(), 640, 480)
    scene = build_scene(sequence, shapes, frame=FRAME)
    view.set_scene(scene)
    doubted = scene.visible & (scene.weights < 0.5)
    assert doubted[POINT]
    assert np.array_equal(view._dots.doubted.positions, scene.measured[doubted])
    assert view._dots.doubted.hollow and not view._dots.doubted.crossed
    assert "weight below 0.5" in [entry.text for entry in view._dots.legend(scene)]
    assert near(view.grab_image(), DARK.warning, tolerance=60).sum() > 5


def test_the_table_has_a_column_of_weights_where_there_are_some(show, sequence, shapes, known):
    table = show(PointsTable(), 500, 200)
    table.set_table(point_table(sequence, shapes))
    assert not table.isColumnHidden(WEIGHT)
    table.set_table(point_table(known.sequence, build_shapes(known.sequence, known.result)))
    assert table.isColumnHidden(WEIGHT)
