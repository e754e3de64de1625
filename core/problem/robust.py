r"""Robust losses of the data term, and the weights that make each a sequence of least squares.

Let q_fj = e' H_fj e, e = S_fj + s_f - y_fj, be the squared pOSE residual of an observation: the sum of the
squares of the four residuals of `nonrigid`, in calibrated units.  A robust loss charges g(q) in place of q,
with a scale d up to which residuals r = sqrt(q) count (nearly) as in least squares:

    huber     g = q  for r <= d,  2 d r - d^2  above        g' = min(1, d / r)
    cauchy    g = d^2 log(1 + q / d^2)                      g' = 1 / (1 + q / d^2)

Both have g(0) = 0, g'(0) = 1 and tend to g = q as d grows.  g is concave in q, so that for weights w = g'(p)

    g(q) <= g(p) + w (q - p)        for all q >= 0, with equality at q = p:

the weighted problem sum w_fj q_fj bounds the robust one from above, up to a constant, and touches it where
the weights were computed.  A step that lowers the weighted problem lowers the robust objective by at least as
much, and both have the same gradient there.  The weights multiply H_fj: the elimination of C, the reduced
Hessian and the gauge are those of least squares.  `core.solvers.reweighted` iterates.

In pixels: a residual of r calibrated units is f r, f the focal length in pixels.  At depth 1, the mean depth
of a solution, r is the distance of an observation and its reprojection; elsewhere it includes the bias
sqrt(eta) |m| |depth - 1| of the affine term, so that the scale must not be below what the fit leaves at
observations that are right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.types import Floats

LOSSES = {
    "squared": "least squares",
    "huber": "linear in the residual beyond the scale",
    "cauchy": "logarithmic beyond the scale: far outliers count almost nothing",
}


@dataclass(frozen=True)
class RobustLoss:
    """A loss g(q) of squared residuals q, concave in q.

    Raises InputError where the kind is neither, or the scale is not a positive number.
    """

    kind: str  # "huber" or "cauchy"
    scale: float  # d, in the units of the residuals, above 0

    def __post_init__(self) -> None:
        if self.kind not in LOSSES or self.kind == "squared":
            raise InputError(f"loss is {self.kind!r}; accepted are huber and cauchy")
        if not 0 < self.scale < np.inf:
            raise InputError(f"the scale of the loss is {self.scale:g}; accepted is a number above 0")

    def value(self, squares: Floats) -> float:
        """Return the sum of g over squared residuals of any shape."""
        relative = squares / self.scale**2
        if self.kind == "cauchy":
            return float(self.scale**2 * np.log1p(relative).sum())
        root = np.sqrt(np.maximum(relative, 1.0))
        return float(self.scale**2 * np.where(relative <= 1.0, relative, 2.0 * root - 1.0).sum())

    def weights(self, squares: Floats) -> Floats:
        """Return g' at squared residuals, of the same shape, in 0 to 1."""
        relative = squares / self.scale**2
        if self.kind == "cauchy":
            return np.asarray(1.0 / (1.0 + relative))
        return np.asarray(1.0 / np.sqrt(np.maximum(relative, 1.0)))
