"""The methods that are compared, each run on one problem under a stopwatch that counts CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...foundation.processes import POLL_SECONDS
from ...foundation.types import Floats
from ...problem import Factors, Problem, full_rank_start
from ...problem.printed_form import jacobian, pack, residual_vector, unpack
from ...solvers.admm import ADMM
from ...solvers.agd import AGD
from ...solvers.algorithm_one import AlgorithmOne
from ...solvers.irnn import IRNN
from ...solvers.levenberg_marquardt import LevenbergMarquardt
from ...solvers.solver import Algorithm, Status, iterate, single_threaded
from ...solvers.variable_projection import VariableProjection

ALWAYS_KEPT = 50  # iterations at the start that are all points of the curve
UNLIMITED = 1_000_000  # iterations: the limit is one of time
TIME_RATIO = 1.02  # of the CPU time of a later point to that of the point before
SCIPY_TOLERANCE = 1e-15  # scipy's tolerances, just above the rounding unit
TIME_LIMIT = "time limit"


@dataclass(frozen=True)
class CurvePoint:
    """A point of a curve."""

    iteration: int
    seconds: float  # of CPU since the start
    loss: float  # of the problem at rank K
    own_loss: float  # the method's own objective


@dataclass(frozen=True, eq=False)
class MethodCurve:
    """How one method approached the solution of one problem."""

    method: str
    curve: tuple[CurvePoint, ...]

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.curve[-1].iteration if self.curve else 0

    @property
    def seconds(self) -> float:
        """CPU seconds used."""
        return self.curve[-1].seconds if self.curve else 0.0

    @property
    def loss(self) -> float:
        """The least loss reached; infinite where there is none."""
        return min((point.loss for point in self.curve), default=float("inf"))

    def seconds_to(self, loss: float) -> float | None:
        """Return the CPU seconds until the loss was at most this; None where it never was."""
        return next((point.seconds for point in self.curve if point.loss <= loss), None)


class TimeLimitReached(Exception):
    """A method reached its time limit in the middle of an iteration."""


class Stopwatch:
    """Counts CPU seconds while `running`; `send` is given new points, at most every `POLL_SECONDS`."""

    def __init__(self, limit: float, send: Callable[[list[CurvePoint]], None] | None = None) -> None:
        self.limit = limit
        self.curve: list[CurvePoint] = []
        self._send, self._sent, self._last = send, 0, time.monotonic()
        self._spent = 0.0
        self._began: float | None = None

    @property
    def seconds(self) -> float:
        """CPU seconds counted so far."""
        return self._spent + (time.process_time() - self._began if self._began is not None else 0.0)

    @property
    def expired(self) -> bool:
        """Whether the limit is reached."""
        return self.seconds >= self.limit

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count during the block."""
        self._began = time.process_time()
        try:
            yield
        finally:
            self._spent, self._began = self.seconds, None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count during the block, which is inside one that counts."""
        self._spent, self._began = self.seconds, None
        try:
            yield
        finally:
            self._began = time.process_time()

    def due(self, iteration: int) -> bool:
        """Whether the curve should have a point here."""
        return iteration < ALWAYS_KEPT or not self.curve or self.seconds > TIME_RATIO * self.curve[-1].seconds

    def mark(self, iteration: int, loss: float, own_loss: float) -> None:
        """Add a point to the curve."""
        self.curve.append(CurvePoint(iteration, self.seconds, loss, own_loss))
        if self._send is not None and time.monotonic() - self._last >= POLL_SECONDS:
            self._send(self.curve[self._sent :])
            self._sent, self._last = len(self.curve), time.monotonic()


@dataclass(frozen=True)
class BenchmarkMethod:
    """A method of the comparison."""

    title: str
    algorithm: Algorithm[Any] | None = None  # None: scipy.optimize.least_squares

    def run(self, problem: Problem, start: Factors, watch: Stopwatch) -> str:
        """Run to the end, or to the limit of the watch, from a start of rank K; return why it ended."""
        with single_threaded():
            if self.algorithm is None:
                return _run_least_squares(problem, start, watch)
            if self.algorithm.on_matrix:
                start = full_rank_start(problem)
            return _run_iterations(problem, self.algorithm, start, watch)


BENCHMARK_METHODS = {
    "bilinear": BenchmarkMethod("bilinear, variable projection", VariableProjection()),
    "lm": BenchmarkMethod("bilinear, Levenberg-Marquardt", LevenbergMarquardt(max_iterations=UNLIMITED)),
    "algorithm1": BenchmarkMethod(
        "Algorithm 1, sparse (lambda 1, alpha 2)", AlgorithmOne(max_iterations=UNLIMITED)
    ),
    "algorithm1-fast": BenchmarkMethod(
        "Algorithm 1, sparse (lambda 1e-3, alpha 10)",
        AlgorithmOne(damping=1e-3, alpha=10.0, max_iterations=UNLIMITED),
    ),
    "scipy": BenchmarkMethod("scipy least_squares (trf, lsmr)"),
    "admm": BenchmarkMethod("ADMM, cut to rank K", ADMM(max_iterations=UNLIMITED)),
    "irnn": BenchmarkMethod("IRNN, cut to rank K", IRNN(max_iterations=UNLIMITED)),
    "agd": BenchmarkMethod("AGD, cut to rank K", AGD(max_iterations=UNLIMITED)),
}


def _run_iterations(problem: Problem, algorithm: Algorithm[Any], start: Factors, watch: Stopwatch) -> str:
    cut = algorithm.on_matrix
    steps = iterate(problem, algorithm, start)
    ended = Status.RUNNING
    while not ended.finished:
        with watch.running():
            snapshot = next(steps)
        ended, progress = snapshot.status, snapshot.progress
        late = watch.expired
        if ended.finished or late or watch.due(progress.iteration):
            loss = problem.loss(algorithm.factors(problem, snapshot.state)) if cut else progress.loss
            watch.mark(progress.iteration, loss, progress.loss)
        if late and not ended.finished:
            return TIME_LIMIT
    return ended.value


def _run_least_squares(problem: Problem, start: Factors, watch: Stopwatch) -> str:
    """Minimize the squared norm of the four-row residuals; its own objective has a factor 1/2."""
    from scipy.optimize import least_squares
    from scipy.sparse.linalg import LinearOperator

    lowest = float("inf")
    iterations = 0

    def residuals(z: Floats) -> Floats:
        nonlocal lowest
        r = residual_vector(problem, unpack(problem, z))
        lowest = min(lowest, float(r @ r))
        late = watch.expired
        with watch.paused():
            if late or watch.due(iterations):
                watch.mark(iterations, lowest, 0.5 * lowest)
        if late:
            raise TimeLimitReached
        return r

    def derivative(z: Floats) -> LinearOperator:
        nonlocal iterations
        iterations += 1
        J = jacobian(problem, unpack(problem, z))

        def checked(product: Floats) -> Floats:
            if watch.expired:  # one iteration of lsmr may exceed the limit
                raise TimeLimitReached
            return product

        return LinearOperator(
            J.shape,
            matvec=lambda v: checked(J @ np.ravel(v)),
            rmatvec=lambda v: checked(J.T @ np.ravel(v)),
            dtype=np.float64,
        )

    try:
        with watch.running():
            found = least_squares(
                residuals,
                pack(problem, start),
                derivative,
                method="trf",
                tr_solver="lsmr",
                ftol=SCIPY_TOLERANCE,
                xtol=SCIPY_TOLERANCE,
                gtol=SCIPY_TOLERANCE,
                max_nfev=UNLIMITED,
            )
    except TimeLimitReached:
        watch.mark(iterations, lowest, 0.5 * lowest)
        return TIME_LIMIT
    watch.mark(iterations, lowest, 0.5 * lowest)
    return Status.CONVERGED.value if found.status > 0 else Status.LIMIT.value
