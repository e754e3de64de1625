"""The frame of a run: phases of algorithms as one stream of updates, numbered, timed and counted.

`nonrigid_pipeline` and `low_rank_pipeline` fill it with the phases of their problems.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem.factors import centered
from ..problem.initialization import AGREEMENT, full_rank_start, padded
from ..solvers.admm import ADMMState, residuals
from ..solvers.levenberg_marquardt import LevenbergMarquardt
from ..solvers.majorized import Majorized
from ..solvers.methods import METHODS, on_matrix
from ..solvers.solver import ROUNDING, Algorithm, Status, iterate
from ..solvers.variable_projection import VariableProjection
from .progress import HistoryEntry, Iterate, Point, StartReport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..data.sequence import Sequence
    from ..foundation.types import Floats
    from ..problem.nonrigid import Factors, Problem
    from .problem_setup import Prepared
    from .settings import Settings

SHORT_TOLERANCE = 1e-8  # of a start that is only compared with others
GIVEN_UP = "left behind"
CONTINUED = (
    "from where it was"  # the one start of a run that goes on from another: it searches for no minimum
)
WARM_DAMPING = 1e-9
FOLLOWING = 6  # products in a step of a run that goes on under changed settings


class Run:
    """The bookkeeping of one run: what is numbered, timed and kept across its phases.

    A subclass has `updates`.
    """

    def __init__(self, sequence: Sequence, settings: Settings) -> None:
        self.sequence = sequence
        self.settings = settings
        self.method = METHODS[settings.method]
        self.iteration = 0
        self.seconds = 0.0
        self.best: Point | None = None
        self.point: Factors  # where the phase under way is, and with what loss
        self.point_loss = np.inf
        self.shown: Point | None = None  # stands for that point while only a subset is solved
        self.whole: Problem | None = None  # the problem at full rank, while the rank grows
        self.share = 1.0  # of the observations that are in that subset
        self.rotations = ""
        self.rotations_chosen = False
        self.goes_on = False  # whether it begins where an earlier one was
        self.phases_done = 0
        self.phase_count = 1
        self.reports: dict[str, float] = {}  # the loss that each start ended with
        self.notes: dict[str, str] = {}  # what became of a start that was not followed to its end
        self.prepared: Prepared | None = None
        self.calibration: Floats | None = None  # K of the views of a low-rank problem, where it is known
        self.phase_status = Status.RUNNING  # of the phase under way
        self.state: Any = None  # and the state of its algorithm

    def _on_matrix(self, problem: Problem, factors: Factors | None = None) -> Iterator[Iterate]:
        """Run a method that works on X itself; of two, the second goes on from the cut of the first."""
        options, title = dict(self.settings.options), self.method.title
        first = self.method.first(options, max_iterations=self.settings.max_iterations)
        goes_on = factors is not None
        factors = factors or _closed_form(problem)
        if self.method.refined is None:
            yield from self._last(problem, first, factors, title, CONTINUED if goes_on else title)
            return
        for update in self._phase(problem, first, factors, "ADMM"):
            factors = update.current.factors
            yield update
        name = CONTINUED if goes_on else "ADMM, refined"
        yield from self._last(problem, self._polisher(warm=False), factors, "refine", name)

    def _last(
        self, problem: Problem, algorithm: Algorithm[Any], start: Factors, phase: str, name: str
    ) -> Iterator[Iterate]:
        """Yield the phase that ends the run, and report where the start of that name, if any, ended."""
        for update in self._phase(problem, algorithm, start, phase):
            if not self.phase_status.finished:
                yield update
                continue
            if name:
                self.reports[name] = update.best.loss
            yield replace(update, status=self.phase_status, fraction=1.0, starts=self._starts())

    def _phase(
        self, problem: Problem, algorithm: Algorithm[Any], start: Factors, phase: str
    ) -> Iterator[Iterate]:
        iteration, seconds = self.iteration, self.seconds
        if problem.spectral is not None and isinstance(algorithm, LevenbergMarquardt | VariableProjection):
            algorithm = Majorized(algorithm)
        for snapshot in iterate(problem, algorithm, start):
            self.iteration = iteration + snapshot.progress.iteration
            self.seconds = seconds + snapshot.progress.seconds
            factors = algorithm.factors(problem, snapshot.state)
            # An algorithm's own loss may be of another point (ADMM's, before the cut) or have fewer digits.
            exact = snapshot.status.finished or on_matrix(algorithm)
            loss = problem.loss(factors) if exact else snapshot.progress.loss
            self.point, self.point_loss, self.state = factors, loss, snapshot.state
            whole = self.whole or problem
            current = self.shown or Point(whole, padded(factors, whole.rank), loss)
            # Where a phase ends its gradient is least: it stands before points that differ by rounding.
            margin = ROUNDING if snapshot.status.finished else 0.0
            # A method on X is not asked for cuts on its way, but for that of the matrix where it ends.
            ended = snapshot.status.finished and on_matrix(algorithm) and np.isfinite(loss)
            if self.best is None or ended or not current.loss > self.best.loss * (1 + margin):
                self.best = current
            assert self.prepared is not None  # set before the first phase
            self.phase_status = snapshot.status
            state = snapshot.state
            primal, dual = residuals(state) if isinstance(state, ADMMState) else (None, None)
            yield Iterate(
                settings=self.settings,
                record=HistoryEntry(self.iteration, self.seconds, loss / self.share, phase, primal, dual),
                status=Status.RUNNING,
                phase=phase,
                fraction=min(self.phases_done / self.phase_count, 1.0),
                intrinsics=self.prepared.intrinsics,
                calibration=self.calibration,
                rotations=self.rotations,
                rotations_chosen=self.rotations_chosen,
                current=current,
                best=self.best,
                starts=self._starts(),
            )
        self.phases_done += 1

    def _algorithm(self, tolerance: float, most: int | None = None) -> Algorithm[Any]:
        """Return the method's bilinear step, with at most so many iterations, or those of the settings."""
        make = self.method.second if self.method.refined else self.method.first
        limit = min(self.settings.max_iterations, most or self.settings.max_iterations)
        return make(dict(self.settings.options), tolerance=tolerance, max_iterations=limit)

    def _polisher(self, *, warm: bool) -> Algorithm[Any]:
        algorithm = self._algorithm(self.settings.tolerance)
        chosen = "damping" in dict(self.settings.options)
        if warm and not chosen and isinstance(algorithm, VariableProjection):
            return replace(algorithm, damping=WARM_DAMPING)
        return algorithm

    def _follower(self, *, whole: bool) -> Algorithm[Any]:
        """Return what goes on from where another run was, in short steps, for changes are seen after each.

        `whole` tells whether its point is taken as it was, neither padded nor cut.
        """
        algorithm = self._algorithm(self.settings.tolerance)
        if isinstance(algorithm, VariableProjection):
            return replace(algorithm, most_products=FOLLOWING, whole_start=whole)
        return algorithm

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, stream])

    def _starts(self) -> tuple[StartReport, ...]:
        """Return what became of the starts; losses of those left behind are of no minimum, or of a subset."""
        notes = {name: self.notes.get(name, "") for name in self.reports}
        ended = [loss for name, loss in self.reports.items() if notes[name] != GIVEN_UP]
        limit = min(ended, default=0.0) * (1 + AGREEMENT)
        return tuple(
            StartReport(name, loss, loss <= limit and notes[name] != GIVEN_UP, notes[name])
            for name, loss in self.reports.items()
        )


def candidate_at(problem: Problem, factors: Factors) -> Point:
    """Return a point of up to the problem's rank with its loss."""
    point = padded(factors, problem.rank)
    return Point(problem, point, problem.loss(point))


def _closed_form(problem: Problem) -> Factors:
    """Return X0, whole; centered, so that the translations need not move out of it through the penalty."""
    whole = full_rank_start(problem)
    return centered(whole) if problem.offsets else whole
