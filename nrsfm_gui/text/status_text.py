"""What the headline and the status bar say: how wrong what is shown is, what the solver does. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import Iterate, Sequence
from core.data import GROUND_TRUTH
from core.foundation import phase_text
from nrsfm_gui.model.history import STARTS_AGAIN
from nrsfm_gui.model.names import error_name, point_label, sentence_name, truth_phrase
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.incumbent import Incumbent, Quality
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.scene.shapes import UNKNOWN_UNIT
from nrsfm_gui.scene.summaries import (
    SIZE_MEANING,
    iterations,
    measure,
    objective_text,
    pair,
    percent_of,
    relative_measure,
    seconds,
    sequence_title,
    size_text,
)

UNMOVED = 1e-4  # of the object's size
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
    loss = objective_text(found.value, found.objective, digits=3)
    before = "still the shape of the run before" if found.iterate.shows_earlier else ""
    moment = f"iteration {found.iteration}" if past else before
    pixels = measure(known.reprojection, sequence.units)
    if known.error is None:
        large = _trust(found, known, sequence.units)
        basis = known.alignment if known.figures.get("metric", True) else "no metric upgrade"
        basis, details = (f"no {GROUND_TRUTH}" if sequence.truth is None else basis), loss
    else:
        error, share = measure(known.error, known.unit), percent_of(known.error, known.size)
        large = (f"{error} · {share} of the object", f"{error} · {share}", error) if share else (error,)
        other = "" if sequence.truth_name == GROUND_TRUTH else f"to {sequence.truth_name}, "
        basis, details = f"{other}{known.alignment}", pixels
    short = basis.split(",")[0].removesuffix(" for all frames").removesuffix(" per frame")
    forms = (moment, basis, details, loss), (moment, basis, details), (moment, basis), (short,)
    small = dict.fromkeys(" · ".join(dict.fromkeys(part for part in form if part)) for form in forms)
    if loss:
        of_view = ", of the projective factorization, not of the metric view that is shown"
        loss = f"{loss[:1].upper()}{loss[1:]}{of_view if known.figures.get('metric') else ''}"
    lines = [*quality_lines(known, sequence), loss, CHOOSE if sequence.truth is not None else ""]
    return HeadlineText(large, tuple(small), "\n".join(filter(None, lines)))


def _trust(found: Incumbent, known: Quality, pixels: str) -> tuple[str, ...]:
    """Return how far a reconstruction without a 3-D error can be trusted."""
    share = percent_of(known.uncertainty, known.size)
    held = "" if known.held_out is None else measure(known.held_out, pixels)
    if share and held:
        return f"± {share} of the object · {held} held out", f"± {share} · {held}", f"± {share}"
    if share:
        return f"± {share} of the object", f"± {share}"
    if held:
        return f"{held} at held-out observations", held
    if found.iterate.record.energy is not None:
        return ("uncertainty unknown" if found.complete else "uncertainty after the run",)
    text = measure(known.reprojection, pixels)
    return f"{text} reprojection", text


def solved_point(iterate: Iterate) -> str:
    """Return the solution that outliers of an iterate are of, "" where it is what is shown."""
    if iterate.record.energy is not None:
        return "the bilinear solution"
    return "the projective factorization" if iterate.settings.problem == "lowrank" else ""


def quality_lines(known: Quality, sequence: Sequence) -> list[str]:
    """Return the errors of a reconstruction, one per line, with what they are."""
    lines = []
    if known.error is not None:
        share = percent_of(known.error, known.size)
        error, name = relative_measure(known.error, known.unit, known.size), error_name(sequence.truth_name)
        lines.append(f"Mean {name}: {error}" + (f" ({size_text(known.size, known.unit)})" if share else ""))
        if share:
            lines.append(f"The size of the object: {SIZE_MEANING}")
        lines.append(f"Laid over {truth_phrase(sequence.truth_name)}: {known.alignment}")
    if known.uncertainty is not None:
        spread = relative_measure(known.uncertainty, known.unit, known.size)
        lines.append(f"Uncertainty, mean standard deviation of the places of the points: {spread}")
    if known.held_out is not None:
        held = measure(known.held_out, sequence.units)
        lines.append(f"Reprojection of the observations that are held out, root mean square: {held}")
    lines.append(f"Reprojection, root mean square: {measure(known.reprojection, sequence.units)}")
    return lines


def moved_text(share: float | None, known: Quality | None) -> str:
    """Return how far the shape has moved since the parameters began to; "" where that is not known.

    `share`: of the size of the object; `known`: the errors of the run, which have that size and its unit.
    """
    if share is None:
        return ""
    if share < UNMOVED:
        return "The shape has hardly moved: the data decide."
    far = f"{percent_of(share, 1.0)} of its size"
    if known is not None and known.size is not None and known.unit != UNKNOWN_UNIT:
        far = measure(share * known.size, known.unit)
    return f"Moved {far} by this change."


def activity(run: Run | None, *, past: Iterate | None = None) -> str:
    """Return the state of the solver for the status bar; or that a `past` iteration is shown."""
    if run is None:
        return "Ready"
    if past is not None and not run.state.alive:
        where = f"iteration {past.record.iteration} of {iterations(run.history.records[-1])}"
        return f"Run {sentence_name(run)} as it was at {where}: press Newest in Loss for its result"
    last, name, state = run.last, sentence_name(run), run.state.value.capitalize()
    if run.state is RunState.FAILED:
        return f"Run {name} failed: {run.message}"
    if last is None or not len(run.history):
        return f"{state}: run {name}" + (", preparing" if run.state.alive else "")
    warm = "" if run.shown_before is None else ", from nothing"
    warm = warm if run.warm_from is None else f", from run {run.warm_from}"
    over = run.state is RunState.FINISHED and last.status.finished
    parts = [f"{state}: run {name}{warm}", last.status.value if over else phase_text(last.phase.brief)]
    ticks = run.history.ticks
    if ticks and ticks[-1].restarts and not last.rotations_chosen:
        parts.append(f"starts again ({ticks[-1].text.removesuffix(STARTS_AGAIN)})")
    record = run.history.records[-1]
    many = "" if record.iteration == 1 else "s"
    parts.append(f"{iterations(record)} iteration{many} in {seconds(record)}")
    return " · ".join(parts)


def sequence_facts(sequence: Sequence) -> str:
    """Return the size of a sequence, for the status bar."""
    parts = sequence_title(sequence), f"{sequence.frame_count} frames", f"{sequence.point_count} points"
    return " · ".join(filter(None, (*parts, hidden_share(sequence))))


def hidden_share(sequence: Sequence) -> str:
    """Return how many observations are missing: "6 % hidden", "" where none is."""
    hidden = 1.0 - float(sequence.visible.mean())
    return "" if hidden == 0 else f"{100 * hidden:.0f} % hidden" if hidden >= 0.01 else "< 1 % hidden"


def hover(scene: Scene | None, point: int) -> str:
    """Return the values of a point under the mouse, "" where there is none."""
    if scene is None or not 0 <= point < len(scene.measured):
        return ""
    parts = [point_label(point, scene.sequence.point_names), f"frame {scene.frame + 1}"]
    if not scene.visible[point]:
        parts.append("hidden")
    elif scene.residuals_px is not None:
        parts.append(measure(float(scene.residuals_px[point]), scene.sequence.units))
    else:
        parts.append(pair(scene.measured[point], scene.sequence.units))
    if scene.errors is not None and np.isfinite(scene.errors[point]):
        error = float(scene.errors[point])
        parts.append(relative_measure(error, scene.shapes.unit, scene.shapes.size, short=True))
    return " · ".join(parts)
