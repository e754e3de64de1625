"""The run of a low-rank problem: from uncalibrated tracks to projective cameras, points and a metric view.

The tracks are divided by the norm of the measurement matrix (2F x P, 0 where nothing was seen): its spectral
norm, which MATLAB's `norm` is.  Both it and the Frobenius norm give Door the rank 3K + 1 = 4 under the
truncated nuclear norm of Section 5.2; under its nuclear norm (1.5e-3, eta = 0.05) the spectral one gives 4
singular values, the Frobenius norm 3.

    start 1    closed form, cut to rank K; the paper's start, and often the best one
    start 2    grown from rank 1
    start n    random points beside a column of ones, until three starts have ended in the lowest minimum
    refine     the best of them, to the tolerance; then the metric view of it (`upgraded_view`)

Without a penalty on the leading singular values, missing data make for many minima and long flat valleys:
from random starts every third run or so of the dinosaur ends in the lowest minimum.  Starts are followed for
a limited number of steps, and of large problems on some of the points only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sequence import CameraModel
from ..foundation.batched_linalg import invert_batched, matmul_batched
from ..foundation.exceptions import InputError
from ..problem.factors import Factors
from ..problem.initialization import AGREEMENT, resized, svd_start
from ..problem.low_rank import LowRankProblem
from ..solvers.solver import single_threaded
from .diagnostics import collapsed
from .multistart import CLOSE, hopeless
from .pipeline import CONTINUED, GIVEN_UP, SHORT_TOLERANCE, Run, candidate_at
from .problem_setup import Prepared, penalized, resolve_intrinsics
from .upgraded_view import metric_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..data.sequence import Sequence
    from ..foundation.types import Bools, Floats, Ints
    from ..problem.nonrigid import Problem
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

    It never enters the problem. `auto` is the sequence's own K, or that of its ground-truth frame, and
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


class LowRankRun(Run):
    """The phases of a run of a low-rank problem."""

    def updates(self, start: Iterate | None) -> Iterator[Iterate]:
        """Return the updates of all phases; the last one is marked finished."""
        self.rotations_chosen = True  # there are no rotations to choose
        self.calibration = known_calibration(self.sequence, self.settings)
        before = None if start is None else start.current.problem
        if start is not None and isinstance(before, LowRankProblem):
            self.goes_on = True
            self.prepared = Prepared(before.tracks, before.visible, start.intrinsics, self.sequence.camera)
            posed = penalized(before.with_eta(self.settings.eta), self.settings.penalty, self.settings.rank)
            return self._go_on(posed, start.current.factors)
        problem = self._posed()
        return self._on_matrix(problem) if self.method.on_matrix else self._starts_of(problem)

    def _posed(self) -> LowRankProblem:
        sequence, settings = self.sequence, self.settings
        norm = measurement_norm(sequence.tracks, sequence.visible)
        tracks = np.where(sequence.visible[:, None], sequence.tracks, 0.0) / norm
        self.prepared = Prepared(tracks, sequence.visible, np.diag([norm, norm, 1.0]), sequence.camera)
        bare = LowRankProblem(tracks, sequence.visible, settings.eta, np.zeros(1))
        return penalized(bare, settings.penalty, settings.rank)

    def _go_on(self, problem: LowRankProblem, factors: Factors) -> Iterator[Iterate]:
        nothing = collapsed(problem, factors)  # a strong penalty has left nothing to go on from
        point = svd_start(problem) if nothing else resized(factors, problem.rank, self._rng(0))
        if self.method.on_matrix:
            return self._on_matrix(problem, point)
        follower = self._follower(whole=point is factors)
        return self._last(problem, follower, point, "refine", CONTINUED)

    def _starts_of(self, problem: LowRankProblem) -> Iterator[Iterate]:
        """Follow starts for a limited number of steps; refine the lowest end."""
        some = some_points(problem, SEARCHED)
        whole = some.small is problem
        if not whole:
            self.shown, self.share = candidate_at(problem, svd_start(problem)), some.share
        ends: dict[str, Factors] = {}
        while len(ends) < self.settings.starts and self._agreeing() < ENOUGH_AGREEING:
            index = len(ends)
            self.phase_count = self.phases_done + max(ENOUGH_AGREEING - self._agreeing(), 1) + 1
            name = ("closed form, cut", "grown")[index] if index < 2 else f"random {index - 1}"
            name += "" if whole else " (subset)"
            yield from self._start(some, index, name)
            ends[name], self.reports[name] = self.point, self.point_loss / self.share
        self.share = 1.0
        lowest = min(ends, key=self.reports.__getitem__)
        factors = some.lifted(ends[lowest])
        if not whole:
            self.shown = self.best = None
        last = self._polisher(warm=whole)
        yield from self._last(problem, last, factors, "refine", lowest if whole else "")

    def _start(self, some: SomePoints, index: int, name: str) -> Iterator[Iterate]:
        """Yield one start, and where only some points are solved show the best of all points so far."""
        small, random, phase = some.small, self._rng(index), f"start {index + 1}: {name}"
        short = self._algorithm(SHORT_TOLERANCE, SHORT_ITERATIONS)
        if index == 1:
            self.whole = small
            factors = Factors(
                np.ones((small.shape[0], 1)), np.zeros((1, 3, small.shape[1])), no_offsets(small)
            )
            for rank in range(1, small.rank + 1):
                factors = resized(factors, rank, random)
                yield from self._phase(small.of_rank(rank), short, factors, f"{phase}, rank {rank}")
                factors = self.point
            self.whole = None
        else:
            factors = svd_start(small) if index == 0 else random_points(small, random)
            yield from self._followed(small, short, factors, phase, name)
        if self.shown is not None:
            end = candidate_at(some.problem, some.lifted(self.point))
            if end.loss < self.shown.loss:
                self.shown = end

    def _followed(
        self, problem: LowRankProblem, short: Algorithm[Any], start: Factors, phase: str, name: str
    ) -> Iterator[Iterate]:
        """Yield a phase up to where it cannot get below the lowest end that is known."""
        losses: list[float] = []
        lowest = self.share * min(self.reports.values(), default=np.inf) * (1 + CLOSE)
        for update in self._phase(problem, short, start, phase):
            losses.append(self.point_loss)
            yield update
            if not self.phase_status.finished and hopeless(losses, lowest):
                self.notes[name] = GIVEN_UP
                self.phases_done += 1
                return

    def _last(
        self, problem: Problem, algorithm: Algorithm[Any], start: Factors, phase: str, name: str
    ) -> Iterator[Iterate]:
        """Yield the phase that ends the run; its end is shown by the adjusted metric view."""
        for update in super()._last(problem, algorithm, start, phase, name):
            yield self._viewed(update) if update.status.finished else update

    def _viewed(self, update: Iterate) -> Iterate:
        best = update.best
        assert isinstance(best.problem, LowRankProblem)  # as all of this run are
        began = time.perf_counter()
        with single_threaded():
            view = metric_view(best.problem, best.factors, update.intrinsics, self.calibration)
        record = replace(update.record, seconds=update.record.seconds + time.perf_counter() - began)
        return replace(update, record=record, view=view)

    def _agreeing(self) -> int:
        lowest = min(self.reports.values(), default=np.inf)
        return sum(loss <= lowest * (1 + AGREEMENT) for loss in self.reports.values())


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
class SomePoints:
    """A problem, the one of evenly spaced points of it, and the way back."""

    problem: LowRankProblem
    small: LowRankProblem

    @property
    def share(self) -> float:
        """The share of the observations that the small problem has."""
        return float(self.small.visible.sum() / self.problem.visible.sum())

    def lifted(self, factors: Factors) -> Factors:
        """Return the best points of the whole problem for the cameras of the small one."""
        if self.small is self.problem:
            return factors
        data, weights = self.problem.data, self.problem.weights[: factors.rank]
        blocks = data.frame_blocks(factors.C, weights)  # a row is a point here
        B = matmul_batched(invert_batched(blocks), data.frame_targets(factors.C)).T
        return Factors(np.ascontiguousarray(B), factors.C, no_offsets(self.problem))


def some_points(problem: LowRankProblem, most: int) -> SomePoints:
    """Return about `most` observations of evenly spaced points in every frame, or all where there are fewer.

    The weights are scaled as in `core.problem.subsampling`.
    """
    points, frames = problem.shape
    wanted = max(most // frames, problem.rank + 1)
    if points <= wanted:
        return SomePoints(problem, problem)
    chosen: Ints = np.linspace(0, points - 1, wanted).round().astype(np.int64)
    seen = problem.visible[:, chosen]
    small = LowRankProblem(problem.tracks[:, :, chosen], seen, problem.eta, problem.weights)
    found = SomePoints(problem, small)
    return replace(found, small=small.with_weights(np.sqrt(found.share) * problem.weights))
