"""The run of a non-rigid problem: rotations, starts, and the minimum that they lead to.

    rotations n   each candidate's reconstruction is grown from rigid to rank K; the lowest losses win
                  (large sequences: of a subset of frames and points)
    start 1       rigid and grown
    starts 2 to n the cut of the closed form and random ones take a few steps side by side, on a subset
    start n       the best of these that differ, each until it comes near an end that is known, cannot reach
                  the lowest any more, or has converged to 1e-8
    refine        the best of them, to the tolerance

The methods that work on X itself, or begin so (`admm`, `admm+bilinear`, `irnn`, ...), start from the closed
form instead.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cameras.candidates import RotationCandidate, rotation_candidates
from ..problem.initialization import resized, rigid_start, search_starts
from ..problem.nonrigid import Factors, NonRigidProblem
from ..problem.subsampling import rungs, subset
from ..solvers.screening import Screening
from ..solvers.solver import Algorithm, single_threaded
from ..solvers.variable_projection import VariableProjection
from .diagnostics import collapsed
from .multistart import SURVIVORS, End, groups, hopeless, met, phases, traced
from .pipeline import CONTINUED, GIVEN_UP, SHORT_TOLERANCE, Run, candidate_at
from .problem_setup import Prepared, penalized, prepare

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from collections.abc import Sequence as Items

    from .progress import Iterate, Point
    from .settings import Settings

GROWN = "rigid, grown"  # the first start
COMPARISON_TOLERANCE = 1e-5  # of the runs that only compare rotations
COMPARED = 12_000  # observations, about, that rotations are compared on
SCREENED = 2_500  # observations, about, that starts take their first steps on


class NonRigidRun(Run):
    """The phases of a run of a non-rigid problem."""

    def updates(self, start: Iterate | None) -> Iterator[Iterate]:
        """Return the updates of all phases; the last one is marked finished."""
        if start is not None and _compatible(start, self.settings):
            self.goes_on = True
            return self._warm(start)
        return self._cold()

    def _cold(self) -> Iterator[Iterate]:
        settings = self.settings
        prepared = self.prepared = prepare(self.sequence, settings)
        candidates = rotation_candidates(
            self.sequence, prepared.tracks, source=settings.rotations, rank=settings.rotation_rank
        )
        compared = len(candidates) if len(candidates) > 1 else 0
        search = 2 if self.method.on_matrix else 1 + phases(settings.starts, 1 if compared else settings.rank)
        self.phase_count = compared * settings.rank + search
        if compared:
            grown = yield from self._choose(prepared, candidates)
            problem, factors = grown.problem, grown.factors
            assert isinstance(problem, NonRigidProblem)  # as all candidates are
        else:
            self.rotations, factors = candidates[0].name, None
            problem = self._problem(prepared, candidates[0])
        self.best, self.rotations_chosen = None, True
        yield from self._on_matrix(problem) if self.method.on_matrix else self._search(problem, factors)

    def _problem(self, prepared: Prepared, candidate: RotationCandidate) -> NonRigidProblem:
        began = time.perf_counter()
        with single_threaded():
            R = candidate.compute()
        self.seconds += time.perf_counter() - began
        return prepared.problem(R, self.settings.penalty, self.settings.rank, self.settings.eta)

    def _choose(
        self, prepared: Prepared, candidates: Items[RotationCandidate]
    ) -> Generator[Iterate, None, Point]:
        """Grow a reconstruction on each candidate's rotations; return the end of the best one.

        Losses are comparable at equal rank, penalty and eta only, and a candidate that wins at one rank may
        overfit there: the mean of the logarithms over ranks 2 to K decides. (The rigid fit says little.)
        """
        quick = VariableProjection(tolerance=COMPARISON_TOLERANCE)
        ends: dict[float, tuple[str, Point]] = {}
        for index, candidate in enumerate(candidates):
            self.rotations = candidate.name
            problem = self._problem(prepared, candidate)
            compared = subset(problem, COMPARED)
            losses = np.ones(problem.rank)
            phase = f"rotations {index + 1} of {len(candidates)}: {candidate.name}"
            self.share = compared.share
            if compared.small is not problem:
                self.shown = _first_look(problem)
            for update in self._grow(compared.small, quick, phase):
                losses[self.point.rank - 1] = self.point_loss
                yield update
                if self.shown and self.phase_status.finished:
                    self.shown = candidate_at(problem, compared.lifted(self.point))
            self.shown, self.share = None, 1.0
            end = candidate_at(problem, compared.lifted(self.point))
            with np.errstate(divide="ignore", invalid="ignore"):
                score = float(np.log(losses[min(1, problem.rank - 1) :]).mean())
            ends.setdefault(np.inf if np.isnan(score) else score, (candidate.name, end))
        self.rotations, chosen = ends[min(ends)]
        return chosen

    def _warm(self, start: Iterate) -> Iterator[Iterate]:
        settings = self.settings
        self.rotations, self.rotations_chosen = start.rotations, True
        old = start.current.problem
        assert isinstance(old, NonRigidProblem)  # `_compatible` compares the problems
        prepared = self.prepared = Prepared(old.tracks, old.visible, start.intrinsics, self.sequence.camera)
        # What depends on neither eta nor the weights is shared: to change these costs less than a step.
        problem = penalized(old.with_eta(prepared.posed_eta(settings.eta)), settings.penalty, settings.rank)
        point = start.current.factors
        if collapsed(old, point):  # a strong penalty has left nothing to go on from
            point = rigid_start(problem)
        factors = resized(point, settings.rank, self._rng(0))
        if self.method.on_matrix:
            yield from self._on_matrix(problem, factors)
            return
        follower = self._follower(whole=factors is start.current.factors)
        yield from self._last(problem, follower, factors, "refine", CONTINUED)

    def _search(self, problem: NonRigidProblem, grown: Factors | None) -> Iterator[Iterate]:
        """Find the lowest minimum that starts lead to, of a subset where the problem is large; refine it."""
        short, count = self._algorithm(SHORT_TOLERANCE), self.settings.starts
        searched = subset(problem, COMPARED)
        small, suffix, self.share = searched.small, "", searched.share
        if small is not problem:
            suffix = " (subset)"
            self.shown = candidate_at(problem, grown) if grown else _first_look(problem)
        phase = f"start 1 of {count}: {GROWN}{suffix}"
        if grown is None:
            yield from self._grow(small, short, phase)
        else:
            yield from self._phase(small, short, searched.restricted(grown), phase)
        ends = [End(GROWN + suffix, self.point, self.point_loss)]
        self.reports[GROWN + suffix] = self.point_loss / self.share
        if count > 1:
            yield from self._compete(small, short, ends, suffix)
        lowest = min(ends, key=lambda end: end.loss)
        factors, known = lowest.factors, small is problem
        between = rungs(problem, COMPARED)  # where a step costs a fraction of one on the whole
        self.phase_count += len(between)
        for rung in between:
            start, searched, self.share = searched.carried(factors, rung), rung, rung.share
            yield from self._phase(rung.small, short, start, "refine (subset)")
            factors = self.point
        self.shown, self.share = None, 1.0
        factors, name = searched.lifted(factors), lowest.name if known else ""
        yield from self._last(problem, self._polisher(warm=known), factors, "refine", name)

    def _compete(
        self, problem: NonRigidProblem, short: Algorithm[Any], ends: list[End], suffix: str
    ) -> Iterator[Iterate]:
        """Let groups of starts take a few steps side by side, follow the best that differ, add their ends."""
        count, share, shown = self.settings.starts, self.share, self.shown
        screened = subset(problem, SCREENED)
        small = screened.small.with_weights(screened.small.weights)  # its losses rank starts, no more
        starts = list(search_starts(small, count - 1, self._rng(problem.rank)).items())
        for group in groups(len(starts)):
            names = [name + suffix for name, _ in starts[group.start : group.stop]]
            points = tuple(point for _, point in starts[group.start : group.stop])
            screening = Screening(points, SURVIVORS)
            phase = f"starts {group.start + 2} to {group.stop + 1}: {screening.max_iterations} steps{suffix}"
            self.share, self.shown = share * screened.share, self.best
            yield from self._phase(small, screening, self.point, phase)
            state = self.state
            for start, loss in state.dropped:
                self.reports[names[start]], self.notes[names[start]] = loss / self.share, GIVEN_UP
            self.share, self.shown = share, shown
            for r, start in enumerate(state.bundle.starts):
                phase = f"start {group.start + start + 2} of {count}: {names[start]}"
                lifted = screened.lifted(state.bundle.at(r))
                yield from self._follow(problem, short, lifted, phase, names[start], ends)
            for start, _ in state.merged:
                into = names[traced(start, dict(state.merged))]
                self.reports[names[start]] = self.reports[into]
                self.notes[names[start]] = self.notes.get(into) or f"joined {into}"
            self.phases_done += min(SURVIVORS, len(group)) - len(state.bundle.starts)

    def _follow(
        self,
        problem: NonRigidProblem,
        short: Algorithm[Any],
        start: Factors,
        phase: str,
        name: str,
        ends: list[End],
    ) -> Iterator[Iterate]:
        """Run one start until it converges, meets a known end, or cannot get below the lowest of them."""
        losses: list[float] = []
        lowest = min(end.loss for end in ends)
        for update in self._phase(problem, short, start, phase):
            losses.append(self.point_loss)
            self.reports[name] = self.point_loss / self.share
            yield update
            if self.phase_status.finished:
                continue
            if end := met(self.point, self.point_loss, ends):
                self.reports[name], self.notes[name] = self.reports[end.name], f"joined {end.name}"
            elif hopeless(losses, lowest):
                self.notes[name] = GIVEN_UP
            else:
                continue
            self.phases_done += 1
            return
        ends.append(End(name, self.point, self.point_loss))

    def _grow(self, problem: NonRigidProblem, algorithm: Algorithm[Any], phase: str) -> Iterator[Iterate]:
        """Solve at rank 1, then add one column at a time up to the problem's rank."""
        factors = rigid_start(problem)
        self.whole = problem
        for rank in range(1, problem.rank + 1):
            factors = resized(factors, rank, self._rng(rank))
            smaller = problem.of_rank(rank)
            yield from self._phase(smaller, algorithm, factors, f"{phase}, rank {rank}")
            factors = self.point
        self.whole = None


def _first_look(problem: NonRigidProblem) -> Point:
    """Return the best shape for fronto-parallel cameras, to show before there is another."""
    start = rigid_start(problem)
    C = problem.data.best_C(start.B, start.s, problem.weights[:1]).C
    return candidate_at(problem, Factors(start.B, C, start.s))


def _compatible(start: Iterate, settings: Settings) -> bool:
    """Whether a run can go on from an update: its cameras are settled, and stay what they are."""
    before = start.settings
    return start.rotations_chosen and (
        (before.problem, before.rotations, before.rotation_rank, before.intrinsics)
        == (settings.problem, settings.rotations, settings.rotation_rank, settings.intrinsics)
    )
