"""The headline of the tool bar: how wrong the shown reconstruction is, in two lines. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.data import GROUND_TRUTH
from nrsfm_gui.model.sequence_names import error_name, truth_phrase
from nrsfm_gui.scene.summaries import SIZE_MEANING, log_loss, measure, percent_of, size_text

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.scene.incumbent import Incumbent
    from nrsfm_gui.scene.summaries import Quality

CHOOSE = "Click to choose how the estimate is laid over the ground truth (A)."


@dataclass(frozen=True)
class HeadlineText:
    """Two lines in forms from the longest to the shortest: that with room for it is shown.

    The first line loses "of the object", then the part of the object. The second one loses the loss, then
    the reprojection error, then what limits the alignment. The error and its alignment stay.
    """

    large: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    tip: str = ""


def headline_text(found: Incumbent | None, sequence: Sequence | None, *, past: bool = False) -> HeadlineText:
    """Return the headline of the shown reconstruction."""
    if found is None or found.errors is None or sequence is None:
        return HeadlineText()
    known = found.errors
    loss = "" if found.loss is None else f"log10 loss {log_loss(found.loss, digits=3)}"
    moment = f"iteration {found.iteration}" if past else ""
    pixels = measure(known.reprojection, sequence.units)
    if known.error is None:
        large: tuple[str, ...] = f"{pixels} reprojection", pixels
        basis, details = _why_no_error(known, sequence), loss
    else:
        error, share = measure(known.error, known.unit), percent_of(known.error, known.size)
        large = (f"{error} · {share} of the object", f"{error} · {share}", error) if share else (error,)
        other = "" if sequence.truth_name == GROUND_TRUTH else f"to {sequence.truth_name}, "
        basis, details = f"{other}{known.alignment}", pixels
    short = basis.split(",")[0].removesuffix(" for all frames").removesuffix(" per frame")
    forms = (moment, basis, details, loss), (moment, basis, details), (moment, basis), (short,)
    small = dict.fromkeys(" · ".join(dict.fromkeys(part for part in form if part)) for form in forms)
    if loss:
        loss = f"{loss[:1].upper()}{loss[1:]}, of {_solved_point(found, known)}"
    return HeadlineText(large, tuple(small), _tip(known, sequence, pixels, loss))


def _why_no_error(known: Quality, sequence: Sequence) -> str:
    if sequence.truth is None:
        return f"no {GROUND_TRUTH}"
    return known.alignment if known.figures.get("metric", True) else "no metric upgrade"


def _solved_point(found: Incumbent, known: Quality) -> str:
    """Return what the loss is of: where something else is shown, the errors are not of it."""
    if found.iterate.record.energy is not None:
        return "the bilinear solution, not of the refined shape that is shown"
    if known.figures.get("metric"):
        return "the projective factorization, not of the metric view that is shown"
    return "the same point"


def _tip(known: Quality, sequence: Sequence, pixels: str, loss: str) -> str:
    """Return all numbers, one per line, with what they are."""
    lines = []
    if known.error is not None:
        share = percent_of(known.error, known.size)
        of_object = f", {share} of the object ({size_text(known.size, known.unit)})" if share else ""
        name = error_name(sequence.truth_name)
        lines.append(f"Mean {name}: {measure(known.error, known.unit)}{of_object}")
        if share:
            lines.append(f"The size of the object: {SIZE_MEANING}")
        lines.append(f"Laid over {truth_phrase(sequence.truth_name)}: {known.alignment}")
    lines.append(f"Reprojection, root mean square: {pixels}")
    if loss:
        lines.append(loss)
    if sequence.truth is not None:
        lines.append(CHOOSE)
    return "\n".join(lines)
