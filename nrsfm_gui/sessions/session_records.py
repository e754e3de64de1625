"""Runs as records of a session: what is stored of an iterate, and where its arrays are.

Arrays are in the archive under names. The tracks of a problem are in it only where they are not those of the
sequence, calibrated: several runs would need as much room as their tracks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NewType, get_args

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
from core.depth import DepthEnd, DepthPoint, DepthStep
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
from core.penalties import ConcavePenalty, SpectralPenalty
from core.problem import Problem, RobustLoss
from core.reconstruction import (
    RECORDS,
    Geometry,
    Projective,
    Provenance,
    StartReport,
    Verdict,
    phases_of,
    write_penalty,
)
from nrsfm_gui.model.history import Tick
from nrsfm_gui.model.run import RunState
from nrsfm_gui.scene.run_errors import StoredErrors
from nrsfm_gui.sessions.archive import Array

LARGEST_NUMBER = 1e50  # of arrays that are computed with: squares and products of it are finite
LONGEST_NOTE = 20_000  # characters
Note = NewType("Note", str)
HistoryEntries = tuple[HistoryEntry, ...]
KINDS = {np.float64: ("f", "numbers"), np.bool_: ("b", "truth values")}  # of arrays, by their annotations


@dataclass(frozen=True, eq=False)
class StoredHistory:
    """A history in columns, with the records that its phases begin at."""

    columns: Floats  # (N, 7) iteration, seconds, loss, primal and dual residual, energy, best; NaN: unknown
    phases: tuple[tuple[int, Phase], ...]


@dataclass(frozen=True, eq=False)
class StoredProblem:
    """The problem of a point; `tracks` and `visible` are absent where they are those of the sequence."""

    low_rank: bool
    tracks: Floats | None  # (F, 2, P)
    visible: Bools | None  # (F, P)
    rotations: Floats | None  # (F, 3, 3) of a non-rigid problem
    eta: float
    weights: Floats  # (K,)
    tail: Floats | None
    spectral: dict[str, Any] | None
    robust: RobustLoss | None


NAMES = {
    each.__name__: each
    for each in (
        *(DepthStep, Factors, IntrinsicsOrigin, Iterate, Phase, Point, Problem, Provenance, RobustLoss),
        *(RunState, Settings, SolveStep, StartReport, Status, Tick, Verdict, DepthPoint, DepthEnd, Geometry),
        *(Alignment, StoredErrors),
    )
} | {"Floats": Floats, "Bools": Bools, "Note": Note, "Path": Path}
# The history of a stream is that of the run; what a refinement knows besides is found again.
LEFT_OUT = {Iterate: ("log",), DepthStep: ("objective", "mirrored", "followed", "known")}
# Letters are sizes that must agree: F frames and P points are those of the sequence.
SHAPES: dict[type, dict[str, tuple[str | int, ...]]] = {
    StoredHistory: {"columns": ("N", 7)},
    StoredProblem: {
        "tracks": ("F", 2, "P"),
        "visible": ("F", "P"),
        "rotations": ("F", 3, 3),
        "weights": ("K",),
        "tail": ("T",),
    },
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
COMPUTED_WITH = (StoredProblem, DepthPoint, Iterate, StoredErrors)  # their arrays must be finite


class SessionRecords(Records):
    """Writes or reads the runs of a sequence; equal entries are one object, as when they were written."""

    def __init__(self, sequence: Sequence, name: Callable[[Array], str], arrays: Mapping[str, Array]) -> None:
        """`name`: returns the name of an array that is written; `arrays`: those to read, by name."""
        hooks = {
            np.ndarray: Hook(name, self._read_array),
            Note: Hook(str, lambda _kind, value, where: _read_note(value, where)),
            Iterate: Hook(self._write_iterate, self._read_iterate),
            Problem: Hook(self._write_problem, self._read_problem),
            HistoryEntries: Hook(
                lambda records: self.write_fields(_stored_history(records)), self._read_history
            ),
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

    def _posed_tracks(self, *, low_rank: bool) -> Floats:
        """Return the tracks (F, 2, P) of the sequence as a run poses its problem on them."""
        key = "tracks", low_rank, self._calibration
        if key not in self._known:
            (K, camera), sequence = self._calibrated, self._sequence
            tracks = sequence.tracks / float(K[0, 0])
            if not low_rank:
                tracks = calibrate(sequence.observations, K, camera)
            self._known[key] = read_only(np.where(sequence.visible[:, None], tracks, 0.0))
        posed: Floats = self._known[key]
        return posed

    def _write_problem(self, problem: Problem) -> dict[str, Any]:
        low_rank = isinstance(problem, LowRankProblem)
        posed, visible = self._posed_tracks(low_rank=low_rank), self._sequence.visible
        spectral = problem.spectral
        own = np.array_equal(posed, problem.tracks) and np.array_equal(visible, problem.visible)
        return self.write_fields(
            StoredProblem(
                low_rank,
                None if own else problem.tracks,
                None if own else problem.visible,
                problem.rotations if isinstance(problem, NonRigidProblem) else None,
                problem.eta,
                problem.weights,
                problem.tail,
                write_penalty(spectral) if isinstance(spectral, ConcavePenalty) else None,
                problem.robust,
            )
        )

    def _read_problem(self, _kind: Any, value: Any, where: str) -> Problem:
        stored = self.read_fields(StoredProblem, value, where)
        if (stored,) in self._known:
            known: Problem = self._known[stored,]
            return known
        tracks, visible = stored.tracks, stored.visible
        if tracks is None or visible is None:
            tracks, visible = self._posed_tracks(low_rank=stored.low_rank), self._sequence.visible
        spectral = None
        if stored.spectral is not None:
            spectral = self.read(SpectralPenalty, stored.spectral, f"{where}.spectral")
            if not isinstance(spectral, ConcavePenalty):
                raise refused(f"{where}.spectral", stored.spectral, "a penalty that is not linear")
        penalty = stored.eta, stored.weights, stored.tail, spectral
        try:
            if stored.low_rank:
                problem: Problem = LowRankProblem(tracks, visible, *penalty)
            elif stored.rotations is not None:
                problem = NonRigidProblem(tracks, visible, stored.rotations, *penalty)
            else:
                raise InputError("a non-rigid problem has rotations")
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
        self._known[stored,] = problem = problem.with_robust(stored.robust)
        return problem

    def _read_history(self, _kind: Any, value: Any, where: str) -> tuple[HistoryEntry, ...]:
        stored = self.read_fields(StoredHistory, value, where)
        phases, phase = dict(stored.phases), None
        if not (np.abs(stored.columns[:, :2]) <= LARGEST_COUNT).all():  # written so that NaN is refused, too
            raise InputError(f"{where} counts iterations or seconds that are no such numbers")
        records = []
        for index, (iteration, seconds, loss, *others) in enumerate(stored.columns.tolist()):
            phase = phases.get(index, phase)
            if phase is None:
                raise InputError(f"{where}.phases lacks the phase of the first record")
            known = (None if np.isnan(each) else each for each in others)
            records.append(HistoryEntry(int(iteration), seconds, loss, phase, *known))
        return tuple(records)


def _read_note(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise refused(where, value, "a text")
    return shown_text(value, LONGEST_NOTE)


def _stored_history(records: HistoryEntries) -> StoredHistory:
    lines = []
    for record in records:
        others = (record.primal, record.dual, record.energy, record.best)
        known = (np.nan if value is None else value for value in others)
        lines.append((record.iteration, record.seconds, record.loss, *known))
    return StoredHistory(np.array(lines, dtype=float).reshape(-1, 7), tuple(phases_of(records)))
