"""From a sequence and settings to a reconstruction, as one stream of updates.

`reconstruct` is what the command line, the viewer and a script all drain, so that all give the same numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..foundation.exceptions import InputError
from .low_rank_pipeline import LowRankRun
from .nonrigid_pipeline import NonRigidRun
from .progress import Candidate, Record, StartReport, Update, finish
from .provenance import Lineage, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..data.sequence import Sequence
    from .pipeline import Run
    from .result import Result
    from .settings import Settings

__all__ = ["Candidate", "Record", "StartReport", "Update", "finish", "reconstruct", "solve_sequence"]


def reconstruct(sequence: Sequence, settings: Settings, *, start: Update | None = None) -> Iterator[Update]:
    """Yield updates until the reconstruction is done.

    Parameters
    ----------
    sequence
        the tracks and what is known about them.
    settings
        method and parameters.
    start
        an update of an earlier run of the same sequence. Where its rotations were chosen, and the settings
        that govern rotations and intrinsics did not change, the run goes on from its current point, the rank
        padded or cut; otherwise it starts anew.

    Raises
    ------
    InputError
        where the settings ask for what the sequence does not have (true rotations, a companion, intrinsics),
        the weights are refused, or the method is not offered for the problem and the penalty.
    """
    refusal = settings.refusal(sequence.camera)
    if refusal:
        raise InputError(refusal)
    kind = LowRankRun if settings.problem == "lowrank" else NonRigidRun
    run = kind(sequence, settings)
    return _traced(run, run.updates(start), start)


def _traced(run: Run, stream: Iterator[Update], start: Update | None) -> Iterator[Update]:
    """Yield the updates of a run, each with the way that led to it."""
    for count, update in enumerate(stream, start=1):
        step = Step(run.settings, None if update.status.finished else count)
        before = start.lineage if run.goes_on and start is not None else None
        known = before is not None or not run.goes_on
        yield replace(update, lineage=Lineage(step, before) if known else None)


def solve_sequence(sequence: Sequence, settings: Settings) -> Result:
    """Drain `reconstruct` and return the result.

    Raises
    ------
    InputError
        as `reconstruct` does.
    """
    history = []
    for last in reconstruct(sequence, settings):
        history.append(last.record)
    return finish(sequence, settings, last, history)
