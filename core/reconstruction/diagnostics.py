"""Detection of degenerate reconstructions, and the remarks on them.

A penalty that is stronger than the data removes a basis shape: at the minimum its singular value is zero, in
floating point 1e-16 of the largest or less, where shapes in use have 1e-6 or more.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..foundation.types import Floats
    from ..penalties import Penalty
    from ..problem.factors import Factors
    from ..problem.nonrigid import Problem

NEGLIGIBLE = 1e-9  # relative size of a singular value that counts as zero


def remarks(problem: Problem, factors: Factors, penalty: Penalty) -> list[str]:
    """Return a sentence for each degeneracy of a reconstruction."""
    sigma = singular_values(factors)
    if not np.isfinite(sigma).all():
        return ["the reconstruction holds numbers that are not finite"]
    lower = _lower(penalty)
    if _is_zero(problem, sigma):
        return [f"the penalty is stronger than the data: everything was shrunk to zero; {lower}"]
    alive = int(np.count_nonzero(sigma > NEGLIGIBLE * sigma[0]))
    if alive < problem.rank:
        used = "is used" if alive == 1 else "are used"
        what = "basis shapes" if problem.offsets else "singular values"  # those of the low-rank problem's X
        return [f"only {alive} of {problem.rank} {what} {used} at this penalty; lower the rank, or {lower}"]
    return []


def is_collapsed(problem: Problem, factors: Factors) -> bool:
    """Whether everything was shrunk to zero, so that no run can continue from it."""
    return _is_zero(problem, singular_values(factors))


def _is_zero(problem: Problem, sigma: Floats) -> bool:
    return bool(sigma[0] <= NEGLIGIBLE * reference_size(problem))


def singular_values(factors: Factors) -> Floats:
    """Return the K singular values of BC', descending, whatever the gauge of the factors."""
    if not (np.isfinite(factors.B).all() and np.isfinite(factors.C).all()):
        return np.full(factors.rank, np.nan)
    _, R_B = np.linalg.qr(factors.B)
    _, R_C = np.linalg.qr(factors.C.reshape(factors.rank, -1).T)
    sigma = np.asarray(np.linalg.svd(R_B @ R_C.T, compute_uv=False))
    return np.pad(sigma, (0, factors.rank - len(sigma)))


def reference_size(problem: Problem) -> float:
    """Return the Frobenius norm of the closed form X0: its shapes are the viewing rays, at depth 1."""
    squared = float(np.vdot(problem.tracks, problem.tracks))  # hidden tracks are 0
    return float(np.sqrt(squared + (0 if problem.affine else problem.visible.sum())))


def _lower(penalty: Penalty) -> str:
    name = fields(penalty)[0].name  # type: ignore[arg-type]  # every penalty is a dataclass, its strength first
    return "lower the weights" if name == "a" else f"lower {name}"
