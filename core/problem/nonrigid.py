r"""The non-rigid pOSE problem (paper, equation 5.3), reduced to one 3x3 quadratic form per observation.

Symbols: F frames, P points, K basis shapes; m the calibrated observation of a point in a frame; R, t the
camera; S_f (3 x P) the shape of frame f in the object's own coordinates; eta the pOSE weight; a the
non-decreasing weights; gamma_k = (\|B_k\|^2 + \|C_k\|^2) / 2.

The four residuals of an observation, with Y = R S + t (Section 5.1, rows weighted as in A.I), are

    sqrt(eta) (Y_12 - m)    and    sqrt(1 - eta) (Y_12 - Y_3 m).

All vanish at Y* = (m, 1), so that their sum of squares is exactly (Y - Y*)' G (Y - Y*) with

    G = [[I, -(1 - eta) m], [-(1 - eta) m', (1 - eta) |m|^2]].

At eta = 1 (the orthogonal camera) G = diag(1, 1, 0) and the third entry of Y* is free: it is set to 0, and
the depth of t, which nothing measures, is pinned to 0.  A missing observation is G = 0.

Rotating into the object frame removes R: with H = R' G R, y = R' Y*, s = R' t, and S_f = sum_k B_fk C_k,

    loss(B, C, s) = sum_fj (S_fj + s_f - y_fj)' H_fj (S_fj + s_f - y_fj) + sum_k a_k gamma_k(B, C).

There is no 1/2 on the data term.  `printed_form` holds the four-row form as an independent check.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ..foundation.batched_linalg import invert_batched, matmul_batched
from ..foundation.exceptions import InputError
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Ints, read_only
from ..penalties import ExplicitWeights, Penalty, SpectralPenalty, checked_weights, is_spectral, penalty_named
from .closed_form import closed_form_cut, reference_singular_values
from .data_term import DataTerm, data_term
from .factors import Factors, balance, center, penalty
from .observation_forms import TrackFeatures
from .robust import RobustLoss

__all__ = ["Factors", "NonRigidProblem", "Problem"]

ROTATION_TOLERANCE = 1e-6


FEWEST_SEEN = 4  # points of a subset, that every frame shows
LEVEL_RATIO = 10  # ratio of the observations of successive subsets
LEAST_GAIN = 5  # a subset has at most 1 / LEAST_GAIN of all observations, or it costs too much


def checked_tracks(tracks: Floats, visible: Bools) -> tuple[Floats, Bools]:
    """Return calibrated tracks, 0 where hidden, and their visibility, read-only.

    An array that is so already is returned, so that problems share it.
    """
    visible = read_only(visible, np.bool_)
    tracks = np.asarray(tracks)
    if tracks.ndim != 3 or tracks.shape[1] != 2 or visible.shape != (len(tracks), tracks.shape[2]):
        raise InputError(
            f"tracks have shape {tracks.shape}, visible {visible.shape}; accepted are (F, 2, P), (F, P)"
        )
    if tracks.transpose(0, 2, 1)[~visible].any():  # a NaN counts
        tracks = np.where(visible[:, None, :], tracks, 0.0)
        tracks.setflags(write=False)
    tracks = read_only(tracks)
    if not np.isfinite(tracks).all():
        raise InputError("calibrated tracks hold a value that is not finite at a visible observation")
    return tracks, visible


class Problem(ABC):
    """The objective of all methods: pOSE of a structure of rows x columns 3-vectors plus a spectral penalty.

    `NonRigidProblem` has a row for every frame and a column for every point, `low_rank.LowRankProblem`
    a row for every point and a column for every frame; everything else is the same for both. A subclass is a
    frozen dataclass with the fields below, `_check_eta` and `_data_term`.
    """

    tracks: Floats  # (F, 2, P); hidden entries are 0
    visible: Bools  # (F, P)
    eta: float
    weights: Floats  # (K,) non-decreasing; with `spectral` its slopes where the problem was posed
    tail: Floats | None  # (min(rows, 3 columns) - K,) weights of the singular values from K + 1 on, or None
    spectral: SpectralPenalty | None  # f, where it is not the linear a'sigma
    offsets: ClassVar[bool]  # whether every row has a free offset s
    robust: RobustLoss | None = None  # g, which takes the place of the squares of the data term
    observation_weights: Floats | None = None  # (rows, columns), factors of H; None where all are 1

    def __init__(
        self,
        tracks: Floats,
        visible: Bools,
        eta: float,
        weights: Collection[float] | Floats | None = None,
        tail: Floats | None = None,
        spectral: SpectralPenalty | None = None,
        *,
        penalty: Penalty | str | None = None,
        rank: int | None = None,
    ) -> None:
        if (weights is None) == (penalty is None) or (penalty is None) != (rank is None):
            raise InputError("accepted are weights, or a penalty together with a rank")
        given = {"tracks": tracks, "visible": visible, "eta": eta, "tail": tail, "spectral": spectral}
        self.__dict__.update(given, weights=np.zeros(rank or 0) if weights is None else weights)
        self.__post_init__()
        if penalty is not None:
            posed = self.with_penalty(penalty, rank)
            self.__dict__.update({name: getattr(posed, name) for name in ("weights", "tail", "spectral")})

    def __post_init__(self) -> None:
        tracks, visible = checked_tracks(self.tracks, self.visible)
        object.__setattr__(self, "tracks", tracks)
        object.__setattr__(self, "visible", visible)
        self._set_weights(self.weights, self.tail)
        self._check_eta()

    def _set_weights(self, weights: Collection[float] | Floats, tail: Floats | None) -> None:
        checked = checked_weights(weights)
        object.__setattr__(self, "weights", read_only(checked))
        most = min(self.shape[0], 3 * self.shape[1])
        if self.rank > most:
            names = "min(P, 3F)" if self.shape[1] == len(self.tracks) != self.shape[0] else "min(F, 3P)"
            raise InputError(f"rank {self.rank} exceeds {names} = {most}")
        if tail is not None:
            given = checked_weights(np.concatenate((checked, tail)))
            if len(given) != most:
                raise InputError(f"{len(given)} weights are given in all; there are {most} singular values")
            tail = read_only(given[self.rank :])
        object.__setattr__(self, "tail", tail)

    @property
    def rank(self) -> int:
        """K, the number of weights and of basis shapes."""
        return int(self.weights.size)

    @property
    def affine(self) -> bool:
        """Whether only the affine term is there (eta = 1), so that depth is not measured."""
        return self.eta == 1.0

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of the structure, each entry a 3-vector."""
        return len(self.tracks), self.tracks.shape[2]

    @property
    def all_weights(self) -> Floats:
        """(min(rows, 3 columns),) weights of all singular values; where none is given the last repeats."""
        if self.tail is not None:
            return np.concatenate((self.weights, self.tail))
        most = min(self.shape[0], 3 * self.shape[1])
        return np.pad(self.weights, (0, most - self.rank), mode="edge")

    @cached_property
    def features(self) -> TrackFeatures:
        """The features of the tracks, rows x columns: built at first use, shared by all derived problems."""
        return TrackFeatures(self.tracks, self.visible)

    @cached_property
    def data(self) -> DataTerm:
        """The planes of H, y and H y: built at first use, shared by `with_weights`."""
        return self._data_term()

    @cached_property
    def reference(self) -> Floats:
        """(min(rows, 3 columns),) singular values of X0#, descending: what weights refer to.

        They depend on neither weights nor eta, but for eta = 1: `with_weights` and `with_eta` share them.
        """
        return read_only(reference_singular_values(self.data))

    def closed_form(self, rank: int | None = None) -> Factors:
        """Return the best cut of X0# to `rank` (default: the problem's), with the best offsets.

        It is the start that the paper uses. At full rank, min(rows, 3 columns), the shapes are X0# itself.
        """
        return closed_form_cut(self.data, self.rank if rank is None else rank)

    @abstractmethod
    def _check_eta(self) -> None:
        """Raise InputError where eta is refused."""

    @abstractmethod
    def _data_term(self) -> DataTerm:
        """Build the planes of H, y and H y."""

    def penalty_value(self, sigma: Floats) -> float:
        """Return f(sigma) for the leading singular values, descending, or for gamma in their place."""
        if self.spectral is not None:
            return self.spectral.value(sigma)
        return float(self.all_weights[: len(sigma)] @ sigma)

    def loss(self, factors: Factors) -> float:
        """Return the objective (paper, equations 5.2 and 5.3) at a point."""
        if self.robust is None:
            misfit = self.data.misfit(factors)
        else:
            misfit = self.robust.value(self.data.squares(factors))
        if self.spectral is not None:
            return misfit + self.spectral.value(np.sort(factors.gamma())[::-1])
        return misfit + penalty(self.weights, factors)

    def robust_weights(self, factors: Factors) -> Floats | None:
        """Return the weights g' of the observations at a point, (rows, columns); None with least squares."""
        return None if self.robust is None else self.robust.weights(self.data.squares(factors))

    def slopes(self, factors: Factors) -> Floats:
        """Return the weights a of the linear penalty that touches f at a balanced point, (K,)."""
        if self.spectral is None:
            return self.weights
        return self.spectral.slopes(np.sort(factors.gamma())[::-1])

    def gauge(self, factors: Factors) -> Factors:
        """Return the same structure balanced, and centered where there are offsets: no objective rises."""
        return balance(center(factors) if self.offsets else factors)

    def with_weights(
        self,
        weights: Collection[float] | Floats,
        *,
        tail: Floats | None = None,
        spectral: SpectralPenalty | None = None,
    ) -> Self:
        """Return the same problem under another penalty, sharing what does not depend on it."""
        other = self._holding(self.__dict__ | {"data": self.data, "spectral": spectral})
        other._set_weights(weights, tail)
        return other

    def _holding(self, values: dict[str, Any]) -> Self:
        """Return a problem of the same class with values that are checked already."""
        other = object.__new__(type(self))
        other.__dict__.update(values)
        return other

    def with_penalty(self, penalty: Penalty | str, rank: int | None = None) -> Self:
        """Return the same problem under a penalty whose weights may refer to its closed form."""
        penalty, rank = penalty_named(penalty), self.rank if rank is None else rank
        if isinstance(penalty, ExplicitWeights):  # beyond those given the last one counts
            return self.with_weights(penalty.weights(rank, np.ones(1)))
        reference = self.reference
        weights = penalty.weights(max(rank, len(reference)), reference)
        spectral = penalty if is_spectral(penalty) else None
        return self.with_weights(weights[:rank], tail=weights[rank:], spectral=spectral)

    def same_objective(self, other: Problem) -> bool:
        """Whether another problem of the same rotations has the same objective."""
        names = ("eta", "spectral", "robust", "weights", "all_weights", "tracks", "visible")
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return all(one is two or np.array_equal(one, two) for one, two in pairs)

    def __repr__(self) -> str:
        frames, points = self.visible.shape
        return f"{type(self).__name__}({frames} frames, {points} points, rank {self.rank}, eta {self.eta:g})"

    def with_eta(self, eta: float) -> Self:
        """Return the same problem at another eta, or itself at its own; by least squares."""
        if eta == self.eta:
            return self.with_robust(None)
        kept = self.without_data().__dict__ | {"eta": eta, "robust": None, "observation_weights": None}
        other = self._holding(kept)
        other._check_eta()
        other.__dict__["features"] = self.features
        if self.affine != other.affine:
            other.__dict__.pop("reference", None)  # only at eta = 1 it is another one
        return other

    def with_observations(self, tracks: Floats, visible: Bools) -> Self:
        """Return the same problem of other observations, with the penalty as it is."""
        tracks, visible = checked_tracks(tracks, visible)
        kept = self.without_data().__dict__ | {"reference": self.reference}
        return self._holding(kept | {"tracks": tracks, "visible": visible})

    def with_robust(self, robust: RobustLoss | None) -> Self:
        """Return the same problem under a robust loss, or by least squares, sharing its data term."""
        if robust == self.robust:
            return self
        return self._holding(self.__dict__ | {"data": self.data, "robust": robust})

    def with_observation_weights(self, weights: Floats) -> Self:
        """Return the least-squares problem with weights (rows, columns) of the observations."""
        kept = self.__dict__ | {"observation_weights": weights, "robust": None, "features": self.features}
        kept.pop("data", None)
        return self._holding(kept)

    def without_data(self) -> Self:
        """Return the same problem to be kept: its data term, by far its largest part, is built anew."""
        large = ("data", "features")
        return self._holding({name: value for name, value in self.__dict__.items() if name not in large})

    def of_rank(self, rank: int) -> Self:
        """Return the same problem at another rank; the last weight repeats where no further one is given."""
        weights, tail = self.all_weights[:rank], self.all_weights[rank:]
        return self.with_weights(weights, tail=tail, spectral=self.spectral)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class NonRigidProblem(Problem):
    """min over B, C, t of f(gamma) + pOSE(R g(BC') + t 1'), for calibrated tracks.

    Parameters
    ----------
    tracks, visible
        (F, 2, P) calibrated, where hidden entries are ignored, and (F, P) which are seen.
    rotations
        (F, 3, 3) from the world to the camera.
    eta
        the share of the affine error in pOSE, above 0 and at most 1.
    weights, tail, spectral
        the penalty as the methods use it: (K,) non-decreasing weights, those of the other singular values
        where these are weighed, too, and f where it is not linear; in their place
    penalty, rank
        a penalty as a user gives it, or its name, and K.

    Raises
    ------
    InputError
        where shapes disagree, eta is outside (0, 1], R is not a rotation, or the weights are refused.

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> penalty = core.WeightedNuclearNorm(5e-3)
    >>> core.NonRigidProblem(scene.tracks, scene.visible, scene.rotations, 1.0, penalty=penalty, rank=2)
    NonRigidProblem(8 frames, 15 points, rank 2, eta 1)
    """

    tracks: Floats  # (F, 2, P)
    visible: Bools  # (F, P)
    rotations: Floats  # (F, 3, 3)
    eta: float
    weights: Floats  # (K,)
    tail: Floats | None = None
    spectral: SpectralPenalty | None = None
    offsets: ClassVar[bool] = True

    def __init__(
        self,
        tracks: Floats,
        visible: Bools,
        rotations: Floats,
        eta: float,
        weights: Collection[float] | Floats | None = None,
        tail: Floats | None = None,
        spectral: SpectralPenalty | None = None,
        *,
        penalty: Penalty | str | None = None,
        rank: int | None = None,
    ) -> None:
        object.__setattr__(self, "rotations", rotations)  # the closed form, and so the weights, need them
        super().__init__(tracks, visible, eta, weights, tail, spectral, penalty=penalty, rank=rank)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rotations", read_only(self.rotations))
        frames = len(self.tracks)
        if self.rotations.shape != (frames, 3, 3):
            raise InputError(f"rotations have shape {self.rotations.shape}; accepted is ({frames}, 3, 3)")
        gram = np.einsum("fab,fac->fbc", self.rotations, self.rotations)
        if not np.allclose(gram, np.eye(3), atol=ROTATION_TOLERANCE):
            frame = int(np.argmax(np.abs(gram - np.eye(3)).max(axis=(1, 2))))
            raise InputError(f"the rotation of frame {frame} (0-based) is not orthogonal: R'R differs from I")

    def _check_eta(self) -> None:
        if not 0 < self.eta <= 1:
            raise InputError(f"eta is {self.eta:g}; accepted is 0 < eta <= 1 (1 is the affine error alone)")

    def _data_term(self) -> DataTerm:
        return data_term(self.features, self.rotations, self.eta, weights=self.observation_weights)


@dataclass(frozen=True, eq=False)
class Subset(OneLine):
    """A problem, and the small problem of some of its frames and points, with the maps between their points.

    To compare rotations or starts, the losses of a part of the observations suffice.  A subset of evenly
    spaced frames and points keeps the problem's form; with a fraction q of the observations the data term is
    about q times as large and the singular values sqrt(q) times, so weights times sqrt(q) keep the balance
    between the two.

    The mapping to the full problem has a closed form: with the shapes C of the subset's points, every frame's
    B_f and s_f solve one (K+3) x (K+3) system; C of all points follows from them when a solver starts.  Where
    the full problem is very much larger, subsets of increasing size are solved in between, because their
    steps cost a fraction of those that they save.
    """

    problem: NonRigidProblem
    small: NonRigidProblem
    frames: Ints  # (F',)
    points: Ints  # (P',)

    @property
    def share(self) -> float:
        """The ratio of the observations of the small problem to all, about that of the losses, too."""
        return float(self.small.visible.sum() / self.problem.visible.sum())

    @cached_property
    def all_frames(self) -> NonRigidProblem:
        """The problem of every frame, but of the small problem's points only."""
        return _part(self.problem, np.arange(len(self.problem.tracks)), self.points)

    def without_data(self) -> Subset:
        """Return the same to be kept, without what is built anew at need."""
        problem = self.problem.without_data()
        small = problem if self.small is self.problem else self.small.without_data()
        return replace(self, problem=problem, small=small)

    def restrict(self, factors: Factors) -> Factors:
        """Return a point of the small problem from one of the full problem."""
        return Factors(factors.B[self.frames], factors.C[:, :, self.points], factors.s[self.frames])

    def to_full(self, factors: Factors) -> Factors:
        """Return a point of the full problem: the best B and s for the small problem's C, then C."""
        if self.small is self.problem:
            return factors
        B, s = self._frames_of(factors)
        weights = self.problem.weights[: factors.rank]
        return Factors(B, self.problem.data.best_C(B, s, weights).C, s)

    def at_points(self, factors: Factors, points: Ints) -> Factors:
        """Return those points (P',) of what `to_full` returns, at the cost of these alone."""
        if self.small is self.problem:
            every = len(points) == self.problem.shape[1]
            return factors if every else replace(factors, C=factors.C[:, :, points])
        B, s = self._frames_of(factors)
        some = _part(self.problem, np.arange(len(self.problem.tracks)), points)
        return Factors(B, some.data.best_C(B, s, self.problem.weights[: factors.rank]).C, s)

    def to_subset(self, factors: Factors, other: Subset) -> Factors:
        """Return a point of another subset's small problem from one of this one's, its C left to solvers."""
        B, s = self._frames_of(factors)
        shapes = np.zeros((factors.rank, 3, len(other.points)))
        return Factors(B[other.frames], shapes, s[other.frames])

    def _frames_of(self, factors: Factors) -> tuple[Floats, Floats]:
        """Return the best B and s of every frame for the small problem's C."""
        some = self.all_frames.with_weights(self.small.weights[: factors.rank])
        blocks = some.data.frame_blocks(factors.C, some.weights)
        u = matmul_batched(invert_batched(blocks), some.data.frame_targets(factors.C))
        return np.ascontiguousarray(u[: factors.rank].T), np.ascontiguousarray(u[factors.rank :].T)


def subset_levels(problem: NonRigidProblem, most: int) -> list[Subset]:
    """Return the subsets between one of `most` observations and the full problem, the smallest first."""
    found, size = [], LEVEL_RATIO * most
    while LEAST_GAIN * size <= problem.visible.size:
        found.append(subset(problem, size))
        size *= LEVEL_RATIO
    return found


def subset(problem: NonRigidProblem, most: int) -> Subset:
    """Return a subset of about `most` observations, or all where there are no more than that."""
    frames, _, points = problem.tracks.shape
    if frames * points <= most:
        return Subset(problem, problem, np.arange(frames), np.arange(points))
    # As square as the problem allows: both the cameras and the shape need variety.
    wanted = int(np.sqrt(most))
    some_frames = _spaced(frames, max(wanted, most // points))
    some_points = _spaced(points, max(wanted, most // len(some_frames)))
    some_points = _with_seen(problem.visible, some_points)
    found = Subset(problem, _part(problem, some_frames, some_points), some_frames, some_points)
    return replace(found, small=found.small.with_weights(np.sqrt(found.share) * problem.weights))


def _spaced(count: int, wanted: int) -> Ints:
    return np.linspace(0, count - 1, min(wanted, count)).round().astype(np.int64)


def _with_seen(visible: Bools, points: Ints) -> Ints:
    """Return points, and so many others that every frame shows `FEWEST_SEEN` of them, or all that it has."""
    chosen = np.zeros(visible.shape[1], dtype=bool)
    chosen[points] = True
    lacking = np.minimum(visible.sum(axis=1), FEWEST_SEEN) - visible[:, chosen].sum(axis=1)
    while (short := lacking > 0).any():
        new = int(np.where(chosen, -1, visible[short].sum(axis=0)).argmax())
        chosen[new] = True
        lacking -= visible[:, new]
    return np.flatnonzero(chosen)


def _part(problem: NonRigidProblem, frames: Ints, points: Ints) -> NonRigidProblem:
    def of(array: Floats) -> Floats:
        return array[frames][..., points]

    seen = problem.visible[frames][:, points]
    return NonRigidProblem(of(problem.tracks), seen, problem.rotations[frames], problem.eta, problem.weights)
