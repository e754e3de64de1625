"""The one loop of the project: `iterate` turns a problem and an algorithm into a stream of snapshots.

An algorithm is a frozen dataclass of its own parameters and is pure: no printing, no clock, no thread.  All
that it needs to continue is in its state, so that a run resumed from a snapshot equals an uninterrupted one,
bit for bit.  To cancel, stop iterating.  To pause, do not request the next item.  Numerical failure is a
value with a sentence (`Status.DIVERGED`), never an exception.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import threadpoolctl

from ..foundation.exceptions import InputError
from ..foundation.representation import OneLine
from ..problem.factors import Factors
from ..problem.nonrigid import Problem

State = TypeVar("State")
ProblemT = TypeVar("ProblemT", contravariant=True)  # what is minimized
StartT = TypeVar("StartT", contravariant=True)  # a point that a run starts from

# What parameters mean that several methods have.
ITERATIONS = "Iterations after which it ends with `Status.LIMIT`."
PREDICTED = "Predicted decrease over the loss below which it has converged."
FIRST_DAMPING = "The first lambda of Levenberg-Marquardt; 1e-9 suits a start near the minimum."
ROUNDING = 1e-12  # where no step helps, a predicted relative decrease below this counts as rounding


class Status(Enum):
    """Whether a run continues, and if not, why it ended; it stalls where no step lowers the objective."""

    RUNNING = "running"
    CONVERGED = "converged"
    STALLED = "stalled"
    LIMIT = "iteration limit"
    DIVERGED = "diverged"

    @property
    def finished(self) -> bool:
        """Whether no further iteration follows."""
        return self is not Status.RUNNING


@runtime_checkable
class IterativeMethod(Protocol[ProblemT, StartT, State]):
    """What `iterate` needs of a method that minimizes a problem from a start: a state, and steps."""

    @property
    def max_iterations(self) -> int:
        """The number of steps after which `iterate` ends with `Status.LIMIT`."""

    def init(self, problem: ProblemT, start: StartT) -> State:
        """Return the state at a starting point."""

    def step(self, problem: ProblemT, state: State) -> State:
        """Return the state one iteration on; a rejected trial step counts as part of its iteration."""

    def status(self, problem: ProblemT, state: State) -> Status:
        """Judge the state by the algorithm's own criterion."""

    def loss(self, state: State) -> float:
        """Return the objective of the state."""


class Algorithm(IterativeMethod["Problem", "Factors", State], Protocol[State]):
    """Base class of the methods for pOSE: the parameters of a method, and the steps that it takes with them.

    A method is a frozen dataclass that inherits from this class. It has the members without a body, and those
    of `IterativeMethod`; of the others it overrides those for which it needs more than the default.
    """

    on_matrix: ClassVar[bool] = False  # whether it works on X itself, of full rank; `loss` is that of X
    linear_only: ClassVar[bool] = False  # whether other penalties than linear ones need `Majorized`

    def factors(self, problem: Problem, state: State) -> Factors:
        """Return the point (B, C, s) of the state, of at most the problem's rank."""

    def residuals(self, state: State) -> tuple[float, float] | None:
        """Return the primal and the dual residual of the state; None where the method has none."""
        return None

    def for_near_start(self, chosen: Container[str]) -> Algorithm[State]:
        """Return the method for a start near a minimum; parameters that were `chosen` keep their values."""
        return self

    def for_sparse_tracks(self, chosen: Container[str]) -> Algorithm[State]:
        """Return the method for chains of views that share few points; what was `chosen` keeps its value."""
        return self

    def for_changed_settings(self, *, complete: bool) -> Algorithm[State]:
        """Return the method for a run that continues another one, whose settings change during the run.

        `complete` is whether the start's C belongs to its B and s, as after a step.
        """
        return self


@dataclass(frozen=True)
class Progress:
    """The progress of a run of a method, of a `Snapshot`.

    Parameters
    ----------
    iteration, seconds, loss
        the number of steps, the time spent in them (not between them), and the objective.
    """

    iteration: int
    seconds: float
    loss: float


@dataclass(frozen=True, eq=False)
class Snapshot(OneLine, Generic[State]):
    """An immutable moment of a run of a method, which `core.solve` returns and resumes from.

    Parameters
    ----------
    progress, status, state
        how far it is; whether and why it has ended; and what `factors` of the method gives the point of.
    """

    progress: Progress
    status: Status
    state: State


@cache
def _blas() -> threadpoolctl.ThreadpoolController:
    import scipy.linalg  # noqa: F401 - its BLAS is one of its own, and limits hold for what is loaded

    return threadpoolctl.ThreadpoolController().select(user_api="blas")


_threads = 1


def set_solver_threads(count: int) -> None:
    """Set the number of threads of the linear algebra of all solvers in this process.

    Raises InputError where it is below 1.
    """
    global _threads
    if count < 1:
        raise InputError(f"the solver's threads are {count}; accepted are 1 or more")
    _threads = count


@contextmanager
def single_threaded() -> Iterator[None]:
    """Context manager that pins BLAS to one thread, or to the number given to `set_solver_threads`.

    One thread is 5 to 28 times faster at the usual sizes. To set a limit takes as long as some small steps:
    it is set only where BLAS has another number of threads. The limit is one of the process: another Python
    thread may put it back within a block, and each step of a solver begins a block of its own.
    """
    if all(each.num_threads == _threads for each in _blas().lib_controllers):
        yield
    else:
        with _blas().limit(limits=_threads):
            yield


def iterate(
    problem: ProblemT, algorithm: IterativeMethod[ProblemT, StartT, State], start: StartT | Snapshot[State]
) -> Iterator[Snapshot[State]]:
    """Yield a snapshot of the start and one after every iteration, until the algorithm is done.

    `start` may also be a snapshot of an earlier run of the same problem, which is resumed: then what comes
    after it is yielded. The last snapshot has the reason of the end as its status.
    """
    if isinstance(start, Snapshot):
        snapshot = start
    else:
        began = time.perf_counter()
        with single_threaded():
            state = algorithm.init(problem, start)
            status = algorithm.status(problem, state)
        snapshot = Snapshot(Progress(0, time.perf_counter() - began, algorithm.loss(state)), status, state)
        yield snapshot
    while not snapshot.status.finished:
        began = time.perf_counter()
        with single_threaded():
            state = algorithm.step(problem, snapshot.state)
            status = algorithm.status(problem, state)
        done = snapshot.progress
        progress = Progress(
            done.iteration + 1, done.seconds + time.perf_counter() - began, algorithm.loss(state)
        )
        if status is Status.RUNNING and progress.iteration >= algorithm.max_iterations:
            status = Status.LIMIT
        snapshot = Snapshot(progress, status, state)
        yield snapshot


def solve(
    problem: ProblemT, algorithm: IterativeMethod[ProblemT, StartT, State], start: StartT | Snapshot[State]
) -> Snapshot[State]:
    """Drain `iterate` and return the last snapshot.

    Parameters
    ----------
    problem
        what is minimized.
    algorithm
        how.
    start
        a point to start from, or a snapshot of an earlier run of the same problem to resume.

    Returns
    -------
    Snapshot[State]
        the last one; its status is why the run ended.

    Examples
    --------
    >>> import core
    >>> scene = core.simulate("paper", frames=8, points=15, camera=core.CameraModel.ORTHOGONAL)
    >>> problem = core.NonRigidProblem(scene.tracks, scene.visible, scene.rotations, 1.0, [1.0, 1.0])
    >>> core.solve(problem, core.VariableProjection(), problem.closed_form()).status
    <Status.CONVERGED: 'converged'>
    """
    last = start if isinstance(start, Snapshot) else None
    for snapshot in iterate(problem, algorithm, start):
        last = snapshot
    assert last is not None  # iterate() yields the start first
    return last
