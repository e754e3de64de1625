"""What a run says while it goes on, and the result that is made of what it has said so far."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cameras.calibration import from_pixels, to_pixels
from ..data.sequence import CameraModel
from ..foundation.version import versions
from .diagnostics import remarks
from .geometry import Geometry, geometry_of
from .recipes import as_recipe, command_for, preset_name, python_for, settings_to_dict, steps_to_list
from .result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..data.sequence import Sequence
    from ..foundation.types import Floats
    from ..problem.factors import Factors
    from ..problem.nonrigid import Problem
    from ..solvers.solver import Status
    from .provenance import Lineage
    from .settings import Settings


@dataclass(frozen=True)
class Record:
    """One line of the history of a run, numbered through all its phases."""

    iteration: int
    seconds: float  # spent computing, pauses excluded
    loss: float  # where only a subset is solved, divided by its share of the observations
    phase: str
    primal: float | None = None  # ADMM's relative residuals, see `core.solvers.admm.residuals`
    dual: float | None = None


@dataclass(frozen=True)
class StartReport:
    """How one starting point of the search ended."""

    name: str
    loss: float
    agrees: bool  # within a relative 1e-5 of the lowest
    note: str = ""  # "joined ..." a start of the same minimum, or "left behind" above the lowest; then no end


@dataclass(frozen=True, eq=False)
class Candidate:
    """A point together with the problem whose objective its loss is."""

    problem: Problem
    factors: Factors
    loss: float


@dataclass(frozen=True, eq=False)
class Update:
    """An immutable moment of a reconstruction; also what a changed run starts from."""

    settings: Settings
    record: Record
    status: Status  # of the whole run: finished only on the last update
    phase: str  # in words: "rotations 2 of 7", "rigid", "rank 3", "start 2 of 4", "ADMM", "refine"
    fraction: float  # of the phases that are done, for an ETA
    intrinsics: Floats  # (3, 3)
    rotations: str  # the name of the rotation candidate in `current`
    settled: bool  # whether the rotations are chosen, so that losses from here on are of one problem
    current: Candidate
    # The lowest loss since the rotations were chosen (before, of all), which is what a stopped run keeps; of
    # a method on the matrix, once it has ended, the cut of where that was.
    best: Candidate
    starts: tuple[StartReport, ...] = ()
    calibration: Floats | None = None  # (3, 3) K of the views of a low-rank problem, where it is known
    view: Geometry | None = None  # of `best`, where the run has made more of it than `geometry_of` does
    lineage: Lineage | None = None  # how it came to be

    @property
    def shown(self) -> Candidate:
        """What to look at: the point under way while rotations are compared, then the best one."""
        return self.best if self.settled else self.current

    @cached_property
    def geometry(self) -> Geometry:
        """What `shown` looks like in three dimensions, for both problems."""
        if self.view is not None:
            return self.view
        return geometry_of(self.shown.problem, self.shown.factors, self.intrinsics, self.calibration)

    @property
    def geometry_known(self) -> bool:
        """Whether `geometry` is there already; of a low-rank problem it may take a second to find."""
        return self.view is not None or "geometry" in vars(self)


def shift_between(last: Record, first: Record) -> tuple[int, float]:
    """Return what to add to iterations and seconds of a new stream, so that a history goes on counting."""
    return last.iteration + 1 - first.iteration, last.seconds - first.seconds


def shifted(update: Update, by: tuple[int, float]) -> Update:
    """Return an update whose record counts on from those of a stream before."""
    record, (iteration, seconds) = update.record, by
    record = replace(record, iteration=record.iteration + iteration, seconds=record.seconds + seconds)
    return replace(update, record=record)


def finish(sequence: Sequence, settings: Settings, last: Update, history: Iterable[Record]) -> Result:
    """Return the best point so far of a run, whether it is done or was stopped, as a result.

    `history` are the records of all updates up to `last`, in their order.
    """
    best = last.best
    problem, factors = best.problem, best.factors
    geometry = last.view or geometry_of(problem, factors, last.intrinsics, last.calibration)
    lines = [(record.iteration, record.seconds, record.loss) for record in history]
    meta = provenance(sequence, settings, last)
    tracks, camera = problem.tracks, sequence.camera
    solved = geometry.projective
    if solved is not None:  # a low-rank solution is shown by cameras of its own
        meta["low_rank"] = geometry.figures
        pixels = to_pixels(tracks, last.intrinsics)
        tracks = np.where(problem.visible[:, None], from_pixels(pixels, geometry.intrinsics), 0.0)
        camera = CameraModel.PERSPECTIVE
    return Result(
        tracks=tracks,
        visible=problem.visible,
        rotations=geometry.rotations,
        translations=geometry.translations,
        B=geometry.B,
        C=geometry.C,
        weights=problem.slopes(factors),
        eta=problem.eta,
        loss=problem.loss(factors),
        history=np.array(lines, dtype=float).reshape(-1, 3),
        intrinsics=geometry.intrinsics,
        camera=camera,
        truth=sequence.truth,
        edges=sequence.edges,
        faces=sequence.faces,
        meta=meta,
        cameras=None if solved is None else solved.cameras,
        homogeneous=None if solved is None else solved.homogeneous,
        norm=None if solved is None else solved.norm,
    )


def provenance(sequence: Sequence, settings: Settings, last: Update) -> dict[str, Any]:
    """Return the `meta` of a result: what it was made of, with what, and how to make it again.

    `status` is "stopped" where the run had not ended.
    """
    status = last.status.value if last.status.finished else "stopped"
    known = None if last.lineage is None else last.lineage.recipe()
    recipe = known or as_recipe(settings)
    steered: dict[str, Any] = {} if recipe.plain else {"steps": steps_to_list(recipe.steps)}
    if recipe.start is not None:
        steered["start"] = str(recipe.start.resolve())
    return {
        "name": sequence.name,
        "method": settings.method,
        "settings": settings_to_dict(settings),
        "preset": preset_name(settings),
        "versions": versions(),
        "source": str(sequence.source.resolve()) if sequence.source else None,
        "digest": sequence.digest,
        "content": sequence.content,
        "provenance": sequence.provenance,
        "units": sequence.units,
        "truth_units": sequence.truth_units,
        "rotations": last.rotations,
        "starts": [asdict(start) for start in last.starts],
        "remarks": remarks(last.best.problem, last.best.factors, settings.penalty),
        "status": status,
        "phase": last.phase,
        "seconds": last.record.seconds,
        "iterations": last.record.iteration,
        "reading": dict(sequence.reading),
        "command": command_for(sequence, recipe),
        "python": python_for(sequence, recipe),
    } | steered
