"""The sequence that is opened: from a file or from the list of sequences, into the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from nrsfm_gui.scene import summaries

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.engine.run_control import RunControl
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
    from nrsfm_gui.sessions.opening import SequenceOpening


class SequencesController(QObject):
    """Shows in the session what was opened, and in the list what else there is.

    Signals
    -------
    leaving()
        another sequence replaces the present one.
    shown()
        the session has it now.
    """

    leaving = pyqtSignal()
    shown = pyqtSignal()

    def __init__(
        self,
        session: Session,
        control: RunControl,
        opening: SequenceOpening,
        panel: SequencesPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._control, self._opening = session, control, opening
        self._notifier = session.notifier
        opening.started.connect(self._on_reading_started)
        opening.opened.connect(self._on_opened)
        opening.listed.connect(panel.set_entries)
        opening.camera_known.connect(self._on_camera_known)
        opening.guessed.connect(self._notifier.inform)
        for ended in (opening.failed, opening.inspected, opening.given_up):
            ended.connect(lambda *_: self._show_activity())
        panel.sequence_requested.connect(opening.open_entry)
        panel.left_requested.connect(self._on_left_requested)

    def _on_reading_started(self, what: str) -> None:
        self._notifier.clear()
        self._notifier.show_status(f"Reading {what}")

    def _show_activity(self) -> None:
        session = self._session
        self._notifier.show_status(summaries.activity(session.active_run or session.shown))

    def _on_camera_known(self, model: str, intrinsics: str | tuple[float, float, float, float]) -> None:
        answered = self._session.settings.with_changes(camera_model=model, intrinsics=intrinsics)
        self._session.set_settings(answered, undoable=False)

    def _on_left_requested(self, sequence: Sequence, number: int) -> None:
        """Open a sequence that the session holds, and show one of its runs."""
        self._opening.open_sequence(sequence)
        if number >= 0:
            self._session.with_run(number, self._session.set_shown)

    def _on_opened(self, sequence: Sequence) -> None:
        session = self._session
        self.leaving.emit()
        stopped, before = session.active_run, session.settings.penalty
        self._control.cancel()
        self._notifier.clear()
        session.set_sequence(sequence)
        penalty = session.settings.penalty
        left = summaries.switch_summary(stopped, None if penalty == before else penalty)
        if left:
            self._notifier.inform(left)
        self.shown.emit()
