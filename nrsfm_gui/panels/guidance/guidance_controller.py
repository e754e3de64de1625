"""The controller of the panel Guidance: solves for a series of values in a thread and shows the curve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from core import Alignment, CameraModel
from core.evaluation import (
    SCALE,
    HoldoutCurve,
    HoldoutPlan,
    Mirror,
    aligned_mm,
    gather_curve,
    parameter_value,
    parameters_of,
    suggest_range,
    values_outside,
    with_parameter,
)
from core.reconstruction import geometry_of
from nrsfm_gui.engine.jobs import Job
from nrsfm_gui.engine.throttle import READING_MILLISECONDS, Throttle
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.panels.guidance.guidance_panel import MEANINGS
from nrsfm_gui.panels.guidance.guidance_plot import GuidanceCurves
from nrsfm_gui.scene.summaries import ETA_FROM_SECONDS, duration
from nrsfm_gui.text.guidance_text import TITLES, advised, by_truth, recommendation
from nrsfm_gui.widgets.dock_title import show_dock_of

if TYPE_CHECKING:
    from core import Iterate, Sequence, Settings
    from core.evaluation import HoldoutTrial
    from core.foundation import Floats
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.guidance.guidance_panel import GuidancePanel


class HeldOutSeries(QObject):
    """One series of solves in a thread; its trials come one by one, with their 3-D errors."""

    tried = pyqtSignal(object, float)  # HoldoutTrial, NaN where there is no truth
    over = pyqtSignal()
    failed = pyqtSignal(str, str)

    def __init__(
        self, sequence: Sequence, start: Iterate, settings: Settings, plan: HoldoutPlan, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.settings, self.plan = settings, plan
        self.more: tuple[float, ...] = ()  # that the range was widened by
        self.trials: list[HoldoutTrial] = []
        self.truth: dict[tuple[int, float], float] = {}
        self._sequence, self._start = sequence, start
        self._job = Job(self._work, failed=self.failed.emit)
        self._job.setParent(self)
        self._job.found.connect(lambda found: self.tried.emit(*found))
        self._job.finished.connect(self.over)

    @property
    def stopping(self) -> bool:
        """Whether `cancel` was called."""
        return self._job.stopping

    def start(self) -> None:
        """Begin."""
        self._job.start()

    def cancel(self) -> None:
        """Stop within an iteration."""
        self._job.cancel()

    def wait(self) -> None:
        """Wait for the end."""
        self._job.wait()

    def add(self, trial: HoldoutTrial, error: float) -> None:
        """Keep the numbers of a trial and its 3-D error."""
        self.trials.append(replace(trial, solution=None))  # its shapes are not needed any more
        self.truth[trial.fold, trial.value] = error

    def truth_of(self, line: HoldoutCurve) -> Floats:
        """Return the mean 3-D errors (N,) of a curve's values over its folds, NaN where not known."""
        errors = [[self.truth[fold, float(value)] for value in line.values] for fold in line.folds]
        return np.asarray(np.mean(errors, axis=0))

    def _work(self, job: Job) -> None:
        from core.evaluation import sweep

        plan, found = self.plan, []
        while True:
            for trial in sweep(self._sequence, self._start, self.settings, plan, watch=job.watch):
                job.found.emit((trial, _error_3d(self._sequence, self._start, trial)))
                found.append(replace(trial, solution=None))
            if self.more:
                return
            self.more = beyond(gather_curve(found, plan.parameter), plan)
            if not self.more:
                return
            plan = replace(plan, values=self.more)


def beyond(line: HoldoutCurve, plan: HoldoutPlan) -> tuple[float, ...]:
    """Return further values where the lowest error is at an end of the range, else none."""
    if line.best not in (0, len(line.values) - 1):
        return ()
    return values_outside(plan.parameter, tuple(sorted(plan.values)), above=line.best > 0)


def _error_3d(sequence: Sequence, start: Iterate, trial: HoldoutTrial) -> float:
    """Return the 3-D error of a trial, NaN where nothing is known of it."""
    if sequence.truth is None:
        return float("nan")
    solution = trial.solution
    assert solution is not None  # it has just been found
    geometry = geometry_of(solution.problem, solution.factors, start.intrinsics, start.calibration)
    if geometry.projective is not None and not geometry.figures.get("metric", False):
        return float("nan")
    points = geometry.rotations @ geometry.points + geometry.translations[:, :, None]
    mirror = Mirror.AUTOMATIC if sequence.camera is CameraModel.ORTHOGONAL else Mirror.OFF
    return aligned_mm(points, sequence.truth, Alignment(mirror=mirror))[0].mean


class GuidanceController(QObject):
    """Owns what the guidance panel computes."""

    def __init__(self, session: Session, panel: GuidancePanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._panel, self._notifier = session, panel, session.notifier
        self._sweep: HeldOutSeries | None = None  # the one whose curve is shown
        self._used = ""  # what became of the value that was put into the parameters
        self._used_settings: Settings | None = None
        self._running: list[HeldOutSeries] = []  # also those that were cancelled and have not ended
        panel.compute_requested.connect(self.compute)
        panel.cancel_requested.connect(self.cancel)
        panel.use_requested.connect(self.use)
        panel.parameter_chosen.connect(lambda _parameter: self._on_parameter_chosen())
        panel.truth_toggled.connect(lambda _on: self._show_curve())
        session.sequence_changed.connect(lambda _sequence: self._on_sequence_changed())
        # What follows the parameters here must not cost a drag its frames.
        self._later = Throttle(self._show_settings, self, delay=READING_MILLISECONDS)
        session.changed.connect(self._on_changed)
        self._shown_settings = session.settings
        session.changed.connect(self._show_available)
        self._show_settings()

    @property
    def computing(self) -> bool:
        """Whether a series is under way."""
        return self._sweep is not None and self._sweep in self._running

    def show(self) -> None:
        """Bring the panel to the front."""
        show_dock_of(self._panel)

    def compute(self, parameter: str, values: tuple[float, ...], hiding: str) -> None:
        """Begin a series of solves from the reconstruction that is shown."""
        session = self._session
        start = None if session.shown is None else session.shown.last
        if session.sequence is None or start is None:
            return
        self.cancel()
        series = HeldOutSeries(
            session.sequence, start, session.settings, HoldoutPlan(parameter, values, hiding=hiding), self
        )
        self._replace_series(series)
        self._running.append(series)
        series.tried.connect(lambda trial, error: self._on_trial(series, trial, error))
        series.failed.connect(lambda sentence, details: self._on_failed(series, sentence, details))
        series.over.connect(lambda: self._on_over(series))
        self._panel.set_curves(None)
        self._panel.set_sentence("", usable=False)
        self._panel.set_progress((0, len(values) * series.plan.folds, ""))
        series.start()

    def cancel(self) -> None:
        """Stop the series that is under way within an iteration; what it has stays."""
        if self._sweep is not None and self.computing:
            self._sweep.cancel()
            self._panel.set_progress(None)

    def use(self) -> None:
        """Put the value that is advised into the parameters, and say what that does."""
        series = self._sweep
        if series is None or not series.trials:
            return
        name, line = series.plan.parameter, gather_curve(series.trials, series.plan.parameter)
        value, session = float(line.values[advised(line, series.plan.parameter)]), self._session
        if name == SCALE:  # of the weights that were varied
            scaled = with_parameter(series.settings, name, value)
            session.set_settings(session.settings.with_changes(rank=scaled.rank, penalty=scaled.penalty))
        else:
            session.set_settings(with_parameter(session.settings, name, value))
        done = "the shape follows." if session.live else "press Run (Ctrl+R) to solve with it."
        self._used = f"{TITLES[name]} {format_number(value)} is in Parameters now: {done}"
        self._used_settings = self._session.settings
        self._notifier.show_status(self._used)
        self._show_settings()

    def shut_down(self) -> None:
        """Stop, and wait for what is being computed."""
        for series in list(self._running):
            series.cancel()
            series.wait()

    # -- what comes of it -----------------------------------------------------------------------------------

    def _on_trial(self, series: HeldOutSeries, trial: HoldoutTrial, error: float) -> None:
        series.add(trial, error)
        if series is not self._sweep:
            return
        self._show_curve()
        if self.computing and not series.stopping:
            left = trial.seconds / trial.done * (trial.count - trial.done)
            words = duration(left) if trial.seconds > ETA_FROM_SECONDS else ""
            self._panel.set_progress((trial.done, trial.count, words))

    def _on_failed(self, series: HeldOutSeries, sentence: str, details: str) -> None:
        if details:
            self._notifier.fail(sentence, details)
        elif series is self._sweep:
            self._panel.set_sentence(f"{sentence[:1].upper()}{sentence[1:]}.", usable=False, warning=True)

    def _on_over(self, series: HeldOutSeries) -> None:
        self._running.remove(series)
        if series is self._sweep:
            self._panel.set_progress(None)
        else:
            series.deleteLater()

    def _replace_series(self, series: HeldOutSeries | None = None) -> None:
        """Show another series, or none; the one before is deleted at its end."""
        before, self._sweep = self._sweep, series
        if before is not None and before not in self._running:
            before.deleteLater()

    def _on_sequence_changed(self) -> None:
        """Another sequence is open: what was computed is not of it."""
        self.cancel()
        self._replace_series()
        self._panel.set_curves(None)
        self._panel.set_sentence("", usable=False)
        self._show_settings()
        self._show_available()

    # -- showing --------------------------------------------------------------------------------------------

    def _show_available(self) -> None:
        shown = self._session.shown
        self._panel.set_available(
            shown is not None and shown.last is not None and shown.last.rotations_chosen
        )

    def _on_parameter_chosen(self) -> None:
        if (
            self._sweep is not None
            and not self.computing
            and self._sweep.plan.parameter != self._panel.parameter
        ):
            self._replace_series()
            self._panel.set_curves(None)
            self._panel.set_sentence("", usable=False)
        self._show_settings()

    def _on_changed(self) -> None:
        if self._session.settings is not self._shown_settings:
            self._later.request()

    def _show_settings(self) -> None:
        """Offer what can be varied now, and mark where it is."""
        session = self._session
        self._shown_settings = session.settings
        camera = CameraModel.PERSPECTIVE if session.sequence is None else session.sequence.camera
        self._panel.set_parameters(parameters_of(session.settings, camera))
        name = self._panel.parameter
        self._panel.suggest(*suggest_range(session.settings, name))
        series = self._sweep
        shown = name if series is None else series.plan.parameter
        there = shown in parameters_of(session.settings, camera) and shown != SCALE
        self._panel.plot.set_present(parameter_value(session.settings, shown) if there else None)
        if series is not None and series.trials:
            self._show_sentence(series)

    def _show_curve(self) -> None:
        series, sequence = self._sweep, self._session.sequence
        if series is None or sequence is None or not series.trials:
            return
        name = series.plan.parameter
        line = gather_curve(series.trials, name)
        truth = series.truth_of(line)
        self._panel.set_curves(
            GuidanceCurves(
                values=line.values,
                held=line.held,
                deviation=line.deviation,
                kept=line.kept,
                best=line.best,
                name=TITLES[name],
                unit=sequence.units,
                whole=line.integer,
                truth=truth if np.isfinite(truth).any() else None,
                truth_unit=sequence.truth_units,
                advised=advised(line, name),
            )
        )
        self._show_sentence(series)

    def _show_sentence(self, series: HeldOutSeries) -> None:
        """Say what the curve recommends, and whether it is still of these parameters."""
        session = self._session
        assert session.sequence is not None  # there are trials of it
        name, unit = series.plan.parameter, session.sequence.units
        line = gather_curve(series.trials, name)
        words = self._used + " " if self._used and session.settings == self._used_settings else ""
        words += recommendation(line, series.plan, unit, widened=bool(series.more))
        if self._panel.with_truth:
            words += by_truth(line, name, series.truth_of(line), session.sequence.truth_units)
        usable, best = (
            name in parameters_of(session.settings, session.sequence.camera),
            line.values[line.best],
        )
        if not usable:
            words += f" {MEANINGS[name].capitalize()} is another number now."
        elif name != SCALE and with_parameter(series.settings, name, best) != with_parameter(
            session.settings, name, best
        ):
            words += " Other parameters have changed since."
        self._panel.set_sentence(words, usable=usable)
