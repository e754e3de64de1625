"""The loss plot and the spectrum."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pyqtgraph as pg
import pytest
from hands import ask_for_menu
from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QContextMenuEvent
from PyQt6.QtWidgets import QApplication

from core import HistoryEntry, Settings
from core.depth.search import LIGHT
from core.foundation import Phase, PhaseKind
from nrsfm_gui.model.history import History
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.loss.loss_curves import LossState
from nrsfm_gui.panels.loss.loss_marks import short_phases, spans
from nrsfm_gui.panels.loss.loss_plot import BEST
from nrsfm_gui.widgets.plots.plot_style import log_ticks

REFINE, OTHER = Phase(PhaseKind.REFINE), Phase(PhaseKind.START, 1, name="other")
ADMM = Phase(PhaseKind.MATRIX, name="ADMM")


def test_a_history_grows_in_place_and_clamps_what_has_no_logarithm(history):
    made = history(1000)
    assert made.iterations.tolist() == list(range(1000))
    assert made.values[99] == pytest.approx(0.01)
    made.extend(
        [HistoryEntry(1000, 10.0, 0.0, OTHER, best=0.01), HistoryEntry(1001, 10.1, float("nan"), OTHER)]
    )
    assert np.isfinite(made.values).all()
    assert made.lowest[[99, 1000]] == pytest.approx(0.01) and np.isnan(made.lowest[1001])
    assert made.phases == [(0, REFINE), (1000, OTHER)]


def test_the_beginning_of_a_history_stays_what_it_was(history):
    for count in (5, 8):
        made = history(10)
        made.tick(7, "rank 6 → 2", before=Settings())
        first = made.until(count)
        made.extend(HistoryEntry(k, 0.01 * k, 9.0, OTHER, primal=0.1, dual=0.1) for k in range(10, 600))
        made.tick(400, "rank 2 → 3", before=Settings())
        assert len(first) == count and first.iterations.tolist() == list(range(count))
        np.testing.assert_array_equal(first.values, made.values[:count])
        np.testing.assert_array_equal(first.lowest, made.lowest[:count])
        assert [tick.first for tick in first.ticks] == ([7] if count > 7 else [])
        assert [phase for _, phase in first.phases] == [REFINE]
        assert made.has_residuals and not first.has_residuals


ROTATIONS = [Phase(PhaseKind.ROTATIONS, k, 2, "tracks", rank) for k, rank in ((1, 1), (1, 2), (2, 1))]
STARTS = [Phase(PhaseKind.START, k, 3, "grown", rank) for k, rank in ((1, 1), (1, 2), (2, 0))]
DEPTHS = [Phase(PhaseKind.DEPTH_START, k, 2, "a", part=part) for k, part in ((1, 1), (1, 2), (2, 1))]
MIRROR = Phase(PhaseKind.MIRROR, name="a, frames 3-8", part=1, parts=2)
FINE = [Phase(PhaseKind.FINE, part=part, parts=6) for part in (1, 2)]
SUBSET = [Phase(PhaseKind.START, k, name=f"{k} (subset)", subset=True) for k in (1, 2)]


def test_phases_have_short_names_and_their_parts_are_merged():
    grown = {0: "rotations 1 of 2", 2: "2", 3: "start 1 of 3", 5: "2", 6: "refine"}
    refined = {0: "refine", 1: "depth, start 1 of 2", 3: "2", 4: "mirror", 5: "fine"}
    subset = {0: "start 1 (subset)", 1: "2", 2: "refine (subset)", 3: "refine"}
    for phases, names in (
        ([*ROTATIONS, *STARTS, REFINE], grown),
        ([REFINE, *DEPTHS, MIRROR, *FINE], refined),
        ([*SUBSET, replace(REFINE, subset=True), REFINE], subset),
    ):
        made = History()
        made.extend(HistoryEntry(k, k, 1.0, phase) for k, phase in enumerate(phases))
        assert dict(short_phases(made)) == names


def refined_history():
    """Return a run of 20 records, a refinement of two levels whose energies do not compare, of 10 each."""
    made = History()
    made.extend(HistoryEntry(k, 0.1 * k, 1.0 / (1 + k), REFINE) for k in range(20))
    for first, phase, top in (
        (20, Phase(PhaseKind.FINE, part=1, parts=2), -2.0),
        (30, Phase(PhaseKind.FINE, part=2, parts=2), 7.0),
    ):
        made.extend(
            HistoryEntry(k, 0.1 * k, 0.05, phase, energy=top - 0.1 * (k - first))
            for k in range(first, first + 10)
        )
    return made


def test_a_history_holds_the_energies_of_the_refinement_and_where_phases_end():
    made = refined_history()
    np.testing.assert_allclose(made.values[[19, 20, 29, 30, 39]], [0.05, -2.0, -2.9, 7.0, 6.1])
    assert np.flatnonzero(made.level_ends).tolist() == [19, 29]
    found = [(stage.name, first, last) for stage, first, last in made.stage_spans]
    assert found == [("WNN", 0, 19), ("fine levels", 20, 29), ("fine levels", 30, 39)]
    assert len(made.until(20).stage_spans) == 1 and len(made.until(21).stage_spans) == 2


def test_the_stages_of_a_history_are_found_once_until_it_grows_or_its_parameters_change():
    made = refined_history()
    found = made.stage_spans
    assert made.stage_spans is found  # the names of 84 candidates asked for them 84 times a picture
    made.extend([replace(made.records[-1], iteration=40)])
    assert made.stage_spans[-1][2] == 40
    made.tick(35, "rank 2", before=Settings())
    assert made.stage_spans[-1][1:] == (35, 40)


def test_the_axis_is_of_the_newest_stage_and_every_other_one_fills_the_height_in_its_own_span(
    qtbot, plot, item, left, near, history
):
    plot.set_state(LossState({1: history(40)}, 1))
    assert left.labelText == "log10 loss" and not plot._curves._others._box.isVisible()
    plot.set_state(LossState({1: history(40), 2: refined_history()}, 2, {1: "one", 2: "two"}))
    qtbot.wait(50)
    assert left.labelText.startswith("energy per point and frame")
    low, high = left.range
    assert 5.8 < low < 6.1 and 7.0 < high < 7.4
    box = item.getViewBox()
    inside = near(
        plot.plot_widget.grab(box.sceneBoundingRect().toRect()).toImage(), DARK.accent, tolerance=60
    )
    for ends in ((0, 19), (20, 29), (30, 39)):
        first, last = (round(box.mapFromView(QPointF(x, 6.5)).x()) for x in ends)
        rows = np.flatnonzero(inside[:, first + 1 : last].any(axis=1)) / len(inside)
        assert np.ptp(rows) > 0.7


def test_the_other_stages_are_those_of_the_run_in_front(plot):
    first, second = refined_history(), refined_history().until(35)
    runs, shown = {1: first, 2: second}, plot._curves._others
    for current in (1, 2, 1):
        plot.set_state(LossState(runs, current))
        assert len(shown._spans) == 2
    second = refined_history().until(25)
    plot.set_state(LossState({1: first, 3: second}, 3))
    assert [span[:2] for span in shown._spans] == [(0, 19)]
    plot.set_state(LossState({1: first}, None))
    assert shown._spans == [] and not shown._box.isVisible()


def test_the_axis_is_of_the_stage_of_the_moment_that_is_looked_at_and_of_a_highlighted_attempt(plot, left):
    plot.set_state(LossState({1: refined_history()}, 1))
    for record, name, values in (
        (10, "log10 loss", (-1.3, 0.0)),
        (25, "energy", (-2.9, -2.0)),
        (None, "energy", (6.1, 7.0)),
    ):
        plot.set_moment(record)
        low, high = left.range
        assert left.labelText.startswith(name)
        assert low <= values[0] <= values[1] <= high and high - low < 1.5 * (values[1] - values[0])
    plot._curves.marked = (3, 9)
    plot.refresh()
    assert left.labelText == "log10 loss"


@pytest.mark.parametrize(
    ("closing", "energy", "lighter"),
    [(0, -2.7, [10]), (1, -3.1, [10, 40]), (0, -3.3, [10, 40])],
    ids=["lighter lengths are kept", "the first end closes", "the first end is kept"],
)
def test_energies_of_a_search_with_lighter_lengths_have_an_axis_and_names_of_their_own(
    plot, left, closing, energy, lighter
):
    finest, made = Phase(PhaseKind.FINEST, part=3, parts=3), History()
    last = replace(finest, part=3 + closing, parts=3 + closing)
    steps = [(finest, -3.3), (Phase(PhaseKind.MIRROR, name=f"first end, {LIGHT}, frames 1-9"), -2.0)]
    steps += [(Phase(PhaseKind.FINE, part=1, parts=2), -1.0), (finest, -2.7)]
    steps += [(last, energy)] * closing + [(replace(last, kind=PhaseKind.UNCERTAINTY), energy)]
    for phase, value in steps:
        first = len(made)
        made.extend(HistoryEntry(k, 0.1 * k, 0.05, phase, energy=value) for k in range(first, first + 10))
    assert made.lighter == lighter and made.until(10).lighter == []
    names = [name for *_, name, _ in spans(made, made.stage_of(None))]
    assert list(dict.fromkeys(names)) == ["finest level", LIGHT]
    assert names[-1] == (LIGHT if len(lighter) == 1 else "finest level")
    plot.set_state(LossState({1: made, 2: made.until(10)}, 1))
    low, high = left.range
    assert low < energy < high and high - low < 0.2  # without those of another weight
    assert len(plot._curves._curves[2].item.getOriginalDataset()[0])  # a run that compares, or not, is there


def test_the_lowest_energy_is_of_one_level_and_of_one_set_of_parameters():
    made = History()
    starts = [Phase(PhaseKind.DEPTH_START, k, 2, part=part, parts=2) for k in (1, 2) for part in (1, 2)]
    trial = [Phase(PhaseKind.MIRROR, name="frames 3-8", part=part, parts=2) for part in (1, 2)]
    settled = Phase(PhaseKind.MIRROR, name="frames 3-8", part=1, parts=1)
    finest = Phase(PhaseKind.FINEST, part=3, parts=3)
    steps = [
        *zip(starts, (-5.0, -3.0, -6.0, -2.0), strict=True),
        *zip(trial, (-7.0, -2.5), strict=True),
        (settled, -3.5),
        (Phase(PhaseKind.FINEST, part=2, parts=3), -9.0),
        *((finest, energy) for energy in (-1.0, -1.5, -1.2)),
        (replace(finest, kind=PhaseKind.UNCERTAINTY), -1.5),
    ]
    made.extend(
        HistoryEntry(k, 0.1 * k, 0.05, phase, energy=energy) for k, (phase, energy) in enumerate(steps)
    )
    assert [stage.name for stage, *_ in made.stage_spans] == ["search", "fine levels", "finest level"]
    found = made.lowest.tolist()
    assert np.isnan(found[0]) and found[1:] == [-3, -3, -3, -3, -3, -3.5, -9, -1, -1.5, -1.5, -1.5]
    made.tick(10, "isometry 0.3 → 0.5", before=Settings())
    assert made.lowest.tolist()[8:] == [-1.0, -1.5, -1.2, -1.5]


def moved_history():
    """Return a refined shape whose isometry is moved three times in one gesture, then the noise once."""
    made, finest = History(), Phase(PhaseKind.FINEST)
    energies = [-3.0, -3.1, -3.2, -6.0, -5.0, -4.0, -4.1, -4.2, -9.0, -9.3]
    made.extend(HistoryEntry(k, 0.1 * k, 0.05, finest, energy=energy) for k, energy in enumerate(energies))
    made.tick(3, "isometry 0.3 → 0.4", before=Settings())
    for record, isometry in ((4, 0.5), (5, 0.6)):
        made.extend_tick(record, f"isometry 0.3 → {isometry}")
    made.tick(8, "noise 1 → 2", before=Settings())
    return made


@pytest.mark.parametrize("mode", [BEST, "Everything"])
def test_a_change_of_the_parameters_begins_a_stage_with_a_scale_of_its_own(qtbot, plot, item, left, mode):
    made = moved_history()
    found = [(stage.change, first, last) for stage, first, last in made.stage_spans]
    assert found == [(0, 0, 2), (1, 3, 7), (2, 8, 9)]
    plot.header.mode.setCurrentText(mode)
    plot.resize(900, 300)
    plot.set_state(LossState({1: made}, 1))
    box = item.getViewBox()
    for moment, low, high in ((0, -3.2, -3.0), (6, -4.2, -4.0), (None, -9.3, -9.0)):
        plot.set_moment(moment)
        qtbot.wait(10)
        assert left.range[0] <= low < high <= left.range[1] and np.ptp(left.range) < 1.5 * (high - low)
        _, y = plot._curves._curves[1].item.getOriginalDataset()
        assert (y.min(), y.max()) == (low, high)  # without what was passed on the way
        assert len(plot._curves._others._spans) == 2
        height = box.mapSceneToView(box.sceneBoundingRect().topLeft()).y()
        assert all(left.range[0] < place < height for place in plot._ticks._item.getData()[1])
    names = [name for *_, name, _shaded in spans(made, made.stage_of(None))]
    assert names == ["finest level", "isometry 0.3 → 0.6", "noise 1 → 2"]


def test_while_the_hand_moves_the_axis_is_of_what_was_passed_and_other_runs_are_under_their_newest_parameters(
    plot, left
):
    plot.set_state(LossState({1: moved_history(), 2: moved_history().until(3)}, 2))
    _, y = plot._curves._curves[1].item.getOriginalDataset()
    assert y.tolist() == [-9.0, -9.3]
    made = moved_history()
    made.extend_tick(len(made), "noise 1 → 3")  # which no record is of yet
    plot.set_state(LossState({1: made}, 1))
    assert left.range[0] <= made.values[8:].min() < made.values[8:].max() <= left.range[1]


def test_a_flat_line_has_two_ticks_of_few_digits(plot, left):
    plot.header.mode.setCurrentText(BEST)
    for value, energy in ((0.17211, None), (0.17211, -14.14973), (0.17211, 0.0)):
        phase = REFINE if energy is None else Phase(PhaseKind.FINEST)
        made = History()
        made.extend(HistoryEntry(k, 0.1 * k, value, phase, energy=energy, best=value) for k in range(9))
        plot.set_state(LossState({1: made}, 1))
        for height in (150, 900):
            plot.resize(640, height)
            QApplication.processEvents()
            levels = left.tickValues(*left.range, left.size().height())
            names = left.tickStrings(levels[0][1], 1.0, levels[0][0])
            assert len(names) >= 2, (value, energy, height, left.range)
            assert all(len(name.strip("−").replace(".", "")) <= 4 for name in names), names


def test_losses_are_drawn_as_they_are_or_by_their_logarithm_and_energies_always_as_they_are(plot, left):
    menu = plot.menu()
    asked: list[object] = []
    plot.scale_chosen.connect(asked.append)
    plot.figure_requested.connect(lambda: asked.append("figure"))
    logarithm, linear, *_ = menu.actions()
    assert logarithm.isChecked() and not linear.isChecked()
    linear.trigger()
    next(action for action in menu.actions() if action.text() == "Save as a figure…").trigger()
    menu.close()
    assert asked == [False, "figure"]
    plot.set_state(LossState({1: refined_history()}, 1))
    plot.set_moment(5)
    assert left.labelText == "log10 loss" and left.range[0] < -1.3
    plot.set_logarithmic(False)
    assert left.labelText == "loss" and -0.2 < left.range[0] <= 0.05 and 1.0 <= left.range[1] < 1.3
    plot.set_moment(None)
    assert left.labelText.startswith("energy") and left.range[0] > 5.8
    menu = plot.menu()
    assert "energy, always linear" in [action.text() for action in menu.actions() if not action.isEnabled()]
    menu.close()


def test_a_low_plot_has_a_short_label_and_room_for_the_names_of_phases(qtbot, plot, item, left, stage_names):
    plot.set_state(LossState({1: refined_history()}, 1))
    plot.resize(380, 190)
    qtbot.wait(50)
    plot.plot_widget.grab()
    box = item.getViewBox()
    assert left.labelText == "energy (nats)" and left.label.boundingRect().width() < box.height()
    names = [text.sceneBoundingRect() for text in stage_names(plot)]
    at = np.array([0, 20, 30])
    highest = [
        box.mapViewToScene(QPointF(x, y)).y() for x, y in zip(at, plot._curves.places(at), strict=True)
    ]
    assert len(names) == 2 and max(name.center().y() for name in names) < min(highest)


def test_the_names_are_above_the_plot_the_newest_ones_that_there_is_room_for(qtbot, plot, legend_of, history):
    runs = {number: history(40, top=10.0**number) for number in range(1, 8)}
    plot.set_state(LossState({1: runs[1]}, 1, {1: "LM"}))
    assert legend_of(plot) == []  # nothing to tell apart
    plot.set_state(LossState(runs, 7, dict.fromkeys(runs, "LM")))
    plot.set_all(True)
    names = [f"{number} LM" for number in reversed(runs)]
    for width in (250, 640):
        plot.resize(width, plot.height())
        qtbot.wait(20)
        count = len(legend_of(plot))
        assert legend_of(plot) == names[:count]
        assert 1 <= count < 7 if width == 250 else count == 7
        assert len({color for _name, color in plot._seen_names()}) > 4
        assert plot._names.sizeHint().width() <= width
        assert plot._names.geometry().bottom() < plot.plot_widget.geometry().top()
    plot.set_state(LossState(runs, 7, {**dict.fromkeys(runs, "LM"), 7: "isometry 0.5, " * 12}))
    assert len(legend_of(plot)) == 1 and legend_of(plot)[0].endswith("…")
    assert plot._names.sizeHint().width() <= plot.width()


def test_a_logarithmic_axis_has_about_ten_round_numbers_where_there_are_some():
    assert log_ticks(-1.2, 1.1) == [
        (pytest.approx(math.log10(value)), format_number(value)) for value in (0.1, 0.2, 0.5, 1, 2, 5, 10)
    ]
    assert [name for _place, name in log_ticks(-4, 2)] == ["1e-4", "0.001", "0.01", "0.1", "1", "10", "100"]
    for left, right in ((-1e3, 1e3), (400.0, 500.0), (-1e300, 1e300)):
        assert all(abs(place) <= 301 for place, _name in log_ticks(left, right))


def test_residuals_of_admm_are_drawn_on_request(qtbot, show, plot, item, near, history):
    plain, made = history(50), History()
    made.extend([HistoryEntry(0, 0.0, 1.0, ADMM, math.inf, math.inf)])
    made.extend(HistoryEntry(k, 0.1 * k, 1.0, ADMM, 10.0**-k, 10.0 ** -(k / 2)) for k in range(1, 9))
    made.extend([HistoryEntry(9, 1.0, 1.0, REFINE)])
    assert np.isnan(made.log_residuals[:, [0, 9]]).all()
    np.testing.assert_allclose(made.log_residuals[:, 1:9], [-np.arange(1.0, 9), -np.arange(1.0, 9) / 2])
    show(plot.header)
    button, box = plot.header.residuals, item.getViewBox()
    plot.set_state(LossState({1: plain, 2: made}, 2))
    assert button.isVisibleTo(plot.header) and box.viewRange()[1][0] > -1
    button.click()
    qtbot.wait(30)
    assert near(plot.plot_widget.grab().toImage(), DARK.residual, tolerance=60).sum() > 50
    plot.set_all(True)
    assert box.viewRange()[1][0] < -8
    plot.set_state(LossState({1: plain, 2: made}, 1))  # the run in front has none
    assert not button.isVisibleTo(plot.header) and box.viewRange()[1][0] > -8


def test_what_a_history_gains_is_drawn_once_and_leaves_the_other_curves_alone(
    plot, item, monkeypatch, history
):
    made = history(200)
    plot.set_state(LossState({1: made, 2: history(200)}, 1))
    given, set_data = [], pg.PlotDataItem.setData
    monkeypatch.setattr(
        pg.PlotDataItem,
        "setData",
        lambda drawn, *args, **named: (given.append(drawn), set_data(drawn, *args, **named)),
    )
    for k in range(3):
        made.extend([HistoryEntry(200 + k, 2.0 + k, 1e-5, REFINE)])
        plot.refresh()
    first, second = item.listDataItems()[-2:]
    assert [each for each in given if each in (first, second)] == [first] * 3


def test_the_curve_is_read_under_the_mouse_and_a_click_goes_to_the_iteration(qtbot, plot, item, history):
    made = history(101)
    made.tick(30, "rank 6 → 4", before=Settings())
    plot.set_state(LossState({1: made}, 1))
    view, box = plot.plot_widget, item.getViewBox()
    qtbot.wait(30)  # the axes have taken their room

    def at(record, away=0):
        where = box.mapViewToScene(QPointF(made.iterations[record], np.log10(made.values[record])))
        return view.mapFromScene(where) + QPoint(0, away)

    requests: list[object] = []
    plot.moment_requested.connect(requests.append)
    plot.change_chosen.connect(requests.append)

    moves = itertools.count()

    def reads(words, place):
        # Again and elsewhere: the plot takes no two moves within 10 ms, and Qt none that does not move.
        qtbot.mouseMove(view.viewport(), place + QPoint(0, next(moves) % 2))
        text = plot._reading._text
        return (text.toPlainText() if text.isVisible() else "") == words

    qtbot.waitUntil(lambda: reads("60: log10 loss −1.7853", at(60, -15)))  # log10 of 1/61
    assert plot.header.reading.full_text.startswith("60: log10 loss −1.7853 · refine")
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at(60, -15))
    assert requests == [60]
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at(100, -15))
    assert requests == [60, None]  # the newest
    qtbot.mouseMove(view.viewport(), at(30))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at(30))
    assert requests == [60, None, 0]  # the change was clicked, and nothing else
    assert plot._ticks.texts == ["rank 6 → 4"]
    qtbot.waitUntil(lambda: reads("", QPoint(2, 2)))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=at(60, -15))
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    QApplication.activePopupWidget().close()
    ask_for_menu(plot, plot.rect().center(), QContextMenuEvent.Reason.Keyboard)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    QApplication.activePopupWidget().close()


def test_the_range_follows_the_run_in_front_or_all_runs_until_the_mouse_zooms(plot, item, history):
    box = item.getViewBox()
    runs = {1: history(400, top=1e3), 2: history(50)}
    for current, (low, high) in ((1, (399, 430)), (2, (49, 55)), (1, (399, 430)), (2, (49, 55))):
        plot.set_state(LossState(runs, current))
        (left, right), (bottom, top) = box.viewRange()
        assert left < 0 and low <= right < high
        assert bottom < np.log10(runs[current].values.min()) and 0 < top < (4.5 if current == 1 else 1)
    assert len(item.listDataItems()) == 3  # both runs, and the ticks
    plot.set_all(True)
    (left, right), (bottom, top) = box.viewRange()
    assert left <= 0 and 399 <= right < 430
    assert bottom <= np.log10(runs[2].values.min()) and 3 <= top < 4.5
    runs[2].extend([HistoryEntry(50 + k, 1.0, 1e-9, REFINE) for k in range(500)])
    plot.refresh()
    (_left, right), (bottom, _top) = box.viewRange()
    assert right >= 549 and bottom <= -9  # it is followed
    plot.set_all(False)
    assert box.viewRange()[1][1] < 2
    box.setXRange(10, 20, padding=0)
    box.sigRangeChangedManually.emit([True, True])  # as after a drag
    runs[2].extend([HistoryEntry(550, 1.0, 0.001, REFINE)])
    plot.refresh()
    assert box.viewRange()[0] == [10, 20]
    assert plot.header.fit.isVisibleTo(plot.header)
    plot.set_state(LossState({1: history(20)}, 1))  # of another sequence
    assert 19 <= box.viewRange()[0][1] < 25


def test_the_names_of_phases_never_overlap_and_the_last_is_shown(qtbot, plot, item, stage_names):
    made = History()
    phases = [Phase(PhaseKind.ROTATIONS, k + 1, 14, "tracks", rank=1) for k in range(14) for _ in range(12)]
    phases += [Phase(PhaseKind.START, k, 3) for k, count in ((1, 3), (2, 40), (3, 40)) for _ in range(count)]
    phases += [REFINE] * 300
    made.extend(HistoryEntry(k, k, 1.0 / (1 + k), phase) for k, phase in enumerate(phases))
    plot.set_state(LossState({1: made}, 1))
    for width in (260, 640, 1500):
        plot.resize(width, 300)
        qtbot.wait(10)
        shown = stage_names(plot)
        boxes = [text.mapRectToScene(text.boundingRect()) for text in shown]
        places = sorted((box.left(), box.right()) for box in boxes)
        assert all(right <= left for (_, right), (left, _) in itertools.pairwise(places))
        assert places[-1][1] <= item.getViewBox().sceneBoundingRect().right() + 1
        assert len(plot._stages.lines.xvals) == 14 + 3 + 1
        words = {text.toPlainText() for text in shown}
        assert any(word.startswith("rota") for word in words) and "refine" in words
