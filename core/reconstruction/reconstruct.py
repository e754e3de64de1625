"""From a sequence and settings to a reconstruction, in one call or one iterate at a time.

The command line, the window and scripts all iterate over `iterate_sequence` or `replay`, so that all give the
same numbers. `iterate` and `reconstruct` are the forms for scripts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import count, islice
from typing import Any, Unpack, overload

from numpy.linalg import LinAlgError

from ..data.sequence import Sequence
from ..foundation.exceptions import InputError, names_file
from ..foundation.records import check_kind
from ..problem.factors import Factors
from ..problem.nonrigid import Problem
from ..solvers.solver import Algorithm, IterativeMethod, Snapshot, State, single_threaded
from ..solvers.solver import iterate as iterate_problem
from . import low_rank_pipeline, nonrigid_pipeline
from .orientation import parse_upright
from .progress import BILINEAR_START, HistoryEntry, Iterate, count_on
from .provenance import Provenance, SolveStep
from .result import Result
from .scale import parse_scale
from .settings import Settings, SettingsFields, settings_of
from .verdicts import find_wrong_tracks


def reconstruct(
    sequence: Sequence,
    settings: Settings | str | None = None,
    *,
    steps: Collection[SolveStep] | None = None,
    start: Iterate | None = None,
    **changes: Unpack[SettingsFields],
) -> Result:
    """Reconstruct the shape of every frame.

    Parameters
    ----------
    sequence
        the tracks and what is known about them.
    settings
        the parameters: a value, or the name of a preset. Without them `changes` choose the objective: the
        weighted nuclear norm where one is of it alone, such as `rank`, else the energy of the depths.
    steps
        in place of settings: several steps, each continuing from the last iterate of the one before.
    start
        an iterate of an earlier run of the same sequence to continue from, see `iterate`.
    **changes
        fields of `Settings` that differ from `settings`: `rank=4, penalty=NuclearNorm(0.01)`, or by its name
        `penalty="nn"`; and `preset="paper"` in place of settings.

    Returns
    -------
    Result
        the lowest point that was found, with its history and how it was made.

    Raises
    ------
    InputError
        where the settings ask for what the sequence does not have (true rotations, a companion, intrinsics),
        a value is refused, or the method is not offered for the problem and the penalty.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    Result('paper circle': 12 frames, 20 points, rank 2, log10 loss -1.00, converged)
    """
    (last,) = deque(iterate(sequence, settings, steps=steps, start=start, **changes), maxlen=1)
    return last.result()


@overload
def iterate(
    sequence: Sequence,
    settings: Settings | str | None = None,
    *,
    steps: Collection[SolveStep] | None = None,
    start: Iterate | None = None,
    **changes: Unpack[SettingsFields],
) -> Iterator[Iterate]: ...


@overload
def iterate(
    sequence: Problem, settings: Algorithm[State], start: Factors | Snapshot[State] | None = None
) -> Iterator[Snapshot[State]]: ...


def iterate(
    sequence: Any, settings: Any = None, start: Any = None, *, steps: Any = None, **changes: Any
) -> Any:
    """Yield the iterates of a reconstruction, or the snapshots of a method on a problem.

    A loop may be left at any iterate: `Iterate.result` is the lowest point so far. To continue from an
    iterate under other settings, give it as `start` of a new call.

    Parameters
    ----------
    sequence
        the tracks and what is known about them; or a problem.
    settings
        the parameters, as `reconstruct` takes them; of a problem, the algorithm.
    start
        an iterate of an earlier run of the same sequence. Where its rotations were chosen, and the settings
        that govern rotations and intrinsics did not change, the run continues from its best point, the rank
        padded or cut; where only parameters of the depths changed, from its refined shape. Otherwise it does
        not use the iterate. Of a problem, factors or a snapshot; by default
        its closed form.
    steps, **changes
        as in `reconstruct`.

    Returns
    -------
    Iterator[Iterate] or Iterator[Snapshot]
        immutable values, the last of which is finished.

    Raises
    ------
    InputError
        as `reconstruct` does.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> for step in core.iterate(sequence, rank=2, starts=1, rotations="truth"):
    ...     if step.iteration == 5:
    ...         break
    >>> step.result().iterations
    5
    """
    if isinstance(sequence, Problem):
        if steps is not None or changes:
            given = ", ".join([*(["steps"] if steps is not None else []), *changes])
            raise InputError(
                f"{given} given with a problem; accepted are an algorithm such as VariableProjection() and a "
                "start, because the problem has its rank, penalty and eta"
            )
        check_kind("settings", settings, IterativeMethod, "an algorithm such as VariableProjection()")
        check_kind("start", start, Factors | Snapshot | None, "factors or a snapshot")
        return iterate_problem(sequence, settings, sequence.closed_form() if start is None else start)
    check_kind("sequence", sequence, Sequence, "a Sequence, of read_sequence(path) or Sequence(tracks)")
    check_kind("start", start, Iterate | None, "an Iterate, of load_start(path, sequence) or iterate")
    if steps is not None:
        if settings is not None or changes:
            raise InputError("settings and steps are both given; the settings of a step are its own")
        return replay(sequence, steps, start=start)
    return iterate_sequence(sequence, settings_of(settings, **changes), start=start)


def iterate_sequence(
    sequence: Sequence, settings: Settings, *, start: Iterate | None = None
) -> Iterator[Iterate]:
    """Yield the iterates of a reconstruction under one value of settings; `iterate` has the parameters."""
    refusal = settings.refusal(sequence.camera)
    if refusal:
        raise InputError(refusal)
    if settings.scale is not None:
        parse_scale(settings.scale).check(sequence.point_count)
    if settings.upright is not None:
        parse_upright(settings.upright).check(sequence.frame_count, sequence.point_count)
    low_rank = settings.problem == "lowrank"
    can_continue = low_rank_pipeline.can_continue if low_rank else nonrigid_pipeline.can_continue
    if start is None or not can_continue(start, settings):
        run = low_rank_pipeline.run_low_rank if low_rank else nonrigid_pipeline.run_nonrigid
        return with_history(sequence, _with_provenance(settings, run(sequence, settings), None))
    resume = low_rank_pipeline.continue_low_rank if low_rank else nonrigid_pipeline.continue_nonrigid
    return with_history(sequence, _with_provenance(settings, resume(sequence, settings, start), start))


def with_history(sequence: Sequence, stream: Iterator[Iterate]) -> Iterator[Iterate]:
    """Yield iterates that share the history of their stream; what is refused names the sequence."""
    entries: list[HistoryEntry] = []
    name = sequence.name if sequence.source is None else str(sequence.source)
    try:
        for each in stream:
            entries.append(each.record)
            yield replace(each, log=(sequence, entries, len(entries)))
    except InputError as error:
        sentence = str(error).removeprefix(f"{sequence.name}: ")
        if names_file(sentence):
            raise
        raise InputError(f"{name}: {sentence}") from error


def _with_provenance(
    settings: Settings, iterates: Iterator[Iterate], start: Iterate | None
) -> Iterator[Iterate]:
    """Yield the iterates of a run, with the steps that made each, and the end of the search of its start.

    The finished one has a verdict on its tracks, where many are wrong. All are computed by one thread of
    BLAS: last digits depend on their number.
    """
    found = None if start is None else start.search_end
    before: Provenance | None = Provenance(())
    if start is not None:
        before = start.provenance if start.source is None else Provenance((), start.source)
    for number in count(1):
        try:
            with single_threaded():
                each = next(iterates, None)
                if each is None:
                    return
                ended = each.status.finished
                wrong = find_wrong_tracks(each.best.problem) if ended and settings.loss == "squared" else ()
        except LinAlgError as error:
            raise InputError(
                f"the tracks, or what is known of their cameras, give equations without a solution ({error})"
            ) from error
        step = SolveStep(settings, None if ended else number)
        made = before and replace(before, steps=(*before.steps, step))
        verdicts = (*wrong, *each.verdicts)
        yield replace(each, found=found, provenance=made, source=None, verdicts=verdicts)


def replay(
    sequence: Sequence, steps: Collection[SolveStep], *, start: Iterate | None = None
) -> Iterator[Iterate]:
    """Yield the iterates of all steps, counted through; each step continues from the end of that before."""
    check_kind("steps", steps, Collection, "a list of SolveStep(settings)")
    if not steps:
        raise InputError("there is no step; a reconstruction needs at least one")
    for number, step in enumerate(steps, start=1):
        check_kind(f"step {number}", step, SolveStep, "a SolveStep(settings)")
        if step.iterates is not None and step.iterates < 1:
            raise InputError(
                f"step {number} has {step.iterates} iterates; accepted is at least 1, or to the end"
            )
        if step.end < 1:
            raise InputError(f"step {number} has end {step.end}; accepted is at least 1, the lowest")
        if step.end > 1 and step.iterates is not None:
            raise InputError(
                f"step {number} has end {step.end}, and stops after {step.iterates} iterates; accepted is "
                "one of the two, because only a refinement that runs to its end has further ends"
            )
    return with_history(sequence, _replay(sequence, steps, start))


def _replay(sequence: Sequence, steps: Collection[SolveStep], start: Iterate | None) -> Iterator[Iterate]:
    last: Iterate | None = None
    for step in steps:
        iterates = islice(iterate_sequence(sequence, step.settings, start=start), step.iterates)
        for each in count_on(iterates, last):
            others = each.alternatives.items() if each.status.finished and step.end > 1 else ()
            ends = [each, *(end for name, end in others if name != BILINEAR_START)]
            start = last = (ends[step.end - 1 :] or ends)[0]
            yield last
        if step.end > len(ends):  # after the lowest one, which is not lost
            raise InputError(f"the refinement has no end {step.end}; accepted are 1 to {len(ends)}")
