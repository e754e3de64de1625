"""Iterates, problems and histories as JSON and arrays, and back; `session_file` documents the entries."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import (
    Factors,
    HistoryEntry,
    InputError,
    Iterate,
    LowRankProblem,
    NonRigidProblem,
    Point,
    Provenance,
    SolveStep,
    StartReport,
    Status,
)
from core.cameras import calibrate, origin_from
from core.data import check_rotations, checked_intrinsics
from core.depth import DepthEnd, DepthPoint, DepthStep
from core.foundation import phase_from_dict, phase_to_dict, read_only
from core.penalties import ConcavePenalty
from core.reconstruction import (
    Geometry,
    Projective,
    ProvenanceChain,
    Verdict,
    penalty_from_dict,
    penalty_to_dict,
    phases_to_list,
    settings_from_dict,
    settings_to_dict,
    steps_from_list,
    steps_to_list,
    verdicts_from_list,
)
from nrsfm_gui.sessions.json_reader import LARGEST_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core import CameraModel, Sequence, Settings
    from core.cameras import IntrinsicsOrigin
    from core.foundation import Floats, Phase
    from core.problem import Problem
    from nrsfm_gui.sessions.archive import ArchiveWriter
    from nrsfm_gui.sessions.json_reader import Node

# Of a history: iteration, seconds, loss, primal and dual residual, energy, best loss; NaN where unknown.
# Earlier files lack the last one or two.
COLUMNS = 7
FEWEST_COLUMNS = 5


# -- settings and history -------------------------------------------------------------------------------


def read_settings(node: Node) -> Settings:
    """Return settings, or refuse them naming their place."""
    try:
        return settings_from_dict(node.mapping())
    except (InputError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{node.archive.path}: {node.where}: {error}") from error


def history_entry(records: Iterable[HistoryEntry], archive: ArchiveWriter) -> dict[str, Any]:
    """Return the columns of a history and the phases that its records belong to."""
    records, lines = list(records), []
    for record in records:
        others = (record.primal, record.dual, record.energy, record.best)
        known = (np.nan if value is None else value for value in others)
        lines.append((record.iteration, record.seconds, record.loss, *known))
    columns = np.array(lines, dtype=float).reshape(-1, COLUMNS)
    return {"columns": archive.name(columns), "phases": phases_to_list(records)}


def read_history(node: Node) -> tuple[HistoryEntry, ...]:
    """Return the records of a history."""
    columns = node.child("columns").array(None, None)
    if not FEWEST_COLUMNS <= columns.shape[1] <= COLUMNS:
        raise InputError(
            f"{node.archive.path}: {node.where} has {columns.shape[1]} columns; accepted are "
            f"{FEWEST_COLUMNS} to {COLUMNS}"
        )
    last = max(len(columns) - 1, 0)
    phases = {
        first.integer(0, last): read_phase(phase) for first, phase in map(_pair, node.child("phases").items())
    }
    if len(columns) and 0 not in phases:
        raise node.child("phases").refused("the phase of the first record")
    if not (np.abs(columns[:, :2]) <= LARGEST_COUNT).all():  # written so that NaN is refused, too
        raise InputError(
            f"{node.archive.path}: {node.where} counts iterations or seconds that are no such numbers"
        )
    records = []
    phase: Phase
    for index, (iteration, seconds, loss, *others) in enumerate(columns.tolist()):
        if index in phases:
            phase = phases[index]
        records.append(HistoryEntry(int(iteration), seconds, loss, phase, *map(_number, others)))
    return tuple(records)


def read_phase(node: Node) -> Phase:
    """Return a phase, or refuse what is none naming its place."""
    try:
        return phase_from_dict(node.mapping())
    except InputError as error:
        raise InputError(f"{node.archive.path}: {node.where}: {error}") from error


def _pair(node: Node) -> tuple[Node, Node]:
    items = node.items()
    if len(items) != 2:
        raise node.refused("two values")
    return items[0], items[1]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


# -- iterates --------------------------------------------------------------------------------------------


def iterate_entry(iterate: Iterate, sequence: Sequence, archive: ArchiveWriter) -> dict[str, Any]:
    """Return everything that a run needs to continue from an iterate."""
    record = iterate.record
    entry: dict[str, Any] = {
        "settings": settings_to_dict(iterate.settings),
        "record": asdict(record) | {"phase": phase_to_dict(record.phase)},
        "status": iterate.status.value,
        "fraction": iterate.fraction,
        "intrinsics": archive.name(iterate.intrinsics),
        "rotations": iterate.rotations,
        "settled": iterate.rotations_chosen,
        "current": _candidate_entry(iterate.current, iterate, sequence, archive),
        "starts": [asdict(start) for start in iterate.starts],
        "origin": None if iterate.origin is None else asdict(iterate.origin),
        "calibration": None if iterate.calibration is None else archive.name(iterate.calibration),
        "view": None if iterate.view is None else _view_entry(iterate.view, archive),
        "depth": None if iterate.depth is None else _depth_entry(iterate.depth, archive),
        "earlier": None if iterate.earlier is None else _depth_entry(iterate.earlier, archive),
        "noise": iterate.noise,
        "verdicts": [asdict(verdict) for verdict in iterate.verdicts],
        "lineage": _lineage_entry(iterate.provenance),
    }
    if iterate.best is not iterate.current:
        entry["best"] = _candidate_entry(iterate.best, iterate, sequence, archive)
    return entry


def read_iterate(node: Node, sequence: Sequence) -> Iterate:
    """Return an iterate of a sequence."""
    record, intrinsics = node.child("record"), _read_intrinsics(node)
    settings = read_settings(node.child("settings"))
    camera = settings.camera_of(sequence.camera)
    current = _read_candidate(node.child("current"), intrinsics, sequence, camera)
    best, calibration = node.optional("best"), node.optional("calibration")
    view, depth, earlier, noise = map(node.optional, ("view", "depth", "earlier", "noise"))
    return Iterate(
        settings=settings,
        record=HistoryEntry(
            record.child("iteration").integer(),
            record.child("seconds").number(),
            record.child("loss").number(),
            read_phase(record.child("phase")),
            *(
                None if part is None else part.number()
                for part in map(record.optional, ("primal", "dual", "energy", "best"))
            ),
        ),
        status=Status(node.child("status").one_of(status.value for status in Status)),
        fraction=node.child("fraction").number(),
        intrinsics=intrinsics,
        rotations=node.child("rotations").sentence(),
        rotations_chosen=node.child("settled").flag(),
        current=current,
        best=current if best is None else _read_candidate(best, intrinsics, sequence, camera),
        starts=tuple(_read_start(start) for start in node.child("starts").items()),
        origin=_read_origin(node.optional("origin")),
        calibration=None if calibration is None else calibration.finite(3, 3),
        view=None if view is None else _read_view(view, sequence),
        depth=None if depth is None else _read_depth(depth, sequence),
        earlier=None if earlier is None else _read_depth(earlier, sequence),
        noise=0.0 if noise is None else noise.number(),
        verdicts=_read_verdicts(node.optional("verdicts")),
        provenance=_read_lineage(node.optional("lineage")),
    )


def _read_intrinsics(node: Node) -> Floats:
    """Return the K of an iterate or of a view, bit for bit."""
    K = node.child("intrinsics").finite(3, 3)
    checked_intrinsics(K, f"{node.where}.intrinsics")
    return K


def _read_origin(node: Node | None) -> IntrinsicsOrigin | None:
    if node is None:
        return None
    try:
        return origin_from(node.mapping())
    except InputError as error:
        raise InputError(f"{node.archive.path}: {node.where}: {error}") from error


def _read_start(node: Node) -> StartReport:
    loss, agrees = node.child("loss").number(), node.child("agrees").flag()
    return StartReport(node.child("name").sentence(), loss, agrees, node.child("note").sentence())


def _read_verdicts(node: Node | None) -> tuple[Verdict, ...]:
    if node is None:
        return ()
    try:
        return verdicts_from_list(item.value for item in node.items())
    except InputError as error:
        raise InputError(f"{node.archive.path}: {node.where}: {error}") from error


# -- points and their problems --------------------------------------------------------------------------


def _candidate_entry(
    candidate: Point, iterate: Iterate, sequence: Sequence, archive: ArchiveWriter
) -> dict[str, Any]:
    problem, factors = candidate.problem, candidate.factors
    entry: dict[str, Any] = {"kind": "lowrank" if isinstance(problem, LowRankProblem) else "nonrigid"}
    camera = iterate.settings.camera_of(sequence.camera)
    posed = _posed_tracks(entry["kind"], iterate.intrinsics, sequence, camera)
    if not (np.array_equal(posed, problem.tracks) and np.array_equal(sequence.visible, problem.visible)):
        entry["tracks"] = archive.name(problem.tracks)
        entry["visible"] = archive.name(problem.visible)
    if isinstance(problem, NonRigidProblem):
        entry["rotations"] = archive.name(problem.rotations)
    spectral = problem.spectral
    return entry | {
        "eta": problem.eta,
        "weights": archive.name(problem.weights),
        "tail": None if problem.tail is None else archive.name(problem.tail),
        "spectral": penalty_to_dict(spectral) if isinstance(spectral, ConcavePenalty) else None,
        "B": archive.name(factors.B),
        "C": archive.name(factors.C),
        "s": archive.name(factors.s),
        "loss": candidate.loss,
    }


def _posed_tracks(kind: str, intrinsics: Floats, sequence: Sequence, camera: CameraModel) -> Floats:
    """Return the tracks (F, 2, P) as a run poses its problem on them."""
    seen = sequence.visible[:, None]
    if kind == "lowrank":
        tracks: Floats = np.where(seen, sequence.tracks, 0.0) / float(intrinsics[0, 0])
        return tracks
    return np.where(seen, calibrate(sequence.observations, intrinsics, camera), 0.0)


def _read_candidate(node: Node, intrinsics: Floats, sequence: Sequence, camera: CameraModel) -> Point:
    frames, points = sequence.visible.shape
    kind = node.child("kind").one_of(("nonrigid", "lowrank"))
    weights = node.child("weights").finite(None)
    rank, tail = len(weights), node.optional("tail")
    try:
        if node.optional("tracks") is None:
            key = kind, intrinsics.tobytes(), sequence, camera
            if key not in node.archive.derived:  # each run of its own would need as much memory as its tracks
                node.archive.derived[key] = read_only(_posed_tracks(kind, intrinsics, sequence, camera))
            tracks, visible = node.archive.derived[key], sequence.visible
        else:
            tracks = node.child("tracks").array(frames, 2, points)
            visible = node.child("visible").array(frames, points, kind="b")
        eta, rest = node.child("eta").number(), None if tail is None else tail.finite(None)
        spectral = _read_spectral(node.optional("spectral"))
        problem: Problem
        if kind == "lowrank":
            problem = LowRankProblem(tracks, visible, eta, weights, rest, spectral)
        else:
            rotations = node.child("rotations").finite(frames, 3, 3)
            check_rotations(rotations, f"{node.where}.rotations")
            problem = NonRigidProblem(tracks, visible, rotations, eta, weights, rest, spectral)
    except InputError as error:
        if str(error).startswith(str(node.archive.path)):
            raise
        raise InputError(f"{node.archive.path}: {node.where}: {error}") from error
    rows, columns = problem.shape
    factors = Factors(
        node.child("B").array(rows, rank),
        node.child("C").array(rank, 3, columns),
        node.child("s").array(rows, 3),
    )
    return Point(problem, factors, node.child("loss").number())


def _read_spectral(node: Node | None) -> ConcavePenalty | None:
    if node is None:
        return None
    penalty = penalty_from_dict(node.mapping())
    if not isinstance(penalty, ConcavePenalty):
        raise node.refused("a penalty that is not linear")
    return penalty


def _view_entry(view: Geometry, archive: ArchiveWriter) -> dict[str, Any]:
    names = ("B", "C", "rotations", "translations", "intrinsics")
    entry: dict[str, Any] = {name: archive.name(getattr(view, name)) for name in names}
    entry |= {"affine": view.affine, "flat": view.flat, "figures": view.figures}
    if view.projective is not None:
        entry["cameras"] = archive.name(view.projective.cameras)
        entry["homogeneous"] = archive.name(view.projective.homogeneous)
        entry["norm"] = view.projective.norm
    if view.std is not None:
        entry["std"] = archive.name(view.std)
    if view.refinement is not None:
        entry["refinement"] = view.refinement
    return entry


def _read_view(node: Node, sequence: Sequence) -> Geometry:
    frames, points = sequence.visible.shape
    B = node.child("B").array(frames, None)
    projective = None
    if node.optional("cameras") is not None:
        cameras = node.child("cameras").array(frames, 3, None)
        homogeneous = node.child("homogeneous").array(cameras.shape[2], points)
        projective = Projective(cameras, homogeneous, node.child("norm").number())
    return Geometry(
        B,
        node.child("C").array(3 * points, B.shape[1]),
        node.child("rotations").array(frames, 3, 3),
        node.child("translations").array(frames, 3),
        _read_intrinsics(node),
        node.child("affine").flag(),
        projective,
        node.child("figures").mapping(),
        node.child("flat").flag(),
        None if node.optional("std") is None else node.child("std").array(frames, 3, points),
        None if node.optional("refinement") is None else node.child("refinement").mapping(),
    )


def _depth_entry(step: DepthStep, archive: ArchiveWriter) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "point": _depths_entry(step.best, archive),
        "best_energy": step.best_energy,
        "energy": step.energy,
        "phase": phase_to_dict(step.phase),
        "fraction": step.fraction,
        "finished": step.finished,
        "ends": [
            {
                "name": end.name,
                "energy": end.energy,
                "lowest": end.lowest,
                "point": _depths_entry(end.point, archive),
            }
            for end in step.ends
        ],
    }
    if step.coarser is not None:
        entry["coarser"] = _depths_entry(step.coarser, archive)
    return entry


def _depths_entry(point: DepthPoint, archive: ArchiveWriter) -> dict[str, Any]:
    arrays = {name: archive.name(getattr(point, name)) for name in ("rotations", "depths", "rays")}
    return arrays | {"affine": point.affine}


def _read_depth(node: Node, sequence: Sequence) -> DepthStep:
    coarser = node.optional("coarser")
    ends = (
        DepthEnd(
            end.child("name").sentence(),
            _read_depths(end.child("point"), sequence),
            end.child("energy").number(),
            end.child("lowest").number(),
        )
        for end in node.child("ends").items()
    )
    return DepthStep(
        _read_depths(node.child("point"), sequence),
        node.child("best_energy").number(),
        node.child("energy").number(),
        read_phase(node.child("phase")),
        node.child("fraction").number(),
        node.child("finished").flag(),
        tuple(ends),
        None if coarser is None else _read_depths(coarser, sequence),
    )


def _read_depths(node: Node, sequence: Sequence) -> DepthPoint:
    frames, points = sequence.visible.shape
    rotations = node.child("rotations").finite(frames, 3, 3)
    check_rotations(rotations, f"{node.where}.rotations")
    return DepthPoint(
        rotations,
        node.child("depths").finite(frames, points),
        node.child("rays").finite(frames, 2, points),
        node.child("affine").flag(),
    )


# -- how they came to be --------------------------------------------------------------------------------


def _lineage_entry(lineage: ProvenanceChain | None) -> dict[str, Any] | None:
    if lineage is None:
        return None
    steps: list[SolveStep] = []
    link: ProvenanceChain | None = lineage
    while link is not None and link.source is None:
        steps.append(link.step)
        link = link.before
    entry: dict[str, Any] = {"steps": steps_to_list(reversed(steps))}
    if link is not None:
        entry["result"] = str(link.source)
        entry["settings"] = settings_to_dict(link.step.settings)
        made = link.made
        entry["made"] = None if made is None else steps_to_list(made.steps)
        entry["start"] = None if made is None or made.start is None else str(made.start)
    return entry


def _read_lineage(node: Node | None) -> ProvenanceChain | None:
    if node is None:
        return None
    lineage: ProvenanceChain | None = None
    result = node.optional("result")
    if result is not None:
        made, start = node.optional("made"), node.optional("start")
        recipe = (
            None if made is None else Provenance(_steps(made), None if start is None else Path(start.text()))
        )
        step = SolveStep(read_settings(node.child("settings")))
        lineage = ProvenanceChain(step, source=Path(result.text()), made=recipe)
    for step in _steps(node.child("steps")):
        lineage = ProvenanceChain(step, lineage)
    return lineage


def _steps(node: Node) -> tuple[SolveStep, ...]:
    try:
        return steps_from_list(item.value for item in node.items())
    except (InputError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{node.archive.path}: {node.where}: {error}") from error
