"""Making a reconstruction again, step by step, as `Update.lineage` says that it came to be."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ..foundation.exceptions import InputError
from .progress import shift_between, shifted
from .reconstruct import finish, reconstruct

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Sequence as Items

    from ..data.sequence import Sequence
    from .progress import Update
    from .provenance import Step
    from .result import Result


def replay(sequence: Sequence, steps: Items[Step], *, start: Update | None = None) -> Iterator[Update]:
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


def _replay(sequence: Sequence, steps: Items[Step], start: Update | None) -> Iterator[Update]:
    last: Update | None = None
    for step in steps:
        before, by = last, None
        for update in islice(reconstruct(sequence, step.settings, start=start), step.updates):
            if by is None:
                by = (0, 0.0) if before is None else shift_between(before.record, update.record)
            start, last = update, shifted(update, by)
            yield last


def solve_steps(sequence: Sequence, steps: Items[Step], *, start: Update | None = None) -> Result:
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
