"""From a sequence and settings to a reconstruction, as one stream of updates.

`reconstruct` is what the command line, the viewer and a script all drain, so that all give the same numbers.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ..foundation.exceptions import InputError
from . import low_rank_pipeline, nonrigid_pipeline
from .progress import count_shift, finish, shift_counts
from .provenance import ProvenanceChain, SolveStep

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ..data.sequence import Sequence
    from .progress import Iterate
    from .result import Result
    from .settings import Settings


def reconstruct(sequence: Sequence, settings: Settings, *, start: Iterate | None = None) -> Iterator[Iterate]:
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
    low_rank = settings.problem == "lowrank"
    can_continue = low_rank_pipeline.can_continue if low_rank else nonrigid_pipeline.can_continue
    if start is None or not can_continue(start, settings):
        run = low_rank_pipeline.run_low_rank if low_rank else nonrigid_pipeline.run_nonrigid
        return _with_provenance(settings, run(sequence, settings), None)
    resume = low_rank_pipeline.continue_low_rank if low_rank else nonrigid_pipeline.continue_nonrigid
    return _with_provenance(settings, resume(sequence, settings, start), start)


def _with_provenance(
    settings: Settings, iterates: Iterator[Iterate], start: Iterate | None
) -> Iterator[Iterate]:
    """Yield the iterates of a run, each with the steps that made it; `start` is what the run continues."""
    for count, reported in enumerate(iterates, start=1):
        step = SolveStep(settings, None if reported.status.finished else count)
        before = None if start is None else start.provenance
        known = start is None or before is not None
        yield replace(reported, provenance=ProvenanceChain(step, before) if known else None)


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


def replay(
    sequence: Sequence, steps: Collection[SolveStep], *, start: Iterate | None = None
) -> Iterator[Iterate]:
    """Yield the updates of all steps, each step going on from where the one before it stood.

    Iterations and seconds are counted through all steps.

    Parameters
    ----------
    sequence
        the tracks and what is known about them.
    steps
        settings, and for how many updates each.
    start
        what the first step goes on from, as in `reconstruct`; None is nothing.

    Raises
    ------
    InputError
        where there is no step, a step asks for no update, or as `reconstruct` does.
    """
    if not steps:
        raise InputError("there is no step; a reconstruction needs at least one")
    for number, step in enumerate(steps, start=1):
        if step.updates is not None and step.updates < 1:
            raise InputError(
                f"step {number} has {step.updates} updates; accepted is at least 1, or to the end"
            )
    return _replay(sequence, steps, start)


def _replay(sequence: Sequence, steps: Collection[SolveStep], start: Iterate | None) -> Iterator[Iterate]:
    last: Iterate | None = None
    for step in steps:
        before, by = last, None
        for update in islice(reconstruct(sequence, step.settings, start=start), step.updates):
            if by is None:
                by = (0, 0.0) if before is None else count_shift(before.record, update.record)
            start, last = update, shift_counts(update, by)
            yield last


def solve_steps(sequence: Sequence, steps: Collection[SolveStep], *, start: Iterate | None = None) -> Result:
    """Drain `replay` and return the result.

    Raises
    ------
    InputError
        as `replay` does.
    """
    history = []
    for last in replay(sequence, steps, start=start):
        history.append(last.record)
    return finish(sequence, last.settings, last, history)
