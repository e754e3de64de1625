r"""Low-rank matrix recovery with pOSE (paper, Section 5.2): uncalibrated, rigid or not, with missing data.

    min over X (3F x P) of f(sigma(X)) + pOSE(X),    X = BC',    B (3F x K), C (P x K).

A frame's three rows of X hold the projective camera times the points: with the camera P_f = B_f (3 x K) and
the point c_j (K numbers), X_fj = P_f c_j, and the residuals of an observation m are those of `nonrigid`
with R = I and t = 0, so that its data term is (X_fj - Y*)' G (X_fj - Y*).

Written with X_fj = sum_k c_jk B_fk, where B_fk are 3-vectors, this is the non-rigid problem with frames and
points exchanged: a scalar coefficient for every point (row), a 3-vector for every frame (column), and no
offsets.  The matrix that the penalty acts on there, rows x 3 columns, is X' with its columns permuted, whose
singular values are those of X.  So one elimination, and one implementation of every method, serves both:
`Factors.B` (P, K) holds the paper's C, `Factors.C` (K, 3, F) the paper's B.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..foundation.batched_linalg import solve_batched
from ..foundation.exceptions import InputError
from ..foundation.types import Bools, Floats, Ints
from ..penalties import SpectralPenalty
from .data_term import DataTerm, data_term
from .factors import Factors
from .nonrigid import Problem
from .observation_forms import TrackFeatures


@dataclass(frozen=True, eq=False, init=False, repr=False)
class LowRankProblem(Problem):
    """min over B, C of f(gamma) + pOSE(BC'), for tracks that are divided by the norm of all of them.

    Parameters
    ----------
    tracks, visible, eta, weights, tail, spectral
        as of `NonRigidProblem`, with tracks that are divided by their norm, and eta below 1.
    penalty, rank
        a penalty as a user gives it, and K, in place of weights, tail and spectral.

    Raises
    ------
    InputError
        where shapes disagree, eta is outside (0, 1), or the weights are refused.

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15)
    >>> tracks = scene.tracks / 10_000.0
    >>> core.LowRankProblem(tracks, scene.visible, eta=0.05, penalty=core.NuclearNorm(), rank=4)
    LowRankProblem(8 frames, 15 points, rank 4, eta 0.05)
    """

    tracks: Floats  # (F, 2, P)
    visible: Bools  # (F, P)
    eta: float
    weights: Floats  # (K,)
    tail: Floats | None = None
    spectral: SpectralPenalty | None = None
    offsets: ClassVar[bool] = False

    def _check_eta(self) -> None:
        if not 0 < self.eta < 1:
            raise InputError(
                f"eta is {self.eta:g}; the low-rank problem accepts 0 < eta < 1, "
                "because at 1 nothing measures the third row of a camera"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) = (P, F)."""
        return self.tracks.shape[2], len(self.tracks)

    @cached_property
    def features(self) -> TrackFeatures:
        """The features of the tracks: points in rows, frames in columns."""
        return TrackFeatures(self.tracks.transpose(2, 1, 0), self.visible.T)

    def _data_term(self) -> DataTerm:
        R = np.eye(3)[None]
        return data_term(self.features, R, self.eta, offsets=False, weights=self.observation_weights)

    def restrict(self, views: Ints, points: Ints) -> LowRankProblem:
        """Return the problem of some views and points, under the same weights."""
        tracks, visible = self.tracks[views][:, :, points], self.visible[views][:, points]
        return LowRankProblem(tracks, visible, self.eta, self.weights)

    def best_points(self, C: Floats, weights: Floats) -> Floats:
        """Return the points (P, K) that minimize the objective for the cameras C (K, 3, F)."""
        points: Floats = solve_batched(self.data.frame_blocks(C, weights), self.data.frame_targets(C))[1].T
        return np.ascontiguousarray(points)

    def cameras(self, factors: Factors) -> Floats:
        """Return the projective cameras P_f, (F, 3, K)."""
        return np.ascontiguousarray(factors.C.transpose(2, 1, 0))

    def homogeneous(self, factors: Factors) -> Floats:
        """Return the points in homogeneous coordinates, (K, P): X_f = P_f times these."""
        return np.ascontiguousarray(factors.B.T)

    def structure(self, factors: Factors) -> Floats:
        """Return X, (F, 3, P)."""
        return self.cameras(factors) @ self.homogeneous(factors)
