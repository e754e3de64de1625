r"""Choosing a parameter without the truth: the reprojection error of observations that were not used.

Some of the visible observations are hidden, the problem is solved for a series of values of one parameter,
and each solution is measured on what was hidden and on what was kept.

The choice of hidden observations matters more than their number. Single observations are predicted well by
any fit of their neighbors, with a correct depth or not: the lowest error is at a penalty far too weak. To
predict a point that is hidden over half of the sequence requires its depth. On simulated sequences of 60
frames and 100 points with 1 px of noise, over xi in half decades at rank 6, the 3-D error at the lowest
held-out error and the lowest of all, in mm:

              balloon        articulated    paper
    tracks    1.7 of 1.7     4.2 of 2.2     6.7 of 6.3
    entries   29.7 of 1.5    7.5 of 1.7     9.4 of 6.0

On four of the Challenge's kinds (kinect paper, shark, dance, pickup; 3 shares) it is 8.9 of 8.2, 2.7 of 1.0,
6.3 of 6.0 and 11.6 of 3.4 with tracks: the lowest 3-D error was always at a penalty as strong or stronger, by
up to thirty times. So of values with about the same error the strongest penalty is the safest.

Kinds of hiding besides single observations leave every answer determined. "tracks" hides a run of half of the
frames of a point, whose other observations place it on the object; a track that is hidden in all frames could
not be predicted. "blocks" hides a run of a quarter of the frames of an eighth of the points, those that are
nearest to one of them in the middle frame of the run, as an object does that turns away or is covered.

Spearman's rank correlation of the held-out error and the 3-D error, and the 3-D error at the lowest held-out
error over the lowest of all, on 13 sequences of the Challenge's layout (pickup, drink, face, stretch, kinect
paper, dance, mat, shark) at 19 settings each, one share, entries on 5 of them
(tests/benchmarks/guidance_table.py):

                          tracks       blocks       all but 2 K frames    entries
    xi, not refined       .65  1.04    .58  1.03    .14  1.56             .28  1.32
    all, not refined      .68  1.05    .62  1.04    .36  1.57             .43  1.32
    refined               .30  1.10    .39  1.09    .51  1.06             .23  1.16
    all                   .76  1.10    .75  1.09    .75  1.08             .75  1.16

So tracks and blocks are about as good. Points that keep 2 K frames, evenly spaced, rank the refinement's
numbers a little better, but without refinement they choose a penalty far too weak, as entries do: the kind is
not offered. Whether to refine is chosen rightly on all 13. Among the refinement's numbers differences are
small: the defaults are at 1.13 of the lowest, so another number is worth using only where it predicts clearly
better.

Where the settings refine depths, the errors are those of the refined solution, since that is what a run
gives. A refinement begins at the bilinear solution of the kept observations and follows this start alone. A
hidden observation is two more unknowns there, the lateral place of its point, on which no track bears: its
reprojection is a prediction as before. The refinement's own numbers (noise, weight of lengths, smallest
movement, neighbors) and the objective are parameters like the others. Each value begins there, and none where
another one ended: what a value predicts does not depend on the others of the series.

The shapes and offsets B, C, t, and the weights that refer to the closed form, are computed from the kept
observations alone. Rotations and intrinsics are those of the given reconstruction, which uses all
observations: to choose them anew for every share compares another choice of rotations each time, and costs
most of a run, and changes little. The first solve of each share keeps the lower of
two ends, from the reconstruction and grown from a rigid shape; each further one starts from its neighbor's
end.

Shares are drawn independently; the standard error over them is of their choice, not of the noise.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from ..cameras.calibration import project, to_pixels
from ..data.hidden import occluded_blocks
from ..data.sequence import CameraModel, Sequence
from ..depth import DepthPoint
from ..foundation.exceptions import InputError
from ..foundation.parameters import Parameter
from ..foundation.phases import WNN
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Watch, do_nothing
from ..problem.factors import Factors
from ..problem.initialization import rigid_start, with_rank
from ..problem.low_rank import LowRankProblem
from ..problem.nonrigid import NonRigidProblem, Problem
from ..reconstruction.progress import Iterate, Point
from ..reconstruction.reconstruct import iterate_sequence
from ..reconstruction.refinement import refine_end
from ..reconstruction.settings import Settings, SettingsFields, settings_of
from ..reconstruction.verdicts import is_collapsed
from ..solvers.methods import adapted
from ..solvers.solver import Algorithm, iterate
from ..solvers.variable_projection import NEAR_DAMPING, VariableProjection
from .parameter_grid import (
    is_whole,
    objective_to_vary,
    parameter_value,
    parameters_of,
    parse_value,
    suggest_values,
    with_parameter,
)

SHARE = 0.1  # of the visible observations that is hidden
FOLDS = 6
MOST_FOLDS = 1000
HIDING = {
    "tracks": "points over half of the frames: their depth has to be predicted",
    "blocks": "neighboring points over a quarter of the frames, as the object hides itself",
    "entries": "observations one by one: depth has little influence",
}
RUN = 0.5  # of the frames, one after the other, in which a point is hidden
BLOCK = 0.25, 0.125  # of the frames, one after the other, and of the points, in which neighbors are hidden
TOLERANCE, GROWING_TOLERANCE = 1e-10, 1e-8
MOST_ITERATIONS = 200
TIE = 1e-3  # relative difference below which the lower rank is the better one
ROUNDING = 1e-6  # relative difference that solves of the same problem leave


@dataclass(frozen=True)
class HoldoutPlan(OneLine):
    """Which values of which parameter are tried. Raises InputError where a field is refused."""

    parameter: str  # one of `core.evaluation.parameter_grid.parameters_of`
    values: tuple[float, ...]
    share: float = SHARE
    folds: int = FOLDS  # so many times something is hidden
    hiding: str = "tracks"  # a key of HIDING
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) != len(self.values):
            raise InputError(f"the values are {self.values}; accepted is at least one, each once")
        Parameter("the held-out share", "", most=0.5, open_below=True).checked(self.share)
        Parameter("folds", "", least=1, most=MOST_FOLDS, integer=True).checked(self.folds)
        if self.hiding not in HIDING:
            raise InputError(f"hiding is {self.hiding!r}; accepted are {', '.join(HIDING)}")

    @classmethod
    def of(
        cls,
        sequence: Sequence,
        settings: Settings,
        over: str | None,
        values: Collection[float | str] | None,
        *,
        share: float,
        folds: int,
        hiding: str,
    ) -> HoldoutPlan:
        """Return the plan for a parameter, by default the first that is offered, and its values."""
        offered = parameters_of(settings, sequence.camera)
        name = offered[0] if over is None else over
        if name not in offered:
            raise InputError(f"the parameter to vary is {name!r}; accepted here are {', '.join(offered)}")
        if values is None:
            series = suggest_values(sequence, settings, name)
        else:
            series = tuple(parse_value(name, each) for each in values)
        return cls(name, series, share, folds, hiding, settings.seed)


@dataclass(frozen=True)
class ReprojectionErrors:
    """Distances of reprojections and tracks, in the units of the tracks."""

    rms: float
    median: float


@dataclass(frozen=True, eq=False)
class HoldoutTrial(OneLine):
    """One value, solved without one share of the observations."""

    value: float
    fold: int  # 0-based
    held: ReprojectionErrors  # of what was hidden
    kept: ReprojectionErrors  # of what was used
    solution: Point | None  # the bilinear one; None where only the errors are kept
    done: int  # trials, with this one
    count: int  # of all trials
    seconds: float  # since the sweep began
    refined: DepthPoint | None = None  # where the settings refine depths, what the errors are of


def choose_hidden(
    tracks: Floats,
    visible: Bools,
    rank: int,
    *,
    share: float = SHARE,
    hiding: str = "tracks",
    seed: tuple[int, ...] = (0,),
) -> Bools:
    """Return which visible observations (F, P) to hide from a run, to measure its error at them.

    A frame keeps at least K + 3 of them, as many as its coefficients and offsets, and a point 2 K, which
    makes 4 K numbers for its 3 K; one that has no more keeps all it has.
    """
    wanted = max(round(share * int(visible.sum())), 1)
    in_frame, of_point = visible.sum(axis=1), visible.sum(axis=0)
    held = np.zeros_like(visible)
    rng = np.random.default_rng(seed)
    candidates: dict[str, Callable[[], Iterable[SequenceOf[int]]]] = {
        "tracks": lambda: _half_tracks(visible, rng),
        "blocks": lambda: (
            (f, p)
            for run, near in occluded_blocks(tracks, visible, BLOCK, rng)
            for f in range(run.start, run.stop)
            for p in near
        ),
        "entries": lambda: rng.permutation(np.argwhere(visible)),
    }
    for f, p in candidates[hiding]():
        if not wanted:
            break
        if visible[f, p] and not held[f, p] and in_frame[f] > rank + 3 and of_point[p] > 2 * rank:
            held[f, p] = True
            in_frame[f] -= 1
            of_point[p] -= 1
            wanted -= 1
    if not held.any():
        raise InputError(
            f"no observation can be hidden at rank {rank}: every frame needs {rank + 3} and every point "
            f"{2 * rank} of them; lower the rank"
        )
    return held


def _half_tracks(visible: Bools, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Yield half of the frames of one point after another."""
    frames, points = visible.shape
    length = max(round(RUN * frames), 1)
    for p in rng.permutation(points):
        first = int(rng.integers(frames - length + 1))
        for f in range(first, first + length):
            yield f, int(p)


def sweep(
    sequence: Sequence, start: Iterate, settings: Settings, plan: HoldoutPlan, *, watch: Watch = do_nothing
) -> Iterator[HoldoutTrial]:
    """Yield one trial after another, fold by fold; stop iterating to cancel."""
    if not start.rotations_chosen:
        raise InputError("the rotations are not chosen yet; wait until the run refines its solution")
    full = start.best.problem
    if full.offsets != (settings.problem == "nonrigid"):
        raise InputError("the reconstruction is of the other problem; run again first")
    series = {value: with_parameter(settings, plan.parameter, value) for value in plan.values}
    highest = max(each.rank for each in series.values())
    now, began, done = parameter_value(settings, plan.parameter), time.perf_counter(), 0
    measured, camera = to_pixels(full.tracks, start.intrinsics), settings.camera_of(sequence.camera)
    for fold in range(plan.folds):
        held = choose_hidden(
            full.tracks, full.visible, highest, share=plan.share, hiding=plan.hiding, seed=(plan.seed, fold)
        )
        kept: Problem = replace(full, visible=full.visible & ~held)  # type: ignore[type-var]
        base = kept.with_robust(full.robust)
        pose = partial(pose_problem, base, camera=camera)
        for value, solution in _solve_series(series, pose, start.best.factors, now, watch):
            done += 1
            refined = _refine(solution, series[value], start.intrinsics, watch)
            pixels = reproject(solution if refined is None else refined, start.intrinsics, camera)
            distance = np.linalg.norm(pixels - measured, axis=1)
            yield HoldoutTrial(
                value=value,
                fold=fold,
                held=_errors_of(distance[held]),
                kept=_errors_of(distance[base.visible]),
                refined=refined,
                solution=replace(solution, problem=solution.problem.without_data()),
                done=done,
                count=plan.folds * len(plan.values),
                seconds=time.perf_counter() - began,
            )


def pose_problem(base: Problem, settings: Settings, camera: CameraModel) -> Problem:
    """Return a problem under the eta, rank and penalty of settings; orthogonal tracks keep eta = 1."""
    fixed = base.offsets and camera is CameraModel.ORTHOGONAL
    posed = (base if fixed else base.with_eta(settings.eta)).with_penalty(settings.penalty, settings.rank)
    return posed.with_robust(base.robust)


def solve_from(problem: Problem, start: Factors, watch: Watch = do_nothing) -> Point:
    """Return the minimum that a start leads to, its rank padded or cut; from nothing it is grown."""
    if is_collapsed(problem, start):
        return solve_growing(problem, watch)
    factors = with_rank(start, problem.rank, np.random.default_rng(0))
    algorithm = VariableProjection(TOLERANCE, MOST_ITERATIONS, NEAR_DAMPING)
    return _solve(problem, factors, algorithm, watch)


def solve_growing(problem: Problem, watch: Watch = do_nothing) -> Point:
    """Return the minimum that a rigid shape leads to by adding one basis shape at a time."""
    last = VariableProjection(TOLERANCE, MOST_ITERATIONS)
    if isinstance(problem, LowRankProblem):
        return _solve(problem, problem.closed_form(), last, watch)
    assert isinstance(problem, NonRigidProblem)  # there are two kinds
    quick = VariableProjection(GROWING_TOLERANCE, MOST_ITERATIONS)
    factors = with_rank(rigid_start(problem), 1, np.random.default_rng(1))
    for rank in range(1, problem.rank):
        grown_so_far = _solve(problem.of_rank(rank), factors, quick, watch).factors
        factors = with_rank(grown_so_far, rank + 1, np.random.default_rng(rank + 1))
    return _solve(problem, factors, last, watch)


def _solve(problem: Problem, factors: Factors, algorithm: VariableProjection, watch: Watch) -> Point:
    method: Algorithm[Any] = adapted(algorithm, problem)
    end = factors
    for snapshot in iterate(problem, method, factors):
        end = method.factors(problem, snapshot.state)
        watch()
    return Point(problem, end, problem.loss(end))


def _solve_series(
    series: Mapping[float, Settings],
    pose: Callable[[Settings], Problem],
    point: Factors,
    now: float,
    watch: Watch,
) -> Iterator[tuple[float, Point]]:
    """Solve the value nearest to the present one, then outwards, each from its neighbor's end."""
    values = sorted(series)
    middle = len(values) // 2  # where the present value is not known
    if not np.isnan(now):
        middle = min(range(len(values)), key=lambda k: abs(np.log(max(values[k], 1e-12) / max(now, 1e-12))))
    problem = pose(series[values[middle]])
    first = min(
        solve_from(problem, point, watch), solve_growing(problem, watch), key=lambda found: found.loss
    )
    yield values[middle], first
    for part in (values[middle + 1 :], values[:middle][::-1]):
        last = first
        for value in part:
            last = solve_from(pose(series[value]), last.factors, watch)
            yield value, last


def _refine(solution: Point, settings: Settings, intrinsics: Floats, watch: Watch) -> DepthPoint | None:
    """Return the refinement of a solution, None where there is none, as in a run."""
    if settings.objective == WNN:
        return None
    try:
        return refine_end(solution, settings, intrinsics, watch).best
    except InputError:  # the bilinear solution has no shape
        return None


def reproject(solution: Point | DepthPoint, intrinsics: Floats, camera: CameraModel) -> Floats:
    """Return the reprojections of a solution, (F, 2, P), in the units of the tracks; NaN at depth 0."""
    if isinstance(solution, DepthPoint):
        return project(solution.camera_points(), intrinsics, camera)
    problem, factors = solution.problem, solution.factors
    if isinstance(problem, LowRankProblem):
        return project(problem.structure(factors), intrinsics, CameraModel.PERSPECTIVE)
    assert isinstance(problem, NonRigidProblem)  # there are two kinds
    return project(problem.rotations @ (factors.shapes() + factors.s[:, :, None]), intrinsics, camera)


def _errors_of(distance: Floats) -> ReprojectionErrors:
    return ReprojectionErrors(float(np.sqrt(np.mean(distance**2))), float(np.median(distance)))


@dataclass(frozen=True, eq=False)
class HoldoutCurve(OneLine):
    """The errors of the trials of a plan, by value in increasing order, over folds that have all values.

    Folds differ much in how hard their hidden observations are to predict, so that values that were tried in
    different folds cannot be compared.
    """

    values: Floats  # (N,)
    folds: tuple[int, ...]  # that have all values
    errors: Floats  # (folds, N) root mean square error of what was hidden, NaN where it is seen nowhere
    medians: Floats  # (folds, N)
    kept_errors: Floats  # (folds, N) of what was used
    integer: bool  # whether values are whole numbers: of two that tie the lower one is better

    @property
    def held(self) -> Floats:
        """(N,) root mean square error of what was hidden, averaged over folds."""
        return np.asarray(self.errors.mean(axis=0))

    @property
    def median(self) -> Floats:
        """(N,) median error of what was hidden, averaged over folds."""
        return np.asarray(self.medians.mean(axis=0))

    @property
    def kept(self) -> Floats:
        """(N,) root mean square error of what was used, averaged over folds."""
        return np.asarray(self.kept_errors.mean(axis=0))

    @property
    def deviation(self) -> Floats:
        """(N,) standard error of `held` over folds, NaN of one fold."""
        return _standard_error(self.errors)

    @property
    def best(self) -> int:
        """The index of the lowest held-out error."""
        held = np.nan_to_num(self.held, nan=np.inf)
        if not self.integer:
            return int(np.argmin(held))
        return int(np.flatnonzero(held <= held.min() * (1 + TIE))[0])

    @property
    def close(self) -> tuple[float, float]:
        """The ends of the values around the best that are worse by a standard error, or rounding, at most.

        It is that of the difference, fold by fold: what makes a share hard is hard for every value.
        """
        apart = self.errors - self.errors[:, [self.best]]
        worst = np.nan_to_num(_standard_error(apart)) + ROUNDING * self.held[self.best]
        near = apart.mean(axis=0) <= worst
        first = last = self.best
        while first > 0 and near[first - 1]:
            first -= 1
        while last + 1 < len(near) and near[last + 1]:
            last += 1
        return float(self.values[first]), float(self.values[last])


def _standard_error(errors: Floats) -> Floats:
    folds, count = errors.shape
    if folds < 2:
        return np.full(count, np.nan)
    return np.asarray(errors.std(axis=0, ddof=1) / np.sqrt(folds))


def gather_curve(trials: Iterable[HoldoutTrial], parameter: str) -> HoldoutCurve:
    """Gather trials of a plan over the folds that have all values of the fold with the most."""
    folds: dict[int, dict[float, HoldoutTrial]] = {}
    for trial in trials:
        folds.setdefault(trial.fold, {})[trial.value] = trial
    widest = max(folds.values(), key=len)
    values = sorted(widest)
    complete = tuple(number for number, fold in folds.items() if fold.keys() >= widest.keys())
    of_all = [
        [(t.held.rms, t.held.median, t.kept.rms) for t in (folds[number][value] for value in values)]
        for number in complete
    ]
    held, median, kept = np.moveaxis(np.array(of_all), 2, 0)
    return HoldoutCurve(np.array(values), complete, held, median, kept, integer=is_whole(parameter))


def cross_validate(
    sequence: Sequence,
    settings: Settings | str | None = None,
    *,
    over: str | None = None,
    values: Collection[float | str] | None = None,
    start: Iterate | None = None,
    share: float = SHARE,
    folds: int = FOLDS,
    hiding: str = "tracks",
    **changes: Unpack[SettingsFields],
) -> HoldoutCurve:
    """Choose a parameter without ground truth: solve for a series of its values, and predict what was hidden.

    Parameters
    ----------
    sequence
        the tracks.
    settings, **changes
        everything but the parameter, as `reconstruct` takes them. Without settings the parameter chooses the
        objective, too.
    over
        the parameter, one of `parameters_of`, by default the first: of the depths "isometry",
        "smallest_movement", "noise" or "neighbors"; of the weighted nuclear norm the penalty's strength,
        "rank" or "eta"; or "objective".
    values
        its values, those of "objective" in words; by default a series around the present one.
    start
        the iterate of a reconstruction to start from; by default the sequence is reconstructed first.
    share, folds, hiding
        how much is hidden, how many times, and in which way (a key of `HIDING`).

    Returns
    -------
    HoldoutCurve
        the held-out errors; `curve.values[curve.best]` is the value with the lowest one.

    Raises
    ------
    InputError
        where the parameter or a value is refused, or nothing can be hidden.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> settings = core.Settings(rank=2, starts=1, rotations="truth", objective="wnn")
    >>> curve = core.cross_validate(sequence, settings, over="rank", values=(1, 2), folds=1)
    >>> curve.values
    array([1., 2.])
    """
    if settings is None and over is not None and "objective" not in changes:
        changes["objective"] = objective_to_vary(over, changes)
    chosen = settings_of(settings, **changes)
    plan = HoldoutPlan.of(sequence, chosen, over, values, share=share, folds=folds, hiding=hiding)
    if start is None:
        (start,) = deque(iterate_sequence(sequence, chosen.with_changes(objective="wnn")), maxlen=1)
    return gather_curve(sweep(sequence, start, chosen, plan), plan.parameter)
