"""The depth refinement as the last phases of a run: from the bilinear solution, and other candidates for it.

The starts are the end of the bilinear run and, where rotations were compared, the ends of the candidates with
the lowest scores.  While depths are refined, `current` and `best` of the iterates stay the bilinear solution,
whose loss the history repeats; the energy is in a column of its own, and what is shown is refined.

A run whose last parameters of the depths alone have changed is followed at the finest level, from the shape
that is shown (`follow_refined`): the bilinear solution, and what depends on it alone, is not solved again.

A run that continues a refined one under other changes searches less, but starts from the refined shape, too,
and keeps what has the lower energy: the energy does not know eta, the penalty or the rank.  Where these are
the same that shape is shown until the refinement has ended.  Else what changes is shown first: the bilinear
solution.  Once its coarse levels are done, the refined shape is shown again until the refinement has ended:
it passed the finest level, and energies of coarser ones do not compare.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..depth import (
    FINE,
    Alternative,
    DepthOptions,
    DepthPoint,
    DepthProblem,
    DepthStep,
    DepthSubset,
    Followed,
    FrameBlock,
    OwnEnd,
    Pausing,
    carried_deviations,
    estimate_noise,
    find_alternatives,
    find_mirrored,
    follow_part,
    followed_part,
    followed_points,
    mirror_in_depth,
    planned_work,
    refine_part,
    reflect_block,
    relax,
    standard_deviations,
)
from ..foundation.exceptions import InputError
from ..foundation.phases import DEPTHS, WNN, Phase, PhaseKind
from ..foundation.types import Floats, Watch, do_nothing
from ..problem.factors import Factors
from ..problem.nonrigid import NonRigidProblem, Problem, Subset
from ..solvers.solver import Status, single_threaded
from .geometry import geometry_of
from .pipeline import RunContext, focal_length
from .progress import HistoryEntry, Iterate, Point
from .settings import OBJECTIVE_OF, Settings, frame_range
from .verdicts import Verdict, find_verdicts, is_collapsed, with_ambiguity

CANDIDATES = 4  # of lowest score of each source, that a refinement starts from besides the bilinear solution
# About what the phases before a refinement cost, in the unit of `planned_work`: each, and per observation.
PHASE_WORK, OBSERVATION_WORK = 130_000, 62
AFFINE_WORK = 0.3  # about, of the planned work: what orthogonal tracks need, whose levels end early
JUDGED_SHARE = 0.15  # about, of the time of the refinement: the deviations and verdicts at its end
CONTINUED_SHARE = 0.1  # the same of a run that continues another one
FINEST_KINDS = (PhaseKind.FINEST, PhaseKind.UNCERTAINTY)  # in which the shown shape passed the finest level
BILINEAR = "bilinear solution"  # the start of a refinement that the run itself gives
LEAST_EXTENT = 1e-9  # of a solution in depth, relative to its size
FEWEST_FRAMES, FEWEST_POINTS = 3, 4  # below, shapes have no deviations, or none that cost anything


def with_refinement(
    context: RunContext,
    iterates: Iterator[Iterate],
    candidates: Mapping[str, tuple[Subset, Factors]],
    *,
    thorough: bool,
    continued: Iterate | None = None,
) -> Iterator[Iterate]:
    """Yield the iterates of a bilinear run, then those of the refinement where the settings ask for it."""
    if context.settings.objective == WNN:
        yield from iterates
        return
    block = _mirrored_block(context)
    thorough = thorough and block is None
    refined = continued if continued is not None and continued.record.energy is not None else None
    own = None if refined is None else _refinement_of(refined)
    earlier = own if continued is None or continued.earlier is None else continued.earlier
    bilinear = ("eta", "rank", "penalty", "hide", "loss", "loss_scale")
    shown = refined if refined and refined.settings.agrees(context.settings, *bilinear) else None
    share = CONTINUED_SHARE
    for each in iterates:  # to their end, which releases what the last phase holds
        if thorough:
            share = _bilinear_share(each.best.problem, context.log.phase_count)
        each = replace(each, earlier=earlier)
        if shown is not None:
            record = replace(each.record, energy=shown.record.energy)
            each = replace(each, record=record, view=shown.geometry, depth=own, noise=shown.noise)
        if not each.status.finished:
            yield replace(each, fraction=share * each.fraction)
    try:
        problem = depth_problem(each.best, context.settings.noise, context.tracks.intrinsics)
        first = depth_point(problem, each.best.problem, each.best.factors)
    except InputError as error:
        why = Verdict("uncertain", f"The depths were not refined: {error}.")
        yield replace(each, verdicts=(why,))
        return
    if earlier is not None and earlier.best.affine != problem.affine:
        earlier = None
    if continued is not None and not np.array_equal(problem.visible, continued.best.trusted):
        own, earlier = (None if each is None else _on_rays(each, problem) for each in (own, earlier))
    yield replace(each, status=Status.RUNNING, fraction=share)
    options = depth_options(context.settings, thorough=thorough)
    name = BILINEAR
    if block is not None:
        start = first if own is None else own.best
        name, first = f"{block} mirrored", mirror_in_depth(start)
        if block.last - block.first < len(start.depths):
            first = reflect_block(problem, start, first, block)
        options = replace(options, coarse=refined is None)
        candidates, earlier, shown = {}, None, None
    subset = followed_part(problem, first)
    starts = {name: subset.restrict(first)} | usable_starts(subset, candidates)
    if earlier is not None:
        starts["refined shape"] = subset.restrict(earlier.best)
    view, own_start = (None, True) if shown is None else (shown.geometry, False)
    steps = refine_part(subset, first, starts, options)
    for step in _iterates(each, steps, subset, options, share=share):
        depth = step.depth
        own_start = own_start and step.phase.kind is PhaseKind.DEPTH_START  # lighter starts may follow
        if earlier is not None and depth is not None and not step.status.finished:
            if not own_start:
                depth = replace(depth, best=earlier.best, best_energy=earlier.best_energy)
            step = replace(step, depth=depth, view=view, earlier=earlier)
        yield step


def depth_options(settings: Settings, *, thorough: bool) -> DepthOptions:
    """Return what some settings ask of a refinement."""
    return DepthOptions(
        settings.isometry,
        settings.neighbors,
        thorough=thorough,
        weights=settings.mode_weights,
        eps=settings.smallest_movement,
    )


def can_follow(start: Iterate, settings: Settings) -> bool:
    """Whether a shape passed the finest level, and the settings differ in parameters of the depths alone."""
    if settings.objective != DEPTHS or settings.mirror is not None or start.record.energy is None:
        return False
    depth = start.depth  # of a session that was restored it is without what it was followed from
    if start.phase.kind not in FINEST_KINDS or start.phase.subset:
        return False
    if depth and depth.followed is None and not depth.finished:
        return False
    own = {name: getattr(settings, name) for name, objective in OBJECTIVE_OF.items() if objective == DEPTHS}
    return start.settings.with_changes(**own).shown_as(settings) == settings


def follow_refined(context: RunContext, start: Iterate) -> Iterator[Iterate]:
    """Yield the iterates from the shape of a refined iterate to the minimum under other settings."""
    settings = context.settings
    options = depth_options(settings, thorough=True)
    followed = _followed(start, options)
    noise = followed.objective.problem.noise
    if start.depth is not None and start.depth.objective is not None:
        noise = start.depth.objective.problem.noise
    if settings.noise != start.settings.noise:
        noise = depth_problem(start.best, settings.noise, context.tracks.intrinsics).noise
    record = HistoryEntry(-1, 0.0, start.best.loss, Phase(PhaseKind.FINEST), best=start.best.loss)
    known = with_ambiguity((), start.verdicts)
    first = replace(
        start, settings=settings, record=record, status=Status.CONVERGED, verdicts=known, view=None
    )
    steps = follow_part(followed, options, noise)
    yield from _iterates(first, steps, followed.subset, options, share=0.0)


def _followed(start: Iterate, options: DepthOptions) -> Followed:
    """Return from where the shape of a refined iterate is followed; of a file it is the end of a search."""
    if start.depth is not None and start.depth.followed is not None:
        return start.depth.followed
    known, noise = start.geometry.depth_point, start.noise / focal_length(start.intrinsics)
    problem = DepthProblem(start.best.problem.tracks, start.best.trusted, known.affine, noise)
    try:
        anchor = depth_point(problem, start.best.problem, start.best.factors)
    except InputError:  # the bilinear solution has no shape
        anchor = known
    before, figures = depth_options(start.settings, thorough=True), start.geometry.refinement or {}
    part = followed_part(problem, anchor).with_length_share(figures.get("length_share", 1.0))
    followed = Followed.from_shape(part, known, before, figures.get("lengths") or {})
    ends = start.depth.ends if start.depth is not None and part.complete else ()
    return replace(followed, ends=ends)


def refine_end(point: Point, settings: Settings, intrinsics: Floats, watch: Watch = do_nothing) -> DepthStep:
    """Return the last step of a refinement that follows a bilinear solution only; see `depth_problem`."""
    problem = depth_problem(point, settings.noise, intrinsics)
    options = depth_options(settings, thorough=False)
    first = depth_point(problem, point.problem, point.factors)
    subset = followed_part(problem, first)
    steps = refine_part(subset, first, {BILINEAR: subset.restrict(first)}, options)
    with single_threaded():
        for _, step in steps:
            end = step
            watch()
    return end


def depth_problem(point: Point, noise: float | None, intrinsics: Floats) -> DepthProblem:
    """Return the tracks of a point as a problem of depths.

    `noise`: standard deviation of a coordinate in the units of the sequence, None to estimate it.
    `intrinsics`: (3, 3), from calibrated coordinates to those units.
    """
    problem = point.problem
    assert isinstance(problem, NonRigidProblem)  # no other problem has rays
    frames, points = problem.shape
    if frames < FEWEST_FRAMES or points < FEWEST_POINTS:
        raise InputError(
            f"there are {frames} frames of {points} points; accepted are at least {FEWEST_FRAMES} frames of "
            f"{FEWEST_POINTS} points"
        )
    if not np.isfinite(point.loss) or is_collapsed(problem, point.factors):
        raise InputError("the bilinear solution has no shape")
    visible = point.trusted
    if noise is None:
        calibrated = estimate_noise(problem.tracks, visible)
    else:
        calibrated = noise / focal_length(intrinsics)
    return DepthProblem(problem.tracks, visible, problem.affine, calibrated)


def _bilinear_share(problem: Problem, phases: int) -> float:
    """Return about which share of the time of a run the phases before its refinement have."""
    assert isinstance(problem, NonRigidProblem)  # no other problem is refined
    frames, points = problem.shape
    before = PHASE_WORK * phases + OBSERVATION_WORK * frames * points
    after = planned_work((frames, followed_points(problem.shape)), 2 * (1 + CANDIDATES))
    return before / (before + after * (AFFINE_WORK if problem.affine else 1.0))


def _mirrored_block(context: RunContext) -> FrameBlock | None:
    """Return the frames to mirror, None where there are none to."""
    if context.settings.mirror is None:
        return None
    first, last = frame_range(context.settings.mirror)
    frames = context.sequence.frame_count
    if last >= frames:
        raise InputError(f"mirror is {context.settings.mirror!r}; accepted are frames from 1 to {frames}")
    return FrameBlock(first, last + 1)


def _on_rays(step: DepthStep, problem: DepthProblem) -> DepthStep:
    """Return a step of the same points with the rays of a problem that has other visible observations."""
    best = step.best
    return replace(
        step, best=DepthPoint.from_camera_points(problem, best.camera_points(), best.rotations), ends=()
    )


def _refinement_of(refined: Iterate) -> DepthStep:
    """Return what a refined iterate shows, which may be of a file, as a step without further ends."""
    energy = refined.kept_energy
    assert energy is not None  # it is refined
    shown, problem = refined.geometry, refined.best.problem
    Y = shown.rotations @ shown.points + shown.translations[:, :, None]
    tracks = DepthProblem(problem.tracks, refined.best.trusted, shown.affine)
    point = DepthPoint.from_camera_points(tracks, Y, shown.rotations)
    return DepthStep(point, energy, energy, refined.phase, 1.0, finished=True)


def depth_point(problem: DepthProblem, solved: Problem, factors: Factors) -> DepthPoint:
    """Return the depths and the rotations of factors of a non-rigid problem, which may have some points only.

    Raises InputError where it has no positive depths, or no extent in depth.
    """
    geometry = geometry_of(solved, factors, np.eye(3))
    Y = geometry.rotations @ geometry.points
    if not np.ptp(Y[:, 2], axis=1).max() > LEAST_EXTENT * np.abs(Y).max():
        raise InputError("the bilinear solution has no extent in depth")
    Y += geometry.translations[:, :, None]
    return DepthPoint.from_camera_points(problem, Y, geometry.rotations)


def usable_starts(
    subset: DepthSubset, candidates: Mapping[str, tuple[Subset, Factors]]
) -> dict[str, DepthPoint]:
    """Return the points of a subset of the candidates that lie in front of their cameras."""
    usable = {}
    for name, (compared, end) in candidates.items():
        try:
            factors = compared.at_points(end, subset.points)
            usable[name] = depth_point(subset.part, compared.problem, factors)
        except InputError:  # it cannot be a start; the others can
            continue
    return usable


def _iterates(
    end: Iterate,
    steps: Iterator[tuple[DepthStep, DepthStep]],
    subset: DepthSubset,
    options: DepthOptions,
    *,
    share: float,
) -> Iterator[Iterate]:
    """Yield the timed iterates of a refinement, of whose steps each is of the part and of all points."""
    record = end.record
    while True:
        began = time.perf_counter()
        found = next(steps, None)
        if found is None:
            return
        of_part, step = found
        if step.followed is not None:
            subset = step.followed.subset
        problem = subset.part if of_part.objective is None else of_part.objective.problem
        record = record.following(began, loss=end.best.loss, phase=step.phase, energy=step.energy)
        iterate = replace(
            end,
            record=record,
            status=Status.RUNNING,
            fraction=share + (1 - share) * (1 - JUDGED_SHARE) * min(step.fraction, 1.0),
            view=None,
            depth=step,
            earlier=None,
            noise=problem.noise * focal_length(end.intrinsics),
        )
        if step.finished:
            record = replace(record, phase=replace(step.phase, kind=PhaseKind.UNCERTAINTY))
            iterate = replace(iterate, record=record)
        yield iterate
        if step.finished:
            yield from _judged(iterate, end.status, subset, of_part, options)
            return


def _alternatives(
    problem: DepthProblem, end: DepthStep, options: DepthOptions
) -> Iterator[Alternative | None]:
    """Yield the alternatives of the last step of a refinement, None where one takes longer."""
    own = end.own or OwnEnd.of_solution(problem, end.best, options)
    yield from find_alternatives(own, options)
    mirrored = own.mirrored
    if mirrored is None:
        found = Pausing(find_mirrored(problem, end.best, own, options, loose=end.loose))
        yield from found
        mirrored = found.value
    yield from mirrored


def _judged(
    iterate: Iterate, status: Status, subset: DepthSubset, of_part: DepthStep, options: DepthOptions
) -> Iterator[Iterate]:
    """Yield the iterates after the last step, of the same shape; the last has deviations and verdicts.

    There is one for each alternative, so that a change of the parameters need not wait for all of them.
    """
    step, record = iterate.depth, iterate.record
    assert step is not None  # it is of a refinement
    others: list[Alternative] = []
    began = time.perf_counter()
    for number, other in enumerate(_alternatives(subset.part, of_part, options), start=1):
        if other is not None:
            others.append(other)
        record = record.following(began, phase=replace(record.phase, number=number))
        yield replace(iterate, record=record)
        began = time.perf_counter()
    if of_part.coarser is None:  # it was read from a file
        part, levels = subset.part, options.finest(loose=True)[:1]
        if not of_part.loose:
            part, levels = part.with_noise(0.0), FINE[-1:]
        of_part = replace(of_part, coarser=relax(part, of_part.best, levels, options)[0])
    searched = () if step.followed is None else step.followed.ends
    with_ends = replace(of_part, ends=of_part.ends or searched)
    std = standard_deviations(subset.part, with_ends, options, others)
    # Of the ends those count that the iterate has.
    verdicts = find_verdicts(subset.part, of_part.best, others, of_part.ends[: len(step.ends)], std)
    if not subset.complete:
        std = carried_deviations(subset, step.best, of_part.best, std)
    record = record.following(began)
    view = replace(iterate.geometry, std=std)
    verdicts = with_ambiguity(verdicts, iterate.verdicts)
    yield replace(iterate, status=status, fraction=1.0, view=view, verdicts=verdicts, record=record)
