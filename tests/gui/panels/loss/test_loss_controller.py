"""Going back to a change on the curve of the loss, and looking at a run as it was."""

from types import SimpleNamespace

import numpy as np
import pytest
from PyQt6.QtCore import QPointF

from core import Settings
from nrsfm_gui.model.names import sentence_name
from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.loss.loss_controller import NOT_KEPT, LossController
from nrsfm_gui.panels.loss.loss_plot import BEST

QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn", max_iterations=30)


@pytest.fixture
def parts(qtbot, session, control, display, plot, add_solved_run, known, statuses):
    """Return the parts with a run that is over."""
    controller = LossController(session, control, display, plot)
    add_solved_run(session, known.sequence, QUICK)
    display.refresh()

    def change(**changes):
        session.set_settings(session.settings.with_changes(**changes))

    def wait():
        qtbot.waitUntil(lambda: control.current is None and not control._threads)

    return SimpleNamespace(
        session=session, run_control=control, display=display, loss_plot=plot, loss_controller=controller,
        statuses=statuses, change=change, wait=wait,
    )  # fmt: skip


@pytest.mark.slow
def test_going_back_change_by_change_goes_through_all_of_them(parts):
    parts.change(rank=3)
    run = parts.session.shown
    parts.wait()
    parts.change(eta=0.3)
    parts.wait()
    parts.loss_controller.show_before_last_change()
    assert parts.session.shown is run and parts.session.settings == QUICK.with_changes(rank=3)
    assert parts.session.moment == run.history.ticks[1].first - 1
    parts.loss_controller.show_before_last_change()
    assert parts.session.shown is not run and parts.session.settings == QUICK
    parts.loss_controller.show_before_last_change()
    assert parts.statuses[-1] == "No parameter was changed before this iteration of the run"


def test_going_back_to_the_first_change_shows_the_run_before_it(qtbot, parts):
    run = parts.session.shown
    parts.change(eta=0.3)
    live = parts.session.shown
    parts.wait()
    count = len(live.history)
    parts.loss_controller.show_before_change(0)
    assert parts.session.shown is run and parts.session.settings == QUICK
    first, second = (sentence_name(each) for each in (run, live))
    assert parts.statuses[-1] == f"Run {first}, which run {second} went on from"
    qtbot.wait(50)
    assert parts.session.runs == [run, live] and len(live.history) == count
    parts.session.set_shown(live)
    parts.session.drop_run(run)
    parts.loss_controller.show_before_change(0)
    assert parts.statuses[-1] == f"Run 1, which run {second} went on from, is forgotten"


def test_the_kept_iterations_are_stepped_through(parts):
    kept, controller = parts.session.shown.snapshots.indices, parts.loss_controller
    for by, moment in ((-1, kept[-2]), (-100, 0), (1, kept[1]), (100, None)):
        controller.step_iteration(by)
        assert parts.session.moment == moment


def test_all_views_show_the_moment(qtbot, parts):
    run = parts.session.shown
    parts.loss_controller.show_record(0)
    qtbot.waitUntil(lambda: parts.display.drawn is run.snapshots.at(0)[1])
    qtbot.waitUntil(lambda: parts.display.errors.incumbent.value == run.snapshots.at(0)[1].best.loss)
    estimate = parts.display.scene.estimate
    parts.loss_controller.show_record(None)
    qtbot.waitUntil(lambda: parts.display.drawn is run.last)
    assert not np.allclose(parts.display.scene.estimate, estimate)


def test_the_cursor_is_dragged_through_the_iterations(qtbot, parts):
    run, plot = parts.session.shown, parts.loss_plot
    line = plot._cursor.line
    qtbot.waitUntil(lambda: line.value() == run.history.iterations[-1] > 0)
    line.moving = True  # as while the mouse holds it
    line.setPos(QPointF(float(run.history.iterations[0]) + 0.2, 0))
    line.sigDragged.emit(line)
    assert parts.session.moment == 0
    assert plot.header.reading.full_text == f"iteration 0 of {run.history.records[-1].iteration}"
    line.setPos(QPointF(1e6, 0))
    line.sigDragged.emit(line)
    assert parts.session.moment is None
    line.moving = False
    line.sigPositionChangeFinished.emit(line)
    assert line.value() == run.history.iterations[-1]
    assert plot.header.reading.full_text == "" and not plot.header.newest.isVisibleTo(plot.header)


def test_a_run_from_a_file_has_no_iterations_to_look_at_nor_changes_to_go_back_to(parts):
    run, controller = parts.session.shown, parts.loss_controller
    run.snapshots = type(run.snapshots)()
    run.history.tick(3, "eta 0.3 → 0.05", before=QUICK.with_changes(eta=0.3))
    for ask in (
        lambda: controller.show_before_change(0),
        lambda: controller.show_record(0),
        lambda: controller.step_iteration(-1),
    ):
        parts.session.notifier.show_status("")
        ask()
        assert parts.statuses[-1] == NOT_KEPT
        assert parts.session.moment is None and parts.session.settings == QUICK
    assert parts.session.seen is run.last


def test_showing_an_earlier_change_stops_an_active_run(qtbot, parts, make_stream):
    parts.display.shut_down()  # the points of the stream are not of the sequence
    parts.run_control._work = make_stream(pause=0.002)
    run = parts.run_control.start(warm=False)
    qtbot.waitUntil(lambda: len(run.history) > 20)
    parts.session.set_settings(QUICK.with_changes(eta=0.3))
    qtbot.waitUntil(lambda: bool(run.history.ticks) and len(run.history) > run.history.ticks[0].first + 5)
    parts.loss_controller.show_before_change(0)
    assert run.state is RunState.STOPPED
    assert parts.session.settings == QUICK
    assert parts.session.moment == run.snapshots.at(run.history.ticks[0].first - 1)[0]


def test_the_line_and_the_error_end_where_the_published_numbers_are(qtbot, parts):
    run, plot = parts.session.shown, parts.loss_plot
    plot.header.mode.setCurrentText(BEST)
    incumbent = parts.display.errors.incumbent
    x, y = plot._curves._curves[run.number].item.getOriginalDataset()
    assert (x[-1], y[-1]) == (incumbent.seconds, pytest.approx(np.log10(incumbent.value)))
    qtbot.waitUntil(lambda: plot._right_values() is not None and len(plot._right_values().y) > 3)
    assert plot._right_values().y[-1] == pytest.approx(incumbent.errors.error, rel=1e-12)
    run.state = RunState.RUNNING
    parts.session.report_run(run)
    parts.loss_controller.updater.flush()
    assert plot._state.until == incumbent.record and plot._state.trying
    run.state = RunState.FINISHED


def test_a_run_has_no_line_before_its_numbers_are_published(parts):
    session, plot, before = parts.session, parts.loss_plot, parts.session.shown
    run = session.add_run(before.settings)
    run.history.extend(before.history.records)
    run.last = before.last
    parts.loss_controller.updater.flush()
    assert plot._curves.front is run.history
    assert plot._curves._curves[run.number].item.getOriginalDataset() == (None, None)
    run.state = RunState.FINISHED
    parts.display.refresh()
    assert plot._state.until == parts.display.errors.incumbent.record
    assert len(plot._curves._curves[run.number].item.getOriginalDataset()[1])


def test_observations_are_held_out_reproducibly_and_undone(parts, known):
    session, settings = parts.session, parts.session.settings
    assert not parts.loss_plot._hold_out.isVisible()  # there is a truth
    parts.loss_plot._hold_out.linkActivated.emit("hold out")
    assert len(session.runs) == 2 and session.shown.warm_from is None  # which has not seen them
    held = session.excluded
    count = int(known.sequence.visible.sum())
    assert held.sum() == round(0.05 * count) and known.sequence.visible[held].all()
    assert f"{held.sum()} of {count} observations are held out" in parts.statuses[-1]
    parts.wait()
    session.undo()
    assert session.settings == settings
    parts.loss_controller.hold_out()
    assert np.array_equal(session.excluded, held)
    parts.wait()
    session.set_settings(settings.with_changes(rank=20))
    parts.loss_controller.hold_out()
    assert "no observation can be hidden at rank 20" in parts.statuses[-1] and session.settings.hide is None
    parts.wait()
