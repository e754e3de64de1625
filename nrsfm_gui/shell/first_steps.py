"""The first three steps of a new user: which are done, what is next, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.shell.first_steps_bar import StepsStrip
from nrsfm_gui.widgets.focus_ring import FocusRing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.engine.run_control import RunControl
    from nrsfm_gui.model.app_store import AppStore
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.timeline.timeline import Timeline

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
    """Owns the strip with the steps.

    Parameters
    ----------
    session, store
        what is done, and where it is remembered.
    control, timeline
        what tells that a step is done.
    places
        returns the widget that a step is about, by the key of the step.
    """

    def __init__(
        self,
        session: Session,
        store: AppStore,
        control: RunControl,
        timeline: Timeline,
        *,
        places: Mapping[str, Callable[[], QWidget]],
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._session, self._store, self._places, self._window = session, store, places, window
        self._done: frozenset[str] = store.steps_done()
        self.strip = StepsStrip()
        self._ring: FocusRing | None = None
        self._begun = False
        self.strip.dismissed.connect(self.dismiss)
        self.strip.shown_where.connect(self.show_where)
        session.sequence_changed.connect(lambda _sequence: self.begin() if self._begun else None)
        self._settings = session.settings  # that were seen last
        session.changed.connect(self._on_changed)
        control.ended.connect(lambda run: None if run.last is None else self._finish("run"))
        timeline.strip.frame_requested.connect(lambda _frame: self._on_worst_requested())
        timeline.worst_requested.connect(self._on_worst_requested)

    def begin(self) -> None:
        """Show the steps that are left, if there are any, once there is a sequence to do them with."""
        self._begun = True
        if self._next() is not None and self._session.sequence is not None:
            self._show()

    def restart(self) -> None:
        """Show all steps anew."""
        self._remember(frozenset())
        self._show()

    def dismiss(self) -> None:
        """Put the steps away for good."""
        self._remember(KEYS)
        self.strip.hide()

    def show_where(self) -> None:
        """Point out what the present step is about."""
        step = self._next()
        if step is None:
            return
        if self._ring is None:
            self._ring = FocusRing(self._window, "reprojected")
        self._ring.point_out(self._places[step.key]())

    def _on_changed(self) -> None:
        before, self._settings = self._settings, self._session.settings
        shown = self._session.shown
        if (
            before is not self._settings
            and self._session.live
            and shown is not None
            and shown.last is not None
        ):
            self._finish("steer")

    def _on_worst_requested(self) -> None:
        shown = self._session.shown
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
        sequence = self._session.sequence
        if sequence is None:
            return ""
        return (
            f"“{sequence.name}” is open: {sequence.point_count} points that were tracked"
            f" through {sequence.frame_count} pictures. "
        )

    def _remember(self, done: frozenset[str]) -> None:
        self._done = done
        self._store.set_steps_done(done)

    def _show(self) -> None:
        step = self._next()
        steps = [(each.name, each.key in self._done) for each in STEPS]
        sentence = ALL_DONE if step is None else step.sentence
        if step is STEPS[0]:
            sentence = f"{self._what_is_open()}{sentence}"
        self.strip.set_steps(steps, sentence)
        self.strip.show()
