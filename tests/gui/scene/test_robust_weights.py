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


def test_the_outlier_has_little_weight_in_the_scene_the_table_and_the_strip(sequence, shapes):
    assert shapes.weights[FRAME, POINT] < 0.15 < 0.5 < np.median(shapes.weights)
    scene = build_scene(sequence, shapes, frame=FRAME)
    assert scene.weights[POINT] == shapes.weights[FRAME, POINT]
    assert "weight 0.0" in described(scene, POINT)
    (series,) = (kind for kind in error_series(sequence, shapes) if kind.name == "lost weight")
    assert series.per_point[FRAME, POINT] > 0.85 and np.nanmax(series.per_point) <= 1.0


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


def test_the_table_has_a_column_of_weights_where_there_are_some(show, sequence, shapes, known, make_iterate):
    table = show(PointsTable(), 500, 200)
    table.set_shapes(sequence, shapes)
    assert not table.isColumnHidden(WEIGHT)
    seen, model = sequence.visible[:, 9], table.model()
    assert model.data(model.index(9, WEIGHT)) == f"{shapes.weights[seen, 9].mean():.3g}"
    least_squares = build_shapes(known.sequence, make_iterate(known, noise=0.0))
    assert least_squares.weights is None
    assert build_scene(known.sequence, least_squares, frame=4).weights is None
    table.set_shapes(known.sequence, least_squares)
    assert table.isColumnHidden(WEIGHT)
