"""The first three steps of a new user: which are done, what is next, and where it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWhatsThis, QWidget

from core import Settings
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.timeline.timeline import Timeline
from nrsfm_gui.widgets.fields import MIDDLE, column, filled, push_button, tool_button
from nrsfm_gui.widgets.labels import PlainLabel
from nrsfm_gui.widgets.style import Themed

BESIDE = 160  # pixels that the buttons have
RUNNING = "The shapes are being found; the best one so far is shown. Stop (Ctrl+.) keeps it."
ALL_DONE = "That is all; ✕ closes this. F1 lists the keys, Ctrl+K finds any action, F3 explains the method."


# By the key that is stored: the name of a step, and what is to be done.
STEPS = {
    "run": ("Run", "Press Run (Ctrl+R) to find the 3-D shapes."),
    "steer": (
        "Steer",
        "Drag a weight or a number under Parameters: with Live on, a new run follows, the first stays.",
    ),
    "worst": ("Worst frame", "Click the strip below where it is brightest: there the answer is worst."),
}
KEYS = frozenset(STEPS)


class FirstSteps(Themed, QFrame):
    """A bar over the 3-D view: the names of the steps, those done with a mark, and what to do now."""

    def __init__(
        self,
        session: Session,
        store: AppStore,
        control: RunControl,
        timeline: Timeline,
        *,
        places: Mapping[str, Callable[[], QWidget]],
    ) -> None:
        super().__init__()
        self._session, self._store, self._places = session, store, places
        self._done: frozenset[str] = store.steps_done
        self._begun = False
        self._changed = False  # whether parameters were changed with Live on, and no run has followed yet
        self.setObjectName("first steps")
        self.setProperty("role", "banner")
        self.setProperty("edge", "done")
        self.setAccessibleName("First steps")
        self._names = QLabel()
        self._names.setTextFormat(Qt.TextFormat.RichText)
        self._names.setWordWrap(True)
        self._sentence = PlainLabel(wraps=True)
        self._sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._where = push_button("Show me where", "Point out what this step is about", self.show_where)
        tip, name = "Put the first steps away; Preferences shows them again", "Put the first steps away"
        close = tool_button("✕", tip, name, self.dismiss)
        parts = (column(self._names, self._sentence, spacing=2), 1), (self._where, MIDDLE), (close, MIDDLE)
        filled(QHBoxLayout(self), *parts, spacing=12, margins=(12, 4, 8, 4))
        self._follow_theme()
        self.hide()
        for changed in (session.sequence_changed, session.shown_changed):
            changed.connect(self._show_next)
        session.settings_changed.connect(self._on_settings_changed)
        session.run_changed.connect(self._on_run_changed)
        control.ended.connect(lambda run: None if run.last is None else self._finish("run"))
        for requested in (timeline.strip.frame_requested, timeline.transport.worst_requested):
            requested.connect(self._on_worst_requested)

    def sizeHint(self) -> QSize:
        """Return the size with the sentence in two lines."""
        hint, half = super().sizeHint(), 6 * self._sentence.sizeHint().width() // 10
        return QSize(max(hint.width(), half + BESIDE), hint.height())

    def begin(self) -> None:
        """Show the steps that are left, if there are any, once there is a sequence to do them with."""
        self._begun = True
        self._show_next()

    def _show_next(self, *_: object) -> None:
        """Show the steps that are left: the first one where no run was opened, the others beside a run."""
        shown = self._session.shown
        if not self._begun or not self._next() or self._session.sequence is None:
            return
        opened = shown is not None and shown.last is not None and not shown.state.alive
        if opened if self._next() == "run" else shown is None:
            self.hide()
        else:
            self._update_bar()

    def restart(self) -> None:
        """Show all steps again."""
        self._set_done(frozenset())
        self._update_bar()

    def dismiss(self) -> None:
        """Hide the steps, and do not show them again."""
        self._set_done(KEYS)
        self.hide()

    def show_where(self) -> None:
        """Point out what the present step is about."""
        if self._next():
            place = self._places[self._next()]()
            place.setFocus(Qt.FocusReason.TabFocusReason)
            QWhatsThis.showText(place.mapToGlobal(place.rect().center()), STEPS[self._next()][1], place)

    def _on_settings_changed(self, _settings: Settings) -> None:
        self._changed = self._session.live and self._session.seen is not None

    def _on_run_changed(self, run: Run) -> None:
        """Count a change that a run follows: another method, for example, waits for Run."""
        if self._changed and run is self._session.shown and run.steered:
            self._changed = False
            self._finish("steer")

    def _on_worst_requested(self, *_: object) -> None:
        if self._session.seen is not None:
            self._finish("worst")

    def _next(self) -> str:
        return next((key for key in STEPS if key not in self._done), "")

    def _finish(self, key: str) -> None:
        if key in self._done or self.isHidden():
            return
        self._set_done(self._done | {key})
        self._update_bar()

    def _set_done(self, done: frozenset[str]) -> None:
        self._done = done
        self._store.steps_done = done

    def _update_bar(self) -> None:
        step, sequence, shown = self._next(), self._session.sequence, self._session.shown
        sentence = STEPS[step][1] if step else ALL_DONE
        if step == "run" and shown is not None and shown.state.alive:
            sentence = RUNNING
        elif step == "run" and sequence is not None:
            sentence = f"{sequence.point_count} points in {sequence.frame_count} pictures. {sentence}"
        self._sentence.setText(sentence)
        self._where.setVisible(bool(step))
        self._apply_theme(self._theme)
        self.show()

    def _apply_theme(self, theme: Theme) -> None:
        parts = []
        for number, (key, (name, _sentence)) in enumerate(STEPS.items(), start=1):
            done = key in self._done
            text = f"{'✓' if done else number}&nbsp;{name}"
            colored = f"<span style='color:{theme.reprojected if done else theme.muted}'>{text}</span>"
            parts.append(f"<b>{text}</b>" if key == self._next() else colored)
        self._names.setText(" &nbsp; ".join(parts))
