"""Penalties f(sigma) = sum_k a_k sigma_k on the singular values of X#: each names its weights a.

All are non-decreasing in k, so that sum_k a_k gamma_k over the factors equals them (paper, Section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .arrays import Floats, InputError
from .problem import checked_weights


class Penalty(Protocol):
    """A choice of singular-value weights."""

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return a_1 <= ... <= a_K, shape (K,); `reference` are the singular values of X0#, descending."""


def _non_negative(name: str, value: float) -> None:
    if not (np.isfinite(value) and value >= 0):
        raise InputError(f"{name} is {value:g}; accepted is a finite number that is not negative")


@dataclass(frozen=True)
class NuclearNorm:
    """a_k = mu (Section 5.3: mu = 1e-3)."""

    mu: float = 1e-3

    def __post_init__(self) -> None:
        _non_negative("mu", self.mu)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return mu for every singular value."""
        return np.full(rank, float(self.mu))


@dataclass(frozen=True)
class TruncatedNuclearNorm:
    """The `free` largest singular values cost nothing, each further one mu (Section 5.2)."""

    mu: float = 1e-3
    free: int = 1

    def __post_init__(self) -> None:
        _non_negative("mu", self.mu)
        if self.free < 0:
            raise InputError(f"free is {self.free}; accepted is a number of singular values, 0 or more")

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return 0 for the first `free` singular values and mu for the others."""
        return np.where(np.arange(rank) < self.free, 0.0, float(self.mu))


@dataclass(frozen=True)
class WeightedNuclearNorm:
    """a_k = xi / (sigma_k(X0#) + gamma), X0 the closed form of the pOSE term (Section 5.3: xi = 5e-3)."""

    xi: float = 5e-3
    gamma: float = 1e-6

    def __post_init__(self) -> None:
        _non_negative("xi", self.xi)
        if not (np.isfinite(self.gamma) and self.gamma > 0):
            raise InputError(f"gamma is {self.gamma:g}; accepted is a positive number")

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return xi / (sigma_k + gamma); singular values beyond `reference` count as its last."""
        padded = np.pad(reference[:rank], (0, max(0, rank - len(reference))), mode="edge")
        return np.asarray(self.xi / (padded + self.gamma))


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
