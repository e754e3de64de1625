"""Starting points of the search, and the ways to change the rank of a point.

Local minima are real: from the closed form's SVD, or from ADMM, a second-order method can end in a minimum
far above the lowest.  A rigid shape first, then one small random column at a time, rarely does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .factors import Factors, balanced

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

    from .problem import NonRigidProblem

AGREEMENT = 1e-5  # relative difference of two losses that counts as the same minimum
UNSEEN = 0.05  # the share of starts that may still lead to a minimum not seen, see `starts_wanted`
DEAD = 1e-9  # gamma of a column relative to the largest, below which it is as good as zero
NEW_COLUMN = 1e-2  # size of a new column of B relative to the largest


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


def resized(factors: Factors, rank: int, rng: np.random.Generator) -> Factors:
    """Return the point with its weakest columns cut, or with small random columns of B added.

    Columns that are all but zero, as a strong penalty leaves them, are replaced: no solver revives them.
    """
    gamma = factors.gamma()
    alive = gamma > DEAD * gamma.max()
    if alive.any() and not alive.all():
        factors = Factors(factors.B[:, alive], factors.C[alive], factors.s)
    if rank == factors.rank:
        return factors
    if rank < factors.rank:
        strongest = balanced(factors)
        return Factors(strongest.B[:, :rank], strongest.C[:rank], factors.s)
    frames, _ = factors.B.shape
    new = rng.normal(size=(frames, rank - factors.rank))
    new *= NEW_COLUMN * np.linalg.norm(factors.B, axis=0).max() / np.sqrt(frames)
    C = np.concatenate((factors.C, np.zeros((rank - factors.rank, *factors.C.shape[1:]))))
    return Factors(np.concatenate((factors.B, new), axis=1), C, factors.s)


def padded(factors: Factors, rank: int) -> Factors:
    """Return the point as one of a higher rank: columns of zeros change neither shapes nor objective."""
    more = rank - factors.rank
    B = np.pad(factors.B, ((0, 0), (0, more)))
    return Factors(B, np.pad(factors.C, ((0, more), (0, 0), (0, 0))), factors.s)


def starts_wanted(losses: Items[float], most: int) -> int:
    """Return how many starts to make in all, given the losses that those made so far ended with.

    With w distinct minima among n random starts, the expected share of the starts that lead to minima not
    yet seen is w (w + 1) / (n (n - 1)) (Boender and Rinnooy Kan 1987); the search ends where that is at most
    `UNSEEN`, or at `most` starts.
    """
    ordered = np.sort(losses)
    minima = 1 + int((np.diff(ordered) > AGREEMENT * ordered[:-1]).sum()) if len(ordered) else 1
    wanted = int(np.ceil(0.5 + np.sqrt(0.25 + minima * (minima + 1) / UNSEEN)))
    return min(wanted, most)
