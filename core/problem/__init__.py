"""The two pOSE problems: their data term, factors, closed form and starting points."""

from .closed_form import closed_form_structure, reference_singular_values, svd_start, whole_start
from .factors import Factors
from .initialization import AGREEMENT
from .low_rank import LowRankProblem
from .nonrigid import NonRigidProblem, Problem

__all__ = [
    "AGREEMENT",
    "Factors",
    "LowRankProblem",
    "NonRigidProblem",
    "Problem",
    "closed_form_structure",
    "reference_singular_values",
    "svd_start",
    "whole_start",
]
