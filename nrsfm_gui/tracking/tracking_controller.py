"""The dialog that follows points through a video, in the window: when it opens, and what it opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt

from core.tracking import missing_packages
from nrsfm_gui.tracking.tracking_dialog import TrackingDialog

if TYPE_CHECKING:
    from pathlib import Path

    from PyQt6.QtWidgets import QWidget

    from nrsfm_gui.model.notifier import Notifier
    from nrsfm_gui.sessions.opening import SequenceOpening


class TrackingController(QObject):
    """Shows the dialog, and opens the tracks that it ends with."""

    def __init__(self, opening: SequenceOpening, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._opening, self._notifier, self._window = opening, notifier, window
        self.dialog: TrackingDialog | None = None  # made when it is first needed
        queued = Qt.ConnectionType.QueuedConnection  # after the window's own, which a dialog must not precede
        opening.video_found.connect(self.show, queued)  # type: ignore[call-arg]  # not in the stub

    def show(self, video: Path | None = None) -> None:
        """Show the dialog with a video, or what has to be installed first."""
        missing = missing_packages()
        if missing:
            self._notifier.fail(missing)
            return
        if self.dialog is None:
            self.dialog = TrackingDialog(self._window)
            self.dialog.accepted_tracks.connect(self._opening.open_sequence)
            self.dialog.rejected.connect(self._opening.give_up)
        if video is not None and not self.dialog.busy:
            self.dialog.open_video(video)
        self.dialog.open()

    def shut_down(self) -> None:
        """End what is being read or followed."""
        if self.dialog is not None:
            self.dialog.shut_down()
