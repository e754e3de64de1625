"""The dialogs of the application: what the application is, and what is shown when something is defective."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtGui import QFontDatabase
from PyQt6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from nrsfm_gui.widgets.fit_to_screen import resize_within_screen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def about_text() -> str:
    """Return version, licence and where the parts are loaded from."""
    from PyQt6.QtCore import PYQT_VERSION_STR, qVersion

    from core.foundation import versions
    from nrsfm_gui.model.arguments import version_text

    parts = ", ".join(f"{name} {version}" for name, version in versions().items() if name != "core")
    return (
        "<h3>NRSfM Studio</h3>"
        "<p>Non-rigid structure from motion with the weighted nuclear norm: open tracks, solve, watch it "
        "converge, compare with the ground truth, export.</p>"
        f"<p>{html.escape(version_text())}<br>PyQt {PYQT_VERSION_STR}, Qt {qVersion()}, {parts}</p>"
        "<p>GNU General Public License, version 3 or later. There is no warranty.</p>"
    )


def show_about(parent: QWidget) -> None:
    """Show what `about_text` says, without stopping anything."""
    box = QMessageBox(QMessageBox.Icon.NoIcon, "About NRSfM Studio", about_text(), parent=parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    box.open()


class DefectDialog(QDialog):
    """A defect of the program: what happened, and offers to save what there is."""

    def __init__(
        self, sentence: str, details: str, parent: QWidget, *, saves: Mapping[str, Callable[[], object]]
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Something went wrong")
        message = QLabel(
            f"<p><b>{html.escape(sentence)}</b></p><p>This is a defect of the program, not of your data. "
            "The application goes on; save your work if you are in doubt.</p>"
        )
        message.setWordWrap(True)
        self._others = 0
        self._count = QLabel()
        self._count.setProperty("role", "muted")
        self._count.hide()
        text = QPlainTextEdit(details)
        text.setAccessibleName("Details of the defect")
        text.setToolTip("Where it happened; copy this when you report the defect")
        text.setReadOnly(True)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        copy = QPushButton("Copy the details")
        copy.clicked.connect(text.selectAll)
        copy.clicked.connect(text.copy)
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        for title, save in saves.items():
            keep = QPushButton(title)
            keep.clicked.connect(lambda _checked, save=save: save())
            buttons.addButton(keep, QDialogButtonBox.ButtonRole.ActionRole)
        layout = QVBoxLayout(self)
        for part in (message, text, self._count, buttons):
            layout.addWidget(part)
        resize_within_screen(self, QSize(720, 420))

    def count_another(self) -> None:
        """Say that more defects followed while this one was on view."""
        self._others += 1
        self._count.setText(f"{self._others} more followed; the log has them.")
        self._count.show()
