"""Depth refinement: the depths along the observed rays, and the rotations, as the unknowns."""

from .energy import DepthLevel, LevelEnergy, neighbor_edges
from .lbfgs import LBFGS
from .problem import DepthPoint, DepthProblem
from .search import DepthEnd, DepthOptions, DepthStep, refine_depths

__all__ = [
    "LBFGS",
    "DepthEnd",
    "DepthLevel",
    "DepthOptions",
    "DepthPoint",
    "DepthProblem",
    "DepthStep",
    "LevelEnergy",
    "neighbor_edges",
    "refine_depths",
]
