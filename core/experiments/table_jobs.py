"""The sequences of the tables, and a job for each under one penalty: all methods on one problem.

The sequences are the Challenge's own, those of a folder like it, or the bundled samples; the settings are
the paper's (K = 2, eta = 0.05 or 1, rotations from the orthogonal tracks, intrinsics from the ground-truth
frame). Each row of a table is the end of a method:

    Search-...      the program's default: the bilinear form from several starts; it chooses the rotations
    ADMM-...        perspective: ADMM from the closed form to its end, cut to rank K
    BMM, R-BMM      orthogonal: the same of these
    Ours-...        the paper's pipeline: the bilinear form from that cut

All are ends of the same problem, with the same rotations and weights, so that their losses can be compared.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..data.sequence import CameraModel
from ..evaluation.metrics import errors_of, procrustes_mm, published_errors
from ..foundation.exceptions import InputError
from ..foundation.linalg import procrustes
from ..io.readers import list_sequences, read_sequence
from ..io.readers.samples import PREFIX
from ..penalties import NuclearNorm, WeightedNuclearNorm
from ..problem.factors import center
from ..problem.initialization import full_rank_start
from ..reconstruction.progress import Point, finish
from ..reconstruction.provenance import command_for, settings_to_dict
from ..reconstruction.reconstruct import iterate_sequence
from ..reconstruction.settings import PRESETS, Settings
from ..solvers.admm import ADMM
from ..solvers.bmm import BMM, RBMM
from ..solvers.solver import solve
from ..solvers.variable_projection import VariableProjection
from .jobs import ExperimentJob, JobResult, job_key
from .mocap import BMM_TAU
from .published import in_printed_order, published_tables

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.sequence import Sequence
    from ..foundation.types import Floats
    from ..io.readers import SequenceEntry
    from ..penalties import Penalty
    from ..problem.factors import Factors
    from ..problem.nonrigid import Problem
    from ..reconstruction.progress import Iterate
    from ..reconstruction.result import Result
    from ..solvers.solver import Algorithm

TABLE_PENALTIES: dict[str, Penalty] = {"NN": NuclearNorm(mu=1e-3), "WNN": WeightedNuclearNorm(xi=5e-3)}
# The first-order method of every camera and penalty: its row, its name on the command line, itself. Its own
# criteria end it; as in the paper it runs until it converges or stalls, up to the limit that it has.
FIRST_ORDER: dict[tuple[CameraModel, str], tuple[str, str, Algorithm[Any]]] = {
    (CameraModel.PERSPECTIVE, "NN"): ("ADMM-NN", "admm", ADMM()),
    (CameraModel.PERSPECTIVE, "WNN"): ("ADMM-WNN", "admm", ADMM()),
    (CameraModel.ORTHOGONAL, "NN"): ("BMM", "bmm", BMM(tau=BMM_TAU, max_iterations=2000)),
    (CameraModel.ORTHOGONAL, "WNN"): ("R-BMM", "r-bmm", RBMM()),
}


@dataclass(frozen=True, eq=False)
class TableSequence:
    """A sequence and its place in the tables."""

    object_name: str
    path_name: str
    sequence: Sequence
    real: bool  # whether it is one that the paper's tables have

    @property
    def camera(self) -> CameraModel:
        """Which camera it was seen by."""
        return self.sequence.camera


@dataclass(frozen=True, eq=False)
class TableData:
    """The sequences of a report."""

    origin: str  # where the sequences are from
    items: tuple[TableSequence, ...]

    @property
    def real(self) -> bool:
        """Whether all of them are the Challenge's own."""
        return all(item.real for item in self.items)

    @property
    def objects(self) -> list[str]:
        """The objects in the paper's order, then others by name."""
        return in_printed_order((item.object_name for item in self.items), published_tables().objects)


def load_table_data(folder: Path | None, *, frame_base: int = 1) -> TableData:
    """Read the sequences of a folder in the Challenge's layout, or the bundled samples.

    `folder`: the folder; None for the bundled samples. Raises InputError where there are none, one is broken
    or has no ground truth, or several are of one object and path.
    """
    entries = list_sequences(PREFIX if folder is None else folder, frame_base=frame_base)
    items: dict[tuple[str, str, CameraModel], TableSequence] = {}
    for entry in entries:
        if entry.problem:
            raise InputError(entry.problem)
        if entry.camera is None or not entry.path_name:
            continue  # not of the Challenge's layout
        sequence = read_sequence(entry.file, frame_base=frame_base)
        if sequence.truth is None:
            raise InputError(f"{entry.file}: its object has no gt_frame_N.txt, which the errors need")
        place = (entry.object_name, entry.path_name, entry.camera)
        if place in items:
            both = f"{items[place].sequence.source} and {entry.file}"
            raise InputError(f"{both} are of the same object and path; accepted is one of them")
        items[place] = TableSequence(entry.object_name, entry.path_name, sequence, _is_published(entry))
    if not items:
        if folder is None:
            raise InputError("no simulated objects are bundled with this installation; give --data FOLDER")
        raise InputError(
            f"{folder}: holds no sequence of the Challenge's layout, <object>/sequence/{{orthogonal,"
            "perspective}/<path>.txt"
        )
    origin = "bundled simulated objects" if folder is None else str(folder)
    return TableData(origin, tuple(items.values()))


def _is_published(entry: SequenceEntry) -> bool:
    """Whether a sequence is one of the Challenge's own, judged by its name and its ground truth.

    Simulated objects may have the same names, but their shapes are known in every frame.
    """
    tables = published_tables()
    if entry.object_name not in tables.objects or entry.path_name not in tables.paths:
        return False
    number = None if entry.truth_frame is None else entry.truth_frame + 1
    wanted = tables.truth_frames[entry.object_name]
    return entry.truth_frames == 1 and number is not None and number in (wanted, wanted + 1)


@dataclass(frozen=True, eq=False)
class TableJob(ExperimentJob):
    """All methods on one sequence. `penalty` is a key of `TABLE_PENALTIES`."""

    item: TableSequence
    penalty: str

    @property
    def sequence(self) -> Sequence:
        """What is solved."""
        return self.item.sequence

    @property
    def label(self) -> str:
        """Object, path, camera and penalty."""
        return f"{self.item.object_name} {self.item.path_name} {self.item.camera.value} {self.penalty}"

    @property
    def cost(self) -> float:
        """Observations times the iteration limit of the first-order method."""
        return 1e-3 * self.sequence.visible.size * self._first_order[2].max_iterations

    @property
    def settings(self) -> Settings:
        """The paper's settings, with the program's default method."""
        return PRESETS["paper"].with_changes(method="bilinear", penalty=TABLE_PENALTIES[self.penalty])

    @property
    def key(self) -> str:
        """Of tracks, truth, settings and version."""
        values = settings_to_dict(self.settings) | {"first-order": repr(self._first_order)}
        return job_key("sequence", self.sequence.content, values)

    def run(self) -> JobResult:
        """Solve by every method, and measure every solution."""
        last, rotation_seconds, seconds = self._search()
        rows, arrays = [], {}

        def add(name: str, candidate: Point, seconds: float, **more: Any) -> None:
            # Of the history only its length is asked for, and every end has its own.
            result = finish(self.sequence, self.settings, replace(last, best=candidate), [])
            rows.append(
                {
                    "method": name,
                    "loss": candidate.loss,
                    "errors": _errors(result, self.sequence),
                    "cpu_seconds": seconds,
                    **more,
                }
            )
            arrays[f"estimate {name}"] = aligned_estimate(result)

        losses = [start.loss for start in last.starts]
        ending: dict[str, Any] = {"status": last.status.value, "starts": losses}
        add(f"Search-{self.penalty}", last.best, seconds, **ending)
        problem = last.best.problem
        name, _, algorithm = self._first_order
        cut, first_seconds, ending = _solved(problem, algorithm, center(full_rank_start(problem)))
        add(name, cut, first_seconds, **ending)
        polish = VariableProjection(
            tolerance=self.settings.tolerance, max_iterations=self.settings.max_iterations
        )
        refined, more_seconds, ending = _solved(problem, polish, cut.factors)
        refined = min(refined, cut, key=lambda end: end.loss)
        add(f"Ours-{self.penalty}", refined, first_seconds + more_seconds, **ending)
        truth = self.sequence.truth
        assert truth is not None  # `load_table_data` refuses sequences without one
        shape = truth.at(truth.reference)
        assert shape is not None  # GroundTruth checks that its reference is one of its frames
        facts = {"rotations": last.rotations, "rotation_seconds": rotation_seconds, "rows": rows}
        return JobResult(facts, arrays | {"truth": shape})

    def command(self, row: str) -> str:
        """Return the command that ends where a row does; "" where none does.

        It names the file, which the key does not depend on: the file may have been moved since the job ran.
        """
        settings = self.settings_of(row)
        return "" if settings is None else command_for(self.sequence, settings)

    def settings_of(self, row: str) -> Settings | None:
        """Return the settings that end where a row does; None for refining BMM, which has none."""
        if row == f"Search-{self.penalty}":
            return self.settings
        _, method, algorithm = self._first_order
        if row == f"Ours-{self.penalty}":
            if method != "admm":
                return None
            method = "admm+bilinear"
        changes: dict[str, Any] = {
            "method": method,
            "max_iterations": max(algorithm.max_iterations, self.settings.max_iterations),
        }
        if method == "bmm":
            changes["options"] = (("tau", BMM_TAU),)
        return self.settings.with_changes(**changes)

    @property
    def _first_order(self) -> tuple[str, str, Algorithm[Any]]:
        return FIRST_ORDER[self.sequence.camera, self.penalty]

    def _search(self) -> tuple[Iterate, float, float]:
        """Return the last iterate, and the CPU seconds of choosing rotations and of the search itself."""
        choosing, searching, before = 0.0, 0.0, time.process_time()
        for last in iterate_sequence(self.sequence, self.settings):
            now = time.process_time()
            if last.rotations_chosen:
                searching += now - before
            else:
                choosing += now - before
            before = now
        return last, choosing, searching


def _solved(
    problem: Problem, algorithm: Algorithm[Any], start: Factors
) -> tuple[Point, float, dict[str, Any]]:
    """Return the end of a method, cut to the problem's rank, its CPU seconds, and how it ended."""
    began = time.process_time()
    last = solve(problem, algorithm, start)
    seconds = time.process_time() - began
    factors = algorithm.factors(problem, last.state)
    ending = {
        "iterations": last.progress.iteration,
        "status": last.status.value,
        "loss_before_cut": last.progress.loss,
    }
    return Point(problem, factors, problem.loss(factors)), seconds, ending


def _errors(result: Result, sequence: Sequence) -> dict[str, float]:
    """Return all errors that the truth allows, those of all frames only where it has more than one."""
    truth = result.truth
    assert truth is not None
    seen = None
    if len(truth.frames) > 1 and sequence.rotations is not None:
        seen = replace(truth, points=sequence.rotations[truth.frames] @ truth.points)
    errors = errors_of(result) | published_errors(result, seen)
    mirrored = procrustes_mm(result.points, truth, reflection=True)
    there = truth.frames == truth.reference
    errors["procrustes_mm_reference_mirror"] = float(mirrored.per_frame[there][0])
    if len(truth.frames) == 1:
        del errors["procrustes_mm"], errors["procrustes_mm_mirror"]
    return errors


def aligned_estimate(result: Result) -> Floats:
    """Return the estimate of the truth's reference frame, (3, P), moved onto it by a similarity.

    An orthogonal camera cannot distinguish a shape from its mirror image, so that it may be mirrored there.
    """
    truth = result.truth
    assert truth is not None
    mirror = result.camera is CameraModel.ORTHOGONAL
    source, target = result.points[truth.reference], truth.at(truth.reference)
    assert target is not None  # GroundTruth checks that its reference is one of its frames
    return procrustes(source, target, reflection=mirror).apply(source)
