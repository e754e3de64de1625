"""The controller of the panel Guidance: solves for a series of values in a thread and shows the curve."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from PyQt6.QtCore import QObject

from core import Alignment, CameraModel, Iterate, Sequence, Settings
from core.evaluation import (
    SCALE,
    HoldoutCurve,
    HoldoutPlan,
    HoldoutTrial,
    Mirror,
    aligned_mm,
    gather_curve,
    parameter_value,
    parameters_of,
    present_noise,
    suggest_range,
    values_outside,
    with_parameter,
)
from core.foundation import Floats
from core.reconstruction import SETTINGS, geometry_of
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.engine.throttle import PanelUpdater
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.guidance.guidance_panel import (
    MEANINGS,
    TITLES,
    GuidanceCurves,
    GuidancePanel,
    GuidanceState,
    advised,
    by_truth,
    recommendation,
    value_label,
)
from nrsfm_gui.scene.summaries import ETA_FROM_SECONDS, duration
from nrsfm_gui.widgets.dock_title import show_dock_of


@dataclass(eq=False)
class HeldOutSeries:
    """One series of solves: its trials as far as they are known, with their 3-D errors."""

    sequence: Sequence
    settings: Settings
    plan: HoldoutPlan
    trials: list[HoldoutTrial] = field(default_factory=list)
    truth: dict[tuple[int, float], float] = field(default_factory=dict)  # by fold and value
    curves: GuidanceCurves | None = None  # of the trials, where there are some
    job: Job | None = None  # as long as it is under way
    progress: tuple[int, int, str] | None = None
    refusal: str = ""

    @property
    def more(self) -> tuple[float, ...]:
        """The values that the range was widened by."""
        return tuple(sorted({trial.value for trial in self.trials} - set(self.plan.values)))

    def add(self, trial: HoldoutTrial, error: float) -> None:
        """Keep the numbers of a trial and its 3-D error, NaN where that is not known."""
        self.trials.append(replace(trial, solution=None, refined=None))  # its shapes are not needed any more
        self.truth[trial.fold, trial.value] = error
        parameter, sequence = self.plan.parameter, self.sequence
        line = gather_curve(self.trials, parameter)
        truth = self.truth_of(line)
        known = truth if np.isfinite(truth).any() else None
        self.curves = GuidanceCurves(line, parameter, sequence.units, known, sequence.truth_units)

    def truth_of(self, line: HoldoutCurve) -> Floats:
        """Return the mean 3-D errors (N,) of a curve's values over its folds, NaN where not known."""
        errors = [[self.truth[fold, float(value)] for value in line.values] for fold in line.folds]
        return np.asarray(np.mean(errors, axis=0))


def solve_series(sequence: Sequence, start: Iterate, series: HeldOutSeries, job: Job) -> None:
    """Emit the trials of a series with their 3-D errors; a range whose best is at an end is widened once."""
    from core.evaluation import sweep

    plan, found = series.plan, []
    for widened in (False, True):
        for trial in sweep(sequence, start, series.settings, plan, watch=job.watch):
            job.found.emit((trial, _error_3d(sequence, start, trial)))
            found.append(replace(trial, solution=None, refined=None))
        more = () if widened else beyond(gather_curve(found, plan.parameter), plan)
        if not more:
            return
        plan = replace(plan, values=more)


def beyond(line: HoldoutCurve, plan: HoldoutPlan) -> tuple[float, ...]:
    """Return further values where the lowest error is at an end of the range, else none."""
    if line.best not in (0, len(line.values) - 1):
        return ()
    return values_outside(plan.parameter, tuple(sorted(plan.values)), above=line.best > 0)


def _error_3d(sequence: Sequence, start: Iterate, trial: HoldoutTrial) -> float:
    if sequence.truth is None:
        return float("nan")
    solution = trial.solution
    assert solution is not None  # it has just been found
    if trial.refined is not None:
        points = trial.refined.camera_points()
    else:
        geometry = geometry_of(solution.problem, solution.factors, start.intrinsics, start.calibration)
        if geometry.projective is not None and not geometry.figures.get("metric", False):
            return float("nan")
        points = geometry.rotations @ geometry.points + geometry.translations[:, :, None]
    orthogonal = start.settings.camera_of(sequence.camera) is CameraModel.ORTHOGONAL
    mirror = Mirror.AUTOMATIC if orthogonal else Mirror.OFF
    return aligned_mm(points, sequence.truth, Alignment(mirror=mirror))[0].mean


class GuidanceController(QObject):
    """Owns what the guidance panel computes."""

    def __init__(self, session: Session, panel: GuidancePanel) -> None:
        super().__init__(panel)
        self._session, self._panel, self._notifier = session, panel, session.notifier
        self._jobs = Jobs(self, Order.NEWEST)
        self._series: HeldOutSeries | None = None  # the one whose curve is shown
        # What became of the value that was put into the parameters, and these.
        self._used: tuple[str, Settings] | None = None
        self._noise: float | None = None  # of the tracks, where it was asked for
        # What follows the parameters here must not cost a drag its frames.
        self._updater = PanelUpdater(self._resolve, panel.set_state, self)
        panel.compute_requested.connect(self.compute)
        panel.cancel_requested.connect(self.cancel)
        panel.use_requested.connect(self.use)
        panel.parameter_chosen.connect(self._on_parameter_chosen)
        panel.truth_toggled.connect(lambda _on: self._updater.run())
        session.sequence_changed.connect(self._on_sequence_changed)
        self._updater.follow(session.settings_changed, session.shown_changed, session.run_changed)
        self._updater.run()

    @property
    def computing(self) -> bool:
        """Whether a series is being computed."""
        return self._series is not None and self._series.job is not None

    def show(self) -> None:
        """Bring the panel to the front."""
        show_dock_of(self._panel)

    def compute(self, parameter: str, values: tuple[float, ...], hiding: str) -> None:
        """Begin a series of solves from the reconstruction that is shown."""
        sequence, shown = self._session.sequence, self._session.shown
        start = None if shown is None else shown.last
        if sequence is None or start is None:
            return
        plan = HoldoutPlan(parameter, values, hiding=hiding)
        series = HeldOutSeries(sequence, self._session.settings, plan)
        series.progress = 0, len(values) * plan.folds, ""
        job = Job(
            lambda job: solve_series(sequence, start, series, job),
            failed=lambda sentence, details: self._on_failed(series, sentence, details),
        )
        job.found.connect(lambda found: self._on_trial(series, *found))
        job.finished.connect(lambda: self._on_finished(series))
        self._series = series
        series.job = self._jobs.start(job)
        self._updater.run()

    def cancel(self) -> None:
        """Stop the active series within an iteration; its results are kept."""
        self._jobs.cancel()
        if self._series is not None:
            self._series.job = None
        self._updater.run()

    def use(self) -> None:
        """Set the recommended value in the parameters, and show what that changes."""
        series, session = self._series, self._session
        if series is None or series.curves is None:
            return
        name, line = series.plan.parameter, series.curves.line
        value = float(line.values[advised(line, name)])
        if name == SCALE:  # of the weights that were varied
            scaled = with_parameter(series.settings, name, value)
            session.set_settings(session.settings.with_changes(rank=scaled.rank, penalty=scaled.penalty))
        else:
            session.set_settings(with_parameter(session.settings, name, value))
        live = session.live and (name not in SETTINGS or SETTINGS[name].live)
        done = "the shape follows." if live else "press Run (Ctrl+R) to solve with it."
        words = f"{TITLES[name]} {value_label(name, value)} is in Parameters now: {done}"
        self._used = words, session.settings
        self._notifier.show_status(words)
        self._updater.run()

    def shut_down(self) -> None:
        """Stop, and wait for what is being computed."""
        self._jobs.shut_down()

    # -- what comes of it -----------------------------------------------------------------------------------

    def _on_trial(self, series: HeldOutSeries, trial: HoldoutTrial, error: float) -> None:
        if series is not self._series:
            return
        series.add(trial, error)
        left = trial.seconds / trial.done * (trial.count - trial.done)
        words = duration(left) if trial.seconds > ETA_FROM_SECONDS else ""
        series.progress = trial.done, trial.count, words
        self._updater.request()

    def _on_failed(self, series: HeldOutSeries, sentence: str, details: str) -> None:
        if details:
            self._notifier.fail(sentence, details)
        elif series is self._series:
            series.refusal = f"{sentence[:1].upper()}{sentence[1:]}."

    def _on_finished(self, series: HeldOutSeries) -> None:
        series.job = None
        if series is self._series:
            self._updater.run()

    def _on_sequence_changed(self, _sequence: Sequence) -> None:
        """Clear the results, which are of another sequence."""
        self._noise = self._series = None
        self.cancel()

    def _on_parameter_chosen(self, parameter: str) -> None:
        if self._series is not None and not self.computing and self._series.plan.parameter != parameter:
            self._series = None
        self._updater.run()

    # -- showing --------------------------------------------------------------------------------------------

    def _resolve(self) -> GuidanceState:
        session, series = self._session, self._series
        settings, shown = session.settings, session.shown
        camera = CameraModel.PERSPECTIVE if session.sequence is None else session.sequence.camera
        names = tuple(parameters_of(settings, camera))
        chosen = self._panel.parameter if self._panel.parameter in names else names[0]
        varied = chosen if series is None else series.plan.parameter
        if "noise" in (chosen, varied) and self._noise is None and session.sequence is not None:
            self._noise = present_noise(session.sequence)
        noise = self._noise or 1.0
        now = parameter_value(settings, varied) if varied in names and varied != SCALE else None
        sentence, usable = self._sentence(names)
        return GuidanceState(
            available=shown is not None and shown.last is not None and shown.last.rotations_chosen,
            parameters=names,
            progress=series.progress if series is not None and series.job is not None else None,
            suggested=None if self.computing else suggest_range(settings, chosen, noise),
            present=noise if now is not None and np.isnan(now) else now,
            curves=None if series is None else series.curves,
            sentence=sentence,
            usable=usable,
            warning=series is not None and bool(series.refusal),
        )

    def _sentence(self, names: tuple[str, ...]) -> tuple[str, bool]:
        """Return what the curve recommends, and whether it is still of these parameters."""
        session, series = self._session, self._series
        if series is None or series.refusal or series.curves is None:
            return "" if series is None else series.refusal, False
        curves, name, line = series.curves, series.plan.parameter, series.curves.line
        used, settings = self._used or ("", session.settings)
        words = f"{used} " if used and session.settings == settings else ""
        words += recommendation(line, series.plan, curves.unit, widened=bool(series.more))
        if self._panel.with_truth and curves.truth is not None:
            words += by_truth(line, name, curves.truth, curves.truth_unit)
        usable, best = name in names, line.values[line.best]
        if not usable and name in SETTINGS:
            words += " The depths are not the objective now."
        elif not usable:
            words += f" {MEANINGS[name].capitalize()} is another number now."
        elif name != SCALE:
            then, now = (with_parameter(each, name, best) for each in (series.settings, session.settings))
            words += " Other parameters have changed since." if then != now else ""
        return words, usable
