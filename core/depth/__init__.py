"""Depth refinement: the depths along the observed rays, and the rotations, as the unknowns."""

from .alternatives import Alternative, OwnEnd, Pausing, find_alternatives, find_mirrored, relax
from .edges import frame_sizes, has_parts, inflation, neighbor_edges, rigid_edges
from .energy import DepthLevel, LevelEnergy, check_mode_weights
from .focal_profile import FocalProfile, profile_focal
from .following import (
    LENGTHS,
    DepthEnd,
    DepthStep,
    Followed,
    follow_depths,
    follow_part,
    followed_part,
    followed_points,
)
from .lbfgs import LBFGS
from .noise import estimate_noise
from .problem import DepthPoint, DepthProblem
from .reflections import (
    FrameBlock,
    candidate_blocks,
    frame_suspicions,
    mirror_in_depth,
    point_distance,
    reflect_block,
    suspicions,
)
from .reposing import rotation_jumps
from .schedule import FINE, FINEST_EPS, DepthOptions
from .search import planned_work, refine_depths, refine_part
from .subset import DepthSubset, anchored_subset, carried_along, point_subset
from .uncertainty import carried_deviations, standard_deviations
