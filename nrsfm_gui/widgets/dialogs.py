"""Dialogs that fit on the screen, and dialogs that ask for a file or a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from urllib.parse import unquote_to_bytes

from PyQt6.QtCore import QEvent, QObject, QSize, Qt, QUrl, pyqtSignal
from PyQt6.QtGui import QDragEnterEvent, QDropEvent, QMouseEvent
from PyQt6.QtWidgets import QDialog, QDialogButtonBox, QFileDialog, QLineEdit, QWidget

from nrsfm_gui.widgets.labels import known

FRAME = QSize(16, 48)  # pixels of the frame of a window, about


def fits_on_screen(window: QWidget, times: float = 1.0) -> bool:
    """Return whether a window fits its screen at its smallest, were all so many times as large as it is."""
    screen, least = window.screen(), window.minimumSizeHint() * times
    return screen is None or least.boundedTo(screen.availableSize()) == least


def resize_within_screen(window: QWidget, size: QSize) -> None:
    """Resize a window, at most to the size of its screen."""
    screen = window.screen()
    window.resize(size if screen is None else size.boundedTo(screen.availableSize() - FRAME))


def show_on_screen(dialog: QDialog) -> None:
    """Show a dialog as high as its text needs; Qt limits it to two thirds of the screen, which cuts lines."""
    if not dialog.isVisible():
        dialog.ensurePolished()
        resize_within_screen(dialog, dialog.sizeHint())
    bring_to_front(dialog)


def bring_to_front(window: QWidget) -> None:
    """Show a window in front of the others, with the keyboard."""
    window.show()
    window.raise_()
    window.activateWindow()


class PathKind(Enum):
    """The kind of path that a dialog returns."""

    FILE = "a file that is there"
    NEW_FILE = "a file to write"
    ANY = "a file or a folder that is there"


def ask_for_path(
    parent: QWidget,
    title: str,
    then: Callable[[Path], object],
    *,
    kind: PathKind = PathKind.FILE,
    start: str | Path = "",
    filters: str = "",
) -> QFileDialog:
    """Open a dialog and return at once; `then` gets the path, where one is chosen.

    A file to write that has no suffix gets the first one of the filter that was chosen. A dialog for files
    and folders is Qt's own: those of Windows and of Linux desktops choose either files or folders.
    """
    dialog = _Dialog(parent, title, takes_folders=kind is PathKind.ANY)
    if kind is PathKind.ANY:
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    if filters:
        dialog.setNameFilter(filters)
    if kind is PathKind.NEW_FILE:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        # Known to the dialog, so that it confirms before a file is replaced.
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(first_suffix(chosen)))
        dialog.setDefaultSuffix(first_suffix(dialog.selectedNameFilter()))
    else:
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    if str(start):
        _begin_at(dialog, Path(start))
    dialog.fileSelected.connect(lambda name: then(Path(name)))
    if kind is PathKind.ANY:
        _offer_folders(dialog)
    dialog.open()
    return dialog


def _offer_folders(dialog: _Dialog) -> None:
    """Add a button that chooses the selected folder, or the one whose content is shown."""
    box = known(dialog.findChild(QDialogButtonBox))  # of Qt's own dialog
    button = known(box.addButton("Open folder", QDialogButtonBox.ButtonRole.ActionRole))
    button.setAutoDefault(False)
    button.setToolTip("Open the selected folder, or the one that is shown")
    button.clicked.connect(lambda: dialog.choose(dialog.folder or dialog.directory().absolutePath()))
    line = dialog.findChild(QLineEdit)
    completer = None if line is None else line.completer()
    if completer is not None and (popup := completer.popup()) is not None:
        popup.installEventFilter(_ClickedThrough(popup, box, dialog))


def first_suffix(name_filter: str) -> str:
    """Return ".npz" of "NumPy (*.npz *.np)", "" where the filter accepts every file."""
    pattern = name_filter.rsplit("(", 1)[-1].rstrip(")").split()[:1]
    suffix = pattern[0].removeprefix("*") if pattern else ""
    return suffix if suffix.startswith(".") else ""


class _ClickedThrough(QObject):
    """Clicks the button below the mouse where the completion of a typed path takes the click to close."""

    def __init__(self, popup: QWidget, box: QDialogButtonBox, dialog: QFileDialog) -> None:
        super().__init__(dialog)  # not the popup: Python forgets its object, and what that owns
        self._popup, self._box = popup, box

    def eventFilter(self, _watched: QObject | None, event: QEvent | None) -> bool:
        if not isinstance(event, QMouseEvent) or event.type() is not QEvent.Type.MouseButtonPress:
            return False
        where = event.globalPosition().toPoint()
        if self._popup.rect().contains(self._popup.mapFromGlobal(where)):
            return False
        for button in self._box.buttons():
            if button.isVisible() and button.rect().contains(button.mapFromGlobal(where)):
                self._popup.hide()
                button.click()
                return True
        return False


class _Dialog(QFileDialog):
    """Deletes itself once it is closed, but not while its own message box is open.

    Such a message (there is no such file) is part of `accept`: a dialog that is closed and destroyed
    meanwhile crashes the process.
    """

    def __init__(self, parent: QWidget | None, title: str, *, takes_folders: bool) -> None:
        super().__init__(parent, title)
        self._takes_folders, self._accepting = takes_folders, False
        self.finished.connect(lambda _result: self._delete_later())

    @property
    def folder(self) -> str:
        """The selected folder, "" where none is."""
        return next(filter(os.path.isdir, self.selectedFiles()[:1]), "")

    def choose(self, folder: str) -> None:
        self.fileSelected.emit(folder)
        self.done(QFileDialog.DialogCode.Accepted)

    def accept(self) -> None:
        """Accept the path, if it exists: also a folder that was typed, where a folder can be chosen."""
        line = self.findChild(QLineEdit)
        if self._takes_folders and line is not None and line.hasFocus() and self.folder:
            self.choose(self.folder)
            return
        self._accepting = True
        super().accept()
        self._accepting = False
        if self.isHidden():
            self._delete_later()

    def _delete_later(self) -> None:
        if not self._accepting:
            self.deleteLater()


def _begin_at(dialog: QFileDialog, start: Path) -> None:
    """Show the folder of a path, with its name in the field."""
    if os.path.isdir(start):
        dialog.setDirectory(str(start))
        return
    if os.path.isdir(start.parent):
        dialog.setDirectory(str(start.parent))
    if dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave:
        dialog.selectFile(start.name)


class DropTarget(QObject):
    """Accepts one file or folder that is dropped on a widget."""

    dropped = pyqtSignal(object)  # Path

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, _widget: QObject | None, event: QEvent | None) -> bool:
        """Accept what is dragged where it is one path, and report that of what is dropped."""
        if isinstance(event, QDropEvent) and event.type() is QEvent.Type.Drop:
            self.dropped.emit(_path_of(known(event.mimeData()).urls()[0]))
            return True
        if not isinstance(event, QDragEnterEvent):
            return False
        data = event.mimeData()
        if data is not None and len(data.urls()) == 1 and data.urls()[0].isLocalFile():
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        return True


def _path_of(url: QUrl) -> Path:
    """Return the path of a local file; Qt's own conversion loses bytes that are no UTF-8."""
    if sys.platform == "win32":
        return Path(url.toLocalFile())
    return Path(os.fsdecode(unquote_to_bytes(url.path(QUrl.ComponentFormattingOption.FullyEncoded))))
