"""The run of a non-rigid problem: rotations, starts, refinement.

    rotations n   each candidate's reconstruction is grown from rigid to rank K; the lowest losses decide
                  (large sequences: of a subset of frames and points)
    start 1       rigid and grown
    start 2       the cut of the closed form, until it is near the end of start 1 or has converged to 1e-8
    starts 3 to   random ones take a few steps side by side, on a subset; the best of these that differ are
    n - 1         followed until they come near a known end, are unlikely to reach the lowest, or have
                  converged to 1e-8
    start n       the lowest end so far: solved at rank K + 1, cut to rank K, followed like random ones
    refine        the best of them, to the tolerance
    depths        its depths along the observed rays, where the settings ask for it (`refinement`)

Depths start from several of the candidates for the rotations, too: where these have several ranks, start 1 is
the only one.

The methods that work on X itself, or begin so (`admm`, `admm+bilinear`, `irnn`, ...), start from the closed
form instead.

A run whose focal length is estimated from the tracks has two parts:

    focal length  the recommended run with the assumed K (`core.cameras.intrinsics`), whose refined depths
                  give the energy over the focal length (`core.depth.focal_profile`)
    then          the run that the settings ask for, with the K that was found

A profile about depths that are wrong, as a run of mirrored frames, is wrong too; that is why the first run is
a complete one.  Where the tracks do not determine the focal length it stays the assumed one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace

import numpy as np

from ..cameras.calibration import spread
from ..cameras.intrinsics import CONFIDENCE, IntrinsicsOrigin, assumed_intrinsics
from ..cameras.rotations import RotationCandidate, rotation_candidates
from ..data.hidden import hide_observations
from ..data.sequence import CameraModel, Sequence
from ..depth import FocalProfile, profile_focal
from ..foundation.phases import DEPTHS, Phase, PhaseKind
from ..foundation.types import Floats
from ..penalties import WeightedNuclearNorm
from ..problem.initialization import closed_form_start, random_starts, rigid_start, with_rank
from ..problem.nonrigid import Factors, NonRigidProblem, Subset, subset, subset_levels
from ..solvers.screening import Screening
from ..solvers.solver import Status
from ..solvers.variable_projection import VariableProjection
from .pipeline import (
    GIVEN_UP,
    REFINE,
    SHORT_TOLERANCE,
    SURVIVORS,
    CalibratedTracks,
    RunContext,
    StartSearch,
    calibrate_tracks,
    count_phases,
    follow_merges,
    point_at,
    prepare,
    run_continued,
    run_on_matrix,
    run_phase,
    run_refinement,
    start_groups,
)
from .progress import Iterate, Point, count_on
from .refinement import CANDIDATES, can_follow, depth_options, depth_problem, follow_refined, with_refinement
from .settings import RECOMMENDED_PENALTY, Settings
from .verdicts import is_collapsed

GROWN = "rigid, grown"  # the first start
CUT = "closed form, cut"  # the second start
RAISED = "lowest, rank raised"  # the last start
RAISED_TOLERANCE = 1e-3  # of the run at rank K + 1, whose end is only a start
COMPARISON_TOLERANCE = 1e-4  # of the runs that only compare rotations
STARTING_TOLERANCE = 1e-2  # likewise, where the lowest of all are starts of a refinement, which compares more
COMPARED = 12_000  # observations, about, that rotations are compared on
STRONGEST = 0.25  # xi of a start of depths, over the sum of squares of the centered tracks
SCREENED = 1_600  # observations, about, that starts take their first steps on


def can_continue(start: Iterate, settings: Settings) -> bool:
    """Whether a run can continue from an iterate: its rotations are chosen and remain the same."""
    names = ("problem", "camera_model", "rotations", "rotation_rank", "intrinsics")
    return start.rotations_chosen and start.settings.agrees(settings, *names)


def run_nonrigid(sequence: Sequence, settings: Settings) -> Iterator[Iterate]:
    """Return the iterates of all phases; the last one is marked finished."""
    perspective = settings.camera_of(sequence.camera) is CameraModel.PERSPECTIVE
    estimated = perspective and settings.intrinsics == "estimate"
    return (_run_self_calibrated if estimated else _run_calibrated)(sequence, settings)


def _run_calibrated(sequence: Sequence, settings: Settings) -> Iterator[Iterate]:
    sequence = hide_observations(sequence, settings.hide)
    tracks = prepare(sequence, settings)
    settings = _with_possible_start(tracks, settings)
    context = RunContext(sequence, settings, tracks).without_gross_outliers()
    others: dict[str, tuple[Subset, Factors]] = {}
    yield from with_refinement(context, _run_bilinear(context, others), others, thorough=True)


def _with_possible_start(tracks: CalibratedTracks, settings: Settings) -> Settings:
    """Return the settings with a start of depths that the tracks allow.

    Few frames limit its rank, and a penalty that is stronger than few or small tracks shrinks it to zero.
    """
    if settings.objective != DEPTHS:
        return settings
    frames, points = tracks.visible.shape
    settings = settings.with_changes(rank=min(settings.rank, frames, 3 * points))
    penalty = settings.penalty
    if isinstance(penalty, WeightedNuclearNorm):
        strongest = STRONGEST * float(tracks.visible.sum()) * spread(tracks.tracks, tracks.visible) ** 2
        settings = settings.with_changes(penalty=replace(penalty, xi=min(penalty.xi, strongest)))
    return settings


def _run_bilinear(context: RunContext, others: dict[str, tuple[Subset, Factors]]) -> Iterator[Iterate]:
    """Yield the iterates of all phases before a refinement; `others` receives the lowest candidates."""
    sequence, settings, log, method = context.sequence, context.settings, context.log, context.method
    searched = replace(sequence, visible=context.tracks.visible)
    candidates = rotation_candidates(
        searched,
        context.tracks.tracks,
        source=settings.rotations,
        rank=settings.rotation_rank,
        camera=context.tracks.camera,
    )
    compared = len(candidates) if len(candidates) > 1 else 0
    search = (
        2 if method.on_matrix else 1 + count_phases(settings.start_count, 1 if compared else settings.rank)
    )
    log.phase_count = compared * settings.rank + search
    factors = None
    if compared:
        ends = yield from _compare_rotations(context, candidates)
        name, (compared_on, end) = next(iter(ends.items()))
        problem, factors = compared_on.problem, compared_on.to_full(end)
        # Of each source: losses of the companion's rotations would leave out all of those of the tracks.
        sources = Counter[str]()
        for other, (compared_on, end) in ends.items():
            source = other.partition(",")[0]
            sources[source] += 1
            if sources[source] <= CANDIDATES:
                others[other] = compared_on.without_data(), end
    else:
        name, problem = candidates[0].name, _pose(context, candidates[0])
    context = replace(context, rotations=name, rotations_chosen=True)
    log.best = None
    yield from run_on_matrix(context, problem) if method.on_matrix else _run_search(context, problem, factors)


def continue_nonrigid(sequence: Sequence, settings: Settings, start: Iterate) -> Iterator[Iterate]:
    """Yield the iterates of a run that continues from an iterate of another one, see `can_continue`."""
    old = start.best.problem
    assert isinstance(old, NonRigidProblem)  # `can_continue` compares the problems
    camera = settings.camera_of(sequence.camera)
    same = start.settings.hide == settings.hide
    if same:
        tracks = CalibratedTracks(old.tracks, old.visible, start.intrinsics, camera, start.origin)
    else:
        visible = hide_observations(sequence, settings.hide)
        tracks = calibrate_tracks(visible, start.intrinsics, camera, start.origin)
    settings = _with_possible_start(tracks, settings)
    if same:
        # What depends on neither eta nor the weights is shared: to change these costs less than a step.
        problem = old.with_eta(tracks.effective_eta(settings.eta)).with_penalty(
            settings.penalty, settings.rank
        )
    else:
        problem = tracks.problem(old.rotations, settings.penalty, settings.rank, settings.eta)
    context = RunContext(sequence, settings, tracks, rotations=start.rotations, rotations_chosen=True)
    if can_follow(start, settings):
        yield from follow_refined(context, start)
        return
    point = start.best.factors
    if is_collapsed(old, point):  # a strong penalty has shrunk the point to zero
        point = rigid_start(problem)
    run = run_continued(context, problem, with_rank(point, settings.rank, context.rng(0)), start)
    unrefined = start.record.energy is None and start.earlier is None
    yield from with_refinement(context, run, {}, thorough=unrefined, continued=start)


def _pose(context: RunContext, candidate: RotationCandidate) -> NonRigidProblem:
    """Return the problem for a candidate's rotations; the time that these take counts."""
    settings, began = context.settings, time.perf_counter()
    R = candidate.compute()
    context.log.seconds += time.perf_counter() - began
    return context.tracks.problem(R, settings.penalty, settings.rank, settings.eta)


def _compare_rotations(
    context: RunContext, candidates: tuple[RotationCandidate, ...]
) -> Generator[Iterate, None, dict[str, tuple[Subset, Factors]]]:
    """Grow a reconstruction on each candidate's rotations; return the ends by name, the best one first.

    Where they are of a subset, only what is lower than all before is shown: to lift it costs as much as to
    solve at a rank.

    Losses are comparable at equal rank, penalty and eta only, and a candidate that wins at one rank may
    overfit there: the mean of the logarithms over ranks 2 to K decides. (The rigid fit is not informative.)
    """
    refined = context.settings.objective == DEPTHS
    quick = VariableProjection(tolerance=STARTING_TOLERANCE if refined else COMPARISON_TOLERANCE)
    ends: dict[float, tuple[str, tuple[Subset, Factors]]] = {}
    lowest = np.inf
    for index, candidate in enumerate(candidates):
        problem = _pose(context, candidate)
        compared = subset(problem, COMPARED)
        phase = Phase(PhaseKind.ROTATIONS, index + 1, len(candidates), candidate.name)
        part = replace(context, rotations=candidate.name, share=compared.share)
        display = None
        if compared.small is not problem:
            part = replace(part, displayed=context.log.best or _fronto_parallel(problem))

            def display(factors: Factors, loss: float, compared: Subset = compared) -> Point | None:
                nonlocal lowest
                if not loss < lowest:
                    return None
                lowest = loss
                return point_at(compared.problem, compared.to_full(factors))

        grown = StartSearch(part, compared.small, quick).grow(
            rigid_start(compared.small), phase, context.rng, display
        )
        end, losses = yield from grown
        with np.errstate(divide="ignore", invalid="ignore"):
            score = float(np.log(losses[min(1, problem.rank - 1) :]).mean())
        ends.setdefault(np.inf if np.isnan(score) else score, (candidate.name, (compared, end.factors)))
    return dict(ends[score] for score in sorted(ends))


def _run_search(context: RunContext, problem: NonRigidProblem, grown: Factors | None) -> Iterator[Iterate]:
    """Find the lowest minimum over all starts, of a subset where the problem is large; refine it."""
    log, count = context.log, context.settings.start_count
    searched = subset(problem, COMPARED)
    complete = searched.small is problem
    part = replace(context, share=searched.share)
    if not complete:
        part = replace(part, displayed=point_at(problem, grown) if grown else _fronto_parallel(problem))
    search = StartSearch(part, searched.small, context.bilinear_algorithm(SHORT_TOLERANCE))
    name = GROWN + search.suffix
    phase = Phase(PhaseKind.START, 1, count, name, subset=not complete)
    if grown is None:
        end, _ = yield from search.grow(rigid_start(search.problem), phase, context.rng)
    else:
        end = yield from run_phase(part, search.problem, search.algorithm, searched.restrict(grown), phase)
    search.add(name, end)
    if count > 1:
        yield from _compete(search)
    lowest = search.lowest
    factors = lowest.factors
    between = subset_levels(problem, COMPARED)  # whose steps cost a fraction of those of the full problem
    log.phase_count += len(between)
    for level in between:
        start, searched = searched.to_subset(factors, level), level
        part = replace(part, share=level.share)
        end = yield from run_phase(part, level.small, search.algorithm, start, replace(REFINE, subset=True))
        factors = end.factors
    yield from run_refinement(context, problem, searched.to_full(factors), lowest.name, complete=complete)


def _compete(search: StartSearch[NonRigidProblem]) -> Iterator[Iterate]:
    """Follow the cut of the closed form, the best of random starts, and the lowest end at a raised rank."""
    count, frames, points = search.context.settings.starts, *search.problem.shape
    raised = search.problem.rank < min(frames, 3 * points)
    name = CUT + search.suffix
    phase = Phase(PhaseKind.START, 2, count, name, subset=bool(search.suffix))
    # It is followed to its end: some losses fall slowly before they fall by much.
    yield from search.follow(closed_form_start(search.problem), phase, name)
    yield from _screen(search, count - 2 - raised)
    if raised and count > 2:
        yield from _raise_rank(search)


def _screen(search: StartSearch[NonRigidProblem], count: int) -> Iterator[Iterate]:
    """Let groups of random starts take a few steps side by side, and follow the best that differ."""
    if count < 1:
        return
    context, problem, log = search.context, search.problem, search.context.log
    screened = subset(problem, SCREENED)
    small = screened.small.with_weights(screened.small.weights)  # its losses rank starts, no more
    starts = list(random_starts(small, count, context.rng(problem.rank)).items())
    for group in start_groups(len(starts)):
        names = [name + search.suffix for name, _ in starts[group.start : group.stop]]
        points = tuple(point for _, point in starts[group.start : group.stop])
        screening = Screening(points, SURVIVORS)
        first = group.start + 3  # the number of the group's first start
        phase = Phase(PhaseKind.SCREENING, first, group.stop + 2, subset=bool(search.suffix))
        part = replace(context, share=context.share * screened.share, displayed=log.best)
        end = yield from run_phase(part, small, screening, points[0], phase)
        state = end.state
        for start, loss in state.dropped:
            log.losses[names[start]], log.notes[names[start]] = loss / part.share, GIVEN_UP
        for r, start in enumerate(state.batch.starts):
            phase = replace(
                phase,
                kind=PhaseKind.START,
                number=first + int(start),
                of=context.settings.starts,
                name=names[start],
            )
            lifted = screened.to_full(state.batch.at(r))
            yield from search.follow(lifted, phase, names[start], limit=search.lowest.loss)
        for start, _ in state.merged:
            into = names[follow_merges(start, dict(state.merged))]
            log.losses[names[start]] = log.losses[into]
            log.notes[names[start]] = log.notes.get(into) or f"joined {into}"
        log.phases_done += min(SURVIVORS, len(group)) - len(state.batch.starts)


def _raise_rank(search: StartSearch[NonRigidProblem]) -> Iterator[Iterate]:
    """Solve at one rank more from the lowest end, and follow the cut of the solution.

    Most minima of rank K are none of rank K + 1: the descent continues there. The cut of its end can lead to
    a lower minimum of rank K that few random starts lead to.
    """
    context, problem = search.context, search.problem
    count, rank, name = context.settings.starts, problem.rank + 1, RAISED + search.suffix
    phase = Phase(PhaseKind.START, count, count, name, subset=bool(search.suffix))
    rng = context.rng(rank)
    part = replace(context, displayed=context.log.best)  # its loss is of another problem
    algorithm = context.bilinear_algorithm(RAISED_TOLERANCE)
    start = with_rank(search.lowest.factors, rank, rng)
    end = yield from run_phase(part, problem.of_rank(rank), algorithm, start, replace(phase, rank=rank))
    if np.isfinite(end.loss):
        cut = with_rank(end.factors, problem.rank, rng)
        yield from search.follow(cut, phase, name, limit=search.lowest.loss)


def _fronto_parallel(problem: NonRigidProblem) -> Point:
    """Return the best rigid shape for fronto-parallel cameras, to show before there is another."""
    start = rigid_start(problem)
    C = problem.data.best_C(start.B, start.s, problem.weights[:1]).C
    return point_at(problem, Factors(start.B, C, start.s))


# -- focal length from the tracks ----------------------------------------------------------------------------

SHARE = 0.5  # of a run, about, that the estimate takes


def _run_self_calibrated(sequence: Sequence, settings: Settings) -> Iterator[Iterate]:
    """Yield the iterates of both runs; those of the first are of another K, and none continues from them."""
    assumed = assumed_intrinsics(sequence)
    first = settings.with_changes(
        method="bilinear",
        options=(),
        penalty=RECOMMENDED_PENALTY,
        rank=min(Settings().rank, sequence.frame_count),
        objective="depths",
        mirror=None,
        intrinsics=_four(assumed.K),
    )
    profile: FocalProfile | None = None
    for last in _run_calibrated(sequence, first):
        yield _of_estimate(last, settings, assumed.origin)
    last = _of_estimate(last, settings, assumed.origin)
    if last.depth is not None:
        problem = depth_problem(last.best, settings.noise, assumed.K)
        problem = replace(problem, length_share=last.depth.length_share)
        options = depth_options(settings, thorough=True)
        focals = profile_focal(problem, last.depth.best, float(assumed.K[0, 0]), options)
        while True:
            began = time.perf_counter()
            found = next(focals, None)
            if found is None:
                break
            profile = found
            phase = Phase(PhaseKind.FOCAL, len(found.focals))
            last = replace(last, record=last.record.following(began, phase=phase))
            yield last
    K, origin = _estimated(sequence, assumed.K, assumed.origin, profile)
    for each in count_on(_run_calibrated(sequence, settings.with_changes(intrinsics=_four(K))), last):
        fraction = SHARE + (1 - SHARE) * each.fraction
        yield replace(each, settings=settings, origin=origin, fraction=fraction)


def _of_estimate(each: Iterate, settings: Settings, origin: IntrinsicsOrigin) -> Iterate:
    """Return an iterate of the first run as one of the run that it is a part of."""
    phase = replace(each.phase, focal=True)
    return replace(
        each,
        settings=settings,
        record=replace(each.record, phase=phase, best=None),
        status=Status.RUNNING,
        fraction=SHARE * each.fraction,
        rotations_chosen=False,
        origin=origin,
        verdicts=(),
    )


def _estimated(
    sequence: Sequence, K: Floats, origin: IntrinsicsOrigin, profile: FocalProfile | None
) -> tuple[Floats, IntrinsicsOrigin]:
    """Return K with the estimated focal length, and what is to be known of it."""
    if profile is None or not profile.determined:
        return K, replace(origin, remark=f"{origin.remark}; the tracks do not determine it")
    focal, spread = profile.focal, float(np.exp(CONFIDENCE * profile.deviation))
    interval = focal / spread, focal * spread
    remark = (
        f"focal length {focal:.0f} {sequence.units} estimated from the tracks: between {interval[0]:.0f} and "
        f"{interval[1]:.0f} {sequence.units} (95 %)"
    )
    found = K.copy()
    found[0, 0] = found[1, 1] = focal
    return found, IntrinsicsOrigin("tracks", remark, interval)


def _four(K: Floats) -> tuple[float, float, float, float]:
    return float(K[0, 0]), float(K[1, 1]), float(K[0, 2]), float(K[1, 2])
