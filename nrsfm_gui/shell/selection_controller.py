"""Which points are selected and hidden, in all views at once, and which frames are played."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nrsfm_gui.main_window import MainWindow


class Selecting(QObject):
    """Takes what the views ask for to the session, and what the session has come to back to the timeline."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._session = session = window.session
        timeline, playback = window.timeline, window.navigation.playback
        for view in (window.scene_view, window.tracks_view, timeline):
            view.point_selected.connect(session.set_point)
            view.point_toggled.connect(self.toggle)
            view.points_selected.connect(self.select)
            view.point_hovered.connect(self._show_hovered)
        window.points.points_selected.connect(self.select)
        timeline.range_requested.connect(session.set_frame_range)
        session.frame_range_changed.connect(timeline.set_range)
        session.frame_range_changed.connect(playback.set_range)
        session.hidden_changed.connect(timeline.set_hidden)
        session.selection_changed.connect(lambda _points: self._show_selection())
        session.point_changed.connect(lambda _point: self._show_selection())
        window.display.scene_shown.connect(lambda _scene: playback.count_drawn())
        playback.rate_measured.connect(timeline.set_rate)

    # -- points ---------------------------------------------------------------------------------------------

    def toggle(self, point: int) -> None:
        """Add a point to the selected ones, or take it away."""
        selection = set(self._session.selection) ^ {point}
        self._session.set_selection(selection, point)

    def select(self, points: Iterable[int], adding: bool = False) -> None:
        """Select points instead of the selected ones, or as well."""
        before = set(self._session.selection) if adding else set()
        self._session.set_selection(before | {int(point) for point in points})

    def select_all(self) -> None:
        """Select all points that are drawn."""
        self.select(self._all - self._session.hidden)

    def invert(self) -> None:
        """Select the points that are drawn and not selected."""
        self.select(self._all - self._session.hidden - set(self._session.selection))

    def escape(self) -> None:
        """Select nothing; where nothing is selected, play all frames again, or else show one run alone."""
        if self._session.selection:
            self._session.set_point(-1)
        elif self._session.frame_range is not None:
            self._session.set_frame_range(None)
        else:
            self._window.comparing.stop()

    def hide(self) -> None:
        """Draw the selected points no longer; they are not selected any more."""
        if self._some_are_selected():
            self._session.set_hidden(self._session.hidden | set(self._session.selection))
            self._session.set_point(-1)
            self._say_hidden()

    def isolate(self) -> None:
        """Draw the selected points only."""
        if self._some_are_selected():
            self._session.set_hidden(self._all - set(self._session.selection))
            self._say_hidden()

    def _some_are_selected(self) -> bool:
        """Return whether there are selected points; say how points are selected where there are none."""
        if not self._session.selection:
            self._window.chrome.say(
                "Select points first: click one, or draw a lasso around some with Ctrl+drag"
            )
        return bool(self._session.selection)

    def show_all(self) -> None:
        """Draw all points again."""
        self._session.set_hidden(())
        self._say_hidden()

    def toggle_labels(self) -> None:
        """Write numbers beside the selected points, or beside none."""
        appearance = self._window.display.appearance
        labels = "selected" if appearance.labels == "none" else "none"
        self._window.display.set_appearance(appearance.changed(labels=labels))

    @property
    def _all(self) -> set[int]:
        sequence = self._session.sequence
        return set() if sequence is None else set(range(sequence.point_count))

    def _show_selection(self) -> None:
        selection = self._session.selection
        self._window.timeline.set_selection(selection, self._session.point)
        if len(selection) > 1:
            self._window.chrome.say(
                f"{len(selection)} points selected: H hides, I isolates, N numbers them, Escape deselects"
            )

    def _show_hovered(self, point: int) -> None:
        """Circle the point under the mouse in all views."""
        for view in (self._window.scene_view, self._window.tracks_view):
            view.set_hovered(point)

    def _say_hidden(self) -> None:
        hidden = len(self._session.hidden)
        points = len(self._all)
        said = (
            f"{hidden} of {points} points are left out: Shift+H shows all"
            if hidden
            else "All points are shown"
        )
        self._window.chrome.say(said)

    # -- frames ---------------------------------------------------------------------------------------------

    def begin_range(self) -> None:
        """Play from the frame that is shown on."""
        self._set_end(0)

    def end_range(self) -> None:
        """Play up to the frame that is shown."""
        self._set_end(1)

    def _set_end(self, which: int) -> None:
        """Move an end of the range to the frame that is shown; the other one gives way."""
        sequence, frame = self._session.sequence, self._session.frame
        if sequence is None:
            return
        first, last = self._session.frame_range or (0, sequence.frame_count - 1)
        ends = (frame, max(last, frame)) if which == 0 else (min(first, frame), frame)
        self._session.set_frame_range(None if ends == (0, sequence.frame_count - 1) else ends)
