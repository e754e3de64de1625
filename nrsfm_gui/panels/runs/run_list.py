"""The panel Runs: the runs of this session, newest first.

A row shows the color of the run's curve, a pin, and a mark if the run has a note. Buttons, a context menu
and keys act on runs: F4 or a double click renames, Delete deletes, Ctrl+click compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QPoint, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QKeySequence, QShortcut
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from nrsfm_gui.panels.runs.run_tree import RunTree, number_of
from nrsfm_gui.widgets.fields import tool_button
from nrsfm_gui.widgets.icons import icon

if TYPE_CHECKING:
    from collections.abc import Collection

    from nrsfm_gui.text.run_rows import RunRow

EMPTY = "No runs yet.\nPress Run (Ctrl+R)."
BUTTONS = {
    "pin": "Keep (pin): Forget runs leaves the run that is shown, and Delete asks first",
    "rename": "Rename the run that is shown (F4)",
    "compare": "Compare another run with the one that is shown, or stop comparing (Ctrl+D, Ctrl+click)",
    "parameters": "Use the parameters of the run that is shown for the next one",
    "delete": "Forget the run that is shown (Delete)",
}


class RunList(QWidget):
    """The table of runs; below it the note on the shown run and its buttons.

    Signals
    -------
    run_requested(int), compare_requested(int)
        the number of the run to show, or to compare with the one shown; -1 leaves the choice open.
    pin_requested(int, bool), delete_requested(int), parameters_requested(int)
        what to do with a run.
    title_changed(int, str), note_changed(int, str)
        the new text; "" removes it.
    """

    run_requested = pyqtSignal(int)
    compare_requested = pyqtSignal(int)
    pin_requested = pyqtSignal(int, bool)
    delete_requested = pyqtSignal(int)
    parameters_requested = pyqtSignal(int)
    title_changed = pyqtSignal(int, str)
    note_changed = pyqtSignal(int, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tree = RunTree()
        self.tree.setAccessibleName("Runs")
        self.tree.setToolTip("Click a run to see it")
        self.tree.run_requested.connect(self.run_requested)
        self.tree.compare_requested.connect(self.compare_requested)
        self.tree.title_changed.connect(self.title_changed)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._on_context_menu_requested)
        for key, name in (("F4", "rename"), ("Delete", "delete")):
            shortcut = QShortcut(QKeySequence(key), self.tree)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(lambda name=name: self._on_button_clicked(name))
        self._note = QLineEdit()
        self._note.setPlaceholderText("Note on this run")
        self._note.setAccessibleName("Note on the run that is shown")
        self._note.setToolTip("Write something down about the run that is shown; its line gets a mark")
        self._note.editingFinished.connect(self._commit_note)
        self._noted = -1  # the run that the note is on
        self._buttons = {name: self._button(name) for name in BUTTONS}
        self._buttons["pin"].setCheckable(True)
        self._build()

    def set_rows(self, rows: Collection[RunRow], shown: int | None) -> None:
        """Show the runs in the order given and mark the one that is shown; touches only what changed."""
        self._stack.setCurrentIndex(1 if rows else 0)
        self.tree.set_rows(tuple(rows), shown)
        row = self.tree.row(shown)
        self._note.setEnabled(row is not None)
        for button in self._buttons.values():
            button.setEnabled(row is not None)
        self._buttons["compare"].setEnabled(len(rows) > 1)
        self._buttons["pin"].setChecked(row is not None and row.pinned)
        number, note = (-1, "") if row is None else (row.number, row.note)
        if number != self._noted:
            self._commit_note()  # what was being written belongs to the run before
        if number != self._noted or not self._note.hasFocus():
            self._noted = number
            if self._note.text() != note:
                self._note.setText(note)

    def menu_of(self, number: int) -> QMenu:
        """Return the context menu of a run."""
        row = self.tree.row(number)
        assert row is not None  # it has a line
        menu = QMenu(self)
        if number != self.tree.shown:
            menu.addAction("&Show", lambda: self.run_requested.emit(number))
            words = "Stop &comparing" if row.compared else "&Compare with the shown run"
            menu.addAction(words, lambda: self.compare_requested.emit(number))
            menu.addSeparator()
        menu.addAction("&Rename\tF4", lambda: self.tree.rename(number))
        menu.addAction("&Note…", lambda: self._write_note(number))
        words = "Un&pin" if row.pinned else "Kee&p (pin), so that Forget runs leaves it"
        menu.addAction(words, lambda: self.pin_requested.emit(number, not row.pinned))
        menu.addSeparator()
        menu.addAction("&Use its parameters", lambda: self.parameters_requested.emit(number))
        menu.addSeparator()
        menu.addAction("&Delete\tDel", lambda: self.delete_requested.emit(number))
        return menu

    # -- requests --------------------------------------------------------------------------------------------

    def _on_button_clicked(self, name: str) -> None:
        shown = self.tree.shown
        if name == "compare":
            self.compare_requested.emit(-1)
        elif shown is None:
            return
        elif name == "pin":
            self.pin_requested.emit(shown, self._buttons["pin"].isChecked())
        elif name == "rename":
            self.tree.rename(shown)
        elif name == "parameters":
            self.parameters_requested.emit(shown)
        else:
            self.delete_requested.emit(shown)

    def _commit_note(self) -> None:
        # Only what was typed: another sequence has runs of the same numbers.
        row, typed = self.tree.row(self._noted), self._note.isModified()
        if row is not None and typed:
            self._note.setModified(False)
            self.note_changed.emit(row.number, self._note.text().strip())

    def _write_note(self, number: int) -> None:
        self.run_requested.emit(number)
        self._note.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_context_menu_requested(self, position: QPoint) -> None:
        item, viewport = self.tree.itemAt(position), self.tree.viewport()
        if item is not None and viewport is not None:
            menu = self.menu_of(number_of(item))
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(viewport.mapToGlobal(position))

    # -- construction ---------------------------------------------------------------------------------------

    def _build(self) -> None:
        empty = QLabel(EMPTY)
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        empty.setProperty("role", "muted")
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 2, 4, 3)
        bar.setSpacing(1)
        bar.addWidget(self._note, 1)
        for button in self._buttons.values():
            bar.addWidget(button)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tree, 1)
        column.addLayout(bar)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty)
        self._stack.addWidget(full)
        self.setMinimumHeight(80)

    def _button(self, name: str) -> QToolButton:
        button = tool_button("", BUTTONS[name], BUTTONS[name], object_name=f"run {name}")
        button.setIcon(icon(name))
        button.setIconSize(QSize(16, 16))
        button.clicked.connect(lambda _checked: self._on_button_clicked(name))
        return button
