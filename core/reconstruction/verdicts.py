"""What a run says about its own answer: where it may be wrong, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..foundation.exceptions import InputError
from ..foundation.representation import one_line_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

VERDICT_KINDS = {
    "rigid": "one rigid shape would do as well",
    "ambiguous": "two shapes explain the tracks equally",
    "mirrored": "some frames may be mirrored in depth",
    "parallax": "the camera moves too little to measure depth",
    "jump": "the rotation jumps between two frames",
    "uncertain": "the points are not determined well",
}
VERDICT_ACTIONS = {
    "look": "go to the frames",
    "compare": "show the other shape",
    "repair": "mirror the frames and refine again",
}


@dataclass(frozen=True)
class Verdict:
    """One sentence on a result.

    Parameters
    ----------
    kind
        a key of `VERDICT_KINDS`.
    sentence
        what was found, with its numbers; frames are counted from 1.
    frames
        the first and the last frame that it is about, from 0; None where it is about all.
    action
        a key of `VERDICT_ACTIONS`: what the user can do. None where there is nothing.

    Raises
    ------
    InputError
        where the kind or the action is none of these, or the frames are not in order.

    Examples
    --------
    >>> Verdict("mirrored", "Frames 31-40 may be mirrored.", (30, 39), "repair").action
    'repair'
    """

    kind: str
    sentence: str
    frames: tuple[int, int] | None = None
    action: str | None = None

    __repr__ = one_line_repr

    def __post_init__(self) -> None:
        if self.kind not in VERDICT_KINDS:
            raise InputError(
                f"the kind of a verdict is {self.kind!r}; accepted are {', '.join(VERDICT_KINDS)}"
            )
        if self.action is not None and self.action not in VERDICT_ACTIONS:
            raise InputError(
                f"the action of a verdict is {self.action!r}; accepted are {', '.join(VERDICT_ACTIONS)}"
            )
        if self.frames is None:
            return
        first, last = map(int, self.frames)
        if not 0 <= first <= last:
            raise InputError(
                f"the frames of a verdict are {first} to {last}; accepted are 0 or more, in order"
            )
        object.__setattr__(self, "frames", (first, last))


def verdicts_from_list(values: Iterable[Any]) -> tuple[Verdict, ...]:
    """Rebuild the verdicts of `meta["verdicts"]`.

    Parameters
    ----------
    values
        one mapping of the fields for each.

    Returns
    -------
    tuple[Verdict, ...]
        in the same order.

    Raises
    ------
    InputError
        where one has other fields, or a value is refused.

    Examples
    --------
    >>> verdicts_from_list([{"kind": "rigid", "sentence": "One rigid shape would do as well."}])[0].kind
    'rigid'
    """
    verdicts = []
    for number, value in enumerate(values, start=1):
        try:
            verdicts.append(Verdict(**value))
        except TypeError as error:
            raise InputError(
                f"verdict {number} is {value!r}; accepted are kind, sentence, frames and action"
            ) from error
    return tuple(verdicts)
