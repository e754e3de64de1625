r"""Proximal operators of penalties on singular values: argmin over z >= 0 of f(z) + rho / 2 |z - s|^2.

The data term of the project has no 1/2, the proximal term here has: a method that splits X = Z with the
augmented Lagrangian's rho / 2 |X - Z|^2 uses these as they are.  For a matrix, the operator is applied to its
singular values: f is symmetric, and by von Neumann's trace inequality the minimizer shares the singular
vectors (s is descending, and z comes out descending).

Linear, f(z) = a'z, a non-decreasing.  Entry by entry the minimizer is max(s - a / rho, 0).  It is descending
because s and -a are, so that it also is the minimizer over descending z, where a'z is the penalty.

Separable, f(z) = sum_i g(z_i), g concave, non-decreasing, g(0) = 0.  With h(z) = g(z) + rho / 2 (z - s)^2,

    gain(z) = h(0) - h(z) = rho z (s - z / 2) - g(z)

is compared at 0 and at every local minimum of h; the largest gain gives the minimizer.  The minimizer of each
entry is non-decreasing in s (the argmin of a function with increasing differences), so that the order is
kept.

* Power, g = mu ((z + e)^p - e^p), 0 < p < 1, with u = z + e:  h' = mu p u^(p-1) + rho (u - s - e) is convex
  in u, with its minimum at u0 = (mu p (1 - p) / rho)^(1 / (2 - p)).  So h' has at most two zeros, of which
  the larger is the one local minimum inside.  Newton's method on h' from u = s + e, where h' > 0, falls to it
  monotonically, because h' is convex and rises there; where there is none h rises and 0 is the minimizer.
* Logarithm, g = mu log(1 + z / e):  h' = mu / u + rho (u - s - e) is zero where rho u^2 - rho (s + e) u + mu
  is; the larger root is the local minimum.
* Pieces, g' linear on intervals and 0 from the last one on (capped, MCP, SCAD):  on [l, r] with g' from p
  to q, h'' = k = rho + (q - p) / (r - l).  Where k > 0, the minimum over the interval is at
  l + (rho (s - l) - p) / k, clipped to it; elsewhere h is concave there, and an end is.  From the last end
  on it is at max(s, r).  Where rho is so small that k < 0 on all of them, a hard threshold is left.
* Count, g = mu [z > 0]:  s is kept where rho / 2 s^2 > mu.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.types import Floats

MOST_NEWTON_STEPS = 100  # more than a double root needs, which is never the minimizer
CONVERGED = 4 * np.finfo(float).eps


@dataclass(frozen=True)
class Piece:
    """The derivative of a penalty between two singular values, linear from one slope to the other."""

    left: float
    right: float
    first: float  # slope at `left`
    last: float  # slope at `right`

    def value(self, z: Floats) -> Floats:
        """Return the integral of the slope from `left` to z, or to `right` where z is beyond."""
        run = np.clip(z - self.left, 0.0, self.right - self.left)
        bend = (self.last - self.first) / (self.right - self.left)
        total: Floats = run * (self.first + 0.5 * bend * run)
        return total

    def slope(self, z: Floats) -> Floats:
        """Return the slope for left <= z < right, and 0 elsewhere."""
        share = (z - self.left) / (self.right - self.left)
        return np.where((share >= 0) & (share < 1), self.first + (self.last - self.first) * share, 0.0)

    def nearest(self, s: Floats, rho: float) -> Floats:
        """Return the stationary point of h clipped to the piece, or its left end where h is concave."""
        curvature = rho + (self.last - self.first) / (self.right - self.left)
        if not curvature > 0:
            return np.full_like(s, self.left)
        return np.clip(self.left + (rho * (s - self.left) - self.first) / curvature, self.left, self.right)


def soft_threshold(s: Floats, weights: Floats, rho: float) -> Floats:
    """Return the operator of weights'z: max(s - weights / rho, 0)."""
    return np.maximum(s - weights / rho, 0.0)


def hard_threshold(s: Floats, cost: float, rho: float) -> Floats:
    """Return the operator of cost [z > 0]: a hard threshold at sqrt(2 cost / rho)."""
    return np.where(0.5 * rho * s * s > cost, s, 0.0)


def power_value(z: Floats, mu: float, p: float, epsilon: float) -> Floats:
    """Return mu ((z + epsilon)^p - epsilon^p), accurate for small z."""
    value: Floats = mu * epsilon**p * np.expm1(p * np.log1p(z / epsilon))
    return value


def prox_power(s: Floats, rho: float, *, mu: float, p: float, epsilon: float) -> Floats:
    """Return the operator of `power_value`."""
    end = s + epsilon
    lowest = max((mu * p * (1 - p) / rho) ** (1 / (2 - p)), epsilon)  # h' falls before it
    u = np.maximum(end, lowest)
    for _ in range(MOST_NEWTON_STEPS):
        slope = mu * p * u ** (p - 1) + rho * (u - end)
        curvature = rho - mu * p * (1 - p) * u ** (p - 2)
        moved = u - np.divide(slope, curvature, out=np.zeros_like(u), where=curvature > 0)
        moved = np.clip(moved, lowest, u)
        if (u - moved <= CONVERGED * u).all():
            break
        u = moved
    inside = np.clip(u - epsilon, 0.0, s)
    return best_of([inside], s, rho, power_value(inside, mu, p, epsilon)[None])


def prox_log(s: Floats, rho: float, *, mu: float, epsilon: float) -> Floats:
    """Return the operator of mu log(1 + z / epsilon)."""
    half = 0.5 * (s + epsilon)
    # u - e for the larger root u, written so that nothing cancels where mu / rho is small.
    root = np.sqrt(np.maximum(half * half - mu / rho, 0.0))
    inside = np.clip(s - (mu / rho) / (half + root), 0.0, s)
    return best_of([inside], s, rho, (mu * np.log1p(inside / epsilon))[None])


def pieces_value(z: Floats, pieces: tuple[Piece, ...]) -> Floats:
    """Return the penalty whose derivative consists of pieces that begin at 0 and join."""
    total: Floats = np.sum([piece.value(z) for piece in pieces], axis=0)
    return total


def prox_pieces(s: Floats, rho: float, pieces: tuple[Piece, ...]) -> Floats:
    """Return the operator of `pieces_value`."""
    candidates = [piece.nearest(s, rho) for piece in pieces]
    candidates.append(np.maximum(s, pieces[-1].right))
    values = np.stack([pieces_value(z, pieces) for z in candidates])
    return best_of(candidates, s, rho, values)


def best_of(candidates: list[Floats], s: Floats, rho: float, values: Floats) -> Floats:
    """Return in each entry the candidate of largest gain over 0, or 0; `values` are g of the candidates."""
    points = np.stack(candidates)
    gains = rho * points * (s - 0.5 * points) - values
    index = gains.argmax(axis=0)[None]
    best = np.take_along_axis(points, index, axis=0)[0]
    return np.where(np.take_along_axis(gains, index, axis=0)[0] > 0, best, 0.0)
