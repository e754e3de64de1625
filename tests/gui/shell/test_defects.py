"""What nobody caught: the window lives on, says what happened once, and offers to save."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from PyQt6.QtCore import QThread, QTimer
from PyQt6.QtGui import QGuiApplication, QPainter
from PyQt6.QtWidgets import QPushButton, QWidget

from core import Settings, simulate
from nrsfm_gui.engine.jobs import Job
from nrsfm_gui.engine.solver_thread import real_work
from nrsfm_gui.model.run import RunState
from nrsfm_gui.shell.layout import docks

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2)


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=10, points=24, noise=0.3, seed=2)


@pytest.fixture
def window(make_window, sequence):
    made = make_window(sequence, settings=QUICK)
    made.defect_reporter.install()
    yield made
    made.defect_reporter.uninstall()


def shown(qtbot, window):
    defects = window.defect_reporter
    qtbot.waitUntil(lambda: defects.dialog is not None and defects.dialog.isVisible())
    return defects.dialog


def titles(dialog) -> set[str]:
    return {button.text() for button in dialog.findChildren(QPushButton)}


def test_a_slot_that_raises_leaves_the_window_alive(qtbot, window, capsys):
    def slot() -> None:
        raise ValueError("a slot broke")

    QTimer.singleShot(0, slot)
    dialog = shown(qtbot, window)
    assert "ValueError: a slot broke" in window.logbook.text()
    assert "in slot" in window.logbook.lines[-1].details
    assert "a slot broke" in capsys.readouterr().err
    copy = next(button for button in dialog.findChildren(QPushButton) if "Copy" in button.text())
    copy.click()
    assert "ValueError: a slot broke" in QGuiApplication.clipboard().text()
    dialog.close()
    window.parameters_controller.run()
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)


def test_a_painter_does_not_outlive_the_painting_that_broke(qtbot, window, show, capsys):
    painters = []

    class Broken(QWidget):
        def paintEvent(self, _event):
            painter = QPainter(self)
            painters.append(weakref.ref(painter))
            raise ValueError("painting broke")

    widget = Broken()
    show(widget, 60, 40)
    shown(qtbot, window).close()
    widget.hide()
    assert painters
    assert not any(painter() for painter in painters)  # though `sys.last_traceback` is kept
    assert "painting broke" in str(sys.last_value)


def test_a_slot_that_raises_again_and_again_opens_one_dialog(qtbot, window, capsys):
    def slot() -> None:
        raise ValueError("again")

    for _ in range(5):
        QTimer.singleShot(0, slot)
    dialog = shown(qtbot, window)
    qtbot.waitUntil(lambda: "4 more followed" in dialog._count.text())
    assert window.defect_reporter.dialog is dialog
    assert window.logbook.text().count("ValueError: again\n") >= 5
    dialog.close()


@pytest.mark.parametrize("kind", [threading.Thread, QThread])
def test_a_thread_that_raises_is_reported_in_the_window(qtbot, window, kind, capsys):
    def work() -> None:
        raise OSError("the worker broke")

    if kind is QThread:
        thread = QThread()
        thread.run = work
        thread.start()
        assert thread.wait(5000)
    else:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    dialog = shown(qtbot, window)
    assert "OSError: the worker broke" in window.logbook.text()
    dialog.close()


def test_a_destructor_that_raises_is_only_logged(qtbot, window, capsys):
    class Fragile:
        def __del__(self) -> None:
            raise RuntimeError("dropped badly")

    Fragile()
    gc.collect()
    qtbot.waitUntil(lambda: "dropped badly" in window.logbook.text())
    assert window.defect_reporter.dialog is None


def test_a_solver_that_raises_keeps_what_it_had_and_another_run_goes(qtbot, make_window, sequence):
    broken = [True]

    def work(tracks, settings, start):
        for number, update in enumerate(real_work(tracks, settings, start)):
            if broken[0] and number == 3:
                raise np.linalg.LinAlgError("SVD did not converge")
            yield update

    window = make_window(sequence, settings=QUICK, work=work)
    window.parameters_controller.run()
    dialog = shown(qtbot, window)
    run = window.session.shown
    assert run.state is RunState.FAILED
    assert run.last is not None
    assert "LinAlgError" in run.message
    assert {"Save the reconstruction…", "Copy the details"} <= titles(dialog)
    dialog.close()
    broken[0] = False
    window.parameters_controller.run_from_scratch()
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)


def test_a_job_that_raises_reports_a_defect(qtbot, window):
    def function(_job: Job) -> None:
        raise KeyError("absent")

    job = Job(function)
    job.failed.connect(window.session.notifier.fail)
    with qtbot.waitSignal(job.finished):
        job.start()
    dialog = shown(qtbot, window)
    assert "KeyError" in window.logbook.text()
    dialog.close()


def test_nothing_is_offered_to_save_where_there_is_nothing(qtbot, make_window):
    window = make_window()
    window.session.notifier.fail("ValueError: early", "Traceback")
    dialog = shown(qtbot, window)
    assert not [title for title in titles(dialog) if title.startswith("Save")]
    dialog.close()


def test_the_hooks_are_given_back(window):
    window.defect_reporter.uninstall()
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    window.defect_reporter.install()
    assert sys.excepthook != before[0]
    window.defect_reporter.uninstall()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before


# -- docks ------------------------------------------------------------------------------------------------


def test_docks_are_floated_closed_and_put_back(qtbot, window):
    window.parameters_controller.run()
    for dock in docks(window):
        dock.setFloating(True)
        qtbot.wait(5)
        dock.setFloating(False)
        dock.close()
        assert not dock.isVisible()
    window.timeline_controller.go_to(-1)
    window.session.set_point(3)
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)
    window.layout_memory.reset()
    for dock in docks(window):
        assert not dock.isHidden(), dock.windowTitle()
        assert not dock.isFloating(), dock.windowTitle()


def test_a_floating_dock_is_remembered_and_put_back(qtbot, window, make_window, store):
    dock = docks(window)[0]
    dock.setFloating(True)
    window.close()
    again = make_window()
    assert docks(again)[0].isFloating()
    again.layout_memory.reset()
    assert not docks(again)[0].isFloating()


def test_keys_of_the_window_work_while_a_dock_floats(qtbot, window):
    dock = next(dock for dock in docks(window) if dock.windowTitle() == "Numbers")
    dock.setFloating(True)
    qtbot.wait(5)
    window.toolbars.actions["last"].trigger()
    assert window.session.frame == window.session.sequence.frame_count - 1
