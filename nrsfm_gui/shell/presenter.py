"""Showing the session in the panels of numbers: runs, losses, weights, errors, the selected point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject, QTimer

from core.reconstruction import is_collapsed
from nrsfm_gui.engine.throttle import Pace
from nrsfm_gui.model.changes import differences
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.run_names import run_title
from nrsfm_gui.scene import summaries
from nrsfm_gui.text import run_numbers
from nrsfm_gui.text.run_rows import run_row
from nrsfm_gui.text.selection_numbers import selection_numbers, selection_title

if TYPE_CHECKING:
    from core import Iterate
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.scene.scene import ErrorSeries

SETTLED_MILLISECONDS = 150  # without a change of the parameters, before they are compared with the run's


class Presenter(QObject):
    """Tells the panels of a window what the session says."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._series: ErrorSeries | None = None
        self._names: dict[int, str] = {}  # of the runs, as the legend of the losses has them
        session, display = window.session, window.display
        session.runs_changed.connect(self.show_runs)
        session.shown_changed.connect(lambda _run: self.show_runs())
        session.compared_changed.connect(lambda _run: self.show_runs())
        session.moment_changed.connect(lambda _record: self._show_activity())
        session.run_changed.connect(self._note_run)
        self._told: tuple[Run, RunState] | None = None  # the run that changed last, and its state
        self._gains = Pace(self._show_run, self)
        self._point = Pace(self._show_point, self)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(SETTLED_MILLISECONDS)
        self._later.timeout.connect(self.show_numbers)
        self._later.timeout.connect(self.show_difference)
        session.moment_changed.connect(lambda _moment: self.show_difference())
        window.control.ended.connect(lambda _run: self.show_difference())
        session.settings_changed.connect(lambda _settings: self._later.start())
        window.control.ended.connect(self._show_remarks)
        window.control.live_changed.connect(lambda _live: self.show_difference())
        display.errors.series_changed.connect(self.show_series)
        display.errors.quality_changed.connect(self.show_numbers)
        display.scene_shown.connect(lambda _scene: self._point.soon())

    def show_runs(self) -> None:
        """Show which runs there are, and the one that is chosen."""
        window = self._window
        shown = window.session.shown
        histories = {run.number: run.history for run in window.session.runs}
        self._names = {run.number: run_title(run) for run in window.session.runs}
        compared = window.session.compared
        window.loss_plot.set_histories(
            histories,
            None if shown is None else shown.number,
            self._names,
            compared=None if compared is None else compared.number,
        )
        self._show_activity()
        self.show_numbers()
        self.show_difference()
        window.update_situation()

    def _note_run(self, run: Run) -> None:
        """Show a new state at once, and what a run gains as often as it can be read."""
        before, self._told = self._told, (run, run.state)
        if before == self._told and run.state is RunState.RUNNING:
            self._gains.soon()
        else:
            self._gains.now()

    def _show_run(self) -> None:
        """Show what a run gained, or its new state; the numbers of a running one follow with the errors."""
        window = self._window
        assert self._told is not None  # it is called because of it
        run, _ = self._told
        self._show_activity()
        if run in window.session.runs:
            if self._names.get(run.number) != run_title(run):
                self.show_runs()  # its method or its penalty changed under way
            window.loss_plot.refresh_soon()
            if run.state is not RunState.RUNNING:
                self.show_numbers()
            else:
                self._show_headline()
        window.update_situation()

    def _show_activity(self) -> None:
        """Show what the solver does or did, or that an earlier iteration is looked at."""
        self._window.chrome.show_activity(self._window.control.current or self._window.session.shown)

    def _show_remarks(self, run: Run) -> None:
        """Warn where a run has ended with nothing; a rank that a penalty lowers is among the numbers."""
        if run.state is not RunState.FINISHED or run is not self._window.session.shown or run.last is None:
            return
        best = run.last.best
        if is_collapsed(best.problem, best.factors):
            self._window.messages.warn(f"Run {run.number}: {' '.join(run_numbers.remarks_on(run))}")

    def show_series(self, series: ErrorSeries | None) -> None:
        """Show the errors of all frames."""
        self._series = series
        self.show_errors()

    def show_errors(self) -> None:
        """Show the errors of all frames, or the distance of two runs where that is asked for."""
        self._window.timeline.set_series(self._window.comparing.series(self._series))

    def show_numbers(self) -> None:
        """Show the numbers of the run that is chosen, and the list of all."""
        window = self._window
        run, sequence = window.session.shown, window.session.sequence
        known = None if run is None else window.display.errors.of_run(run)
        seen = run
        if window.session.moment is not None:
            known, seen = window.display.seen_quality, window.session.seen_run
        window.numbers.set_numbers(run_numbers.numbers(seen, known, sequence, window.session.settings))
        self._show_headline()
        runs = reversed(window.session.runs)
        compared = window.session.compared
        rows = [
            run_row(each, window.display.errors.of_run(each), shown=run, compared=compared) for each in runs
        ]
        window.run_list.set_rows(rows, None if run is None else run.number)
        self._show_spectrum(window.session.seen)

    def _show_headline(self) -> None:
        """Show what is known at once of what is looked at, beside the errors that follow."""
        window, session = self._window, self._window.session
        run, past = session.shown, session.moment is not None
        known = None if run is None else window.display.errors.of_run(run)
        if past:
            known = window.display.seen_quality
        window.chrome.show_headline(summaries.headline(session.seen, known, session.sequence, past=past))

    def show_difference(self) -> None:
        """Mark parameters that are not those of what is looked at; a run under way takes them up if live."""
        session = self._window.session
        run, seen = session.shown, session.seen
        if run is None or seen is None or (run.state.alive and self._window.control.live):
            self._window.parameters.set_difference(-1, "")
            return
        own = run.settings if session.moment is None else seen.settings
        names = dict.fromkeys(each.name for each in differences(own, session.settings))
        self._window.parameters.set_difference(run.number, ", ".join(names))

    def _show_point(self) -> None:
        """Show the numbers of the selected points in the frame that is shown."""
        scene = self._window.display.scene
        self._window.numbers.set_point(selection_title(scene), selection_numbers(scene))

    def show_hover(self, point: int) -> None:
        """Show the values of the point under the mouse."""
        self._window.chrome.show_hover(summaries.hover(self._window.display.scene, point))

    def _show_spectrum(self, last: Iterate | None) -> None:
        window = self._window
        if last is None:
            window.parameters.set_spectrum(None, None, None)
            window.spectrum_plot.set_values(None, None)
            return
        problem, factors = last.displayed.problem, last.displayed.factors
        weights, values = problem.slopes(factors), np.sort(factors.gamma())[::-1]
        # While the rotations are chosen, the weights are those of the comparison, not of the settings.
        window.parameters.set_spectrum(last.settings if last.rotations_chosen else None, weights, values)
        window.spectrum_plot.set_values(values, weights)
