"""What a run tries: candidates for the rotations, and starting points, each with how it ended. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.foundation import PhaseKind

if TYPE_CHECKING:
    from core import Iterate
    from nrsfm_gui.model.history import History

GIVEN_UP = "given up"
OF_ROTATIONS = "candidate for the rotations, whose losses are of another objective than those of the others"


@dataclass(frozen=True)
class Attempt:
    """A candidate for the rotations, or a start, that a run tries."""

    name: str
    log_loss: float | None  # base-10 logarithm, of its end; None before there is one
    agrees: str  # "yes", "no", "given up", "chosen", or "" where that is not known yet
    best: bool = False
    note: str = ""
    records: tuple[int, int] | None = None  # the first and the last one, None where it has none of its own
    candidate: bool = False  # whether it is one for the rotations


def attempt_parts(history: History) -> dict[tuple[bool, str], tuple[int, int]]:
    """Return the first and the last record of every candidate for the rotations (True) and every start."""
    parts: dict[tuple[bool, str], tuple[int, int]] = {}
    for phase, first, last in history.phase_spans:
        key = phase.kind is PhaseKind.ROTATIONS, phase.attempt
        if key[1]:
            parts[key] = parts[key][0] if key in parts else first, last
    return parts


def attempts_of(history: History, last: Iterate | None) -> tuple[Attempt, ...]:
    """Return what a run has tried, in the order of time."""
    parts = attempt_parts(history)
    reports = () if last is None else last.starts
    lowest = min((report.loss for report in reports if report.agrees), default=None)
    found = []
    for report in reports:
        given_up, best = report.note == GIVEN_UP, report.loss == lowest and not report.note
        value = float(np.log10(report.loss)) if 0 < report.loss < np.inf else None
        agrees = GIVEN_UP if given_up else "yes" if report.agrees else "no"
        records = parts.get((False, report.name))
        found.append(Attempt(report.name, value, agrees, best, "" if given_up else report.note, records))
    chosen = last.rotations if last is not None and last.rotations_chosen else ""
    for (candidate, name), records in parts.items():
        if candidate:
            agrees = "chosen" if name == chosen else ""
            end = float(np.log10(history.values[records[1]]))
            found.append(Attempt(name, end, agrees, note=OF_ROTATIONS, records=records, candidate=True))
    return tuple(found)
