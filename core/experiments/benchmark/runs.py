"""One method on one problem, in a process of its own, so that its memory is its own and it can be ended."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass
from functools import partial
from typing import Any

from ...foundation.exceptions import InputError
from ...foundation.memory import PeakMemory, peak_megabytes
from ...foundation.processes import ProcessDied, call_in_process
from ...problem.factors import Factors
from ...solvers.solver import single_threaded
from ..job_store import JobStore
from ..jobs import job_key
from .methods import BENCHMARK_METHODS, TIME_LIMIT, CurvePoint, MethodCurve, Stopwatch
from .problems import BenchmarkCase, bilinear_start

QUICK = 0.5  # seconds below which a run is repeated, because small times scatter
REPEATS = 10
BUDGET = 1.0  # seconds for the repetitions
STOPPED = "stopped"
ENDED_EARLY = (TIME_LIMIT, STOPPED)  # statuses of runs that were ended before their own criterion
_FAILED = "failed: "


@dataclass(frozen=True, eq=False)
class MethodRun(MethodCurve):
    """The run of one method, a key of BENCHMARK_METHODS, on one problem; of quick methods the fastest."""

    case: BenchmarkCase
    status: str  # a Status, "time limit", "stopped" by the user, or "failed: " and why
    peak_mb: float | None = None  # rise of the resident memory above that of the process with the problem
    process_mb: float | None = None  # the peak of the process

    @property
    def limited(self) -> bool:
        """Whether it was ended before its own criterion."""
        return self.status in ENDED_EARLY

    @property
    def failed(self) -> bool:
        """Whether it was ended by an error."""
        return self.status.startswith(_FAILED)


def run_method(
    case: BenchmarkCase,
    method: str,
    start: Factors,
    seconds: float,
    progress: Callable[[CurvePoint | None], None] | None = None,
) -> MethodRun:
    """Run a method in a new process; after Ctrl-C the run has what was done before, and is STOPPED."""
    curve: list[CurvePoint] = []

    def receive(points: list[CurvePoint] | None) -> None:
        curve.extend(points or ())
        if progress is not None:
            progress(curve[-1] if curve else None)

    try:
        done: MethodRun | str = call_in_process(_measure, case, method, start, seconds, receive=receive)
    except ProcessDied as end:
        done = str(end)
    except KeyboardInterrupt:
        return MethodRun(method, tuple(curve), case, STOPPED)
    return MethodRun(method, tuple(curve), case, f"{_FAILED}{done}") if isinstance(done, str) else done


def _measure(*given: Any) -> MethodRun | str:
    """Return what `measure_method` does, or why it failed."""
    try:
        return measure_method(*given)
    except (InputError, ArithmeticError, MemoryError, ValueError) as end:
        return str(end) or type(end).__name__


def run_benchmark(
    cases: list[BenchmarkCase],
    methods: list[str],
    seconds: float,
    progress: Callable[[BenchmarkCase, str, CurvePoint | None], None] | None = None,
    *,
    store: JobStore | None = None,
) -> Iterator[MethodRun]:
    """Run methods on problems, one after the other, because they would slow each other down.

    `progress`: called with the problem and method of the next run, and the last known point of its curve.
    Raises KeyboardInterrupt after Ctrl-C, with what was done before.
    """
    start = None
    for case, method in itertools.product(cases, methods):
        start = None if method == methods[0] else start
        identity = {**asdict(case), "method": method, "limit": seconds}
        key = job_key("benchmark", "", identity)
        run = None if store is None else _load_run(store, key, case)
        if run is None or run.failed:
            report = None if progress is None else partial(progress, case, method)
            if report is not None:
                report(None)
            if start is None:
                with single_threaded():
                    start = bilinear_start(case.pose(), case.start)
            run = run_method(case, method, start, seconds, report)
            if store is not None and run.status != STOPPED:
                facts: dict[str, Any] = {"ended": run.status, "curve": [*map(astuple, run.curve)]}
                facts |= {"peak_mb": run.peak_mb, "process_mb": run.process_mb}
                store.append({"key": key} | identity | facts)
        yield run
        if run.status == STOPPED:
            raise KeyboardInterrupt


def _load_run(store: JobStore, key: str, case: BenchmarkCase) -> MethodRun | None:
    facts = store.load_row(key)
    if facts is None:
        return None
    curve = tuple(CurvePoint(*point) for point in facts["curve"])
    return MethodRun(facts["method"], curve, case, facts["ended"], facts["peak_mb"], facts["process_mb"])


def measure_method(
    case: BenchmarkCase,
    method: str,
    start: Factors,
    seconds: float,
    send: Callable[[list[CurvePoint]], None] | None = None,
) -> MethodRun:
    """Run a method in this process; a quick one several times, of which the fastest counts."""
    import scipy.optimize
    import scipy.sparse.linalg  # noqa: F401

    problem = case.pose()
    timed = BENCHMARK_METHODS[method]
    memory = PeakMemory()
    best = watch = Stopwatch(seconds, send)
    status = timed.run(problem, start, watch)
    rise, peak = memory.rise(), peak_megabytes()
    spent, count = watch.seconds, 1
    while best.seconds < QUICK and spent < BUDGET and count < REPEATS and status != TIME_LIMIT:
        watch = Stopwatch(seconds)
        timed.run(problem, start, watch)
        spent, count = spent + watch.seconds, count + 1
        best = min(best, watch, key=lambda one: one.seconds)
    return MethodRun(method, tuple(best.curve), case, status, rise, peak)
