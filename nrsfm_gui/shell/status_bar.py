"""The status bar: what the solver does; and of the tool bar the progress and the most important numbers."""

from __future__ import annotations

import re
from contextlib import suppress

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer
from PyQt6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QStatusBar, QToolTip, QWidget

from nrsfm_gui.engine.throttle import PanelUpdater
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.summaries import time_left
from nrsfm_gui.text import status_text
from nrsfm_gui.widgets.fields import filled, with_tip
from nrsfm_gui.widgets.headline import Headline
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel, plain_tip

PROGRESS_WIDTH = 80
LONGEST_LEFT = "59 min 50 s left"
GAP = 24  # pixels between two texts
CLAUSE = re.compile(r"[;:,.] | · | \(")  # what a text can be cut before
MEMORY_MILLISECONDS = 2000  # between two readings of the memory


class StatusController(QObject):
    """Fills the status bar, and owns the headline and the progress of the run, which are in the tool bar.

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
        self.line = StatusLine()
        self.progress = RunProgress()
        bar.setSizeGripEnabled(False)
        bar.setWhatsThis(
            "What the solver does, or what was done last; at the right the point under the pointer, the open "
            "sequence and the memory that the program uses."
        )
        bar.addWidget(self.line, 1)
        bar.addPermanentWidget(MemoryLabel())
        self._activity = PanelUpdater(self._activity_text, self.line.set_full_text, self)
        self._activity.add(self._share_done, self.progress.set_progress)
        self._numbers = PanelUpdater(
            lambda: status_text.headline_text(
                display.errors.incumbent, session.sequence, past=session.moment is not None
            ),
            lambda text: self.headline.set_texts(text.large, text.small, text.tip),
            self,
        )
        self._hovered = -1
        display.scene_shown.connect(lambda scene: self.headline.set_outdated(scene.ahead))
        display.scene_shown.connect(lambda _scene: self.show_hover(self._hovered))
        self._activity.follow(
            session.runs_changed, session.shown_changed, session.compared_changed, session.moment_changed,
            session.run_changed,
        )  # fmt: skip
        session.sequence_changed.connect(
            lambda sequence: self.line.set_facts(status_text.sequence_facts(sequence), sequence.provenance)
        )
        session.notifier.status_changed.connect(self._on_status_changed)
        display.errors.incumbent_changed.connect(self._numbers.run)
        display.refreshed.connect(self.flush)
        session.notifier.show_status("Ready")

    def show_hover(self, point: int) -> None:
        """Show the values of the point under the mouse."""
        self._hovered = point
        self.line.set_hover(status_text.hover(self._display.scene, point))

    def flush(self) -> None:
        """Show at once what has changed."""
        self._activity.flush()
        self._numbers.flush()

    def _on_status_changed(self, sentence: str) -> None:
        self._activity.forget()
        if sentence:
            self.line.set_full_text(sentence)
        else:
            self._activity.request()

    def _activity_text(self) -> str:
        session = self._session
        run = session.active_run or session.shown
        past = session.seen if session.moment is not None and run is session.shown else None
        return status_text.activity(run, past=past)

    def _share_done(self) -> tuple[float, str] | None:
        """Return the share that is done of the run under way, and the time that is left."""
        run = self._session.active_run
        return None if run is None else (run.share_done, time_left(run))


class RunProgress(QWidget):
    """The share of a run that is done, and the time that is left; empty without a run."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._bar, self._left = QProgressBar(), PlainLabel()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(PROGRESS_WIDTH)
        self._bar.setAccessibleName("Share of the run that is done")
        self._bar.hide()
        # As wide as its widest usual text, so that a text does not change the layout of the tool bar.
        self._left.setFixedWidth(self._left.fontMetrics().horizontalAdvance(LONGEST_LEFT))
        filled(QHBoxLayout(self), self._bar, self._left, margins=(8, 0, 8, 0))
        self.setToolTip("The share of the run that is done, and about how long the rest takes")

    def set_progress(self, progress: tuple[float, str] | None) -> None:
        """Show the share of a run that is done (0 to 1) and the time that is left, or none."""
        share, left = progress or (0.0, "")
        self._bar.setUpdatesEnabled(False)  # else the complete window is painted before it returns
        self._bar.setValue(round(1000 * share))
        self._bar.setUpdatesEnabled(True)
        self._bar.setVisible(progress is not None)
        self._left.setText(left)


class StatusLine(ElidedLabel):
    """What happens at the left; at the right the point under the mouse, or else the sequence.

    Where there is no room for both, the sequence gives way, then what happens; the values of a point do not.
    A text loses its last clauses first. The tips have all of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hover = self.facts = self._provenance = ""

    def set_hover(self, text: str) -> None:
        """Show the values of a point, "" for none."""
        if text != self.hover:  # it is set for every picture
            self.hover = text
            self.update()

    def set_facts(self, text: str, provenance: str) -> None:
        """Show what is known of the sequence."""
        self.facts, self._provenance = text, provenance
        self.setAccessibleDescription(text)
        self.update()

    @property
    def texts(self) -> tuple[str, str]:
        """The texts that are shown at the present width."""
        room, width = self._text_area().width(), self.fontMetrics().horizontalAdvance
        if self.hover:
            room -= width(self.hover) + GAP
        left = self._shortened(self.full_text, room) or self._elided(self.full_text, room)
        if self.hover or left != self.full_text:
            return left, self.hover
        return left, self._shortened(self.facts, room - width(left) - GAP)

    def event(self, event: QEvent | None) -> bool:
        """Show the full text under the mouse as the tip where it is shortened, and the file of a sequence."""
        if not (isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip):
            return super().event(event)
        left, right = self.texts
        if event.x() > self._text_area().right() - self.fontMetrics().horizontalAdvance(right):
            tip = f"{self.facts}\n{self._provenance}"
        else:
            tip = "" if left == self.full_text else self.full_text
        QToolTip.showText(event.globalPos(), plain_tip(tip), self)
        return True

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint both texts."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        sides = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        for text, side in zip(self.texts, sides, strict=True):
            painter.drawText(self._text_area(), int(side | Qt.AlignmentFlag.AlignVCenter), text)
        painter.end()

    def _shortened(self, text: str, room: int) -> str:
        """Return as many of the first clauses of a text as there is room for, "" for none."""
        ends = [len(text), *reversed([cut.start() for cut in CLAUSE.finditer(text)])]
        parts = (text[:end] for end in ends if text.count("(", 0, end) == text.count(")", 0, end))
        return next((part for part in parts if self.fontMetrics().horizontalAdvance(part) <= room), "")


class MemoryLabel(PlainLabel):
    """The memory of this process in MB, read every two seconds; empty where the system does not report it."""

    def __init__(self) -> None:
        super().__init__()
        tip = "Memory that this application has in RAM, in MB (1 000 000 bytes)"
        with_tip(self, "Memory of this application", tip)
        # As wide as its widest usual text, so that a reading does not change the layout of the status bar.
        self.setMinimumWidth(self.fontMetrics().horizontalAdvance("8888 MB") + 12)
        self._timer = QTimer(self)  # the clock of the readings
        self._timer.timeout.connect(self.refresh)
        self._timer.start(0)  # first when the window is shown

    def refresh(self) -> None:
        """Read the memory and show it."""
        import psutil  # here, so that the import does not delay the first window

        self._timer.setInterval(MEMORY_MILLISECONDS)
        with suppress(psutil.Error):
            self.setText(f"{psutil.Process().memory_info().rss / 1e6:.0f} MB")
