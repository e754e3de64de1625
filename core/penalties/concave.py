"""Concave penalties f(sigma) = sum_k g(sigma_k): g concave, non-decreasing, g(0) = 0.

The theorem of the paper (Section 3) holds for them: f(gamma) over the factors equals f(sigma).  They are
`SpectralPenalty` themselves, and their weights are the slopes g'(sigma_k) at a reference.

`epsilon` and `theta` are in the units of the singular values, as `gamma` of the weighted nuclear norm is:
relative to the largest singular value, which moves, f would be neither a sum nor concave.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.types import Bools, Floats
from . import proximal
from .base import Penalty, SpectralPenalty, extend_last
from .proximal import Piece

SCAD_RATIO = 3.7  # of the two knees, as Fan and Li propose
# Singular values below this fraction of the largest are 0: those that rounding leaves have no rank.
NEGLIGIBLE = 1e-9


STRENGTH = "Strength of the penalty, 0 or more."
SLOPE = "Slope of the penalty at 0, 0 or more."
EPSILON = "Singular values well below it cost as in a nuclear norm, above 0, in their units."
THETA = "Singular value from which on the penalty is constant, above 0, in its units."
MU = {"slider": (1e-6, 1e2), "live": True, "label": "strength μ"}
SIZE = {"open_below": True, "slider": (1e-9, 1e3), "live": True}  # of what is compared with singular values


class ConcavePenalty(CheckedParameters, Penalty, SpectralPenalty):
    """A penalty f(sigma) = sum_k g(sigma_k), g concave and non-decreasing with g(0) = 0.

    `slopes` are g'(sigma_k), at a kink the slope to its right; `prox` is 0 where several z are minimal.
    """

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return the slopes at `reference`; singular values beyond it count as its last."""
        return self.slopes(extend_last(reference, rank))


@dataclass(frozen=True)
class SchattenNorm(ConcavePenalty):
    """The p-th powers of the singular values: mu ((sigma + epsilon)^p - epsilon^p).

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> penalty = core.SchattenNorm(mu=2.0, p=0.5, epsilon=0.0001)
    >>> penalty.weights(3, reference=np.array([4.0, 2.0, 1.0])).round(3)
    array([0.5  , 0.707, 1.   ])
    """

    title = "Schatten-p"
    short = "Schatten"
    formula = "mu ((sigma + epsilon)^p - epsilon^p) for every singular value"

    mu: float = parameter(0.005, STRENGTH, **MU)
    p: float = parameter(
        0.5,
        "The power, above 0 and below 1: the smaller, the more it is like a rank.",
        open_below=True,
        most=1.0,
        open_above=True,
        slider=(0.01, 0.99),
        logarithmic=False,
        live=True,
    )
    epsilon: float = parameter(0.01, EPSILON, **SIZE)

    def value(self, sigma: Floats) -> float:
        """Return f(sigma)."""
        return float(proximal.power_value(sigma, self.mu, self.p, self.epsilon).sum())

    def slopes(self, sigma: Floats) -> Floats:
        """Return mu p (sigma + epsilon)^(p - 1)."""
        slopes = self.mu * self.p * (sigma + self.epsilon) ** (self.p - 1)
        return np.maximum.accumulate(slopes)  # powers of neighbors may come out in the wrong order

    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return the proximal point."""
        return proximal.prox_power(sigma, rho, mu=self.mu, p=self.p, epsilon=self.epsilon)


@dataclass(frozen=True)
class LogPenalty(ConcavePenalty):
    """mu log(1 + sigma / epsilon): its slopes are those of the weighted nuclear norm at sigma itself.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.LogPenalty(mu=1.0, epsilon=1.0).weights(3, reference=np.array([4.0, 2.0, 1.0])).round(3)
    array([0.2  , 0.333, 0.5  ])
    """

    title = "logarithm"
    short = "log"
    formula = "mu log(1 + sigma / epsilon): the weighted nuclear norm with weights that follow the solution"

    mu: float = parameter(0.005, STRENGTH, **MU)
    epsilon: float = parameter(0.01, EPSILON, **SIZE)

    def value(self, sigma: Floats) -> float:
        """Return f(sigma)."""
        return float(self.mu * np.log1p(sigma / self.epsilon).sum())

    def slopes(self, sigma: Floats) -> Floats:
        """Return mu / (sigma + epsilon)."""
        return np.asarray(self.mu / (sigma + self.epsilon))

    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return the proximal point."""
        return proximal.prox_log(sigma, rho, mu=self.mu, epsilon=self.epsilon)


@dataclass(frozen=True)
class PiecewisePenalty(ConcavePenalty):
    """A penalty of slope mu at 0 that is constant from theta on."""

    mu: float = parameter(0.02, SLOPE, **MU)
    theta: float = parameter(1.0, THETA, **SIZE)

    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """Return the derivative g' from 0 to theta."""

    def value(self, sigma: Floats) -> float:
        """Return f(sigma)."""
        return float(proximal.pieces_value(sigma, self.pieces()).sum())

    def slopes(self, sigma: Floats) -> Floats:
        """Return g'(sigma_k)."""
        return np.asarray(sum(piece.slope(sigma) for piece in self.pieces()))

    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return the proximal point."""
        return proximal.prox_pieces(sigma, rho, self.pieces())


class CappedNorm(PiecewisePenalty):
    """mu min(sigma, theta): a truncated nuclear norm that frees all from theta on.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.CappedNorm(mu=0.5, theta=3.0).weights(3, reference=np.array([4.0, 2.0, 1.0]))
    array([0. , 0.5, 0.5])
    """

    title = "capped nuclear norm"
    short = "capped"
    formula = "mu min(sigma, theta): truncated, by size instead of by number"

    def pieces(self) -> tuple[Piece, ...]:
        """Return the slope mu up to theta."""
        return (Piece(0.0, self.theta, self.mu, self.mu),)


class MCP(PiecewisePenalty):
    """Minimax concave penalty (Zhang 2010): the slope falls linearly from mu at 0 to 0 at theta.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.MCP(mu=0.5, theta=4.0).weights(3, reference=np.array([4.0, 2.0, 1.0]))
    array([0.   , 0.25 , 0.375])
    """

    title = "MCP"
    short = "MCP"
    formula = "minimax concave penalty: the slope falls linearly from mu at 0 to 0 at theta"

    def pieces(self) -> tuple[Piece, ...]:
        """Return the one falling slope."""
        return (Piece(0.0, self.theta, self.mu, 0.0),)


class SCAD(PiecewisePenalty):
    """Smoothly clipped absolute deviation (Fan and Li 2001): slope mu up to theta / 3.7, then falling to 0.

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.SCAD(mu=0.5, theta=4.0).weights(3, reference=np.array([4.0, 2.0, 1.0])).round(3)
    array([0.   , 0.343, 0.5  ])
    """

    title = "SCAD"
    short = "SCAD"
    formula = "smoothly clipped absolute deviation: slope mu up to theta / 3.7, from there to 0 at theta"

    def pieces(self) -> tuple[Piece, ...]:
        """Return the level and the falling slope."""
        knee = self.theta / SCAD_RATIO
        return (Piece(0.0, knee, self.mu, self.mu), Piece(knee, self.theta, self.mu, 0.0))


@dataclass(frozen=True)
class RankPenalty(ConcavePenalty):
    """A fixed cost mu for every singular value that is not 0 (above 1e-9 of the largest).

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.RankPenalty(mu=0.5).value(np.array([4.0, 2.0, 0.0]))
    1.0
    """

    title = "rank cost"
    short = "rank cost"
    formula = "a fixed cost mu for every singular value that is not 0"

    mu: float = parameter(0.01, "Cost of a basis shape, 0 or more, in units of the objective.", **MU)

    def value(self, sigma: Floats) -> float:
        """Return mu times the rank."""
        return float(self.mu * np.count_nonzero(_alive(sigma)))

    def slopes(self, sigma: Floats) -> Floats:
        """Return 0 for what is not 0, elsewhere a weight that makes every value above 1e-9 too expensive."""
        least = NEGLIGIBLE * float(sigma.max(initial=0.0)) or NEGLIGIBLE
        return np.where(_alive(sigma), 0.0, self.mu / least)

    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return the proximal point: a hard threshold."""
        return proximal.hard_threshold(sigma, self.mu, rho)


def _alive(sigma: Floats) -> Bools:
    alive: Bools = sigma > NEGLIGIBLE * sigma.max(initial=0.0)
    return alive
