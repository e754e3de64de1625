"""From a video to a sequence with the video behind it, in the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QPushButton

from core.tracking import video_path

pytest.importorskip("cv2", reason="following points needs OpenCV")
pytest.importorskip("av", reason="videos need PyAV")


@pytest.mark.slow
def test_the_sample_becomes_a_sequence_with_its_video_behind_it(qtbot, make_window):
    window = make_window()
    window.findChild(QAction, "track_video").trigger()
    dialog = window.tracking_controller.dialog
    assert dialog is not None and dialog.isVisible()
    buttons = {button.text(): button for button in dialog.findChildren(QPushButton)}
    buttons["Try the sample"].click()
    qtbot.waitUntil(buttons["Start"].isEnabled)
    dialog._last.setValue(8)
    buttons["Start"].click()
    qtbot.waitUntil(buttons["Use these tracks"].isEnabled)
    buttons["Use these tracks"].click()
    path = video_path(Path("sample:sheet"))
    sequence = window.session.sequence
    assert sequence.name == "sheet" and sequence.frame_count == 8 and sequence.video == path
    assert window.session.background.path == path
    qtbot.waitUntil(lambda: window.tracks_view._background.isVisible())
    window.tracking_controller.show()
    assert buttons["Start"].text() == "Start" and not buttons["Start"].isEnabled()
    dialog.reject()
