r"""Poses of frames given the shapes of others: what a descent from a wrong pose does not find.

Let the shapes of n trusted frames have the mean mu and deviations D (n x 3P).  As in `energy`, another one x
is a sample of a normal distribution with the covariance C = D'D/n + eps^2 I, so that it costs
(x - mu)' C^-1 (x - mu).  With the singular vectors V of D and the shares c_k = lambda_k / (lambda_k + eps^2),
lambda_k = sigma_k^2 / n,

    C^-1 = (I - V diag(c) V') / eps^2,
    (x - mu)' C^-1 (x - mu) = min |x - y|^2 / eps^2 + (y - mu)' V diag(1 / lambda) V' (y - mu)

over y in mu + span V, at y = mu + V diag(c) V' (x - mu): what the other frames predict of x.  A frame on its
rays is x = A z + b, linear in the depths z for a given rotation R.  So three steps, none of which increases
the cost, follow each other: the depths from a P x P system, the prediction, and the rotation that lays x
onto it.

They end in a minimum near the rotation that they begin with.  So they begin with several: those that turn the
mean and some of the trusted shapes S onto the image as an orthogonal camera sees them.  A flat S, with the
normal u, is seen alike from two sides: R and diag(1, 1, -1) R (I - 2 u u') have the same image.  Both are
candidates, and so are the frame's own rotation and that of its mirror image.  Frames that the rotation jumps
to and back from begin with the one that is evenly between those of the trusted frames.  Where frames are few,
so do runs of frames at which the turn of the camera changes far more than elsewhere.

Where frames are few, several wrong ones agree with each other, and no single one is lower by itself.
`search_poses` is an iterated local search (Lourenco, Martin, Stuetzle 2003): random frames are trusted, a run
of them or scattered ones, the others are posed anew, all of them descend, and what is lower is kept, now and
then also what is a little higher.  First at the levels where starts compete, then from the lowest ends at a
finer level, which tells shapes apart that cost the same at the coarse ones.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..foundation.linalg import nearest_rotation, rotation_angle
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Ints
from .alternatives import Pausing, differs, relaxing
from .energy import DepthLevel
from .problem import DepthPoint, DepthProblem
from .reflections import MIRROR, candidate_blocks, mirror_in_depth, reflect_block, shape_distances, suspicions
from .schedule import COMPARED, FIRST, JUDGED, TRIAL, DepthOptions

Ends = list[tuple[float, DepthPoint]]  # energies, per point and frame, and where they are reached

MOST_FITTED = 6  # trusted shapes that rotations are fitted to, besides the mean
KEPT = 2  # lowest candidates of a frame that are followed
ROUNDS = 3  # of the three steps
NEAREST = 0.2  # of the mean depth of a frame: below, a frame keeps its pose
PULL = 1e-4  # toward the mean depth, of the mean diagonal of a system
# Degrees, and times the median around it: above both, a turn is a jump. The first ones are of a turn that
# differs from both beside it, and from one of them far more than others do: else the camera moves evenly.
LARGEST_TURN, JUMP_RATIO = (10.0, 30.0), (3.0, 6.0)
EVEN_CHANGES = 12.0  # times the median of these differences
LEAST_CHANGE = 5.0  # degrees
SLOWEST = 0.5  # degrees: a median below, of a camera that stands, counts as this
AROUND = 5  # frames on either side
FEWEST_TURNS = 4  # of which one is seen to be a jump
UNEVEN = 2.0  # times its part of the changes of the turn: what a run of frames has that is posed anew
SMOOTH_EPS = 0.01  # of the distribution of the trusted shapes, for such a run

COARSE = (FIRST, COMPARED)
SEED = 0  # of the random frames: a run repeats
TRUSTED = 1 / 3, 2 / 3  # of the frames, at least and at most
FEWEST_TRUSTED = 3
COARSE_TRIALS, FINE_TRIALS = 400, 200  # that descend, times the frames
ITERATIONS = 50 * COARSE_TRIALS + 80 * FINE_TRIALS  # of all of them, about, times the frames
MOST_RETURNED = 20  # poses one after the other that come back to where they began: then a stage ends
MOVED = 0.06, 0.03  # largest relative distance of a frame below which poses come back to an end
COARSE_EPS, FINE_EPS = 0.1, 0.03  # of the distribution of the trusted shapes
NEARLY = 4e-3  # of the energy: a coarse trial that is higher by more descends no further
RISE = 2e-3, 4e-3  # of the energy: the mean of what the next trial may begin above the lowest
LEAST_GAIN = 1e-4  # per point and frame
POOL, RETURNED = 5, 2  # lowest ends that differ, that pass the finer level, and that are returned
SAME = 0.008  # relative distance of shapes below which two ends are one


@dataclass(frozen=True, eq=False)
class ShapeModel:
    """A normal distribution of shapes, from those of some frames."""

    mean: Floats  # (3, P)
    modes: Floats  # (K, 3, P) orthonormal, each of mean 0
    shares: Floats  # (K,) c_k
    eps: float

    @classmethod
    def from_shapes(cls, X: Floats, eps: float) -> ShapeModel:
        """Return the distribution of centered shapes (n, 3, P)."""
        mean = X.mean(axis=0)
        _, sigma, V = np.linalg.svd((X - mean).reshape(len(X), -1), full_matrices=False)
        variances = np.square(sigma) / len(X)
        return cls(mean, V.reshape(-1, *mean.shape), variances / (variances + eps**2), eps)

    def prediction(self, X: Floats) -> Floats:
        """Return y of shapes (..., 3, P)."""
        along = self.shares * np.tensordot(X - self.mean, self.modes, axes=((-2, -1), (-2, -1)))
        predicted: Floats = self.mean + np.tensordot(along, self.modes, axes=1)
        return predicted

    def cost(self, X: Floats) -> Floats:
        """Return (x - mu)' C^-1 (x - mu) of shapes (..., 3, P)."""
        D = X - self.mean
        along = np.tensordot(D, self.modes, axes=((-2, -1), (-2, -1)))
        cost: Floats = (np.square(D).sum(axis=(-2, -1)) - np.square(along) @ self.shares) / self.eps**2
        return cost


def repose_frames(
    problem: DepthProblem, point: DepthPoint, trusted: Bools, eps: float, *, between: bool = False
) -> DepthPoint:
    """Return a point whose frames that are not trusted have the pose that the others make likely.

    `trusted`: (F,), at least two; `eps`: deviations well below it cost nothing, in units of s; `between`:
    begin with the rotations between those of trusted frames only.
    """
    frames = np.flatnonzero(~trusted)
    shapes = problem.shapes(point)[trusted]
    model = ShapeModel.from_shapes(shapes, eps)
    if between:
        R = _rotations_between(point.rotations, trusted)[None]
    else:
        fitted = np.stack((model.mean, *shapes[:: -(-len(shapes) // MOST_FITTED)]))
        R = np.concatenate((point.rotations[None, frames], MIRROR @ point.rotations[None, frames] @ MIRROR))
        R = np.concatenate((R, _fitted_rotations(point, frames, fitted)))
    rays = _FrameRays.of(problem, point, frames)
    z, X = rays.solve(model, R)
    order = np.argsort(model.cost(X), axis=0, kind="stable")[:KEPT]
    R, X = np.take_along_axis(R, order[..., None, None], 0), np.take_along_axis(X, order[..., None, None], 0)
    for _ in range(ROUNDS):
        R = R @ np.swapaxes(nearest_rotation(model.prediction(X) @ np.swapaxes(X, -1, -2)), -1, -2)
        z, X = rays.solve(model, R)
    cost = model.cost(X)
    if not point.affine:
        cost = np.where((z > NEAREST * rays.middle[:, None]).all(axis=-1), cost, np.inf)
    best, each = np.argmin(cost, axis=0), np.arange(len(frames))
    usable = np.isfinite(cost[best, each])
    rotations, depths = np.array(point.rotations), np.array(point.depths)
    rotations[frames[usable]] = R[best, each][usable]
    depths[frames[usable]] = z[best, each][usable]
    if not point.affine:
        depths /= np.exp(np.log(depths).mean())
    return DepthPoint(rotations, depths, point.rays, point.affine)


def rotation_jumps(R: Floats) -> Floats:
    """Return the turn between frames over the median of those around it, (F - 1,), 0 where it is no jump."""
    turns, changes = _turns(R)
    ratios = np.zeros(len(turns))
    if len(turns) < FEWEST_TURNS:
        return ratios
    beside = np.concatenate((changes[:1], changes, changes[-1:]))
    uneven = np.maximum(beside[1:], beside[:-1]) > EVEN_CHANGES * np.median(changes)
    uneven &= np.minimum(beside[1:], beside[:-1]) > LEAST_CHANGE
    for index in np.flatnonzero(turns > np.where(uneven, *LARGEST_TURN)):
        near = np.delete(turns, index)[max(index - AROUND, 0) : index + AROUND]
        ratio = turns[index] / max(float(np.median(near)), SLOWEST)
        ratios[index] = ratio if ratio > JUMP_RATIO[0 if uneven[index] else 1] else 0.0
    return ratios


def without_jumps(problem: DepthProblem, point: DepthPoint) -> DepthPoint | None:
    """Return a point whose frames between jumps of the rotation are posed anew; None where there are none."""
    beyond = np.cumsum(np.append(0.0, rotation_jumps(point.rotations)) > 0) % 2 == 1
    if not beyond.any():
        return None
    return repose_frames(problem, point, beyond == (beyond.mean() > 0.5), COARSE_EPS, between=True)


def mirrored_at_jumps(problem: DepthProblem, point: DepthPoint) -> Iterator[DepthPoint]:
    """Yield points with a run of frames mirrored that begins or ends where the rotation jumps.

    Of the runs between suspicious links, see `reflections`, those of at most a third of the frames.
    """
    jumps = set((np.flatnonzero(rotation_jumps(point.rotations)) + 1).tolist())
    if jumps:
        mirrored = mirror_in_depth(point)
        for block in candidate_blocks(suspicions(problem, point, mirrored)):
            if jumps & {block.first, block.last} and block.last - block.first <= len(point.depths) / 3:
                yield reflect_block(problem, point, mirrored, block)


def smoother_paths(problem: DepthProblem, point: DepthPoint) -> Iterator[DepthPoint]:
    """Yield points with a run of frames posed anew, from rotations between those of its neighbors.

    Of the runs of each length it is the one without which the turn changes least from frame to frame, if it
    has far more than its part of these changes. Those that have most for their length come first.
    """
    R, frames = point.rotations, np.arange(len(point.depths))
    before, runs = max(float(_turns(R)[1].sum()), 1e-9), []
    for length in range(1, len(frames) // 3 + 1):
        shares = []
        for first in range(1, len(frames) - length):
            trusted = (frames < first) | (frames >= first + length)
            smooth = np.array(R)
            smooth[~trusted] = _rotations_between(R, trusted)
            shares.append((1.0 - _turns(smooth)[1].sum() / before, first))
        share, first = max(shares)
        runs.append((share * (len(frames) - 2) / (length + 1), first, length))
    for concentration, first, length in sorted(runs, reverse=True):
        if concentration > UNEVEN:
            trusted = (frames < first) | (frames >= first + length)
            yield repose_frames(problem, point, trusted, SMOOTH_EPS, between=True)


def _turns(R: Floats) -> tuple[Floats, Floats]:
    """Return the angles of the turns between frames, (F - 1,), and from one turn to the next, (F - 2,)."""
    turns = R[1:] @ np.swapaxes(R[:-1], 1, 2)
    return rotation_angle(turns), rotation_angle(turns[1:] @ np.swapaxes(turns[:-1], 1, 2))


def _rotations_between(R: Floats, trusted: Bools) -> Floats:
    """Return rotations of the frames that are not trusted, evenly between those of the others, (n, 3, 3)."""
    from scipy.spatial.transform import Rotation, Slerp  # slow to load

    known = np.flatnonzero(trusted)
    between = Slerp(known, Rotation.from_matrix(R[known]))
    return between(np.clip(np.flatnonzero(~trusted), known[0], known[-1])).as_matrix()


def _fitted_rotations(point: DepthPoint, frames: Ints, shapes: Floats) -> Floats:
    """Return the rotations of frames before an orthogonal camera that fit some shapes, (2 K, n, 3, 3).

    `shapes`: (K, 3, P), centered. The second half has the partners of the first.
    """
    image = point.rays[frames] - point.rays[frames].mean(axis=2, keepdims=True)
    fit = image @ np.linalg.pinv(shapes)[:, None]  # (K, n, 2, 3)
    U, _, V = np.linalg.svd(fit, full_matrices=False)
    rows = U @ V
    R = np.concatenate((rows, np.cross(rows[..., 0, :], rows[..., 1, :])[..., None, :]), axis=-2)
    normal = np.linalg.svd(shapes)[0][:, None, :, 2:]
    return np.concatenate((R, MIRROR @ (R - 2.0 * (R @ normal) @ np.swapaxes(normal, -1, -2))))


def search_poses(
    problem: DepthProblem, point: DepthPoint, options: DepthOptions
) -> Generator[tuple[int, float], None, Ends]:
    """Return a few of the lowest ends that differ, and from an end of the finest level, the lowest first.

    `point`: that end. Energies are of the level `JUDGED`, where it ends as well; what comes back there has
    nothing new. It pauses often, with the stage, 1 or 2, and the lowest energy.
    """
    search, frames = _PoseSearch(problem, options, np.random.default_rng(SEED)), len(point.depths)
    search.begin(COMPARED, point)
    coarse = [(yield from search.descend(point, COARSE, 1))]
    yield from search.run(coarse, 1, COARSE_TRIALS // frames, COARSE_EPS)
    search.begin(JUDGED[0], point)
    own = yield from search.descend(point, JUDGED, 2)
    fine = [own]
    for _, start in distinct_ends(problem, coarse, POOL):
        fine.append((yield from search.descend(start, JUDGED, 2)))
    yield from search.run(fine, 2, FINE_TRIALS // frames, FINE_EPS)
    lowest = distinct_ends(problem, fine, RETURNED)
    return [end for end in lowest if differs(problem, end[1], [own[1]], SAME)]


def distinct_ends(problem: DepthProblem, ends: Ends, most: int) -> Ends:
    """Return the lowest ends whose shapes differ from those of all lower ones, at most so many."""
    kept: Ends = []
    for energy, point in sorted(ends, key=lambda end: end[0]):
        if differs(problem, point, [other for _, other in kept], SAME):
            kept.append((energy, point))
        if len(kept) == most:
            break
    return kept


@dataclass(eq=False)
class _PoseSearch(OneLine):
    """An iterated local search over the poses of frames."""

    problem: DepthProblem
    options: DepthOptions
    rng: np.random.Generator
    lowest: float = np.inf  # energy of the stage, per point and frame

    def begin(self, level: DepthLevel, point: DepthPoint) -> None:
        """Begin a stage at a point."""
        energy = self.options.energy(self.problem, level, point)
        self.lowest = energy.value_and_gradient(energy.start(point))[0] / self.problem.visible.size

    def descend(
        self, point: DepthPoint, levels: Sequence[DepthLevel], stage: int
    ) -> Generator[tuple[int, float], None, tuple[float, DepthPoint]]:
        """Return where levels end."""
        steps = Pausing(relaxing(self.problem, point, levels, self.options))
        for _ in steps:
            yield stage, self.lowest
        point, energy = steps.value
        return energy / self.problem.visible.size, point

    def run(
        self, ends: Ends, stage: int, descents: int, eps: float
    ) -> Generator[tuple[int, float], None, None]:
        """Add the ends of trials, which begin with the lowest end."""
        self.lowest, best = min(ends, key=lambda end: end[0])
        current, same, returned = best, MOVED[stage - 1], 0
        while descents and returned < MOST_RETURNED:
            start = repose_frames(self.problem, current, self._trusted(len(best.depths)), eps)
            if self._moved(start, current) < same:  # it would descend to the same end
                returned += 1
                continue
            descents, returned = descents - 1, 0
            energy, point = yield from self.descend(start, TRIAL, stage)
            if self._moved(point, best) < same or (
                stage == 1 and energy > self.lowest + NEARLY * abs(self.lowest)
            ):
                current = best
                continue
            energy, point = yield from self.descend(point, (COMPARED,) if stage == 1 else JUDGED, stage)
            ends.append((energy, point))
            rise = RISE[stage - 1] * abs(self.lowest) * self.rng.exponential()
            if energy < self.lowest - LEAST_GAIN:
                self.lowest, best, current = energy, point, point
            else:
                current = point if energy < self.lowest + rise else best

    def _moved(self, point: DepthPoint, other: DepthPoint) -> float:
        """Return the largest distance of the shapes of a frame, relative to the size of shapes."""
        X = self.problem.shapes(other)
        size = np.square(X).sum(axis=(1, 2)).mean()
        return float(np.sqrt(shape_distances(self.problem.shapes(point), X).max() / size))

    def _trusted(self, frames: int) -> Bools:
        """Return random frames (F,): a run of them, across the end of the sequence, or scattered ones."""
        least, most = (max(FEWEST_TRUSTED, int(share * frames)) for share in TRUSTED)
        count = int(self.rng.integers(least, most + 1))
        trusted = np.zeros(frames, dtype=bool)
        if self.rng.integers(2):
            trusted[(self.rng.integers(frames) + np.arange(count)) % frames] = True
        else:
            trusted[self.rng.choice(frames, count, replace=False)] = True
        return trusted


@dataclass(frozen=True, eq=False)
class _FrameRays:
    """The rays of n frames: a point in the camera's frame is fixed + moving z, in units of s."""

    fixed: Floats  # (n, 3, P) of mean 0
    moving: Floats  # (n, 3, P)
    middle: Floats  # (n,) the mean depth of each frame

    @classmethod
    def of(cls, problem: DepthProblem, point: DepthPoint, frames: Ints) -> _FrameRays:
        lateral, unit = point.rays[frames], problem.unit(point)
        fixed, moving = (np.zeros((len(frames), 3, lateral.shape[2])) for _ in range(2))
        moving[:, 2] = 1.0
        (fixed if point.affine else moving)[:, :2] = lateral
        fixed -= fixed.mean(axis=2, keepdims=True)
        return cls(fixed / unit, moving / unit, point.depths[frames].mean(axis=1))

    def solve(self, model: ShapeModel, R: Floats) -> tuple[Floats, Floats]:
        """Return the depths (K, n, P) of least cost, and the shapes (K, n, 3, P).

        `R`: (K, n, 3, 3) the rotations.
        """
        count = self.moving.shape[2]
        back = np.swapaxes(R, -1, -2)
        a, b = back @ self.moving, back @ self.fixed
        along = np.einsum("kcp,...cp->...kp", model.modes, a)
        weighted = along * model.shares[:, None]
        H = np.swapaxes(a, -1, -2) @ a / -count - np.swapaxes(weighted, -1, -2) @ along
        step = np.arange(count)
        H[..., step, step] += np.square(a).sum(axis=-2)
        pull = PULL * np.trace(H, axis1=-2, axis2=-1)[..., None] / count
        H[..., step, step] += pull
        off = b - model.mean
        right = -(a * off).sum(axis=-2)
        right += (np.einsum("kcp,...cp->...k", model.modes, off)[..., None] * weighted).sum(axis=-2)
        z = np.linalg.solve(H, (right + pull * self.middle[:, None])[..., None])[..., 0]
        X = a * z[..., None, :]
        X += b - X.mean(axis=-1, keepdims=True)
        return z, X
