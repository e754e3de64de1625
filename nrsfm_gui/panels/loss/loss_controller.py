"""The loss of all runs, and the iteration of the shown run that is looked at.

Going back to a change on the curve shows the run as it was before it, with the parameters of then. Nothing is
solved until one of them is changed or Run is pressed, which then goes on from there.
"""

from __future__ import annotations

from dataclasses import replace

from PyQt6.QtCore import QObject

from core import InputError, Settings
from core.evaluation import choose_hidden
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.engine.throttle import READING_MILLISECONDS, PanelUpdater
from nrsfm_gui.model.excluded import with_excluded
from nrsfm_gui.model.names import run_title, sentence_name
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.loss.attempts import attempts_of
from nrsfm_gui.panels.loss.loss_curves import LossState
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.scene.display import Display
from nrsfm_gui.widgets.dock_title import show_dock_of

HELD_OUT = 0.05  # share of the observations
NOT_KEPT = "Of this run only the newest iteration is kept, as of all that come from a file"


class LossController(QObject):
    """Shows the losses of a session's runs, and sets the shown iteration of the session."""

    def __init__(self, session: Session, control: RunControl, display: Display, plot: LossPlot) -> None:
        super().__init__(plot)
        self._session, self._control, self._display, self._plot = session, control, display, plot
        self._notifier = session.notifier
        self._gone_back_to: tuple[Run, Settings] | None = None  # a run, and those before a change of it
        # A picture of a plot costs as much as one of the scene.
        self.updater = PanelUpdater(
            self._resolve, plot.set_state, self, milliseconds=2 * READING_MILLISECONDS
        )
        self.updater.follow(
            session.runs_changed, session.shown_changed, session.run_changed, session.settings_changed,
            session.alignment_changed, display.errors.traces.changed,
        )  # fmt: skip
        # The line ends where all numbers are of, at any moment.
        display.errors.incumbent_changed.connect(lambda _incumbent: self.updater.run())
        display.refreshed.connect(self.updater.flush)
        session.moment_changed.connect(plot.set_moment)
        session.compared_changed.connect(lambda _run: self.updater.run())
        plot.moment_requested.connect(self.show_record)
        plot.change_chosen.connect(self.show_before_change)
        plot.hold_out_requested.connect(self.hold_out)
        plot.scale_chosen.connect(self.set_logarithmic)
        session.appearance_changed.connect(lambda appearance: plot.set_logarithmic(appearance.log_loss))

    # -- what is asked for ----------------------------------------------------------------------------------

    def show_record(self, record: int | None) -> None:
        """Show the run as it was about a record of its history; None is the newest, with its parameters."""
        session = self._session
        run = session.shown
        if run is None or record is None:
            self._return_to_newest()
            return
        kept = _kept(run, record)
        if kept is None and record < len(run.history) - 1:
            self._notifier.show_status(NOT_KEPT)
        session.set_moment(None if kept == len(run.history) - 1 else kept)
        self._plot.set_moment(session.moment)

    def show_newest(self) -> None:
        """Show the run as it is now, and the curve."""
        show_dock_of(self._plot)
        self.show_record(None)

    def step_iteration(self, by: int) -> None:
        """Go back by so many kept iterations, or on, and show the curve."""
        show_dock_of(self._plot)
        session = self._session
        run = session.shown
        if run is None or _kept(run, 0) is None:
            self._notifier.show_status("Run the solver first" if run is None else NOT_KEPT)
            return
        kept = run.snapshots.indices
        here = len(kept) - 1 if session.moment is None else kept.index(run.snapshots.at(session.moment)[0])
        there = min(max(here + by, 0), len(kept) - 1)
        self.show_record(None if there == len(kept) - 1 else kept[there])

    def show_before_last_change(self) -> None:
        """Show the run, and the parameters, as before the last change of what is looked at, and the curve."""
        show_dock_of(self._plot)
        session, run = self._session, self._session.shown
        if run is None:
            return
        at = len(run.history) - 1 if session.moment is None else session.moment
        changes = [place for place, tick in enumerate(run.history.ticks) if tick.first <= at]
        if changes:
            self.show_before_change(changes[-1])
        else:
            self._notifier.show_status("No parameter was changed before this iteration of the run")

    def show_before_change(self, change: int) -> None:
        """Show the shown run as it was before a change of its parameters, and these as they were."""
        session = self._session
        run = session.shown
        if run is None or change >= len(run.history.ticks):
            return
        tick = run.history.ticks[change]
        if tick.first == 0 and run.warm_from is not None and tick.before is not None:
            self._show_source_run(run, tick.before)
            return
        kept = _kept(run, max(tick.first - 1, 0))
        if kept is None or tick.before is None:
            self._notifier.show_status(NOT_KEPT)
            return
        self._control.cancel()
        self._gone_back_to = run, tick.before
        self._set_settings(tick.before)
        session.set_moment(kept)
        self._notifier.show_status(f"As it was before: {tick.text}. What you change or run goes on from here")

    def _show_source_run(self, run: Run, before: Settings) -> None:
        """Show the run that a run went on from under other parameters, and these."""
        session = self._session
        source = next((other for other in session.runs if other.number == run.warm_from), None)
        known = f"which run {sentence_name(run)} went on from"
        if source is None:
            self._notifier.show_status(f"Run {run.warm_from}, {known}, is forgotten")
            return
        self._control.cancel()
        self._control.ignore_settings(before)
        session.set_shown(source)
        self._set_settings(before)
        self._notifier.show_status(f"Run {sentence_name(source)}, {known}")

    def _return_to_newest(self) -> None:
        session = self._session
        session.set_moment(None)
        self._notifier.show_status("")
        run, gone, self._gone_back_to = session.shown, self._gone_back_to, None
        if run is not None and gone is not None and gone == (run, session.settings):
            self._set_settings(run.settings)

    def _set_settings(self, settings: Settings) -> None:
        """Show settings that no live run is to follow."""
        self._control.ignore_settings(settings)
        self._session.set_settings(settings)

    def hold_out(self) -> None:
        """Hide some observations from the solver, always the same ones, so that an error is known at them."""
        session, sequence = self._session, self._session.sequence
        if sequence is None:
            return
        try:
            held = choose_hidden(sequence.tracks, sequence.visible, session.settings.rank, share=HELD_OUT)
        except InputError as refusal:
            session.notifier.show_status(str(refusal))
            return
        settings = with_excluded(session.settings, held)
        self._control.cancel()
        self._set_settings(settings)  # what has seen the observations cannot predict them
        run = self._control.start(warm=False)
        session.notifier.show_status(
            f"Run {sentence_name(run)} starts from nothing: {int(held.sum())} of "
            f"{int(sequence.visible.sum())} observations are held out (hide). "
            "Ctrl+Z shows them to the solver again"
        )

    def set_logarithmic(self, on: bool) -> None:
        """Draw losses by their base-10 logarithm, or as they are."""
        self._session.change_appearance(log_loss=on)

    # -- what the session has come to -----------------------------------------------------------------------

    def _resolve(self) -> LossState:
        session, errors = self._session, self._display.errors
        runs, run, incumbent = session.runs, session.shown, errors.incumbent
        state = LossState(
            {each.number: each.history for each in runs},
            names={each.number: run_title(each) for each in runs},
            compared=None if session.compared is None else session.compared.number,
            lengths=tuple(len(each.history) for each in runs),
        )
        if run is None:
            return state
        until = -1 if run.state.alive else None  # the first numbers of a run may come later than its records
        if incumbent is not None and incumbent.run == run.number:
            until = incumbent.record if incumbent.newest else None
        return replace(
            state,
            shown=run.number,
            attempts=attempts_of(run.history, run.last),
            until=until,
            trying=run.state.alive,
            trace=errors.traces.of(run),
            can_hold_out=run.sequence.truth is None and session.settings.hide is None,
        )


def _kept(run: Run, record: int) -> int | None:
    """Return the record that stands for another one, None where the newest alone is kept."""
    several = any(index < len(run.history) - 1 for index in run.snapshots.indices)
    return run.snapshots.at(record)[0] if several else None
