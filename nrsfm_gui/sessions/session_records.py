"""Runs as records of a session: what is stored of an iterate, and where its arrays are.

Arrays are in the archive under names. The tracks of a problem are in it only where they are not those of the
sequence, calibrated: several runs would need as much room as their tracks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np

from core import (
    Alignment,
    CameraModel,
    Factors,
    HistoryEntry,
    InputError,
    Iterate,
    LowRankProblem,
    NonRigidProblem,
    Point,
    Sequence,
    Settings,
    SolveStep,
    Status,
)
from core.cameras import IntrinsicsOrigin, calibrate
from core.data import check_rotations, checked_intrinsics
from core.depth import DepthEnd, DepthLevel, DepthPoint, DepthStep
from core.foundation import (
    LARGEST_COUNT,
    Bools,
    Floats,
    Hook,
    Phase,
    Records,
    check_shapes,
    read_only,
    refused,
    shown_text,
)
from core.penalties import ConcavePenalty
from core.problem import Problem, RobustLoss
from core.reconstruction import RECORDS, Geometry, Projective, Provenance, StartReport, Verdict, phases_of
from nrsfm_gui.model.history import History, Tick
from nrsfm_gui.model.run import Run, StoredErrors
from nrsfm_gui.sessions.archive import Array

LARGEST_NUMBER = 1e50  # of arrays that are computed with: squares and products of it are finite
LONGEST_NOTE = 20_000  # characters
KINDS = {np.float64: ("f", "numbers"), np.bool_: ("b", "truth values")}  # of arrays, by their annotations


@dataclass(frozen=True, eq=False)
class StoredHistory:
    """A history in columns, with the records that its phases begin at, and its changes of settings."""

    columns: Floats  # (N, 7) iteration, seconds, loss, primal and dual residual, energy, best; NaN: unknown
    phases: tuple[tuple[int, Phase], ...]
    ticks: tuple[Tick, ...]


NAMES = {
    each.__name__: each
    for each in (
        *(DepthStep, Factors, IntrinsicsOrigin, Iterate, Phase, Point, Problem, Provenance, RobustLoss),
        *(Settings, SolveStep, StartReport, Status, Tick, Verdict, DepthPoint, DepthEnd, Geometry),
        *(Alignment, DepthLevel),
    )
} | {"Floats": Floats, "Bools": Bools, "Path": Path}
# The history of a stream is that of the run; what a refinement knows besides is found again.
LEFT_OUT = {
    Run: ("snapshots", "seconds_left"),
    Iterate: ("log",),
    DepthStep: ("objective", "own", "followed", "known"),
}
# Letters are sizes that must agree: F frames and P points are those of the sequence.
Shapes = dict[str, tuple[str | int, ...]]
PROBLEM: Shapes = {"tracks": ("F", 2, "P"), "visible": ("F", "P"), "weights": ("K",), "tail": ("T",)}
SHAPES: dict[type, Shapes] = {
    StoredHistory: {"columns": ("N", 7)},
    NonRigidProblem: PROBLEM | {"rotations": ("F", 3, 3)},
    LowRankProblem: PROBLEM,
    Factors: {"B": ("N", "K"), "C": ("K", 3, "M"), "s": ("N", 3)},
    Geometry: {
        "B": ("F", "K"),
        "C": ("3P", "K"),
        "rotations": ("F", 3, 3),
        "translations": ("F", 3),
        "intrinsics": (3, 3),
        "std": ("F", 3, "P"),
    },
    Projective: {"cameras": ("F", 3, "R"), "homogeneous": ("R", "P")},
    DepthPoint: {"rotations": ("F", 3, 3), "depths": ("F", "P"), "rays": ("F", 2, "P")},
    Iterate: {"intrinsics": (3, 3), "calibration": (3, 3)},
    StoredErrors: {"points": ("M", 2)},
}
# Their arrays must be finite.
COMPUTED_WITH = (NonRigidProblem, LowRankProblem, DepthPoint, Iterate, StoredErrors)


class SessionRecords(Records):
    """Writes or reads the runs of a sequence; equal entries are one object, as when they were written."""

    def __init__(self, sequence: Sequence, name: Callable[[Array], str], arrays: Mapping[str, Array]) -> None:
        """`name`: returns the name of an array that is written; `arrays`: those to read, by name."""
        hooks = {
            np.ndarray: Hook(name, self._read_array),
            Sequence: Hook(lambda _sequence: None, lambda *_: sequence),  # each run is of this one
            Run: Hook(self.write_fields, self._read_run),
            Iterate: Hook(self._write_iterate, self._read_iterate),
            Problem: Hook(self._write_problem, self._read_problem),
            History: Hook(lambda history: self.write_fields(_stored_history(history)), self._read_history),
        }
        super().__init__(RECORDS.hooks | hooks, NAMES, LEFT_OUT)
        self._arrays, self._sequence = arrays, sequence
        self._calibrated: tuple[Floats, CameraModel] = np.eye(3), sequence.camera  # of the present iterate
        self._known: dict[tuple[object, ...], Any] = {}

    def read_fields(self, kind: Any, value: Any, where: str) -> Any:
        """Return a dataclass of its stored fields; the same one for the same fields."""
        key = kind, self._calibration, json.dumps(value)
        if key not in self._known:
            self._known[key] = super().read_fields(kind, value, where)
        return self._known[key]

    def check(self, kind: Any, values: Mapping[str, Any], where: str) -> None:
        """Refuse arrays of other shapes than those of the sequence, and what cannot be computed with."""
        frames, points = self._sequence.visible.shape
        sizes = {"F": frames, "P": points, "3P": 3 * points}
        check_shapes(SHAPES.get(kind, {}), values, sizes, where)
        for name in SHAPES.get(kind, {}):
            array, place = values.get(name), f"{where}.{name}"
            if array is None:
                continue
            if kind in COMPUTED_WITH and not (np.abs(array) <= LARGEST_NUMBER).all():
                raise InputError(f"{place} holds a value that is not finite, or above {LARGEST_NUMBER:g}")
            if name == "intrinsics":
                checked_intrinsics(array, place)
            if name == "rotations" and kind in COMPUTED_WITH:
                check_rotations(array, place)
        spectral = values.get("spectral")
        if spectral is not None and not isinstance(spectral, ConcavePenalty):
            raise refused(f"{where}.spectral", spectral, "a penalty that is not linear")
        if kind is Provenance and not values["steps"]:
            raise InputError(f"{where}.steps is empty; accepted is at least one run")
        if kind is Point:
            (rows, columns), factors = values["problem"].shape, values["factors"]
            if factors.B.shape != (rows, values["problem"].rank) or factors.C.shape[2] != columns:
                raise InputError(f"{where}.factors are not of the shape of the problem")

    def _read_array(self, kind: Any, value: Any, where: str) -> Any:
        letter, name = KINDS[get_args(get_args(kind)[1])[0]]
        if not isinstance(value, str) or value not in self._arrays:
            raise refused(where, value, "the name of an array in the file")
        array = self._arrays[value]
        if array.dtype.kind != letter:
            raise InputError(f"{where} is {array.dtype}; accepted are {name}")
        return array

    def _read_run(self, kind: Any, value: Any, where: str) -> Run:
        entries = dict(value) if isinstance(value, dict) else {}
        note = entries.pop("note", "")
        if not isinstance(note, str):
            raise refused(f"{where}.note", note, "a text")
        run: Run = super().read_fields(kind, entries, where)
        run.note = shown_text(note, LONGEST_NOTE)
        _check_run(run, where)
        if run.last is not None and len(run.history):
            run.snapshots.add(len(run.history) - 1, run.last)
        return run

    # -- iterates and problems ------------------------------------------------------------------------------

    @property
    def _calibration(self) -> tuple[object, ...]:
        return self._calibrated[0].tobytes(), self._calibrated[1]

    def _write_iterate(self, iterate: Iterate) -> dict[str, Any]:
        self._calibrated = iterate.intrinsics, iterate.settings.camera_of(self._sequence.camera)
        return self.write_fields(iterate)

    def _read_iterate(self, _kind: Any, value: Any, where: str) -> Any:
        needed = value if isinstance(value, dict) else {}
        settings = self.read(Settings, needed.get("settings"), f"{where}.settings")
        K = self.read(Floats, needed.get("intrinsics"), f"{where}.intrinsics")
        self.check(Iterate, {"intrinsics": K}, where)
        self._calibrated = K, settings.camera_of(self._sequence.camera)
        return self.read_fields(Iterate, value, where)

    def _posed(self, *, low_rank: bool) -> dict[str, Array]:
        """Return the tracks (F, 2, P) as a run poses its problem on them, and what is seen (F, P)."""
        key = "tracks", low_rank, self._calibration
        if key not in self._known:
            (K, camera), sequence = self._calibrated, self._sequence
            tracks = sequence.tracks / float(K[0, 0])
            if not low_rank:
                tracks = calibrate(sequence.observations, K, camera)
            self._known[key] = read_only(np.where(sequence.visible[:, None], tracks, 0.0))
        return {"tracks": self._known[key], "visible": self._sequence.visible}

    def _write_problem(self, problem: Problem) -> dict[str, Any]:
        assert isinstance(problem, NonRigidProblem | LowRankProblem)
        posed = self._posed(low_rank=isinstance(problem, LowRankProblem))
        own = all(np.array_equal(array, getattr(problem, name)) for name, array in posed.items())
        names = [entry.name for entry in fields(problem) if not (own and entry.name in posed)]
        values = {name: self.write(getattr(problem, name)) for name in (*names, "robust")}
        return values if isinstance(problem.spectral, ConcavePenalty) else values | {"spectral": None}

    def _read_problem(self, _kind: Any, value: Any, where: str) -> Problem:
        entries = dict(value) if isinstance(value, dict) else {}
        kind = NonRigidProblem if "rotations" in entries else LowRankProblem
        robust = self.read(RobustLoss | None, entries.pop("robust", None), f"{where}.robust")
        posed = self._posed(low_rank=kind is LowRankProblem)
        self._arrays = {**self._arrays, **posed}  # under names that no array of a file has
        problem = self.read_fields(kind, dict(zip(posed, posed, strict=True)) | entries, where)
        if (problem, robust) not in self._known:
            self._known[problem, robust] = problem.with_robust(robust)
        known: Problem = self._known[problem, robust]
        return known

    def _read_history(self, _kind: Any, value: Any, where: str) -> History:
        stored = self.read_fields(StoredHistory, value, where)
        phases, phase = dict(stored.phases), None
        if not (np.abs(stored.columns[:, :2]) <= LARGEST_COUNT).all():  # written so that NaN is refused, too
            raise InputError(f"{where} counts iterations or seconds that are no such numbers")
        history = History()
        history.ticks.extend(stored.ticks)
        for index, (iteration, seconds, loss, *others) in enumerate(stored.columns.tolist()):
            phase = phases.get(index, phase)
            if phase is None:
                raise InputError(f"{where}.phases lacks the phase of the first record")
            known = (None if np.isnan(each) else each for each in others)
            history.extend([HistoryEntry(int(iteration), seconds, loss, phase, *known)])
        return history


def _check_run(run: Run, where: str) -> None:
    """Refuse a run that is not over, or refers to runs and records that cannot be."""
    numbers, count = (run.number, run.warm_from, run.shown_before), len(run.history)
    changes = [index for tick in run.history.ticks for index in (tick.first, *tick.later)]
    if run.state.alive:
        raise InputError(f"{where}: the state is {run.state.value}; accepted is that of a run which is over")
    if not all(each is None or each >= 1 for each in numbers):
        raise InputError(f"{where}: a run has the numbers {numbers}; accepted are numbers from 1")
    if not all(0 <= index < max(count, 1) for index in changes):
        raise InputError(f"{where}: changes are at the records {changes}; there are {count}")
    if not all(((curve.points[:, 0] >= 0) & (curve.points[:, 0] < count)).all() for curve in run.errors):
        raise InputError(f"{where}: errors are at records that are absent; there are {count}")


def _stored_history(history: History) -> StoredHistory:
    lines = []
    for record in history.records:
        others = (record.primal, record.dual, record.energy, record.best)
        known = (np.nan if value is None else value for value in others)
        lines.append((record.iteration, record.seconds, record.loss, *known))
    columns = np.array(lines, dtype=float).reshape(-1, 7)
    return StoredHistory(columns, tuple(phases_of(history.records)), tuple(history.ticks))
