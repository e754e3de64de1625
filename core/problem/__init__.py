"""The two pOSE problems: their data term, factors, closed form and starting points."""

from .closed_form import closed_form_structure, reference_singular_values
from .factors import Factors, balance
from .initialization import (
    AGREEMENT,
    closed_form_start,
    full_rank_start,
    pad_rank,
    random_start,
    random_starts,
    rigid_start,
    with_rank,
)
from .low_rank import LowRankProblem
from .nonrigid import NonRigidProblem, Problem
from .robust import LOSSES, RobustLoss
