"""What all parts of the window are told when a sequence is read, has been read, or could not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from nrsfm_gui.scene import summaries

if TYPE_CHECKING:
    from core import Sequence, SequenceEntry
    from nrsfm_gui.main_window import MainWindow


class Arriving(QObject):
    """Shows what `Opening` reports."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.opening.started.connect(self._show_reading)
        window.opening.opened.connect(self._show_sequence)
        window.opening.listed.connect(window.tree.set_entries)
        window.opening.failed.connect(self._show_refused)
        window.tree.sequence_requested.connect(window.opening.open_entry)

    def _show_reading(self, what: str) -> None:
        self._window.messages.hide()
        self._window.chrome.say(f"Reading {what}")

    def _show_refused(self, sentence: str, details: str) -> None:
        window = self._window
        window.chrome.show_activity(window.control.current or window.session.shown)
        if window.session.sequence is None and not details:
            window.reported.emit(sentence)  # the card in the middle of the empty window says it
        else:
            window.report(sentence, details)

    def _show_sequence(self, sequence: Sequence, entry: SequenceEntry | None) -> None:
        window, session = self._window, self._window.session
        window.parameters.flush()  # what was typed last is meant for the sequence that is left
        stopped, settings = window.control.current, session.settings
        window.control.cancel()
        window.messages.hide()
        window.navigation.playback.set_frame_count(sequence.frame_count)
        window.timeline.set_frame_count(sequence.frame_count)
        truth = sequence.truth
        frames = () if truth is None else tuple(int(frame) for frame in truth.frames)
        window.timeline.set_truth_frames(frames, -1 if truth is None else truth.reference)
        window.timeline.set_series(None)
        window.parameters.set_sequence(sequence)
        session.set_sequence(sequence)
        if session.settings != settings:
            window.parameters.set_settings(session.settings)
        penalty = session.settings.penalty
        left = summaries.left_behind(stopped, None if penalty == settings.penalty else penalty)
        if left:
            window.messages.note(left)
        window.tree.set_current(entry)
        window.chrome.show_sequence(sequence)
        window.display.refresh()
        window.fit()
        window.presenter.show_numbers()
        window.update_situation()
