"""The run of a low-rank problem: from uncalibrated tracks to projective cameras, points and a metric view.

The tracks are divided by the norm of the measurement matrix (2F x P, 0 where nothing was seen): its spectral
norm, which MATLAB's `norm` is.  Both it and the Frobenius norm give Door the rank 3K + 1 = 4 under the
truncated nuclear norm of Section 5.2; under its nuclear norm (1.5e-3, eta = 0.05) the spectral one gives 4
singular values, the Frobenius norm 3.

    start 1    closed form, cut to rank K: the paper's start, and often the best one
    start 2    grown from rank 1
    start n    random points next to a column of ones, until three starts have ended in the lowest minimum
    refine     the best of them, to the tolerance; then the metric view of it (`geometry.metric_view`)

Without a penalty on the leading singular values, missing data make for many minima and long flat valleys:
from random starts about every third run of the dinosaur ends in the lowest minimum.  Starts are followed for
a limited number of steps, and of large problems on some of the points only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cameras.calibration import resolve_intrinsics
from ..data.sequence import CameraModel
from ..foundation.batched_linalg import invert_batched, matmul_batched
from ..foundation.exceptions import InputError
from ..foundation.representation import one_line_repr
from ..problem.factors import Factors
from ..problem.initialization import with_rank
from ..problem.low_rank import LowRankProblem
from ..solvers.solver import single_threaded
from .diagnostics import is_collapsed
from .geometry import metric_view
from .pipeline import (
    CLOSE,
    CONTINUED,
    GIVEN_UP,
    SHORT_TOLERANCE,
    CalibratedTracks,
    PhaseStep,
    RunContext,
    cannot_improve,
    point_at,
    run_last_phase,
    run_on_matrix,
    run_phase,
    solve_phase,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ..data.sequence import Sequence
    from ..foundation.types import Bools, Floats, Ints
    from ..solvers.solver import Algorithm
    from .progress import Iterate
    from .settings import Settings

ENOUGH_AGREEING = 3  # starts that end in the lowest minimum, after which no more are made
SHORT_ITERATIONS = 40  # of a start, most of which take 10 to 30 where they end in a minimum at all
SEARCHED = 12_000  # observations, about, that starts are compared on


def measurement_norm(tracks: Floats, visible: Bools) -> float:
    """Return the spectral norm of the measurement matrix (2F x P) of tracks (F, 2, P), 0 where hidden.

    Raises
    ------
    InputError
        where all visible tracks are 0.
    """
    matrix = np.where(visible[:, None], tracks, 0.0).reshape(-1, tracks.shape[2])
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    norm = float(np.sqrt(np.linalg.eigvalsh(gram)[-1]))
    if not norm > 0:
        raise InputError("all visible tracks are 0; a sequence needs points that differ")
    return norm


def known_calibration(sequence: Sequence, settings: Settings) -> Floats | None:
    """Return K (3, 3) of the views as the settings ask for it, for the metric view; None where unknown.

    It is not used by the problem. `auto` is the sequence's own K, or that of its ground-truth frame, and
    without either auto-calibration.
    """
    if sequence.camera is CameraModel.ORTHOGONAL:
        return None
    try:
        return resolve_intrinsics(sequence, settings.intrinsics)
    except InputError:
        if settings.intrinsics != "auto":
            raise
        return None


def can_continue(start: Iterate, settings: Settings) -> bool:
    """Whether a run of a low-rank problem can continue from an iterate."""
    return settings.problem == "lowrank" and isinstance(start.current.problem, LowRankProblem)


def run_low_rank(sequence: Sequence, settings: Settings) -> Iterator[Iterate]:
    """Return the iterates of all phases; the last one is marked finished, and has the metric view."""
    norm = measurement_norm(sequence.tracks, sequence.visible)
    tracks = np.where(sequence.visible[:, None], sequence.tracks, 0.0) / norm
    K = np.diag([norm, norm, 1.0])
    calibrated = CalibratedTracks(tracks, sequence.visible, K, sequence.camera)
    context = _context(sequence, settings, calibrated)
    bare = LowRankProblem(tracks, sequence.visible, settings.eta, np.zeros(1))
    problem = bare.with_penalty(settings.penalty, settings.rank)
    run = run_on_matrix if context.method.on_matrix else _search
    return _with_metric_view(context, run(context, problem))


def continue_low_rank(sequence: Sequence, settings: Settings, start: Iterate) -> Iterator[Iterate]:
    """Return the iterates of a run that continues from an iterate of another one, see `can_continue`."""
    before, factors = start.current.problem, start.current.factors
    assert isinstance(before, LowRankProblem)  # `can_continue` has checked it
    tracks = CalibratedTracks(before.tracks, before.visible, start.intrinsics, sequence.camera)
    context = _context(sequence, settings, tracks)
    problem = before.with_eta(settings.eta).with_penalty(settings.penalty, settings.rank)
    nothing = is_collapsed(problem, factors)  # a strong penalty has shrunk the point to zero
    point = problem.closed_form() if nothing else with_rank(factors, problem.rank, context.rng(0))
    if context.method.on_matrix:
        iterates = run_on_matrix(context, problem, point)
    else:
        algorithm = context.continuing_algorithm(complete=point is factors)
        iterates = run_last_phase(context, problem, algorithm, point, "refine", CONTINUED)
    return _with_metric_view(context, iterates)


def _context(sequence: Sequence, settings: Settings, tracks: CalibratedTracks) -> RunContext:
    """Return the context of a low-rank run, which has no rotations to choose."""
    calibration = known_calibration(sequence, settings)
    return RunContext(sequence, settings, tracks, calibration=calibration, rotations_chosen=True)


def _search(context: RunContext, problem: LowRankProblem) -> Iterator[Iterate]:
    """Follow starts for a limited number of steps; refine the lowest end."""
    log, some = context.log, point_subset(problem, SEARCHED)
    part, complete = context, some.small is problem
    if not complete:
        part = replace(context, displayed=point_at(problem, problem.closed_form()), share=some.share)
    ends: dict[str, Factors] = {}
    while len(ends) < context.settings.starts and log.agreeing() < ENOUGH_AGREEING:
        index = len(ends)
        log.phase_count = log.phases_done + max(ENOUGH_AGREEING - log.agreeing(), 1) + 1
        name = ("closed form, cut", "grown")[index] if index < 2 else f"random {index - 1}"
        name += "" if complete else " (subset)"
        end = yield from _run_start(part, some.small, index, name)
        if part.displayed is not None:  # of all points, that of the lowest end so far
            point = point_at(problem, some.to_full(end.factors))
            if point.loss < part.displayed.loss:
                part = replace(part, displayed=point)
        ends[name], log.losses[name] = end.factors, end.loss / part.share
    lowest = min(ends, key=log.losses.__getitem__)
    factors = some.to_full(ends[lowest])
    if not complete:
        log.best = None
    last = context.refining_algorithm(near=complete)
    yield from run_last_phase(context, problem, last, factors, "refine", lowest if complete else "")


def _run_start(
    context: RunContext, problem: LowRankProblem, index: int, name: str
) -> Generator[Iterate, None, PhaseStep]:
    """Yield the iterates of one start and return its last step."""
    random, phase = context.rng(index), f"start {index + 1}: {name}"
    short = context.bilinear_algorithm(SHORT_TOLERANCE, SHORT_ITERATIONS)
    if index != 1:
        factors = problem.closed_form() if index == 0 else random_points(problem, random)
        return (yield from _follow(context, problem, short, factors, phase, name))
    rows, columns = problem.shape
    factors = Factors(np.ones((rows, 1)), np.zeros((1, 3, columns)), no_offsets(problem))
    context = replace(context, full_rank=problem)
    for rank in range(1, problem.rank + 1):
        factors = with_rank(factors, rank, random)
        end = yield from run_phase(context, problem.of_rank(rank), short, factors, f"{phase}, rank {rank}")
        factors = end.factors
    return end


def _follow(
    context: RunContext,
    problem: LowRankProblem,
    short: Algorithm[Any],
    start: Factors,
    phase: str,
    name: str,
) -> Generator[Iterate, None, PhaseStep]:
    """Yield a phase up to where it cannot get below the lowest end that is known; return its last step."""
    losses: list[float] = []
    lowest = context.share * min(context.log.losses.values(), default=np.inf) * (1 + CLOSE)
    for step in solve_phase(context, problem, short, start, phase):
        losses.append(step.loss)
        yield step.iterate
        if not step.status.finished and cannot_improve(losses, lowest):
            context.log.notes[name] = GIVEN_UP
            context.log.phases_done += 1
            break
    return step


def _with_metric_view(context: RunContext, iterates: Iterator[Iterate]) -> Iterator[Iterate]:
    """Yield the iterates, the finished one with the adjusted metric view of its best point."""
    for reported in iterates:
        if not reported.status.finished:
            yield reported
            continue
        best, record = reported.best, reported.record
        assert isinstance(best.problem, LowRankProblem)  # as all of this run are
        began = time.perf_counter()
        with single_threaded():
            view = metric_view(best.problem, best.factors, reported.intrinsics, context.calibration)
        record = replace(record, seconds=record.seconds + time.perf_counter() - began)
        yield replace(reported, record=record, view=view)


def no_offsets(problem: LowRankProblem) -> Floats:
    """Return the offsets of a low-rank problem's factors, which are 0."""
    return np.zeros((problem.shape[0], 3))


def random_points(problem: LowRankProblem, rng: np.random.Generator) -> Factors:
    """Return random homogeneous points with 1 as their first coordinate; the cameras follow from them."""
    rows, columns = problem.shape
    B = rng.normal(size=(rows, problem.rank))
    B[:, 0] = 1.0
    return Factors(B, np.zeros((problem.rank, 3, columns)), no_offsets(problem))


@dataclass(frozen=True, eq=False)
class PointSubset:
    """A problem, and the small problem of some evenly spaced points of it."""

    problem: LowRankProblem
    small: LowRankProblem

    __repr__ = one_line_repr

    @property
    def share(self) -> float:
        """The share of the observations that the small problem has."""
        return float(self.small.visible.sum() / self.problem.visible.sum())

    def to_full(self, factors: Factors) -> Factors:
        """Return the best points of the full problem for the cameras of the small one."""
        if self.small is self.problem:
            return factors
        data, weights = self.problem.data, self.problem.weights[: factors.rank]
        blocks = data.frame_blocks(factors.C, weights)  # a row is a point here
        B = matmul_batched(invert_batched(blocks), data.frame_targets(factors.C)).T
        return Factors(np.ascontiguousarray(B), factors.C, no_offsets(self.problem))


def point_subset(problem: LowRankProblem, most: int) -> PointSubset:
    """Return about `most` observations of evenly spaced points in every frame, or all where there are fewer.

    The weights are scaled as in `core.problem.subsampling`.
    """
    points, frames = problem.shape
    wanted = max(most // frames, problem.rank + 1)
    if points <= wanted:
        return PointSubset(problem, problem)
    chosen: Ints = np.linspace(0, points - 1, wanted).round().astype(np.int64)
    seen = problem.visible[:, chosen]
    small = LowRankProblem(problem.tracks[:, :, chosen], seen, problem.eta, problem.weights)
    found = PointSubset(problem, small)
    return replace(found, small=small.with_weights(np.sqrt(found.share) * problem.weights))
