"""Making a report from within the application: asked for, followed, stopped, gone on with, refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QLabel, QLineEdit, QPushButton

from core import write_challenge
from core.cli import parser
from core.experiments.reproduce import EXPERIMENTS
from nrsfm_gui.reports import report_maker
from nrsfm_gui.reports.make_report import MakeReportDialog
from nrsfm_gui.reports.report_maker import ReportMaker, standing_words
from nrsfm_gui.reports.reports_window import ReportsWindow

if TYPE_CHECKING:
    from pathlib import Path

LONG = 120_000  # ms: other processes may need the processor, too


@pytest.fixture(scope="module")
def challenge(tmp_path_factory) -> Path:
    """A folder of one small object, seen along one path."""
    folder = tmp_path_factory.mktemp("challenge")
    write_challenge(folder, "stretch", paths=["circle"], frames=6, points=15)
    return folder


@pytest.fixture
def maker(qapp):
    made = ReportMaker()
    yield made
    made.shut_down()


def words_for(challenge: Path, output: Path) -> list[str]:
    return ["tableA1", "--data", str(challenge), "--jobs", "1", "-o", str(output)]


def button(widget, title: str) -> QPushButton:
    return next(each for each in widget.findChildren(QPushButton) if each.text() == title)


def test_a_report_is_stopped_gone_on_with_and_shown(qtbot, show, store, challenge, tmp_path):
    window = ReportsWindow(store, folders=[tmp_path / "reports"])
    show(window)
    words = words_for(challenge, tmp_path / "reports" / "tableA1")
    said: list[str] = []

    def stop_after_the_first(standing: str, _fraction: float) -> None:
        said.append(standing)
        if standing.startswith("1 of "):
            window.maker.stop()

    window.maker.progressed.connect(stop_after_the_first)
    window.make_report(words)
    assert window.maker.busy
    assert button(window, "Stop").isVisibleTo(window)
    qtbot.waitUntil(lambda: not window.maker.busy, timeout=LONG)
    assert any(standing.startswith("0 of ") for standing in said)
    if "was stopped" in window.messages.text:  # and not done before the interrupt arrived
        assert "Make it again to go on" in window.messages.text
        assert window.list.count() == 0
    assert not button(window, "Stop").isVisibleTo(window)
    assert list((tmp_path / "reports" / "tableA1" / "jobs").glob("*.npz"))
    window.maker.progressed.disconnect(stop_after_the_first)
    said.clear()
    window.maker.progressed.connect(lambda standing, _fraction: said.append(standing))
    with qtbot.waitSignal(window.maker.made, timeout=LONG):
        window.make_report(words)
    assert not any(standing.startswith("0 of ") for standing in said)  # what was finished was kept
    assert window.shown.title == "Table A.1, run again"
    assert "stretch" in window.view.toPlainText()
    assert "The report is ready" in window.messages.text
    assert str(tmp_path / "reports" / "tableA1" / "report.html") in window.messages.text


def test_what_is_refused_is_one_sentence(qtbot, show, store, tmp_path):
    window = ReportsWindow(store, folders=[tmp_path])
    show(window)
    (tmp_path / "empty").mkdir()
    with qtbot.waitSignal(window.maker.failed, timeout=LONG):
        window.make_report(words_for(tmp_path / "empty", tmp_path / "report"))
    assert window.messages.text.startswith("The report was not made: ")
    assert "Traceback" not in window.messages.text
    assert not window.maker.busy


def test_a_process_that_breaks_says_its_last_words(qtbot, maker, monkeypatch):
    monkeypatch.setattr(report_maker, "MODULE", "a_module_that_is_not_there")
    with qtbot.waitSignal(maker.failed, timeout=LONG) as failed:
        maker.start(["all"])
    assert "a_module_that_is_not_there" in failed.args[0]
    assert not maker.busy


def test_closing_while_a_report_is_made_ends_its_process(qtbot, maker, challenge, tmp_path):
    maker.start(words_for(challenge, tmp_path))
    qtbot.waitUntil(lambda: maker.busy and maker._process.processId() > 0, timeout=LONG)
    maker.shut_down()
    assert not maker.busy


def test_where_it_stands_is_said_in_words():
    said = {"done": 3, "total": 40, "fraction": 0.1, "seconds_left": 62.0, "label": "balloon"}
    assert standing_words(said) == "3 of 40 jobs · about 1 min 2 s left · finished balloon"
    first = {"done": 0, "total": 40, "fraction": 0.0, "seconds_left": None, "label": ""}
    assert standing_words(first) == "0 of 40 jobs"
    last = said | {"done": 40, "fraction": 1.0, "seconds_left": 0.0}
    assert standing_words(last) == "40 of 40 jobs · writing the report"


@pytest.fixture
def dialog(show, tmp_path) -> MakeReportDialog:
    made = MakeReportDialog(tmp_path / "reports")
    show(made)
    return made


def test_every_experiment_can_be_chosen(dialog):
    assert [dialog.what.itemData(index) for index in range(dialog.what.count())] == list(EXPERIMENTS)
    assert dialog.what.currentText() == "Table 1"
    assert not dialog.isModal()


def test_the_form_says_the_command_that_it_runs(qtbot, dialog, tmp_path):
    dialog.what.set_key("tableA2")
    dialog.data.line.setText(str(tmp_path))
    dialog.processes.setText("3")
    expected = [
        "tableA2",
        "--data",
        str(tmp_path),
        "--jobs",
        "3",
        "-o",
        str(tmp_path / "reports" / "tableA2"),
    ]
    assert dialog.words() == expected
    args = parser().parse_args(["reproduce", *expected])
    assert (args.experiment, args.data, args.jobs) == ("tableA2", tmp_path, 3)
    button(dialog, "Copy").click()
    assert QGuiApplication.clipboard().text() == dialog.findChild(QLineEdit, "command").text()
    assert QGuiApplication.clipboard().text().startswith("nrsfm reproduce tableA2 --data")
    with qtbot.waitSignal(dialog.requested) as requested:
        button(dialog, "Make").click()
    assert requested.args == [expected]
    assert not dialog.isVisible()


def test_a_folder_that_was_typed_stays_when_another_experiment_is_chosen(dialog, tmp_path):
    dialog.output.line.setText(str(tmp_path / "mine"))
    dialog.what.set_key("all")
    assert dialog.words()[-1] == str(tmp_path / "mine")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("data", "/no/such/folder", "There is no folder /no/such/folder"),
        ("data", 400 * "a", "There is no folder aaaa"),  # the system refuses to look for it
        ("output", " ", "Give a folder"),
        ("processes", "0", "at least 1"),
        ("processes", "two", "'two' is not a whole number"),
    ],
)
def test_what_cannot_be_made_is_said_beside_its_field(dialog, name, text, words):
    line = {"data": dialog.data.line, "output": dialog.output.line, "processes": dialog.processes}[name]
    line.setText(text)
    assert words in dialog.findChild(QLabel, f"{name}_note").text()
    assert not button(dialog, "Make").isEnabled()
