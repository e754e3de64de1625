"""Loading, failed and finished states: each says what goes on, and what can be done next."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QDockWidget, QProgressBar, QPushButton

from core import Settings, simulate
from nrsfm_gui.model.arguments import Arguments
from nrsfm_gui.model.run import RunState
from nrsfm_gui.sessions import opening

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2)


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=8, points=20, noise=0.3, seed=2)


@pytest.fixture
def window(make_window, sequence) -> MainWindow:
    return make_window(sequence, settings=QUICK)


def press(qtbot, parent, text):
    button = next(
        each for each in parent.findChildren(QPushButton) if each.text() == text and each.isVisible()
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_slow_reading_is_shown_with_the_name_of_the_file_and_goes_when_it_is_done(
    qtbot, make_window, monkeypatch, tmp_path
):
    window = make_window()
    card = window.state_cards.card
    go_on = threading.Event()
    read = opening._read

    def slow(path):
        go_on.wait(10)
        return read(path)

    monkeypatch.setattr(opening, "_read", slow)
    window.sequence_opening.open("sample:balloon/circle")
    assert card.text == ""  # what is quick needs no word
    qtbot.waitUntil(lambda: "Reading balloon/circle" in card.text)
    assert card.findChild(QProgressBar).isVisible()
    assert window.scene_view.rect().contains(card.geometry())
    go_on.set()
    qtbot.waitUntil(lambda: card.text == "" and window.session.sequence is not None)


def test_a_failure_with_nothing_open_shows_why_and_what_next(qtbot, make_window, tmp_path):
    window = make_window()
    card = window.state_cards.card
    window.sequence_opening.open(tmp_path / "absent.txt")
    qtbot.waitUntil(lambda: "absent.txt" in card.text)
    assert "could not be opened" in card.text
    assert not card.findChild(QProgressBar).isVisible()
    assert window.message_bar.text == ""  # it is said once
    press(qtbot, card, "Copy")
    assert "absent.txt" in QGuiApplication.clipboard().text()
    press(qtbot, card, "Open the sample")
    qtbot.waitUntil(lambda: window.session.sequence is not None)
    assert card.text == ""


def test_a_failure_next_to_an_open_sequence_offers_another_file_and_the_log(qtbot, window, tmp_path):
    window.sequence_opening.open(tmp_path / "absent.txt")
    qtbot.waitUntil(lambda: "absent.txt" in window.message_bar.text)
    texts = {button.text() for button in window.message_bar.findChildren(QPushButton)}
    assert {"Open another…", "Show the log"} <= texts
    press(qtbot, window.message_bar, "Show the log")
    assert window.log_panel.isVisible()
    assert "absent.txt" in window.log_panel.shown_text


def test_the_result_of_a_run_is_reported_once_in_a_sentence(qtbot, window):
    window.offer_help(Arguments())
    window.parameters_controller.run()
    qtbot.waitUntil(lambda: window.message_bar.text.startswith("Run 1 "), timeout=30_000)
    for part in ("px from the tracks", "mm from the ground truth", "per-frame similarity"):
        assert part in window.message_bar.text
    press(qtbot, window.message_bar, "Go to the worst frame")
    series = window.display.scene
    assert series is not None
    window.message_bar.hide()
    window.session.set_settings(QUICK.with_changes(eta=0.06))
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)
    qtbot.wait(100)
    assert not window.message_bar.text.startswith("Run 1 ")


def test_a_script_gets_no_results(qtbot, window):
    window.offer_help(Arguments(exit=True))
    window.parameters_controller.run()
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)
    qtbot.wait(100)
    assert window.message_bar.text == ""


def test_a_refused_run_shows_why_and_shows_the_log(qtbot, make_window, make_stream, sequence):
    window = make_window(sequence, settings=QUICK, work=make_stream(refuses=QUICK))
    window.parameters_controller.run()
    qtbot.waitUntil(lambda: "is refused" in window.message_bar.text)
    press(qtbot, window.message_bar, "Show the log")
    assert window.log_panel.isVisible()


def test_every_panel_shows_something_before_there_is_anything(qtbot, make_window):
    from PyQt6.QtWidgets import QLabel

    window = make_window()
    for title in ("Runs", "Loss", "Weights", "Numbers"):
        dock = window.findChild(QDockWidget, f"dock {title}")
        dock.show()
        dock.raise_()
        qtbot.wait(5)
        words = [label.text() for label in dock.widget().findChildren(QLabel) if label.isVisible()]
        assert any(len(text) > 10 for text in words), title
