"""The status bar: what the solver does; and the headline in the tool bar: the most important numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer
from PyQt6.QtWidgets import QLabel, QProgressBar

from nrsfm_gui.engine.throttle import PanelUpdater
from nrsfm_gui.scene import summaries
from nrsfm_gui.text.headline_text import headline_text
from nrsfm_gui.widgets.headline import Headline
from nrsfm_gui.widgets.labels import ElidedLabel

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QStatusBar, QWidget

    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.text.headline_text import HeadlineText

PROGRESS_WIDTH = 140
MEMORY_MILLISECONDS = 2000  # between two readings of the memory


@dataclass(frozen=True)
class Activity:
    """What the solver does."""

    text: str
    fraction: float | None  # that is done of the run under way, None without one


class StatusController(QObject):
    """Fills the status bar, and owns the label of the headline.

    What the solver does is replaced by any other status until it does something else.
    """

    def __init__(
        self, session: Session, display: Display, bar: QStatusBar, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display = session, display
        self.headline = Headline()
        self.headline.setWhatsThis(
            "How wrong what is shown is: the mean 3-D error where there is ground truth, also as a part of "
            "the size of the object. Below are the alignment that it is measured under, which a click "
            "changes, the reprojection error and the loss. While a run goes on all are of the best "
            "reconstruction so far. Numbers explains each of them."
        )
        self.activity = ElidedLabel()
        self.hover = QLabel()
        self.facts = QLabel()
        self._progress = QProgressBar()
        self._progress.setRange(0, 1000)
        self._progress.setTextVisible(False)
        self._progress.setFixedWidth(PROGRESS_WIDTH)
        self._progress.hide()
        bar.setSizeGripEnabled(False)
        bar.setWhatsThis(
            "What the solver does, or what was done last; at the right the point under the pointer, the open "
            "sequence and the memory that the program uses."
        )
        bar.addWidget(self.activity, 1)
        for widget in (self._progress, self.hover, self.facts, MemoryLabel()):
            bar.addPermanentWidget(widget)
        self._activity = PanelUpdater(
            self._resolve_activity,
            {"text": self.activity.set_full_text, "fraction": self._show_fraction},
            self,
        )
        self._numbers = PanelUpdater(
            self._resolve_headline,
            lambda text: self.headline.set_texts(text.large, text.small, text.tip),
            self,
        )
        display.scene_shown.connect(lambda scene: self.headline.set_outdated(scene.ahead))
        for signal in (
            session.runs_changed,
            session.shown_changed,
            session.compared_changed,
            session.moment_changed,
            session.run_changed,
        ):
            signal.connect(self._activity.request)
        session.sequence_changed.connect(self._on_sequence_changed)
        session.notifier.status_changed.connect(self._on_status_changed)
        display.errors.incumbent_changed.connect(self._numbers.run)
        display.refreshed.connect(self.flush)
        session.notifier.show_status("Ready")

    def show_hover(self, point: int) -> None:
        """Show the values of the point under the mouse."""
        self.hover.setText(summaries.hover(self._display.scene, point))

    def flush(self) -> None:
        """Show at once what has changed."""
        for updater in (self._activity, self._numbers):
            updater.flush()

    def refresh(self) -> None:
        """Show everything now."""
        for updater in (self._activity, self._numbers):
            updater.run()

    def _on_status_changed(self, sentence: str) -> None:
        self._activity.forget()
        if sentence:
            self.activity.set_full_text(sentence)
        else:
            self._activity.request()

    def _on_sequence_changed(self, sequence: Sequence) -> None:
        self.facts.setText(summaries.sequence_facts(sequence))
        self.facts.setToolTip(sequence.provenance)

    def _resolve_activity(self) -> Activity:
        session, active = self._session, self._session.active_run
        run = active or session.shown
        past = session.seen if session.moment is not None and run is session.shown else None
        fraction = None if active is None else 0.0 if active.last is None else active.last.fraction
        return Activity(summaries.activity(run, past=past), fraction)

    def _show_fraction(self, fraction: float | None) -> None:
        self._progress.setUpdatesEnabled(False)  # else the complete window is painted before it returns
        if fraction is not None:
            self._progress.setValue(round(1000 * fraction))
        self._progress.setUpdatesEnabled(True)
        self._progress.setVisible(fraction is not None)

    def _resolve_headline(self) -> HeadlineText:
        session = self._session
        found = self._display.errors.incumbent
        return headline_text(found, session.sequence, past=session.moment is not None)


class MemoryLabel(QLabel):
    """The memory of this process in MB, read every two seconds. Hidden where it is not known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Memory of this application")
        self.setToolTip("Memory that this application has in RAM, in MB (1 000 000 bytes)")
        # As wide as its widest usual text, so that a reading does not change the layout of the status bar.
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance("8888 MB") + 12)
        self._timer = QTimer(self)  # the clock of the readings
        self._timer.timeout.connect(self.refresh)
        self._timer.start(0)  # first when the window is shown

    def refresh(self) -> None:
        """Read the memory and show it."""
        self._timer.setInterval(MEMORY_MILLISECONDS)
        size = resident_bytes()
        self.setVisible(size is not None)
        if size is not None:
            self.setText(f"{size / 1e6:.0f} MB")


def resident_bytes() -> int | None:
    """Return the bytes of this process that are in RAM, None where the system does not report them."""
    import psutil  # here, so that the import does not delay the first window

    try:
        return int(psutil.Process().memory_info().rss)
    except psutil.Error:
        return None
