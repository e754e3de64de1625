"""One curve of Figure 1: low-rank matrix recovery by one method, from the closed form, for a given time.

Every method minimizes the same objective and is measured by it: all singular values of its matrix count. That
of a bilinear method has no others than those of its rank, so that its own loss is that objective.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..penalties import NuclearNorm, RampWeights, TruncatedNuclearNorm
from ..problem.initialization import full_rank_start
from ..problem.low_rank import LowRankProblem
from ..reconstruction.low_rank_pipeline import measurement_norm
from ..solvers.admm import ADMM
from ..solvers.agd import AGD
from ..solvers.irnn import IRNN
from ..solvers.levenberg_marquardt import LevenbergMarquardt
from ..solvers.solver import iterate
from ..solvers.variable_projection import VariableProjection
from .job import JobResult, key_of

if TYPE_CHECKING:
    from ..data.sequence import Sequence
    from ..foundation.types import Floats
    from ..penalties import Penalty
    from ..problem.factors import Factors
    from ..solvers.solver import Algorithm, Snapshot

ETAS = (0.05, 0.95)
# Section 5.2: penalty, and the rank r of the bilinear form. The truncated and the weighted nuclear norm have
# solutions of rank 3K + 1 or less; those of the nuclear norm have more (Door 9 at eta 0.95), and r leaves
# room for them: with that norm the problem is convex, and a singular value that is zero proves the minimum.
PENALTIES: dict[str, dict[str, tuple[Penalty, int]]] = {
    "rigid": {"NN": (NuclearNorm(1.5e-3), 10), "TNN": (TruncatedNuclearNorm(1.0, 4), 4)},
    "non-rigid": {"NN": (NuclearNorm(7.5e-4), 16), "WNN": (RampWeights(2.25e-3, 4), 7)},
}
# Only the time ends a first-order method, unless it says itself that nothing moves any more.
ENDLESS = 10**9
METHODS: dict[str, Algorithm[Any]] = {
    "ADMM": ADMM(tolerance=1e-14, max_iterations=ENDLESS),
    "IRNN": IRNN(tolerance=1e-14, max_iterations=ENDLESS),
    "AGD": AGD(tolerance=1e-14, max_iterations=ENDLESS),
    "bilinear LM": LevenbergMarquardt(tolerance=1e-18, max_iterations=ENDLESS),
    "bilinear": VariableProjection(tolerance=1e-18, max_iterations=ENDLESS),
}
BILINEAR = ("bilinear LM", "bilinear")
DRAWN = 300  # points of a curve that are kept
PICTURED = 2000  # points of an image that are kept


@dataclass(frozen=True, eq=False)
class MatrixJob:
    """See the module. `kind` is a key of `PENALTIES`, `penalty` one of its own, `method` one of `METHODS`."""

    name: str
    sequence: Sequence
    kind: str
    penalty: str
    eta: float
    method: str
    seconds: float  # of CPU that it may take, up to the end of an iteration

    @property
    def label(self) -> str:
        """Data, penalty, eta and method."""
        return f"{self.name} {self.penalty} eta {self.eta:g} {self.method}"

    @property
    def cost(self) -> float:
        """About what `SequenceJob` would take in that time."""
        return 5000.0 * self.seconds

    @property
    def key(self) -> str:
        """Of tracks, penalty, method, time and version."""
        penalty, rank = PENALTIES[self.kind][self.penalty]
        values = [repr(penalty), rank, self.eta, repr(METHODS[self.method]), self.seconds, self.norm]
        return key_of("matrix", self.sequence.content, {"values": values})

    @cached_property
    def norm(self) -> float:
        """Return the norm of the measurement matrix, which the tracks are divided by."""
        return measurement_norm(self.sequence.tracks, self.sequence.visible)

    def problem(self) -> LowRankProblem:
        """Pose the problem, with weights for all singular values."""
        tracks = np.where(self.sequence.visible[:, None], self.sequence.tracks, 0.0) / self.norm
        penalty, rank = PENALTIES[self.kind][self.penalty]
        frames, points = self.sequence.visible.shape
        count = min(points, 3 * frames)
        weights = penalty.weights(count, np.zeros(count))
        rank = min(rank, count)
        tail = weights[rank:] if count > rank else None
        return LowRankProblem(tracks, self.sequence.visible, self.eta, weights[:rank], tail)

    def run(self) -> JobResult:
        """Iterate until the method is done or its time is over."""
        problem = self.problem()
        start = problem.closed_form() if self.method in BILINEAR else full_rank_start(problem)
        seconds, losses, last = self._curve(problem, start)
        factors = METHODS[self.method].factors(problem, last.state)
        facts = {
            "name": self.name,
            "kind": self.kind,
            "penalty": self.penalty,
            "eta": self.eta,
            "method": self.method,
            "rank": problem.rank,
            "loss": float(losses[-1]),
            "lowest": float(np.nanmin(losses)),
            "cut_loss": problem.loss(factors),
            "cpu_seconds": float(seconds[-1]),
            "iterations": last.progress.iteration,
            "status": last.status.value if last.status.finished else "time limit",
        }
        return JobResult(
            facts, {"curve": _shortened(seconds, losses), **self._image(problem, factors, facts)}
        )

    def _curve(self, problem: LowRankProblem, start: Factors) -> tuple[Floats, Floats, Snapshot[Any]]:
        """Return CPU seconds and losses of all iterations, and the last snapshot."""
        _ = problem.data  # what every method needs is not counted
        seconds, losses, before = [0.0], [], time.process_time()
        for last in iterate(problem, METHODS[self.method], start):
            losses.append(last.progress.loss)
            now = time.process_time()
            seconds.append(seconds[-1] + now - before)
            if seconds[-1] > self.seconds:
                break
            before = time.process_time()
        return np.array(seconds[1:]), np.array(losses), last

    def _image(self, problem: LowRankProblem, factors: Factors, facts: dict[str, Any]) -> dict[str, Any]:
        """Return observed and reprojected points of the image with most of them, in pixels; add the RMS."""
        X = problem.structure(factors)
        projected = self.norm * X[:, :2] / np.where(X[:, 2:] == 0, np.nan, X[:, 2:])
        visible, tracks = self.sequence.visible, self.sequence.tracks
        squares = np.square(projected - tracks).sum(axis=1)[visible]
        facts["reprojection_px"] = float(np.sqrt(squares.mean()))
        image = int(visible.sum(axis=1).argmax())
        facts["image"] = image
        there = np.flatnonzero(visible[image])
        if len(there) > PICTURED:
            there = np.sort(np.random.default_rng(0).choice(there, PICTURED, replace=False))
        return {"observed": tracks[image][:, there], "projected": projected[image][:, there]}


def _shortened(seconds: Floats, losses: Floats) -> Floats:
    """Return at most `DRAWN` points (2, n) of a curve, evenly spread over the logarithm of time."""
    count = len(seconds)
    if count <= DRAWN:
        return np.stack((seconds, losses))
    late = np.searchsorted(seconds, np.geomspace(max(seconds[1], 1e-4), seconds[-1], DRAWN - 2))
    chosen = np.unique(np.concatenate(([0, count - 1], np.minimum(late, count - 1))))
    return np.stack((seconds[chosen], losses[chosen]))
