"""Penalties on the singular values of X#, and their proximal operators."""

from .base import LinearPenalty, SpectralPenalty
from .concave import MCP, SCAD, CappedNorm, ConcavePenalty, LogPenalty, RankPenalty, SchattenNorm
from .linear import (
    PENALTIES,
    PENALTY_TEXTS,
    ExplicitWeights,
    NuclearNorm,
    Penalty,
    RampWeights,
    TruncatedNuclearNorm,
    WeightedNuclearNorm,
    is_spectral,
    penalty_name,
)

__all__ = [
    "MCP",
    "PENALTIES",
    "PENALTY_TEXTS",
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
    "is_spectral",
    "penalty_name",
]
