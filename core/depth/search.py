"""The schedule of the depth refinement, as one stream of steps.

    starts      the bilinear solution and other candidates pass two coarse levels, on some of the points;
                where frames are many, one of those that meet at the first of them passes the second
    mirrored    of the lowest ends that differ, runs of frames are mirrored in depth, then single frames, one
                after the other; what lowers the energy stays (`reflections`)
    all points  the lowest end, or where others are nearly as low all of these, are extended to all points
                (`subset`) and pass one more level
    fine        the lowest of them passes levels of decreasing scales, down to the noise of the tracks; in the
                last ones an observation may leave its ray.  Where the starts differ, all that are nearly as
                low do: energies tell more the finer the level is
    judged      as long as a run of frames or a single frame is lower there when it is mirrored, it is
                (`alternatives`), and so are frames that are posed anew where the rotation jumps or, where
                frames are few, changes least evenly (`reposing`)
    posed       where frames are few and another end is nearly as low, random frames are posed anew
                (`reposing`), and what is lower at the finest level is kept
    further     frames beside a jump of the rotation are mirrored once, else parts; what is lower is judged
    closing     the lowest end goes on, unless lengths are loose, to levels with another weight of these, and
                where parts move against each other with fewer edges of each point (`schedule`); energies
                there do not compare with those before

Where lengths do not stay (`alternatives.is_stretching`), or may not and starts lead to many ends, all of
these but for poses and closing levels pass once more with lengths that count less.  What then has fewer
modes, of shapes and of lengths in sum, is kept.  Where frames and ends are many, the coarse levels pass with
lengths that count a third, too: an end that these held where it was comes down to the others.

Coarse scales come first because there many wrong shapes have no minimum of their own.  Each level begins
where the one before ended, with the edges of the shapes there.  Energies are compared at one level and on the
same points only; all are given per point and frame.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from ..foundation.phases import Phase, PhaseKind
from ..foundation.representation import OneLine
from ..solvers.solver import iterate
from .alternatives import (
    OwnEnd,
    Pausing,
    Value,
    differs,
    find_mirrored,
    find_near,
    is_stretching,
    may_stretch,
    mirrored_together,
    modes,
    relax,
)
from .edges import has_parts, neighbor_edges
from .energy import DepthLevel, LevelEnergy, Preconditioner
from .following import DepthEnd, DepthStep, Followed
from .lbfgs import LBFGS
from .problem import DepthPoint, DepthProblem
from .reflections import (
    FrameBlock,
    candidate_blocks,
    mirror_in_depth,
    mirrored_parts,
    point_distance,
    reflect_block,
    suspicions,
    suspicious_frames,
)
from .reposing import ITERATIONS, RETURNED, mirrored_at_jumps, search_poses, smoother_paths, without_jumps
from .schedule import (
    COMPARED,
    EXTENDED,
    FINE,
    FIRST,
    LIGHTER,
    NOISY,
    RANKED,
    SETTLED,
    SETTLED_FRAME,
    TRIAL,
    DepthOptions,
    is_loose,
    iteration_work,
    iterations_per_pause,
)
from .subset import DepthSubset, anchored_subset, carried_along

LIGHT, FIRST_END = "lighter lengths", "first end"  # of starts where lengths do not stay
SEARCHED_SHARE = 1 / 3  # of the weight of lengths, with which starts compete again where many ends differ
SEARCHED = 50  # points that starts are compared on
MOST_COMPARED = 100  # points on all of which the ends of few frames compete at the finest level
SEARCHING = (PhaseKind.DEPTH_START, PhaseKind.MIRROR)  # on some of the points anyway
FINEST_COST = 1.2  # of an iteration there, relative to one on the rays: observations leave them
REFLECTED = 3  # lowest ends that differ, of which blocks are mirrored
ROUNDS = 5  # of reflections of blocks of one end
JUDGED_ROUNDS = 5  # of reflections at the finest levels, and of smoother paths of the camera
SMOOTHED = 4  # descents of these, about
SWEEPS = 3  # over single frames of one end
NEAR = 0.06  # relative distance of shapes below which two ends agree
MET = 2  # further starts that come near the lowest in the first level: then one that is HIGH does not go on
HIGH = 0.05  # per point and frame, above the lowest there
TIE = 5e-3  # of the energy: ends that are higher by less are ranked on all points
AGREEMENT = 3e-4  # of the energy: what each further start that agrees counts
HOPELESS = 5e-3  # of the energy: a trial that is higher by more after its first level is dropped
FAR = 0.01  # of the energy: a reflection that is higher by more is not tried again
GOOD = 0.005  # of the energy: a reflection that is lower by more is taken without trying the others
TIE_RANKED = 2e-3  # of the ranked energy: ends of starts that differ pass the finest levels
FEWEST_POSED, FEW_FRAMES = 6, 25  # between which frames are posed anew
AGREED = 3  # further starts that agree with the lowest: then it alone passes the finest levels
CLOSE_ENDS = 0.03  # of the ranked energy: where the next end is higher by less, frames are posed anew
LEAST_GAIN = 1e-4  # per point and frame, of a reflection
LEAST_LOWER = 0.05  # energy per frame by which a mirrored block has to be lower at the finest level
LEAST_LOWER_PARTS = 0.25  # the same of mirrored parts: below, errors rise as often as they fall
# After one of the finest levels: energy per frame above an end, and distance from it, at which a start will
# not become lower. Those that did were .3 above it or less, and .02 away from it or more.
FAR_ABOVE, RETURNED_TO_END = 1.5, 0.005
CLOSE = 2e-3  # per point and frame: a single frame whose trial ends higher by more is not settled


def planned_work(shape: tuple[int, int], starts: int, ranked: int = 1) -> float:
    """Return how much a refinement has to do, if all levels take all their iterations.

    `shape`: (F, P) of the problem.
    """
    frames, points = shape
    each = (FIRST.iterations + COMPARED.iterations) * iteration_work((frames, min(points, SEARCHED)))
    return each * starts + RANKED.iterations * iteration_work(shape) * ranked + _fine_work(shape)


def _fine_work(shape: tuple[int, int], fine: tuple[DepthLevel, ...] = FINE) -> float:
    """Return the work of the fine and the finest levels."""
    return iteration_work(shape) * (_iterations(fine) + FINEST_COST * _iterations(NOISY))


def _iterations(levels: tuple[DepthLevel, ...]) -> int:
    """Return the most iterations of levels together."""
    return sum(level.iterations for level in levels)


def refine_depths(
    problem: DepthProblem, starts: Mapping[str, DepthPoint], options: DepthOptions
) -> Iterator[DepthStep]:
    """Yield the steps of a refinement; it pauses while none is asked for."""
    anchor = next(iter(starts.values()))
    most = SEARCHED if options.thorough else problem.shape[1]
    search = _Search(anchored_subset(problem.anchored(anchor), anchor, most), options, anchor)
    found, others = yield from search.find_ends(starts)
    end, full = found[0], search.subset.problem
    if may_stretch(full, end.point, options) and (
        search.undecided or is_stretching(full, end.point, options, end.own)
    ):
        subset = search.subset.with_length_share(LIGHTER)
        lighter = replace(search, subset=subset, lowest=np.inf, loose=None, closing=(), done=search.planned)
        named = {f"{name}, {LIGHT}": start for name, start in {**starts, FIRST_END: end.point}.items()}
        again = yield from search.beside(lighter, lighter.find_ends(named))
        edges = neighbor_edges(full.shapes(end.point), options.neighbors)
        ends = end.point, again[0][0].point
        kept, less = (sum(modes(full, point, edges, options.eps)) for point in ends)
        if less < kept:
            search, (found, others) = lighter, again
    yield from search.finish(found, others)


def refine_part(
    subset: DepthSubset, anchor: DepthPoint, starts: Mapping[str, DepthPoint], options: DepthOptions
) -> Iterator[tuple[DepthStep, DepthStep]]:
    """Yield the steps of the refinement of some points, the others being carried along with them.

    They are carried when the finest levels begin, without their distances, and at the end; until then the
    anchor is shown.
    """
    shown, carried = anchor, False
    for step in refine_depths(subset.part, starts, options):
        if step.finished:
            subset = subset.with_length_share(step.length_share)
        if subset.complete:
            yield step, replace(step, followed=_followed(subset, step, step.best), own=None)
            continue
        if step.finished:
            shown = subset.extend(step.best, anchor.rays, options)
        elif not carried and step.phase.kind is PhaseKind.FINEST and not step.phase.subset:
            shown, carried = carried_along(subset, anchor, subset.restrict(anchor), step.best), True
        ends = tuple(replace(end, point=shown) for end in step.ends[:1])
        followed = _followed(subset, step, shown)
        yield step, replace(step, best=shown, ends=ends, coarser=None, followed=followed, own=None)


def _followed(subset: DepthSubset, step: DepthStep, shown: DepthPoint) -> Followed | None:
    """Return from where changes are followed after the last step of the part; None after earlier ones."""
    if not step.finished or step.objective is None:
        return None
    return Followed(subset, step.best, step.objective, step.best, shown, step.coarser, ends=step.ends)


@dataclass(eq=False)
class _CoarseEnd(OneLine):
    """An end of the coarse levels, on the searched points."""

    name: str
    point: DepthPoint
    energy: float
    rays: np.ndarray  # (F, 2, P) of its start, for the points that are not searched
    agreeing: int = 0  # further starts that came near it
    ranked: float | None = None  # its energy at the level `RANKED`, None where it was not followed there
    # Of the trials that begin here: the energy after the first level above which one is dropped, and the
    # preconditioners; None before the first trial.
    trial: tuple[float, list[Preconditioner]] | None = None

    @property
    def score(self) -> float:
        return self.energy - AGREEMENT * abs(self.energy) * self.agreeing


@dataclass(frozen=True, eq=False)
class _FineEnd(OneLine):
    """An end of the finest level."""

    name: str  # of the start
    point: DepthPoint
    energy: float  # per point and frame
    coarser: DepthPoint  # see `DepthStep`
    objective: LevelEnergy  # whose value the energy is
    passed: tuple[tuple[DepthPoint, float], ...]  # where the finest levels ended, and the energies there
    own: OwnEnd | None = None  # with what is mirrored and not lower; None before


End = TypeVar("End", _CoarseEnd, _FineEnd)


def _distinct(problem: DepthProblem, ends: Sequence[End]) -> list[End]:
    """Return the ends that differ from all that are kept before them."""
    kept: list[End] = []
    for end in ends:
        if differs(problem, end.point, [other.point for other in kept]):
            kept.append(end)
    return kept


@dataclass(eq=False)
class _Search(OneLine):
    """The state of a refinement: what is kept so far, and how much is done."""

    subset: DepthSubset
    options: DepthOptions
    best: DepthPoint  # on all points
    best_energy: float = np.inf
    planned: float = 0.0  # see `planned_work`
    done: float = 0.0
    share: float = 0.0  # of the work, which never falls although more is planned
    following: bool = field(default=False)  # whether `best` follows the current point
    objective: LevelEnergy | None = None  # whose value `best_energy` is
    current: LevelEnergy | None = None  # of the level that is passed
    lowest: float = np.inf  # energy of an end of the finest level
    loose: bool | None = None  # whether the finest levels leave lengths loose; None before they begin
    closing: tuple[DepthLevel, ...] = ()  # that the lowest end passes after them
    undecided: bool = False  # whether starts led to many ends that differ
    # Number of all points, where the problem has some of them and its end is a start for all of them.
    count: int | None = None

    @cached_property
    def part(self) -> DepthProblem:
        """The points that are searched, with exact rays: that of a hidden point alone is unknown."""
        return self.subset.part.with_noise(0.0)

    def find_ends(
        self, starts: Mapping[str, DepthPoint]
    ) -> Generator[DepthStep, None, tuple[list[_FineEnd], list[DepthEnd]]]:
        """Return the ends of the finest level, the lowest first, and those that did not pass it."""
        on_part = self._posed_anew and self.subset.problem.shape[1] > MOST_COMPARED
        return (yield from (self._compete_on_part if on_part else self._compete)(starts))

    def beside(
        self, lighter: _Search, work: Generator[DepthStep, None, Value]
    ) -> Generator[DepthStep, None, Value]:
        """Return what a search with lighter lengths does; energies do not compare, what is known is shown."""
        steps = Pausing(work)
        for step in steps:
            yield replace(step, best=self.best, best_energy=self.best_energy, objective=None)
        self.share = lighter.share
        return steps.value

    def finish(self, found: list[_FineEnd], others: list[DepthEnd]) -> Iterator[DepthStep]:
        """Yield the closing levels of the lowest end, and the last step."""
        lowest, *higher = _distinct(self.subset.problem, found)
        best = (yield from self._pass_closing_levels(lowest)) if self.closing else lowest
        ends = [DepthEnd(best.name, best.point, lowest.energy, lowest.energy)]
        ends += [DepthEnd(each.name, each.point, each.energy, lowest.energy) for each in higher]
        yield DepthStep(
            best.point,
            best.energy,
            best.energy,
            self._finest_phase(len(NOISY) + len(self.closing)),
            1.0,
            finished=True,
            ends=(*ends, *others),
            coarser=best.coarser,
            own=best.own,
        ).under(best.objective)

    def _compete(
        self, starts: Mapping[str, DepthPoint]
    ) -> Generator[DepthStep, None, tuple[list[_FineEnd], list[DepthEnd]]]:
        """Return the ends of `find_ends`, of all starts."""
        full, thorough = self.subset.problem, self.options.thorough
        ends = yield from self._pass_coarse_levels(starts)
        kept = self._lowest(ends)
        if thorough:
            kept = yield from self._mirror(kept)
        differ = thorough and self._agreeing(kept[0], ends) < min(AGREED, len(starts) - 1)
        self.undecided = differ and len(kept) == REFLECTED
        if self.undecided and full.length_share == 1.0 and not self._posed_anew:
            kept = yield from self._add_lighter(kept, starts)
        ranked = yield from self._rank(kept, TIE if thorough and not differ else np.inf)
        limit = ranked[0][0] + (TIE_RANKED if differ else 0.0) * abs(ranked[0][0])
        followed = [ranked[0], *(each for each in ranked[1:] if each[0] <= limit)]
        # One start by itself agrees with none.
        close = len(starts) == 1 or (
            len(ranked) > 1 and ranked[1][0] < ranked[0][0] + CLOSE_ENDS * abs(ranked[0][0])
        )
        posing = self._posing_work if close else 0.0
        self.planned += posing - self._posing_work + (len(followed) - 1) * _fine_work(full.shape)
        left = len(followed) * _fine_work(full.shape) + posing + self._smoothing_work
        self.done = max(self.done, self.planned - left)
        found: list[_FineEnd] = []
        for _, end, point in followed:
            found.append((yield from self._pass_fine_levels(end.name, point)))
        found.sort(key=lambda each: each.energy)
        found[0] = yield from self._judge(found[0])
        if posing:
            found += yield from self._pose_frames(found[0])
            found.sort(key=lambda each: each.energy)
            if found[0].own is None:
                found[0] = yield from self._judge(found[0])
        if thorough and self.options.coarse:
            found[0] = yield from self._mirror_further(found[0])
        lowest, others = ranked[0][1], []
        for end in kept[: None if thorough else 0]:
            if all(end is not other for _, other, _ in followed):
                pair = end.energy, lowest.energy
                if end.ranked is not None and lowest.ranked is not None:
                    pair = end.ranked, lowest.ranked
                others.append(DepthEnd(end.name, self.subset.extend(end.point, end.rays), *pair))
        return found, others

    def _add_lighter(
        self, kept: list[_CoarseEnd], starts: Mapping[str, DepthPoint]
    ) -> Generator[DepthStep, None, list[_CoarseEnd]]:
        """Add the ends that starts have where lengths count less, which hold some of them where they are."""
        lighter, added = replace(self, subset=self.subset.with_length_share(SEARCHED_SHARE)), list(kept)
        ends = yield from self.beside(lighter, lighter._pass_coarse_levels(starts))
        found = yield from self.beside(lighter, lighter._mirror(lighter._lowest(ends)))
        for end in found:
            phase = Phase(PhaseKind.DEPTH_START, name=end.name)
            point, energy = yield from self._levels(self.part, end.point, (SETTLED,), phase)
            added.append(replace(end, point=point, energy=energy))
        return _distinct(self.part, sorted(added, key=lambda end: end.score))

    def _compete_on_part(
        self, starts: Mapping[str, DepthPoint]
    ) -> Generator[DepthStep, None, tuple[list[_FineEnd], list[DepthEnd]]]:
        """Return the same; what competes is of the searched points, and the lowest ends pass on to all."""
        subset, part = self.subset, self.subset.part
        own = DepthSubset(part, part, np.arange(part.shape[1]))
        search = _Search(own, self.options, subset.restrict(self.best), count=subset.problem.shape[1])
        steps = Pausing(search._compete({name: subset.restrict(start) for name, start in starts.items()}))
        work, phase, shown = _fine_work(subset.problem.shape, FINE[-1:]), None, search.best
        smoothing = self._smoothing_work
        for step in steps:
            if step.phase != phase and step.best is not shown:  # to extend one costs as much as a few steps
                self.best, self.best_energy = subset.extend(step.best, self.best.rays), step.best_energy
                shown = step.best
            phase = step.phase
            self.planned, self.done = search.planned + work + smoothing, search.done
            yield self._step(step.energy, replace(phase, subset=phase.kind not in SEARCHING))
        (found, coarse), self.undecided = steps.value, search.undecided
        differing = _distinct(part, found)
        limit = found[0].energy + TIE_RANKED * abs(found[0].energy)
        followed = [end for end in differing if end.energy <= limit]
        self.planned, self.done = search.planned + len(followed) * work + smoothing, search.planned
        ends: list[_FineEnd] = []
        for end in followed:
            point = subset.extend(end.point, starts[end.name].rays, self.options)
            ends.append((yield from self._pass_fine_levels(end.name, point, FINE[-1:])))
        ends.sort(key=lambda each: each.energy)
        ends[0] = yield from self._judge(ends[0])
        higher = [
            DepthEnd(each.name, each.point, each.energy, found[0].energy)
            for each in differing
            if each.energy > limit
        ]
        return ends, [
            replace(each, point=subset.extend(each.point, starts[each.name].rays))
            for each in (*higher, *coarse)
        ]

    @property
    def _posed_anew(self) -> bool:
        """Whether frames are posed anew where two ends are close: in the first search."""
        few = FEWEST_POSED <= len(self.part.tracks) <= FEW_FRAMES and self.part.length_share == 1.0
        return few and self.options.thorough and self.options.coarse

    @property
    def _posing_work(self) -> float:
        """The work of posing frames anew, if all trials descend."""
        if not self._posed_anew:
            return 0.0
        iterations = ITERATIONS / len(self.part.tracks)
        return iterations * iteration_work(self.part.shape) + RETURNED * _fine_work(self.subset.problem.shape)

    @property
    def _smoothing_work(self) -> float:
        """The work of making the camera's path smoother, about; 0 where it is not tried."""
        if self.count is not None or not self._posed_anew:
            return 0.0
        return SMOOTHED * FINEST_COST * _iterations(NOISY) * iteration_work(self.subset.problem.shape)

    def _pass_coarse_levels(
        self, starts: Mapping[str, DepthPoint]
    ) -> Generator[DepthStep, None, list[_CoarseEnd]]:
        """Return where the starts end."""
        full, thorough, coarse = self.subset.problem, self.options.thorough, self.options.coarse
        ends: list[_CoarseEnd] = []
        if not (thorough and coarse):  # a start that is good already may lose by the coarse levels
            for name, start in starts.items():
                point = self.subset.restrict(start)
                ends.append(_CoarseEnd(name, point, self._energy(point, COMPARED), start.rays))
        searched = list(starts.items())[: (None if thorough else 1) if coarse else 0]
        ranked = 1 if thorough else len(ends) + len(searched)
        self.planned += planned_work(full.shape, len(searched) * (2 if thorough else 1), ranked)
        self.planned += self._posing_work + self._smoothing_work
        begun: list[tuple[Phase, _CoarseEnd]] = []
        for number, (name, start) in enumerate(searched, start=1):
            phase = Phase(PhaseKind.DEPTH_START, number, len(searched), name)
            point, energy = yield from self._levels(self.part, self.subset.restrict(start), (FIRST,), phase)
            begun.append((phase, _CoarseEnd(name, point, energy, start.rays)))
        begun.sort(key=lambda each: each[1].energy)
        return [*ends, *(yield from self._pass_compared(begun))]

    def _pass_compared(
        self, begun: Sequence[tuple[Phase, _CoarseEnd]]
    ) -> Generator[DepthStep, None, list[_CoarseEnd]]:
        """Return where starts end that have passed the first level, the lowest of them first.

        Of those that have met there one goes on for all; where most have, one that is far above does not.
        Where frames are few all go on: the first level does not tell their ends apart.
        """
        firsts = [first for _, first in begun]
        same = 0.0 if self._posed_anew else NEAR
        most = bool(begun and same) and self._agreeing(firsts[0], firsts) >= MET
        passed: list[tuple[_CoarseEnd, _CoarseEnd]] = []  # after the first level, and after both
        ends: list[_CoarseEnd] = []
        for phase, first in begun:
            met = next(
                (end for other, end in passed if point_distance(self.part, first.point, other.point) < same),
                None,
            )
            if met is not None:
                ends.append(replace(met, name=first.name, rays=first.rays))
            elif not (most and first.energy > firsts[0].energy + HIGH):
                point, energy = yield from self._levels(self.part, first.point, (COMPARED,), phase)
                end = replace(first, point=point, energy=energy)
                passed.append((first, end))
                ends.append(end)
                if energy < self.best_energy:
                    self.best, self.best_energy = self.subset.extend(point, first.rays), energy
        return ends

    def _mirror(self, kept: list[_CoarseEnd]) -> Generator[DepthStep, None, list[_CoarseEnd]]:
        """Mirror blocks and single frames of ends; return those that differ then, the lowest first."""
        for number, end in enumerate(kept):
            yield from self._mirror_blocks(end, kept[:number])
        swept: list[_CoarseEnd] = []
        for end in kept:
            if differs(self.part, end.point, [other.point for other in swept]):
                swept.append(replace(end, trial=None))
                yield from self._mirror_frames(end)
                swept.append(end)
        for end in kept:
            end.trial = None  # it is large
        return _distinct(self.part, sorted(kept, key=lambda end: end.score))

    def _pass_fine_levels(
        self, name: str, point: DepthPoint, fine: tuple[DepthLevel, ...] = FINE
    ) -> Generator[DepthStep, None, _FineEnd]:
        """Pass the fine and the finest levels; the end is shown while it is the only one, or the lowest."""
        full = self.subset.problem
        self.following = np.isinf(self.lowest)
        coarser, _ = yield from self._levels(full.with_noise(0.0), point, fine, Phase(PhaseKind.FINE))
        if self.loose is None:  # of all ends, so that energies compare
            self.loose = is_loose(full, coarser, self.count)
            if not self.loose and self.count is None:
                self.closing = self.options.closing(full, coarser)
                self.planned += FINEST_COST * _iterations(self.closing) * iteration_work(full.shape)
        end = yield from self._finest(name, coarser)
        if not self.loose:
            end = replace(end, coarser=coarser)
        if end.energy < self.lowest:
            self._show(end)
        return end

    def _pass_closing_levels(self, end: _FineEnd) -> Generator[DepthStep, None, _FineEnd]:
        """Return where the closing levels lead."""
        full, self.following = self.subset.problem, True
        phase = self._finest_phase(len(NOISY))
        point, energy = yield from self._levels(full, end.point, self.closing, phase, cost=FINEST_COST)
        assert self.current is not None  # of the last level
        return replace(end, point=point, energy=energy, objective=self.current)

    def _finest_phase(self, part: int = 0) -> Phase:
        """Return the phase of one of the finest levels, or before them."""
        return Phase(PhaseKind.FINEST, part=part, parts=len(NOISY) + len(self.closing))

    def _show(self, end: _FineEnd) -> None:
        """Show an end of the finest level."""
        self.lowest = self.best_energy = end.energy
        self.best, self.objective = end.point, end.objective

    def _pose_frames(self, found: _FineEnd) -> Generator[DepthStep, None, list[_FineEnd]]:
        """Return what random frames posed anew lead to at the finest level."""
        own = self.subset.restrict(found.point)
        poses = Pausing(search_poses(self.part, own, self.options))
        work = iterations_per_pause(self.part.shape) * iteration_work(self.part.shape)
        for stage, lowest in poses:
            self.done += work
            yield self._step(lowest, Phase(PhaseKind.POSES, part=stage, parts=2))
        ends = []
        for _, start in poses.value:
            point = self.subset.extend(start, found.point.rays)
            ends.append((yield from self._pass_fine_levels(found.name, point)))
        return ends

    def _judge(self, end: _FineEnd) -> Generator[DepthStep, None, _FineEnd]:
        """Mirror frames of an end, or pose some anew, while its energy at the finest level falls."""
        full, self.following = self.subset.problem, False
        for _ in range(JUDGED_ROUNDS if self.options.thorough and self.options.coarse else 0):
            end = yield from self._smooth_paths(end)
            own = OwnEnd.of_solution(full, end.point, self.options)
            found = Pausing(find_mirrored(full, end.point, own, self.options, loose=bool(self.loose)))
            for _ in found:
                yield self._step(self.best_energy, self._finest_phase(len(NOISY)))
            better = [each for each in found.value if each.excess < -LEAST_LOWER]
            starts = (*mirrored_together(full, better), without_jumps(full, end.point))
            lower = yield from self._first_lower(end, filter(None, starts))
            if lower is None:
                higher = tuple(each for each in found.value if each not in better)
                return replace(end, own=replace(own, mirrored=higher))
            end = lower
        return end

    def _mirror_further(self, end: _FineEnd) -> Generator[DepthStep, None, _FineEnd]:
        """Mirror frames beside a jump of the rotation, or parts, once; what is lower is judged again."""
        full, neighbors = self.subset.problem, self.options.neighbors
        parts = has_parts(full.shapes(end.point), neighbors)
        for starts, least in (
            ([*mirrored_at_jumps(full, end.point)], LEAST_LOWER),
            ([*mirrored_parts(full, end.point, neighbors)] if parts else [], LEAST_LOWER_PARTS),
        ):
            found = Pausing(find_near(full, end.point, starts, self.options, loose=bool(self.loose)))
            for _ in found:
                yield self._step(self.best_energy, self._finest_phase(len(NOISY)))
            self.planned += len(found.value) * _fine_work(full.shape, ())
            lower = yield from self._first_lower(end, found.value, least / full.shape[1])
            if lower is not None:
                return (yield from self._judge(lower))
        return end

    def _smooth_paths(self, end: _FineEnd) -> Generator[DepthStep, None, _FineEnd]:
        """Pose runs of few frames so that the camera's path is smoother, while the energy falls."""
        if self._smoothing_work:
            for _ in range(JUDGED_ROUNDS):
                starts = smoother_paths(self.subset.problem, end.point)
                lower = yield from self._first_lower(end, starts, LEAST_GAIN)
                if lower is None:
                    break
                end = lower
        return end

    def _first_lower(
        self, end: _FineEnd, starts: Iterable[DepthPoint], least: float = 0.0
    ) -> Generator[DepthStep, None, _FineEnd | None]:
        """Return the first end of the finest level of some starts that is lower by more; None if none is."""
        for start in starts:
            lower = yield from self._finest(end.name, start, end)
            if lower.energy < end.energy - least:
                if not self.loose:
                    exact = self.subset.problem.with_noise(0.0)
                    coarser, _ = relax(exact, lower.point, FINE[-1:], self.options)
                    lower = replace(lower, coarser=coarser)
                self._show(lower)
                return lower
        return None

    def _finest(
        self, name: str, point: DepthPoint, other: _FineEnd | None = None
    ) -> Generator[DepthStep, None, _FineEnd]:
        """Pass the finest levels; return where they end, with the end of the first one as the coarser point.

        Where one ends far above another end of it, or near that, the others are left out, and the energy is
        infinite.
        """
        full, finest = self.subset.problem, self.options.finest(loose=bool(self.loose))
        cost = FINEST_COST * _iterations(NOISY) / _iterations(finest)  # so that all is what was planned
        passed: list[tuple[DepthPoint, float]] = []
        for number, level in enumerate(finest):
            phase = self._finest_phase(number)
            point, energy = yield from self._levels(full, point, (level,), phase, cost=cost)
            passed.append((point, energy))
            if other is not None:
                near, lowest = other.passed[number]
                far = energy > lowest + FAR_ABOVE / full.shape[1]
                if far or point_distance(full, point, near) < RETURNED_TO_END:
                    energy = np.inf
                    break
        assert self.current is not None  # of the last level
        return _FineEnd(name, point, energy, passed[0][0], self.current, tuple(passed))

    def _rank(
        self, kept: list[_CoarseEnd], tie: float
    ) -> Generator[DepthStep, None, list[tuple[float, _CoarseEnd, DepthPoint]]]:
        """Follow the lowest of sorted ends on all points; return them and their points, the lowest first."""
        limit = kept[0].score + tie * abs(kept[0].score)
        exact = replace(self.subset.problem, noise=0.0)
        levels = (RANKED,) if self.subset.complete else (*EXTENDED, RANKED)
        ranked: list[tuple[float, _CoarseEnd, DepthPoint]] = []
        for end in kept:
            if end.score > limit:
                continue
            point = self.subset.extend(end.point, end.rays)
            phase = Phase(PhaseKind.ALL_POINTS, name=end.name)
            point, energy = yield from self._levels(exact, point, levels, phase)
            end.ranked = energy
            ranked.append((energy - AGREEMENT * abs(energy) * end.agreeing, end, point))
            ranked.sort(key=lambda one: one[0])
            self.best = ranked[0][2]
        return ranked

    def _levels(
        self,
        problem: DepthProblem,
        point: DepthPoint,
        levels: tuple[DepthLevel, ...],
        phase: Phase,
        first_limit: float = np.inf,
        cost: float = 1.0,
        known: Sequence[Preconditioner | None] | None = None,
    ) -> Generator[DepthStep, None, tuple[DepthPoint, float]]:
        """Yield the steps of levels, one after the other; return where they end, and the energy there.

        Where the first level ends above a limit the others are left out, and the energy is infinite. `known`:
        the preconditioners to begin the levels with.
        """
        weight = cost * iteration_work(problem.shape)
        for number, (level, first) in enumerate(
            zip(levels, known or [None] * len(levels), strict=True), start=1
        ):
            self.current = energy = self.options.energy(problem, level, point)
            if self.following:
                self.objective = energy
            # Of another point: where its first step leads nowhere it is computed again.
            algorithm = LBFGS(level.iterations, level.tolerance, known=None if first is None else (first, 1))
            described = replace(phase, part=phase.part + number, parts=phase.parts or len(levels))
            before = self.done
            for snapshot in iterate(energy, algorithm, point):
                value = snapshot.progress.loss / problem.visible.size
                self.done = before + weight * snapshot.progress.iteration
                if self.following:
                    self.best, self.best_energy = energy.point(snapshot.state.x), value
                yield self._step(value, described)
            point = energy.point(snapshot.state.x)
            self.done = before + weight * level.iterations
            if number == 1 and value > first_limit:
                return point, np.inf
        return point, value

    def _step(self, energy: float, phase: Phase) -> DepthStep:
        self.share = share = max(self.share, min(self.done / self.planned, 1.0))
        finest = phase.kind is PhaseKind.FINEST and phase.part == phase.parts
        objective = self.objective if finest else None
        return DepthStep(self.best, self.best_energy, energy, phase, share, objective=objective)

    def _lowest(self, ends: list[_CoarseEnd]) -> list[_CoarseEnd]:
        """Return the lowest ends that differ, and count those that agree with each."""
        kept = _distinct(self.part, sorted(ends, key=lambda end: end.energy))[:REFLECTED]
        if self.options.thorough:
            for end in kept:
                end.agreeing = self._agreeing(end, ends)
        return kept

    def _agreeing(self, end: _CoarseEnd, ends: list[_CoarseEnd]) -> int:
        """Return how many of the other ends are near one of them."""
        return sum(point_distance(self.part, other.point, end.point) < NEAR for other in ends) - 1

    def _mirror_blocks(self, end: _CoarseEnd, others: Sequence[_CoarseEnd]) -> Iterator[DepthStep]:
        """Mirror blocks of frames of an end while this lowers its energy, until it meets one of others."""
        problem = self.part
        refused: set[FrameBlock] = set()
        for _ in range(ROUNDS):
            mirrored = mirror_in_depth(end.point)
            blocks = candidate_blocks(suspicions(problem, end.point, mirrored))
            lowest: tuple[float, DepthPoint, FrameBlock] | None = None
            for block in blocks:
                if block in refused:
                    continue
                point, energy = yield from self._try_mirrored(end, mirrored, block)
                if lowest is None or energy < lowest[0]:
                    lowest = energy, point, block
                if energy > end.energy + FAR * abs(end.energy):
                    refused.add(block)
                if energy < end.energy - GOOD * abs(end.energy):
                    break
            if lowest is None:
                return
            _, point, block = lowest
            settled = yield from self._settle(end, point, block, SETTLED)
            if not (settled and differs(problem, end.point, [other.point for other in others])):
                return

    def _mirror_frames(self, end: _CoarseEnd) -> Iterator[DepthStep]:
        """Mirror single frames of an end, one after the other, until a sweep over them lowers nothing."""
        problem = self.part
        refused: set[FrameBlock] = set()
        for _ in range(SWEEPS):
            mirrored, lowered = mirror_in_depth(end.point), False
            for block in suspicious_frames(problem, end.point, mirrored):
                if block in refused:
                    continue
                point, energy = yield from self._try_mirrored(end, mirrored, block)
                if energy > end.energy + FAR * abs(end.energy):
                    refused.add(block)
                if energy < end.energy + CLOSE and (
                    yield from self._settle(end, point, block, SETTLED_FRAME)
                ):
                    mirrored, lowered = mirror_in_depth(end.point), True
            if not lowered:
                return

    def _try_mirrored(
        self, end: _CoarseEnd, mirrored: DepthPoint, block: FrameBlock
    ) -> Generator[DepthStep, None, tuple[DepthPoint, float]]:
        """Yield the steps of a short descent from an end with a block mirrored; return where it ends.

        Its preconditioners are those of the end, which do for it with a few frames mirrored.
        """
        problem = self.part
        if end.trial is None:
            energies = [self.options.energy(problem, level, end.point) for level in TRIAL]
            known = [energy.preconditioner(energy.start(end.point)) for energy in energies]
            lowest = self._energy(end.point, TRIAL[0])
            end.trial = lowest + HOPELESS * abs(lowest), known
        limit, known = end.trial
        point = reflect_block(problem, end.point, mirrored, block)
        phase = Phase(PhaseKind.MIRROR, name=f"{end.name}, {block}")
        return (yield from self._levels(problem, point, TRIAL, phase, first_limit=limit, known=known))

    def _settle(
        self, end: _CoarseEnd, point: DepthPoint, block: FrameBlock, level: DepthLevel
    ) -> Generator[DepthStep, None, bool]:
        """Follow an end with a block mirrored; return whether it is lower, and so the end from now on."""
        phase = Phase(PhaseKind.MIRROR, name=f"{end.name}, {block}")
        point, energy = yield from self._levels(self.part, point, (level,), phase)
        if energy > end.energy - LEAST_GAIN:
            return False
        end.point, end.energy, end.trial = point, energy, None
        if energy < self.best_energy:
            self.best, self.best_energy = self.subset.extend(point, end.rays), energy
        return True

    def _energy(self, point: DepthPoint, level: DepthLevel) -> float:
        """Return the energy of a point at a level, per point and frame."""
        problem = self.part
        energy = self.options.energy(problem, level, point)
        value, _ = energy.value_and_gradient(energy.start(point))
        return value / problem.visible.size
