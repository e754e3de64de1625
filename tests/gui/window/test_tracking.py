"""From a video to a sequence with the video behind it, in the window."""

from pathlib import Path

import pytest
from hands import button_of
from PyQt6.QtGui import QAction, QImage
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


@pytest.mark.parametrize("kind", [pytest.param("video", marks=pytest.mark.slow), "folder", "pattern"])
def test_a_video_or_a_folder_of_pictures_opens_the_dialog_on_it(qtbot, make_window, tmp_path, kind):
    path = video_path(Path("sample:sheet"))
    if kind != "video":
        for number in range(3):
            picture = QImage(64, 48, QImage.Format.Format_RGB32)
            picture.fill(40 * number)
            assert picture.save(str(tmp_path / f"frame_{number:04d}.png"))
        path = tmp_path if kind == "folder" else tmp_path / "frame_%04d.png"
    window = make_window()
    window.sequence_opening.asks = True
    window.sequence_opening.open(path)
    qtbot.waitUntil(lambda: window.tracking_controller.dialog is not None)
    dialog = window.tracking_controller.dialog
    start = button_of(dialog, "Start")
    qtbot.waitUntil(start.isEnabled)
    assert dialog.isVisible() and dialog._last.value() == (90 if kind == "video" else 3)
    assert kind == "pattern" or window.store.recent()[0] == path
    dialog.reject()
    window.sequence_opening.open("sample:sheet")
    qtbot.waitUntil(dialog.isVisible)
    dialog.reject()
    window.sequence_opening.asks = False  # a script is refused it in a sentence
    with qtbot.waitSignal(window.sequence_opening.failed) as refused:
        window.sequence_opening.open(video_path(Path("sample:sheet")))
    assert "is a video" in refused.args[0] and not dialog.isVisible()
