"""Starting points of the search, and the ways to change the rank of a point.

From the closed form's SVD, from ADMM, or grown from a rigid shape, a second-order method can end in a local
minimum far above the lowest, and no single kind of start avoids that.  Coefficients that vary slowly over the
frames lead to minima that white noise rarely leads to.  A rigid first column helps where the object has a
mean shape, and is a disadvantage where the basis has to describe its rotation.  Of some sequences only the
cut of the closed form leads to the lowest minimum: every search follows it to its end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..foundation.types import Floats
from .closed_form import best_offsets, closed_form_structure, leading_cut
from .factors import Factors, balance
from .nonrigid import NonRigidProblem, Problem

AGREEMENT = 1e-5  # relative difference of two losses that counts as the same minimum
SLOW = 6  # half-waves over the sequence, at least, that slow coefficients are made of
NEGLIGIBLE = 1e-9  # gamma of a column relative to the largest, below which it counts as zero
NEW_COLUMN = 1e-2  # size of a new column of B relative to the largest


def full_rank_start(problem: Problem) -> Factors:
    """Return X0# itself, at full rank, with the best offsets: where methods on the matrix start."""
    rows, columns = problem.shape
    return problem.closed_form(min(rows, 3 * columns))


def rigid_start(problem: NonRigidProblem) -> Factors:
    """Return rank 1 with B = 1, no shape yet, and every frame's offset on the mean viewing ray at depth 1.

    Eliminating C from there gives the best rigid shape for fronto-parallel cameras.
    """
    count = problem.visible.sum(axis=1)
    mean = problem.tracks.sum(axis=2) / count[:, None]  # hidden entries are 0
    depth = np.zeros((len(mean), 1)) if problem.affine else np.ones((len(mean), 1))
    ray = np.concatenate((mean, depth), axis=1)
    offsets = np.einsum("fba,fb->fa", problem.rotations, ray)
    return Factors(np.ones((len(mean), 1)), np.zeros((1, 3, problem.tracks.shape[2])), offsets)


def random_start(problem: NonRigidProblem, rng: np.random.Generator) -> Factors:
    """Return random B of the problem's rank, with the first column rigid and the offsets of `rigid_start`."""
    rigid = rigid_start(problem)
    frames, points = len(rigid.B), problem.tracks.shape[2]
    B = np.concatenate((rigid.B, rng.normal(size=(frames, problem.rank - 1))), axis=1)
    return Factors(B, np.zeros((problem.rank, 3, points)), rigid.s)


def slow_coefficients(frames: int, rank: int, rng: np.random.Generator) -> Floats:
    """Return random B (F, K): sums over i of N(0, 1) / max(i, 1) cos(i pi (f + 1/2) / F), i <= max(6, 2K)."""
    waves = np.arange(min(max(SLOW, 2 * rank) + 1, frames))
    basis = np.cos(np.outer(np.arange(frames) + 0.5, waves) * np.pi / frames)
    amplitudes = rng.normal(size=(len(waves), rank)) / np.maximum(waves, 1)[:, None]
    return np.asarray(basis @ amplitudes)


def best_cut(problem: Problem, X: Floats) -> Factors:
    """Return the best approximation of X of the problem's rank, in exact gauge, with its best offsets."""
    shapes = X.reshape(problem.data.y.shape)
    if problem.offsets:  # centering first makes the cut that of the centered shapes, completed by s
        shapes = shapes - shapes.mean(axis=2, keepdims=True)
    cut = leading_cut(shapes.reshape(X.shape), problem.rank)
    return replace(cut, s=best_offsets(problem.data, cut.shapes()))


def closed_form_start(problem: NonRigidProblem) -> Factors:
    """Return the best cut of the closed form, centered, to the problem's rank, with the best offsets."""
    return best_cut(problem, closed_form_structure(problem.data))


def random_starts(problem: NonRigidProblem, count: int, rng: np.random.Generator) -> dict[str, Factors]:
    """Return random starts of the problem's rank under their names; only their B and s matter.

    In turn slow coefficients with a rigid column, slow coefficients alone, and white noise with a rigid
    column.
    """
    rigid = rigid_start(problem)
    frames, points = problem.shape
    C = np.zeros((problem.rank, 3, points))
    starts = {}
    for index in range(count):
        number = index // 3 + 1
        if index % 3 == 2:
            starts[f"random {number}"] = random_start(problem, rng)
            continue
        B = slow_coefficients(frames, problem.rank, rng)
        if index % 3 == 0:
            B[:, 0] = 1.0
        name = f"slow {number}" if index % 3 else f"rigid and slow {number}"
        starts[name] = Factors(B, C, rigid.s)
    return starts


def with_rank(factors: Factors, rank: int, rng: np.random.Generator) -> Factors:
    """Return the point with its weakest columns cut, or with small random columns of B added.

    Columns that are almost zero, which a strong penalty causes, are replaced, because no solver can enlarge
    them.
    """
    gamma = factors.gamma()
    alive = gamma > NEGLIGIBLE * gamma.max()
    if alive.any() and not alive.all():
        factors = Factors(factors.B[:, alive], factors.C[alive], factors.s)
    if rank == factors.rank:
        return factors
    if rank < factors.rank:
        strongest = balance(factors)
        return Factors(strongest.B[:, :rank], strongest.C[:rank], factors.s)
    frames, _ = factors.B.shape
    new = rng.normal(size=(frames, rank - factors.rank))
    new *= NEW_COLUMN * np.linalg.norm(factors.B, axis=0).max() / np.sqrt(frames)
    C = np.concatenate((factors.C, np.zeros((rank - factors.rank, *factors.C.shape[1:]))))
    return Factors(np.concatenate((factors.B, new), axis=1), C, factors.s)


def pad_rank(factors: Factors, rank: int) -> Factors:
    """Return the point as one of a higher rank: columns of zeros change neither shapes nor objective."""
    more = rank - factors.rank
    if not more:
        return factors
    B = np.pad(factors.B, ((0, 0), (0, more)))
    return Factors(B, np.pad(factors.C, ((0, more), (0, 0), (0, 0))), factors.s)
