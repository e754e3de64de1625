"""Many starts, a few steps each: the duplicates and the worst are left behind long before they converge.

After every few iterations the points are ranked by loss.  One that has come near a better one is its
duplicate; of the others the best stay (successive halving).  The steps are those of `bundle`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .batched_projection import bundled, stepped
from .solver import Algorithm, Status

if TYPE_CHECKING:
    from ..foundation.types import Floats
    from ..problem.factors import Factors
    from ..problem.nonrigid import Problem
    from .batched_projection import Bundle

ROUNDS = 2
NEAR = 0.15  # share of a point's B that another one does not span, below which the two are of one basin


@dataclass(frozen=True, eq=False)
class ScreeningState:
    """The points that are still followed, and what became of the others."""

    bundle: Bundle  # ranked by loss after each selection
    iteration: int
    merged: tuple[tuple[int, int], ...] = ()  # (start, the start that it came near to)
    dropped: tuple[tuple[int, float], ...] = ()  # (start, its loss when it was left behind)


@dataclass(frozen=True)
class Screening(Algorithm[ScreeningState]):
    """Follow all starts for a few iterations, and fewer and fewer of them further on."""

    starts: tuple[Factors, ...]
    survivors: int  # at most so many are left in the end
    stride: int = 4  # iterations between two selections: half of the starts stay, then the survivors

    @property
    def max_iterations(self) -> int:
        """The iterations of all rounds."""
        return ROUNDS * self.stride

    def init(self, problem: Problem, start: Factors) -> ScreeningState:
        """Begin at the method's own starts; only their B and s matter, and `start` not at all."""
        return ScreeningState(bundled(problem, self.starts), 0)

    def step(self, problem: Problem, state: ScreeningState) -> ScreeningState:
        """Take one step with every point; select after the last one of a round."""
        iteration = state.iteration + 1
        moved = replace(state, bundle=stepped(problem, state.bundle), iteration=iteration)
        done, rest = divmod(iteration, self.stride)
        if rest:
            return moved
        keep = self.survivors if done == ROUNDS else len(self.starts) // 2**done
        return _selected(moved, max(keep, self.survivors))

    def status(self, problem: Problem, state: ScreeningState) -> Status:
        """Converged after the last round."""
        return Status.CONVERGED if state.iteration >= self.max_iterations else Status.RUNNING

    def loss(self, state: ScreeningState) -> float:
        """Return the lowest objective of the points."""
        return float(np.nanmin(state.bundle.loss))

    def factors(self, problem: Problem, state: ScreeningState) -> Factors:
        """Return the lowest point."""
        return state.bundle.at(int(np.nanargmin(state.bundle.loss)))


def apart(B: Floats, other: Floats) -> Floats:
    """Return the share of a balanced B (..., F, K), in norm, that the columns of another one do not span."""
    Q, _ = np.linalg.qr(other)
    rest = B - Q @ (Q.swapaxes(-2, -1) @ B)
    whole = np.linalg.norm(B, axis=(-2, -1))
    share: Floats = np.linalg.norm(rest, axis=(-2, -1)) / np.where(whole > 0, whole, 1.0)
    return share


def _selected(state: ScreeningState, keep: int) -> ScreeningState:
    bundle = state.bundle
    shares = apart(bundle.B[:, None], bundle.B)  # (R, R): of the row's point, not spanned by the column's
    near = np.maximum(shares, shares.T) < NEAR
    kept: list[int] = []
    merged, dropped = list(state.merged), list(state.dropped)
    for r in np.argsort(bundle.loss):  # what is not a number comes last
        start = int(bundle.starts[r])
        same = next((k for k in kept if near[r, k]), None)
        if same is not None:
            merged.append((start, int(bundle.starts[same])))
        elif len(kept) < keep and np.isfinite(bundle.loss[r]):
            kept.append(int(r))
        else:
            dropped.append((start, float(bundle.loss[r])))
    which = np.array(kept or [0])  # where nothing is finite, something is kept all the same
    return replace(state, bundle=bundle.only(which), merged=tuple(merged), dropped=tuple(dropped))
