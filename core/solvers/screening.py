"""Screening of many starts: a few steps each, after which duplicates and those of high loss are dropped.

After every few iterations the points are ranked by loss.  One that is near a better one is its duplicate; of
the others the best are kept (successive halving).  The steps are those of `batched_projection`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..foundation.representation import OneLine
from ..foundation.types import Floats
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from .batched_projection import Batch, make_batch, step_batch
from .solver import Algorithm, Status

ROUNDS = 2
NEAR = 0.15  # share of a point's B that another one does not span, below which the two are duplicates


@dataclass(frozen=True, eq=False)
class ScreeningState(OneLine):
    """The points that are still followed, and the records of the others."""

    batch: Batch  # ranked by loss after each selection
    iteration: int
    merged: tuple[tuple[int, int], ...] = ()  # (start, the start that it is a duplicate of)
    dropped: tuple[tuple[int, float], ...] = ()  # (start, its loss when it was dropped)


@dataclass(frozen=True)
class Screening(Algorithm[ScreeningState]):
    """Follow all starts for a few iterations, then a decreasing number of them."""

    starts: tuple[Factors, ...]
    survivors: int  # the greatest number at the end
    stride: int = 4  # iterations between two selections: half of the starts stay, then the survivors

    @property
    def max_iterations(self) -> int:
        """The iterations of all rounds."""
        return ROUNDS * self.stride

    def init(self, problem: Problem, start: Factors) -> ScreeningState:
        """Begin at the method's own starts, of which only B and s matter; `start` is not used."""
        return ScreeningState(make_batch(problem, self.starts), 0)

    def step(self, problem: Problem, state: ScreeningState) -> ScreeningState:
        """Take one step with every point; select after the last one of a round."""
        iteration = state.iteration + 1
        moved = replace(state, batch=step_batch(problem, state.batch), iteration=iteration)
        done, rest = divmod(iteration, self.stride)
        if rest:
            return moved
        keep = self.survivors if done == ROUNDS else len(self.starts) // 2**done
        return _select_points(moved, max(keep, self.survivors))

    def status(self, problem: Problem, state: ScreeningState) -> Status:
        """Converged after the last round."""
        return Status.CONVERGED if state.iteration >= self.max_iterations else Status.RUNNING

    def loss(self, state: ScreeningState) -> float:
        """Return the lowest objective of the points."""
        return float(np.nanmin(state.batch.loss))

    def factors(self, problem: Problem, state: ScreeningState) -> Factors:
        """Return the lowest point."""
        return state.batch.at(int(np.nanargmin(state.batch.loss)))


def span_distance(B: Floats, other: Floats) -> Floats:
    """Return the share of a balanced B (..., F, K), in norm, that the columns of another one do not span."""
    Q, _ = np.linalg.qr(other)
    rest = B - Q @ (Q.swapaxes(-2, -1) @ B)
    total = np.linalg.norm(B, axis=(-2, -1))
    share: Floats = np.linalg.norm(rest, axis=(-2, -1)) / np.where(total > 0, total, 1.0)
    return share


def _select_points(state: ScreeningState, keep: int) -> ScreeningState:
    batch = state.batch
    # (R, R): of the row's point, not spanned by the column's
    shares = span_distance(batch.B[:, None], batch.B)
    near = np.maximum(shares, shares.T) < NEAR
    kept: list[int] = []
    merged, dropped = list(state.merged), list(state.dropped)
    for r in np.argsort(batch.loss):  # NaN comes last
        start = int(batch.starts[r])
        same = next((k for k in kept if near[r, k]), None)
        if same is not None:
            merged.append((start, int(batch.starts[same])))
        elif len(kept) < keep and np.isfinite(batch.loss[r]):
            kept.append(int(r))
        else:
            dropped.append((start, float(batch.loss[r])))
    which = np.array(kept or [0])  # where no loss is finite, one point is kept
    return replace(state, batch=batch.only(which), merged=tuple(merged), dropped=tuple(dropped))
