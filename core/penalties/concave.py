"""Concave penalties f(sigma) = sum_k g(sigma_k): g concave, non-decreasing, g(0) = 0.

The theorem of the paper (Section 3) holds for them: f(gamma) over the factors equals f(sigma).  They are
`SpectralPenalty` as they stand, and their weights are the slopes g'(sigma_k) at a reference.

    schatten   mu ((sigma + epsilon)^p - epsilon^p)    epsilon keeps the slope at 0 finite
    log        mu log(1 + sigma / epsilon)
    capped     mu min(sigma, theta)
    mcp        slope mu (1 - sigma / theta), 0 from theta on (Zhang 2010)
    scad       slope mu up to theta / 3.7, from there linearly to 0 at theta (Fan and Li 2001)
    rank       mu for every singular value that is not 0

In capped, mcp and scad mu is the slope at 0, and theta the singular value from which on nothing more is paid.
`epsilon` and `theta` are in the units of the singular values, as `gamma` of the weighted nuclear norm is:
relative to the largest singular value, which moves, f would be neither a sum nor concave.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.exceptions import InputError
from . import proximal
from .base import continued
from .proximal import Piece

if TYPE_CHECKING:
    from ..foundation.types import Bools, Floats

SCAD_RATIO = 3.7  # of the two knees, as Fan and Li propose
# Singular values below this fraction of the largest are 0: those that rounding leaves have no rank.
NEGLIGIBLE = 1e-9


def check_not_negative(name: str, value: float) -> None:
    """Refuse a number that is negative or not finite."""
    if not (np.isfinite(value) and value >= 0):
        raise InputError(f"{name} is {value:g}; accepted is a finite number that is not negative")


def check_positive(name: str, value: float) -> None:
    """Refuse a number that is not positive and finite."""
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} is {value:g}; accepted is a positive number")


class ConcavePenalty(ABC):
    """A penalty f(sigma) = sum_k g(sigma_k), g concave and non-decreasing with g(0) = 0."""

    @abstractmethod
    def value(self, sigma: Floats) -> float:
        """Return f(sigma)."""

    @abstractmethod
    def slopes(self, sigma: Floats) -> Floats:
        """Return g'(sigma_k), non-decreasing for descending sigma; at a kink the slope to its right."""

    @abstractmethod
    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return the z >= 0 that minimizes f(z) + rho / 2 |z - sigma|^2; 0 where others are as good."""

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return the slopes at `reference`; singular values beyond it count as its last."""
        return self.slopes(continued(reference, rank))


@dataclass(frozen=True)
class SchattenNorm(ConcavePenalty):
    """The p-th powers of the singular values: mu ((sigma + epsilon)^p - epsilon^p)."""

    mu: float = 0.005
    p: float = 0.5
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        check_not_negative("mu", self.mu)
        if not 0 < self.p < 1:
            raise InputError(f"p is {self.p:g}; accepted is 0 < p < 1 (p = 1 is the nuclear norm)")
        check_positive("epsilon", self.epsilon)

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
    """mu log(1 + sigma / epsilon): its slopes are those of the weighted nuclear norm at sigma itself."""

    mu: float = 0.005
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        check_not_negative("mu", self.mu)
        check_positive("epsilon", self.epsilon)

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
    """A penalty of slope mu at 0, on which nothing more is paid from theta on."""

    mu: float = 0.02
    theta: float = 1.0

    def __post_init__(self) -> None:
        check_not_negative("mu", self.mu)
        check_positive("theta", self.theta)

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
    """mu min(sigma, theta): a truncated nuclear norm that finds out how many singular values to free."""

    def pieces(self) -> tuple[Piece, ...]:
        """Return the slope mu up to theta."""
        return (Piece(0.0, self.theta, self.mu, self.mu),)


class MCP(PiecewisePenalty):
    """Minimax concave penalty: the slope falls linearly from mu at 0 to 0 at theta."""

    def pieces(self) -> tuple[Piece, ...]:
        """Return the one falling slope."""
        return (Piece(0.0, self.theta, self.mu, 0.0),)


class SCAD(PiecewisePenalty):
    """Smoothly clipped absolute deviation: slope mu up to theta / 3.7, then falling to 0 at theta."""

    def pieces(self) -> tuple[Piece, ...]:
        """Return the level and the falling slope."""
        knee = self.theta / SCAD_RATIO
        return (Piece(0.0, knee, self.mu, self.mu), Piece(knee, self.theta, self.mu, 0.0))


@dataclass(frozen=True)
class RankPenalty(ConcavePenalty):
    """A fixed cost mu for every singular value that is not 0 (above 1e-9 of the largest)."""

    mu: float = 0.01

    def __post_init__(self) -> None:
        check_not_negative("mu", self.mu)

    def value(self, sigma: Floats) -> float:
        """Return mu times the rank."""
        return float(self.mu * np.count_nonzero(_alive(sigma)))

    def slopes(self, sigma: Floats) -> Floats:
        """Return 0 for what is not 0, elsewhere a weight under which nothing above 1e-9 is worth its cost."""
        least = NEGLIGIBLE * float(sigma.max(initial=0.0)) or NEGLIGIBLE
        return np.where(_alive(sigma), 0.0, self.mu / least)

    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return the proximal point: a hard threshold."""
        return proximal.keep_large(sigma, self.mu, rho)


def _alive(sigma: Floats) -> Bools:
    alive: Bools = sigma > NEGLIGIBLE * sigma.max(initial=0.0)
    return alive
