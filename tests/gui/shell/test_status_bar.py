"""The status bar: what the solver does, the point under the mouse, the sequence, the memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import psutil
from PyQt6.QtCore import QPoint
from PyQt6.QtGui import QStatusTipEvent
from PyQt6.QtWidgets import QApplication, QProgressBar

from core import Settings, simulate
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.shell.status_bar import MemoryLabel, resident_bytes

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2)


def test_memory_grows_by_what_is_taken():
    before = resident_bytes()
    block = np.ones(16_000_000)  # 128 MB, written to
    after = resident_bytes()
    assert 0.9 * block.nbytes < after - before < 1.3 * block.nbytes


def test_the_label_is_hidden_where_the_system_does_not_report_the_memory(qtbot, monkeypatch):
    label = MemoryLabel()
    qtbot.addWidget(label)
    label.show()
    label.refresh()
    assert label.text().endswith(" MB")
    assert 20 < int(label.text().split()[0]) < 8000

    def refuse(_process):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "memory_info", refuse)
    label.refresh()
    assert label.isHidden()


def test_the_bar_shows_solver_point_frame_and_sequence(qtbot, make_window):
    window = make_window(simulate("paper", frames=8, points=20, noise=0.3, seed=2), settings=QUICK)
    bar = window.statusBar()
    assert "8 frames" in window.status_controller.facts.text()
    window.parameters_controller.run()
    progress = bar.findChild(QProgressBar)
    qtbot.waitUntil(progress.isVisible)
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)
    qtbot.waitUntil(lambda: not progress.isVisible())
    assert "converged" in window.status_controller.activity.full_text
    window.timeline_controller.go_to(4)
    qtbot.waitUntil(lambda: window.display.scene.frame == 4)
    window.status_controller.show_hover(6)
    for part in ("frame 5", "point 7", "px", "mm"):
        assert part in window.status_controller.hover.text()
    window.status_controller.show_hover(-1)
    assert window.status_controller.hover.text() == ""


def test_a_bar_that_moves_on_has_nothing_painted_at_once(make_window, make_update, known, paints_of):
    """A progress bar has all painted that waits for it, in the midst of what else is to be shown."""
    window = make_window(known.sequence)
    run = window.session.add_run(QUICK)
    run.state, run.last = RunState.RUNNING, make_update(known, noise=0.1)
    window.status_controller.update()
    QApplication.processEvents()
    progress = window.statusBar().findChild(QProgressBar)
    painted = paints_of(progress)
    run.last = replace(run.last, fraction=0.7)
    window.status_controller.update()
    assert (progress.value(), painted.count) == (700, 0)
    QApplication.processEvents()
    assert painted.count == 1


def test_neither_tips_nor_messages_nor_a_run_move_their_neighbors(qtbot, make_window):
    window = make_window(simulate("paper", frames=8, points=20, noise=0.3, seed=2), settings=QUICK)
    window.session.set_live(False)
    window.session.set_theme(DARK)
    parts = (window.scene_view, window.statusBar(), window.loss_plot, window.timeline)
    qtbot.wait(20)

    def places():
        qtbot.wait(10)
        return [(part.mapTo(window, part.rect().topLeft()), part.size()) for part in parts]

    before = places()
    for action in window.toolbars.actions.values():
        action.hover()
        QApplication.sendEvent(window, QStatusTipEvent(action.statusTip()))
    assert window.status_controller.activity.isVisible() and window.statusBar().currentMessage() == ""
    assert places() == before
    window.message_bar.warn("something went wrong")
    window.export_controller.strip.show_task(1, "movie", "1 of 8", 0.1)
    window.session_saver.recovery.bar.offer("A session was not closed properly.")
    assert places() == before
    banners, view = window.banners, window.scene_view
    assert banners.height() >= window.message_bar.height() + window.export_controller.strip.height()
    top, view_top = (part.mapTo(window, QPoint(0, 0)).y() for part in (banners, view))
    assert top >= view_top
    window.message_bar.hide()
    window.export_controller.strip.remove_task(1)
    window.session_saver.recovery.bar.hide()
    assert places() == before and banners.height() == 0
    window.parameters_controller.run()
    assert places() == before
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)
    assert places() == before
