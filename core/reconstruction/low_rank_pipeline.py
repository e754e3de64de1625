"""The run of a low-rank problem: from uncalibrated tracks to projective cameras, points and a metric view.

The tracks are divided by the norm of the measurement matrix (2F x P, 0 where nothing was seen): its spectral
norm, which MATLAB's `norm` is.  Both it and the Frobenius norm give Door the rank 3K + 1 = 4 under the
truncated nuclear norm of Section 5.2; under its nuclear norm (1.5e-3, eta = 0.05) the spectral one gives 4
singular values, the Frobenius norm 3.

    start 1    closed form, cut to rank K: the paper's start, and often the best one
    start 2    grown from rank 1
    start n    of sparse problems, grown view by view (`view_growth`), each from another view; then, and of
               others at once, random points next to a column of ones; until three starts have ended in the
               lowest minimum
    refine     the best of them, to the tolerance; then the metric view of it (`geometry.metric_view`)

Without a penalty on the leading singular values, missing data make for many minima and long flat valleys:
from random starts about every third run of the dinosaur ends in the lowest minimum.  Starts are followed for
a limited number of steps, and of large problems on some of the points only.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..cameras.intrinsics import resolve_intrinsics
from ..data.hidden import hide_observations
from ..data.sequence import CameraModel, Sequence
from ..foundation.exceptions import InputError
from ..foundation.phases import Phase, PhaseKind
from ..foundation.types import Bools, Floats, Ints
from ..problem.factors import Factors
from ..problem.initialization import with_rank
from ..problem.low_rank import LowRankProblem
from ..solvers.solver import Algorithm
from .geometry import metric_view
from .pipeline import (
    CLOSE,
    SHORT_TOLERANCE,
    CalibratedTracks,
    RunContext,
    StartSearch,
    point_at,
    run_continued,
    run_on_matrix,
    run_phase,
    run_refinement,
)
from .progress import Iterate
from .settings import Settings
from .verdicts import is_collapsed
from .view_growth import ViewGrowth, first_views

LISTED = 2  # starts of every search: the closed form's cut, and what is grown from rank 1
ENOUGH_AGREEING = 3  # starts that end in the lowest minimum, after which no more are made
SHORT_ITERATIONS = 40  # of a start, most of which take 10 to 30 where they end in a minimum at all
LONG_ITERATIONS = 100  # of a start that was grown view by view: long chains of views converge slowly
ROUND_ITERATIONS = 15  # after views were added, at most
SEARCHED = 8_000  # observations, about, that starts are compared on


def measurement_norm(tracks: Floats, visible: Bools) -> float:
    """Return the spectral norm of the measurement matrix (2F x P) of tracks (F, 2, P), 0 where hidden."""
    matrix = np.where(visible[:, None], tracks, 0.0).reshape(-1, tracks.shape[2])
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    norm = float(np.sqrt(np.linalg.eigvalsh(gram)[-1]))
    if not norm > 0:
        raise InputError("all visible tracks are 0; a sequence needs points that differ")
    return norm


def known_calibration(sequence: Sequence, settings: Settings) -> Floats | None:
    """Return the K (3, 3) of the views that the settings ask for, which the metric view alone uses.

    `auto` is the sequence's own K, or that of its ground-truth frame; without either, and for `estimate`,
    there is none.
    """
    camera = settings.camera_of(sequence.camera)
    if camera is CameraModel.ORTHOGONAL or settings.intrinsics == "estimate":
        return None
    try:
        found = resolve_intrinsics(sequence, settings.intrinsics, camera)
        return None if found.origin.source == "assumed" else found.K
    except InputError:
        if settings.intrinsics != "auto":
            raise
        return None


def can_continue(start: Iterate, settings: Settings) -> bool:
    """Whether a run of a low-rank problem can continue from an iterate."""
    return settings.problem == "lowrank" and isinstance(start.best.problem, LowRankProblem)


def run_low_rank(sequence: Sequence, settings: Settings) -> Iterator[Iterate]:
    """Return the iterates of all phases; the last one is marked finished, and has the metric view."""
    sequence = hide_observations(sequence, settings.hide)
    norm = measurement_norm(sequence.tracks, sequence.visible)
    tracks = _divided_tracks(sequence, norm, settings.camera_of(sequence.camera))
    context = _context(sequence, settings, tracks).without_gross_outliers()
    problem = _pose(context.tracks, settings)
    run = run_on_matrix if context.method.on_matrix else _run_search
    return _with_metric_view(context, run(context, problem))


def continue_low_rank(sequence: Sequence, settings: Settings, start: Iterate) -> Iterator[Iterate]:
    """Return the iterates of a run that continues from an iterate of another one, see `can_continue`."""
    before, factors = start.best.problem, start.best.factors
    assert isinstance(before, LowRankProblem)  # `can_continue` has checked it
    camera = settings.camera_of(sequence.camera)
    if start.settings.hide == settings.hide:
        tracks = CalibratedTracks(before.tracks, before.visible, start.intrinsics, camera)
        problem = before.with_eta(settings.eta).with_penalty(settings.penalty, settings.rank)
    else:
        visible = hide_observations(sequence, settings.hide)
        tracks = _divided_tracks(visible, float(start.intrinsics[0, 0]), camera)
        problem = _pose(tracks, settings)
    context = _context(sequence, settings, tracks)
    nothing = is_collapsed(problem, factors)  # a strong penalty has shrunk the point to zero
    point = problem.closed_form() if nothing else with_rank(factors, problem.rank, context.rng(0))
    return _with_metric_view(context, run_continued(context, problem, point, start))


def _divided_tracks(sequence: Sequence, norm: float, camera: CameraModel) -> CalibratedTracks:
    tracks = np.where(sequence.visible[:, None], sequence.tracks, 0.0) / norm
    return CalibratedTracks(tracks, sequence.visible, np.diag([norm, norm, 1.0]), camera)


def _pose(tracks: CalibratedTracks, settings: Settings) -> LowRankProblem:
    bare = LowRankProblem(tracks.tracks, tracks.visible, settings.eta, np.zeros(1))
    return bare.with_penalty(settings.penalty, settings.rank)


def _context(sequence: Sequence, settings: Settings, tracks: CalibratedTracks) -> RunContext:
    """Return the context of a low-rank run, which has no rotations to choose."""
    calibration = known_calibration(sequence, settings)
    return RunContext(sequence, settings, tracks, calibration=calibration, rotations_chosen=True)


def _run_search(context: RunContext, problem: LowRankProblem) -> Iterator[Iterate]:
    """Follow starts for a limited number of steps; refine the lowest end."""
    log, some = context.log, point_subset(problem, SEARCHED)
    part, complete = context, some.small is problem
    if not complete:
        part = replace(context, displayed=point_at(problem, problem.closed_form()), share=some.share)
    short = context.bilinear_algorithm(SHORT_TOLERANCE, SHORT_ITERATIONS)
    search = StartSearch(part, some.small, short, lists_running=False)
    first = first_views(some.small, context.rng(0))
    while len(log.losses) < context.settings.starts and log.agreeing() < ENOUGH_AGREEING:
        index = len(log.losses)
        log.phase_count = log.phases_done + max(ENOUGH_AGREEING - log.agreeing(), 1) + 1
        before = len(search.ends)
        yield from _run_start(search, index, first)
        shown = search.context.displayed
        if shown is not None and len(search.ends) > before:  # of all points, that of the lowest end so far
            point = point_at(problem, some.to_full(search.ends[-1].factors))
            if point.loss < shown.loss:
                search = replace(search, context=replace(search.context, displayed=point))
    lowest = search.lowest
    if not complete:
        log.best = None
    factors = some.to_full(lowest.factors)
    yield from run_refinement(context, problem, factors, lowest.name, complete=complete)


def _start_name(index: int, grown: int) -> str:
    if index < LISTED:
        return ("closed form, cut", "grown")[index]
    number = index - LISTED + 1
    return f"views added {number}" if number <= grown else f"random {number - grown}"


def _run_start(search: StartSearch[LowRankProblem], index: int, first: Ints) -> Iterator[Iterate]:
    """Yield the iterates of one start; `first` are the views that starts are grown from."""
    context, problem, random = search.context, search.problem, search.context.rng(index)
    name = _start_name(index, len(first)) + search.suffix
    phase = Phase(PhaseKind.START, index + 1, name=name, subset=bool(search.suffix))
    if index == 1:
        rows, columns = problem.shape
        empty = Factors(np.ones((rows, 1)), np.zeros((1, 3, columns)), no_offsets(problem))
        end, _ = yield from search.grow(empty, phase, lambda _rank: random)
        search.add(name, end)
        return
    if index == 0:
        factors = problem.closed_form()
    elif index < LISTED + len(first):
        grown = yield from _add_views(context, problem, int(first[index - LISTED]), phase)
        factors = with_rank(grown, problem.rank, random)
        search = replace(search, algorithm=_chain_algorithm(context, LONG_ITERATIONS))
    else:
        factors = random_points(problem, random)
    limit = search.lowest.loss * (1 + CLOSE) if search.ends else np.inf
    yield from search.follow(factors, phase, name, limit=limit)


def _add_views(
    context: RunContext, problem: LowRankProblem, first: int, phase: Phase
) -> Generator[Iterate, None, Factors]:
    """Yield the iterates of a growth view by view, and return where it ends."""
    growth, views = ViewGrowth(problem, first), len(problem.visible)
    short, seen = _chain_algorithm(context, SHORT_ITERATIONS), problem.visible.sum()
    context.log.phase_count += growth.count_rounds()
    shown = context.displayed or context.log.best  # of all views
    while True:
        small, start = growth.part()
        part = replace(context, displayed=shown, share=context.share * float(small.visible.sum() / seen))
        added = replace(phase, part=growth.view_count, parts=views, subset=True)
        end = yield from run_phase(part, small, short, start, added)
        growth.update(end.factors)
        if growth.complete:
            return growth.factors()
        growth.add_views()
        short = _chain_algorithm(context, ROUND_ITERATIONS)


def _chain_algorithm(context: RunContext, most: int) -> Algorithm[Any]:
    """Return the algorithm of a start that grows view by view."""
    return context.bilinear_algorithm(SHORT_TOLERANCE, most).for_sparse_tracks(dict(context.settings.options))


def _with_metric_view(context: RunContext, iterates: Iterator[Iterate]) -> Iterator[Iterate]:
    """Yield the iterates, the finished one with the adjusted metric view of its best point."""
    for reported in iterates:
        if not reported.status.finished:
            yield reported
            continue
        best, record = reported.best, reported.record
        assert isinstance(best.problem, LowRankProblem)  # as all of this run are
        began = time.perf_counter()
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

    @property
    def share(self) -> float:
        """The share of the observations that the small problem has."""
        return float(self.small.visible.sum() / self.problem.visible.sum())

    def to_full(self, factors: Factors) -> Factors:
        """Return the best points of the full problem for the cameras of the small one."""
        if self.small is self.problem:
            return factors
        B = self.problem.best_points(factors.C, self.problem.weights[: factors.rank])
        return Factors(B, factors.C, no_offsets(self.problem))


def point_subset(problem: LowRankProblem, most: int) -> PointSubset:
    """Return about `most` observations, of evenly spaced points, under weights scaled as in `Subset`."""
    points, frames = problem.shape
    wanted = max(round(most * points / problem.visible.sum()), problem.rank + 1)
    if points <= wanted:
        return PointSubset(problem, problem)
    chosen: Ints = np.linspace(0, points - 1, wanted).round().astype(np.int64)
    found = PointSubset(problem, problem.restrict(np.arange(frames), chosen))
    return replace(found, small=found.small.with_weights(np.sqrt(found.share) * problem.weights))
