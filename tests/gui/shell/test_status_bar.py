"""The status bar: what the solver does, the point under the mouse, the sequence, the memory."""

from dataclasses import replace

import numpy as np
import psutil
import pytest
from PyQt6.QtCore import QEvent, QPoint
from PyQt6.QtGui import QHelpEvent
from PyQt6.QtWidgets import QApplication, QLabel, QProgressBar, QStatusBar, QToolTip

from core import Settings
from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.loss.loss_controller import LossController
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.shell.status_bar import GAP, MemoryLabel, StatusController, StatusLine

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


def test_the_memory_grows_by_what_is_taken_and_is_left_out_where_the_system_does_not_report_it(
    qtbot, monkeypatch
):
    label = qtbot.addWidget(MemoryLabel())

    def megabytes():
        label.refresh()
        return int(label.text().removesuffix(" MB"))

    before = megabytes()
    block = np.ones(16_000_000)  # 128 MB, written to
    assert 20 < before < 8000 and 0.9 * block.nbytes < 1e6 * (megabytes() - before) < 1.3 * block.nbytes

    def refuse(_process):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "memory_info", refuse)
    label.refresh()


@pytest.fixture
def bar(show):
    return show(QStatusBar(), 900, 30)


@pytest.fixture
def status(session, display, bar, show):
    status = StatusController(session, display, bar, session)
    show(status.progress, 220, 30)
    return status


def test_the_time_that_is_left_stands_beside_the_share_that_is_done(status):
    share, left = status.progress.findChild(QProgressBar), status.progress.findChild(QLabel)
    status.progress.set_progress((0.25, "2 min 10 s left"))
    assert (share.isVisible(), share.value(), left.text()) == (True, 250, "2 min 10 s left")
    assert left.sizeHint().width() <= left.width()
    status.progress.set_progress(None)
    assert (share.isVisible(), left.text()) == (False, "")


def test_the_bar_shows_solver_point_frame_and_sequence(
    qtbot, session, display, bar, status, known, make_iterate
):
    session.set_sequence(known.sequence)
    assert "12 frames" in status.line.facts
    run = session.add_run(QUICK)
    run.state, run.last = RunState.RUNNING, replace(make_iterate(known, noise=0.1), fraction=0.5)
    session.report_run(run)
    progress = status.progress.findChild(QProgressBar)
    qtbot.waitUntil(progress.isVisible)
    run.state = RunState.FINISHED
    run.history.extend([run.last.record])
    session.report_run(run)
    qtbot.waitUntil(lambda: not progress.isVisible())
    assert "converged" in status.line.full_text
    session.set_frame(4)
    display.refresh()
    status.show_hover(6)
    for part in ("frame 5", "point 7", "px", "mm"):
        assert part in status.line.hover
    session.set_frame(5)
    display.refresh()
    assert "point 7" in status.line.hover and "frame 6" in status.line.hover
    status.show_hover(-1)
    assert status.line.hover == ""


WORST = "Worst frame: 28, mean 3-D error 9.79 mm, 17 % of the object (median frame 2.47 mm); depth"
FACTS = "pickup flyby (perspective) · 100 frames · 41 points"


@pytest.fixture
def line(show):
    line = show(StatusLine(), 1500, 30)
    line.set_full_text(WORST)
    line.set_facts(FACTS, "/data/flyby.txt")
    return line


def test_texts_of_the_bar_lose_their_last_clauses_where_there_is_little_room(line):
    assert line.texts == (WORST, FACTS)
    seen = []
    for width in range(1500, 60, -20):
        line.resize(width, 30)
        left, right = line.texts
        seen.append((left, right))
        advance = line.fontMetrics().horizontalAdvance
        assert advance(left) + advance(right) + bool(right) * GAP <= width
        assert FACTS.startswith(right)
        if left != WORST:
            assert right == ""  # the sequence has given way before
    assert ("Worst frame: 28, mean 3-D error 9.79 mm", "") in seen
    assert all(left.count("(") == left.count(")") for left, _right in seen)


def test_the_values_of_a_point_stay_and_what_happens_gives_way(line):
    line.resize(560, 30)
    line.set_hover("point 8 · frame 28 · 0.1 px · 17.8 mm")
    left, right = line.texts
    assert right == line.hover and left != WORST and WORST.startswith(left)
    line.set_hover("")
    assert line.texts[1] != line.hover or not line.hover


def test_the_tips_have_all_of_a_text_and_the_file_of_the_sequence(qtbot, line):
    for width, x, words in ((400, 10, WORST), (1500, 10, ""), (1500, 1480, f"{FACTS}\n/data/flyby.txt")):
        line.resize(width, 30)
        event = QHelpEvent(QEvent.Type.ToolTip, QPoint(x, 10), line.mapToGlobal(QPoint(x, 10)))
        QApplication.sendEvent(line, event)
        qtbot.waitUntil(lambda words=words: QToolTip.text() == words)


def test_what_the_solver_does_is_shown_again_after_other_messages(
    qtbot, session, control, display, show, status, add_run, make_iterate, known
):
    session.set_sequence(known.sequence)
    first, _second = (add_run(session, make_iterate(known, noise=0.1), QUICK) for _ in range(2))
    qtbot.waitUntil(lambda: "run 2" in status.line.full_text.lower())
    activity = status.line.full_text
    session.notifier.show_status("Run 1, which run 2 went on from")
    plot = show(LossPlot(), 400, 200)
    LossController(session, control, display, plot).show_newest()
    qtbot.waitUntil(lambda: status.line.full_text == activity)
    for compared in (first, None):
        session.notifier.show_status("something else")
        session.set_compared(compared)
        qtbot.waitUntil(lambda: status.line.full_text == activity)


def test_a_bar_that_moves_on_has_nothing_painted_at_once(
    session, bar, status, make_iterate, known, paints_of
):
    """A progress bar has all painted that waits for it, in the midst of what else is to be shown."""
    session.set_sequence(known.sequence)
    run = session.add_run(QUICK)
    run.state, run.last = RunState.RUNNING, make_iterate(known, noise=0.1)
    status.flush()
    QApplication.processEvents()
    progress = status.progress.findChild(QProgressBar)
    painted = paints_of(progress)
    run.last = replace(run.last, fraction=0.7)
    session.report_run(run)
    status.flush()
    assert (progress.value(), painted.count) == (700, 0)
    QApplication.processEvents()
    assert painted.count == 1
