"""Which points are selected, in all views at once, and what of them the solver does not use."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.points.points_panel import PointsPanel
from nrsfm_gui.widgets.point_view import PointSignals

SELECT_FIRST = "Select points first: click one, or draw a lasso around some with Ctrl+drag"


class SelectionController(QObject):
    """Selects points as the views and the panel of points ask for, and hides the selected ones."""

    point_hovered = pyqtSignal(int)  # the point under the mouse in any of the views, -1 for none
    newest_requested = pyqtSignal()  # an earlier moment of the run is not to be looked at any more

    def __init__(self, session: Session, points: PointsPanel) -> None:
        super().__init__(points)
        self._session, self._notifier = session, session.notifier
        self._announced = False  # whether the status bar has been given the keys of a selection
        points.points_selected.connect(self.select)
        session.selection_changed.connect(lambda _points: self._on_selection_changed())

    def add_view(self, view: PointSignals) -> None:
        """Select what is selected in a view."""
        view.point_selected.connect(self._session.set_point)
        view.point_toggled.connect(self.toggle)
        view.points_selected.connect(self.select)
        view.point_hovered.connect(self.point_hovered)

    # -- points ---------------------------------------------------------------------------------------------

    def toggle(self, point: int) -> None:
        """Add a point to the selection, or remove it."""
        self._session.set_selection(set(self._session.selection) ^ {point}, point)

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
        """Return to the newest iteration, or else select nothing, play all frames, or show one run alone."""
        if self._session.moment is not None:
            self.newest_requested.emit()
        elif self._session.selection:
            self._session.set_point(-1)
        elif self._session.frame_range is not None:
            self._session.set_frame_range(None)
        else:
            self._session.set_compared(None)

    def hide(self) -> None:
        """Draw the selected points no longer; they are not selected any more."""
        if self._check_selection():
            self._session.set_hidden(self._session.hidden | set(self._session.selection))
            self._session.set_point(-1)
            self._report_hidden()

    def isolate(self) -> None:
        """Draw the selected points only."""
        if self._check_selection():
            self._session.set_hidden(self._all - set(self._session.selection))
            self._report_hidden()

    def _check_selection(self) -> bool:
        """Return whether there are selected points; show how points are selected where there are none."""
        if not self._session.selection:
            self._notifier.show_status(SELECT_FIRST)
        return bool(self._session.selection)

    def show_all(self) -> None:
        """Draw all points again."""
        self._session.set_hidden(())
        self._report_hidden()

    def toggle_labels(self) -> None:
        """Show numbers next to the selected points, or next to none."""
        appearance = self._session.appearance
        labels = "selected" if appearance.labels == "none" else "none"
        self._session.set_appearance(appearance.changed(labels=labels))

    @property
    def _all(self) -> set[int]:
        sequence = self._session.sequence
        return set() if sequence is None else set(range(sequence.point_count))

    def _on_selection_changed(self) -> None:
        selection = self._session.selection
        if len(selection) > 1:
            self._notifier.show_status(
                f"{len(selection)} points selected: H hides, I isolates, N numbers them, Escape deselects"
            )
            self._announced = True
        elif self._announced:
            self._notifier.show_status("")
            self._announced = False

    def _report_hidden(self) -> None:
        hidden = len(self._session.hidden)
        some = f"{hidden} of {len(self._all)} points are left out: Shift+H shows all"
        self._notifier.show_status(some if hidden else "All points are shown")

    # -- what the solver uses of them -----------------------------------------------------------------------

    def hide_in(self, frames: str) -> None:
        """Hide the selected points from the solver in "this", "all" or "played" frames, or from "here" on."""
        session = self._session
        if frames == "played" and session.frame_range is None:
            self._notifier.show_status("Choose frames first: drag over the strip below, or press [ and ]")
            return
        first, last = session.frame_range or (0, 0)
        which = {
            "this": slice(session.frame, session.frame + 1),
            "here": slice(session.frame, None),
            "played": slice(first, last + 1),
            "all": slice(None),
        }
        self._use(which[frames], hidden=True)

    def show_again(self) -> None:
        """Let the solver use the selected points again, in all frames."""
        self._use(slice(None), hidden=False)

    def show_all_again(self) -> None:
        """Let the solver use all observations again."""
        session = self._session
        if session.settings.hide is None:
            self._notifier.show_status("No observation is hidden from the solver")
        else:
            session.set_settings(session.settings.with_changes(hide=None))
            self._notifier.show_status("The solver uses all observations")

    def _use(self, frames: slice, *, hidden: bool) -> None:
        """Hide the selected points from the solver in some frames, or let it use them again."""
        session, sequence = self._session, self._session.sequence
        if not self._check_selection() or sequence is None:
            return
        before = np.zeros_like(sequence.visible) if session.excluded is None else session.excluded
        mask = before.copy()
        mask[frames, list(session.selection)] = hidden
        if not session.exclude(mask):
            return
        changed = int(((mask != before) & sequence.visible).sum())
        count = f"{changed} observation{'s' * (changed != 1)}"
        done, use = ("hidden from the solver", "without") if hidden else ("used again", "with")
        then = "" if session.live or not changed else f": press Run (Ctrl+R) to solve {use} them"
        self._notifier.show_status(f"{count} {done}{then}")
