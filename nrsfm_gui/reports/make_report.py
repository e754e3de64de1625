"""The form that asks which report to make, of what data and where to; it shows the command for it."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from core.experiments.reproduce import TITLES as EXPERIMENT_TITLES
from nrsfm_gui.widgets.fields import NumberField, push_button
from nrsfm_gui.widgets.form import Form
from nrsfm_gui.widgets.path_dialog import Wanted, ask_for_path
from nrsfm_gui.widgets.sources import Choice

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ", run again"  # of the titles of reports
INTRODUCTION = (
    "The paper's experiments are run again on your data. What is finished is kept: the same report, made "
    "again, goes on where it was stopped."
)


class FolderLine(QWidget):
    """A line for a folder, with a button that asks for one."""

    def __init__(self, title: str, placeholder: str = "") -> None:
        super().__init__()
        self._title = title
        self.line = QLineEdit()
        self.line.setPlaceholderText(placeholder)
        button = push_button("…", title, self._ask)
        button.setFixedWidth(32)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        row.addWidget(button)

    def _ask(self) -> None:
        ask_for_path(
            self,
            self._title,
            lambda path: self.line.setText(str(path)),
            wanted=Wanted.FOLDER,
            start=self.line.text(),
        )


class MakeReportDialog(QDialog):
    """Asks for the options of `nrsfm reproduce`; it blocks nothing.

    Parameters
    ----------
    folder
        where reports are put unless another place is typed.

    Signals
    -------
    requested(list)
        the words after `nrsfm reproduce`.
    """

    requested = pyqtSignal(list)

    def __init__(self, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self.setWindowTitle("Make a report")
        introduction = QLabel(INTRODUCTION)
        introduction.setWordWrap(True)
        introduction.setProperty("role", "muted")
        titles = {name: title.removesuffix(SUFFIX) for name, title in EXPERIMENT_TITLES.items()}
        self.what = Choice(titles, titles=titles)
        self.what.set_key("table1")
        self.data = FolderLine("Folder of the sequences", "the bundled simulated objects, as stand-ins")
        self.output = FolderLine("Folder of the report")
        self.processes = NumberField(whole=True)
        self.processes.set_value(os.cpu_count() or 1)
        self._form = Form()
        for name, label, editor, tip in (
            ("experiment", "experiment", self.what, "Which of the paper's tables and figures."),
            (
                "data",
                "data",
                self.data,
                "A folder in the layout of the NRSfM Challenge; empty: bundled objects.",
            ),
            (
                "output",
                "report",
                self.output,
                "Folder that the report and what is finished of it are put into.",
            ),
            ("processes", "processes", self.processes, "Sequences that are solved at a time: at least 1."),
        ):
            self._form.add(name, label, editor, tip=tip)
        self._command = QLineEdit()
        self._command.setReadOnly(True)
        self._command.setObjectName("command")
        copy = push_button("Copy", "Copy the command that makes this report", self._copy)
        row = QHBoxLayout()
        row.addWidget(self._command, 1)
        row.addWidget(copy)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._make = push_button("Make", "Begin, or go on where it was stopped", self._request)
        self._make.setDefault(True)
        buttons.addButton(self._make, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for part in (introduction, self._form):
            layout.addWidget(part)
        layout.addLayout(row)
        layout.addWidget(buttons)
        self.resize(620, 10)
        self.what.currentIndexChanged.connect(lambda _index: self._name())
        for line in (self.data.line, self.output.line, self.processes):
            line.textChanged.connect(lambda _text: self._check())
        self._name()

    def words(self) -> list[str]:
        """Return the words after `nrsfm reproduce`."""
        words = [self.what.key]
        if self.data.line.text().strip():
            words += ["--data", self.data.line.text().strip()]
        words += ["--jobs", self.processes.text().strip()]
        return [*words, "-o", self.output.line.text().strip()]

    def _name(self) -> None:
        """Propose the folder of the chosen experiment, unless another one was typed."""
        proposed = {str(self._folder / name) for name in EXPERIMENT_TITLES} | {""}
        if self.output.line.text() in proposed:
            self.output.line.setText(str(self._folder / self.what.key))
        self._check()

    def _check(self) -> None:
        """Note what is refused, and show the command."""
        data, output = (line.text().strip() for line in (self.data.line, self.output.line))
        notes = {
            "data": "" if not data or os.path.isdir(data) else f"There is no folder {data}.",
            "output": "" if output else "Give a folder.",
            "processes": "",
        }
        try:
            if int(self.processes.value() or 0) < 1:
                notes["processes"] = "Accepted is a whole number of at least 1."
        except ValueError as refusal:
            notes["processes"] = str(refusal)
        for name, sentence in notes.items():
            self._form.set_note(name, sentence)
        self._make.setEnabled(not any(notes.values()))
        self._command.setText(shlex.join(["nrsfm", "reproduce", *self.words()]))
        self._command.setCursorPosition(0)

    def _copy(self) -> None:
        clipboard = QGuiApplication.clipboard()
        assert clipboard is not None
        clipboard.setText(self._command.text())

    def _request(self) -> None:
        self.requested.emit(self.words())
        self.accept()
