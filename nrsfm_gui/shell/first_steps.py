"""The first three steps of a new user: which are done, what is next, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QBoxLayout, QDockWidget, QWidget

from nrsfm_gui.panels.timeline.heat_strip import HeatStrip
from nrsfm_gui.shell.first_steps_bar import StepsStrip
from nrsfm_gui.widgets.focus_ring import Ring

if TYPE_CHECKING:
    from collections.abc import Callable

    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.theme import Theme

ALL_DONE = "That is all; ✕ closes this. F1 lists the keys, Ctrl+K finds any action, F3 explains the method."


@dataclass(frozen=True)
class Step:
    """One step."""

    key: str  # as it is stored
    name: str
    sentence: str


STEPS = (
    Step("run", "Run", "Press Run (Ctrl+R) to find the 3-D shape in every picture."),
    Step(
        "steer",
        "Steer",
        "Drag a weight or a number under Parameters: with Live on, a new run follows, the first stays.",
    ),
    Step(
        "worst",
        "Worst frame",
        "Click the strip below where the errors are largest: the frame that fits worst.",
    ),
)
KEYS = frozenset(step.key for step in STEPS)


class FirstSteps(QObject):
    """Owns the strip with the steps, over the 3-D view of a window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._done: frozenset[str] = window.store.steps_done()
        self.strip = StepsStrip()
        self._ring: Ring | None = None
        self._begun = False
        center = window.centralWidget()
        column = None if center is None else center.layout()
        assert isinstance(column, QBoxLayout)
        column.insertWidget(0, self.strip)
        self.strip.dismissed.connect(self.dismiss)
        self.strip.shown_where.connect(self.show_where)
        window.session.sequence_changed.connect(lambda _sequence: self.begin() if self._begun else None)
        window.control.ended.connect(lambda run: None if run.last is None else self._finish("run"))
        window.session.settings_changed.connect(lambda _settings: self._note_steering())
        heat = window.timeline.findChild(HeatStrip)
        assert heat is not None  # it is what the third step is about
        heat.frame_requested.connect(lambda _frame: self._note_worst())
        window.timeline.worst_requested.connect(self._note_worst)

    def begin(self) -> None:
        """Show the steps that are left, if there are any, once there is a sequence to do them with."""
        self._begun = True
        if self._next() is not None and self._window.session.sequence is not None:
            self._show()

    def restart(self) -> None:
        """Show all steps anew."""
        self._remember(frozenset())
        self._show()

    def dismiss(self) -> None:
        """Put the steps away for good."""
        self._remember(KEYS)
        self.strip.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.strip.set_theme(theme)
        if self._ring is not None:
            self._ring.color = QColor(theme.reprojected)

    def show_where(self) -> None:
        """Point out what the present step is about."""
        step, window = self._next(), self._window
        if step is None:
            return
        if self._ring is None:
            self._ring = Ring(window)
            self._ring.color = QColor(window.session.theme.reprojected)
        targets: dict[str, Callable[[], QWidget]] = {
            "run": self._run_button,
            "steer": self._parameters,
            "worst": lambda: window.timeline,
        }
        self._ring.point_out(targets[step.key]())

    def _run_button(self) -> QWidget:
        return self._window.chrome.button_of("run") or self._window.scene_view

    def _parameters(self) -> QWidget:
        """Return the panel of the parameters, shown; first the button without which nothing follows."""
        live = self._window.chrome.button_of("live")
        if live is not None and not self._window.control.live:
            return live
        panel = self._window.parameters
        dock = panel.parentWidget()
        if isinstance(dock, QDockWidget):
            dock.show()
            dock.raise_()
        return panel

    def _note_steering(self) -> None:
        control = self._window.control
        shown = self._window.session.shown
        if control.live and shown is not None and shown.last is not None:
            self._finish("steer")

    def _note_worst(self) -> None:
        shown = self._window.session.shown
        if shown is not None and shown.last is not None:
            self._finish("worst")

    def _next(self) -> Step | None:
        return next((step for step in STEPS if step.key not in self._done), None)

    def _finish(self, key: str) -> None:
        if key in self._done or self.strip.isHidden():
            return
        self._remember(self._done | {key})
        self._show()

    def _what_is_open(self) -> str:
        """Return what the program is for, by the sequence that it has opened."""
        sequence = self._window.session.sequence
        if sequence is None:
            return ""
        return (
            f"“{sequence.name}” is open: {sequence.point_count} points that were tracked"
            f" through {sequence.frame_count} pictures. "
        )

    def _remember(self, done: frozenset[str]) -> None:
        self._done = done
        self._window.store.set_steps_done(done)

    def _show(self) -> None:
        step = self._next()
        steps = [(each.name, each.key in self._done) for each in STEPS]
        sentence = ALL_DONE if step is None else step.sentence
        if step is STEPS[0]:
            sentence = f"{self._what_is_open()}{sentence}"
        self.strip.set_steps(steps, sentence)
        self.strip.show()
