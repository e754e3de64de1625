"""The values that a run yields, and the result that is made of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..cameras.calibration import from_pixels, to_pixels
from ..cameras.intrinsics import IntrinsicsOrigin
from ..data.sequence import CameraModel, Sequence
from ..depth import DepthProblem, DepthStep
from ..foundation.exceptions import InputError
from ..foundation.phases import DEPTHS, WNN, Phase, PhaseKind, RunStage
from ..foundation.representation import OneLine
from ..foundation.types import Bools, Floats
from ..foundation.version import versions
from ..penalties import extend_last
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from ..solvers.solver import Status, single_threaded
from .geometry import Geometry, geometry_of, mean_and_modes, refined_geometry
from .provenance import (
    RECORDS,
    Provenance,
    as_provenance,
    command_for,
    preset_name,
    python_for,
    settings_to_dict,
)
from .result import Result, StartReport, log_loss
from .settings import Settings
from .verdicts import Verdict, remarks

# Residual of an observation that gives no ray: in scales of the robust loss, and over the median residual.
REJECTED, UNUSUAL = 2.0, 4.0
BILINEAR_START = "bilinear start"  # that a refinement began with, of `Iterate.alternatives`


@dataclass(frozen=True)
class HistoryEntry:
    """One line of the history of a run, of `Iterate.history`.

    Parameters
    ----------
    iteration, phase, seconds
        the number of the iteration, through all phases; what the run is doing; and for how long it computed.
    loss, best
        the weighted nuclear norm and pOSE; where only a subset is solved, over its share of the observations.
        And that of `Iterate.best`, the lowest so far, where it is of the final objective: of all
        observations, with the chosen rotations and the loss function of the settings.
    energy
        of the depth refinement, in whose phases the loss stays what it was.
    primal, dual
        ADMM's relative residuals, see `core.solvers.admm.ADMM.residuals`.
    """

    iteration: int
    seconds: float
    loss: float
    phase: Phase
    primal: float | None = None
    dual: float | None = None
    energy: float | None = None
    best: float | None = None

    def following(self, began: float, **changes: Any) -> HistoryEntry:
        """Return the next entry, whose computation began at a time of `time.perf_counter`."""
        seconds = self.seconds + time.perf_counter() - began
        return replace(self, iteration=self.iteration + 1, seconds=seconds, **changes)

    @property
    def objective(self) -> str:
        """The objective that is being minimized: `WNN`, or `DEPTHS` in the phases that have its energy."""
        return WNN if self.energy is None else self.phase.objective

    @property
    def stage(self) -> RunStage:
        """The stage of the run, whose values are on one scale."""
        known = self.objective == self.phase.objective
        return self.phase.stage if known else Phase(PhaseKind.REFINE).stage

    @property
    def value(self) -> float:
        """The value of the objective that is being minimized: the loss, or the energy per point and frame."""
        return self.energy if self.energy is not None and self.objective == DEPTHS else self.loss

    @property
    def candidate(self) -> float | None:
        """The value that competes for the lowest of its stage, None where it does not compare with others."""
        if self.objective == WNN:
            return self.best
        return self.energy if self.phase.ranked else None


@dataclass(frozen=True, eq=False)
class Spectrum(OneLine):
    """The singular values that the objective of an iterate weighs, the largest first, and their weights.

    Of the weighted nuclear norm they are gamma of X#, in calibrated units. Of the energy of the depths they
    are sqrt(lambda_k) of the deviations from the mean shape, over the size of the object.
    """

    values: Floats  # (N,)
    weights: Floats  # (N,)


@dataclass(frozen=True, eq=False)
class Point(OneLine):
    """A point of a run, of `Iterate.best`.

    Parameters
    ----------
    problem, factors, loss
        B, C and the offsets s, with the objective there of this problem.
    """

    problem: Problem
    factors: Factors
    loss: float

    @cached_property
    def trusted(self) -> Bools:
        """(F, P) which observations give rays: the visible ones that a robust loss does not reject."""
        problem = self.problem
        if problem.robust is None:
            return problem.visible
        squares = problem.data.squares(self.factors)
        usual = float(np.median(squares[problem.visible]))
        limit = max((REJECTED * problem.robust.scale) ** 2, UNUSUAL**2 * usual)
        return problem.visible & (squares <= limit)


def final_loss(point: Point, settings: Settings, *, rotations_chosen: bool) -> float | None:
    """Return the loss of a point, None where it is not one of the objective that the settings ask for.

    While rotations are compared every candidate has an objective of its own. A search under a robust loss
    begins with squares.
    """
    robust = point.problem.robust is not None
    return point.loss if rotations_chosen and robust == (settings.loss != "squared") else None


@dataclass(frozen=True, eq=False, repr=False)
class Iterate:
    """The state of a reconstruction after an iteration. Immutable; `iterate` yields it, and starts from it.

    Parameters
    ----------
    settings, record, current
        of this iteration: its settings, its line of the history, and its point.
    status, fraction
        of the run: finished only in the last iterate, and which part of the phases is done.
    intrinsics, origin, calibration
        (3, 3) K; where it is from, and (3, 3) K of the views of a low-rank problem, where these are known.
    rotations, rotations_chosen
        the name of the rotation candidate in `current`, and whether it is chosen, so that losses from here on
        are of one problem.
    best, view
        the lowest loss since the rotations were chosen (before, of all), which is what a stopped run keeps;
        of a method on the matrix, once it has ended, the cut of where that was. And its geometry, where the
        run has a better one than `geometry_of` gives.
    depth, earlier, noise
        of the depth refinement, while `current` and `best` stay bilinear; of that of a run that this one
        continues, until its own has ended; and the standard deviation of a coordinate that it expects.
    starts, verdicts
        how each start ended, and what may be wrong with a finished run.
    found, provenance, source
        `search_end` of the iterate that this run continues, the steps that made it, and the file of the
        result that it was read from, where there are such.
    log
        the sequence, the history of the stream, which its iterates share, and how many of its entries come up
        to this one; None of an iterate that was read from a file.
    """

    settings: Settings
    record: HistoryEntry
    status: Status
    fraction: float
    intrinsics: Floats  # (3, 3)
    rotations: str
    rotations_chosen: bool
    current: Point
    best: Point
    found: Point | None = None
    starts: tuple[StartReport, ...] = ()
    origin: IntrinsicsOrigin | None = None
    calibration: Floats | None = None  # (3, 3)
    view: Geometry | None = None
    depth: DepthStep | None = None
    earlier: DepthStep | None = None
    noise: float = 0.0
    verdicts: tuple[Verdict, ...] = ()
    provenance: Provenance | None = None
    source: Path | None = None
    log: tuple[Sequence, list[HistoryEntry], int] | None = None

    def __repr__(self) -> str:
        return (
            f"Iterate({self.iteration}: {self.phase}, log10 loss {log_loss(self.best.loss):.2f}, "
            f"{self.status.value})"
        )

    @property
    def iteration(self) -> int:
        """The number of the iteration, counted through all phases."""
        return self.record.iteration

    @property
    def phase(self) -> Phase:
        """What the run is doing."""
        return self.record.phase

    @property
    def loss(self) -> float:
        """The lowest loss so far, see `best`."""
        return self.best.loss

    @property
    def final_loss(self) -> float | None:
        """The lowest loss so far of the final objective, see `HistoryEntry.best`."""
        return final_loss(self.best, self.settings, rotations_chosen=self.rotations_chosen)

    @property
    def energy(self) -> float | None:
        """The energy of its refined shape, per point and frame; None where it is not refined."""
        return self.record.energy if self.depth is None else self.depth.best_energy

    @property
    def kept_energy(self) -> float | None:
        """The same; before the first start of the refinement has ended, the newest."""
        known = self.depth is not None and np.isfinite(self.depth.best_energy)
        return self.energy if known else self.record.energy

    @property
    def end_energy(self) -> float | None:
        """By how much the energy of a further end is above that of the lowest one; None of any other."""
        further = () if self.depth is None else self.depth.ends[1:]
        return next((end.excess for end in further if end.energy == self.energy), None)

    @property
    def shows_earlier(self) -> bool:
        """Whether its shape is still that of the run that it continues, while it searches for its own.

        Where its bilinear solution is another one, that is shown first, then the coarse levels of its start.
        """
        if self.earlier is None or self.record.energy is None:
            return False
        return self.view is not None or (self.depth is not None and self.depth.best is self.earlier.best)

    def result(self) -> Result:
        """Return the lowest point so far as a result, whether the run is done or not.

        Raises
        ------
        InputError
            where the iterate was read from a file, so that its history is elsewhere; `finish` takes it.
        """
        if self.log is None:
            raise InputError("this iterate has no history of its own; `finish` takes it with a history")
        return finish(self.log[0], self.settings, self, self.history)

    @property
    def history(self) -> list[HistoryEntry]:
        """The records of its stream up to this one; none of an iterate that was read from a file."""
        return [] if self.log is None else self.log[1][: self.log[2]]

    @cached_property
    def robust_weights(self) -> Floats | None:
        """(F, P) weights of the observations at `best`, 0 where hidden; None without a robust objective."""
        problem = self.best.problem
        weights = problem.robust_weights(self.best.factors)
        if weights is None:
            return None
        by_frame = weights if problem.offsets else weights.T  # the rows of a low-rank problem are points
        return np.where(problem.visible, by_frame, 0.0)

    @cached_property
    def geometry(self) -> Geometry:
        """The three-dimensional geometry of what is refined, else of `best`; for both problems."""
        if self.view is not None:
            return self.view
        if self.depth is not None:
            return refined_geometry(self.depth, self.intrinsics, self.settings, self.noise)
        return geometry_of(self.best.problem, self.best.factors, self.intrinsics, self.calibration)

    @cached_property
    def spectrum(self) -> Spectrum:
        """What the objective weighs of what is shown."""
        if self.record.energy is None:
            problem, factors = self.best.problem, self.best.factors
            return Spectrum(np.sort(factors.gamma())[::-1], problem.slopes(factors))
        followed = None if self.depth is None else self.depth.followed
        if followed is not None:  # of some points where there are very many
            X = followed.objective.problem.shapes(followed.point)
        else:
            shown, problem = self.geometry, self.best.problem
            tracks = DepthProblem(problem.tracks, self.best.trusted, shown.affine)
            X = tracks.shapes(shown.depth_point)
        D = (X - X.mean(axis=0)).reshape(len(X), -1)
        gram = D @ D.T if len(D) <= D.shape[1] else D.T @ D
        squares = np.linalg.eigvalsh(gram)[::-1][: min(len(X) - 1, D.shape[1])]
        values = np.sqrt(np.maximum(squares, 0.0) / len(X))
        return Spectrum(values, extend_last(np.array(self.settings.mode_weights), len(values)))

    @cached_property
    def alternatives(self) -> dict[str, Iterate]:
        """Other solutions of a refined iterate: `BILINEAR_START`, and further ends by number and name."""
        if self.record.energy is None:
            return {}
        before = replace(self.record, energy=None)
        made = self.provenance
        other = replace(self, view=None, verdicts=(), source=None)
        start = made and made.with_last(made.settings.with_changes(objective="wnn"))
        found = {BILINEAR_START: replace(other, record=before, depth=None, earlier=None, provenance=start)}
        if self.depth is not None:
            followed = self.depth.followed
            for number, end in enumerate(self.depth.ends[1:], start=2):
                at = None if followed is None else followed.at(end.point)
                depth = replace(self.depth, best=end.point, best_energy=end.energy, followed=at)
                steps = made and made.with_last(made.settings, end=number)
                found[f"end {number}: {end.name}"] = replace(other, depth=depth, provenance=steps)
        return found

    @property
    def search_end(self) -> Point | None:
        """The end of the search that it is of, or continues, without its data; None before it has ended."""
        if self.found is not None or not self.status.finished:
            return self.found
        return replace(self.best, problem=self.best.problem.without_data())

    @property
    def geometry_known(self) -> bool:
        """Whether `geometry` is there already; of a low-rank problem it may take a second to find."""
        return self.view is not None or "geometry" in vars(self)


def count_shift(last: HistoryEntry, first: HistoryEntry) -> tuple[int, float]:
    """Return the offsets of iterations and seconds with which a new stream, timed from 0, goes on."""
    return last.iteration + 1 - first.iteration, last.seconds


def shift_counts(iterate: Iterate, by: tuple[int, float]) -> Iterate:
    """Return an iterate whose record is so many iterations and seconds later, see `count_shift`."""
    record, (iteration, seconds) = iterate.record, by
    record = replace(record, iteration=record.iteration + iteration, seconds=record.seconds + seconds)
    return replace(iterate, record=record)


def count_on(iterates: Iterable[Iterate], last: Iterate | None) -> Iterator[Iterate]:
    """Yield the iterates of a stream, counted on from the last one of the stream before, if there is one."""
    by = None
    for each in iterates:
        if by is None:
            by = (0, 0.0) if last is None else count_shift(last.record, each.record)
        yield shift_counts(each, by)


def finish(sequence: Sequence, settings: Settings, last: Iterate, history: Iterable[HistoryEntry]) -> Result:
    """Return the best point so far of a run, whether it is done or was stopped, as a result.

    Parameters
    ----------
    sequence
        the sequence of the tracks.
    settings
        those of the last step.
    last
        the last iterate.
    history
        the records of all iterates up to `last`, in their order.

    Returns
    -------
    Result
        the lowest point, with its history and how it was made.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> settings = core.Settings(rank=2, starts=1, rotations="truth", objective="wnn")
    >>> iterates = list(core.iterate(sequence, settings))
    >>> result = core.finish(sequence, settings, iterates[-1], [each.record for each in iterates])
    >>> result.loss == iterates[-1].loss
    True
    """
    problem, factors, records = last.best.problem, last.best.factors, tuple(history)
    with single_threaded():
        own = geometry_of(problem, factors, last.intrinsics, last.calibration)
        geometry = own if last.view is None and last.depth is None else last.geometry
        loss, weights = problem.loss(factors), problem.slopes(factors)
        B, C = geometry.B, geometry.C
        energy = last.kept_energy
        if energy is not None:
            B, C = mean_and_modes(geometry.points)
    lines = [(record.iteration, record.seconds, record.loss) for record in records]
    lowest = [np.nan if record.best is None else record.best for record in records]
    meta = result_metadata(sequence, settings, last) | {"phases": RECORDS.write(phases_of(records))}
    more: dict[str, Any] = {}  # of the depths, or of a low-rank solution
    if energy is not None:
        meta["refinement"] = (geometry.refinement or {}) | {"energy": energy}
        depths = [record for record in records if record.energy is not None]
        energies = [(record.iteration, record.seconds, record.energy) for record in depths]
        more = {
            "bilinear_B": own.B,
            "bilinear_C": own.C,
            "bilinear_weights": weights,
            "bilinear_rotations": own.rotations,
            "bilinear_translations": own.translations,
            "energy": energy,
            "energy_history": np.array(energies, dtype=float).reshape(-1, 3),
        }
        weights = np.append(0.0, extend_last(np.array(last.settings.mode_weights), B.shape[1] - 1))
    tracks, camera = problem.tracks, settings.camera_of(sequence.camera)
    solved = geometry.projective
    if solved is not None:  # a low-rank solution is shown by cameras of its own
        meta["low_rank"], more = geometry.figures, vars(solved)
        pixels = to_pixels(tracks, last.intrinsics)
        tracks = np.where(problem.visible[:, None], from_pixels(pixels, geometry.intrinsics), 0.0)
        camera = CameraModel.PERSPECTIVE
    result = Result(
        tracks=tracks,
        visible=problem.visible,
        rotations=geometry.rotations,
        translations=geometry.translations,
        B=B,
        C=C,
        weights=weights,
        eta=problem.eta,
        loss=loss,
        history=np.array(lines, dtype=float).reshape(-1, 3),
        best_losses=np.array(lowest, dtype=float),
        intrinsics=geometry.intrinsics,
        camera=camera,
        truth=sequence.truth,
        edges=sequence.edges,
        faces=sequence.faces,
        meta=meta,
        std=geometry.std,
        robust_weights=last.robust_weights,
        **more,
    )
    if settings.upright is not None:
        result = result.with_upright(settings.upright)
    return result.with_scale(settings.scale) if settings.scale is not None and result.metric else result


def phases_of(records: Iterable[HistoryEntry]) -> list[tuple[int, Phase]]:
    """Return the phases of a history, each with the index of the record that it begins at."""
    begins: list[tuple[int, Phase]] = []
    for index, record in enumerate(records):
        if not begins or begins[-1][1] != record.phase:
            begins.append((index, record.phase))
    return begins


def run_remarks(last: Iterate) -> list[str]:
    """Return what should be known of an iterate, in sentences without their periods."""
    assumed = [last.origin.remark] if last.origin is not None and last.origin.remark else []
    of_factors = remarks(last.best.problem, last.best.factors, last.settings.penalty)
    # The parameters that they name are those of the start, where the depths are refined.
    whose = "start: " if last.settings.objective == DEPTHS else ""
    return assumed + [f"{whose}{remark}" for remark in of_factors]


def result_metadata(sequence: Sequence, settings: Settings, last: Iterate) -> dict[str, Any]:
    """Return the `meta` of a result: its input, its settings, how it ended, and how to reproduce it."""
    made = last.provenance or as_provenance(settings)
    step = made.steps[-1]
    made = made.with_last(step.settings.shown_as(settings), step.iterates, step.end)
    steered: dict[str, Any] = {} if made.plain else {"steps": RECORDS.write(made.steps)}
    robust = last.best.problem.robust
    if robust is not None:
        steered["robust"] = RECORDS.write(robust)
    if made.start is not None:
        steered["start"] = str(made.start.resolve())
    of_sequence = (
        *("name", "digest", "content", "provenance", "units", "truth_units", "truth_name"),
        *("image_size", "frame_rate", "point_names"),
    )
    return (
        {name: getattr(sequence, name) for name in of_sequence}
        | {
            "method": settings.method,
            "settings": settings_to_dict(settings),
            "preset": preset_name(settings),
            "versions": versions(),
            "source": str(sequence.source.resolve()) if sequence.source else None,
            "video_frames": None if sequence.video_frames is None else sequence.video_frames.tolist(),
            "video": None if sequence.video is None else str(sequence.video.absolute()),
            "rotations": last.rotations,
            "starts": RECORDS.write(last.starts),
            "intrinsics": RECORDS.write(last.origin),
            "remarks": run_remarks(last),
            "verdicts": RECORDS.write(last.verdicts),
            "status": last.status.value if last.status.finished else "stopped",
            "phase": RECORDS.write(last.phase),
            "seconds": last.record.seconds,
            "iterations": last.record.iteration,
            "reading": dict(sequence.reading),
            "command": command_for(sequence, made),
            "python": python_for(sequence, made),
        }
        | steered
    )
