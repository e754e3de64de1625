"""The two pOSE problems: their data term, factors, closed form and starting points."""

from .closed_form import closed_form_structure, reference_singular_values
from .factors import Factors
from .initialization import AGREEMENT, full_rank_start
from .low_rank import LowRankProblem
from .nonrigid import NonRigidProblem, Problem

__all__ = [
    "AGREEMENT",
    "Factors",
    "LowRankProblem",
    "NonRigidProblem",
    "Problem",
    "closed_form_structure",
    "full_rank_start",
    "reference_singular_values",
]
