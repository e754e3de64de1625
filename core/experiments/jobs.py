"""The jobs of an experiment, computed in other processes and kept when they are done.

`run_jobs` distributes jobs by joblib, so that a cluster runs them unchanged:

    with joblib.parallel_config("dask"):
        run_jobs(jobs, store)

Every job uses one thread of BLAS. The calling process writes what is finished into the store at once; only
the results travel between processes.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..foundation.atomic import replacing
from ..foundation.exceptions import InputError
from ..foundation.processes import signals_blocked
from ..foundation.representation import one_line_repr
from ..foundation.version import VERSION
from ..io.readers.contents import load_arrays, read_bytes
from ..solvers.solver import single_threaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

FACTS = "facts"  # the name of the facts in a file of the store


@dataclass(frozen=True, eq=False)
class JobResult:
    """What a job computed: facts for JSON, and arrays by name. `failure` is why there is nothing."""

    facts: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    failure: str = ""

    __repr__ = one_line_repr


class ExperimentJob(Protocol):
    """One piece of an experiment, computed in a process of its own; it must be picklable."""

    @property
    def label(self) -> str:
        """What it computes, for the line of progress."""

    @property
    def cost(self) -> float:
        """About how long it runs, relative to other jobs."""

    @property
    def key(self) -> str:
        """A name that changes with the data, the settings and the version of the program."""

    def run(self) -> JobResult:
        """Compute it."""


def job_key(kind: str, digest: str, settings: dict[str, Any]) -> str:
    """Return the name under which the result of a job is stored.

    Parameters
    ----------
    kind
        of the job.
    digest
        of its data.
    settings
        what else the result depends on, as JSON can hold it. The version of the program is added.
    """
    text = json.dumps([VERSION, kind, digest, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def make_folder(folder: Path) -> Path:
    """Return a folder, which is made where it is absent.

    Raises
    ------
    InputError
        where it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}") from error
    return folder


class JobStore:
    """A folder with one .npz for each finished job, named after its key: arrays, and facts as JSON text.

    Raises
    ------
    InputError
        where the folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = make_folder(folder)

    def load(self, key: str) -> JobResult | None:
        """Return the result of a job, or None where there is none or its file is damaged."""
        path = self._path(key)
        if not path.is_file():
            return None
        try:
            arrays: dict[str, npt.NDArray[Any]] = load_arrays(read_bytes(path), path)
            facts = json.loads(str(arrays.pop(FACTS)[()]))
        except (InputError, KeyError, IndexError, json.JSONDecodeError):
            return None
        return JobResult(facts, arrays)

    def save(self, key: str, result: JobResult) -> None:
        """Write the result of a job.

        Raises
        ------
        InputError
            where the file cannot be written.
        """
        with replacing(self._path(key)) as temporary, temporary.open("wb") as stream:
            text = json.dumps(result.facts, sort_keys=True)
            np.savez_compressed(stream, allow_pickle=False, **{FACTS: np.asarray(text)}, **result.arrays)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


@dataclass(frozen=True)
class JobsProgress:
    """How many jobs of an experiment are done."""

    done: int
    total: int
    fraction: float  # of the expected work of this run
    elapsed: float  # seconds since the start
    label: str  # of the job that finished last

    __repr__ = one_line_repr

    @property
    def seconds_left(self) -> float | None:
        """About how long the other jobs run; None before the first is done."""
        return self.elapsed * (1 - self.fraction) / self.fraction if self.fraction > 0 else None


def run_jobs(
    jobs: list[ExperimentJob],
    store: JobStore,
    *,
    processes: int | None = None,
    progress: Callable[[JobsProgress], None] | None = None,
) -> dict[str, JobResult]:
    """Return the result of every job by its key, from the store where it is there.

    Parameters
    ----------
    jobs
        what to compute; the longest start first.
    store
        where the results of finished jobs are kept. Those that failed are not.
    processes
        how many at a time; None leaves number and kind of workers to joblib's context, one by default.
    progress
        called before the first job starts and after every job.

    Returns
    -------
    dict[str, JobResult]
        results by key; a job that failed has the reason.

    Raises
    ------
    InputError
        where the store cannot be written.
    KeyboardInterrupt
        after Ctrl-C; what was finished before is in the store.
    """
    import joblib  # of the extra `experiments`: `core.experiments.report.check_installed` names it

    results = {job.key: before for job in jobs if (before := store.load(job.key)) is not None}
    waiting = {job.key: job for job in jobs if job.key not in results}
    ordered = sorted(waiting.values(), key=lambda job: job.cost, reverse=True)
    total = len(waiting) + len(results)
    work, done, began = sum(job.cost for job in ordered) or 1.0, 0.0, time.monotonic()

    def report(label: str) -> None:
        if progress is not None:
            progress(JobsProgress(len(results), total, done / work, time.monotonic() - began, label))

    report("")
    with warnings.catch_warnings(), ExitStack() as at_end:
        warnings.filterwarnings("ignore", module="joblib")  # of results that nobody waits for after Ctrl-C
        with signals_blocked():
            parallel = joblib.Parallel(n_jobs=processes, return_as="generator_unordered")
            calls = (joblib.delayed(_run_job)(job) for job in ordered)
            finished = at_end.enter_context(closing(parallel(calls)))
        for key, result in finished:
            if not result.failure:
                store.save(key, result)
            results[key] = result
            done += waiting[key].cost
            report(waiting[key].label)
    return results


def _run_job(job: ExperimentJob) -> tuple[str, JobResult]:
    """Run a job in a worker; an error that its data can cause becomes its result."""
    with single_threaded():
        try:
            return job.key, job.run()
        except (InputError, np.linalg.LinAlgError, MemoryError) as error:
            return job.key, JobResult({}, failure=str(error) or type(error).__name__)
