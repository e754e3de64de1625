"""Finding the worst frame and the worst point in it, and describing their errors."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from PyQt6.QtCore import QObject

from core.foundation import Floats
from nrsfm_gui.model.names import point_label
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.timeline.timeline import Timeline
from nrsfm_gui.scene.comparison import SERIES_NAME
from nrsfm_gui.scene.frame_analysis import Findings
from nrsfm_gui.scene.frame_causes import cause_of, known_of
from nrsfm_gui.scene.ranking import next_worst, worst_first
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.scene.summaries import measure, relative_measure

SHARE = 0.5  # of the error of a frame: how few points it comes from is worth a sentence


class WorstFrame(QObject):
    """Goes to the worst frame or point by the errors of the timeline; repeated calls go to the next ones."""

    def __init__(
        self, session: Session, timeline: Timeline, *, findings: Callable[[], Findings | None]
    ) -> None:
        super().__init__(timeline)
        self._session, self._timeline, self._findings = session, timeline, findings
        self._notifier = session.notifier
        self._frame: int | None = None  # that was found last
        self._of: tuple[object, ...] = ()  # the errors that it was found by
        self._point: int | None = None
        self._where: tuple[object, ...] = ()  # the frame and the errors that the point was found in
        session.selection_changed.connect(self._on_selection_changed)
        timeline.transport.worst_requested.connect(self.go_to_frame)

    def go_to_frame(self) -> None:
        """Show the frame with the largest mean error; from a frame that was found, the next one."""
        series, session = self._timeline.state.series, self._session
        if series is None:
            self._notifier.show_status("There are errors after a run: press Run (Ctrl+R)")
            return
        if series.zero:
            self._notifier.show_status(f"The {series.name} is 0 in all frames: none is the worst")
            return
        of = series.name, session.shown, session.compared, series.per_frame.tobytes()
        present = self._frame if self._frame == session.frame and self._of == of else None
        self._frame, self._of = next_worst(series.per_frame, present), of
        if self._frame is None:
            return
        session.set_frame(self._frame)
        findings = None if series.name == SERIES_NAME else self._findings()
        cause = None if findings is None else cause_of(findings, self._frame)
        point = largest(self._errors(series, self._frame), series.unit, self._names)
        # The status bar is short, and a run soon writes over it.
        parts = frame_heading(series, self._frame), "" if cause is None else cause.name, point
        self._notifier.show_status("; ".join(part for part in parts if part))
        known = "" if findings is None else known_of(findings, self._frame)
        self._timeline.show_message(self._frame, frame_sentence(series, self._frame, known, point))

    def go_to_point(self) -> None:
        """Select the point with the largest error in this frame; at once again, the next one."""
        series, session = self._timeline.state.series, self._session
        if series is None:
            return
        errors = self._errors(series, session.frame)
        where = session.frame, series.name, session.shown, session.compared
        found = next_worst(errors, self._point if self._where == where else None)
        if found is None:
            self._notifier.show_status(f"Frame {session.frame + 1} has no {series.name}")
            return
        session.set_point(found)
        self._point, self._where = found, where  # setting it forgot the one before
        place = int(np.flatnonzero(worst_first(errors) == found)[0]) + 1
        which = "Worst point" if place == 1 else f"Point that is {ordinal(place)} worst"
        value = relative_measure(float(errors[found]), series.unit, series.size)
        point = point_label(found, self._names)
        self._notifier.show_status(f"{which} of frame {session.frame + 1}: {point}, {series.name} {value}")

    @property
    def _names(self) -> tuple[str, ...] | None:
        return None if self._session.sequence is None else self._session.sequence.point_names

    def _errors(self, series: ErrorSeries, frame: int) -> Floats:
        """Return the errors (P,) of a frame, NaN of points that are not drawn."""
        errors: Floats = series.per_point[frame].copy()
        errors[[point for point in self._session.hidden if point < len(errors)]] = np.nan
        return errors

    def _on_selection_changed(self) -> None:
        self._where = ()  # begin with the worst point again


def frame_heading(series: ErrorSeries, frame: int) -> str:
    """Return the error of a frame relative to the others; for two runs, their distance."""
    place = int(np.flatnonzero(worst_first(series.per_frame) == frame)[0]) + 1
    known = series.per_frame[np.isfinite(series.per_frame)]
    mean, middle = float(series.per_frame[frame]), float(np.median(known))
    if series.name == SERIES_NAME:
        which = f"The runs differ {'' if place == 1 else f'{ordinal(place)} '}most in frame"
    else:
        which = "Worst frame:" if place == 1 else f"Frame that is {ordinal(place)} worst:"
    return (
        f"{which} {frame + 1}, mean {series.name} {relative_measure(mean, series.unit, series.size)}"
        f" (median frame {measure(middle, series.unit)})"
    )


def largest(errors: Floats, unit: str, names: Collection[str] | None) -> str:
    """Return "largest at point 37, 17.8 mm" of errors (P,), "" where none is known."""
    found = next_worst(errors, None)
    if found is None:
        return ""
    return f"largest at {point_label(found, names)}, {measure(float(errors[found]), unit)}"


def frame_sentence(series: ErrorSeries, frame: int, known: str = "", point: str = "") -> str:
    """Return how bad a frame is, what is known of it, and which points have most of its error."""
    errors = series.per_point[frame]
    errors = np.sort(errors[np.isfinite(errors)])[::-1]
    sums = np.cumsum(errors)
    few = int(np.searchsorted(sums, SHARE * sums[-1])) + 1
    half = f"half of it from {few} of {len(errors)} points"
    point = f"{point} (Shift+W)" if point else ""
    return "; ".join(part for part in (frame_heading(series, frame), known, half, point) if part)


def ordinal(number: int) -> str:
    """Return "2nd", "3rd", "11th"."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
