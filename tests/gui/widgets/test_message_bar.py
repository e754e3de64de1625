"""The message bar: errors first, the newest of its kind, and some offer a button."""

import pytest
from hands import button_of
from PyQt6.QtCore import QEvent, Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QPushButton, QToolButton, QVBoxLayout, QWidget

from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.widgets import banners
from nrsfm_gui.widgets.banners import MessageBar
from nrsfm_gui.widgets.style import apply_theme


@pytest.fixture
def bar(qapp, qtbot):
    made = MessageBar()
    apply_theme(qapp, DARK)
    qtbot.addWidget(made)
    made.resize(800, 40)
    return made


def test_an_error_is_shown_first_and_the_note_that_waits_follows_once_it_was_read(qtbot, bar, monkeypatch):
    monkeypatch.setattr(banners, "NOTE_MILLISECONDS", 30)
    monkeypatch.setattr(banners, "READ_MILLISECONDS", 50)
    bar.warn("the file is gone")
    qtbot.wait(80)
    assert bar.text == "the file is gone"  # nothing waits for it
    bar.warn("the disk is full")
    bar.note("saved")
    shown = [bar.text]
    bar.changed.connect(lambda: shown.append(bar.text))
    qtbot.waitUntil(bar.isHidden)
    assert shown == ["the disk is full", "saved", ""]


def test_a_note_that_another_banner_hides_is_seen_as_long_as_any_other(qtbot, qapp, monkeypatch):
    monkeypatch.setattr(banners, "NOTE_MILLISECONDS", 40)
    around, bar = QWidget(), MessageBar()
    qtbot.addWidget(around)
    QVBoxLayout(around).addWidget(bar)
    bar.note("saved")
    qtbot.wait(80)
    assert bar.text == "saved"  # nobody could read it
    around.show()
    qtbot.waitUntil(lambda: bar.text == "")


def test_a_button_acts_once_and_closes_its_message(qtbot, bar):
    done = []
    bar.note("Run 3 was deleted", action=("Undo", lambda: done.append(3)))
    qtbot.mouseClick(button_of(bar, "Undo"), Qt.MouseButton.LeftButton)
    assert done == [3]
    assert bar.text == ""
    assert not [each for each in bar.findChildren(QPushButton) if not each.isHidden()]


def test_a_message_stays_while_the_mouse_is_on_it(qtbot, bar, monkeypatch):
    monkeypatch.setattr(banners, "NOTE_MILLISECONDS", 40)
    monkeypatch.setattr(banners, "REACH_MILLISECONDS", -1)
    bar.note("saved")
    bar.enterEvent(None)
    qtbot.wait(60)
    assert bar.text == "saved"
    bar.leaveEvent(QEvent(QEvent.Type.Leave))
    qtbot.waitUntil(lambda: bar.text == "")


def test_the_sentence_can_be_copied(qtbot, bar):
    bar.warn("track.txt holds no frames")
    copy = next(each for each in bar.findChildren(QToolButton) if each.text() == "Copy text")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "track.txt holds no frames"


def test_a_bar_shows_what_a_notifier_sends(bar):
    notifier = Notifier()
    bar.listen_to(notifier)
    notifier.warn("one")
    assert bar.text == "one"
    notifier.inform("two")
    notifier.inform("three")  # replaces the one before, and waits for the warning
    assert bar.text == "one"
    bar.dismiss()
    assert bar.text == "three"
    notifier.warn("four")
    notifier.clear()
    assert bar.text == ""
    bar.dismiss()
    assert bar.text == ""
