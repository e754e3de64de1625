"""The incumbent: the best reconstruction of a run so far, which all numbers of the window are of.

The word is that of optimization for the best solution that was found so far. A run tries starts, ranks and
subsets that are worse than it; these are in the history only. Value and errors of the incumbent are of the
same point, and they change together: the errors take time to compute, and the value waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core import HistoryEntry, Iterate
from core.foundation import DEPTHS, WNN, Floats, Phase, PhaseKind
from nrsfm_gui.model.history import History
from nrsfm_gui.model.run import Run
from nrsfm_gui.scene.shapes import Shapes

FINEST = Phase(PhaseKind.FINEST).stage
MOST_NAMED = 3  # outliers that are named one by one


@dataclass(frozen=True)
class Quality:
    """The errors of a reconstruction over all frames and points; None where unknown."""

    reprojection: float | None  # RMS, in the units of the tracks
    error: float | None  # mean 3-D distance, in `unit`
    unit: str
    alignment: str
    # of a low-rank solution, see `core.reconstruction.geometry`
    figures: Mapping[str, Any] = field(default_factory=dict)
    without: float | None = None  # mean 3-D distance without outliers of the truth, where it has some
    outliers: int = 0  # how many these are
    worst_outliers: tuple[tuple[int, int], ...] = ()  # frame and point of those with the largest errors
    known: int = 0  # points of all frames that have a 3-D distance
    uncertainty: float | None = None  # mean standard deviation of the places of the points, in `unit`
    size: float | None = None  # of the object, in `unit`: lengths are relative to it
    held_out: float | None = None  # as `reprojection`, of the observations that are hidden from the solver
    e3d: float | None = None  # normalized as published, for orthogonal cameras


def quality(shapes: Shapes) -> Quality:
    """Return the errors of the drawn shapes."""
    errors, kept = shapes.errors, shapes.errors_without
    known = np.zeros(0, bool) if errors is None else np.isfinite(errors)
    left_out = np.zeros(known.shape, bool) if kept is None else known & np.isnan(kept)
    square = _known_mean(None if shapes.residuals is None else shapes.residuals**2)
    return Quality(
        reprojection=None if square is None else float(np.sqrt(square)),
        error=_known_mean(errors),
        unit=shapes.unit,
        alignment=shapes.alignment_name,
        figures=shapes.figures,
        without=_known_mean(kept),
        outliers=int(left_out.sum()),
        worst_outliers=() if errors is None else _largest(np.where(left_out, errors, np.nan)),
        known=int(known.sum()),
        uncertainty=_known_mean(shapes.uncertainty),
        size=shapes.size,
        held_out=shapes.held_out,
        e3d=shapes.e3d,
    )


def _known_mean(values: Floats | None) -> float | None:
    known = None if values is None else values[np.isfinite(values)]
    return None if known is None or not known.size else float(known.mean())


def _largest(errors: Floats) -> tuple[tuple[int, int], ...]:
    """Return frame and point of the largest ones of errors (F, P), NaN for none."""
    known = np.argwhere(np.isfinite(errors))
    order = np.argsort(-errors[tuple(known.T)])[:MOST_NAMED]
    return tuple((frame, point) for frame, point in known[order].tolist())


@dataclass(frozen=True)
class Incumbent:
    """The best reconstruction up to a record of a run, with the value of its objective and its errors."""

    run: int  # number
    record: int  # index into the records of the run's history, -1 where it has none
    iteration: int | None  # of that record
    seconds: float | None  # of computing up to that record
    objective: str  # that it is a solution of, `WNN` or `DEPTHS`
    value: float | None  # of its objective; None until that is the final one, and on coarse levels
    errors: Quality | None  # over all frames, None where they are not known
    complete: bool  # whether it is the result of a run that has ended
    newest: bool  # whether it is the newest of its run: no earlier moment
    iterate: Iterate = field(compare=False, repr=False)  # after that record


def incumbent_of(run: Run, iterate: Iterate, errors: Quality | None, *, newest: bool = True) -> Incumbent:
    """Return the best reconstruction of a run up to an iterate."""
    history = run.history
    record = _index(history, iterate.record)
    entry = history.records[record] if len(history) else None
    refined = iterate.record.energy is not None
    return Incumbent(
        run=run.number,
        record=record,
        iteration=None if entry is None else entry.iteration,
        seconds=None if entry is None else entry.seconds,
        objective=DEPTHS if refined else WNN,
        value=_energy(iterate) if refined else iterate.final_loss,
        errors=errors,
        complete=newest and not run.state.alive and iterate is run.last,
        newest=newest,
        iterate=iterate,
    )


def _energy(iterate: Iterate) -> float | None:
    """Return the energy of the shape that is shown at the finest level, None where it is not known there.

    A search shows the shape of the run that it continues, whose parameters are others, until its own has
    ended. The energies of further ends are of the level on which ends are compared.
    """
    searching = iterate.record.stage != FINEST or iterate.earlier is not None
    return None if searching or iterate.end_energy is not None else iterate.energy


def _index(history: History, entry: HistoryEntry) -> int:
    """Return the index of a record; where it is not there, as of a copy, of the last with its iteration."""
    first = int(np.searchsorted(history.iterations, entry.iteration))
    last = int(np.searchsorted(history.iterations, entry.iteration, side="right"))
    same = (index for index in range(first, last) if history.records[index] is entry)
    return next(same, min(max(last - 1, 0), len(history) - 1))
