"""Protocol of a penalty on singular values, and the linear penalty.

The theorem of the paper (Section 3) holds for f that are quasi-concave, lower semi-continuous and
non-decreasing in every singular value: the least f(gamma(B, C)) over all factorizations of X is f(sigma(X)),
attained at the balanced one.  All penalties here are concave on the descending singular values, a stronger
condition: f(z) <= f(sigma) + a'(z - sigma) for a = slopes(sigma).  A problem with the linear weights a is
therefore a majorizer that touches at sigma (`core.solvers.majorized`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.representation import OneLine
from ..foundation.types import Floats, read_only
from .proximal import soft_threshold


class Penalty(Protocol):
    """A choice of singular-value weights, as a user gives it: a frozen dataclass of its own numbers.

    The numbers are fields declared by `parameter`; the first one is the strength. It has a `title`, such as
    "weighted nuclear norm", a `short` one, "WNN", and the `formula` of what it costs;
    `assets/examples/own_penalty.py` makes one.
    """

    title: ClassVar[str]
    short: ClassVar[str]
    formula: ClassVar[str]

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return a_1 <= ... <= a_K, shape (K,); `reference` are the singular values of X0#, descending."""


class SpectralPenalty(Protocol):
    """A cost of singular values; `sigma` is non-negative and descending, of any length."""

    @abstractmethod
    def value(self, sigma: Floats) -> float:
        """Return f(sigma)."""

    @abstractmethod
    def slopes(self, sigma: Floats) -> Floats:
        """Return a supergradient of f at sigma: finite, non-negative, non-decreasing, of the same shape."""

    @abstractmethod
    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return the z >= 0 that minimizes f(z) + rho / 2 |z - sigma|^2, descending; rho > 0."""


@dataclass(frozen=True, eq=False)
class LinearPenalty(OneLine):
    """f(sigma) = a'sigma with a non-decreasing; beyond the given weights the last one is repeated."""

    weights: Floats  # (n,) non-decreasing

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", read_only(self.weights))

    def value(self, sigma: Floats) -> float:
        """Return a'sigma."""
        return float(self.slopes(sigma) @ sigma)

    def slopes(self, sigma: Floats) -> Floats:
        """Return a, as long as sigma."""
        return extend_last(self.weights, len(sigma))

    def prox(self, sigma: Floats, rho: float) -> Floats:
        """Return max(sigma - a / rho, 0)."""
        return soft_threshold(sigma, self.slopes(sigma), rho)


def extend_last(values: Floats, count: int) -> Floats:
    """Return the first `count` of some values (n,), the last one repeated where there are fewer."""
    return np.pad(values[:count], (0, max(0, count - len(values))), mode="edge")


def checked_weights(weights: Collection[float] | Floats) -> Floats:
    """Return the singular-value weights as a (K,) array.

    Raises InputError where a weight is negative or not finite, or the vector decreases: then a'gamma is no
    longer equal to the weighted nuclear norm (paper, Section 4), which is a different problem.
    """
    try:
        a = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"weights are {weights!r}; accepted is a list of at least one number") from None
    if a.ndim != 1 or not a.size:
        raise InputError(f"weights have shape {a.shape}; accepted is a list of at least one number")
    if not np.isfinite(a).all():
        raise InputError(f"weight {int(np.flatnonzero(~np.isfinite(a))[0]) + 1} is not a finite number")
    if (a < 0).any():
        k = int(np.flatnonzero(a < 0)[0])
        raise InputError(
            f"weight {k + 1} is {a[k]:g}; weights must not be negative, or the problem has no minimum"
        )
    if (np.diff(a) < 0).any():
        k = int(np.flatnonzero(np.diff(a) < 0)[0])
        raise InputError(
            f"weights decrease from {a[k]:g} (weight {k + 1}) to {a[k + 1]:g} (weight {k + 2}); they must be "
            "non-decreasing, because only then is the bilinear form equal to the weighted nuclear norm"
        )
    return a
