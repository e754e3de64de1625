"""Guidance without ground truth: solves for a series of values beside the window and shows what it finds."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from core.alignment import Alignment, Mirror
from core.geometry import geometry_of
from core.held_out_curve import curve
from core.held_out_plan import Plan
from core.metrics import aligned_mm
from core.penalties import ExplicitWeights
from core.sequence import CameraModel
from core.varied import SCALE, changed, parameters_of, present, suggested
from nrsfm_gui.views.guidance_panel import MEANINGS, TITLES
from nrsfm_gui.views.guidance_plot import GuidanceCurves
from nrsfm_gui.words.number import format_number
from nrsfm_gui.words.summaries import ETA_FROM_SECONDS, duration, measure

from .solver_thread import Job

if TYPE_CHECKING:
    from core.held_out import Trial
    from core.reconstruct import Update
    from core.sequence import Sequence
    from core.settings import Settings
    from nrsfm_gui.main_window import MainWindow


LATER_MILLISECONDS = 80  # what follows the parameters here must not cost a drag its frames


class _Cancelled(Exception):
    """A series is not wanted any more."""


class _Sweep(QObject):
    """One series of solves in a thread; its trials come one by one, with their 3-D errors."""

    tried = pyqtSignal(object, float)  # Trial, NaN where there is no truth
    over = pyqtSignal()
    failed = pyqtSignal(str, str)

    def __init__(
        self, sequence: Sequence, start: Update, settings: Settings, plan: Plan, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.settings, self.plan = settings, plan
        self.trials: list[Trial] = []
        self.truth: dict[tuple[int, float], float] = {}
        self._stop = threading.Event()
        self._sequence, self._start = sequence, start
        self._job = Job(self._work, self)
        self._job.failed.connect(self.failed)
        self._job.finished.connect(self.over)

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def start(self) -> None:
        self._job.start()

    def cancel(self) -> None:
        self._stop.set()

    def wait(self) -> None:
        self._job.wait()

    def add(self, trial: Trial, error: float) -> None:
        self.trials.append(replace(trial, solution=None))  # its shapes are not looked at any more
        self.truth[trial.fold, trial.value] = error

    def _work(self) -> None:
        from core.held_out import sweep  # here, because the window opens before the solvers are imported

        try:
            for trial in sweep(self._sequence, self._start, self.settings, self.plan, watch=self._watch):
                self.tried.emit(trial, _error_3d(self._sequence, self._start, trial))
        except _Cancelled:
            return

    def _watch(self) -> None:
        if self._stop.is_set():
            raise _Cancelled


def _error_3d(sequence: Sequence, start: Update, trial: Trial) -> float:
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


class Guidance(QObject):
    """Owns what the guidance panel of a window computes."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._session = session = window.session
        self._panel = panel = window.guidance_panel
        self._sweep: _Sweep | None = None  # the one whose curve is shown
        self._running: list[_Sweep] = []  # also those that were cancelled and have not ended
        panel.compute_requested.connect(self.compute)
        panel.cancel_requested.connect(self.cancel)
        panel.use_requested.connect(self.use)
        panel.parameter_chosen.connect(lambda _parameter: self._look_at_another())
        session.sequence_changed.connect(lambda _sequence: self._forget())
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(LATER_MILLISECONDS)
        self._later.timeout.connect(self._show_settings)
        session.settings_changed.connect(self._note_settings)
        session.shown_changed.connect(lambda _run: self._show_available())
        session.run_changed.connect(lambda _run: self._show_available())
        self._show_settings()

    @property
    def computing(self) -> bool:
        """Whether a series is under way."""
        return self._sweep is not None and self._sweep in self._running

    def show(self) -> None:
        """Bring the panel to the front."""
        dock = self._panel.parentWidget()
        assert dock is not None  # the window has put it into one
        dock.show()
        dock.raise_()

    def compute(self, parameter: str, values: tuple[float, ...], hiding: str) -> None:
        """Begin a series of solves from the reconstruction that is shown."""
        session = self._session
        start = None if session.shown is None else session.shown.last
        if session.sequence is None or start is None:
            return
        self.cancel()
        series = _Sweep(
            session.sequence, start, session.settings, Plan(parameter, values, hiding=hiding), self
        )
        self._sweep = series
        self._running.append(series)
        series.tried.connect(lambda trial, error: self._take(series, trial, error))
        series.failed.connect(lambda sentence, details: self._fail(series, sentence, details))
        series.over.connect(lambda: self._end(series))
        self._panel.set_curves(None)
        self._panel.set_sentence("", usable=False)
        self._panel.set_progress((0, len(values) * series.plan.folds, ""))
        series.start()

    def cancel(self) -> None:
        """Stop the series that is under way after its present solve; what it has stays."""
        if self._sweep is not None and self.computing:
            self._sweep.cancel()
            self._panel.set_progress(None)

    def use(self) -> None:
        """Put the value at the minimum into the parameters."""
        series = self._sweep
        if series is None or not series.trials:
            return
        name, line = series.plan.parameter, curve(series.trials, series.plan.parameter)
        value, parameters = float(line.values[line.best]), self._window.parameters
        if name == SCALE:
            penalty = changed(series.settings, name, value).penalty
            assert isinstance(penalty, ExplicitWeights)  # there is a scale of no other
            parameters.set_weights(penalty.a)
        else:
            parameters.set_value(name, value)
        parameters.flush()

    def shut_down(self) -> None:
        """Stop, and wait for what is being computed."""
        for series in list(self._running):
            series.cancel()
            series.wait()

    # -- what comes of it -----------------------------------------------------------------------------------

    def _take(self, series: _Sweep, trial: Trial, error: float) -> None:
        series.add(trial, error)
        if series is not self._sweep:
            return
        self._show_curve()
        if self.computing and not series.stopping:
            left = trial.seconds / trial.done * (trial.count - trial.done)
            words = duration(left) if trial.seconds > ETA_FROM_SECONDS else ""
            self._panel.set_progress((trial.done, trial.count, words))

    def _fail(self, series: _Sweep, sentence: str, details: str) -> None:
        if details:
            self._window.report(sentence, details)
        elif series is self._sweep:
            self._panel.set_sentence(f"{sentence[:1].upper()}{sentence[1:]}.", usable=False, warning=True)

    def _end(self, series: _Sweep) -> None:
        self._running.remove(series)
        if series is self._sweep:
            self._panel.set_progress(None)
        else:
            series.deleteLater()

    def _forget(self) -> None:
        """Another sequence is open: what was computed is not of it."""
        self.cancel()
        self._sweep = None
        self._panel.set_curves(None)
        self._panel.set_sentence("", usable=False)
        self._show_settings()
        self._show_available()

    # -- showing --------------------------------------------------------------------------------------------

    def _show_available(self) -> None:
        shown = self._session.shown
        self._panel.set_available(shown is not None and shown.last is not None and shown.last.settled)

    def _look_at_another(self) -> None:
        if (
            self._sweep is not None
            and not self.computing
            and self._sweep.plan.parameter != self._panel.parameter
        ):
            self._sweep = None
            self._panel.set_curves(None)
            self._panel.set_sentence("", usable=False)
        self._show_settings()

    def _note_settings(self, _settings: Settings) -> None:
        if not self._later.isActive():
            self._later.start()

    def _show_settings(self) -> None:
        """Offer what can be varied now, and mark where it is."""
        session = self._session
        camera = CameraModel.PERSPECTIVE if session.sequence is None else session.sequence.camera
        self._panel.set_parameters(parameters_of(session.settings, camera))
        name = self._panel.parameter
        self._panel.suggest(*suggested(session.settings, name))
        series = self._sweep
        shown = name if series is None else series.plan.parameter
        there = shown in parameters_of(session.settings, camera) and shown != SCALE
        self._panel.plot.set_present(present(session.settings, shown) if there else None)
        if series is not None and series.trials:
            self._show_sentence(series)

    def _show_curve(self) -> None:
        series, sequence = self._sweep, self._session.sequence
        if series is None or sequence is None or not series.trials:
            return
        name = series.plan.parameter
        line = curve(series.trials, name)
        truth = np.array(
            [
                np.mean([error for (_, value), error in series.truth.items() if value == each])
                for each in line.values
            ]
        )
        self._panel.set_curves(
            GuidanceCurves(
                values=line.values,
                held=line.held,
                deviation=line.deviation,
                kept=line.kept,
                best=line.best,
                name=TITLES[name],
                unit=sequence.units,
                whole=line.whole,
                truth=truth if np.isfinite(truth).any() else None,
                truth_unit=sequence.truth_units,
            )
        )
        self._show_sentence(series)

    def _show_sentence(self, series: _Sweep) -> None:
        """Say what the curve recommends, and whether it is still of these parameters."""
        session = self._session
        assert session.sequence is not None  # there are trials of it
        name, unit = series.plan.parameter, session.sequence.units
        line = curve(series.trials, name)
        best, held = float(line.values[line.best]), float(line.held[line.best])
        words = f"{TITLES[name]} {format_number(best)} predicts best: {measure(held, unit)}"
        deviation = float(line.deviation[line.best])
        if np.isfinite(deviation):
            words += f" ± {deviation:.2g}"
        words += f" where hidden, {measure(float(line.kept[line.best]), unit)} where used."
        low, high = line.close
        if low < high:
            words += f" {format_number(low)} to {format_number(high)} are as good"
            words += "." if name in ("rank", "eta") else ": the strongest is the safest."
        if best in (line.values[0], line.values[-1]) and len(line.values) == len(series.plan.values):
            words += " It is at the end of the range: try a wider one."
        usable = name in parameters_of(session.settings, session.sequence.camera)
        if not usable:
            words += f" {MEANINGS[name].capitalize()} is another number now."
        elif name != SCALE and changed(series.settings, name, best) != changed(session.settings, name, best):
            words += " Other parameters have changed since."
        self._panel.set_sentence(words, usable=usable)
