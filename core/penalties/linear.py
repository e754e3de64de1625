"""Penalties on the singular values of X#, with their numbers as a user gives them.

Linear ones name weights a: f(sigma) = sum_k a_k sigma_k with a_k non-decreasing, so that sum_k a_k gamma_k
over the factors equals them (paper, Section 4).  The others are in `core.penalties.concave`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np

from ..foundation.exceptions import InputError
from .base import checked_weights, continued
from .concave import (
    MCP,
    SCAD,
    CappedNorm,
    ConcavePenalty,
    LogPenalty,
    RankPenalty,
    SchattenNorm,
    check_not_negative,
    check_positive,
)

if TYPE_CHECKING:
    from ..foundation.types import Floats

__all__ = [
    "MCP",
    "PENALTIES",
    "PENALTY_TEXTS",
    "SCAD",
    "CappedNorm",
    "ConcavePenalty",
    "ExplicitWeights",
    "LogPenalty",
    "NuclearNorm",
    "Penalty",
    "PenaltyText",
    "RampWeights",
    "RankPenalty",
    "SchattenNorm",
    "TruncatedNuclearNorm",
    "WeightedNuclearNorm",
    "is_spectral",
    "penalty_name",
]


class Penalty(Protocol):
    """A choice of singular-value weights."""

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return a_1 <= ... <= a_K, shape (K,); `reference` are the singular values of X0#, descending."""


@dataclass(frozen=True)
class PenaltyText:
    """What a penalty is called, what it costs, and a tip for each of its numbers."""

    title: str
    formula: str
    numbers: dict[str, str]


def _count(name: str, value: int) -> None:
    if value < 0:
        raise InputError(f"{name} is {value}; accepted is a number of singular values, 0 or more")


@dataclass(frozen=True)
class NuclearNorm:
    """a_k = mu (Section 5.3: mu = 1e-3)."""

    mu: float = 1e-3

    def __post_init__(self) -> None:
        check_not_negative("mu", self.mu)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return mu for every singular value."""
        return np.full(rank, float(self.mu))


@dataclass(frozen=True)
class TruncatedNuclearNorm:
    """The `free` largest singular values cost nothing, each further one mu (Section 5.2)."""

    mu: float = 1e-3
    free: int = 1

    def __post_init__(self) -> None:
        check_not_negative("mu", self.mu)
        _count("free", self.free)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return 0 for the first `free` singular values and mu for the others."""
        return np.where(np.arange(rank) < self.free, 0.0, float(self.mu))


@dataclass(frozen=True)
class WeightedNuclearNorm:
    """a_k = xi / (sigma_k(X0#) + gamma), X0 the closed form of the pOSE term (Section 5.3: xi = 5e-3)."""

    xi: float = 5e-3
    gamma: float = 1e-6

    def __post_init__(self) -> None:
        check_not_negative("xi", self.xi)
        check_positive("gamma", self.gamma)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return xi / (sigma_k + gamma); singular values beyond `reference` count as its last."""
        return np.asarray(self.xi / (continued(reference, rank) + self.gamma))


@dataclass(frozen=True)
class RampWeights:
    """The `free` largest singular values cost nothing, the k-th (k - free) mu (the WNN of Section 5.2)."""

    mu: float = 1e-3
    free: int = 4

    def __post_init__(self) -> None:
        check_not_negative("mu", self.mu)
        _count("free", self.free)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return mu max(k - free, 0) for k = 1, ..., rank."""
        return np.asarray(self.mu * np.maximum(np.arange(1, rank + 1) - float(self.free), 0.0))


@dataclass(frozen=True)
class ExplicitWeights:
    """a_1 <= ... <= a_K as given; the rank must be their number."""

    a: tuple[float, ...]

    def __post_init__(self) -> None:
        checked_weights(self.a)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return the given weights.

        Raises
        ------
        InputError
            where their number is not the rank.
        """
        if len(self.a) != rank:
            raise InputError(
                f"{len(self.a)} weights are given for rank {rank}; give one weight per basis shape"
            )
        return np.asarray(self.a, dtype=float)


# By the name that --penalty takes; explicit weights have an option of their own.
PENALTIES: dict[str, type[Any]] = {
    "wnn": WeightedNuclearNorm,
    "nn": NuclearNorm,
    "tnn": TruncatedNuclearNorm,
    "ramp": RampWeights,
    "schatten": SchattenNorm,
    "log": LogPenalty,
    "capped": CappedNorm,
    "mcp": MCP,
    "scad": SCAD,
    "rank": RankPenalty,
}

_STRENGTH = "Strength of the penalty, 0 or more."
_SLOPE = "Slope of the penalty at 0, 0 or more."
_EPSILON = "Singular values well below it cost as in a nuclear norm, above 0, in their units."
_THETA = "Singular value from which on nothing more is paid, above 0, in its units."

# What each is, and what its numbers mean and accept: the command line and the application say it.
PENALTY_TEXTS: dict[str, PenaltyText] = {
    "wnn": PenaltyText(
        "weighted nuclear norm",
        "a_k = xi / (sigma_k(X0#) + gamma): large singular values cost less",
        {
            "xi": "Strength of the penalty, 0 or more. 0.005 in the paper; 0.5 keeps rank 4 to 6 safe.",
            "gamma": "Added to the singular values before dividing, above 0, in their units.",
        },
    ),
    "nn": PenaltyText(
        "nuclear norm",
        "a_k = mu for every singular value",
        {"mu": "Weight of every singular value, 0 or more. 0.001 in the paper."},
    ),
    "tnn": PenaltyText(
        "truncated nuclear norm",
        "the first few singular values cost nothing, each further one mu",
        {
            "mu": "Weight of a penalized singular value, 0 or more. 0.001 in the paper.",
            "free": "Number of singular values that cost nothing, 0 or more.",
        },
    ),
    "ramp": PenaltyText(
        "ramp of weights",
        "a_k = (k - free) mu, and 0 for the first few: the weights of the paper's low-rank experiments",
        {
            "mu": "By how much each weight exceeds the one before, 0 or more.",
            "free": "Number of singular values that cost nothing, 0 or more.",
        },
    ),
    "schatten": PenaltyText(
        "Schatten-p",
        "mu ((sigma + epsilon)^p - epsilon^p) for every singular value",
        {
            "mu": _STRENGTH,
            "p": "The power, above 0 and below 1: the smaller, the more it is like a rank.",
            "epsilon": _EPSILON,
        },
    ),
    "log": PenaltyText(
        "logarithm",
        "mu log(1 + sigma / epsilon): the weighted nuclear norm with weights that follow the solution",
        {"mu": _STRENGTH, "epsilon": _EPSILON},
    ),
    "capped": PenaltyText(
        "capped nuclear norm",
        "mu min(sigma, theta): truncated, by size instead of by number",
        {"mu": _SLOPE, "theta": _THETA},
    ),
    "mcp": PenaltyText(
        "MCP",
        "minimax concave penalty: the slope falls linearly from mu at 0 to 0 at theta",
        {"mu": _SLOPE, "theta": _THETA},
    ),
    "scad": PenaltyText(
        "SCAD",
        "smoothly clipped absolute deviation: slope mu up to theta / 3.7, from there to 0 at theta",
        {"mu": _SLOPE, "theta": _THETA},
    ),
    "rank": PenaltyText(
        "rank cost",
        "a fixed cost mu for every singular value that is not 0",
        {"mu": "Cost of a basis shape, 0 or more, in units of the objective."},
    ),
}


def penalty_name(penalty: Penalty) -> str:
    """Return the key of `PENALTIES`, or "weights" for explicit ones."""
    if isinstance(penalty, ExplicitWeights):
        return "weights"
    return next(name for name, kind in PENALTIES.items() if type(penalty) is kind)


def is_spectral(penalty: Penalty) -> TypeGuard[ConcavePenalty]:
    """Whether a penalty is not linear in the singular values, so that problems have it as `spectral`."""
    return isinstance(penalty, ConcavePenalty)
