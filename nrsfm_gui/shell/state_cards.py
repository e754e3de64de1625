"""What the window shows while something is read, when it could not be, and when a run is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from PyQt6.QtCore import QObject, QSize, Qt
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout

from core.evaluation import bilinear_residuals, find_outliers
from core.foundation import DEPTHS, printable
from core.reconstruction import Verdict, worth_of
from core.solvers import Status
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.throttle import Debounce
from nrsfm_gui.model.names import sentence_name, truth_phrase
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene import summaries
from nrsfm_gui.scene.incumbent import Incumbent, Quality
from nrsfm_gui.scene.run_errors import RunErrors
from nrsfm_gui.sessions.opening import FIRST_SAMPLE, SAMPLE, SequenceOpening
from nrsfm_gui.text import status_text
from nrsfm_gui.text.run_numbers import verdicts_on
from nrsfm_gui.widgets.banners import MessageBar
from nrsfm_gui.widgets.fields import TOP, ButtonRow, close_button, copy_text, filled
from nrsfm_gui.widgets.labels import PlainLabel, known

WIDTH = 460  # pixels
PATIENCE_MILLISECONDS = 300  # of reading, after which it is shown
# Residuals are not normal, so that some of right tracks exceed the threshold too: fewer, and by less.
MANY_OUTLIERS, GROSS = 0.01, 4.0  # share of the observations; times the threshold
FURTHER = 1.05  # times the error of another solution or moment of a run: its end is worse above it
NOT_OPENED = "This could not be opened"
NOTHING_OPEN = "Nothing is open", "Open a file with tracks, or begin with the sample."


class StateCard(QFrame):
    """A title, a sentence, and a busy bar or buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("state card")
        self.setProperty("role", "card")
        self.setAccessibleName("What is going on")
        self._title, self._sentence = PlainLabel(role="title", wraps=True), PlainLabel(wraps=True)
        for label in (self._title, self._sentence):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._busy = QProgressBar()
        self._busy.setRange(0, 0)
        self._busy.setTextVisible(False)
        self._busy.setAccessibleName("Reading goes on")
        self._buttons = ButtonRow()
        top = filled(QHBoxLayout(), (self._title, 1), (close_button("Close this", self.hide), TOP))
        parts = top, self._sentence, self._busy, self._buttons
        filled(QVBoxLayout(self), *parts, spacing=10, margins=(20, 16, 20, 16))
        self.hide()

    def show_state(self, title: str, sentence: str, buttons: Mapping[str, Callable[[], object]]) -> None:
        """Show a title and a sentence with buttons, or a busy bar where there are none."""
        self._title.setText(title)
        self._sentence.setText(sentence)
        self._busy.setVisible(not buttons)
        self._buttons.set_buttons((text, text, callback) for text, callback in buttons.items())
        self._buttons.addStretch(1)
        self.show()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        layout = known(self.layout())  # as of the constructor
        return QSize(WIDTH, max(layout.totalHeightForWidth(WIDTH), layout.minimumSize().height()))


class StateCards(QObject):
    """Owns the card of the banners, and announces the result of a run in one sentence."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        errors: RunErrors,
        opening: SequenceOpening,
        messages: MessageBar,
        *,
        parent: QObject,
        show_log: Callable[[], object],
        show_worst: Callable[[], object],
        show_outliers: Callable[[], object],
        show_own_tracks: Callable[[], object],
        act: Callable[[Verdict], object],
    ) -> None:
        super().__init__(parent)
        self._session, self._errors, self._opening, self._messages = session, errors, opening, messages
        self._notifier, self._show_log, self._show_worst = session.notifier, show_log, show_worst
        self._act, self._show_own_tracks, self._show_outliers = act, show_own_tracks, show_outliers
        self.announces = False
        self.card = StateCard()
        self._reading = self._reading_name = ""
        self._announced: Run | None = None  # the newest run whose result was announced
        self._over: Run | None = None  # one whose errors are not known yet
        self._patience = Debounce(self._show_reading, PATIENCE_MILLISECONDS, self)
        opening.started.connect(self._on_reading_started)
        opening.failed.connect(self._on_reading_failed)
        opening.given_up.connect(self._on_given_up)
        for done in (opening.opened, opening.inspected, opening.shown, session.sequence_changed):
            done.connect(self._end_reading)
        control.refused.connect(
            lambda sentence: self._notifier.fail(sentence, action=("Show the log", show_log))
        )
        control.ended.connect(self._on_run_ended)
        errors.incumbent_changed.connect(self._announce)
        errors.found.connect(self._announce)
        errors.traces.changed.connect(self._announce)

    # -- reading --------------------------------------------------------------------------------------------

    def _on_reading_started(self, what: str, name: str) -> None:
        self._reading, self._reading_name = what, name
        self._patience.request()

    def _show_reading(self) -> None:
        path, what, where = Path(self._reading), self._reading_name.removeprefix(SAMPLE), ""
        if what == self._reading:
            what, where = path.name, printable(f"from {path.parent}")
        self.card.show_state(printable(f"Reading {what}"), where, {})

    def _end_reading(self, *_what: object) -> None:
        self._patience.cancel()
        self.card.hide()

    def _on_reading_failed(self, sentence: str, details: str) -> None:
        """Show what can be done next: in the card where nothing is open, else next to the message."""
        self._end_reading()
        opening, path = self._opening, self._reading
        offers: dict[str, Callable[[], object]] = {}
        if Path(path).is_file():
            offers["Import as…"] = partial(opening.inspect, path)
        offers["Open another…"] = opening.ask
        if details or self._session.sequence is not None:
            offers["Show the log"] = self._show_log
            self._notifier.fail(sentence, details, action=tuple(offers.items()))
            return
        self._notifier.fail(sentence, shown=True)
        offers["Open the sample"] = partial(opening.open, FIRST_SAMPLE)
        self.card.show_state(NOT_OPENED, sentence, {**offers, "Copy text": partial(copy_text, sentence)})

    def _on_given_up(self) -> None:
        """Show what can be done where nothing is open."""
        self._end_reading()
        if self._session.sequence is None:
            offers: dict[str, Callable[[], object]] = {
                "Open…": self._opening.ask,
                "Open the sample": partial(self._opening.open, FIRST_SAMPLE),
                "Your own tracks": self._show_own_tracks,
            }
            self.card.show_state(*NOTHING_OPEN, offers)

    # -- runs -----------------------------------------------------------------------------------------------

    def _on_run_ended(self, run: Run) -> None:
        """Wait for the errors of a run that has ended for the first time; live changes are not announced."""
        if run.state is RunState.FINISHED and run is not self._announced:
            self._over = run
            self._announce()

    def _announce(self, *_: object) -> None:
        run = self._over
        if run is None or not self.announces or run is not self._session.shown:
            return
        known = self._errors.of_run(run, exact=True)
        if known is None or known.errors is None:
            return
        compared = known.errors.error is not None
        if compared and not self._errors.traces.is_complete(run):
            return  # the run may have passed something better
        self._over, self._announced = None, run
        if compared:
            others = {} if run.last is None else run.last.alternatives
            self._errors.find(run, others, partial(self._inform, run, known))
        else:
            self._inform(run, known, {})

    def _inform(self, run: Run, known: Incumbent, others: Mapping[str, Quality]) -> None:
        """Announce a run; `others` are the errors of its other solutions."""
        if run is not self._session.shown or self._messages.text:
            return  # what is shown there is more important
        parts = [result_sentence(run, known)]
        actions: list[tuple[str, Callable[[], object]]] = [("Go to the worst frame", self._show_worst)]
        found = verdicts_on(run)
        if found or known.objective == DEPTHS:
            parts.append(worth_of([verdict.kind for verdict in found]))  # Numbers has the evidence
        if found and found[0].action is not None:
            actions.insert(0, (found[0].action.capitalize(), partial(self._act, found[0])))
        wrong = outliers_sentence(run)
        if wrong:
            parts.append(wrong)
            actions.insert(0, ("Find outliers", self._show_outliers))
        errors = known.errors
        better = [] if errors is None else self._better(run, errors, others)
        if errors is not None and better:
            now, truth = summaries.measure(errors.error, errors.unit), truth_phrase(run.sequence.truth_name)
            words = ", ".join(f"{length} {where}" for length, where, _show in better)
            parts[0] += f", {now} from {truth}; nearer: {words}"
            actions.insert(0, (f"Show {better[0][0]}", better[0][2]))
        self._notifier.inform(f"{'; '.join(parts)}.", action=tuple(actions))

    def _better(
        self, run: Run, known: Quality, others: Mapping[str, Quality]
    ) -> list[tuple[str, str, Callable[[], object]]]:
        """Return what is nearer to the truth than the end of a run: how near, where, and what shows it.

        The nearest is the first. The truth does not choose what is shown.
        """
        session, passed = self._session, self._errors.traces.lowest_kept(run)
        found: list[tuple[float | None, str, Callable[[], object]]] = [
            (other.error, f"in {name}", partial(session.set_compared, run, name))
            for name, other in others.items()
        ]
        if passed is not None:
            where = f"at {summaries.seconds(run.history.records[passed[0]])}"
            found.append((passed[1], where, partial(session.set_moment, passed[0])))
        limit = 0.0 if known.error is None else known.error / FURTHER
        nearer = [(error, where, show) for error, where, show in found if error is not None and error < limit]
        nearer.sort(key=lambda each: each[0])
        return [(summaries.measure(error, known.unit), where, show) for error, where, show in nearer]


def outliers_sentence(run: Run) -> str:
    """Return that tracks of a run may be wrong, "" where none stand out."""
    if run.last is None:
        return ""
    found = find_outliers(bilinear_residuals(run.sequence, run.last))
    gross = found.count and np.nanmax(found.residuals) > GROSS * found.threshold
    if not found.count or (found.share < MANY_OUTLIERS and not gross):
        return ""
    many = "s do" if found.count > 1 else " does"
    what = status_text.solved_point(run.last) or "the shapes"
    return f"{found.count} observation{many} not fit {what} ({100 * found.share:.2g} %)"


def result_sentence(run: Run, known: Incumbent) -> str:
    """Return how a run ended, for the beginning of a sentence; its errors are in the headline."""
    status = "is over" if run.last is None else run.last.status.value
    if run.last is not None and run.last.status is Status.LIMIT:
        status = "reached its iteration limit"
    return f"Run {sentence_name(run)} {status} in {summaries.seconds(known)}"
