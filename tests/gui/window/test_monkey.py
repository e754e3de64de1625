"""A monkey at the window: clicks, drags, wheel turns, keys and actions at random, and nothing may break.

It plays for two seconds, by `make soak` ten times for a minute each (`--soak-seconds 60 --soak-seed 1`). The
seed and the last deeds are logged, so that they stand beside a failure, and so are the longest time for which
the event loop was held up and the memory of the process. Nothing is written outside the test's folder: every
file dialog is answered with a path in there, or cancelled.
"""

import logging
import os
import sys
import time
import traceback

import numpy as np
import pytest
from hands import turn_wheel
from PyQt6 import sip
from PyQt6.QtCore import QObject, QPoint, QPointF, Qt, QTimer
from PyQt6.QtGui import QDesktopServices, QDrag, QKeySequence
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu

from core import Settings, simulate
from nrsfm_gui.model.theme import DARK

LOG = logging.getLogger(__name__)  # to a file with --log-file, which is there even where the process dies
PACE = 4  # milliseconds between two deeds
PATIENCE = 20  # deeds that wait for a movement of the mouse to return
KEYS = (
    "Space J K L Left Right Up Down Home End Escape Tab Return Delete [ ] A B C E F G H I M N P R T W "
    "Shift+H Shift+W 1 2 3 4 5 0 . Backspace Ctrl+Z Ctrl+Shift+Z Ctrl+A Ctrl+R Ctrl+K Ctrl+L Ctrl+. Ctrl+P "
    "Ctrl+T Ctrl+Left Ctrl+Right F1 F2 F3 F4 F6"
).split()
MODIFIERS = (
    *(3 * [Qt.KeyboardModifier.NoModifier]),
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)


class Watch(QObject):
    """Measures for how long the event loop is held up, also that of a menu or of a dialog."""

    def __init__(self, parent, deeds):
        super().__init__(parent)
        self._deeds = deeds  # returns the last ones
        self._before = time.monotonic()
        self.longest, self.during = 0.0, ""
        timer = QTimer(self)
        timer.timeout.connect(self._on_timeout)
        timer.start(20)

    def _on_timeout(self):
        now = time.monotonic()
        if now - self._before > self.longest:
            self.longest, self.during = now - self._before, ", ".join(self._deeds()[-2:])
        self._before = now


def resident_megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Monkey:
    """Does one random deed after the other, also while a menu or a dialog waits for an answer."""

    def __init__(self, window, seed, folder):
        self.window = window
        self.folder = folder
        self.rng = np.random.default_rng(seed)
        self.deeds: list[str] = []  # the last ones tell where it happened
        self.playing = False
        self.broken: list[str] = []
        self._moving = False  # whether a movement of the mouse has not returned yet
        self._cancelled = 0  # how often what holds it up was cancelled

    def play(self, seconds, wait):
        self.playing = True
        self._next()
        end = time.monotonic() + seconds
        while self.playing and time.monotonic() < end:
            wait(100)
        self.playing = False

    def catch(self, kind, value, trace):
        """Write an exception down and stop: what it refers to must not outlive it, events least of all."""
        self.broken.append("".join(traceback.format_exception(kind, value, trace)))
        LOG.error(self.broken[-1])
        traceback.clear_frames(trace)  # a painter among their variables would outlive what it paints on
        self.playing = False

    def _next(self):
        # A timer of its own for each deed: one that waits in a menu's event loop holds up no other.
        if self.playing:
            QTimer.singleShot(PACE, self._deed)

    def _deed(self):
        if not self.playing or sip.isdeleted(self.window):
            return
        self._next()
        if self._moving and self._cancelled < PATIENCE:
            # Text is being dragged away, in an event loop of its own: nobody can do anything else meanwhile.
            self._cancelled += 1
            QDrag.cancel()
            return
        place = self._place()
        if isinstance(place, QFileDialog):
            self._answer(place)
            return
        deed = self.rng.choice(
            ["click", "drag", "wheel", "key", "type", "action", "menu", "frame"],
            p=[0.25, 0.2, 0.1, 0.15, 0.05, 0.15, 0.05, 0.05],
        )
        getattr(self, f"_{deed}")(place)

    def _place(self):
        """Return the top-level widget that takes events: a menu or a dialog before the window."""
        in_front = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if in_front is not None:
            return in_front
        tops = [top for top in QApplication.topLevelWidgets() if top.isVisible() and top.width() > 1]
        dialogs = [top for top in tops if isinstance(top, QFileDialog)]
        if dialogs:
            return dialogs[0]
        return tops[self.rng.integers(len(tops))] if tops and self.rng.random() < 0.3 else self.window

    def _answer(self, dialog):
        """Choose a file in the test's folder, or none."""
        self._note(f"answer {dialog.windowTitle()}")
        if self.rng.random() < 0.5:
            dialog.reject()
            return
        field = dialog.findChild(QLineEdit)
        assert field is not None  # Qt's own dialog has one
        field.setText(str(self.folder / f"monkey {self.rng.integers(4)}"))
        QTest.keyClick(field, Qt.Key.Key_Return)

    def _note(self, deed):
        self.deeds = [*self.deeds[-19:], deed]
        LOG.info(deed)

    def _target(self, top):
        """Return a widget under a random point, and the point in its coordinates."""
        x, y = (int(self.rng.integers(max(size, 1))) for size in (top.width(), top.height()))
        child = top.childAt(x, y) or top
        return child, child.mapFrom(top, QPoint(x, y)) if child is not top else QPoint(x, y)

    def _modifiers(self):
        return MODIFIERS[self.rng.integers(len(MODIFIERS))]

    def _button(self):
        buttons = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton
        return buttons[self.rng.choice(3, p=[0.8, 0.12, 0.08])]

    def _click(self, top):
        target, point = self._target(top)
        self._note(f"click {_name(target)}")
        click = QTest.mouseDClick if self.rng.random() < 0.15 else QTest.mouseClick
        click(target, self._button(), self._modifiers(), point)

    def _drag(self, top):
        target, point = self._target(top)
        self._note(f"drag {_name(target)}")
        button, modifiers = self._button(), self._modifiers()
        QTest.mousePress(target, button, modifiers, point)
        for _ in range(int(self.rng.integers(1, 8))):
            point = point + QPoint(*(int(step) for step in self.rng.integers(-40, 41, 2)))
            if sip.isdeleted(target):
                return
            self._moving, self._cancelled = True, 0
            QTest.mouseMove(target, point)
            self._moving = False
        if not sip.isdeleted(target):
            QTest.mouseRelease(target, button, modifiers, point)

    def _wheel(self, top):
        target, point = self._target(top)
        self._note(f"wheel {_name(target)}")
        turn_wheel(target, int(self.rng.choice([-120, 120])), QPointF(point), self._modifiers())

    def _key(self, top):
        key = KEYS[self.rng.integers(len(KEYS))]
        self._note(f"key {key}")
        focused = QApplication.focusWidget()
        # A dialog takes the keys of the window behind it, as the window system sees to.
        inside = focused is not None and focused.window() is top.window()
        QTest.keySequence(focused if inside else top, QKeySequence(key))

    def _type(self, top):
        text = str(self.rng.choice(["0", "1e-3", "-4", "nan", "2,5", "1e300", "x", "3.5", "?!", "99999"]))
        target = QApplication.focusWidget()
        if target is not None and not isinstance(target, QMenu):
            self._note(f"type {text} into {_name(target)}")
            QTest.keyClicks(target, text)

    def _action(self, _top):
        if QApplication.activePopupWidget() is not None or QApplication.activeModalWidget() is not None:
            return
        actions = [action for action in self.window.toolbars.actions.values() if action.isEnabled()]
        action = actions[self.rng.integers(len(actions))]
        self._note(f"action {action.objectName()}")
        action.trigger()

    def _menu(self, top):
        if isinstance(top, QMenu):
            entries = [entry for entry in top.actions() if entry.isEnabled() and not entry.isSeparator()]
            self._note("choose from a menu, or close it")
            if entries and self.rng.random() < 0.5:
                entry = entries[self.rng.integers(len(entries))]
                top.close()
                entry.trigger()
            else:
                top.close()

    def _frame(self, _top):
        sequence = self.window.session.sequence
        self._note("go to a frame")
        self.window.session.set_frame(int(self.rng.integers(-2, sequence.frame_count + 2)))


def _name(widget):
    return f"{type(widget).__name__} {widget.objectName()!r}"


@pytest.mark.slow
@pytest.mark.qt_no_exception_capture  # by the test itself
def test_a_monkey_at_the_window_breaks_nothing(qtbot, make_window, tmp_path, monkeypatch, pytestconfig):
    soak_seconds = pytestconfig.getoption("--soak-seconds")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _link: True)  # no browser
    seed = pytestconfig.getoption("--soak-seed")
    LOG.info("seed %d", seed)
    settings = Settings(rank=2, starts=2, objective="wnn")
    window = make_window(simulate("paper", frames=24, points=40), settings=settings)
    window.session.set_theme(DARK)  # as the application does
    reported: list[str] = []
    window.session.notifier.failed.connect(reported.append)
    window.parameters_controller.run()
    monkeypatch.setattr(window, "closeEvent", lambda event: event.ignore())  # there is always a way to Quit
    monkey = Monkey(window, seed, tmp_path)
    monkeypatch.setattr(sys, "excepthook", monkey.catch)
    watch, memory = Watch(window, lambda: monkey.deeds), resident_megabytes()
    try:
        monkey.play(soak_seconds, qtbot.wait)
    finally:
        LOG.warning("seed %d; the last deeds: %s", seed, "; ".join(monkey.deeds))
        LOG.warning("the event loop was held up for %.2f s at most (%s)", watch.longest, watch.during)
        LOG.warning("memory: %.0f MB, then %.0f MB", memory, resident_megabytes())
    assert not monkey.broken, monkey.broken[0]
    for _ in range(20):  # what still waits for an answer
        front = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if front is None:
            break
        front.close()
        qtbot.wait(1)
    assert not window.isHidden()
    assert not [sentence for sentence in reported if "Error:" in sentence], reported
    assert window.defect_reporter.dialog is None or not window.defect_reporter.dialog.isVisible()
    # Still of use: a run can be made and ends.
    window.run_control.cancel()
    if window.toolbars.actions["slow"].isChecked():
        window.toolbars.actions["slow"].trigger()
    window.sequence_opening.open_sequence(simulate("paper", frames=12, points=20))
    window.session.set_settings(settings)
    window.parameters_panel.set_settings(settings)
    window.parameters_controller.run_from_scratch()
    run = window.session.shown
    qtbot.waitUntil(lambda: not run.state.alive)
    assert run.last is not None
    assert not monkey.broken, monkey.broken[0]
    assert os.getcwd() == str(tmp_path)
