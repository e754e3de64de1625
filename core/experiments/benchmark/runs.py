"""One method on one problem, in a process of its own, so that its memory is its own and it can be ended."""

from __future__ import annotations

import multiprocessing
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...foundation.exceptions import InputError
from ...solvers.solver import single_threaded
from .contestants import CONTESTANTS, TIME_LIMIT
from .memory import PeakMemory, peak_megabytes
from .problems import bilinear_start
from .stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from multiprocessing.connection import Connection

    from ...problem.factors import Factors
    from .problems import BenchmarkCase
    from .stopwatch import CurvePoint

QUICK = 0.5  # seconds below which a run is repeated, because small times scatter
REPEATS = 10
BUDGET = 1.0  # seconds for the repetitions
TELLING = 0.5  # seconds between two reports of a run to whoever waits for it
STOPPED = "stopped"


@dataclass(frozen=True, eq=False)
class BenchmarkRun:
    """What one method did on one problem."""

    case: BenchmarkCase
    method: str  # of CONTESTANTS
    status: str  # a Status, "time limit", "stopped" by the user, or "failed: " and why
    marks: tuple[CurvePoint, ...]  # the curve; of quick methods that of the fastest run
    peak_mb: float | None = None  # rise of the resident memory above that of the process with the problem
    process_mb: float | None = None  # the peak of the whole process

    @property
    def limited(self) -> bool:
        """Whether it would have gone on."""
        return self.status in (TIME_LIMIT, STOPPED)

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.marks[-1].iteration if self.marks else 0

    @property
    def seconds(self) -> float:
        """CPU seconds used."""
        return self.marks[-1].seconds if self.marks else 0.0

    @property
    def loss(self) -> float:
        """The least loss reached; infinite where there is none."""
        return min((mark.loss for mark in self.marks), default=float("inf"))

    def seconds_to(self, loss: float) -> float | None:
        """Return the CPU seconds until the loss was at most this; None where it never was."""
        return next((mark.seconds for mark in self.marks if mark.loss <= loss), None)


@dataclass(frozen=True)
class BenchmarkProgress:
    """Where a comparison stands."""

    done: int
    total: int
    case: BenchmarkCase
    method: str
    mark: CurvePoint | None  # the last known point of the run that goes on
    limit: float  # CPU seconds of each run

    @property
    def most_left(self) -> float:
        """CPU seconds that the rest takes at most, apart from posing and measuring."""
        spent = 0.0 if self.mark is None else self.mark.seconds
        return max((self.total - self.done) * self.limit - spent, 0.0)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run: what there is of it."""

    def __init__(self, outcome: BenchmarkRun) -> None:
        super().__init__()
        self.outcome = outcome


def run(
    case: BenchmarkCase,
    method: str,
    start: Factors,
    seconds: float,
    progress: Callable[[CurvePoint | None], None] | None = None,
) -> BenchmarkRun:
    """Run a method in a new process.

    Parameters
    ----------
    case
        what to solve.
    method
        a key of CONTESTANTS.
    start
        of the problem's rank, see `core.experiments.benchmark.problems.bilinear_start`.
    seconds
        limit of CPU time.
    progress
        called about twice a second with the last point of the curve, None before the first.

    Raises
    ------
    Interrupted
        after Ctrl-C, with what was done until then.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, case, method, start, seconds), daemon=True)
    marks: list[CurvePoint] = []
    try:
        process.start()
        sender.close()
        while True:
            if receiver.poll(TELLING):
                kind, content = receiver.recv()
                if kind == "outcome":
                    process.join()
                    outcome: BenchmarkRun = content
                    return outcome
                marks += content
            if progress is not None:
                progress(marks[-1] if marks else None)
    except EOFError:
        process.join()
        return BenchmarkRun(case, method, f"failed: it died with code {process.exitcode}", tuple(marks))
    except KeyboardInterrupt:
        raise Interrupted(BenchmarkRun(case, method, STOPPED, tuple(marks))) from None
    finally:
        if process.is_alive():
            process.terminate()
            process.join()
        receiver.close()


def compare(
    cases: Collection[BenchmarkCase],
    methods: Collection[str],
    seconds: float,
    progress: Callable[[BenchmarkProgress], None] | None = None,
) -> Iterator[BenchmarkRun]:
    """Run methods on problems, one after the other, all of a problem from the same start.

    Parameters
    ----------
    cases
        the problems.
    methods
        keys of CONTESTANTS.
    seconds
        limit of CPU time for each method on each problem.
    progress
        called about twice a second.

    Yields
    ------
    Outcome
        of each run as it ends; after Ctrl-C, before KeyboardInterrupt, of the one that was going on.

    Raises
    ------
    InputError
        where a method is unknown.
    """
    for method in methods:
        if method not in CONTESTANTS:
            raise InputError(f"the method is {method!r}; accepted are {', '.join(CONTESTANTS)}")
    total = len(cases) * len(methods)
    done = 0
    for case in cases:
        with single_threaded():
            start = bilinear_start(case.pose(), case.start)
        for method in methods:

            def tell(
                mark: CurvePoint | None, task: tuple[int, BenchmarkCase, str] = (done, case, method)
            ) -> None:
                if progress is not None:
                    progress(BenchmarkProgress(task[0], total, task[1], task[2], mark, seconds))

            tell(None)
            try:
                yield run(case, method, start, seconds, tell)
            except Interrupted as stop:
                yield stop.outcome
                raise KeyboardInterrupt from None
            done += 1


def _work(sender: Connection, case: BenchmarkCase, method: str, start: Factors, seconds: float) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever waits for this process ends it
    try:
        outcome = measure(case, method, start, seconds, _Telegraph(sender))
    except (InputError, ArithmeticError, MemoryError, ValueError) as error:
        outcome = BenchmarkRun(case, method, f"failed: {error or type(error).__name__}", ())
    sender.send(("outcome", outcome))


def measure(
    case: BenchmarkCase,
    method: str,
    start: Factors,
    seconds: float,
    tell: Callable[[list[CurvePoint]], None] | None = None,
) -> BenchmarkRun:
    """Run a method in this process, quick ones several times over."""
    import scipy.optimize
    import scipy.sparse.linalg  # noqa: F401

    problem = case.pose()
    contestant = CONTESTANTS[method]
    memory = PeakMemory()
    best = watch = Stopwatch(seconds, tell)
    status = contestant.run(problem, start, watch)
    rise, peak = memory.rise(), peak_megabytes()
    spent, count = watch.seconds, 1
    while best.seconds < QUICK and spent < BUDGET and count < REPEATS and status != TIME_LIMIT:
        watch = Stopwatch(seconds)
        contestant.run(problem, start, watch)
        spent, count = spent + watch.seconds, count + 1
        best = min(best, watch, key=lambda one: one.seconds)
    return BenchmarkRun(case, method, status, tuple(best.marks), rise, peak)


class _Telegraph:
    """Sends the new points of a growing curve, not too often."""

    def __init__(self, sender: Connection[Any, Any]) -> None:
        self._sender = sender
        self._sent = 0
        self._last = time.monotonic()

    def __call__(self, marks: list[CurvePoint]) -> None:
        if time.monotonic() - self._last >= TELLING:
            self._sender.send(("marks", marks[self._sent :]))
            self._sent, self._last = len(marks), time.monotonic()
