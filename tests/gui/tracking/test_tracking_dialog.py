"""The dialog that follows points through a video: region, progress, cancel, corrections, and its end."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hands import button_of, choose, drag, type_into
from PyQt6.QtCore import Qt
from PyQt6.QtTest import QTest

from core.tracking import Video, opencv, video_path
from nrsfm_gui.panels.background.image_sources import as_image
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.text.status_text import hidden_share
from nrsfm_gui.tracking.tracking_dialog import LASSO, WHOLE, TrackingController, TrackingDialog

pytest.importorskip("cv2", reason="following points needs OpenCV")
pytest.importorskip("av", reason="videos need PyAV")

FRAMES = 7  # of the sample that are followed
SHEET = (160, 75, 440, 320)  # left, top, right and bottom of the sheet in the first frame of the sample


@pytest.fixture
def dialog(show):
    made = show(TrackingDialog(), 1000, 640)
    yield made
    made.shut_down()


def open_sample(qtbot, dialog, frames=FRAMES):
    button_of(dialog, "Try the sample").click()
    qtbot.waitUntil(lambda: dialog._picture._image is not None)
    dialog._last.setValue(frames)
    dialog._points.setValue(40)


def drag_over(dialog, *places):
    """Drag the mouse over places in pixels of the picture."""
    drag(dialog._picture, *(dialog._picture.on_screen(x, y) for x, y in places))


def click(dialog, x, y):
    place = dialog._picture.on_screen(x, y).toPoint()
    QTest.mouseClick(dialog._picture, Qt.MouseButton.LeftButton, pos=place)


def follow(qtbot, dialog):
    button_of(dialog, "Start").click()
    assert dialog.busy
    qtbot.waitUntil(lambda: not dialog.busy)


@pytest.fixture
def followed(qtbot, dialog):
    """A dialog that has followed points through some frames of the sample."""
    open_sample(qtbot, dialog)
    left, top, right, bottom = SHEET
    drag_over(dialog, (left, top), (right, bottom))
    follow(qtbot, dialog)
    return dialog


def place_of(dialog, point):
    """Return where a point is in the frame that is shown."""
    return dialog.sequence.tracks[dialog._slider.value(), :, point]


def choose_point(dialog, point):
    click(dialog, *place_of(dialog, point))
    assert dialog._chosen == point


def isolated(dialog):
    """Return a point that is seen throughout and has no other near it."""
    sequence = dialog.sequence
    places = np.where(sequence.visible[0], sequence.tracks[0], np.inf)
    apart = np.linalg.norm(sequence.tracks[0][:, :, None] - places[:, None], axis=0)
    np.fill_diagonal(apart, np.inf)
    apart[~sequence.visible.all(axis=0)] = -1
    return int(apart.min(axis=1).argmax())


def test_points_are_followed_in_the_rectangle_that_was_drawn_corrected_and_given_on(qtbot, followed):
    sequence = followed.sequence
    assert sequence.frame_count == FRAMES and 20 < sequence.point_count <= 40
    assert sequence.video == video_path(Path("sample:sheet")) and sequence.image_size == (640, 360)
    first = sequence.tracks[0][:, sequence.visible[0]]
    left, top, right, bottom = SHEET
    assert (first[0] > left).all() and (first[0] < right).all()
    assert (first[1] > top).all() and (first[1] < bottom).all()
    facts = f"{sequence.point_count} points in {FRAMES} frames, {hidden_share(sequence)}"
    assert followed._time.text() == facts.removesuffix(", ")
    assert followed._frame.text().startswith(f"frame 1 / {FRAMES}")
    before, point = followed.sequence, isolated(followed)
    choose_point(followed, point)
    QTest.keyClick(followed, Qt.Key.Key_Delete)
    assert followed.sequence.point_count == before.point_count - 1
    assert np.array_equal(followed.sequence.tracks, np.delete(before.tracks, point, axis=2), equal_nan=True)
    QTest.keyClick(followed, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert followed.sequence is before and not button_of(followed, "Undo").isEnabled()
    with qtbot.waitSignal(followed.accepted_tracks) as given:
        button_of(followed, "Use these tracks").click()
    assert given.args == [sequence] and not followed.isVisible()


@pytest.mark.slow
def test_a_lasso_and_the_whole_picture_are_regions_as_well(qtbot, dialog):
    open_sample(qtbot, dialog, frames=3)
    choose(dialog._region, LASSO)
    drag_over(dialog, (200, 120), (400, 120), (400, 280), (200, 280))
    assert len(dialog._picture.region) > 4
    follow(qtbot, dialog)
    assert dialog.sequence.tracks[0, 0].min() > 195
    button_of(dialog, "Start over").click()
    assert dialog.sequence is None and len(dialog._picture.region) > 4
    choose(dialog._region, WHOLE)
    assert dialog._picture.region is None and not dialog._picture.drawing
    follow(qtbot, dialog)
    assert dialog.sequence.point_count > 20


def test_tracks_are_drawn_as_they_are_found_where_there_is_texture_and_a_cancel_keeps_them(qtbot, dialog):
    open_sample(qtbot, dialog, frames=90)
    assert "Drag a rectangle" in dialog._hint.text()
    drag_over(dialog, (10, 10), (22, 20))
    assert "Press Start" in dialog._hint.text()
    follow(qtbot, dialog)
    assert "square pixels" in dialog._message.text() and dialog.sequence is None  # there is no texture
    choose(dialog._region, WHOLE)
    button_of(dialog, "Start").click()
    qtbot.waitUntil(lambda: dialog._step is not None and dialog._step.done >= 6)
    assert dialog._picture._trails.shape[2] > 20
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.isVisible() and 6 <= dialog.sequence.frame_count < 90
    assert button_of(dialog, "Use these tracks").isEnabled()


def test_a_cancel_before_the_video_is_open_is_no_failure(qtbot, dialog):
    open_sample(qtbot, dialog, frames=20)
    choose(dialog._region, WHOLE)
    button_of(dialog, "Start").click()
    button_of(dialog, "Cancel").click()
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog._message.text() == "" and dialog.sequence is None
    assert button_of(dialog, "Start").isEnabled()


def test_a_last_frame_before_the_first_one_stays_and_is_refused_with_a_sentence(qtbot, dialog):
    open_sample(qtbot, dialog)
    dialog._first.setValue(10)
    type_into(dialog._last, "3")
    button_of(dialog, "Start").click()
    assert not dialog.busy and dialog._last.value() == 3
    assert dialog._message.text() == "Last frame is 3; accepted is one after the first frame, 10"


def test_tracks_that_were_not_opened_are_there_again_after_the_dialog_was_closed(followed):
    sequence = followed.sequence
    QTest.keyClick(followed, Qt.Key.Key_Escape)
    assert not followed.isVisible()
    followed.open()
    followed._slider.setValue(3)
    assert followed.sequence is sequence and followed._frame.text().startswith(f"frame 4 / {FRAMES}")
    button_of(followed, "Use these tracks").click()
    followed.open()
    assert followed.sequence is None and not button_of(followed, "Start").isEnabled()


@pytest.mark.slow
def test_a_point_is_cut_in_two_at_the_frame_that_is_shown_or_followed_again_from_a_click(qtbot, followed):
    before, point = followed.sequence, isolated(followed)
    followed._slider.setValue(5)
    choose_point(followed, point)
    button_of(followed, "Cut here").click()
    after = followed.sequence
    assert after.point_count == before.point_count + 1 and followed._chosen == before.point_count
    assert after.visible[:5, point].all() and not after.visible[5:, point].any()
    assert np.array_equal(after.tracks[5:, :, -1], before.tracks[5:, :, point])
    followed._slider.setValue(0)
    choose_point(followed, point)
    button_of(followed, "Cut here").click()
    assert followed._message.text() == "the track is seen in frames 1 to 5; it cannot be cut at 1"
    button_of(followed, "Undo").click()
    assert followed.sequence is before
    followed._slider.setValue(4)
    choose_point(followed, point)
    button_of(followed, "Follow again").click()
    assert "Click where this point is" in followed._hint.text()
    x, y = place_of(followed, point)
    click(followed, x + 4, y)
    qtbot.waitUntil(lambda: not followed.busy)
    after = followed.sequence
    assert np.array_equal(after.tracks[:4, :, point], before.tracks[:4, :, point])
    moved = after.tracks[4:, :, point] - before.tracks[4:, :, point]
    assert np.linalg.norm(moved[0] - [4, 0]) < 1 and np.nanmax(np.linalg.norm(moved, axis=1)) < 8
    others = np.delete(np.arange(before.point_count), point)
    assert np.array_equal(after.tracks[:, :, others], before.tracks[:, :, others], equal_nan=True)


def test_a_file_that_is_no_video_is_refused_in_a_sentence(qtbot, dialog, tmp_path):
    (tmp_path / "bad.mp4").write_bytes(b"nonsense" * 50)
    dialog.open_video(tmp_path / "bad.mp4")
    qtbot.waitUntil(lambda: "cannot be read as a video" in dialog._message.text())
    assert not button_of(dialog, "Start").isEnabled()


def test_the_menu_states_what_has_to_be_installed(qtbot, session, store, show, monkeypatch):
    from PyQt6.QtWidgets import QWidget

    window = show(QWidget())
    controller = TrackingController(SequenceOpening(session, store, window), session.notifier, window)
    monkeypatch.setattr(opencv, "find_spec", lambda _name: None)
    with qtbot.waitSignal(session.notifier.failed) as stated:
        controller.show()
    assert "pip install 'nrsfm-gui[track]'" in stated.args[0] and controller.dialog is None


@pytest.mark.slow
def test_remarks_on_the_tracks_stand_in_the_dialog(qtbot, dialog, tmp_path):
    with closing(Video(video_path(Path("sample:sheet")))) as video:
        for number in range(12):
            image = as_image(video.read(number) * (number < 8))  # it fades to black
            assert image.save(str(tmp_path / f"{number}.png"))
    dialog.open_video(tmp_path)
    qtbot.waitUntil(lambda: dialog._picture._image is not None)
    follow(qtbot, dialog)
    assert "4 of 12 frames of the video have fewer than 4 tracks and are left out: 9 to 12" in (
        dialog._message.text()
    )
