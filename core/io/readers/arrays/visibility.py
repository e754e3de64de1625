"""Which array of a foreign file is the visibility: paired by its name, or asked for.

An array that could be such a mask is never ignored silently. It is used where it is the only one, its name
defines what its numbers mean, and it holds only 0 and 1; else the file is refused, and the message names the
option that decides. A mask is F x P or P x F, with further axes of length 1, or has the shape of the tracks.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....foundation.exceptions import InputError
from ....foundation.types import Bools, Floats
from ...files.reading_options import NO_MASK
from ...files.variables import INTRINSICS, Parts, Unread, Variables, joined, shortened, size_of
from .array_shapes import SHAPES

# The words of a name by which 1 is a point that is seen, or one that is hidden. "mask" is neither: in
# some programs it marks what is valid, in others what is not.
SEEN = frozenset(
    "visibility visibilities visible visibles vis visibs seen observed valid validity confidence "
    "confidences conf score scores likelihood likelihoods probability probabilities prob certainty".split()
)
HIDDEN = frozenset("occluded occlusion occlusions hidden invisible missing invalid".split())
TRACKS = frozenset("tracks track trajectories points point coords coordinates positions xy uv".split())
MOST_SUSPECTS = 2  # that a sentence lists
NEGATIONS = frozenset(("not", "no", "non"))


def could_be_tracks(name: str, value: Any) -> bool:
    """Return whether an array is no mask, neither by its name nor by holding only 0 and 1."""
    return _meaning(name) is None and not _is_binary(value)


def with_visibility(
    variables: Variables, parts: Parts, asked: str = "", threshold: float | None = None
) -> Parts:
    """Return what a layout made of a file's variables, with the visibility that is among the others."""
    others = {name: value for name, value in variables.items() if name not in (*parts.roles, *INTRINSICS)}
    mask = "" if asked == NO_MASK else asked or _paired(others, parts, threshold)
    name = mask.removeprefix("~")
    if mask and name not in variables:
        raise InputError(f"{shortened(name)} is absent; accepted is {_accepted(parts)}, or {NO_MASK!r}")
    if mask:
        parts = with_mask(parts, variables[name], mask, threshold)
    left_out = [
        f"{shortened(n)} ({size_of(v)})"
        for n, v in sorted(others.items())
        if n != name and fits_as_mask(v, parts)
    ]
    if left_out:
        parts = replace(parts, provenance=joined(parts.provenance, f"not read: {', '.join(left_out)}"))
    if not mask:
        parts = replace(parts, reading={**parts.reading, "visible": parts.reading.get("visible", NO_MASK)})
    return parts if parts.visible is None else replace(parts, tracks=_masked(parts, parts.visible))


def with_mask(parts: Parts, value: Any, mask: str, threshold: float | None, note: str = "") -> Parts:
    """Return parts with the visibility by a mask "~NAME" with this value; `note`: more on it."""
    name, hidden = mask.removeprefix("~"), mask.startswith("~")
    if not fits_as_mask(value, parts):
        raise InputError(f"{name} is {size_of(value)}; accepted is {_accepted(parts)}, or {NO_MASK!r}")
    reading = {"visible": mask}
    if threshold is not None:
        # Of a score that is NaN both are false: the point is hidden.
        seen, reading["threshold"] = value < threshold if hidden else value >= threshold, f"{threshold:g}"
    elif _is_binary(value):
        seen = (value != 0) != hidden
    else:
        raise InputError(
            f"{name} ({size_of(value)}) holds not only 0 and 1; accepted is a threshold too, --threshold 0.5"
        )
    return replace(
        parts,
        visible=_arranged(seen, parts),
        roles={parts.tracks_name: "tracks", name: "visibility"} | dict(parts.roles) | {name: "visibility"},
        reading={**parts.reading, **reading},
        provenance=joined(parts.provenance, f"{name} is the visibility mask{note}"),
    )


def _own_mask(parts: Parts) -> str:
    """Return the variable that a layout has the visibility from, that of the tracks where they tell it."""
    return next((name for name, role in parts.roles.items() if role == "visibility"), parts.tracks_name)


def _masked(parts: Parts, visible: Bools) -> Floats:
    """Return tracks with NaN for a hidden (0, 0): that marks a missing point, not a position."""
    unknown: Bools = np.isnan(parts.tracks).any(axis=1) & visible
    if unknown.any():
        frame, point = np.argwhere(unknown)[0]
        raise InputError(
            f"{parts.tracks_name} is NaN at frame {frame + 1}, point {point + 1}, which {_own_mask(parts)} "
            "marks as seen; accepted is NaN only where a point is hidden"
        )
    nowhere: Bools = (parts.tracks == 0).all(axis=1) & ~visible
    return np.where(nowhere[:, None], np.nan, parts.tracks)


def _paired(others: Variables, parts: Parts, threshold: float | None) -> str:
    """Return the only array that could be a mask as `asked` has it, "" where there is none."""
    suspects = [
        name
        for name, value in sorted(others.items())
        if _could_be_mask(name, value, parts) and not _belongs_to_others(name, others, parts)
    ]
    if not suspects:
        return ""
    name = suspects[0]
    some = [f"{shortened(each)} ({size_of(others[each])})" for each in suspects[:MOST_SUSPECTS]]
    listed = ", ".join(some) + (f" and {more} more" if (more := len(suspects) - len(some)) else "")
    if len(suspects) > 1 or _meaning(name) is None:
        found = f"{listed} could be the visibility mask"
    elif not fits_as_mask(others[name], parts):
        found = f"{listed} is named as a visibility mask; accepted is {_accepted(parts)}"
    elif parts.visible is not None:
        found = f"{listed} could be the visibility mask, and so could {_own_mask(parts)}"
    elif threshold is None and not _is_binary(others[name]):
        found = f"{listed} is the visibility mask, and holds not only 0 and 1"
    else:
        return name if _meaning(name) else f"~{name}"
    raise InputError(
        f"{found}; decide it by --visible (visible=): {shortened(name)} where 1 is seen, ~{shortened(name)} "
        f"where 1 is hidden, with --threshold 0.5 where it is a score, or {NO_MASK} to do without"
    )


def _could_be_mask(name: str, value: Any, parts: Parts) -> bool:
    """Whether a variable is named as a mask, or has the size of one and no numbers outside 0 to 1."""
    if _meaning(name) is not None:
        return isinstance(value, list | Unread) or (isinstance(value, np.ndarray) and value.size > 1)
    if not fits_as_mask(value, parts) or _is_binary(value):
        return fits_as_mask(value, parts)
    # Confidences; a NaN may mark a point that has none.
    return not _is_of_tracks(value, parts) and not ((value < 0) | (value > 1)).any()


def _belongs_to_others(name: str, others: Variables, parts: Parts) -> bool:
    """Whether a mask is that of other tracks by the rest of its name: right_visible, of right_tracks."""
    rest = _rest(name)
    if _meaning(name) is None or rest == _rest(parts.tracks_name):
        return False
    return any(
        _rest(each) == rest and could_be_tracks(each, value) and SHAPES[parts.shape].fits(value)
        for each, value in others.items()
    )


def _meaning(name: str) -> bool | None:
    """Return whether 1 is a point that is seen, by the words of a name; None where they do not decide."""
    words = set(_words(name))
    seen, hidden = bool(words & SEEN), bool(words & HIDDEN)
    return None if seen == hidden or words & NEGATIONS else seen


def _rest(name: str) -> tuple[str, ...]:
    return tuple(word for word in _words(name) if word not in SEEN | HIDDEN | TRACKS)


def _words(name: str) -> list[str]:
    """Return the words of a name like pred_visibility or predVisibility."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)]


def _is_binary(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and bool(np.isin(value, (0, 1)).all())


def _accepted(parts: Parts) -> str:
    frames, _, points = parts.tracks.shape
    return f"a mask of {frames} frames and {points} points, {frames} x {points} or {points} x {frames}"


def fits_as_mask(value: Any, parts: Parts) -> bool:
    """Return whether an array has the size of a mask of the tracks, or the tracks' own."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        return False
    frames, _, points = parts.tracks.shape
    return np.squeeze(value).shape in ((frames, points), (points, frames)) or _is_of_tracks(value, parts)


def _is_of_tracks(value: npt.NDArray[Any], parts: Parts) -> bool:
    shape, (frames, _, points) = SHAPES[parts.shape], parts.tracks.shape
    return shape.fits(value) and shape.frames_and_points(value.shape) == (frames, points)


def _arranged(seen: Bools, parts: Parts) -> Bools:
    """Return a mask as (F, P); of one with the shape of the tracks, a point is seen where both rows are."""
    frames, _, points = parts.tracks.shape
    if _is_of_tracks(seen, parts):
        return np.asarray(SHAPES[parts.shape].arrange(seen, "mask").all(axis=1))
    squeezed = np.squeeze(seen)
    turned = SHAPES[parts.shape].points_first if frames == points else squeezed.shape != (frames, points)
    return squeezed.T if turned else squeezed
