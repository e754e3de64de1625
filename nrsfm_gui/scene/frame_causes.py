"""The likely cause of the error of a frame, as far as its numbers support one. No Qt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.evaluation import fall_sentence
from core.foundation import Floats, Ints
from nrsfm_gui.model.names import error_name, truth_phrase
from nrsfm_gui.model.numbers import NONE, LabeledValue
from nrsfm_gui.scene.frame_analysis import Findings
from nrsfm_gui.scene.summaries import measure

WORSE = 1.2  # times the median: below it, a frame needs no explanation
EXPLAINED = 0.5  # of what a frame is worse than the median: a cause accounts for this much of it
MISFIT = 1.5  # times the median reprojection error: above it, the tracks of a frame do not fit
NEARER = 0.75  # times the error: below it, a mirror image is nearer beyond doubt
DEEP = 0.75  # share of the squared error along the view; of an error to all sides a third is
MANY_HIDDEN = 0.08  # share of the points
WORSE_HIDDEN = 1.5  # times the error of the points that are seen
STILL = 0.5  # times the median turn of the cameras
SPACE = "\N{NO-BREAK SPACE}"
LEAVE_OUT = "Without outliers of the truth (Shift+A) leaves them out of all means."
MOST_NAMED = 3  # outliers that are named one by one
UNKNOWN = "no single one"
EXAMINED = (
    "None of these accounts for half of what this frame is worse than the median: outliers of the truth, a "
    "mirror image, tracks that do not fit, hidden points, depth, too little deformation."
)
NONE_BETTER = "no worse than most frames"
REPROJECTION_TIP = "Mean reprojection error of the points that are seen, and the median frame."
TURNS_TIP = (
    "Largest angle, about the object, to the cameras of up to 5 frames before and after: "
    "a small one gives little information on depth."
)


class Cause(NamedTuple):
    """The likely cause of the error of a frame: its name, and a sentence with the evidence."""

    name: str
    sentence: str


def cause_of(findings: Findings, frame: int) -> Cause | None:
    """Return the first cause for half of what a frame is worse than the median; None without one."""
    tracks, usual = _with_median(findings.tracks, frame)
    misfit = usual > 0 and tracks > MISFIT * usual
    error, middle = _with_median(findings.error, frame)
    if not np.isfinite(error):
        return _misfit(findings, frame) if misfit else None
    if not error > WORSE * middle:
        return None
    least = EXPLAINED * (error - middle)
    fall = outlier_sentence(findings, frame)
    if fall and error - findings.without[frame] >= least:
        return Cause("outliers of the truth", fall)
    fits = np.isfinite(tracks) and not misfit
    fit = f"the tracks fit as elsewhere ({measure(tracks, findings.track_unit)})" if fits else ""
    plain, mirrored = float(findings.plain[frame]), float(findings.mirrored[frame])
    if mirrored < NEARER * plain and plain - mirrored >= least:
        return _flipped(findings, frame, fit)
    if misfit:
        return _misfit(findings, frame)
    hidden, seen = float(findings.hidden_error[frame]), float(findings.seen_error[frame])
    share, usual_share = _with_median(findings.hidden * np.nan_to_num(findings.hidden_error), frame)
    many = findings.hidden[frame] >= MANY_HIDDEN and hidden > WORSE_HIDDEN * seen
    if many and share - usual_share >= least:
        here = f"{percent(findings.hidden[frame])} of the points are hidden here"
        off, others = measure(hidden, findings.unit), measure(seen, findings.unit)
        return Cause("hidden points", f"{here}, and off by {off}; those that are seen by {others}")
    if min(findings.depth_share[frame], findings.typical_share[frame]) >= DEEP:
        description = _depth(findings, frame, fit)
        turn, usual_turn = _with_median(findings.turn, frame)
        if turn < STILL * usual_turn:
            angles = f"{turn:.3g}°, median {usual_turn:.3g}°"
            words = f"the camera turns little around this frame ({angles}), which leaves depth open"
            return Cause("depth, camera nearly still", f"{description}: {words}")
        words = ": the picture alone does not determine this depth" if fit else ""
        return Cause("depth", description + words)
    return _stiff(findings, frame, least)


def known_of(findings: Findings, frame: int) -> str:
    """Return the evidence for the cause of an error; without a cause, how much of the error is in depth."""
    found = cause_of(findings, frame)
    if found is not None:
        return found.sentence
    error = findings.error[frame]
    if not np.isfinite(error) or error <= WORSE * np.nanmedian(findings.error):
        return ""
    return f"no single cause: {percent(findings.depth_share[frame])} of its square is in depth"


def outlier_sentence(findings: Findings, frame: int) -> str:
    """Return by how much an error falls without outliers of the truth, "" where it does by little."""
    outliers = np.flatnonzero(findings.outliers[frame])
    count, known = len(outliers), int(findings.known[frame])
    fall = fall_sentence(float(findings.error[frame]), float(findings.without[frame]), count, known)
    if not fall:
        return ""
    return f"{fall}: {truth_phrase(findings.truth)} of point{_numbers(outliers)} is far from its neighbors"


def _numbers(points: Ints) -> str:
    """Return " 3", or "s 3, 5, 8, …" of several, to be put after "point"."""
    names = [str(point + 1) for point in points[:MOST_NAMED]] + ["…"] * (len(points) > MOST_NAMED)
    return f"{'s' if len(points) > 1 else ''} {', '.join(names)}"


def frame_numbers(findings: Findings | None, frame: int) -> list[LabeledValue]:
    """Return the lines of the panel of numbers on a frame, the likely cause of its error first."""
    if findings is None or not 0 <= frame < len(findings.tracks):
        return []
    hidden = percent(findings.hidden[frame])
    if findings.hidden[frame] > 0 and np.isfinite(findings.hidden_error[frame]):
        hidden += f", off by {_length_text(findings.hidden_error[frame], findings.unit)}"
    tracks = _value_and_median(findings.tracks, frame, findings.track_unit)
    turn, usual = _with_median(findings.turn, frame)
    rows = [
        *_cause_numbers(findings, frame),
        *(_error_numbers(findings, frame) if np.isfinite(findings.error[frame]) else ()),
        ("reprojection", tracks, REPROJECTION_TIP),
        ("hidden points", hidden, f"Share of the points, and their mean {error_name(findings.truth)}."),
        ("camera turns", f"{turn:.3g}° (median {usual:.3g}°)", TURNS_TIP),
    ]
    return [LabeledValue(*row) for row in rows]


def _cause_numbers(findings: Findings, frame: int) -> list[tuple[str, str, str]]:
    found = cause_of(findings, frame)
    if found is not None:
        return [("likely cause", found.name, f"{found.sentence[:1].upper()}{found.sentence[1:]}.")]
    if not np.isfinite(findings.error[frame]):
        return []
    if findings.error[frame] > WORSE * np.nanmedian(findings.error):
        return [("likely cause", UNKNOWN, EXAMINED)]
    return [("likely cause", NONE_BETTER, "The error is near the median.")]


def _error_numbers(findings: Findings, frame: int) -> list[tuple[str, str, str]]:
    unit, share, name = findings.unit, findings.depth_share[frame], error_name(findings.truth)

    def length(values: Floats) -> str:
        return _length_text(values[frame], unit)

    fall = outlier_sentence(findings, frame)
    fallen = ("without outliers", length(findings.without), f"{fall[:1].upper()}{fall[1:]}. {LEAVE_OUT}")
    split = f"Share of the squared {name} {{}} of the aligned camera; root mean square of that part: {{}}."
    mirror = (
        f"Mean {name} of the mirror image of what is shown, this frame alone moved onto its truth; "
        f"as it is, the same gives {measure(float(findings.plain[frame]), unit)}."
    )
    return [
        (name, _value_and_median(findings.error, frame, unit), "Mean; and the median frame."),
        *([fallen] if fall else []),
        ("share along the ray", percent(share), split.format("along the rays", length(findings.depth))),
        ("share sideways", percent(1 - share), split.format("across the rays", length(findings.sideways))),
        ("mirror image", length(findings.mirrored), mirror),
    ]


def percent(share: float) -> str:
    """Return "28 %", which is not broken."""
    return NONE if not np.isfinite(share) else f"{100 * share:.0f}{SPACE}%"


def _flipped(findings: Findings, frame: int, fit: str) -> Cause:
    known = np.isfinite(findings.mirrored)
    nearer = int((findings.mirrored[known] < findings.plain[known]).sum())
    # A flipped shape that was turned to fit is off to all sides.
    description = _depth(findings, frame, fit) if findings.depth_share[frame] >= DEEP else fit
    description += ": " if description else ""
    image = f"mirror image: {measure(float(findings.mirrored[frame]), findings.unit)}"
    if 2 * nearer > known.sum():
        words = f"{description}like {nearer} of {known.sum()} frames it is mirrored ({image})"
        return Cause("mirrored, as most frames are", words)
    return Cause("flipped in depth", f"{description}the reconstruction is flipped in depth here ({image})")


def _depth(findings: Findings, frame: int, fit: str) -> str:
    description = f"depth: {percent(findings.depth_share[frame])} of the error is along the view"
    return f"{description}, {fit}" if fit else description


def _stiff(findings: Findings, frame: int, least: float) -> Cause | None:
    """Return that the estimate stays near its median shape where the truth does not."""
    estimated, true = float(findings.deformation[frame]), findings.truth_deformation
    value, usual = _with_median(true, frame)
    missing, usually_missing = _with_median(true - findings.deformation, frame)
    if not (value > WORSE * usual and missing - usually_missing >= least):
        return None
    lengths = [measure(length, findings.unit) for length in (estimated, value, usual)]
    words = "the estimate deforms too little: {} from its median shape, {truth} {} (median frame {})"
    return Cause("deforms too little", words.format(*lengths, truth=truth_phrase(findings.truth)))


def _misfit(findings: Findings, frame: int) -> Cause:
    """Return that the tracks do not fit, or, where a few make the difference, which are outliers."""
    tracks, usual = _with_median(findings.tracks, frame)
    unit, fitting = findings.track_unit, float(findings.fitting[frame])
    outliers = np.flatnonzero(findings.wrong[frame])
    seen = round((1.0 - float(findings.hidden[frame])) * findings.wrong.shape[1])
    here = f"the tracks do not fit here ({measure(tracks, unit)}, median frame {measure(usual, unit)})"
    fall = fall_sentence(tracks, fitting, len(outliers), seen)
    if fall and fitting <= WORSE * usual:
        words = f"the track{'s' * (len(outliers) > 1)} of point{_numbers(outliers)} may be wrong"
        return Cause("outliers of the tracks", f"{here}: {fall}, so that {words}")
    words = "they are wrong, or the shape has too little freedom"
    return Cause("tracks do not fit", f"{here}: {words}")


def _value_and_median(values: Floats, frame: int, unit: str) -> str:
    value, middle = _with_median(values, frame)
    return f"{_length_text(value, unit)} (median{SPACE}{_length_text(middle, unit)})"


def _length_text(value: float, unit: str) -> str:
    """Return a length with its unit, without a line break between them."""
    return measure(float(value), unit).replace(" ", SPACE)


def _with_median(values: Floats, frame: int) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    return float(values[frame]), float(np.median(known)) if known.size else float("nan")
