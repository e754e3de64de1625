"""The numbers of a run and of a sequence as text. Pure functions, no Qt."""

from __future__ import annotations

import numpy as np

from core import HistoryEntry, Sequence
from core.foundation import DEPTHS, WNN
from nrsfm_gui.model.numbers import MINUS, NONE
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.scene.incumbent import Incumbent

SIZE_MEANING = "the root mean square distance of its points from their centroid, mean over the frames"
LEAST_PERCENT = 0.001  # of the object's size; less is as good as none
OBJECTIVE_NAMES = {WNN: "log10 loss", DEPTHS: "energy"}
ETA_FROM_SECONDS = 1.0  # shorter times are not shown
COARSER = (20, 1), (60, 5), (600, 10), (float("inf"), 60)  # below so many seconds, what they are rounded to


def signed(value: float, digits: int) -> str:
    """Return a fixed-point number with a true minus sign."""
    return f"{value:.{digits}f}".replace("-", MINUS)


def log_loss(loss: float | None, digits: int = 4) -> str:
    """Return log10 of a loss as text."""
    if loss is None or not loss > 0 or not np.isfinite(loss):
        return NONE
    return signed(float(np.log10(loss)), digits)


def objective_value(value: float | None, objective: str, digits: int = 4) -> str:
    """Return a value of an objective as text: an energy, or log10 of a loss."""
    if objective == WNN or value is None:
        return log_loss(value, digits)
    return signed(value, digits) if np.isfinite(value) else NONE


def objective_text(value: float | None, objective: str, digits: int = 4) -> str:
    """Return a value of an objective with its name: "log10 loss −0.718", "energy −3.345"; "" without one."""
    name = OBJECTIVE_NAMES[objective]
    return "" if value is None else f"{name} {objective_value(value, objective, digits)}"


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
    """Return a length and its part: "7.50 mm, 4.8 % of the object", or "7.50 mm · 4.8 %"."""
    share = percent_of(value, size)
    if not share:
        return measure(value, unit)
    return f"{measure(value, unit)} · {share}" if short else f"{measure(value, unit)}, {share} of the object"


def percent_of(value: float | None, size: float | None) -> str:
    """Return "4.8 %", a length relative to the size of the object; "" where one of them is not known."""
    if value is None or size is None or not (np.isfinite(value) and np.isfinite(size) and size > 0):
        return ""
    percent = 100.0 * value / size
    if percent == 0.0 or percent >= 9.95:  # which two digits would write as "10."
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


def time_left(run: Run) -> str:
    """Return "12 s left", in rounder numbers the longer it is; "" where nothing is known."""
    left = run.seconds_left
    if run.state is RunState.RUNNING and run.history.lighter:
        return "second search"  # which takes about as long as the first; no share of it is known
    if run.state is not RunState.RUNNING or left is None or left <= ETA_FROM_SECONDS:
        return ""
    unit = next(unit for limit, unit in COARSER if left < limit)
    return f"{duration(unit * max(round(left / unit), 1))} left"


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
