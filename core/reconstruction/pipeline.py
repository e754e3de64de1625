"""The phases of a run as one stream of iterates, and the rules of the multistart search.

A phase is one algorithm on one problem.  Every function here is a generator: it yields an `Iterate` for each
step, numbered and timed, and returns the last step, from which the next phase starts.  `RunContext` holds
what does not change during a phase.  `RunLog` holds what is counted through all phases.  `nonrigid_pipeline`
and `low_rank_pipeline` arrange the phases of their problems.

Minima are few but differ much in loss, and each is reached from a few percent to all of the starts
(`initialization`).  So many random starts take a few cheap steps (`solvers.screening`, on a subset); the best
distinct ones are followed further, until one comes near a known end or is unlikely to reach the lowest.
The starts that are not random are not screened.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from ..cameras.calibration import calibrate, spread
from ..cameras.gross_outliers import find_gross_outliers
from ..cameras.intrinsics import IntrinsicsOrigin, resolve_intrinsics
from ..data.sequence import CameraModel, Sequence
from ..depth import estimate_noise
from ..foundation.exceptions import InputError
from ..foundation.phases import DEPTHS, Phase, PhaseKind
from ..foundation.types import Bools, Floats
from ..penalties import Penalty
from ..problem.factors import Factors, center
from ..problem.initialization import AGREEMENT, full_rank_start, pad_rank, with_rank
from ..problem.nonrigid import NonRigidProblem, Problem, checked_tracks
from ..problem.robust import RobustLoss
from ..solvers.methods import METHODS, Method, adapted
from ..solvers.screening import span_distance
from ..solvers.solver import ROUNDING, Algorithm, Status, iterate
from .progress import HistoryEntry, Iterate, Point, final_loss
from .result import StartReport
from .settings import Settings

AnyProblem = TypeVar("AnyProblem", bound=Problem)
SHORT_TOLERANCE = 1e-8  # of a start that is only compared with others

# The scale of a robust loss, where none is given: of the median residual, or of the noise of a coordinate.
RESIDUALS, NOISES, LEAST_SCALE = 3.0, 4.0, 1e-9
GIVEN_UP = "given up"  # the note of a start that was not followed to its end
REFINE = Phase(PhaseKind.REFINE)
CONTINUED = "from where it was"  # the only start of a run that continues another one


@dataclass(frozen=True, eq=False)
class CalibratedTracks:
    """Calibrated observations, and the K that calibrated them."""

    tracks: Floats  # (F, 2, P) calibrated; 0 where hidden
    visible: Bools  # (F, P)
    intrinsics: Floats  # (3, 3)
    camera: CameraModel
    origin: IntrinsicsOrigin | None = None  # of the intrinsics, where it is known

    def problem(self, rotations: Floats, penalty: Penalty, rank: int, eta: float) -> NonRigidProblem:
        """Pose the problem for given rotations."""
        bare = NonRigidProblem(self.tracks, self.visible, rotations, self.effective_eta(eta), np.zeros(1))
        return bare.with_penalty(penalty, rank)

    def effective_eta(self, eta: float) -> float:
        """Return the eta that a problem is posed at: 1 for orthogonal tracks, for any eta."""
        return 1.0 if self.camera is CameraModel.ORTHOGONAL else eta


def prepare(sequence: Sequence, settings: Settings) -> CalibratedTracks:
    """Resolve the intrinsics of a sequence and calibrate its tracks."""
    camera = settings.camera_of(sequence.camera)
    found = resolve_intrinsics(sequence, settings.intrinsics, camera)
    return calibrate_tracks(sequence, found.K, camera, found.origin)


def calibrate_tracks(
    sequence: Sequence, K: Floats, camera: CameraModel, origin: IntrinsicsOrigin | None
) -> CalibratedTracks:
    """Calibrate the tracks of a sequence with a K, of which the origin may be known."""
    tracks = calibrate(sequence.observations, K, camera)
    tracks.setflags(write=False)
    # Hidden entries are set to 0 here, so that every problem posed on the tracks shares them.
    tracks, visible = checked_tracks(tracks, sequence.visible)
    try:
        spread(tracks, visible)
    except InputError as error:
        raise InputError(f"{sequence.name}: {error}") from error
    return CalibratedTracks(tracks, visible, K, camera, origin)


def focal_length(intrinsics: Floats) -> float:
    """Return the units of the tracks per calibrated unit; the geometric mean where x and y have others."""
    return float(np.sqrt(intrinsics[0, 0] * intrinsics[1, 1]))


def robust_loss(settings: Settings, problem: Problem, factors: Factors, intrinsics: Floats) -> RobustLoss:
    """Return the robust loss of the settings, whose scale a point's residuals give where they do not."""
    if settings.loss_scale is not None:
        return RobustLoss(settings.loss, settings.loss_scale / focal_length(intrinsics))
    squares = problem.data.squares(factors)[problem.features.visible]
    usual = RESIDUALS * float(np.sqrt(np.median(squares)))
    noise = NOISES * estimate_noise(problem.tracks, problem.visible)
    return RobustLoss(settings.loss, max(usual, noise, LEAST_SCALE))


def continued_loss(start: Iterate, settings: Settings, problem: Problem, factors: Factors) -> Problem:
    """Return a continued run's problem under the settings' loss, with its scale where that still holds."""
    if settings.loss == "squared":
        return problem.with_robust(None)
    robust = start.best.problem.robust
    if robust is None or not start.settings.agrees(settings, "loss", "loss_scale", "eta", "hide"):
        robust = robust_loss(settings, problem, factors, start.intrinsics)
    return problem.with_robust(robust)


@dataclass
class RunLog:
    """The counts and results that a run accumulates over its phases."""

    iteration: int = 0
    seconds: float = 0.0
    best: Point | None = None
    losses: dict[str, float] = field(default_factory=dict)  # that each start ended with
    notes: dict[str, str] = field(default_factory=dict)  # on starts that were not followed to their end
    phases_done: int = 0
    phase_count: int = 1

    def start_reports(self) -> tuple[StartReport, ...]:
        """Return how the starts ended; the loss of one that was given up is of no minimum, or of a subset."""
        notes = {name: self.notes.get(name, "") for name in self.losses}
        ended = [loss for name, loss in self.losses.items() if notes[name] != GIVEN_UP]
        limit = min(ended, default=0.0) * (1 + AGREEMENT)
        return tuple(
            StartReport(name, loss, loss <= limit and notes[name] != GIVEN_UP, notes[name])
            for name, loss in self.losses.items()
        )

    def agreeing(self) -> int:
        """Return how many starts have ended in the lowest minimum."""
        return sum(report.agrees for report in self.start_reports())


@dataclass(frozen=True, eq=False)
class RunContext:
    """The values that are fixed during a phase of a run."""

    sequence: Sequence
    settings: Settings
    tracks: CalibratedTracks
    log: RunLog = field(default_factory=RunLog)
    calibration: Floats | None = None  # K of the views of a low-rank problem, where it is known
    rotations: str = ""  # the name of the rotations of the problem
    rotations_chosen: bool = False
    full_rank: Problem | None = None  # the problem at full rank, while the rank grows
    displayed: Point | None = None  # replaces the current point while only a subset is solved
    share: float = 1.0  # of the observations that are in this subset
    robust_tracks: CalibratedTracks | None = None  # all, where gross outliers are left out of the search
    ends: str | None = None  # of the phase that ends the run: the start whose loss it gives, "" of none

    @property
    def method(self) -> Method:
        """The method of the settings."""
        return METHODS[self.settings.method]

    def rng(self, stream: int) -> np.random.Generator:
        """Return the random numbers of one purpose."""
        return np.random.default_rng([self.settings.seed, stream])

    def bilinear_algorithm(self, tolerance: float | None = None, most: int | None = None) -> Algorithm[Any]:
        """Return the method's bilinear step, to a tolerance, or that of the settings; likewise its limit."""
        settings, make = self.settings, self.method.second if self.method.refined else self.method.first
        limit = min(settings.max_iterations, most or settings.max_iterations)
        reached = settings.tolerance if tolerance is None else tolerance
        return make(dict(settings.options), tolerance=reached, max_iterations=limit)

    def without_gross_outliers(self) -> RunContext:
        """Return the context of the search: under a robust loss without gross outliers."""
        if self.settings.loss == "squared":
            return self
        searched = self.tracks
        found = find_gross_outliers(searched.tracks, searched.visible)
        if found.any():
            kept, visible = checked_tracks(searched.tracks, searched.visible & ~found)
            searched = replace(searched, tracks=kept, visible=visible)
        return replace(self, tracks=searched, robust_tracks=self.tracks)

    def last_problem(self, problem: Problem, factors: Factors) -> Problem:
        """Return the problem of the last phase: under a robust loss another one, of all observations."""
        tracks = self.robust_tracks
        if tracks is None:
            return problem
        self.log.best = None
        robust = robust_loss(self.settings, problem, factors, tracks.intrinsics)
        return problem.with_observations(tracks.tracks, tracks.visible).with_robust(robust)


@dataclass(frozen=True, eq=False)
class PhaseStep:
    """One step of a phase: its point and the objective of the phase's problem there."""

    factors: Factors
    loss: float
    status: Status  # of the algorithm
    state: Any
    iterate: Iterate  # that the run yields for it


def solve_phase(
    context: RunContext, problem: Problem, algorithm: Algorithm[Any], start: Factors, phase: Phase
) -> Iterator[PhaseStep]:
    """Yield the steps of an algorithm."""
    log = context.log
    iteration, seconds = log.iteration, log.seconds
    algorithm = adapted(algorithm, problem)
    for snapshot in iterate(problem, algorithm, start):
        log.iteration = iteration + snapshot.progress.iteration
        log.seconds = seconds + snapshot.progress.seconds
        factors, ended = algorithm.factors(problem, snapshot.state), snapshot.status.finished
        last = ended and context.ends is not None  # of the run
        # An algorithm's own loss may be of another point (ADMM's, before the cut) or have fewer digits.
        exact = ended or algorithm.on_matrix
        loss = problem.loss(factors) if exact else snapshot.progress.loss
        full_rank = context.full_rank or problem
        current = context.displayed or Point(full_rank, pad_rank(factors, full_rank.rank), loss)
        # Of points that differ by rounding the end of a phase is preferred: its gradient is least.
        margin = ROUNDING if ended else 0.0
        # Of a method on X only the cut at its end counts, not those of earlier iterations.
        cut = ended and algorithm.on_matrix and np.isfinite(loss)
        if log.best is None or cut or not current.loss > log.best.loss * (1 + margin):
            log.best = current
        if last and context.ends:
            log.losses[context.ends] = log.best.loss
        primal, dual = algorithm.residuals(snapshot.state) or (None, None)
        lowest = final_loss(log.best, context.settings, rotations_chosen=context.rotations_chosen)
        reported = Iterate(
            settings=context.settings,
            record=HistoryEntry(
                log.iteration, log.seconds, loss / context.share, phase, primal, dual, best=lowest
            ),
            status=snapshot.status if last else Status.RUNNING,
            fraction=1.0 if last else min(log.phases_done / log.phase_count, 1.0),
            intrinsics=context.tracks.intrinsics,
            origin=context.tracks.origin,
            calibration=context.calibration,
            rotations=context.rotations,
            rotations_chosen=context.rotations_chosen,
            current=current,
            best=log.best,
            starts=log.start_reports(),
        )
        yield PhaseStep(factors, loss, snapshot.status, snapshot.state, reported)
    log.phases_done += 1


def run_phase(
    context: RunContext, problem: Problem, algorithm: Algorithm[Any], start: Factors, phase: Phase
) -> Generator[Iterate, None, PhaseStep]:
    """Yield the iterates of a phase and return its last step."""
    for step in solve_phase(context, problem, algorithm, start, phase):
        yield step.iterate
    return step


def run_refinement(
    context: RunContext, problem: Problem, factors: Factors, name: str, *, complete: bool
) -> Iterator[Iterate]:
    """Yield the last phase of a search; `complete` is whether all of the observations were searched."""
    final, algorithm = context.last_problem(problem, factors), context.bilinear_algorithm()
    if complete:
        algorithm = algorithm.for_near_start(dict(context.settings.options))
    elif context.settings.objective == DEPTHS:  # the end is a start, of a part of the points
        algorithm = context.bilinear_algorithm(most=1)
    context = replace(context, ends=name if complete and final is problem else "")
    yield from run_phase(context, final, algorithm, factors, REFINE)


def run_on_matrix(context: RunContext, problem: Problem, factors: Factors | None = None) -> Iterator[Iterate]:
    """Yield the run of a method that works on X itself, from factors or its closed form, in two steps."""
    settings, title = context.settings, context.method.title
    first = context.method.first(dict(settings.options), max_iterations=settings.max_iterations)
    continued = factors is not None
    if factors is None:
        factors = full_rank_start(problem)
        # Centered, so that the translations need not move out of it through the penalty.
        factors = center(factors) if problem.offsets else factors
    phase = Phase(PhaseKind.MATRIX, name=title if context.method.refined is None else "ADMM")
    if context.method.refined is not None:
        end = yield from run_phase(context, problem, first, factors, phase)
        first, factors, phase, title = context.bilinear_algorithm(), end.factors, REFINE, "ADMM, refined"
    context = replace(context, ends=CONTINUED if continued else title)
    yield from run_phase(context, problem, first, factors, phase)


def run_continued(context: RunContext, problem: Problem, point: Factors, start: Iterate) -> Iterator[Iterate]:
    """Yield the run of a problem that goes on from a point of another run, under the loss of the settings.

    Where the parameters of the search are put back, and the point is not lower, it goes on from the end of
    the search: from elsewhere the descent may lead into a higher basin.
    """
    problem, found = continued_loss(start, context.settings, problem, point), start.search_end
    complete = point is start.best.factors
    if found and problem.same_objective(found.problem) and not problem.loss(point) < found.loss:
        point, complete = found.factors, True
    if context.method.on_matrix:
        return run_on_matrix(context, problem, point)
    algorithm = context.bilinear_algorithm().for_changed_settings(complete=complete)
    return run_phase(replace(context, ends=CONTINUED), problem, algorithm, point, REFINE)


def point_at(problem: Problem, factors: Factors) -> Point:
    """Return factors of up to the problem's rank as a point with its loss."""
    factors = pad_rank(factors, problem.rank)
    return Point(problem, factors, problem.loss(factors))


# -- starts of a search --------------------------------------------------------------------------------------

UNSCREENED = 3  # starts: the rigid one, the cut of the closed form, and the lowest end at a raised rank
GROUP = 32  # starts that take their steps together
SURVIVORS = 3  # distinct starts of a group that are followed to their end
CLOSE = 1e-3  # relative difference in loss
SAME_SPAN = 0.02  # `span_distance`; below both limits two points are of one minimum
DECREASE_FACTOR = 30  # a converging run does not decrease by more than this multiple of its last decrease
LEAST_STEPS = 3  # steps before a run can be given up


@dataclass(frozen=True, eq=False)
class End:
    """The end of a start."""

    name: str
    factors: Factors
    loss: float


@dataclass(frozen=True, eq=False)
class StartSearch(Generic[AnyProblem]):
    """A search over starts: the problem that they are of, the algorithm that follows them, and their ends."""

    context: RunContext
    problem: AnyProblem
    algorithm: Algorithm[Any]
    ends: list[End] = field(default_factory=list)
    lists_running: bool = True  # whether a start is reported before it has ended

    @property
    def suffix(self) -> str:
        """What is behind the names of starts on some of the observations."""
        return " (subset)" if self.context.share < 1 else ""

    @property
    def lowest(self) -> End:
        """The lowest end."""
        return min(self.ends, key=lambda end: end.loss)

    def add(self, name: str, step: PhaseStep) -> None:
        """Add the end of a start."""
        self.context.log.losses[name] = step.loss / self.context.share
        self.ends.append(End(name, step.factors, step.loss))

    def follow(self, start: Factors, phase: Phase, name: str, *, limit: float = np.inf) -> Iterator[Iterate]:
        """Run one start until it converges, meets a known end, or cannot get below a limit."""
        log = self.context.log
        losses: list[float] = []
        for step in solve_phase(self.context, self.problem, self.algorithm, start, phase):
            losses.append(step.loss)
            if self.lists_running:
                log.losses[name] = step.loss / self.context.share
            yield step.iterate
            if step.status.finished:
                continue
            if reached := find_reached_end(step.factors, step.loss, self.ends):
                log.losses[name], log.notes[name] = log.losses[reached.name], f"joined {reached.name}"
            elif cannot_improve(losses, limit):
                log.losses[name], log.notes[name] = step.loss / self.context.share, GIVEN_UP
            else:
                continue
            log.phases_done += 1
            return
        self.add(name, step)

    def grow(
        self,
        factors: Factors,
        phase: Phase,
        rng: Callable[[int], np.random.Generator],
        display: Callable[[Factors, float], Point | None] | None = None,
    ) -> Generator[Iterate, None, tuple[PhaseStep, list[float]]]:
        """Solve at rank 1 from factors, then add one column at a time up to the problem's rank.

        Return the last step, and the losses at the ends of all ranks. `rng` gives the random numbers of a
        rank. `display` makes the point to show of the end of rank 2, None where what was shown stays.
        """
        losses = []
        context = replace(self.context, full_rank=self.problem)
        for rank in range(1, self.problem.rank + 1):
            factors = with_rank(factors, rank, rng(rank))
            smaller = self.problem.of_rank(rank)
            end = yield from run_phase(context, smaller, self.algorithm, factors, replace(phase, rank=rank))
            factors = end.factors
            losses.append(end.loss)
            if display is not None and rank == 2 < self.problem.rank:
                context = replace(context, displayed=display(factors, end.loss) or context.displayed)
        return end, losses


def count_phases(starts: int, first: int) -> int:
    """Return about how many phases a search has: `first` of its first start, 1 of the next, 2 at the end.

    Each group of the other starts has one that screens them, and one for each survivor.
    """
    sizes = [len(group) for group in start_groups(starts - UNSCREENED)]
    return first + (starts > 1) + 2 * (starts > 2) + sum(1 + min(SURVIVORS, size) for size in sizes)


def start_groups(count: int) -> list[range]:
    """Return the starts that take their steps together, group by group."""
    return [range(first, min(first + GROUP, count)) for first in range(0, count, GROUP)]


def find_reached_end(factors: Factors, loss: float, ends: Iterable[End]) -> End | None:
    """Return the end that a point is about to reach from above, if there is one."""
    for end in ends:
        if end.loss <= loss <= (1 + CLOSE) * end.loss and span_distance(factors.B, end.factors.B) < SAME_SPAN:
            return end
    return None


def cannot_improve(losses: list[float], lowest: float) -> bool:
    """Whether a run with these losses so far is unlikely to get below the lowest known loss.

    A second-order method converges ever faster, so that the remaining decrease is of the order of the last
    decrease; `DECREASE_FACTOR` times that is allowed.
    """
    if len(losses) <= LEAST_STEPS:
        return False
    decrease = losses[-2] - losses[-1]
    return 0 < DECREASE_FACTOR * decrease < losses[-1] - lowest


def follow_merges(start: int, merged: Mapping[int, int]) -> int:
    """Return the start that one is merged into after all mergers."""
    while start in merged:
        start = merged[start]
    return start
