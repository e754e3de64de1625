"""Going back and on: changes of parameters undone and done again, a run looked at as it was at an iteration.

Undo belongs to the parameters, and in live mode the reconstruction follows them, as it does any change; what
else takes something away (runs that are forgotten) joins them, so that one key brings it back. To go back to
a change on the curve of the loss is something else: the run itself is shown as it was before it,
with the parameters of then. Nothing is solved until one of them is changed or Run is pressed, which then goes
on from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.model.changes import differences, named, one_gesture, parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from core import Settings
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.run import Run

MOST_STEPS = 200  # that can be undone
NOT_KEPT = "Of this run only the newest iteration is kept, as of all that come from a file"


@dataclass(frozen=True)
class Step:
    """A change of the parameters: the whole of one movement of the hand."""

    before: Settings
    after: Settings

    @property
    def words(self) -> str:
        """What changed, from what to what."""
        return named(self.before, self.after)

    @property
    def values_before(self) -> str:
        """What changed, as it was: "xi 0.5, rank 6"."""
        found = differences(self.before, self.after)
        return ", ".join(f"{difference.name} {difference.before}" for difference in found) or "before"


@dataclass(frozen=True, eq=False)
class Deed:
    """What was done to something else than the parameters, and how it is taken back."""

    words: str  # "3 runs forgotten"
    undo: Callable[[], object]
    redo: Callable[[], object]


class Steps:
    """What can be undone and done again. Pure: the time is given."""

    def __init__(self) -> None:
        self._undone: list[Step | Deed] = []
        self._done: list[Step | Deed] = []
        self._at = 0.0

    def add(self, before: Settings, after: Settings, now: float) -> None:
        """Take note of a change at a time in seconds; it joins the last one where both are one movement."""
        keys = parameters(before, after)
        last = self._done[-1] if self._done and not self._undone else None
        if isinstance(last, Step) and one_gesture(parameters(last.before, last.after), keys, now - self._at):
            self._done.pop()
            before = last.before
        if before != after:
            self._done = [*self._done, Step(before, after)][-MOST_STEPS:]
        self._undone.clear()
        self._at = now

    def add_deed(self, deed: Deed) -> None:
        """Take note of a deed."""
        self._done = [*self._done, deed][-MOST_STEPS:]
        self._undone.clear()

    def drop(self, deed: Deed) -> None:
        """Forget a deed that was taken back by other means."""
        self._done = [step for step in self._done if step is not deed]
        self._undone = [step for step in self._undone if step is not deed]

    def undo(self) -> Step | Deed | None:
        """Return the last change, which is undone from now on; None where there is none."""
        if not self._done:
            return None
        self._undone.append(self._done.pop())
        return self._undone[-1]

    def redo(self) -> Step | Deed | None:
        """Return the change that was undone last, which is done from now on; None where there is none."""
        if not self._undone:
            return None
        self._done.append(self._undone.pop())
        self._at = 0.0
        return self._done[-1]


def _kept(run: Run, record: int) -> int | None:
    """Return the record that stands for another one, None where the newest alone is kept."""
    return (
        run.moments.at(record)[0]
        if any(index < len(run.history) - 1 for index in run.moments.indices)
        else None
    )


class Steering(QObject):
    """Changes the parameters and the moment of a window's session by what is asked for."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._steps = Steps()
        self._settings = window.session.settings
        self._turning = False  # whether a change that arrives is an undo or a redo
        self._gone_back_to: Settings | None = None
        session = window.session
        session.settings_changed.connect(self._take_note)
        session.sequence_changed.connect(lambda _sequence: self._begin())
        session.moment_changed.connect(self._show_moment)
        session.shown_changed.connect(lambda _run: self._forget_the_way())
        window.loss_plot.moment_requested.connect(self.look_at)
        window.loss_plot.change_chosen.connect(self.go_back)
        window.control.waits.connect(self._say_what_waits)

    # -- what is asked for ----------------------------------------------------------------------------------

    def undo(self) -> None:
        """Take the last change of the parameters back, or what was forgotten after it."""
        step = self._steps.undo()
        if step is None:
            self._window.chrome.say("Nothing is left to undo")
        elif isinstance(step, Deed):
            self._window.messages.hide()  # its offer to undo
            step.undo()
            self._window.chrome.say(f"Undone: {step.words}")
        else:
            self._turn(step.before, f"Undone: back to {step.values_before}")

    def redo(self) -> None:
        """Do again what was undone last."""
        step = self._steps.redo()
        if step is None:
            self._window.chrome.say("Nothing was undone")
        elif isinstance(step, Deed):
            step.redo()
            self._window.chrome.say(f"Done again: {step.words}")
        else:
            self._turn(step.after, f"Done again: {step.words}")

    def take(self, settings: Settings, *, followed: bool = True) -> None:
        """Show other parameters in the panel and take them; in live mode they are followed, or only shown."""
        if not followed:
            self._window.control.leave(settings)
        self._window.parameters.set_settings(settings)
        self._window.session.set_settings(settings)

    def add(self, deed: Deed) -> None:
        """Let undo take something back that is no change of the parameters."""
        self._steps.add_deed(deed)

    def undo_deed(self, deed: Deed) -> None:
        """Take back a deed by its own button."""
        self._steps.drop(deed)
        deed.undo()

    def look_at(self, record: int | None) -> None:
        """Show the run as it was about a record of its history; None is the newest, with its parameters."""
        session = self._window.session
        run = session.shown
        if run is None or record is None:
            self._return_to_newest()
        else:
            kept = _kept(run, record)
            if kept is None and record < len(run.history) - 1:
                self._window.chrome.say(NOT_KEPT)
            session.set_moment(None if kept == len(run.history) - 1 else kept)
            self._window.loss_plot.set_moment(session.moment)

    def step_moment(self, by: int) -> None:
        """Go back by so many kept iterations, or on."""
        session = self._window.session
        run = session.shown
        if run is None or _kept(run, 0) is None:
            self._window.chrome.say("Run the solver first" if run is None else NOT_KEPT)
            return
        kept = run.moments.indices
        here = len(kept) - 1 if session.moment is None else kept.index(run.moments.at(session.moment)[0])
        there = min(max(here + by, 0), len(kept) - 1)
        self.look_at(None if there == len(kept) - 1 else kept[there])

    def go_back(self, change: int) -> None:
        """Show the shown run as it was before a change of its parameters, and these as they were."""
        session, control = self._window.session, self._window.control
        run = session.shown
        if run is None or change >= len(run.history.ticks):
            return
        tick = run.history.ticks[change]
        if tick.first == 0 and run.warm_from is not None and tick.before is not None:
            self._go_back_to_source(run, tick.before)
            return
        kept = _kept(run, max(tick.first - 1, 0))
        if kept is None or tick.before is None:
            self._window.chrome.say(NOT_KEPT)
            return
        control.cancel()
        self._gone_back_to = tick.before
        self.take(tick.before, followed=False)
        session.set_moment(kept)
        self._window.chrome.say(f"As it was before: {tick.text}. What you change or run goes on from here")

    def _go_back_to_source(self, run: Run, before: Settings) -> None:
        """Show the run that a run went on from under other parameters, and these."""
        session, control = self._window.session, self._window.control
        source = next((other for other in session.runs if other.number == run.warm_from), None)
        if source is None:
            self._window.chrome.say(f"Run {run.warm_from}, which run {run.number} went on from, is forgotten")
            return
        control.cancel()
        control.leave(before)
        session.set_shown(source)
        self.take(before, followed=False)
        self._window.chrome.say(f"Run {source.number}, which run {run.number} went on from")

    # -- what the session tells -----------------------------------------------------------------------------

    def _begin(self) -> None:
        self._steps = Steps()
        self._settings = self._window.session.settings
        self._forget_the_way()

    def _forget_the_way(self) -> None:
        self._gone_back_to = None

    def _take_note(self, settings: Settings) -> None:
        before, self._settings = self._settings, settings
        if not self._turning:
            self._steps.add(before, settings, time.perf_counter())

    def _show_moment(self, moment: int | None) -> None:
        self._window.loss_plot.set_moment(moment)
        self._window.presenter.show_numbers()

    def _say_what_waits(self, sentence: str) -> None:
        if sentence:
            self._window.chrome.say(sentence)

    def _return_to_newest(self) -> None:
        session = self._window.session
        session.set_moment(None)
        run, gone, self._gone_back_to = session.shown, self._gone_back_to, None
        if run is not None and gone is not None and session.settings == gone:
            self.take(run.settings, followed=False)
        self._window.chrome.show_activity(self._window.control.current or run)

    def _turn(self, settings: Settings, sentence: str) -> None:
        self._turning = True
        try:
            self.take(settings)
        finally:
            self._turning = False
        self._window.chrome.say(sentence)
