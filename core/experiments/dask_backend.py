"""joblib's backend of Dask, which also reports the jobs that Dask gives up.

joblib 1.6 waits forever for a job that the scheduler did not finish: one during which several workers died,
or any when the scheduler ended.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import joblib
from joblib._dask import DaskDistributedBackend

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "nrsfm-dask"


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


joblib.register_parallel_backend(NAME, ReportingDaskBackend)
