"""Reports of `nrsfm reproduce` open in the browser; where there is none, the command for one is given."""

import os
import shlex
from pathlib import Path

import pytest
from hands import button_of
from PyQt6.QtGui import QDesktopServices, QGuiApplication
from PyQt6.QtWidgets import QFileDialog, QWidget

from core.cli import parser
from core.experiments.report import Heading, write_report
from nrsfm_gui.model.app_store import REPORTS
from nrsfm_gui.shell.experiment_reports import ExperimentReports


@pytest.fixture
def opened(monkeypatch):
    """Return the paths that the browser was asked for."""
    paths: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda link: paths.append(link.toLocalFile()) or True)
    return paths


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder."""
    folder = tmp_path / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def window(qtbot):
    return qtbot.addWidget(QWidget())


@pytest.fixture
def reports(store, session, messages, window):
    return ExperimentReports(store, session.notifier, window)


def write(folder, *, age):
    """Write a report as `nrsfm reproduce` does, some seconds ago; return its page."""
    folder.mkdir(parents=True, exist_ok=True)
    page = write_report([Heading("Table 1, run again", 1)], "Table 1, run again", folder)
    stamp = page.stat().st_mtime - age
    os.utime(page, (stamp, stamp))
    return str(page)


@pytest.mark.parametrize("place", [".", "reports/table1"])
def test_the_newest_report_of_the_working_folder_is_opened(
    tmp_path, folder, opened, reports, messages, place, monkeypatch
):
    write(folder / "old", age=100)
    page = write(folder / place, age=10)
    (folder / "other").mkdir()
    (folder / "other" / "report.html").write_text("<h1>Of another program</h1>")
    (folder / "link").mkdir()
    (folder / "link" / "report.html").symlink_to(write(tmp_path / "elsewhere", age=0))
    reports.open_newest()
    assert opened == [page]
    assert page in messages.text
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _link: False)
    reports.open_newest()
    assert messages.text == f"No program was found that opens {page}"


def test_a_report_that_was_opened_is_found_again_from_anywhere(tmp_path, folder, opened, reports, store):
    elsewhere = write(tmp_path / "elsewhere" / "deep", age=50)
    reports.open(Path(elsewhere))
    reports.open_newest()
    assert opened == [elsewhere, elsewhere]
    newer = write(folder / "report", age=5)
    reports.open_newest()
    assert opened[-1] == newer
    for page in (elsewhere, newer):
        os.unlink(page)
    assert store.recent(REPORTS) == []


def test_without_a_report_the_command_for_one_can_be_copied(folder, opened, reports, messages):
    reports.open_newest()
    assert not opened
    command = messages.text.split(": ")[1]
    assert str(folder) in messages.text
    button_of(messages, "Copy the command").click()
    assert QGuiApplication.clipboard().text() == command
    program, *words = shlex.split(command)
    assert program == "nrsfm"
    page = write(folder / parser().parse_args(words).output, age=0)
    reports.open_newest()  # what the command writes is found
    assert opened == [page]


def test_another_report_can_be_asked_for(tmp_path, folder, opened, reports, messages, window):
    write(folder / "report", age=0)
    other = write(tmp_path / "other", age=100)
    reports.open_newest()
    button_of(messages, "Open another…").click()
    dialog = window.findChild(QFileDialog)
    dialog.fileSelected.emit(other)
    assert opened[-1] == other
    dialog.reject()


@pytest.mark.parametrize("name", ["a.desktop", "page.html"])
def test_nothing_but_a_page_is_opened(tmp_path, opened, reports, messages, store, name):
    """The desktop could start it: neither a file of another kind, nor a link to one, nor a folder."""
    program = tmp_path / "program.desktop"
    program.write_text("[Desktop Entry]\nExec=true\n")
    page = tmp_path / name
    if page.suffix == ".html":
        page.symlink_to(program)
    else:
        page.write_text("x")
    for each in (page, tmp_path, tmp_path / "absent.html"):
        reports.open(each)
        assert "is no report; accepted are files that end in .html or .htm" in messages.text
    assert opened == [] and store.recent(REPORTS) == []
