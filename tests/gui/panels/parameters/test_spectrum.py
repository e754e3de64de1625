"""The weights panel: handles that are dragged, bars that are clicked, and what they say."""

from dataclasses import replace

import numpy as np
import pytest
from hands import LEFT, NO_KEY, send_mouse
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtWidgets import QApplication

from core import Settings
from core.foundation import DEPTHS, WNN
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.parameters.spectrum_plot import ALONG, KEYS_HINT, SpectrumPlot
from nrsfm_gui.panels.parameters.spectrum_state import WORDS, LogScale, SpectrumState, decades_of, modes_state
from nrsfm_gui.panels.parameters.weights_list import SUPPRESSED, enforce_order, limit_weight, suppress_behind
from nrsfm_gui.widgets.style import palette

SIGMA = np.array([30.0, 9.0, 4.0, 1.0])
WEIGHTS = (0.01, 0.05, 0.1, 0.5)
SHOWN = SpectrumState(WEIGHTS, tuple(SIGMA.tolist()), explicit=True)
HINT = WORDS[WNN].hint
MODES = SpectrumState((1.0,) * 4, (20.0, 6.0, 1.0, 0.3), objective=DEPTHS, smallest=0.25)
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def bare(show):
    """A panel that was told nothing yet, not even a theme."""
    return show(SpectrumPlot(), 420, 300)


@pytest.fixture
def plot(bare):
    bare.setPalette(palette(DARK))
    bare.set_state(SHOWN)
    QApplication.processEvents()
    return bare


def at(plot, handle):
    return plot.canvas.pixel(handle + 1, float(plot.canvas.shares[handle]))


def move(plot, position, keys=NO_KEY, *, pressed=True):
    held = LEFT if pressed else Qt.MouseButton.NoButton
    send_mouse(plot.canvas.viewport(), QEvent.Type.MouseMove, position, keys=keys, held=held)


def press(qtbot, plot, position):
    move(plot, position, pressed=False)
    qtbot.mousePress(plot.canvas.viewport(), LEFT, pos=position.toPoint())


def release(qtbot, plot, position):
    qtbot.mouseRelease(plot.canvas.viewport(), LEFT, pos=position.toPoint())


def click(qtbot, plot, position):
    press(qtbot, plot, position)
    release(qtbot, plot, position)


@pytest.fixture
def edits(plot):
    """Return the weights that were emitted."""
    received = []
    plot.canvas.weights_edited.connect(received.append)
    return received


def pixels_per_decade(plot):
    one, two = (float(plot.canvas._right.shares(np.array([value]))[0]) for value in (0.1, 1.0))
    return plot.canvas.pixel(1, one).y() - plot.canvas.pixel(1, two).y()


def test_a_handle_follows_the_mouse_and_shows_its_number(qtbot, plot, edits):
    start = at(plot, 2)
    press(qtbot, plot, start)
    assert edits == []  # a click alone changes nothing
    decade = pixels_per_decade(plot)
    up = round(0.5 * decade)
    move(plot, start - QPointF(0, up))
    assert edits[-1][2] == pytest.approx(0.1 * 10 ** (up / decade), rel=5e-3)
    assert edits[-1][:2] + edits[-1][3:] == (0.01, 0.05, 0.5)
    assert plot.canvas._number.toPlainText() == f"a3 = {edits[-1][2]:.3g}"
    assert at(plot, 2).y() == pytest.approx(start.y() - up, abs=0.6)  # the handle is under the mouse
    release(qtbot, plot, start - QPointF(0, up))
    assert plot.canvas.weights == edits[-1]


def test_no_edge_cuts_the_number_of_the_first_or_the_last_weight(qtbot, modes):
    box = modes.canvas.getPlotItem().getViewBox()
    for handle in range(len(modes.canvas.weights)):
        click(qtbot, modes, at(modes, handle))
        number = modes.canvas._number.mapRectToScene(modes.canvas._number.boundingRect())
        edges = box.sceneBoundingRect()
        assert edges.left() - 1 <= number.left() and number.right() <= edges.right() + 1


def test_an_empty_panel_has_no_handles(qtbot, bare):
    assert bare.canvas.target_at(QPointF(200, 150)) is None
    qtbot.mouseClick(bare.canvas.viewport(), LEFT, pos=QPoint(200, 150))
    qtbot.keyClick(bare.canvas, Qt.Key.Key_Right)
    qtbot.keyClick(bare.canvas, Qt.Key.Key_Up)
    assert bare.canvas.weights == ()


@pytest.mark.parametrize(("handle", "pixels", "end", "barrier"), [(2, -90, 0.5, 3), (2, 90, 0.05, 1)])
def test_a_handle_stops_at_its_neighbor_which_flashes_and_shows_why(
    qtbot, plot, edits, handle, pixels, end, barrier
):
    start = at(plot, handle)
    press(qtbot, plot, start)
    for share in (0.3, 0.6, 1.0):
        move(plot, start + QPointF(0, share * pixels))
    assert edits[-1][handle] == end
    assert all(np.all(np.diff(weights) >= 0) for weights in edits)
    assert plot.canvas.barrier == barrier
    sign = "≤" if pixels < 0 else "≥"
    assert plot.canvas.hint.full_text.startswith(
        f"a{handle + 1} {sign} a{barrier + 1} = {end:g}. Shift moves both"
    )
    assert plot.canvas.hint.property("role") == "warning"
    # As far as the hand went beyond, it has to come back before the weight moves again.
    move(plot, start + QPointF(0, 0.9 * pixels))
    assert edits[-1][handle] == end
    move(plot, start)
    assert edits[-1] == pytest.approx(WEIGHTS, rel=1e-3)
    assert plot.canvas.barrier is None
    move(plot, start + QPointF(0, pixels))
    reason = plot.canvas.hint.full_text
    release(qtbot, plot, start + QPointF(0, pixels))
    assert plot.canvas.hint.full_text == reason and "Shift moves both" in reason  # for a while


@pytest.mark.parametrize("by_change", [True, False])
def test_the_reason_for_a_stop_goes_with_the_next_change_or_after_a_while(qtbot, plot, by_change):
    plot.canvas._limit.setInterval(50 if not by_change else 60_000)
    plot.canvas.setFocus()
    plot.canvas.mark(2)
    plot.canvas.step_weight(-900.0)
    plot.set_state(replace(SHOWN, weights=plot.canvas.weights))  # what the parameters answer
    assert plot.canvas.hint.property("role") == "warning"
    if by_change:
        plot.set_state(SHOWN)
    qtbot.waitUntil(lambda: plot.canvas.hint.property("role") == "muted")
    assert plot.canvas.hint.full_text in (HINT, KEYS_HINT)
    assert plot.canvas.barrier is None


def test_the_numbers_of_many_columns_do_not_touch(plot):
    many = tuple(np.geomspace(0.01, 0.5, 13).tolist())
    for width in (200, 420, 900):
        plot.resize(width, 200)
        plot.set_state(SpectrumState(many, many[::-1]))
        QApplication.processEvents()
        ticks = plot.canvas.getPlotItem().getAxis("bottom")._tickLevels[0]
        places = [plot.canvas.pixel(k, 0.0).x() for k, _text in ticks]
        assert np.diff(places).min() > plot.fontMetrics().horizontalAdvance("13") + 2
        assert len(ticks) == 13 or width < 900


def test_with_shift_the_others_move_with_the_handle_and_back(qtbot, plot, edits):
    start = at(plot, 1)
    press(qtbot, plot, start)
    decade = pixels_per_decade(plot)
    move(plot, start - QPointF(0, 1.5 * decade), SHIFT)
    pivot = edits[-1][1]
    assert pivot == pytest.approx(0.05 * 10**1.5, rel=0.03)
    assert edits[-1] == (0.01, pivot, pivot, pivot)
    move(plot, start, SHIFT)
    assert edits[-1] == pytest.approx(WEIGHTS, rel=1e-3)
    # What came along before Shift was let go of stays.
    move(plot, start - QPointF(0, 1.5 * decade), SHIFT)
    move(plot, start - QPointF(0, 1.4 * decade))
    assert edits[-1][1] < edits[-1][2] == edits[-1][3] == pytest.approx(pivot, rel=1e-3)
    move(plot, start - QPointF(0, 400), SHIFT)
    assert plot.canvas.hint.full_text == ALONG
    release(qtbot, plot, start - QPointF(0, 400))
    assert plot.canvas.hint.full_text in (HINT, KEYS_HINT)


def test_control_is_fine_and_the_bottom_is_zero(qtbot, plot):
    start = at(plot, 0)
    press(qtbot, plot, start)
    move(plot, start + QPointF(0, 20), CONTROL)
    assert plot.canvas.weights[0] == pytest.approx(0.01 * 10 ** (-2 / pixels_per_decade(plot)), rel=5e-3)
    move(plot, start + QPointF(0, 400))
    assert plot.canvas.weights[0] == 0.0
    release(qtbot, plot, start + QPointF(0, 400))
    assert at(plot, 0).y() < plot.canvas.height()


def test_the_place_for_one_more_can_be_pressed_at_every_rank(plot):
    for rank in (2, 24):
        values = tuple(np.linspace(1.0, 0.1, rank))
        plot.set_state(replace(SHOWN, singular_values=values, weights=values[::-1]))
        QApplication.processEvents()
        middle = plot.canvas.pixel(rank + 1, 0.1)
        found = [plot.canvas.target_at(QPointF(x, middle.y())) for x in range(plot.canvas.width())]
        more = [target.index for target in found if target is not None and target.kind == "more"]
        assert len(more) >= 24 and set(more) == {rank}


def test_a_click_low_in_a_bar_keeps_so_many_and_the_ghost_adds_one(qtbot, plot):
    wanted = []
    plot.canvas.rank_requested.connect(wanted.append)
    for column, words in ((2, "keep these 2: rank 2"), (5, "add one: rank 5")):
        place = plot.canvas.pixel(column, 0.1)
        move(plot, place, pressed=False)
        assert words in plot.canvas.hint.full_text
        assert plot.canvas.viewport().cursor().shape() is Qt.CursorShape.PointingHandCursor
        click(qtbot, plot, place)
    assert wanted == [2, 5]
    click(qtbot, plot, plot.canvas.pixel(2, 0.95))
    assert wanted == [2, 5]
    assert plot.canvas.hint.full_text == HINT or "choose a weight" in plot.canvas.hint.full_text


def test_keys_choose_a_handle_and_move_it(qtbot, plot):
    qtbot.activate(plot)
    canvas = plot.canvas
    canvas.setFocus()
    assert canvas._number.toPlainText() == "a1 = 0.01"
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas._number.toPlainText() == "a2 = 0.05"
    qtbot.keyClick(canvas, Qt.Key.Key_Up)
    assert plot.canvas.weights[1] == pytest.approx(0.0505)
    qtbot.keyClick(canvas, Qt.Key.Key_Down, SHIFT)
    assert plot.canvas.weights[1] == pytest.approx(0.0505 / 1.1, rel=1e-3)
    for _ in range(9):
        qtbot.keyClick(canvas, Qt.Key.Key_Up, SHIFT)
    assert plot.canvas.weights == (0.01, 0.1, 0.1, 0.5)
    assert plot.canvas.hint.full_text == "a2 ≤ a3 = 0.1. Ctrl moves both."
    qtbot.keyClick(canvas, Qt.Key.Key_Up, SHIFT | CONTROL)
    assert plot.canvas.weights == pytest.approx((0.01, 0.11, 0.11, 0.5))
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert not canvas.hasFocus() and not canvas._number.isVisible()


def test_scales_stay_while_values_move_and_follow_when_they_leave():
    scale = decades_of(np.array([0.01, 1.0]), zero=True, margin=1.0, least=4.0)
    assert scale.low <= -3 and scale.high >= 1
    near = decades_of(np.array([0.02, 2.0]), zero=True, margin=0.0, least=0.0)
    assert scale.holds(near)
    assert not scale.holds(decades_of(np.array([1e-5, 1.0]), zero=True, margin=0.0, least=0.0))
    assert not LogScale(-9, 9).holds(LogScale(-1, 1))
    for value in (0.0, 0.003, 0.7, 8.0):
        share = float(scale.shares(np.array([value]))[0])
        assert scale.value(share) == pytest.approx(value, rel=1e-3)
    places = [place for place, _ in scale.ticks()]
    assert places == sorted(places)


def test_a_weight_is_held_by_its_neighbors_or_brings_them_along():
    random = np.random.default_rng(0)
    for _ in range(200):
        weights = tuple(np.sort(random.random(5)))
        k, wanted = int(random.integers(5)), float(random.random())
        value, barrier = limit_weight(weights, k, wanted)
        moved = (*weights[:k], value, *weights[k + 1 :])
        assert np.all(np.diff(moved) >= 0)
        assert (barrier is None) == (value == wanted)
        assert barrier is None or value == weights[barrier]
        along = enforce_order((*weights[:k], wanted, *weights[k + 1 :]), k)
        assert along[k] == wanted and np.all(np.diff(along) >= 0)


def test_whatever_a_run_comes_to_is_drawn(plot):
    for sigma, weights in (
        ((np.nan,) * 3, (np.nan,) * 3),
        ((np.inf, 1.0, 0.0), (0.0, 1.0, np.inf)),
        ((0.0,) * 3, (0.0,) * 3),
        ((1e300, 1.0, 1e-300), (1e-300, 1.0, 1e300)),
        ((5.0,), (1e-3,)),
    ):
        plot.set_state(SpectrumState(weights, sigma))
        QApplication.processEvents()
        for handle in range(len(weights)):
            move(plot, at(plot, handle), pressed=False)
        plot.grab()
        for shares in (plot.canvas.shares, plot.canvas.heights):
            assert np.isfinite(shares).all() and (shares >= 0).all() and (shares <= 1).all()


def test_bars_are_as_high_as_the_logarithms(plot):
    plot.set_state(SpectrumState((0.0, 0.1, 1.0, 1.0), (100.0, 10.0, 1.0, 0.0)))
    QApplication.processEvents()
    heights = plot.canvas.heights
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2]) != pytest.approx(0.0)
    assert heights[3] == 0
    plot.set_state(replace(SHOWN, weights=WEIGHTS[:2]))
    assert len(plot.canvas.shares) == 2
    alphas = [brush.color().alpha() for brush in plot.canvas._bars.opts["brushes"]]
    assert alphas[0] == alphas[1] > alphas[2] == alphas[3]  # those that are to go are faint
    plot.setPalette(palette(LIGHT))
    assert plot.canvas._line.opts["pen"].color().name() == LIGHT.residual


@pytest.fixture
def modes(plot):
    """Return the plot with the modes of a refined shape."""
    plot.set_state(MODES)
    QApplication.processEvents()
    return plot


def test_the_modes_have_their_own_axes_and_the_line_of_the_smallest_movement(modes):
    axes = modes.canvas.getPlotItem()
    assert "deviation (%" in axes.getAxis("left").labelText
    assert axes.getAxis("right").labelText == "weight w"
    assert [text for _k, text in axes.getAxis("bottom")._tickLevels[0]][-1] == "4…"
    level = modes.canvas._level
    assert level.isVisible()
    heights = modes.canvas.heights
    assert heights[3] > level.value() > 0 and heights[0] > heights[1] > heights[2]
    place = at(modes, 1).y()
    modes.set_state(replace(MODES, weights=(0.2, 1.0, 50.0, 100.0)))
    assert at(modes, 1).y() == pytest.approx(place)  # the scale of the weights stays
    assert "object's size" in modes.canvas.toolTip() and "object's size" in modes.canvas.whatsThis()
    modes.set_state(SHOWN)
    assert not level.isVisible() and modes.canvas.getPlotItem().getAxis("right").labelText == "weight a"


@pytest.mark.parametrize("values", [MODES.singular_values, (20.0, 18.0, 16.0, 14.0)])
def test_the_name_of_the_line_covers_no_bar(modes, values):
    modes.set_state(replace(MODES, singular_values=values))
    canvas = modes.canvas
    (name,) = (
        item for item in canvas.getPlotItem().items if "smallest" in getattr(item, "toPlainText", str)()
    )
    edges = name.mapRectToScene(name.boundingRect())
    tops = [
        canvas.mapToScene(canvas.pixel(k + 1.28, share).toPoint()) for k, share in enumerate(canvas.heights)
    ]
    covered = any(top.x() > edges.left() and top.y() < edges.bottom() for top in tops)
    assert name.isVisible() == (values is MODES.singular_values) == (not covered)
    modes.set_state(SHOWN)
    assert not name.isVisible()


def test_modes_that_are_not_known_yet_are_announced_unless_their_weights_are_asked_for(modes):
    for settings, known in ((Settings(), False), (Settings(mode_weights=(1.0, 2.0)), True)):
        modes.set_state(modes_state(None, settings, 3))
        assert modes.canvas._empty.isVisibleTo(modes) is not known
        assert "when its depths are refined" in modes.canvas._empty.text()
        assert len(modes.canvas.weights) == (3 if known else 0)


def test_a_weight_of_a_mode_follows_the_mouse_and_the_last_one_is_of_all_smaller(qtbot, modes, edits):
    start, decade = at(modes, 3), pixels_per_decade(modes)
    press(qtbot, modes, start)
    move(modes, start - QPointF(0, round(decade)))
    assert edits[-1][:3] == (1.0,) * 3 and edits[-1][3] == pytest.approx(10.0, rel=0.1)
    assert modes.canvas._number.toPlainText().startswith("w4… = ")
    move(modes, start + QPointF(0, 400), SHIFT)
    assert edits[-1][3] == 0.1  # all smaller modes cost something
    release(qtbot, modes, start)
    second = at(modes, 1)
    press(qtbot, modes, second)
    move(modes, second - QPointF(0, 30))  # of equal weights those behind come along, without a key
    release(qtbot, modes, second - QPointF(0, 30))
    assert 0.1 < edits[-1][1] == edits[-1][3] and modes.canvas.barrier is None
    move(modes, at(modes, 3), pressed=False)
    assert modes.canvas.hint.full_text == "Of mode 4 and all smaller ones."


def test_a_click_low_in_the_bar_of_a_mode_is_emitted_and_there_is_no_place_for_one_more(qtbot, modes):
    wanted = []
    modes.canvas.rank_requested.connect(wanted.append)
    suppressed = replace(MODES, weights=(1.0, 1.0, SUPPRESSED, SUPPRESSED))
    for state, column, words in (
        (MODES, 2, "Click to suppress the modes behind 2."),
        (suppressed, 2, "Click to give the others back."),
        (MODES, 4, "None is suppressed."),
    ):
        modes.set_state(state)
        place = modes.canvas.pixel(column, 0.05)
        move(modes, modes.canvas.pixel(column, 0.95), pressed=False)
        move(modes, place, pressed=False)
        assert modes.canvas.hint.full_text == words
        click(qtbot, modes, place)
    assert wanted == [2, 2, 4]
    right = [modes.canvas.target_at(QPointF(x, place.y())) for x in range(modes.canvas.width())]
    assert {target.kind for target in right if target is not None} <= {"bar", "handle"}


def test_modes_behind_a_bar_are_suppressed_and_given_back():
    for weights, kept, then in (
        ((1.0, 1.0, 1.0), 1, (1.0, 20.0, 20.0)),
        ((1.0, 20.0, 20.0), 3, (1.0, 1.0, 1.0)),
        ((1.0, 20.0, 20.0), 2, (1.0, 1.0, 20.0)),
        ((0.0, 2.0, 3.0), 1, (0.0, 20.0, 20.0)),
        ((0.0, 2.0, 20.0), 2, (0.0, 2.0, 2.0)),
        ((1.0, 2.0, 50.0), 1, (1.0, 20.0, 50.0)),
    ):
        assert suppress_behind(weights, kept) == then


def test_what_a_drag_has_moved_is_said_until_something_is_pointed_at(modes):
    modes.canvas.set_note("Moved 0.3 mm by this change.")
    assert modes.canvas.hint.full_text == "Moved 0.3 mm by this change."
    move(modes, modes.canvas.pixel(1, 0.05), pressed=False)
    assert "Click" in modes.canvas.hint.full_text
    move(modes, modes.canvas.pixel(1, 0.99), pressed=False)
    move(modes, QPointF(1, 1), pressed=False)
    assert modes.canvas.hint.full_text == "Moved 0.3 mm by this change."
    modes.canvas.set_note("")
    assert modes.canvas.hint.full_text == WORDS[DEPTHS].hint
