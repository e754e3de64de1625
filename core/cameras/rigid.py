r"""Rotations under which a rigid shape explains perspective tracks best.

Minimizes the pOSE error of one rigid shape S, seen under a rotation, a translation and a size of each frame's
own, Y = b_f R_f S + t_f, over all of them.  Near-planar objects need this: with an affine camera the pose
of a plane and its mirror image have the same tracks, frame by frame, and a factorization mixes both; with
perspective they differ.

With s = (S_j, 1) and Q_f = [b_f R_f, t_f] the error of a frame is a quadratic in the 12 entries of Q_f,

    tr sum_a G_a Q M_a Q' - 2 <eta N, Q_12> + const,    M_a = sum_j v_a s s',    N = sum_j m s',

because G = sum_a v_a G_a is linear in v = (1, m_x, m_y, |m|^2) (see `nonrigid`).  Once the moments M_a are
formed, four matrix products, the cost of a step on all poses does not depend on the number of points, and a
second start for every frame, the mirrored pose, is cheap.  Poses and shape alternate.  Once no frame takes
its mirrored pose, these are tried in every fifth round only.

The end must not depend on the last bits of the start: a step at the minimum is not refused because of
rounding, the mirrored pose has to be better by more than that, and no step turns a frame by more than
`LARGEST_TURN`, because steps far beyond where the error is nearly quadratic are chaotic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..foundation.linalg import cross_matrix, rotation_from_vector
from ..foundation.types import Bools, Floats

ETA = 0.05
ROUNDS = 30
SETTLED = 1e-3  # relative decrease of the error at which the alternation ends
POSE_STEPS, MIRROR_STEPS = 4, 12
SELDOM = 5  # rounds after which mirrored poses are tried again, where no frame took its own the last time
DAMPING = 1e-2
LARGEST_TURN = 0.5  # of a step, radians; the logarithm of the size counts as a fourth angle
ROUNDING = 1e-13  # of the largest term that an error is the sum of
SAME = 1e-6  # relative difference of two errors below which their poses may be one
RIDGE = 1e-9  # of a point's shape, relative: for points that are rarely seen


@dataclass(frozen=True, eq=False)
class Rigid:
    """A rigid explanation of perspective tracks."""

    R: Floats  # (F, 3, 3)
    t: Floats  # (F, 3)
    size: Floats  # (F,)
    S: Floats  # (3, P)
    loss: float  # pOSE error


def refine_rigid(tracks: Floats, visible: Bools, R: Floats) -> Rigid:
    """Alternate between shape and poses for calibrated perspective tracks, from rotations (F, 3, 3)."""
    data = _Data.of(tracks, visible)
    frames = len(R)
    mean = data.m.sum(axis=2) / visible.sum(axis=1)[:, None]
    pose = np.concatenate((R, np.ones((frames, 3, 1))), axis=2)  # Q_f, with t on the mean ray at depth 1
    pose[:, :2, 3] = mean
    loss, turned = np.inf, True
    for number in range(ROUNDS):
        S = data.shape(pose)
        moments = data.moments(S)
        pose, errors = moments.refine(pose, POSE_STEPS)
        if turned or number % SELDOM == 0:
            mirrored, others = moments.refine(_mirror(pose, S), MIRROR_STEPS)
            better = others < (1 - SAME) * errors
            pose, turned = np.where(better[:, None, None], mirrored, pose), bool(better.any())
            errors = np.minimum(errors, others)
        before, loss = loss, float(errors.sum())
        if before - loss <= SETTLED * loss:
            break
    size = np.cbrt(np.linalg.det(pose[:, :, :3]))
    return Rigid(pose[:, :, :3] / size[:, None, None], pose[:, :, 3], size, S, loss)


def _mirror(pose: Floats, S: Floats) -> Floats:
    """Return the poses that show the mean plane of S mirrored in depth, and its mean at the same place.

    D R (I - 2 n n') with D = diag(1, 1, -1) and n the normal: its first two rows act on the plane as R's do.
    """
    mean = S.mean(axis=1)
    _, axes = np.linalg.eigh((S - mean[:, None]) @ (S - mean[:, None]).T)
    normal = axes[:, 0]
    turned = pose.copy()
    turned[:, :, :3] -= 2.0 * (pose[:, :, :3] @ normal)[:, :, None] * normal
    turned[:, 2, :3] *= -1.0
    turned[:, :, 3] += (pose[:, :, :3] - turned[:, :, :3]) @ mean
    return turned


@dataclass(frozen=True, eq=False)
class _Data:
    m: Floats  # (F, 2, P), 0 where hidden
    v: Floats  # (4, F, P): 1, m_x, m_y, |m|^2, 0 where hidden

    @classmethod
    def of(cls, tracks: Floats, visible: Bools) -> _Data:
        m = np.where(visible[:, None, :], tracks, 0.0)
        return cls(m, np.stack((visible.astype(float), m[:, 0], m[:, 1], (m**2).sum(axis=1))))

    def shape(self, pose: Floats) -> Floats:
        """Return the best S (3, P) for given poses: one system of three unknowns per point."""
        A, t = pose[:, :, :3], pose[:, :, 3]
        GA = np.einsum("aij,fjk->afik", PARTS, A)
        AGA = np.einsum("fij,afik->afjk", A, GA)
        AGt = np.einsum("afik,fi->afk", GA, t)
        normal = np.einsum("afp,afjk->pjk", self.v, AGA, optimize=True)
        right = ETA * np.einsum("fip,fij->pj", self.m, A[:, :2], optimize=True)
        right -= np.einsum("afp,afk->pk", self.v, AGt, optimize=True)
        trace = np.trace(normal, axis1=1, axis2=2)
        normal += (RIDGE * trace.mean() + RIDGE * trace)[:, None, None] * np.eye(3)
        S: Floats = np.linalg.solve(normal, right[:, :, None])[:, :, 0].T
        return np.ascontiguousarray(S)

    def moments(self, S: Floats) -> _ShapeMoments:
        """Return the moments that the errors of all poses depend on."""
        s = np.concatenate((S, np.ones((1, S.shape[1]))))
        row, column = np.triu_indices(4)
        sums = self.v @ (s[row] * s[column]).T  # (4, F, 10)
        M = np.empty((*sums.shape[:2], 4, 4))
        M[..., row, column] = M[..., column, row] = sums
        quadratic = np.einsum("aij,afkl->fikjl", PARTS, M).reshape(-1, 12, 12)
        linear = np.zeros((sums.shape[1], 3, 4))
        linear[:, :2] = ETA * (self.m @ s.T)
        constant = ETA * self.v[3].sum(axis=1)
        return _ShapeMoments(quadratic, linear.reshape(-1, 12), constant)


# G = sum_a v_a PARTS[a]
PARTS = np.zeros((4, 3, 3))
PARTS[0, [0, 1], [0, 1]] = 1.0
PARTS[1, [0, 2], [2, 0]] = PARTS[2, [1, 2], [2, 1]] = ETA - 1.0
PARTS[3, 2, 2] = 1.0 - ETA


@dataclass(frozen=True, eq=False)
class _ShapeMoments:
    quadratic: Floats  # (F, 12, 12) in the entries of Q, row by row
    linear: Floats  # (F, 12)
    constant: Floats  # (F,)

    def errors(self, pose: Floats) -> Floats:
        """Return the error of every frame, (F,)."""
        q = pose.reshape(-1, 12)
        value: Floats = np.einsum(
            "fi,fi->f", q, (self.quadratic @ q[:, :, None])[:, :, 0] - 2.0 * self.linear
        )
        return value + self.constant

    def refine(self, pose: Floats, steps: int) -> tuple[Floats, Floats]:
        """Take Levenberg-Marquardt steps on every pose by itself; return poses and errors."""
        errors = self.errors(pose)
        damping = np.full(len(pose), DAMPING)
        diagonal = np.arange(7)
        for _ in range(steps):
            q = pose.reshape(-1, 12, 1)
            slope = (self.quadratic @ q)[:, :, 0] - self.linear
            J = _tangent(pose)
            normal = J @ self.quadratic @ J.transpose(0, 2, 1)
            normal[:, diagonal, diagonal] *= 1.0 + damping[:, None]
            normal[:, diagonal, diagonal] += 1e-15 * np.trace(normal, axis1=1, axis2=2)[:, None]
            step = np.asarray(np.linalg.solve(normal, -(J @ slope[:, :, None])))[:, :, 0]
            turn = np.linalg.norm(step[:, :4], axis=1)
            step *= (LARGEST_TURN / np.maximum(turn, LARGEST_TURN))[:, None]
            trial = _apply_step(pose, step)
            trial_errors = self.errors(trial)
            better = trial_errors < errors + ROUNDING * self.constant
            pose = np.where(better[:, None, None], trial, pose)
            errors = np.where(better, trial_errors, errors)
            damping *= np.where(better, 0.2, 10.0)
        return pose, errors


def _tangent(pose: Floats) -> Floats:
    """Return the derivatives of Q in a turn, the logarithm of the size, and t, (F, 7, 12)."""
    A = pose[:, :, :3]
    J = np.zeros((len(pose), 7, 3, 4))
    J[:, :3, :, :3] = cross_matrix(np.eye(3)) @ A[:, None]
    J[:, 3, :, :3] = A
    J[:, [4, 5, 6], [0, 1, 2], 3] = 1.0
    return J.reshape(-1, 7, 12)


def _apply_step(pose: Floats, step: Floats) -> Floats:
    """Return Q after a step (F, 7) in the coordinates of `_tangent`."""
    growth = np.exp(step[:, 3])[:, None, None]
    A = growth * rotation_from_vector(step[:, :3]) @ pose[:, :, :3]
    moved: Floats = np.concatenate((A, (pose[:, :, 3] + step[:, 4:])[:, :, None]), axis=2)
    return moved
