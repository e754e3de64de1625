"""The order of the runs of a sweep by what has ended: the settings that promise the least error start first.

The error of a run, as a logarithm, is compared with the mean of the runs of the same sequence that have
ended. The mean of these differences over the runs with some value of a setting is what this value promises,
and a run promises the sum over its values. A value that no run has had yet promises most, so that each is
tried once before any is repeated. Where there is no truth the reprojection error is used.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ...reconstruction.provenance import settings_to_dict
from ..jobs import LongestFirst
from .rows import flat_settings
from .runs import SweepJob

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..jobs import ExperimentJob, JobResult

RANKED_BY = ("procrustes_mm", "reprojection_px")  # the first that a run has
Value = tuple[str, Any]  # of a setting, with its name


class BestFirst:
    """A queue of runs, of which the most promising is next; see `core.experiments.jobs.JobQueue`."""

    def __init__(
        self, jobs: Iterable[ExperimentJob], ended: Iterable[tuple[SweepJob, Mapping[str, Any]]] = ()
    ) -> None:
        self._lock = threading.Lock()
        self._errors: dict[str, list[tuple[float, list[Value]]]] = defaultdict(list)  # by sequence
        self._waiting: dict[SweepJob, list[Value]] = {}
        longest = LongestFirst(jobs)
        for job in iter(longest.pop, None):
            assert isinstance(job, SweepJob)
            self._waiting[job] = _values(job)
        # What all of them have puts none before another, and is most of what they have.
        self._shared = frozenset[Value]().union(*self._waiting.values()).intersection(*self._waiting.values())
        self._waiting = {job: self._varied(values) for job, values in self._waiting.items()}
        for job, metrics in ended:
            self._note(job, metrics)

    def pop(self) -> ExperimentJob | None:
        """Return the run that promises the least error, the longest of several; None where none is left."""
        with self._lock:
            if not self._waiting:
                return None
            promises = self._promises()

            def promise(waiting: tuple[SweepJob, list[Value]]) -> float:
                return sum(promises.get(value, -math.inf) for value in waiting[1])

            best, _ = min(self._waiting.items(), key=promise)
            del self._waiting[best]
            return best

    def learn(self, job: ExperimentJob, result: JobResult) -> None:
        """Note the errors of a run."""
        assert isinstance(job, SweepJob)
        with self._lock:
            self._note(job, result.facts.get("metrics", {}))

    def _note(self, job: SweepJob, metrics: Mapping[str, Any]) -> None:
        error = next((metrics[name] for name in RANKED_BY if metrics.get(name) is not None), None)
        if error is not None and error > 0:
            self._errors[job.sequence.content].append((math.log(error), self._varied(_values(job))))

    def _varied(self, values: list[Value]) -> list[Value]:
        return [value for value in values if value not in self._shared]

    def _promises(self) -> dict[Value, float]:
        """Return the mean difference of the runs with each value from the others of their sequences."""
        sums: dict[Value, float] = defaultdict(float)
        counts: dict[Value, int] = defaultdict(int)
        for runs in self._errors.values():
            mean = sum(error for error, _ in runs) / len(runs)
            for error, values in runs:
                for value in values:
                    sums[value] += error - mean
                    counts[value] += 1
        return {value: total / counts[value] for value, total in sums.items()}


def _values(job: SweepJob) -> list[Value]:
    return list(flat_settings(settings_to_dict(job.settings)).items())
