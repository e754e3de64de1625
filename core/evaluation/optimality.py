"""Whether a result is a minimum: its loss recomputed in the printed form, and its relative gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..penalties import ConcavePenalty
from ..problem import printed_form as residuals
from ..reconstruction.provenance import settings_from_dict
from ..reconstruction.restart import problem_of
from ..reconstruction.result import Result


def optimality(result: Result) -> dict[str, Any]:
    """Return the stored loss, the one recomputed in the paper's four-row form, and the relative gradient."""
    problem, factors = problem_of(result, result.observations())
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
