"""Finding the worst frame and the worst point in it, and saying how bad they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject

from nrsfm_gui.drawing.ranking import next_worst, worst_first
from nrsfm_gui.words.summaries import measure

if TYPE_CHECKING:
    from nrsfm_gui.drawing.scene import ErrorSeries
    from nrsfm_gui.main_window import MainWindow

SHARE = 0.5  # of the error of a frame: how few points it comes from is worth a word


class Worst(QObject):
    """Goes to what is worst by the errors that the timeline shows; asked again, to what is next."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._frame: int | None = None  # that was found last
        self._point: int | None = None
        window.timeline.worst_requested.connect(self.go_to_frame)

    def go_to_frame(self) -> None:
        """Show the frame with the largest mean error; from a frame that was found, the next one."""
        series, session = self._window.timeline.series, self._window.session
        if series is None:
            self._window.chrome.say("There are errors after a run: press Run (Ctrl+R)")
            return
        present = self._frame if self._frame == session.frame else None
        self._frame = next_worst(series.per_frame, present)
        if self._frame is not None:
            self._window.navigation.go_to(self._frame)
            sentence = frame_sentence(series, self._frame)
            self._window.chrome.say(sentence)  # which a run soon writes over
            self._window.timeline.tell(self._frame, sentence)

    def go_to_point(self) -> None:
        """Select the point with the largest error in this frame; from one that was found, the next one."""
        series, session = self._window.timeline.series, self._window.session
        if series is None:
            return
        errors = series.per_point[session.frame].copy()
        errors[[point for point in session.hidden if point < len(errors)]] = np.nan
        found = next_worst(errors, self._point if self._point == session.point else None)
        if found is None:
            self._window.chrome.say(f"Frame {session.frame + 1} has no {series.name}")
            return
        self._point = found
        session.set_point(found)
        place = int(np.flatnonzero(worst_first(errors) == found)[0]) + 1
        which = "Worst point" if place == 1 else f"Point that is {ordinal(place)} worst"
        value = measure(float(errors[found]), series.unit)
        self._window.chrome.say(
            f"{which} of frame {session.frame + 1}: point {found + 1}, {series.name} {value}"
        )


def frame_sentence(series: ErrorSeries, frame: int) -> str:
    """Return how bad a frame is, beside the others, and from how many points most of it comes."""
    place = int(np.flatnonzero(worst_first(series.per_frame) == frame)[0]) + 1
    known = series.per_frame[np.isfinite(series.per_frame)]
    mean, middle = float(series.per_frame[frame]), float(np.median(known))
    which = "Worst frame" if place == 1 else f"Frame that is {ordinal(place)} worst"
    errors = series.per_point[frame]
    errors = np.sort(errors[np.isfinite(errors)])[::-1]
    sums = np.cumsum(errors)
    few = int(np.searchsorted(sums, SHARE * sums[-1])) + 1
    return (
        f"{which}: {frame + 1}, mean {series.name} {measure(mean, series.unit)}"
        f" (median frame {measure(middle, series.unit)}); half of it from {few} of {len(errors)} points"
        f" (Shift+W: the worst)"
    )


def ordinal(number: int) -> str:
    """Return "2nd", "3rd", "11th"."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
