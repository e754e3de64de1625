r"""A batch of points of one problem, and Gauss-Newton steps for all of them at once.

The same variable projection as in `variable_projection`, C eliminated and the gauge fixed after every step:
on the small problems that starts are compared on, one product with the planes of H for all points costs
little more than for one.  Each point has its own damping and its own conjugate gradients; a rejected trial
raises the damping and costs its point one step.  Offsets are unknowns: the problem is the non-rigid one.

Arrays have the index of the point second to last, before frames (F) or columns (P), so that products and
small systems run over both.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..foundation.batched_linalg import invert_batched, matmul_batched, solve_batched
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats, Ints
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from ..problem.observation_forms import COLUMN, PLANE, ROW, pairs

DAMPING, LEAST_DAMPING = 1e-3, 1e-12
MOST_PRODUCTS = 4  # of conjugate gradients in one step
JITTER = 1e-12  # relative size of the term that keeps Gram matrices of zero columns factorable


@dataclass(frozen=True, eq=False)
class Batch(OneLine):
    """R points of one problem, C eliminated, with the quantities of the next step."""

    starts: Ints  # (R,) which start each point comes from
    B: Floats  # (R, F, K)
    C: Floats  # (K, 3, R, P)
    s: Floats  # (R, F, 3)
    inverse: Floats  # (3K, 3K, R, P) of the points' normal equations
    loss: Floats  # (R,)
    damping: Floats  # (R,)
    blocks: Floats  # (K+3, K+3, R, F) half of the Hessian in (B_f, s_f) at fixed C
    gradient: Floats  # (K+3, R, F) half of it
    previous: Floats  # (R,) predicted decrease of the state before; infinite at first

    def at(self, r: int) -> Factors:
        """Return one of the points."""
        return Factors(self.B[r], np.ascontiguousarray(self.C[:, :, r]), self.s[r])

    def only(self, which: Ints) -> Batch:
        """Return some of the points."""
        return Batch(*(getattr(self, name)[(slice(None),) * axis + (which,)] for name, axis in AXES.items()))


# Where each array has the index of the point.
AXES = {"starts": 0, "B": 0, "C": 2, "s": 0, "inverse": 2, "loss": 0, "damping": 0, "blocks": 2} | {
    "gradient": 1,
    "previous": 0,
}


def make_batch(problem: Problem, starts: Collection[Factors]) -> Batch:
    """Return a batch of points of equal rank, C eliminated; only their B and s matter."""
    B = np.stack([point.B for point in starts])
    s = np.stack([point.s for point in starts])
    # Balanced first: the size of the damping is relative to balanced columns.
    C, _, _ = _eliminate_C(problem, B, s)
    B, _, s = _fix_gauge(B, C, s)
    count = len(B)
    return _evaluate(problem, np.arange(count), B, s, np.full(count, DAMPING), np.full(count, np.inf))


def _sums(problem: Problem) -> tuple[Floats, Floats]:
    """Return the planes of H as (F, 6P), and H y as (F, 3P)."""
    data = problem.data
    forms = data.all_forms()
    return forms.H.reshape(data.frames, -1), forms.Hy.reshape(data.frames, -1)


def _eliminate_C(problem: Problem, B: Floats, s: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the best C (K, 3, R, P), the inverse of its systems (3K, 3K, R, P), and the loss (R,)."""
    data, weights = problem.data, problem.weights
    count, frames, rank = B.shape
    points = data.points
    upper, lower, table = pairs(rank)
    pairs_count = len(upper)
    columns = np.ascontiguousarray(B.transpose(2, 0, 1))  # (K, R, F)
    coefficients = np.empty((pairs_count + 3 * rank, count, frames))
    np.multiply(columns[upper], columns[lower], out=coefficients[:pairs_count])
    coefficients[pairs_count:] = (columns[:, None] * s.transpose(2, 0, 1)).reshape(-1, count, frames)
    H, Hy = _sums(problem)
    sums = (coefficients.reshape(-1, frames) @ H).reshape(-1, count, 6, points)
    moved = sums[pairs_count:].reshape(rank, 3, count, 6, points)
    right = (columns.reshape(-1, frames) @ Hy).reshape(rank, count, 3, points).transpose(0, 2, 1, 3).copy()
    blocks = np.empty((rank, 3, rank, 3, count, points))
    for a in range(3):
        for b in range(3):
            right[:, a] -= moved[:, b, :, PLANE[a, b]]
            blocks[:, a, :, b] = sums[:pairs_count, :, PLANE[a, b]][table]
    flat = right.reshape(3 * rank, -1)
    systems = blocks.reshape(3 * rank, 3 * rank, -1)
    diagonal = np.arange(3 * rank)
    systems[diagonal, diagonal] += np.repeat(0.5 * weights, 3)[:, None]
    inverse, C = solve_batched(systems, flat)
    rhs_C = np.einsum("irp,irp->r", right.reshape(-1, count, points), C.reshape(-1, count, points))
    moving = np.einsum("rfa,abf,rfb->r", s, data.H_sum, s) - 2 * np.einsum("rfa,af->r", s, data.Hy_sum)
    size = 0.5 * np.einsum("k,rfk,rfk->r", weights, B, B)
    loss = data.yHy + moving - rhs_C + size
    return C.reshape(rank, 3, count, points), inverse.reshape(3 * rank, 3 * rank, count, points), loss


def _fix_gauge(B: Floats, C: Floats, s: Floats) -> tuple[Floats, Floats, Floats]:
    """Center and balance every point, as `factors.center` and `factors.balance` do for one."""
    count, _, rank = B.shape
    mean = C.mean(axis=3)  # (K, 3, R)
    s = s + np.einsum("rfk,kar->rfa", B, mean)
    flat = (C - mean[..., None]).transpose(2, 0, 1, 3).reshape(count, rank, -1)
    left, right = _root(B.transpose(0, 2, 1) @ B), _root(flat @ flat.transpose(0, 2, 1))
    U, sigma, Vt = np.linalg.svd(left @ right.transpose(0, 2, 1))
    scale = np.sqrt(np.maximum(sigma, JITTER * sigma[:, :1]))
    B = B @ ((right.transpose(0, 2, 1) @ Vt.transpose(0, 2, 1)) / scale[:, None])
    flat = ((U.transpose(0, 2, 1) @ left) / scale[:, :, None]) @ flat
    return B, flat.reshape(count, rank, 3, -1).transpose(1, 2, 0, 3), s


def _root(gram: Floats) -> Floats:
    """Return R with R'R = gram, for (R, K, K), made positive definite where it is not."""
    unit = np.eye(gram.shape[1])
    finite: Bools = np.asarray(np.isfinite(gram).all(axis=(1, 2)))
    gram = np.where(finite[:, None, None], gram, unit)
    size = np.maximum(np.trace(gram, axis1=1, axis2=2), np.finfo(float).tiny)
    lower = np.linalg.cholesky(gram + (JITTER * size)[:, None, None] * unit)
    root: Floats = lower.transpose(0, 2, 1)
    return root


def _evaluate(
    problem: Problem, starts: Ints, B: Floats, s: Floats, damping: Floats, previous: Floats
) -> Batch:
    """Eliminate C and compute the quantities of the next step."""
    C, inverse, loss = _eliminate_C(problem, B, s)
    blocks, gradient = _frame_systems(problem, B, C, s)
    return Batch(starts, B, C, s, inverse, loss, damping, blocks, gradient, previous)


def _frame_systems(problem: Problem, B: Floats, C: Floats, s: Floats) -> tuple[Floats, Floats]:
    """Return the frames' blocks (K+3, K+3, R, F) and half of the gradient (K+3, R, F) at fixed C."""
    data = problem.data
    count, frames, rank = B.shape
    upper, lower, table = pairs(rank)
    pairs_count, points = len(upper), data.points
    right = np.zeros((pairs_count + 3 * rank, count, 6, points))
    for plane, (a, b) in enumerate(zip(ROW, COLUMN, strict=True)):
        right[:pairs_count, :, plane] = C[upper, a] * C[lower, b]
        if a != b:
            right[:pairs_count, :, plane] += C[upper, b] * C[lower, a]
    linear = right[pairs_count:].reshape(rank, 3, count, 6, points)
    for a in range(3):
        for b in range(3):
            linear[:, a, :, PLANE[a, b]] = C[:, b]
    H, Hy = _sums(problem)
    sums = (right.reshape(-1, 6 * points) @ H.T).reshape(-1, count, frames)
    blocks = np.empty((rank + 3, rank + 3, count, frames))
    blocks[:rank, :rank] = sums[:pairs_count][table]
    blocks[:rank, rank:] = sums[pairs_count:].reshape(rank, 3, count, frames)
    blocks[rank:, :rank] = blocks[:rank, rank:].swapaxes(0, 1)
    blocks[rank:, rank:] = (data.H_sum if data.pin is None else data.H_sum + data.pin)[:, :, None]
    diagonal = np.arange(rank)
    blocks[diagonal, diagonal] += 0.5 * problem.weights[:, None, None]
    u = np.concatenate((B, s), axis=2).transpose(2, 0, 1)
    gradient = np.einsum("ijrf,jrf->irf", blocks, u)
    gradient[:rank] -= (C.swapaxes(1, 2).reshape(rank * count, -1) @ Hy.T).reshape(rank, count, frames)
    gradient[rank:] -= data.Hy_sum[:, None]
    return blocks, gradient


def step_batch(problem: Problem, batch: Batch) -> Batch:
    """Take one damped Gauss-Newton step with every point; where its loss would rise, raise the damping."""
    rank = batch.B.shape[2]
    step, pulled, predicted = _solve(problem, batch)
    B = batch.B + step[:rank].transpose(1, 2, 0)
    s = batch.s + step[rank:].transpose(1, 2, 0)
    B, _, s = _fix_gauge(B, batch.C - pulled.reshape(batch.C.shape), s)
    fell = _evaluate(problem, batch.starts, B, s, np.maximum(batch.damping / 10, LEAST_DAMPING), predicted)
    better = fell.loss < batch.loss
    if better.all():
        return fell
    slope = -np.einsum("irf,irf->r", batch.gradient, step)
    squared = np.einsum("irf,irf->r", step, step)
    raised = np.maximum(2.0 * batch.damping, 0.3 * slope / np.maximum(squared, 1e-300))
    stayed = replace(batch, damping=raised)
    return _select(better, fell, stayed)


def _select(better: Bools, new: Batch, old: Batch) -> Batch:
    """Return the points of `new` where they are better, those of `old` elsewhere."""

    def pick(name: str, axis: int) -> Any:
        a, b = getattr(new, name), getattr(old, name)
        shape = [1] * a.ndim
        shape[axis] = len(better)
        return np.where(better.reshape(shape), a, b)

    return Batch(*(pick(name, axis) for name, axis in AXES.items()))


def _solve(problem: Problem, batch: Batch) -> tuple[Floats, Floats, Floats]:
    """Return the steps (K+3, R, F), M^-1 W' of them (3K, R, P), and the predicted gains (R,).

    C moves by minus the second. Conjugate gradients of all points run side by side, until a point is done or
    has met negative curvature: most take one product, and the further ones are of those that are left.
    """
    size, _, count, frames = batch.blocks.shape
    damped = batch.blocks.reshape(size, size, -1).copy()
    diagonal = np.arange(size)
    damped[diagonal, diagonal] += np.repeat(batch.damping, frames)
    preconditioner = invert_batched(damped).reshape(size, size, count, frames)

    def scaled(residual: Floats, preconditioner: Floats) -> tuple[Floats, Floats]:
        image = np.einsum("ijrf,jrf->irf", preconditioner, residual)
        return image, np.einsum("irf,irf->r", residual, image)

    residual = -batch.gradient
    direction, gain = scaled(residual, preconditioner)
    predicted = gain
    forcing = np.clip(0.9 * gain / np.minimum(batch.previous, 0.9 / 0.3 * gain), 0.01, 0.3)
    enough = forcing**2 * gain
    step = np.zeros_like(residual)
    pulled = np.zeros_like(batch.inverse[0])
    left = np.arange(count)  # the points that continue; the arrays below are of these
    for _ in range(MOST_PRODUCTS):
        image, shapes = _multiply_hessian(problem, batch, direction)
        curvature = np.einsum("irf,irf->r", direction, image)
        convex = curvature > 0
        length = np.where(convex, gain, 0.0) / np.where(convex, curvature, 1.0)
        step[:, left] += length[:, None] * direction
        pulled[:, left] += length[:, None] * shapes
        residual = residual - length[:, None] * image
        image, new = scaled(residual, preconditioner)
        going = np.flatnonzero(convex & (new > enough))
        if not len(going):
            break
        direction = image + (new / np.where(gain > 0, gain, 1.0))[:, None] * direction
        gain = new
        if len(going) < len(left):
            left, gain, enough, batch = left[going], gain[going], enough[going], batch.only(going)
            direction, residual = direction[:, going], residual[:, going]
            preconditioner = preconditioner[:, :, going]
    return step, pulled, predicted


def _multiply_hessian(problem: Problem, batch: Batch, x: Floats) -> tuple[Floats, Floats]:
    """Return (A + lambda I) x (K+3, R, F) and M^-1 W' x (3K, R, P), for x (K+3, R, F)."""
    size, count, frames = x.shape
    B, C = batch.B.transpose(2, 0, 1), batch.C
    rank, points = len(C), C.shape[3]
    H, _ = _sums(problem)
    sums = ((B[:, None] * x).reshape(-1, frames) @ H).reshape(rank, size, count, 6, points)
    to_points = np.zeros((rank, 3, count, points))
    for a in range(3):
        for b in range(3):
            plane = PLANE[a, b]
            to_points[:, a] += np.einsum("klrp,lrp->krp", sums[:, :rank, :, plane], C[:, b])
            to_points[:, a] += sums[:, rank + b, :, plane]
    inverse = batch.inverse.reshape(3 * rank, 3 * rank, -1)
    z = matmul_batched(inverse, to_points.reshape(3 * rank, -1)).reshape(rank, 3, count, points)
    right = np.zeros((rank, size, count, 6, points))
    for plane, (a, b) in enumerate(zip(ROW, COLUMN, strict=True)):
        right[:, :rank, :, plane] = z[:, None, a] * C[:, b]
        if a != b:
            right[:, :rank, :, plane] += z[:, None, b] * C[:, a]
    for a in range(3):
        for b in range(3):
            right[:, rank + b, :, PLANE[a, b]] = z[:, a]
    back = (right.reshape(-1, 6 * points) @ H.T).reshape(rank, size, count, frames)
    image = np.einsum("ijrf,jrf->irf", batch.blocks, x)
    image += batch.damping[:, None] * x
    image -= np.einsum("krf,kqrf->qrf", B, back)
    return image, z.reshape(3 * rank, count, points)
