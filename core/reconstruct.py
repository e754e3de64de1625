"""From a sequence and settings to a reconstruction: the phases of a run as one stream of updates.

`reconstruct` is what the command line, the viewer and a script all drain, so that all give the same numbers.

    rotations   each candidate gets a quick rank-2 solve at equal settings; the lowest loss is kept
    rigid       one basis shape
    rank k      one small random column at a time, at the final weights, up to K
    start n     further starting points (the SVD of the closed form, then random ones), each short
    refine      the best of them, to the tolerance

The methods that start from ADMM (`admm`, `admm+bilinear`, `paper`) replace all but the first and the last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .algorithms.admm import ADMM
from .algorithms.algorithm_one import AlgorithmOne
from .algorithms.closed_form import reference_singular_values, svd_start
from .algorithms.levenberg_marquardt import LevenbergMarquardt
from .algorithms.variable_projection import VariableProjection
from .cameras.candidates import rotation_candidates
from .penalties import ExplicitWeights, WeightedNuclearNorm
from .preparation import Prepared, prepare
from .solver import Algorithm, Status, iterate
from .starts import random_start, resized, rigid_start
from .updates import Candidate, Record, StartReport, Update, finish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .arrays import Floats
    from .problem import Factors, NonRigidProblem
    from .result import Result
    from .sequence import Sequence
    from .settings import Settings

__all__ = ["Candidate", "Record", "StartReport", "Update", "finish", "reconstruct", "solve_sequence"]

SHORT_TOLERANCE = 1e-8  # of a start that is only compared with others
AGREEMENT = 1e-6  # relative difference of two losses that counts as the same minimum
SELECTION_RANK = 2  # rotations are compared at this rank and penalty, whatever the run's own
SELECTION_PENALTY = WeightedNuclearNorm(xi=5e-3)
SELECTION_TOLERANCE = 1e-5
WARM_DAMPING = 1e-9


def reconstruct(sequence: Sequence, settings: Settings, *, start: Update | None = None) -> Iterator[Update]:
    """Yield updates until the reconstruction is done.

    Parameters
    ----------
    sequence
        the tracks and what is known about them.
    settings
        method and parameters.
    start
        an update of an earlier run of the same sequence. Where its rotations were chosen, and the settings
        that govern rotations and intrinsics did not change, the run goes on from its current point, the rank
        padded or cut; otherwise it starts anew.

    Raises
    ------
    InputError
        where the settings ask for what the sequence does not have (true rotations, a companion, intrinsics),
        or the weights are refused.
    """
    return _Run(sequence, settings).updates(start)


def solve_sequence(sequence: Sequence, settings: Settings) -> Result:
    """Drain `reconstruct` and return the result.

    Raises
    ------
    InputError
        as `reconstruct` does.
    """
    history = []
    for last in reconstruct(sequence, settings):
        history.append(last.record)
    return finish(sequence, settings, last, history)


class _Run:
    """The bookkeeping of one run: what is numbered, timed and kept across its phases."""

    def __init__(self, sequence: Sequence, settings: Settings) -> None:
        self.sequence = sequence
        self.settings = settings
        self.iteration = 0
        self.seconds = 0.0
        self.best: Candidate | None = None
        self.rotations = ""
        self.settled = False
        self.phases_done = 0
        self.phase_count = 1
        self.reports: dict[str, float] = {}  # the loss that each start ended with
        self.prepared: Prepared | None = None
        self.phase_status = Status.RUNNING  # of the phase under way

    def updates(self, start: Update | None) -> Iterator[Update]:
        """Return the updates of all phases; the last one is marked finished."""
        if start is not None and _compatible(start, self.settings):
            return self._warm(start)
        return self._cold()

    def _cold(self) -> Iterator[Update]:
        settings = self.settings
        prepared = self.prepared = prepare(self.sequence, settings)
        candidates = rotation_candidates(
            self.sequence, prepared.tracks, source=settings.rotations, rank=settings.rotation_rank
        )
        from_admm = settings.method in ("admm", "admm+bilinear", "paper")
        later = 2 if from_admm else settings.rank + settings.starts
        self.phase_count = later + (len(candidates) if len(candidates) > 1 else 0)
        chosen: tuple[float, str, Floats] | None = None
        for index, candidate in enumerate(candidates):
            R = candidate.compute()
            if len(candidates) == 1:
                chosen = (0.0, candidate.name, R)
                break
            self.rotations = candidate.name
            loss = np.inf
            for update in self._compare(prepared, R, f"rotations {index + 1} of {len(candidates)}"):
                loss = update.current.loss
                yield update
            self.phases_done = index + 1
            if chosen is None or loss < chosen[0]:
                chosen = (loss, candidate.name, R)
        assert chosen is not None  # rotation_candidates() refuses to return none
        _, self.rotations, R = chosen
        self.best, self.settled = None, True
        problem = prepared.problem(R, settings.penalty, settings.rank, settings.eta)
        yield from self._from_admm(problem) if from_admm else self._search(problem)

    def _compare(self, prepared: Prepared, R: Floats, phase: str) -> Iterator[Update]:
        rank = min(SELECTION_RANK, len(R))
        problem = prepared.problem(R, SELECTION_PENALTY, rank, self.settings.eta)
        quick = VariableProjection(tolerance=SELECTION_TOLERANCE)
        yield from self._grow(problem, quick, lambda _: phase)

    def _warm(self, start: Update) -> Iterator[Update]:
        settings = self.settings
        self.rotations, self.settled = start.rotations, True
        old = start.current.problem
        prepared = self.prepared = Prepared(old.tracks, old.visible, start.intrinsics, self.sequence.camera)
        problem = prepared.problem(old.rotations, settings.penalty, settings.rank, settings.eta)
        factors = resized(start.current.factors, settings.rank, self._rng(0))
        if settings.method in ("admm", "admm+bilinear", "paper"):
            yield from self._from_admm(problem, factors)
            return
        yield from self._last(problem, self._polisher(warm=True), factors, "refine", "from where it was")

    def _search(self, problem: NonRigidProblem) -> Iterator[Update]:
        count = self.settings.starts
        short = self._algorithm(SHORT_TOLERANCE)
        ends: dict[str, Candidate] = {}
        for index in range(count):
            name, factors = self._start(problem, index)
            if factors is None:
                phases = self._grow(problem, short, lambda rank: "rigid" if rank == 1 else f"rank {rank}")
            else:
                phases = self._phase(problem, short, factors, f"start {index + 1} of {count}")
            end: Candidate | None = None
            for update in phases:
                end = update.current
                yield update
            assert end is not None  # a phase yields its start
            ends[name] = end
            self.reports[name] = end.loss
        lowest = min(ends, key=lambda name: ends[name].loss)
        yield from self._last(problem, self._polisher(warm=True), ends[lowest].factors, "refine", lowest)

    def _start(self, problem: NonRigidProblem, index: int) -> tuple[str, Factors | None]:
        """Name the n-th start of the search and make its point; None stands for rigid, then grown."""
        if index == 0:
            return "rigid, grown", None
        if index == 1:
            return "closed form", svd_start(problem)
        return f"random {index - 1}", random_start(problem, self._rng(index))

    def _grow(self, problem: NonRigidProblem, algorithm: Algorithm[Any], name: Any) -> Iterator[Update]:
        """Solve at rank 1, then add one column at a time up to the problem's rank."""
        factors = rigid_start(problem)
        for rank in range(1, problem.rank + 1):
            factors = resized(factors, rank, self._rng(rank))
            smaller = problem.with_weights(problem.weights[:rank])
            for update in self._phase(smaller, algorithm, factors, name(rank)):
                factors = update.current.factors
                yield update

    def _from_admm(self, problem: NonRigidProblem, factors: Factors | None = None) -> Iterator[Update]:
        penalty, reference = self.settings.penalty, reference_singular_values(problem)
        explicit = isinstance(penalty, ExplicitWeights)
        weights = None if explicit else penalty.weights(len(reference), reference)
        if factors is None:
            factors = svd_start(problem, min(len(problem.tracks), 3 * problem.tracks.shape[2]))
        admm = ADMM(full_weights=weights)
        if self.settings.method == "admm":
            yield from self._last(problem, admm, factors, "ADMM", "ADMM")
            return
        for update in self._phase(problem, admm, factors, "ADMM"):
            factors = update.current.factors
            yield update
        yield from self._last(problem, self._polisher(warm=False), factors, "refine", "ADMM, refined")

    def _last(
        self, problem: NonRigidProblem, algorithm: Algorithm[Any], start: Factors, phase: str, name: str
    ) -> Iterator[Update]:
        """Yield the phase that ends the run, and report where the start of that name ended with it."""
        for update in self._phase(problem, algorithm, start, phase):
            if not self.phase_status.finished:
                yield update
                continue
            self.reports[name] = update.best.loss
            yield replace(update, status=self.phase_status, fraction=1.0, starts=self._starts())

    def _phase(
        self, problem: NonRigidProblem, algorithm: Algorithm[Any], start: Factors, phase: str
    ) -> Iterator[Update]:
        iteration, seconds = self.iteration, self.seconds
        for snapshot in iterate(problem, algorithm, start):
            self.iteration = iteration + snapshot.progress.iteration
            self.seconds = seconds + snapshot.progress.seconds
            factors = algorithm.factors(problem, snapshot.state)
            loss = problem.loss(factors) if isinstance(algorithm, ADMM) else snapshot.progress.loss
            current = Candidate(problem, factors, loss)
            if self.best is None or not loss >= self.best.loss:
                self.best = current
            assert self.prepared is not None  # set before the first phase
            self.phase_status = snapshot.status
            yield Update(
                settings=self.settings,
                record=Record(self.iteration, self.seconds, loss, phase),
                status=Status.RUNNING,
                phase=phase,
                fraction=min(self.phases_done / self.phase_count, 1.0),
                intrinsics=self.prepared.intrinsics,
                rotations=self.rotations,
                settled=self.settled,
                current=current,
                best=self.best,
                starts=self._starts(),
            )
        self.phases_done += 1

    def _algorithm(self, tolerance: float) -> Algorithm[Any]:
        limit = self.settings.max_iterations
        kinds = {"lm": LevenbergMarquardt, "paper": AlgorithmOne}
        kind = kinds.get(self.settings.method, VariableProjection)
        return kind(tolerance=tolerance, max_iterations=limit)

    def _polisher(self, *, warm: bool) -> Algorithm[Any]:
        algorithm = self._algorithm(self.settings.tolerance)
        if warm and isinstance(algorithm, VariableProjection):
            return replace(algorithm, damping=WARM_DAMPING)
        return algorithm

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, stream])

    def _starts(self) -> tuple[StartReport, ...]:
        if not self.reports:
            return ()
        lowest = min(loss for _, loss in self.reports)
        return tuple(StartReport(name, loss, loss <= lowest * (1 + AGREEMENT)) for name, loss in self.reports)


def _compatible(start: Update, settings: Settings) -> bool:
    """Whether a run can go on from an update: its cameras are settled, and stay what they are."""
    before = start.settings
    return start.settled and (before.rotations, before.rotation_rank, before.intrinsics) == (
        settings.rotations,
        settings.rotation_rank,
        settings.intrinsics,
    )
