"""Jobs on a cluster of Dask, through joblib.

The scheduler gives every job to one of its workers and gives it to another where the worker dies. What
travels is the job, a path and settings, and back the facts that it found; a result file is written by the
worker, so that workers see the same files under the same names.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..foundation.exceptions import InputError
from ..foundation.representation import one_line_repr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONNECT_SECONDS = 15.0  # that a scheduler may take to answer
BACKEND = "nrsfm-dask"  # its name for joblib
WORKER_SECONDS = 60.0  # that the first worker may take to come
IN_FLIGHT = 2000  # jobs given to the scheduler at least, so that workers that join later have some at once


@dataclass(frozen=True, eq=False)
class Cluster:
    """A scheduler of Dask and its workers."""

    client: Any  # distributed.Client

    __repr__ = one_line_repr

    @property
    def workers(self) -> int:
        """The workers that are connected now."""
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    @property
    def connected(self) -> bool:
        """Whether the scheduler still answers."""
        return bool(self.client.status == "running")

    @property
    def threads(self) -> int:
        """How many jobs the workers run at the same time."""
        return sum(self.client.ncores().values())


def _silence_dask() -> None:
    """Let Dask write nothing of its own to stderr: what ends the runs is an exception, too."""
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        for handler in logging.getLogger(name).handlers:
            handler.setLevel(logging.CRITICAL + 1)


@contextmanager
def connect_to_dask(address: str) -> Iterator[Cluster]:
    """Let `run_jobs` use the workers of a scheduler in the block.

    Raises InputError where Dask is not installed, the scheduler does not answer, or no worker comes.
    """
    try:
        import distributed
        import joblib
    except ImportError as error:
        raise InputError(
            f"--backend dask needs dask and distributed, and {error.name} is not installed; install them "
            "with: pip install 'nrsfm-gui[cluster]'"
        ) from error
    _silence_dask()
    where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    connect: Any = distributed.Client
    try:
        client = connect(**where, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"--scheduler {address}: no scheduler of Dask answers there ({error})") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError:
            raise InputError(
                f"--scheduler {address}: no worker has come for {WORKER_SECONDS:g} s; start some with: "
                f"dask worker {address}"
            ) from None
        joblib.register_parallel_backend(BACKEND, _reporting_backend())
        with joblib.parallel_config(BACKEND, client=client):
            yield Cluster(client)


def _reporting_backend() -> type:
    """Return joblib's backend of Dask, which also reports the jobs that Dask gives up.

    joblib 1.6 waits forever for a job that the scheduler did not finish: one during which several workers
    died, or any when the scheduler ended.
    """
    from joblib._dask import DaskDistributedBackend

    class ReportingDaskBackend(DaskDistributedBackend):  # type: ignore[misc]  # joblib has no types
        """Ends the call of `joblib.Parallel` with the reason why a job was given up."""

        def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
            """Give a batch of jobs to the scheduler."""
            future = super().submit(func, callback)
            future.add_done_callback(lambda done: callback(done) if done.exception() is not None else None)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            """Return the results of a batch, or raise why there are none."""
            if isinstance(out, Future):
                out = out.exception()
            if isinstance(out, BaseException):  # the scheduler has ended
                raise RuntimeError(f"{type(out).__name__}: {out}")
            return super().retrieve_result_callback(out)

    return ReportingDaskBackend
