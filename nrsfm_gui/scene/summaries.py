"""The quality of a run, and the numbers of a run as text. Pure functions, no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from core.foundation import phase_text
from nrsfm_gui.model.history import STARTS_AGAIN
from nrsfm_gui.model.numbers import MINUS, NONE
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.sequence_names import point_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core import HistoryEntry, Iterate, Sequence
    from nrsfm_gui.scene.incumbent import Incumbent
    from nrsfm_gui.scene.scene import Scene
    from nrsfm_gui.scene.shapes import Shapes

SIZE_MEANING = "the root mean square distance of its points from their centroid, mean over the frames"
LEAST_PERCENT = 0.001  # of the object's size; less is as good as none
ETA_FROM_SECONDS = 1.0  # shorter times are not shown
COARSER = (20, 1), (60, 5), (600, 10), (float("inf"), 60)  # below so many seconds, what they are rounded to


@dataclass(frozen=True)
class Quality:
    """The errors of a reconstruction over all frames and points; None where unknown."""

    reprojection: float | None  # RMS, in the units of the tracks
    error: float | None  # mean 3-D distance, in `unit`
    unit: str
    alignment: str
    figures: Mapping[str, Any] = field(
        default_factory=dict
    )  # of a low-rank solution, see `core.reconstruction.geometry`
    without: float | None = None  # mean 3-D distance without outliers of the truth, where it has some
    outliers: int = 0  # how many these are
    known: int = 0  # points of all frames that have a 3-D distance
    uncertainty: float | None = None  # mean standard deviation of the places of the points, in `unit`
    size: float | None = None  # of the object, in `unit`: lengths are relative to it
    held_out: float | None = None  # as `reprojection`, of the observations that are hidden from the solver
    e3d: float | None = None  # normalized as published, for orthogonal cameras


def quality(shapes: Shapes) -> Quality:
    """Return the errors of the drawn shapes."""
    reprojection = error = without = None
    outliers = count = 0
    if shapes.residuals is not None:
        seen = shapes.residuals[np.isfinite(shapes.residuals)]
        reprojection = float(np.sqrt(np.mean(seen**2))) if seen.size else None
    if shapes.errors is not None:
        known = shapes.errors[np.isfinite(shapes.errors)]
        error, count = (float(known.mean()) if known.size else None), known.size
        if shapes.errors_without is not None:
            kept = shapes.errors_without[np.isfinite(shapes.errors_without)]
            without, outliers = float(kept.mean()), count - kept.size
    spread = shapes.uncertainty()
    uncertainty = None if spread is None or not np.isfinite(spread).any() else float(np.nanmean(spread))
    return Quality(
        reprojection=reprojection,
        error=error,
        unit=shapes.unit,
        alignment=shapes.alignment_name,
        figures=shapes.figures,
        without=without,
        outliers=outliers,
        known=count,
        uncertainty=uncertainty,
        size=shapes.size,
        held_out=shapes.held_out,
        e3d=shapes.e3d,
    )


def signed(value: float, digits: int) -> str:
    """Return a fixed-point number with a true minus sign."""
    return f"{value:.{digits}f}".replace("-", MINUS)


def log_loss(loss: float | None, digits: int = 4) -> str:
    """Return log10 of a loss as text."""
    if loss is None or not loss > 0 or not np.isfinite(loss):
        return NONE
    return signed(float(np.log10(loss)), digits)


def measure(value: float | None, unit: str) -> str:
    """Return a length with three digits and its unit; an exponent only where digits do not suffice."""
    if value is None or not np.isfinite(value):
        return NONE
    if 0 < value < 5e-4:
        return f"{value:.1e} {unit}"
    if value >= 1e5:
        return f"{value:.2e} {unit}"
    digits = 3 if value < 1 else 2 if value < 100 else 1
    return f"{value:.{digits}f} {unit}"


def relative_measure(value: float | None, unit: str, size: float | None, *, short: bool = False) -> str:
    """Return a length and its part of the object: "7.50 mm, 4.8 % of the object", or "7.50 mm · 4.8 %".

    `value`: a length in `unit`, None where it is not known.
    """
    share = percent_of(value, size)
    if not share:
        return measure(value, unit)
    return f"{measure(value, unit)} · {share}" if short else f"{measure(value, unit)}, {share} of the object"


def percent_of(value: float | None, size: float | None) -> str:
    """Return "4.8 %", a length relative to the size of the object; "" where one of them is not known."""
    if value is None or size is None or not (np.isfinite(value) and np.isfinite(size) and size > 0):
        return ""
    percent = 100.0 * value / size
    if percent == 0.0 or percent >= 10.0:
        return f"{percent:.0f} %"
    return f"{percent:#.2g} %" if percent >= LEAST_PERCENT else f"below {LEAST_PERCENT} %"


def size_text(size: float | None, unit: str) -> str:
    """Return "the object: 156 mm", what lengths are relative to; "" where that is not known."""
    return "" if size is None or not np.isfinite(size) else f"the object: {size:.3g} {unit}"


def duration(seconds: float) -> str:
    """Return a span of time: "4.2 ms", "0.31 s", "2 min 5 s"."""
    if seconds < 0.1:
        return f"{1000 * seconds:.1f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 and not isinstance(seconds, int) else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def file_stem(sequence: Sequence | None, otherwise: str) -> str:
    """Return the stem of proposed file names: the name of the sequence in portable characters."""
    name = otherwise if sequence is None else sequence.name
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)


def activity(run: Run | None, *, past: Iterate | None = None) -> str:
    """Return the state of the solver for the status bar; or that a `past` iteration is shown."""
    if run is None:
        return "Ready"
    if past is not None and not run.state.alive:
        return (
            f"Run {run.number} as it was at iteration {past.record.iteration} of "
            f"{iterations(run.history.records[-1])}: "
            "press Newest in Loss for its result"
        )
    last = run.last
    state = {
        RunState.RUNNING: "Running",
        RunState.PAUSED: "Paused",
        RunState.FINISHED: "Done",
        RunState.STOPPED: "Stopped",
        RunState.FAILED: "Failed",
    }[run.state]
    if run.state is RunState.FAILED:
        return f"Run {run.number} failed: {run.message}"
    if last is None or not len(run.history):
        return f"{state}: run {run.number}, preparing" if run.state.alive else f"{state}: run {run.number}"
    warm = "" if run.shown_before is None else " (from nothing)"
    warm = warm if run.warm_from is None else f" (from run {run.warm_from})"
    parts = [f"{state}: run {run.number}{warm}"]
    left = time_left(run)
    if left:
        parts.append(f"about {left}")
    if run.state is RunState.FINISHED:
        parts.append(last.status.value)
    else:
        parts.append(phase_text(last.phase.brief))
    ticks = run.history.ticks
    if ticks and ticks[-1].restarts and not last.rotations_chosen:
        parts.append(f"starts again ({ticks[-1].text.removesuffix(STARTS_AGAIN)})")
    record = run.history.records[-1]
    many = "" if record.iteration == 1 else "s"
    parts.append(f"{iterations(record)} iteration{many} in {seconds(record)}")
    return " · ".join(parts)


def time_left(run: Run) -> str:
    """Return "12 s left", in rounder numbers the longer it is; "" where nothing is known."""
    left = run.seconds_left
    if run.state is not RunState.RUNNING or left is None or left <= ETA_FROM_SECONDS:
        return ""
    unit = next(unit for limit, unit in COARSER if left < limit)
    return f"{duration(unit * max(round(left / unit), 1))} left"


def switch_summary(stopped: Run | None) -> str:
    """Return a sentence about the run that opening another sequence stopped, "" for None."""
    if stopped is None:
        return ""
    return f"Run {stopped.number} was stopped; opening {stopped.sequence.name} again shows what it has."


def preset_summary(sequence: Sequence, left: Sequence) -> str:
    """Return a sentence about the parameters of a new sequence, which are not those of the one before."""
    return f"{sequence.name} begins with the recommended parameters, not with those of {left.name}."


def iterations(found: HistoryEntry | Incumbent | None) -> str:
    """Return the iterations of a run up to a record, without those of the run that it went on from."""
    known = None if found is None else found.iteration
    return NONE if known is None else f"{known:,}".replace(",", "\u202f")


def seconds(found: HistoryEntry | Incumbent | None) -> str:
    """Return the computing time of a run up to a record, without that of the run that it went on from."""
    known = None if found is None else found.seconds
    return NONE if known is None else duration(known)


def pair(values: np.ndarray, unit: str) -> str:
    """Return two coordinates with their unit."""
    return f"{signed(float(values[0]), 2)}, {signed(float(values[1]), 2)} {unit}"


def sequence_title(sequence: Sequence) -> str:
    """Return the name and the camera of a sequence."""
    return f"{sequence.name} ({sequence.camera.value})"


def sequence_facts(sequence: Sequence) -> str:
    """Return the size of a sequence, for the status bar."""
    parts = [f"{sequence.frame_count} frames", f"{sequence.point_count} points"]
    hidden = 1.0 - float(sequence.visible.mean())
    if hidden > 0:
        parts.append(f"{100 * hidden:.0f} % hidden" if hidden >= 0.01 else "< 1 % hidden")
    return " · ".join((sequence_title(sequence), *parts))


def hover(scene: Scene | None, point: int) -> str:
    """Return the values of a point under the mouse, "" where there is none."""
    if scene is None or not 0 <= point < len(scene.measured):
        return ""
    parts = [point_label(point, scene.point_names), f"frame {scene.frame + 1}"]
    if not scene.visible[point]:
        parts.append("hidden")
    elif scene.residuals_px is not None:
        parts.append(measure(float(scene.residuals_px[point]), scene.track_unit))
    else:
        parts.append(pair(scene.measured[point], scene.track_unit))
    if scene.errors is not None and np.isfinite(scene.errors[point]):
        error = float(scene.errors[point])
        parts.append(relative_measure(error, scene.error_unit, scene.shapes.size, short=True))
    return " · ".join(parts)
