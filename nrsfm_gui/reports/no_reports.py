"""What the reports page says where there is no report: what one is, and the command that makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from nrsfm_gui.reports.reports import MAKING
from nrsfm_gui.widgets.fields import push_button

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

WIDEST = 560
WHAT = (
    "A report holds the tables and figures of the paper's experiments, computed again on the data at hand, "
    "beside the published numbers."
)
HOW = "Make report… below makes one. So does this command, and run in the same folder it is found here:"


class NoReports(QWidget):
    """A heading, some sentences and a command to copy."""

    def __init__(self, folders: Iterable[Path]) -> None:
        super().__init__()
        heading = QLabel("No reports yet")
        heading.setProperty("role", "heading")
        labels = [QLabel(text) for text in (WHAT, HOW, "Looked in " + " and in ".join(map(str, folders)))]
        for label in labels:
            label.setWordWrap(True)
            label.setProperty("role", "muted")
        self._command = QLineEdit(MAKING)
        self._command.setAccessibleName("Command that makes a report")
        self._command.setToolTip("Run this in a terminal to make the first report")
        self._command.setReadOnly(True)
        self._command.setObjectName("making")
        row = QHBoxLayout()
        row.addWidget(self._command, 1)
        row.addWidget(push_button("Copy", "Copy the command", self._copy))
        inner = QWidget()
        inner.setMaximumWidth(WIDEST)
        column = QVBoxLayout(inner)
        column.setSpacing(10)
        column.addStretch(2)
        for label in (heading, *labels[:2]):
            column.addWidget(label)
        column.addLayout(row)
        column.addWidget(labels[2])
        column.addStretch(3)
        layout = QHBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(inner, 8)
        layout.addStretch(1)

    def _copy(self) -> None:
        clipboard = QGuiApplication.clipboard()
        assert clipboard is not None
        clipboard.setText(self._command.text())
