"""The question when a window is closed whose session can be written nowhere by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QMessageBox

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QAbstractButton, QPushButton, QWidget

TITLE = "The session is not saved"
NOTHING = "Neither the session nor an automatic copy of it could be written."
OLDER = "The session could not be written, and its automatic copy is older."
SAVE, CLOSE, CANCEL = "Save elsewhere…", "Close without saving", "Cancel"


class UnsavedDialog(QMessageBox):
    """Asks what becomes of a session that could not be kept; the window stays open meanwhile."""

    save_requested = pyqtSignal()  # the answer, unless the window is to stay open
    close_requested = pyqtSignal()

    def __init__(self, reason: str, parent: QWidget, *, copied: bool) -> None:
        super().__init__(QMessageBox.Icon.Warning, TITLE, OLDER if copied else NOTHING, parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setTextFormat(Qt.TextFormat.PlainText)  # names of files are not markup
        self.setInformativeText(reason)
        roles = QMessageBox.ButtonRole
        self.answers: dict[str, QPushButton] = {}
        for title, role in (
            (SAVE, roles.AcceptRole),
            (CLOSE, roles.DestructiveRole),
            (CANCEL, roles.RejectRole),
        ):
            button = self.addButton(title, role)
            assert button is not None
            self.answers[title] = button
        self.setDefaultButton(self.answers[SAVE])
        self.setEscapeButton(self.answers[CANCEL])
        self.buttonClicked.connect(self._on_clicked)

    def _on_clicked(self, button: QAbstractButton | None) -> None:
        if button is self.answers[SAVE]:
            self.save_requested.emit()
        elif button is self.answers[CLOSE]:
            self.close_requested.emit()
