"""The line of the lowest loss so far, the error beside it, and the table of what a run tried."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from core import HistoryEntry, Settings
from core.foundation import Phase, PhaseKind
from core.reconstruction import StartReport
from nrsfm_gui.model.history import History
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.loss.attempts import LOSS, Attempt, AttemptsTable, attempts_of
from nrsfm_gui.panels.loss.best_line import MOST_VERTICES, best_line, best_range, line_starts
from nrsfm_gui.panels.loss.loss_curves import LossState
from nrsfm_gui.panels.loss.loss_plot import BEST, LEAST_PLOT, NARROW
from nrsfm_gui.scene.run_errors import ErrorTrace

REFINE = Phase(PhaseKind.REFINE)


def records(losses, bests, phase, *, first=0, energy=None):
    """Return records a tenth of a second apart; a best loss of None is of no final objective."""
    return [
        HistoryEntry(first + k, 0.1 * (first + k), loss, phase, energy=energy, best=best)
        for k, (loss, best) in enumerate(zip(losses, bests, strict=True))
    ]


@pytest.fixture
def searched():
    """Return a run that compares two rotations, follows two starts and refines depths."""
    made = History()
    for index, name in enumerate(("tracks", "companion, rank 2")):
        for rank in (1, 2):
            phase = Phase(PhaseKind.ROTATIONS, index + 1, 2, name, rank)
            made.extend(records([50.0, 20.0], [None] * 2, phase, first=len(made)))
    grown = Phase(PhaseKind.START, 1, 3, "rigid, grown", 2)
    made.extend(records([1.0, 0.1], [1.0, 0.1], grown, first=8))
    cut = Phase(PhaseKind.START, 2, 3, "closed form, cut")
    made.extend(records([9.0, 0.5, 0.05], [0.1, 0.1, 0.05], cut, first=10))
    made.extend(records([0.02, 0.01], [0.02, 0.01], REFINE, first=13))
    made.extend(records([0.01] * 20, [0.01] * 20, Phase(PhaseKind.FINE), first=15, energy=-3.0))
    return made


@pytest.fixture
def last():
    """Return what the table needs of the newest iterate of that run."""
    starts = (
        StartReport("rigid, grown", 0.1, agrees=False),
        StartReport("closed form, cut", 0.05, agrees=True),
        StartReport("random 1", 0.7, agrees=False, note="given up"),
    )
    return SimpleNamespace(rotations="companion, rank 2", rotations_chosen=True, starts=starts)


@pytest.fixture
def best_plot(plot):
    plot.header.mode.setCurrentText(BEST)
    return plot


def lowest_of(history, stage=REFINE.stage):
    """Return the lowest values of a stage, and where lines begin."""
    values = np.where(history.in_stage(stage) & history.settled, history.lowest, np.nan)
    return values, line_starts(values)


def vertices_of(history, until=None):
    """Return the vertices of the lines of the WNN problem, under all parameters."""
    end = None if until is None else until + 1
    found = []
    for change in range(len(history.ticks) + 1):
        values, begins = lowest_of(history, replace(REFINE.stage, change=change))
        found.append(best_line(history.seconds[:end], values[:end], begins[:end]))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


def line_of(history, until=None):
    """Return the lines of the WNN problem, each as its corners."""
    x, y, joined = vertices_of(history, until)
    ends = np.flatnonzero(~joined) + 1
    points = list(zip(np.round(x, 6).tolist(), np.round(y, 6).tolist(), strict=True))
    parts = [points[a:b] for a, b in itertools.pairwise([0, *ends])]
    return [list(dict.fromkeys(part)) for part in parts]


def test_the_line_has_steps_begins_with_the_final_objective_and_never_rises(searched):
    (line,) = line_of(searched)
    falls = [(0.8, 1.0), (0.9, 1.0), (0.9, 0.1), (1.2, 0.1), (1.2, 0.05), (1.3, 0.05), (1.3, 0.02)]
    assert line == [*falls, (1.4, 0.02), (1.4, 0.01), (1.5, 0.01)]  # the refinement begins
    assert line_of(searched, until=11) == [[*falls[:3], (1.1, 0.1)]]
    assert line_of(searched, until=3) == []


def test_the_line_breaks_after_a_change_and_where_it_would_rise(history):
    made = history(10)
    made.tick(4, "eta 0.05 → 0.3", before=Settings())
    made.extend(records([0.3, 0.2], [0.3, 0.2], REFINE, first=10))
    lines = line_of(made)
    assert [(part[0][0], part[-1][0]) for part in lines] == [(0.0, 0.04), (0.04, 1.0), (1.0, 1.1)]
    assert all(np.diff([y for _x, y in part]).max() <= 0 for part in lines)


def test_a_line_of_many_records_has_few_vertices_and_both_ends(history):
    made = history(5_000)
    x, y, joined = vertices_of(made)
    assert len(x) <= 2 * MOST_VERTICES + 4 and joined.sum() == len(x) - 1
    assert (x[0], x[-1]) == (0.0, made.seconds[-1])
    assert (y[0], y[-1]) == (made.values[0], made.values[-1]) and (np.diff(y) <= 0).all()


def test_the_default_shows_the_line_of_the_final_objective_over_seconds(
    qtbot, best_plot, item, searched, near, stage_names
):
    best_plot.set_state(LossState({1: searched}, 1))
    best_plot.set_moment(14)
    box = item.getViewBox()
    (left, right), (bottom, top) = box.viewRange()
    assert left <= 0 and 3.4 <= right < 3.7 and -2.3 < bottom < -2.0 and top < 1.0
    qtbot.wait(30)
    blue = near(best_plot.plot_widget.grab().toImage(), DARK.accent)
    assert np.ptp(np.flatnonzero(blue.any(axis=1))) > 0.4 * box.height()
    assert [name.toPlainText() for name in stage_names(best_plot)] == ["fine levels", "rotations"]
    assert best_plot._stages.ticks.xvals == pytest.approx([0.3, 0.7, 0.9, 1.2])
    assert best_plot._stages.shade.opts["x0"] == pytest.approx([1.5, 0.0])  # what is not on the axis
    assert not best_plot._stages.lines.isVisible()


def test_what_is_tried_now_is_a_thin_curve_while_the_run_goes_on(best_plot, searched):
    ghost = best_plot._curves._ghost
    part = searched.until(12)
    best_plot.set_state(LossState({1: part}, 1, trying=True, until=11))
    assert ghost.isVisible() and ghost.getOriginalDataset()[0].tolist() == pytest.approx([1.0, 1.1])
    best_plot.set_state(LossState({1: searched.until(6)}, 1))  # nothing is of the final objective
    assert len(ghost.getOriginalDataset()[0]) == 6
    best_plot.set_state(LossState({1: searched}, 1, trying=False))
    assert not ghost.isVisible()


def trace(at, errors, name="3-D error", unit="mm"):
    return ErrorTrace(name, unit, np.array(at), np.array(errors))


def test_the_error_has_an_axis_of_its_own_and_breaks_where_the_parameters_change(best_plot, item, searched):
    searched.tick(16, "eta 0.05 → 0.3", before=Settings())
    axis = item.getAxis("right")
    best_plot.set_state(
        LossState({1: searched}, 1, trace=trace([2, 9, 14, 18, 30], [40.0, 8.0, 7.0, 3.0, 2.0]))
    )
    assert axis.isVisible() and axis.labelText == "3-D error (mm)"
    values = best_plot._right_values()
    assert values.y[::2].tolist() == [8.0, 7.0, 3.0, 2.0]  # without that of a candidate for the rotations
    assert values.x[1::2] == pytest.approx([1.4, 1.6, 3.0, 3.4])  # until the next one, or the change
    assert values.joined.tolist() == [True, True, True, False, True, True, True, False]
    assert axis.range[0] < 2.0 and 8.0 < axis.range[1] < 12.0
    best_plot.set_state(LossState({1: searched}, 1, trace=trace([9, 18], [0.4, 0.3], "held-out error", "px")))
    assert axis.labelText == "held-out error (px)"
    best_plot.set_state(LossState({1: searched}, 1))
    assert not axis.isVisible()


def test_loss_and_error_are_read_under_the_mouse_and_a_click_goes_to_the_moment(
    qtbot, best_plot, item, searched
):
    best_plot.set_state(LossState({1: searched}, 1, trace=trace([9, 18], [8.0, 3.0])))
    qtbot.wait(30)
    box, reading = item.getViewBox(), best_plot.header.reading
    for x, text, more in (
        (2.0, "2.00 s: energy −3.0000 · 3.00 mm", " · depth, fine"),
        (1.3, "1.30 s: log10 loss −1.6990 · 8.00 mm", ""),
        (0.3, "0.30 s: not of the final objective", ""),
    ):
        best_plot._on_mouse_moved(box.mapViewToScene(QPointF(x, -3.0)))
        assert best_plot._reading._text.toPlainText() == text and reading.full_text.startswith(text + more)
    requests: list[object] = []
    best_plot.moment_requested.connect(requests.append)
    place = best_plot.plot_widget.mapFromScene(box.mapViewToScene(QPointF(1.1, -3.0)))
    qtbot.mouseClick(best_plot.plot_widget.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert requests == [11]
    best_plot._clear_reading()
    best_plot.set_moment(11)
    assert reading.full_text == "1.10 s of 3.40 s"


def test_starts_and_candidates_are_listed_with_how_they_ended(searched, last):
    *starts, first, second = attempts_of(searched, last)
    assert starts == [
        Attempt("rigid, grown", pytest.approx(-1.0), "no", records=(8, 9)),
        Attempt("closed form, cut", pytest.approx(np.log10(0.05)), "yes", best=True, records=(10, 12)),
        Attempt("random 1", pytest.approx(np.log10(0.7)), "given up"),
    ]
    assert (first.name, first.agrees, first.records) == ("tracks", "", (0, 3))
    assert (second.name, second.agrees, second.records) == ("companion, rank 2", "chosen", (4, 7))
    assert first.candidate and second.log_loss == pytest.approx(np.log10(20.0))
    assert attempts_of(History(), None) == ()


def test_the_table_sorts_and_a_row_under_the_mouse_highlights_its_curve(best_plot, searched, last):
    attempts = Attempt("lost", None, "no"), *attempts_of(searched, last)
    best_plot.set_state(LossState({1: searched}, 1, attempts=attempts))
    table = best_plot.findChild(AttemptsTable)
    model = table.model()
    names = lambda: [model.index(row, 0).data() for row in range(model.rowCount())]  # noqa: E731
    assert table.isVisible() and names()[:3] == ["lost", "rigid, grown", "closed form, cut"]
    table.sortByColumn(LOSS, Qt.SortOrder.DescendingOrder)
    assert names()[0] == "tracks" and names()[-1] == "lost"
    table.sortByColumn(LOSS, Qt.SortOrder.AscendingOrder)
    assert names()[-1] == "lost"  # in both orders
    assert names()[0] == "closed form, cut" and model.index(0, LOSS).data() == "−1.3010"
    losses = [float(model.index(row, LOSS).data().replace("−", "-")) for row in range(model.rowCount() - 1)]
    assert losses == sorted(losses)
    assert model.index(0, 0).data(Qt.ItemDataRole.FontRole).bold()
    table.entered.emit(model.index(0, 0))
    shown = best_plot._curves._highlight
    assert shown.isVisible() and shown.getOriginalDataset()[0].tolist() == pytest.approx([1.0, 1.1, 1.2])
    table.hovered.emit(None)
    assert not shown.isVisible()


def test_the_table_folds_where_it_is_narrow_until_it_is_asked_for(best_plot, searched, last):
    best_plot.set_state(LossState({1: searched}, 1, attempts=attempts_of(searched, last)))
    table, button = best_plot.findChild(AttemptsTable), best_plot.header.attempts
    best_plot.resize(NARROW - 20, 200)
    assert not table.isVisible() and not button.isChecked() and button.isVisibleTo(best_plot.header)
    button.click()
    assert table.isVisible() and table.columnWidth(0) >= table.sizeHintForColumn(0)  # no text is cut
    assert best_plot.plot_widget.width() >= LEAST_PLOT
    best_plot.set_state(LossState())
    assert not table.isVisible() and not button.isVisibleTo(best_plot.header)


def test_the_range_of_several_lines_has_what_each_line_has_nine_tenths_of_its_time():
    rng = np.random.default_rng(1)
    lines = [np.sort(rng.random(count))[::-1] + 0.1 for count in (34, 1, 7, 1, 56)]
    together = np.concatenate(lines)
    begins = np.isin(np.arange(len(together)), np.cumsum([0, *map(len, lines)]))
    upper, first = [], 0
    for values in lines:
        last = first + len(values) == len(together)
        lasting = np.r_[np.full(len(values) - 1, 0.1), 0.0 if last else 0.1]
        shares = [lasting[values <= value].sum() / lasting.sum() for value in values]
        upper.append(min(value for value, share in zip(values, shares, strict=True) if share > 0.9 - 1e-9))
        first += len(values)
    low, high = best_range(0.1 * np.arange(len(together)), together, begins)
    assert low == pytest.approx(min(map(np.min, lines)), rel=1e-12)
    assert high == pytest.approx(max(upper), rel=1e-12)
