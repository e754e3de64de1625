"""Solve for a series of values with some tracks hidden, in a thread; extend the range once if needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from core import Alignment, CameraModel
from core.evaluation import HoldoutCurve, Mirror, aligned_mm, gather_curve, values_outside
from core.reconstruction import geometry_of
from nrsfm_gui.engine.jobs import Job

if TYPE_CHECKING:
    from core import Iterate, Sequence, Settings
    from core.evaluation import HoldoutPlan, HoldoutTrial
    from core.foundation import Floats


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
