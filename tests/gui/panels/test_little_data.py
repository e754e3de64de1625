"""Timeline, 2-D view and panel of points with next to nothing to show: one point, two frames, no number."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hands import send_mouse
from PyQt6.QtCore import QEvent, QPointF, Qt

from core import CameraModel, Sequence
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.points.points_panel import PointsPanel, PointsState
from nrsfm_gui.panels.timeline.frame_picture import TimelineState
from nrsfm_gui.panels.timeline.timeline import Timeline
from nrsfm_gui.panels.timeline.worst_frame import frame_sentence
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.scene import ErrorSeries, build_scene
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.widgets.style import apply_theme

SHAPES = [(1, 1), (2, 1), (1, 5), (2, 3), (3, 4000)]
VALUES = [np.nan, 0.0, 1e-300, 1e9]


@pytest.fixture(params=list(itertools.product(SHAPES, VALUES)), ids=str)
def series(request):
    """Errors that are all the same, and those of one cell missing."""
    shape, value = request.param
    errors = np.full(shape, value)
    errors[0, 0] = np.nan
    return ErrorSeries(known_means(errors, 1), errors, "px", "reprojection error")


def wiggle(widget, seed):
    """Move, press, drag, double-click with every modifier, inside and outside."""
    rng, modifiers = np.random.default_rng(seed), Qt.KeyboardModifier
    kinds = [f"Mouse{name}" for name in ("Move", "ButtonPress", "ButtonRelease", "ButtonDblClick")]
    for _ in range(60):
        where = QPointF(*(rng.uniform(-0.1, 1.1, 2) * (widget.width(), widget.height())))
        key = (modifiers.NoModifier, modifiers.ShiftModifier, modifiers.ControlModifier)[rng.integers(3)]
        send_mouse(widget, QEvent.Type[rng.choice(kinds)], where, keys=key, held=Qt.MouseButton.LeftButton)


def test_the_timeline_survives_whatever_errors_it_is_given(qapp, show, series):
    timeline = show(Timeline(), 640, 140)
    frames, points = series.per_point.shape
    selected, hidden = tuple(range(points)), frozenset(range(0, points, 2))
    state = TimelineState(count=frames, kinds=(series,), selection=selected, point=0, hidden=hidden)
    timeline.set_state(state)
    asked = []
    timeline.frame_requested.connect(asked.append)
    timeline.range_requested.connect(lambda played: timeline.set_state(replace(state, played=played)))
    for by_error in (False, True):
        timeline.transport.change_requested.emit({"by_error": by_error})
        for seed, part in enumerate((timeline.strip, timeline.slider, timeline.curve)):
            wiggle(part, seed)
        apply_theme(LIGHT)
        timeline.grab()
    assert all(0 <= frame < frames for frame in asked)
    for frame in np.flatnonzero(np.isfinite(series.per_frame)):
        assert "half of it from" in frame_sentence(series, int(frame))


@pytest.mark.parametrize(("frames", "points", "seen"), [(2, 4, 1), (3, 5, 5)])
def test_panels_survive_sequences_with_almost_no_points(qapp, show, frames, points, seen):
    tracks = np.random.default_rng(0).uniform(0, 500, (frames, 2, points))
    visible = np.zeros((frames, points), dtype=bool)
    visible[:, :seen] = True
    tracks[:, :, seen:] = np.nan
    sequence = Sequence(tracks, visible, CameraModel.PERSPECTIVE, "few", intrinsics=np.eye(3))
    shapes = build_shapes(sequence, None)
    view, panel = TracksView(), PointsPanel()
    show(view, 400, 300)
    show(panel, 700, 250)
    for frame in range(frames):
        view.set_scene(build_scene(sequence, shapes, frame=frame, selected=0, selection=tuple(range(points))))
        wiggle(view.plot_widget.viewport(), frame)
        view.grab_image()
    panel.set_state(PointsState(sequence, shapes, selection=tuple(range(points)), point=0))
    apply_theme(DARK)
    panel.grab()
    assert "press Run" in panel.curves._empty.text()
    assert panel.table.model().data(panel.table.model().index(0, 3)) == "–"
