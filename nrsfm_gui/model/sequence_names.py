"""What the ground truth of a sequence and its points are called. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.data import GROUND_TRUTH

if TYPE_CHECKING:
    from collections.abc import Collection

    from core import Sequence

ERROR = "3-D error"


def truth_phrase(name: str) -> str:
    """Return "the ground truth", or the name of the program whose reconstruction takes its place."""
    return f"the {name}" if name == GROUND_TRUTH else name


def error_name(truth: str) -> str:
    """Return what a distance to the truth of a sequence is called: no error, where it is no ground truth."""
    return ERROR if truth == GROUND_TRUTH else f"distance to {truth}"


def truth_name(sequence: Sequence | None) -> str:
    """Return what the truth of a sequence is, "ground truth" where there is no sequence."""
    return GROUND_TRUTH if sequence is None else sequence.truth_name


def point_label(point: int, names: Collection[str] | None) -> str:
    """Return "point 3", or "point 3, nose" where points have names; `point` is 0-based."""
    name = "" if names is None else f", {tuple(names)[point]}"
    return f"point {point + 1}{name}"
