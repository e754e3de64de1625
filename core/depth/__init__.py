"""Depth refinement: the depths along the observed rays, and the rotations, as the unknowns."""

from .energy import DepthLevel, LevelEnergy, neighbor_edges
from .lbfgs import LBFGS
from .problem import DepthPoint, DepthProblem

__all__ = ["LBFGS", "DepthLevel", "DepthPoint", "DepthProblem", "LevelEnergy", "neighbor_edges"]
