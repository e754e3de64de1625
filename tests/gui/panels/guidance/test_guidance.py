"""Guidance without ground truth: the panel, the work in the background, and what "Use it" does."""

import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyqtgraph as pg
import pytest
from hands import choose, type_into
from PyQt6.QtWidgets import QApplication

from core import CameraModel, ExplicitWeights, NuclearNorm, Settings, WeightedNuclearNorm, simulate
from core.evaluation import HoldoutCurve, HoldoutPlan, gather_curve, present_noise, sweep
from core.evaluation.cross_validation import FOLDS
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.guidance.guidance_controller import GuidanceController, beyond
from nrsfm_gui.panels.guidance.guidance_panel import (
    GuidanceCurves,
    GuidancePanel,
    GuidanceState,
    _ticks,
    advised,
    by_truth,
    recommendation,
    value_label,
)
from nrsfm_gui.widgets.style import apply_theme

QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn", max_iterations=12)
PAD = 4  # pixels around the title of an axis
SETTINGS = QUICK.with_changes(penalty=WeightedNuclearNorm(xi=0.5))


@pytest.fixture
def panel(qapp, show):
    panel = GuidancePanel()
    apply_theme(DARK)
    return show(panel, 420, 260)


def curves(**changes):
    line = {
        "values": np.array([0.1, 0.3, 1.0, 3.0]),
        "held": np.array([9.0, 5.0, 6.0, 900.0]),
        "deviation": np.array([0.5, 0.4, np.nan, 1.0]),
        "kept": np.array([1.0, 1.1, 1.5, 800.0]),
        "best": 1,
        "integer": False,
    }
    others = {name: changes.pop(name) for name in changes.keys() - line.keys()}
    line |= changes
    close = 2 * (line["values"][line["best"]],)
    return GuidanceCurves(SimpleNamespace(**line, close=close), parameter="xi", unit="px", **others)


READY = GuidanceState(available=True, suggested=(0.1, 10, 5))


def test_the_answer_and_the_titles_of_the_axes_are_whole_in_the_least_height(panel):
    words = "isometry 0.03 predicts best: 3.72 px where hidden, 0.049 px where used. " * 3
    panel.set_state(replace(READY, curves=curves(), sentence=words))
    QApplication.processEvents()
    panel.resize(470, panel.minimumSizeHint().height())
    QApplication.processEvents()
    plot, line = panel.plot, panel._line
    assert line.height() == line.sizeHint().height() and plot.geometry().bottom() < panel.height()
    for side in ("left", "right", "bottom"):
        title = plot.getPlotItem().getAxis(side).label
        text = title.boundingRect().adjusted(PAD, PAD, -PAD, -PAD)
        assert plot.sceneRect().contains(title.mapRectToScene(text))


def computed(panel):
    """Press Compute, and return what is requested."""
    asked = []
    panel.compute_requested.connect(lambda *request: asked.append(request))
    panel._compute.click()
    return asked


def test_an_empty_panel_shows_what_it_does_and_what_is_missing(panel):
    text = panel.plot.empty.text
    assert "without ground truth" in text() and "run one first" in text()
    assert not panel._compute.isEnabled() and not panel._use.isVisibleTo(panel)
    panel.set_state(READY)
    assert "run one first" not in text() and panel._compute.isEnabled()


@pytest.mark.parametrize(
    ("parameter", "fields", "expected"),
    [
        ("xi", "0.1 10 3", (0.1, 1.0, 10.0)),
        ("rank", "2 5 9", (2.0, 3.0, 4.0, 5.0)),
        *(("xi", wrong, None) for wrong in ("10 1 3", "0 1 3", "0.1 1 1", "0.1 1 400", "a 1 4", "0.1 inf 4")),
    ],
)
def test_the_fields_make_a_series_or_show_why_not(panel, parameter, fields, expected):
    panel.set_state(READY)
    panel._parameter.set_key(parameter)
    for field, text in zip((panel._low, panel._high, panel._count), fields.split(), strict=True):
        type_into(field, text)
    if expected is None:
        assert not panel._compute.isEnabled() and "must ascend" in panel._compute.toolTip()
        assert panel._line.isVisible() and "must ascend" in panel._line.label.text()
        QApplication.processEvents()
        assert panel._line.verticalScrollBar().maximum() == 0  # a line is whole
        panel.set_state(READY)
        for field, text in zip((panel._low, panel._high, panel._count), ("1", "2", "4"), strict=True):
            type_into(field, text)
        assert not panel._line.isVisible()
    else:
        assert computed(panel) == [(parameter, expected, "tracks")]


def test_the_values_of_refine_are_both_words_and_have_no_range(panel):
    panel.set_state(replace(READY, parameters=("xi", "rank", "eta", "objective")))
    assert panel._low.isVisibleTo(panel)
    choose(panel._parameter, "objective")
    assert not any(field.isVisibleTo(panel) for field in (panel._low, panel._high, panel._count))
    panel._hiding.set_key("blocks")
    assert computed(panel) == [("objective", (0.0, 1.0), "blocks")]
    panel.set_state(replace(READY, parameters=("xi", "rank")))
    assert panel.parameter == "xi" and panel._low.isVisibleTo(panel)


def test_the_numbers_of_the_refinement_are_offered_where_depths_are_refined(panel):
    for names, tip in ((("xi", "objective"), "The depths are not"), (("xi", "rank"), "Not a parameter")):
        panel.set_state(replace(READY, parameters=names))
        item = panel._parameter.model().item(panel._parameter.findData("noise"))
        assert not item.isEnabled() and item.toolTip().startswith(tip)
    panel.set_state(replace(READY, parameters=("xi", "objective", "noise")))
    assert item.isEnabled() and "Standard deviation" in item.toolTip()


def test_a_range_that_was_typed_is_kept_until_another_parameter_is_chosen(panel):
    panel.set_state(READY)
    type_into(panel._low, "0.2")
    panel.set_state(replace(READY, suggested=(1, 100, 5)))
    assert panel._low.value() == 0.2
    panel._on_parameter_chosen("eta")
    panel.set_state(replace(READY, suggested=(0.01, 0.5, 7)))
    assert panel._low.value() == 0.01


def marked(panel):
    """Return what stands in the plot: the value to use, if there is one."""
    texts = (item for item in panel.plot.scene().items() if isinstance(item, pg.TextItem))
    return [item.toPlainText() for item in texts if item.isVisible()]


def test_the_curve_its_minimum_and_the_present_value_are_drawn(qapp, panel, near):
    theme = LIGHT
    apply_theme(theme)
    drawn = curves(truth=np.array([3.0, 1.0, np.nan, 2.0]))
    panel.set_state(replace(READY, curves=drawn, present=1.0))
    QApplication.processEvents()
    assert marked(panel) == ["strength ξ 0.3"]
    picture = panel.plot.grab().toImage()
    assert near(picture, theme.accent).sum() > 60
    assert near(picture, theme.selection).sum() > 10
    assert near(picture, theme.residual).sum() > 10
    assert near(picture, theme.truth, tolerance=25).sum() == 0  # only where it is asked for
    panel._truth.setChecked(True)
    QApplication.processEvents()
    assert near(panel.plot.grab().toImage(), theme.truth).sum() > 20
    low, high = panel.plot.getPlotItem().getViewBox().viewRange()[1]
    assert low < np.log10(5.0) and high < np.log10(500.0)  # what has collapsed is out of view
    panel.set_state(READY)
    assert marked(panel) == []


def test_curves_of_one_value_and_of_nothing_finite_are_drawn(panel):
    one = np.array([2.0])
    alone = curves(values=one, held=one, deviation=np.array([np.nan]), kept=one, best=0, integer=True)
    panel.set_state(replace(READY, curves=alone))
    QApplication.processEvents()
    assert marked(panel) == ["strength ξ 2"]
    nothing = np.full(4, np.nan)
    panel.set_state(replace(READY, curves=curves(kept=nothing, truth=nothing)))
    panel._truth.setChecked(True)
    QApplication.processEvents()


def test_ticks_are_round_and_at_least_two_even_on_a_short_axis():
    for low, high in ((0.95, 1.05), (-2.0, 3.0), (0.3, 0.55)):
        ticks = _ticks(low, high)
        assert len(ticks) >= 2
        for place, text in ticks:
            assert low - 1e-9 <= place <= high + 1e-9
            assert 10**place == pytest.approx(float(text), rel=1e-5)


@pytest.fixture
def guidance(show, session, panel):
    """Return the controller of the panel."""
    show(panel.header, 400, 40)  # in the window it is the title of the dock
    made = GuidanceController(session, panel)
    yield made
    made.shut_down()


@pytest.fixture
def solved(session, guidance, add_solved_run):
    """Return the controller with a small noisy sequence that was solved."""
    add_solved_run(session, simulate("balloon", frames=9, points=16, noise=1.0), SETTINGS)
    return guidance


def test_a_series_is_computed_in_a_thread_and_its_minimum_can_be_used(qtbot, session, solved, panel):
    start = session.shown.last
    values = (0.1, 0.4)
    panel.compute_requested.emit("xi", values, "tracks")
    assert solved.computing and panel._cancel.isVisibleTo(panel)
    qtbot.waitUntil(lambda: not solved.computing)
    assert not panel._cancel.isVisibleTo(panel)
    sequence, more = session.sequence, solved._series.more
    # Of two values the best is at an end, to whose side the range was widened.
    solves = [*sweep(sequence, start, SETTINGS, HoldoutPlan("xi", values))]
    assert more and (max(more) < values[0]) == (gather_curve(solves, "xi").best == 0)
    solves += sweep(sequence, start, SETTINGS, HoldoutPlan("xi", more))
    direct = gather_curve(solves, "xi")
    shown = panel.plot._curves
    assert shown.line.held == pytest.approx(direct.held, rel=1e-6)
    assert shown.line.kept == pytest.approx(direct.kept, rel=1e-6)
    assert np.isfinite(shown.truth).all() and not panel._truth.isChecked()
    series = solved._series
    fold = series.trials[0].fold  # 3-D errors are of the folds that a curve is of
    part = gather_curve([trial for trial in series.trials if trial.fold == fold], "xi")
    assert len(direct.folds) == FOLDS and part.folds == (fold,)
    expected = [series.truth[fold, value] for value in part.values]
    assert series.truth_of(part) == pytest.approx(expected) != pytest.approx(series.truth_of(direct))
    assert f"strength ξ {direct.values[direct.best]:g} predicts best" in panel._line.label.text()
    assert "px" in panel._line.label.text() and "widened" in panel._line.label.text()
    panel._truth.click()
    assert "By the truth, not used here: " in panel._line.label.text()
    panel._use.click()
    used = float(direct.values[advised(direct, "xi")])
    assert session.settings.penalty == WeightedNuclearNorm(xi=used)
    assert panel._line.label.text().startswith(f"strength ξ {used:g} is in Parameters now")
    qtbot.waitUntil(lambda: panel.plot._present == used)
    assert "have changed" not in panel._line.label.text()
    session.set_settings(session.settings.with_changes(rank=3))
    qtbot.waitUntil(lambda: "Other parameters have changed since" in panel._line.label.text())
    session.set_settings(session.settings.with_changes(penalty=NuclearNorm()))
    qtbot.waitUntil(
        lambda: not panel._use.isEnabled() and "is another number now" in panel._line.label.text()
    )


@pytest.mark.slow
def test_whether_to_refine_can_be_computed_and_used_and_then_its_numbers(qtbot, session, solved, panel):
    qtbot.waitUntil(panel._compute.isEnabled)
    panel._parameter.set_key("objective")
    panel.compute_requested.emit("objective", (0.0, 1.0), "blocks")
    qtbot.waitUntil(lambda: len(solved._series.trials) >= 2)  # a fold is enough
    panel._cancel.click()
    qtbot.waitUntil(lambda: not solved.computing and panel.plot._curves.parameter == "objective")
    shown = panel.plot._curves
    assert np.isfinite(shown.truth).all()
    word = value_label("objective", shown.line.values[shown.line.best])
    assert marked(panel) == [f"objective {word}"]
    assert (
        f"objective {word} predicts best" in panel._line.label.text()
        and "range" not in panel._line.label.text()
    )
    panel._use.click()
    assert session.settings.objective == word == "depths"  # of a deforming balloon
    assert "press Run" in panel._line.label.text()
    qtbot.waitUntil(lambda: panel._parameter.model().item(panel._parameter.findData("isometry")).isEnabled())
    panel._parameter.set_key("isometry")
    panel.compute_requested.emit("isometry", (0.1, 0.3), "blocks")
    qtbot.waitUntil(lambda: len(solved._series.trials) >= 2)
    panel._cancel.click()
    qtbot.waitUntil(lambda: not solved.computing and panel._use.isEnabled())
    used = panel.plot._curves.line.values[panel.plot._curves.line.best]
    panel._use.click()
    assert session.settings.isometry == used
    session.set_settings(session.settings.with_changes(objective="wnn"))
    qtbot.waitUntil(
        lambda: "are not the objective now" in panel._line.label.text() and not panel._use.isEnabled()
    )


def test_the_noise_of_the_tracks_is_the_present_one_where_it_is_not_given(qtbot, session, solved, panel):
    session.set_settings(session.settings.with_changes(objective="depths"))
    choose(panel._parameter, "noise")
    estimated = present_noise(session.sequence)
    qtbot.waitUntil(lambda: panel.plot._present == estimated)
    assert panel._low.value() < estimated < panel._high.value()
    session.set_settings(session.settings.with_changes(noise=2.5))
    qtbot.waitUntil(lambda: panel.plot._present == 2.5)


def line_of(errors, values=(0.1, 0.3, 1.0, 3.0)):
    """A curve of errors (folds, N)."""
    errors = np.asarray(errors, dtype=float)
    return HoldoutCurve(
        np.array(values), tuple(range(len(errors))), errors, errors, 0.5 * errors, integer=False
    )


def test_of_values_that_predict_equally_well_the_strongest_is_used_and_named():
    flat = line_of([[5.02, 5.0, 5.1, 9.0], [6.0, 5.9, 5.8, 9.0], [5.3, 5.4, 5.6, 9.0]])
    assert (flat.best, flat.close) == (1, (0.1, 1.0))
    plan = HoldoutPlan("xi", (0.1, 0.3, 1.0, 3.0))
    words = recommendation(flat, plan, "px")
    assert "strength ξ 0.3 predicts best: 5.43 px" in words
    assert "0.1 to 1 predict equally well: Use it sets 1, the strongest and safest." in words
    assert (advised(flat, "xi"), advised(flat, "eta"), advised(flat, "rank")) == (2, 1, 1)
    assert "strongest" not in recommendation(flat, replace(plan, parameter="eta"), "px")
    sharp = line_of([[9.0, 1.0, 5.0, 9.0], [9.1, 1.1, 5.2, 9.2]])
    assert advised(sharp, "xi") == sharp.best == 1
    assert "equally" not in recommendation(sharp, plan, "px")
    truth = np.array([9.0, 8.0, 7.0, np.nan])
    assert "8.00 mm at the value to use, least 7.00 mm at 1" in by_truth(sharp, "xi", truth, "mm")
    assert by_truth(sharp, "xi", np.full(4, np.nan), "mm") == ""


def test_a_best_value_at_an_end_widens_the_range_once_and_is_reported():
    plan = HoldoutPlan("xi", (0.1, 0.3, 1.0, 3.0))
    falling = line_of([[4.0, 3.0, 2.0, 1.0]])
    ratio = 30.0 ** (1 / 3)
    assert beyond(falling, plan) == pytest.approx((3 * ratio, 3 * ratio**2), rel=0.01)
    assert beyond(line_of([[1.0, 2.0, 3.0, 4.0]]), plan)[-1] == pytest.approx(0.1 / ratio, rel=0.01)
    assert beyond(line_of([[2.0, 1.0, 3.0, 4.0]]), plan) == ()
    assert beyond(falling, replace(plan, parameter="rank")) == ()  # others could be hidden then
    assert max(beyond(falling, HoldoutPlan("eta", (0.1, 0.3, 0.5, 0.9))), default=0.0) < 1.0
    assert "try a wider one" in recommendation(falling, plan, "px")
    words = recommendation(falling, plan, "px", widened=True)
    assert "The range was widened once" in words and "still at the end" in words


@pytest.mark.parametrize("width", [240, 900])
def test_none_of_the_answer_is_cut(qtbot, panel, width):
    panel.resize(width, 260)
    sentence = "A sentence that is long enough to need several lines. " * 5
    panel.set_state(replace(READY, curves=curves(), sentence=sentence))
    line = panel._line
    qtbot.waitUntil(lambda: line.height() == line.sizeHint().height())
    room = line.viewport().height() + line.verticalScrollBar().maximum()
    assert room >= line.label.heightForWidth(line.viewport().width())
    assert panel.plot.height() > 60


def test_a_series_can_be_cancelled_and_keeps_its_results(qtbot, solved, panel):
    panel.compute_requested.emit("xi", tuple(np.geomspace(0.1, 10, 20)), "entries")
    qtbot.waitUntil(lambda: panel.plot._curves is not None)
    panel._cancel.click()
    qtbot.waitUntil(lambda: not solved.computing)
    assert 0 < len(solved._series.trials) < 20 * FOLDS
    assert panel._use.isEnabled()
    assert panel._compute.isVisibleTo(panel)
    qtbot.waitUntil(lambda: not solved._jobs)
    panel.compute_requested.emit("xi", (0.1, 1.0), "tracks")
    job = solved._series.job
    solved.shut_down()
    assert job.isFinished()


def test_what_cannot_be_hidden_is_reported_and_another_sequence_ends_a_series_and_removes_its_curve(
    qtbot, session, solved, panel, known
):
    qtbot.waitUntil(panel._compute.isEnabled)  # rotations are chosen
    panel.compute_requested.emit("rank", (2.0, 40.0), "tracks")
    qtbot.waitUntil(lambda: not solved.computing)
    assert panel._line.label.text().startswith("No observation can be hidden at rank 40")
    assert panel._line.label.property("role") == "warning"
    panel.compute_requested.emit("rank", (2.0, 3.0, 4.0), "tracks")
    session.set_sequence(known.sequence)
    assert panel.plot._curves is None and panel._line.label.text() == ""
    qtbot.waitUntil(lambda: not solved._jobs)
    assert panel.plot._curves is None
    assert not panel._compute.isEnabled()


@pytest.mark.slow
def test_series_that_are_not_shown_any_more_are_let_go_of(qtbot, session, solved, panel, known):
    held = []
    for _ in range(2):
        panel.compute_requested.emit("xi", (0.1, 1.0), "entries")
        held.append(weakref.ref(solved._series))
        qtbot.waitUntil(lambda: not solved.computing)
        qtbot.waitUntil(lambda: all(series() is None for series in held[:-1]))
    assert held[-1]() is solved._series
    session.set_sequence(known.sequence)
    qtbot.waitUntil(lambda: held[-1]() is None)


def test_parameters_are_those_of_the_penalty_and_explicit_weights_have_a_scale(
    qtbot, session, guidance, panel, known
):
    session.set_sequence(known.sequence)
    session.set_settings(Settings(rank=2, penalty=NuclearNorm(mu=0.1)))
    qtbot.waitUntil(lambda: panel.parameter == "mu")
    session.set_settings(session.settings.with_changes(penalty=ExplicitWeights((0.1, 0.2))))
    qtbot.waitUntil(lambda: panel.parameter == "scale")
    assert session.sequence.camera is CameraModel.PERSPECTIVE


def test_the_menu_brings_the_panel_to_the_front(monkeypatch, solved, panel, press_action):
    shown = []
    monkeypatch.setattr("nrsfm_gui.panels.guidance.guidance_controller.show_dock_of", shown.append)
    press_action(SimpleNamespace(guidance_controller=solved), "guidance")
    assert shown == [panel]
