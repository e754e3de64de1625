"""The log: what goes into it, from whatever thread, and how its panel shows, filters, copies and saves it."""

import logging
import threading
import warnings

import pytest
from PyQt6.QtCore import QtMsgType, qInstallMessageHandler, qWarning
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QToolButton

from core import Settings, simulate
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.model import log_records as module
from nrsfm_gui.model.log_records import Level, Logbook
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.log.log_panel import LogController, LogPanel
from nrsfm_gui.widgets.style import palette

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=8, points=20, noise=0.3, seed=2)


@pytest.fixture
def panel(show, logbook):
    return show(LogPanel(logbook), 500, 200)


@pytest.fixture
def log(session, logbook, panel):
    """Return the controller that fills the logbook."""
    session.set_settings(QUICK)
    return LogController(session, logbook, panel)


def test_loggers_warnings_and_qt_are_heard_and_left_as_they_were(logbook, recwarn):
    heard = []
    before = qInstallMessageHandler(lambda kind, _context, text: heard.append((kind, text)))
    shown, level = warnings.showwarning, logging.getLogger("core").level
    try:
        logbook.listen()
        logbook.listen()  # once is enough
        logging.getLogger("core.io.readers").info("3 %s read", "files")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("an old key", UserWarning, stacklevel=1)
        qWarning("a font is missing")
        ours = qInstallMessageHandler(lambda kind, _context, text: heard.append((kind, text)))
        assert ours is not None
        logbook.shut_down()  # a handler that came later stays
        qWarning("not for the log")
    finally:
        qInstallMessageHandler(before)
    lines = list(logbook.lines)
    known = ((Level.INFO, "core.io.readers"), (Level.WARNING, "python"), (Level.WARNING, "qt"))
    assert tuple((line.level, line.source) for line in lines) == known
    assert lines[0].text == "3 files read" and "an old key" in lines[1].text
    assert heard == [(QtMsgType.QtWarningMsg, text) for text in ("a font is missing", "not for the log")]
    assert warnings.showwarning is shown
    assert logging.getLogger("core").level == level


def test_the_newest_lines_are_kept_from_any_thread_in_order(qtbot, monkeypatch):
    monkeypatch.setattr(module, "LINES", 150)
    logbook = Logbook()

    def work():
        for number in range(200):
            logbook.add(Level.INFO, "thread", str(number))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(logbook.lines) == 150 and logbook.lines[-1].text == "199")
    assert [line.text for line in logbook.lines] == [str(number) for number in range(50, 200)]


def test_the_panel_filters_by_level_and_text_and_copies_what_it_shows(qtbot):
    book = Logbook()
    panel = qtbot.addWidget(LogPanel(book))
    panel.setPalette(palette(DARK))
    book.add(Level.DETAIL, "solver", "iteration 1")
    assert panel._text.toPlainText() == ""  # what comes while it is hidden is there when it is shown
    panel.show()
    book.add(Level.INFO, "files", "Reading <balloon> & co")
    book.add(Level.ERROR, "defect", "KeyError: 'x'", "Traceback\n  File y")
    assert "iteration 1" not in panel._text.toPlainText()
    assert "Reading <balloon> & co" in panel._text.toPlainText()
    assert "    Traceback" in panel._text.toPlainText().replace("\u00a0", " ")
    panel._level.setCurrentText("errors")
    assert "balloon" not in panel._text.toPlainText()
    panel._level.setCurrentText("everything")
    panel._filter.setText("SOLVER")
    assert "iteration 1" in panel._text.toPlainText()
    assert "KeyError" not in panel._text.toPlainText()
    panel._on_copy_clicked()
    assert QGuiApplication.clipboard().text().endswith("iteration 1")


def test_a_session_is_recorded_in_the_log_with_what_was_refused(
    qtbot, session, logbook, log, make_stream, sequence
):
    refused = QUICK.with_changes(rank=3)
    control = RunControl(session, work=make_stream(length=3, refuses=refused), parent=session)
    session.set_live(False)
    session.set_sequence(sequence)
    session.set_settings(QUICK.with_changes(eta=0.2))
    control.start(warm=False)
    qtbot.waitUntil(lambda: "Done: run 1" in logbook.text())
    session.notifier.warn("the disk is full")
    text = logbook.text()
    order = ["Opened ", "eta 0.05 → 0.2", "Started from nothing", "Done: run 1", "the disk is full"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert [line.level for line in logbook.lines][-1] is Level.WARNING
    session.set_settings(refused)
    control.start(warm=False)
    qtbot.waitUntil(lambda: any(line.level is Level.ERROR for line in logbook.lines))  # after the picture
    control.shut_down()
    assert len(session.runs) == 1
    (error,) = (line for line in logbook.lines if line.level is Level.ERROR)
    assert error.source == "run 2" and "rank 3 is refused" in error.text


def test_changes_of_settings_are_named_those_of_a_drag_in_one_line(qtbot, session, logbook, log):
    for eta in (0.06, 0.07, 0.08):
        session.set_settings(QUICK.with_changes(eta=eta))
    qtbot.waitUntil(lambda: "eta 0.05 → 0.08" in logbook.text())
    assert "→ 0.07" not in logbook.text()


def test_the_log_is_saved_and_cleared_and_a_refusal_reported(messages, logbook, log, panel, tmp_path):
    logbook.add(Level.INFO, "test", "kept")
    log.save(tmp_path / "log.txt")
    assert "kept" in (tmp_path / "log.txt").read_text()
    assert "Saved" in messages.text
    log.save(tmp_path / "absent" / "log.txt")
    assert "does not exist" in messages.text
    next(each for each in panel.header.findChildren(QToolButton) if each.text() == "Clear").click()
    assert not logbook.lines and panel.shown_text == ""
