"""The runs of a sweep: every sequence under all settings, each a job that a worker computes from a path.

They start in the order that `core.experiments.jobs.JobQueue` or `BestFirst` gives them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...data.sequence import CameraModel, Sequence
from ...evaluation.metrics import camera_truth, errors_of, published_errors
from ...evaluation.optimality import optimality
from ...foundation import DEPTHS, VERSION, InputError
from ...io.readers import SequenceEntry, entry_of, is_sequence_folder, list_sequences, read_sequence, resolve
from ...io.readers.challenge import challenge_file
from ...reconstruction import Result, Settings, reconstruct, save_result
from ...reconstruction.provenance import settings_to_dict, solve_command, source_name
from ..job_store import RESULTS
from ..jobs import ExperimentJob, JobQueue, JobResult, ResultNotWritten, job_key
from .frame import SEQUENCE_COLUMNS
from .rows import flat_settings, is_sweep_folder

# About how long a run takes, measured on sequences of 3 200 to 12 600 observations: seconds of a phase of the
# bilinear run, of an observation in it up to so many, and of an observation whose depth is refined; of
# orthogonal cameras this share.
PHASE_SECONDS, OBSERVATION_SECONDS, COMPARED = 0.01, 4e-6, 12_000
REFINED_SECONDS = 8e-4
ORTHOGONAL_SHARE = 0.55
RANK_PHASES = 14  # of each rank, where rotations are compared; else there is one
OTHER_PHASES = 4  # of further starts, and the last one


RANKED_BY = ("procrustes_mm", "reprojection_px")  # the first that a run has
Value = tuple[str, Any]  # of a setting, with its name


@dataclass(frozen=True)
class SweepSequence:
    """A sequence of a sweep: where it is, and what is known of it without its arrays."""

    source: str  # the full path, or the name of a sample
    reading: tuple[tuple[str, Any], ...]  # options that it is read with
    object_name: str
    path_name: str  # of the camera; "" where the file has none
    camera: str
    observations: int  # F P
    content: str  # hash of all that a result depends on


@dataclass(frozen=True, eq=False)
class SweepJob(ExperimentJob):
    """One run: a sequence by its path, and settings. No array travels to the worker that computes it."""

    sequence: SweepSequence
    settings: Settings
    folder: Path | None  # of the sweep, where the result is kept; None leaves it out

    @property
    def identity(self) -> dict[str, Any]:
        """Return the sequence and all settings."""
        return {
            "object": self.sequence.object_name,
            "camera": self.sequence.camera,
            "path": self.sequence.path_name,
            "sequence": self.sequence.source,
            "reading": dict(self.sequence.reading),
            "settings": settings_to_dict(self.settings),
            "data": self.sequence.content,
            "version": VERSION,
            "command": solve_command(self.sequence.source, dict(self.sequence.reading), self.settings),
        }

    def run(self) -> JobResult:
        """Reconstruct, measure, and write the result into the folder."""
        sequence = _read(self.sequence)
        result = reconstruct(sequence, self.settings)
        kept = ""
        if self.folder is not None:
            kept = f"{RESULTS}/{self.key}.npz"
            try:
                save_result(result, self.folder / kept)
            except InputError as error:
                raise ResultNotWritten(str(error)) from error
        return JobResult(run_figures(result, sequence) | {"result": kept})


def sweep_job(sequence: SweepSequence, settings: Settings, folder: Path | None) -> SweepJob:
    """Return the job of a sequence under settings; its cost is about how many seconds it runs."""
    key = job_key("sweep", sequence.content, settings_to_dict(settings))
    names = filter(None, (sequence.object_name, sequence.path_name, sequence.camera))
    label = " ".join([*names, f"rank {settings.rank} seed {settings.seed}"])
    phases = settings.rank * (RANK_PHASES if settings.rotations == "best" else 1) + OTHER_PHASES
    cost = phases * (PHASE_SECONDS + OBSERVATION_SECONDS * min(sequence.observations, COMPARED))
    if settings.objective == DEPTHS:
        cost += REFINED_SECONDS * sequence.observations
    if settings.camera_of(CameraModel(sequence.camera)) is CameraModel.ORTHOGONAL:
        cost *= ORTHOGONAL_SHARE
    return SweepJob(key, label, cost, sequence, settings, folder)


def run_figures(result: Result, sequence: Sequence) -> dict[str, Any]:
    """Return what a sweep records of a result, ready for JSON; a number that is not finite is None."""
    errors = errors_of(result) | published_errors(result, camera_truth(sequence))
    return {
        "status": result.meta["status"],
        "loss": _finite(result.loss),
        "log10_loss": _finite(result.log_loss),
        "gradient": _finite(optimality(result)["relative_gradient"]),
        "iterations": result.iterations,
        "metrics": {name: _finite(value) for name, value in errors.items()},
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@lru_cache(maxsize=4)
def _read(known: SweepSequence) -> Sequence:
    """Return a sequence, which the next runs of a worker need again."""
    sequence = read_sequence(known.source, **dict(known.reading))
    if sequence.content != known.content:
        raise InputError(f"{known.source}: is not what it was when the sweep began")
    return sequence


def find_sequences(
    data: Iterable[str],
    *,
    objects: Collection[str] = (),
    cameras: Collection[str] = (),
    paths: Collection[str] = (),
    reading: Mapping[str, Any] | None = None,
) -> list[SweepSequence]:
    """Return the sequences of folders and files that are asked for."""
    entries = [each for text in data for each in _entries(text, dict(reading or {}))]
    wanted = {"object": set(objects), "camera": set(cameras), "path": set(paths)}
    for name, asked in wanted.items():
        known = {_names(entry)[name] for entry, _ in entries}
        missing = sorted(asked - known)
        if missing:
            listed = ", ".join(sorted(filter(None, known))) or "none"
            raise InputError(f"--{name} is {missing[0]!r}, which the data does not have; it has {listed}")
    found = [
        _described(entry, options)
        for entry, options in entries
        if all(not asked or _names(entry)[name] in asked for name, asked in wanted.items())
    ]
    if not found:
        raise InputError("no sequence of the data has that object, camera and path together")
    return found


def _entries(text: str, options: dict[str, Any]) -> list[tuple[SequenceEntry, dict[str, Any]]]:
    """Return what a folder, less the table of a sweep below it, or a file holds, and the reading options."""
    path = resolve(Path(text))
    if path.is_dir() and not is_sequence_folder(path):
        base = options.get("frame_base", 1)
        reading = {} if base == 1 else {"frame_base": base}
        found = list_sequences(text, frame_base=base)
        return [(entry, reading) for entry in found if not is_sweep_folder(entry.file.parent)]
    sequence = read_sequence(path, **options)
    entry = entry_of(sequence)
    item = challenge_file(entry.file)
    if item is not None:
        entry = replace(entry, object_name=item.root.name, path_name=item.path_name)
    return [(entry, dict(sequence.reading))]


def _names(entry: SequenceEntry) -> dict[str, str]:
    camera = "" if entry.camera is None else entry.camera.value
    return {"object": entry.object_name, "camera": camera, "path": entry.path_name}


def _described(entry: SequenceEntry, reading: Mapping[str, Any]) -> SweepSequence:
    if entry.problem:
        raise InputError(f"{entry.problem} (--object A,B chooses others)")
    sequence = read_sequence(entry.file, **reading)
    return SweepSequence(
        source=source_name(sequence),
        reading=tuple(sequence.reading.items()),
        object_name=entry.object_name,
        path_name=entry.path_name,
        camera=sequence.camera.value,
        observations=sequence.visible.size,
        content=sequence.content,
    )


@dataclass(frozen=True)
class SweepPlan:
    """The runs of a sweep, and those that are left out."""

    jobs: tuple[SweepJob, ...]  # each once
    refused: tuple[tuple[str, int], ...] = ()  # reasons why settings do not suit a camera, and how many runs

    @cached_property
    def swept(self) -> tuple[str, ...]:
        """The columns of sequences and settings that have several values, also one that some runs lack."""
        sequences = {job.sequence for job in self.jobs}
        places = [(each.object_name, each.camera, each.path_name) for each in sequences]
        rows = [flat_settings(settings_to_dict(one)) for one in {job.settings for job in self.jobs}]
        varied = [
            name for name, values in zip(SEQUENCE_COLUMNS, zip(*places, strict=True), strict=False)
            if len(set(values)) > 1
        ]  # fmt: skip
        names = dict.fromkeys(name for row in rows for name in row)
        return (*varied, *(name for name in names if len({row.get(name) for row in rows}) > 1))


def plan_sweep(
    sequences: Iterable[SweepSequence], settings: Iterable[Settings], folder: Path | None
) -> SweepPlan:
    """Return the runs of every sequence under all settings; without a `folder` their results are not kept."""
    jobs: dict[str, SweepJob] = {}
    refused: Counter[str] = Counter()
    every = list(dict.fromkeys(settings))
    for sequence in sequences:
        for one in every:
            refusal = one.refusal(CameraModel(sequence.camera))
            if refusal:
                refused[refusal] += 1
            else:
                job = sweep_job(sequence, one, folder)
                jobs.setdefault(job.key, job)
    if not jobs:
        raise InputError(f"no run is left: {next(iter(refused), 'there are no settings')}")
    return SweepPlan(tuple(jobs.values()), tuple(refused.items()))


def measured_pace(ended: Iterable[tuple[SweepJob, float]]) -> float:
    """Return how long ended runs took, each with its seconds, over what was expected."""
    pairs = [(job.cost, seconds) for job, seconds in ended]
    expected = sum(cost for cost, _ in pairs)
    return sum(seconds for _, seconds in pairs) / expected if expected else 1.0


class BestFirst(JobQueue):
    """A queue of runs, of which the most promising is next.

    The error of a run, as a logarithm, is compared with the mean of the runs of the same sequence that have
    ended. The mean of these differences over the runs with some value of a setting is what this value
    promises, and a run promises the sum over its values. A value that no run has had yet promises most, so
    that each is tried once before any is repeated. Where there is no truth the reprojection error is used.
    """

    def __init__(
        self, jobs: Iterable[ExperimentJob], ended: Iterable[tuple[SweepJob, Mapping[str, Any]]] = ()
    ) -> None:
        self._errors: dict[str, list[tuple[float, list[Value]]]] = defaultdict(list)  # by sequence
        self._waiting: dict[SweepJob, list[Value]] = {}
        super().__init__(jobs)
        for job in self._jobs:
            assert isinstance(job, SweepJob)
            self._waiting[job] = _values(job)
        # What all of them have puts none before another, and is most of what they have.
        self._shared = frozenset[Value]().union(*self._waiting.values()).intersection(*self._waiting.values())
        self._waiting = {job: self._varied(values) for job, values in self._waiting.items()}
        for job, metrics in ended:
            self._note(job, metrics)

    def pop(self) -> ExperimentJob | None:
        """Return the run that promises the least error, the longest of several; None where none is left."""
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
