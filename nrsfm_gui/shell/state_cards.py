"""What a window says while something is read, when it could not be, and when a run is over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QDockWidget

from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.sequences.opening import FIRST_SAMPLE, SAMPLE
from nrsfm_gui.scene import summaries
from nrsfm_gui.widgets.state_card import StateCard

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.run import Run
    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.scene.summaries import Quality

PATIENCE_MILLISECONDS = 200  # what is read in less time needs no word
NOT_OPENED = "This could not be opened"


class States(QObject):
    """Owns the card over the 3-D view, and says the result of a run in one sentence.

    Attributes
    ----------
    announces
        whether results are said; a script needs no word of them.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.announces = False
        self.card = StateCard(window.scene_view)
        self._reading = ""
        self._announced: Run | None = None  # the newest run whose result was said
        self._over: Run | None = None  # one whose errors are not known yet
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MILLISECONDS)
        self._patience.timeout.connect(self._show_reading)
        opening = window.opening
        opening.started.connect(self._wait_for)
        opening.failed.connect(self._show_failure)
        for done in (opening.opened, window.session.sequence_changed):
            done.connect(self._end_reading)
        window.control.refused.connect(self._offer_log)
        window.control.ended.connect(self._note_end)
        window.display.errors.quality_changed.connect(self._announce)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.card.set_theme(theme)

    def show_log(self) -> None:
        """Bring the log to the front."""
        dock = self._window.log_panel.parentWidget()
        if isinstance(dock, QDockWidget):
            dock.show()
            dock.raise_()

    # -- reading --------------------------------------------------------------------------------------------

    def _wait_for(self, what: str) -> None:
        self._reading = what
        self._patience.start()

    def _show_reading(self) -> None:
        sample = self._reading.startswith(SAMPLE)
        path = Path(self._reading)
        where = "" if sample else f"from {path.parent}"
        self.card.show_busy(f"Reading {self._reading.removeprefix(SAMPLE) if sample else path.name}", where)

    def _end_reading(self, *_what: object) -> None:
        self._patience.stop()
        self.card.hide()

    def _show_failure(self, sentence: str, details: str) -> None:
        """Say what can be done next: in the card where nothing is open, beside the message otherwise."""
        self._end_reading()
        if details:
            return  # a defect has a dialog of its own
        opening = self._window.opening
        if self._window.session.sequence is not None:
            offers = (("Open another…", opening.ask_for_file), ("Show the log", self.show_log))
            self._window.messages.warn(sentence, action=offers)
            return
        self.card.show_choice(
            NOT_OPENED,
            sentence,
            {
                "Open another…": opening.ask_for_file,
                "Open the sample": lambda: opening.open(FIRST_SAMPLE),
                "Copy": lambda: _copy(sentence),
            },
        )

    # -- runs -----------------------------------------------------------------------------------------------

    def _offer_log(self, sentence: str) -> None:
        self._window.messages.warn(sentence, action=("Show the log", self.show_log))

    def _note_end(self, run: Run) -> None:
        """Wait for the errors of a run that came to its end for the first time; live changes are no news."""
        if run.state is RunState.FINISHED and run is not self._announced:
            self._over = run
            self._announce()

    def _announce(self) -> None:
        run = self._over
        if run is None or not self.announces or run is not self._window.session.shown:
            return
        known = self._window.display.errors.of_run(run, exact=True)
        if known is None:
            return
        self._over, self._announced = None, run
        if self._window.messages.text:
            return  # what is said there is more important
        sentence = result_sentence(run, known, run.sequence)
        self._window.messages.note(sentence, action=("Go to the worst frame", self._window.worst.go_to_frame))


def result_sentence(run: Run, known: Quality, sequence: Sequence) -> str:
    """Return what came of a run that is over."""
    last = run.last
    status = "is over" if last is None else last.status.value
    distances = [f"{summaries.measure(known.reprojection, sequence.units)} from the tracks"]
    if known.error is not None:
        distances.append(
            f"{summaries.measure(known.error, known.unit)} from the ground truth ({known.alignment})"
        )
    return f"Run {run.number} {status} in {summaries.seconds(run)}: {', '.join(distances)}."


def _copy(text: str) -> None:
    clipboard = QGuiApplication.clipboard()
    if clipboard is not None:
        clipboard.setText(text)
