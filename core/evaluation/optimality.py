"""Whether a result is a minimum: its loss recomputed in the printed form, and its relative gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..penalties import ConcavePenalty
from ..problem import printed_form as residuals
from ..problem.factors import Factors
from ..problem.low_rank import LowRankProblem
from ..problem.nonrigid import NonRigidProblem
from ..reconstruction.provenance import settings_from_dict

if TYPE_CHECKING:
    from ..problem.nonrigid import Problem
    from ..reconstruction.result import Result


def optimality(result: Result) -> dict[str, Any]:
    """Return the stored loss, the one recomputed in the paper's four-row form, and the relative gradient."""
    problem, factors = _solved(result)
    again = residuals.loss(problem, factors)
    robust = result.robust_loss
    if robust is not None:  # the weighted problem has the same gradient
        squares = residuals.squares(problem, factors)
        again += robust.value(squares) - float(squares.sum())
        problem = problem.with_observation_weights(robust.weights(squares))
    settings = result.meta.get("settings")
    penalty = settings_from_dict(settings).penalty if settings else None
    if isinstance(penalty, ConcavePenalty):  # the weights are its slopes, and the gradient is the same
        gamma = np.sort(factors.gamma())[::-1]
        again += penalty.value(gamma) - float(result.wnn_weights @ gamma)
    return {
        "loss": result.loss,
        "log10_loss": result.log_loss,
        "loss_recomputed": again,
        "loss_difference": abs(again - result.loss) / result.loss if result.loss else abs(again),
        "relative_gradient": residuals.relative_gradient(problem, factors),
    }


def _solved(result: Result) -> tuple[Problem, Factors]:
    """Return the problem that a result solves, with its weights, and the point."""
    if result.cameras is not None and result.homogeneous is not None and result.norm is not None:
        pixels = np.where(result.visible[:, None], result.observations(), 0.0)
        weights = result.weights
        low_rank = LowRankProblem(pixels / result.norm, result.visible, result.eta, weights)
        C = np.ascontiguousarray(result.cameras.transpose(2, 1, 0))
        return low_rank, Factors(result.homogeneous.T, C, np.zeros((result.point_count, 3)))
    B, C, R, t = result.bilinear
    problem = NonRigidProblem(result.tracks, result.visible, R, result.eta, result.wnn_weights)
    s = np.einsum("fab,fa->fb", R, t)
    return problem, Factors(B, np.ascontiguousarray(C.T).reshape(result.rank, 3, -1), s)
