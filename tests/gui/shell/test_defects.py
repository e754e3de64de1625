"""What nobody caught: the window lives on, says what happened once, and offers to save."""

import platform
import sys
import threading
import weakref

import pytest
from PyQt6.QtCore import QThread, QTimer, qVersion
from PyQt6.QtGui import QGuiApplication, QPainter
from PyQt6.QtWidgets import QPushButton, QWidget

from nrsfm_gui.shell.defects import DefectReporter


@pytest.fixture
def reporter(show, session, logbook, monkeypatch):
    """Return what shows the defects of a session over a window, in place of what Python does with them."""
    window = show(QWidget(), 300, 200)
    made = DefectReporter(
        window, session, logbook, drawn_by=lambda: "Drawn by hand.", save_session=int, save_reconstruction=int
    )
    for where, name in ((sys, "excepthook"), (threading, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(where, name, getattr(where, name))  # which is restored
    made.install()
    return made


def shown(qtbot, reporter):
    qtbot.waitUntil(lambda: reporter.dialog is not None and reporter.dialog.isVisible())
    return reporter.dialog


def test_a_slot_that_raises_leaves_the_window_alive(qtbot, capsys, logbook, reporter):
    def slot():
        raise ValueError("a slot broke")

    QTimer.singleShot(0, slot)
    dialog = shown(qtbot, reporter)
    assert "ValueError: a slot broke" in logbook.text()
    assert "in slot" in logbook.lines[-1].details
    assert "a slot broke" in capsys.readouterr().err
    copy = next(button for button in dialog.findChildren(QPushButton) if "Copy" in button.text())
    copy.click()
    copied = QGuiApplication.clipboard().text()
    for part in ("ValueError: a slot broke", f"Qt {qVersion()}", platform.platform(), "Drawn by hand."):
        assert part in copied
    assert not [each for each in dialog.findChildren(QPushButton) if each.text().startswith("Save")]
    dialog.close()


def test_a_painter_does_not_outlive_the_painting_that_broke(qtbot, show, capsys, reporter):
    painters = []

    class Broken(QWidget):
        def paintEvent(self, _event):
            painter = QPainter(self)
            painters.append(weakref.ref(painter))
            raise ValueError("painting broke")

    widget = show(Broken(), 60, 40)
    shown(qtbot, reporter).close()
    widget.hide()
    assert painters
    assert not any(painter() for painter in painters)  # though `sys.last_traceback` is kept
    assert "painting broke" in str(sys.last_value)


def test_a_slot_that_raises_again_and_again_opens_one_dialog(qtbot, capsys, logbook, reporter):
    def slot():
        raise ValueError("again")

    for _ in range(5):
        QTimer.singleShot(0, slot)
    dialog = shown(qtbot, reporter)
    qtbot.waitUntil(lambda: "4 more followed" in dialog._count.text())
    assert reporter.dialog is dialog
    assert logbook.text().count("ValueError: again\n") >= 5
    dialog.close()


@pytest.mark.parametrize("kind", [threading.Thread, QThread])
def test_a_thread_that_raises_is_reported_in_the_window(qtbot, kind, capsys, logbook, reporter):
    def work():
        raise OSError("the worker broke")

    thread = kind()
    thread.run = work
    thread.start()
    thread.wait() if kind is QThread else thread.join()
    dialog = shown(qtbot, reporter)
    assert "OSError: the worker broke" in logbook.text()
    dialog.close()


def test_a_destructor_that_raises_is_only_logged(qtbot, capsys, logbook, reporter):
    class Fragile:
        def __del__(self):
            raise RuntimeError("dropped badly")

    Fragile()
    qtbot.waitUntil(lambda: "dropped badly" in logbook.text())
    assert reporter.dialog is None
