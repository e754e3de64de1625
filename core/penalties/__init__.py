"""Penalties on the singular values of X#, and their proximal operators.

A new penalty is a module or a class here and a line in `PENALTIES`: the command line and the window read the
table and the parameters that the class declares.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from ..foundation.exceptions import InputError
from .base import LinearPenalty, Penalty, SpectralPenalty, checked_weights, extend_last
from .concave import MCP, SCAD, CappedNorm, ConcavePenalty, LogPenalty, RankPenalty, SchattenNorm
from .linear import ExplicitWeights, NuclearNorm, RampWeights, TruncatedNuclearNorm, WeightedNuclearNorm

__all__ = [
    "EXPLICIT",
    "MCP",
    "PENALTIES",
    "SCAD",
    "CappedNorm",
    "ConcavePenalty",
    "ExplicitWeights",
    "LinearPenalty",
    "LogPenalty",
    "NuclearNorm",
    "Penalty",
    "RampWeights",
    "RankPenalty",
    "SchattenNorm",
    "SpectralPenalty",
    "TruncatedNuclearNorm",
    "WeightedNuclearNorm",
    "checked_weights",
    "extend_last",
    "is_spectral",
    "penalty_name",
    "penalty_named",
]

EXPLICIT = "weights"  # the name of explicit weights, which have an option of their own

# By the name that --penalty takes.
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


def penalty_name(penalty: Penalty) -> str:
    """Return the key of `PENALTIES` that files and commands name a penalty by, or `EXPLICIT`."""
    kind = type(penalty)
    for name, known in {EXPLICIT: ExplicitWeights, **PENALTIES}.items():
        if kind is known:
            return name
    raise InputError(
        f"the penalty {kind.__name__} is not in PENALTIES; PENALTIES['name'] = {kind.__name__} registers it"
    )


def penalty_named(penalty: Penalty | str) -> Penalty:
    """Return a penalty that is given by its key in `PENALTIES`, with its default parameters, or as it is."""
    if not isinstance(penalty, str):
        if isinstance(penalty, type) or not callable(getattr(penalty, "weights", None)):
            accepted = "accepted is a penalty such as WeightedNuclearNorm(5e-3)"
            raise InputError(f"penalty is {penalty!r}; {accepted}")
        return penalty
    if penalty not in PENALTIES:
        raise InputError(f"penalty is {penalty!r}; accepted are {', '.join(PENALTIES)}, or a penalty")
    made: Penalty = PENALTIES[penalty]()
    return made


def is_spectral(penalty: Penalty) -> TypeGuard[ConcavePenalty]:
    """Whether a penalty is not linear in the singular values, so that problems have it as `spectral`."""
    return isinstance(penalty, ConcavePenalty)
