r"""Other shapes that might explain the tracks as well as a refined one, and what they cost.

    flatter     depths about the mean of each frame divided by SCALE
    deeper      and multiplied; the extent of the anchor is scaled with them, so that it does not pull back
    mirrored    a run of frames between suspicious links, or a single frame, mirrored in depth and turned onto
                the others (`reflections`); or every frame, unless the camera is orthogonal, whose tracks are
                those of the mirror image too

Each, and the solution itself, is relaxed on some of the points, at the levels where the starts of a
refinement compete.  The excess of an alternative is its energy less that of the solution, per frame: a log
likelihood ratio.  Where it is far above 0 the tracks exclude the alternative.

Mirrored frames whose excess is small there are judged at finer levels. Where the first of these does not
exclude them, and they do not come back to the solution, they are judged on all points: what costs nearly
nothing at a coarse level may be excluded by far, or be lower by far.

What may only be lower at the finest level passes the levels before on all points (`find_near`).

An object may also stretch (`is_stretching`).  With L the log lengths of the edges less their means, P / E of
them independent, half of log det(L L' P / (E F e^2) + I) is how many nats describe them, as that of D D' is
of the deviations: what inflates varies all lengths by one mode.  Where lengths count less, the deviations
always take fewer nats.  The lengths of paper, mats, backs and bodies then take more, those of balloons and of
sheets that stretch fewer, or hardly more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Ints
from ..solvers.solver import iterate
from .edges import log_lengths, may_vary, neighbor_edges
from .energy import DepthLevel
from .lbfgs import LBFGS
from .problem import DepthPoint, DepthProblem
from .reflections import (
    FrameBlock,
    candidate_blocks,
    mirror_in_depth,
    point_distance,
    reflect_block,
    suspicions,
    suspicious_frames,
)
from .schedule import LIGHTER, NOISY, TRIAL, DepthOptions, iterations_per_pause, mode_nats
from .subset import point_subset

Levels = Sequence[DepthLevel]

Value = TypeVar("Value")
Pause = TypeVar("Pause")
COMPARED_POINTS = 40
SCALE = 1.25
MOST_BLOCKS = 8  # the most suspicious
LEVEL = DepthLevel(0.05, 0.07, tolerance=1e-6)
OWN = (replace(LEVEL, iterations=40),)
SCALED = (replace(LEVEL, iterations=60),)
MOST_JUDGED = 6  # of blocks that are judged at finer levels
NEAR, NEAR_WHOLE = 0.25, 1.0  # energy per frame below which they are; of all frames
EXCLUDED = 0.15  # energy per frame above which a block is no alternative at the first of these levels
SAME = 0.02  # relative distance of shapes below which two ends are one
# Nats by which the lengths of what stretches rise, at most, for each that its shapes fall by, where lengths
# count less. Of what does not stretch they are .8 or more.
STRETCHED = 0.4
OF_LENGTHS = 0.75  # scale of relative lengths over that of deviations
FAR = 3.0  # energy per frame above which an end does not pass the finest level, where it may be lower


class Pausing(Generic[Pause, Value]):
    """What pauses until it returns: iterated over, then its `value` is known."""

    value: Value

    def __init__(self, work: Generator[Pause, None, Value]) -> None:
        self._work = work

    def __iter__(self) -> Iterator[Pause]:
        """Yield at each pause what is known by then."""
        self.value = yield from self._work


@dataclass(frozen=True)
class Alternative(OneLine):
    """Another shape, and what it costs."""

    kind: str  # "flatter", "deeper" or "mirrored"
    excess: float  # energy per frame above that of the solution
    block: FrameBlock | None = None  # the frames that are mirrored; None of the others
    point: DepthPoint | None = None  # where it ended; None where it is of some of the points


@dataclass(frozen=True, eq=False)
class OwnEnd(OneLine):
    """Where a solution itself ends, on some of the points, at the level where alternatives compete first."""

    problem: DepthProblem  # of these points
    point: DepthPoint
    energy: float
    mirrored: tuple[Alternative, ...] | None = None  # see `find_mirrored`; None before they are looked for

    @classmethod
    def of_solution(cls, problem: DepthProblem, point: DepthPoint, options: DepthOptions) -> OwnEnd:
        """Return the end of a solution; it takes tens of iterations."""
        subset = point_subset(problem, problem.shapes(point), COMPARED_POINTS)
        own = subset.restrict(point)
        part = subset.part.anchored(own)
        return cls(part, *relax(part, own, OWN, options))


def find_alternatives(solution: OwnEnd, options: DepthOptions) -> Iterator[Alternative]:
    """Yield the flatter and the deeper shape, each of which takes tens of iterations."""
    problem, own = solution.problem, solution.point
    for kind, scale in (("flatter", 1.0 / SCALE), ("deeper", SCALE)):
        scaled = replace(problem, extent=scale * problem.extent)
        other, energy = relax(scaled, scale_depths(own, scale), SCALED, options)
        yield Alternative(kind, (energy - solution.energy) / len(other.depths))


def find_mirrored(
    problem: DepthProblem, point: DepthPoint, solution: OwnEnd, options: DepthOptions, *, loose: bool
) -> Generator[None, None, tuple[Alternative, ...]]:
    """Return the mirrored frames that the coarse levels do not exclude, the lowest first; it pauses often.

    `solution`: where the point ends at the coarse level; `loose`: whether the finest level leaves lengths so.
    """
    part, own, lowest = solution.problem, solution.point, solution.energy
    mirrored, frames = mirror_in_depth(own), len(own.depths)
    near: list[tuple[float, FrameBlock, DepthPoint]] = []
    for block in _suspicious_blocks(part, own, mirrored):
        start = reflect_block(part, own, mirrored, block)
        start, energy = yield from relaxing(part, start, TRIAL, options)
        whole = block.last - block.first == frames
        if energy < lowest + (NEAR_WHOLE if whole else NEAR) * frames:
            near.append((-np.inf if whole else energy, block, start))
    begin, finest = options.judging(loose=loose)
    if near:
        own, lowest = yield from relaxing(part, own, begin, options)
    left = []
    for _, block, start in sorted(near, key=lambda each: each[0])[:MOST_JUDGED]:
        start, energy = yield from relaxing(part, start, begin, options)
        if energy < lowest + EXCLUDED * frames and differs(part, start, [own]):
            left.append(block)
    if not left:
        return ()
    mirrored, exact = mirror_in_depth(point), problem.with_noise(0.0)
    own, lowest = yield from relaxing(exact, point, begin, options)
    ends: list[tuple[FrameBlock, DepthPoint, float]] = []
    limit = EXCLUDED * frames * problem.shape[1] / part.shape[1]
    for block in left:
        start = reflect_block(problem, point, mirrored, block)
        start, energy = yield from relaxing(exact, start, (*TRIAL, *begin), options)
        if energy < lowest + limit and differs(problem, start, [own]):
            ends.append((block, start, energy))
    if ends and min(energy for _, _, energy in ends) > lowest - limit:  # none is lower by far
        _, lowest = yield from relaxing(problem, own, finest, options)
        for index, (block, other, _) in enumerate(ends):
            ends[index] = block, *(yield from relaxing(problem, other, finest, options))
    found = [
        Alternative("mirrored", (energy - lowest) / frames, block, other)
        for block, other, energy in ends
        if differs(problem, other, [point])
    ]
    return tuple(sorted(found, key=lambda each: each.excess))


def may_stretch(problem: DepthProblem, point: DepthPoint, options: DepthOptions) -> bool:
    """Return whether lengths may not stay; where they are relative to the size they do."""
    asked = options.isometry > 0 and not problem.inflates
    return asked and may_vary(problem.shapes(point), options.neighbors)


def is_stretching(
    problem: DepthProblem, point: DepthPoint, options: DepthOptions, solution: OwnEnd | None = None
) -> bool:
    """Return whether the lengths of a solution do not stay. `solution`: its own end, where that is known."""
    own = solution or OwnEnd.of_solution(problem, point, options)
    edges = neighbor_edges(own.problem.shapes(own.point), options.neighbors)
    kept, lighter = (
        modes(own.problem, relax(each, own.point, NOISY[:1], options)[0], edges, NOISY[0].eps)
        for each in (own.problem, replace(own.problem, length_share=LIGHTER))
    )
    return lighter[1] - kept[1] < STRETCHED * (kept[0] - lighter[0])


def modes(problem: DepthProblem, point: DepthPoint, edges: Ints, eps: float) -> tuple[float, float]:
    """Return how much shapes deform and how much the lengths of edges (2, E) vary, in nats per frame."""
    X = problem.shapes(point)
    lengths = np.sqrt(X.shape[2] / edges.shape[1]) * log_lengths(X, edges)
    return mode_nats(X - X.mean(axis=0), eps), mode_nats(lengths, OF_LENGTHS * eps)


def mirrored_together(problem: DepthProblem, lower: Sequence[Alternative]) -> Iterator[DepthPoint]:
    """Yield the first of mirrored frames with all others that do not overlap, then the first alone."""
    points = [each.point for each in lower if each.point is not None]  # all mirrored frames have one
    taken = np.zeros(len(problem.visible), dtype=bool)
    together = points[:1]
    for block in (each.block for each in lower if each.block is not None):
        inside = slice(block.first, block.last)
        if taken.any() and not taken[inside].any():
            other = mirror_in_depth(together[-1])
            together.append(reflect_block(problem, together[-1], other, block))
        taken[inside] = True
    yield from dict.fromkeys((*together[-1:], *points[:1]))


def find_near(
    problem: DepthProblem,
    point: DepthPoint,
    starts: Sequence[DepthPoint],
    options: DepthOptions,
    *,
    loose: bool,
) -> Generator[None, None, list[DepthPoint]]:
    """Return where starts end that may be lower at the finest level, the lowest first; it pauses often.

    An observation may leave its ray here, too: ends on exact rays were higher at the finest level. `loose`:
    whether that leaves lengths so.
    """
    if not starts:
        return []
    begin, _ = options.judging(loose=loose)
    own, lowest = yield from relaxing(problem, point, begin, options)
    ends: list[tuple[float, DepthPoint]] = []
    for start in starts:
        end, energy = yield from relaxing(problem, start, (*TRIAL, *begin), options)
        if energy < lowest + FAR * len(end.depths):
            ends.append((energy, end))
    kept = [own]
    for _, end in sorted(ends, key=lambda each: each[0]):
        if differs(problem, end, kept):
            kept.append(end)
    return kept[1:]


def differs(
    problem: DepthProblem, start: DepthPoint, others: Sequence[DepthPoint], same: float = SAME
) -> bool:
    """Return whether no other point has the shapes of one, up to a relative distance."""
    return all(point_distance(problem, start, other) > same for other in others)


def _suspicious_blocks(
    problem: DepthProblem, point: DepthPoint, mirrored: DepthPoint
) -> Iterator[FrameBlock]:
    """Yield the runs of frames and the single frames that may be mirrored."""
    if not problem.affine:
        yield FrameBlock(0, len(point.depths))
    blocks = candidate_blocks(suspicions(problem, point, mirrored))[:MOST_BLOCKS]
    yield from dict.fromkeys((*blocks, *suspicious_frames(problem, point, mirrored)))


def scale_depths(point: DepthPoint, scale: float) -> DepthPoint:
    """Return a point whose depths about the mean of each frame are scaled: log depths if perspective."""
    relief = point.relief
    mean = relief.mean(axis=1, keepdims=True)
    return point.with_relief(mean + scale * (relief - mean))


def relax(
    problem: DepthProblem, point: DepthPoint, levels: Levels, options: DepthOptions
) -> tuple[DepthPoint, float]:
    """Return where levels end, and the energy there."""
    steps = Pausing(relaxing(problem, point, levels, options))
    for _ in steps:
        continue
    return steps.value


def relaxing(
    problem: DepthProblem, point: DepthPoint, levels: Levels, options: DepthOptions
) -> Generator[None, None, tuple[DepthPoint, float]]:
    """Return the same as `relax`, with pauses, see `iterations_per_pause`."""
    every = iterations_per_pause(problem.shape)
    for level in levels:
        energy = options.energy(problem, level, point)
        for snapshot in iterate(energy, LBFGS(level.iterations, level.tolerance), point):
            last = snapshot
            if snapshot.progress.iteration and snapshot.progress.iteration % every == 0:
                yield
        point = energy.point(last.state.x)
    return point, last.progress.loss
