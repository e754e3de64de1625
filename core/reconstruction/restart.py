"""The iterate of a saved result, from which a run can continue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..cameras.calibration import to_pixels
from ..cameras.intrinsics import IntrinsicsOrigin
from ..data.hidden import hide_observations
from ..data.sequence import Sequence
from ..foundation.exceptions import InputError
from ..foundation.phases import Phase, PhaseKind
from ..foundation.types import Floats
from ..io.files.contents import refusing_damage
from ..penalties import SpectralPenalty, is_spectral
from ..problem.factors import Factors
from ..problem.low_rank import LowRankProblem
from ..problem.nonrigid import NonRigidProblem, Problem
from ..solvers.solver import Status
from .geometry import Geometry
from .low_rank_pipeline import known_calibration, no_offsets
from .progress import HistoryEntry, Iterate, Point
from .provenance import RECORDS, Provenance, SolveStep, settings_from_dict
from .result import Result, StartReport, load_result
from .settings import Settings
from .verdicts import Verdict

SAME_TRACKS = 1e-9  # how far two tracks of one sequence may be apart, relative to the largest coordinate


def load_start(path: str | Path, sequence: Sequence) -> Iterate:
    """Return a result file of a sequence as an iterate that `iterate` and `reconstruct` can continue from.

    Parameters
    ----------
    path
        a result file.
    sequence
        the sequence that the result is of.

    Returns
    -------
    Iterate
        with the point of the result as its current and best one; of a refined result the bilinear solution
        that it started from, and what is shown is refined.

    Raises
    ------
    InputError
        where the file is no result that can be read, or is of other tracks.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth", objective="wnn")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     start = core.load_start(result.save(pathlib.Path(folder, "result.npz")), sequence)
    >>> core.reconstruct(sequence, start.settings.with_changes(rank=3), start=start).rank
    3
    """
    return start_from(load_result(path), sequence, Path(path))


def start_from(result: Result, sequence: Sequence, source: Path) -> Iterate:
    """Return the last iterate of the run that made a result; `source` is the file of the result."""
    meta = result.meta
    if result.visible.shape != sequence.visible.shape:
        frames, points = result.visible.shape
        raise InputError(
            f"{source} is of {frames} frames and {points} points; {sequence.name} has "
            f"{sequence.frame_count} and {sequence.point_count}"
        )
    with refusing_damage(source):
        settings = settings_from_dict(meta.get("settings", {}))
        used = hide_observations(sequence, settings.hide)
        _check_tracks(result, used)
        made, phase = _made(meta, settings), Phase(PhaseKind.REFINE)
        if "phase" in meta:  # a result that a program has put together has none
            phase = RECORDS.read(Phase, meta["phase"], "meta.phase")
        spectral = settings.penalty if is_spectral(settings.penalty) else None
        problem, factors = problem_of(result, used.tracks, spectral)
        point = Point(problem.with_robust(result.robust_loss), factors, result.loss)
        starts = RECORDS.read(tuple[StartReport, ...], meta.get("starts", ()), "meta.starts")
        origin = RECORDS.read(IntrinsicsOrigin | None, meta.get("intrinsics"), "meta.intrinsics")
        verdicts = RECORDS.read(tuple[Verdict, ...], meta.get("verdicts", ()), "meta.verdicts")
    status = _status(meta)
    low_rank = isinstance(point.problem, LowRankProblem)
    if low_rank != (settings.problem == "lowrank"):
        raise InputError(
            f"{source}: meta.settings are of the problem {settings.problem!r}, which its arrays are not of"
        )
    scale = np.diag([result.norm, result.norm, 1.0]) if low_rank else result.intrinsics
    return Iterate(
        settings=settings,
        record=HistoryEntry(result.iterations, result.seconds, result.loss, phase, energy=result.energy),
        status=status,
        fraction=1.0 if status.finished else 0.5,
        intrinsics=scale,
        origin=origin,
        rotations=str(meta.get("rotations", "")),
        rotations_chosen=True,
        current=point,
        best=point,
        starts=starts,
        calibration=_calibration(sequence, settings) if low_rank else None,
        view=_view(result),
        noise=float((meta.get("refinement") or {}).get("noise_px", 0.0)),
        verdicts=verdicts,
        provenance=made,
        source=source,
    )


def _check_tracks(result: Result, sequence: Sequence) -> None:
    seen = sequence.visible
    tracks = np.moveaxis(sequence.tracks, 1, 0)[:, seen]
    own = np.moveaxis(to_pixels(result.tracks, result.intrinsics), 1, 0)[:, seen]
    apart = np.abs(own - tracks).max() > SAME_TRACKS * max(
        np.abs(tracks).max(), np.abs(result.intrinsics).max()
    )
    if apart or not np.array_equal(result.visible, seen):
        raise InputError(f"is of other tracks than those of {sequence.name}")


def problem_of(
    result: Result, observations: Floats, spectral: SpectralPenalty | None = None
) -> tuple[Problem, Factors]:
    """Return the problem that the loss of a result is of, with the weights at its end, and the point.

    A low-rank problem is posed on observations (F, 2, P) in the units of the sequence.
    """
    solved = result.projective
    if solved is not None:
        tracks = np.where(result.visible[:, None], observations, 0.0) / solved.norm
        low_rank = LowRankProblem(tracks, result.visible, result.eta, result.weights, spectral=spectral)
        B, C = solved.homogeneous.T, solved.cameras.transpose(2, 1, 0)
        return low_rank, Factors(np.ascontiguousarray(B), np.ascontiguousarray(C), no_offsets(low_rank))
    B, C, R, t = result.bilinear
    problem = NonRigidProblem(
        result.tracks, result.visible, R, result.eta, result.wnn_weights, spectral=spectral
    )
    s = np.einsum("fab,fa->fb", R, t)
    return problem, Factors(B, np.ascontiguousarray(C.T.reshape(B.shape[1], 3, -1)), s)


def _view(result: Result) -> Geometry:
    projective = result.projective
    affine = projective is None and result.eta == 1.0
    R, t, K = result.rotations, result.translations, result.intrinsics
    figures, refinement = dict(result.meta.get("low_rank") or {}), result.meta.get("refinement")
    return Geometry(
        result.B, result.C, R, t, K, affine, projective, figures, std=result.std, refinement=refinement
    )


def _made(meta: dict[str, Any], settings: Settings) -> Provenance | None:
    """Return the steps that made the result, None where it does not hold them."""
    if meta.get("steps"):
        steps = RECORDS.read(tuple[SolveStep, ...], meta["steps"], "meta.steps")
        return Provenance(steps, Path(meta["start"]) if meta.get("start") else None)
    return Provenance((SolveStep(settings),)) if _status(meta).finished else None


def _status(meta: dict[str, Any]) -> Status:
    known = {status.value: status for status in Status}
    return known.get(str(meta.get("status")), Status.RUNNING)


def _calibration(sequence: Sequence, settings: Settings) -> Floats | None:
    try:
        return known_calibration(sequence, settings)
    except InputError:
        return None  # the settings name a file that no longer exists; the view was made with it
