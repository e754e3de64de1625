"""Files with tracks in the window: which open at once, which are asked about, and what is remembered."""

import numpy as np
import pytest
from hands import button_of, choose
from PyQt6.QtCore import Qt

from core import CameraModel
from nrsfm_gui.importing.forms import KNOWN

K = np.array([[900.0, 0, 640], [0, 900.0, 480], [0, 0, 1]])


@pytest.fixture
def window(qtbot, shared, sequence):
    """Return the window of this file with a sequence; its dialog is closed after the test."""
    qtbot.activate(shared)
    shared.sequence_opening.open_sequence(sequence)
    yield shared
    shared.sequence_opening.asks = True
    if shared.import_controller.dialog is not None:
        shared.import_controller.dialog.reject()
    shared.message_bar.hide()


@pytest.fixture
def arrays(sequence):
    """Return the tracks and which of them are seen, in the order of CoTracker."""
    visible = np.random.default_rng(0).uniform(size=sequence.visible.shape) > 1 / 6
    visible[:2] = True
    return {"pred_tracks": sequence.tracks.transpose(0, 2, 1)[None], "pred_visibility": visible[None]}


@pytest.fixture
def asked(tmp_path, arrays):
    """Return a file of tracks in pixels without a camera."""
    path = tmp_path / "phone.npz"
    np.savez(path, **arrays)
    return path


@pytest.fixture
def clear(tmp_path, arrays):
    """Return a file that has the camera as well."""
    path = tmp_path / "calibrated.npz"
    np.savez(path, **arrays, intrinsics=K)
    return path


def is_asked(window):
    dialog = window.import_controller.dialog
    return dialog is not None and dialog.isVisible()


def dialog_of(qtbot, window):
    qtbot.waitUntil(lambda: is_asked(window))
    return window.import_controller.dialog


def press(qtbot, parent, text):
    button = button_of(parent, text)
    qtbot.waitUntil(lambda: button.height() > 10)  # it has its place
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def opened(qtbot, window, path):
    qtbot.waitUntil(lambda: window.session.sequence.source == path and not window.sequence_opening.busy)
    return window.session.sequence


def test_a_file_that_is_clear_opens_at_once(qtbot, window, clear, drop):
    drop(window, clear)
    sequence = opened(qtbot, window, clear)
    assert not is_asked(window)
    assert sequence.visible.mean() < 1 and sequence.intrinsics[0, 0] == 900
    assert window.store.recent()[0] == clear


def test_pixel_tracks_without_a_camera_are_asked_about_and_then_remembered(qtbot, window, asked, drop):
    drop(window, asked)
    dialog = dialog_of(qtbot, window)
    choose(dialog._camera.kind, KNOWN)
    dialog._camera.focal.set_focal_length(900.0)
    dialog._camera.focal.edited.emit()
    press(qtbot, dialog, "Import")
    sequence = opened(qtbot, window, asked)
    assert sequence.camera is CameraModel.PERSPECTIVE
    focal = window.session.settings.intrinsics
    assert focal[:2] == (900.0, 900.0)
    assert not dialog.isVisible()
    window.sequence_opening.open("sample:balloon/circle")
    qtbot.waitUntil(lambda: window.session.sequence.name.startswith("balloon"))
    assert window.session.settings.intrinsics == "auto"  # K was of the other camera
    window.sequence_opening.open(asked)  # as the list of recent files does
    opened(qtbot, window, asked)
    assert not dialog.isVisible() and window.session.settings.intrinsics == focal


def test_a_file_that_was_given_up_leaves_what_is_open(qtbot, window, asked):
    before = window.session.sequence
    window.sequence_opening.open(asked)
    dialog = dialog_of(qtbot, window)
    dialog._help.linkActivated.emit("tracks")
    page = window.help_controller.pages["own_tracks.md"]
    assert page.isVisible()
    page.close()
    press(qtbot, dialog, "Cancel")
    qtbot.waitUntil(lambda: not window.sequence_opening.busy)  # the thread that has read may take long to end
    assert window.session.sequence is before
    assert asked not in window.store.recent()
    assert "Reading" not in window.status_controller.line.full_text


def test_a_clear_file_is_shown_by_import_as_and_read_again_as_it_was_changed(qtbot, window, clear):
    window.sequence_opening.inspect(clear)
    dialog = dialog_of(qtbot, window)
    choice = dialog._arrays.choices["pred_visibility"]
    choose(choice, "")
    qtbot.waitUntil(lambda: not dialog._jobs)
    press(qtbot, dialog, "Import")
    sequence = opened(qtbot, window, clear)
    assert sequence.visible.all() and sequence.reading == {"visible": "none"}
    window.sequence_opening.open("sample:balloon/circle")
    qtbot.waitUntil(lambda: window.session.sequence.name.startswith("balloon"))
    window.sequence_opening.open(clear)
    assert opened(qtbot, window, clear).visible.all()


def test_the_options_of_reading_choose_among_the_bundled_sequences_of_an_object(qtbot, window):
    window.sequence_opening.open("sample:paper", {"camera": "orthogonal"})
    qtbot.waitUntil(lambda: window.session.sequence.camera is CameraModel.ORTHOGONAL)
    assert window.session.sequence.name == "paper circle"


def test_a_script_is_not_asked(qtbot, window, asked):
    window.sequence_opening.asks = False
    window.sequence_opening.open(asked)
    sequence = opened(qtbot, window, asked)
    assert not is_asked(window) and sequence.camera is CameraModel.PERSPECTIVE


def test_what_cannot_be_understood_at_all_is_a_message_that_offers_the_import(qtbot, window, tmp_path):
    path = tmp_path / "notes.npz"
    path.write_bytes(b"no archive")
    window.sequence_opening.open(path)
    qtbot.waitUntil(lambda: "notes.npz" in window.message_bar.text)
    assert len(window.message_bar.text.splitlines()) <= 4
    assert window.status_controller.line.full_text == "Ready"
    press(qtbot, window.message_bar, "Import as…")
    dialog = dialog_of(qtbot, window)
    assert "no zip archive" in dialog._problem.text() and dialog._title.text() == "notes.npz"
    press(qtbot, dialog, "Cancel")
