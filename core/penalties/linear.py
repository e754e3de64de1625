"""Linear penalties f(sigma) = sum_k a_k sigma_k, by the rule that names their weights a.

The weights are non-decreasing, so that sum_k a_k gamma_k over the factors equals f (paper, Section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.parameters import CheckedParameters, parameter
from ..foundation.representation import OneLine
from ..foundation.types import Floats
from .base import Penalty, checked_weights, extend_last

MU = {"slider": (1e-6, 1e2), "live": True, "label": "strength μ"}
XI = {**MU, "label": "strength ξ"}
FREE_TIP = "Number of singular values that cost nothing, 0 or more."


@dataclass(frozen=True)
class NuclearNorm(CheckedParameters, Penalty):
    """a_k = mu (Section 5.3: mu = 1e-3).

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.NuclearNorm(mu=0.5).weights(3, reference=np.array([4.0, 2.0, 1.0]))
    array([0.5, 0.5, 0.5])
    """

    title = "nuclear norm"
    short = "NN"
    formula = "a_k = mu for every singular value"

    mu: float = parameter(1e-3, "Weight of every singular value, 0 or more. 0.001 in the paper.", **MU)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return mu for every singular value."""
        return np.full(rank, float(self.mu))


@dataclass(frozen=True)
class TruncatedNuclearNorm(CheckedParameters, Penalty):
    """The `free` largest singular values cost nothing, each further one mu (Section 5.2).

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.TruncatedNuclearNorm(mu=0.5, free=1).weights(3, reference=np.array([4.0, 2.0, 1.0]))
    array([0. , 0.5, 0.5])
    """

    title = "truncated nuclear norm"
    short = "TNN"
    formula = "the first few singular values cost nothing, each further one mu"

    mu: float = parameter(1e-3, "Weight of a penalized singular value, 0 or more. 0.001 in the paper.", **MU)
    free: int = parameter(1, FREE_TIP, integer=True, slider=(0, 12), live=True)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return 0 for the first `free` singular values and mu for the others."""
        return np.where(np.arange(rank) < self.free, 0.0, float(self.mu))


@dataclass(frozen=True)
class WeightedNuclearNorm(CheckedParameters, Penalty):
    """a_k = xi / (sigma_k(X0#) + gamma), X0 the closed form of the pOSE term (Section 5.3: xi = 5e-3).

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.WeightedNuclearNorm(xi=1.0).weights(3, reference=np.array([4.0, 2.0, 1.0])).round(3)
    array([0.25, 0.5 , 1.  ])
    """

    title = "weighted nuclear norm"
    short = "WNN"
    formula = "a_k = xi / (sigma_k(X0#) + gamma): large singular values cost less"

    xi: float = parameter(
        5e-3, "Strength of the penalty, 0 or more. 0.005 in the paper; 0.5 keeps rank 4 to 6 safe.", **XI
    )
    gamma: float = parameter(
        1e-6,
        "Added to the singular values before dividing, above 0, in their units.",
        label="offset γ",
        open_below=True,
        slider=(1e-9, 1e3),
        live=True,
    )

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return xi / (sigma_k + gamma); singular values beyond `reference` count as its last."""
        return np.asarray(self.xi / (extend_last(reference, rank) + self.gamma))

    def reference(self, weights: Floats) -> Floats | None:
        """Return the singular values (K,) that give these weights (K,): the inverse; None at xi = 0."""
        if not self.xi > 0:
            return None
        values = np.full(np.shape(weights), np.inf)
        np.divide(self.xi, weights, out=values, where=np.asarray(weights) > 0)
        return np.asarray(values - self.gamma)


@dataclass(frozen=True)
class RampWeights(CheckedParameters, Penalty):
    """The `free` largest singular values cost nothing, the k-th (k - free) mu (the WNN of Section 5.2).

    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.RampWeights(mu=0.5, free=1).weights(3, reference=np.array([4.0, 2.0, 1.0]))
    array([0. , 0.5, 1. ])
    """

    title = "ramp of weights"
    short = "ramp"
    formula = "a_k = (k - free) mu, and 0 for the first few: the weights of the paper's low-rank experiments"

    mu: float = parameter(1e-3, "By how much each weight exceeds the one before, 0 or more.", **MU)
    free: int = parameter(4, FREE_TIP, integer=True, slider=(0, 12), live=True)

    def weights(self, rank: int, reference: Floats) -> Floats:
        """Return mu max(k - free, 0) for k = 1, ..., rank."""
        return np.asarray(self.mu * np.maximum(np.arange(1, rank + 1) - float(self.free), 0.0))


@dataclass(frozen=True)
class ExplicitWeights(Penalty, OneLine):
    """a_1 <= ... <= a_K as given; the rank must be their number.

    Parameters
    ----------
    a
        (K,) the weights, non-negative and non-decreasing.

    Examples
    --------
    >>> import numpy as np
    >>> import core
    >>> core.ExplicitWeights((0.0, 0.5, 1.0)).weights(3, reference=np.array([4.0, 2.0, 1.0]))
    array([0. , 0.5, 1. ])
    """

    title = "explicit weights"
    short = "weights"
    formula = "one weight for each singular value, none below the one before"

    a: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", tuple(checked_weights(self.a).tolist()))

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

    def with_rank(self, rank: int) -> ExplicitWeights:
        """Return the weights for another rank: cut, or continued with the last one."""
        return ExplicitWeights((*self.a, *(self.a[-1:] * rank))[:rank])
