"""The panel Sequences: what can be opened, and the runs of what was; a filter above, the note on a run below.

A context menu and keys act on runs: F4 or a double click renames, Delete deletes, Ctrl+click compares. Delete
on a sequence removes it from the list.
"""

from __future__ import annotations

from collections.abc import Collection

from PyQt6.QtCore import QPoint, QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedLayout,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from core import Sequence, SequenceEntry
from nrsfm_gui.panels.sequences.row_delegate import RUN, SEQUENCE
from nrsfm_gui.panels.sequences.sequence_tree import COLUMNS, ENTRY, SequenceTree
from nrsfm_gui.text.run_rows import SequenceRow
from nrsfm_gui.widgets.fields import filled, tool_button, with_tip
from nrsfm_gui.widgets.labels import PlainLabel

HINT = "Drop a file or folder here\nor Open (Ctrl+O)"
MORE = "What can be done with the run that is shown"


class SequencesPanel(QWidget):
    """The filter, the tree with its signals, and the note on the shown run with a button for its menu."""

    forget_requested = pyqtSignal(object)  # the runs of a sequence are to be forgotten

    def __init__(self) -> None:
        super().__init__()
        self._listed = False  # whether there is something that can be opened
        tip = "Show what contains these words: object, path, camera, run or note"
        self._filter = with_tip(QLineEdit(), "Filter the sequences and runs", tip)
        self._filter.setPlaceholderText("Filter")
        self._filter.setClearButtonEnabled(True)
        self.tree = tree = SequenceTree()
        tree.setToolTip(
            "Click a name to open its sequence, or a run to see it. "
            "P: with a perspective camera; O: with an orthogonal one"
        )
        self._filter.textChanged.connect(tree.set_filter)
        self.sequence_requested, self.left_requested = tree.sequence_requested, tree.left_requested
        self.run_requested, self.compare_requested = tree.run_requested, tree.compare_requested
        self.delete_requested, self.remove_requested = tree.delete_requested, tree.remove_requested
        self.change_requested = tree.change_requested
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._on_context_menu_requested)
        tip = "Write something down about the run that is shown; its row gets a mark"
        self._note = with_tip(QLineEdit(), "Note on the run that is shown", tip)
        self._note.setPlaceholderText("Note on this run")
        self._note.editingFinished.connect(self._commit_note)
        self._noted = -1  # the run that the note is on
        self._more = tool_button("⋯", MORE, MORE, self._on_more_clicked, object_name="run menu")
        hint = PlainLabel(HINT, role="muted", wraps=True)
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._bar, listing = QWidget(), QWidget()
        bar, column = QHBoxLayout(self._bar), QVBoxLayout(listing)
        filled(bar, self._note, self._more, grows=self._note, spacing=2, margins=(0, 2, 0, 3))
        self._bar.hide()
        filled(column, self._filter, self.tree, self._bar, grows=self.tree, spacing=4, margins=(6, 6, 6, 0))
        self._stack = QStackedLayout(self)
        self._stack.addWidget(hint)
        self._stack.addWidget(listing)
        self.setMinimumHeight(80)

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(220, 320)

    def set_entries(self, entries: Collection[SequenceEntry]) -> None:
        """List these; where there is nothing, show what to do instead."""
        self._listed = bool(entries)
        self.tree.set_entries(entries)
        self._stack.setCurrentIndex(1 if self._listed or self.tree.rows else 0)

    def set_rows(self, rows: Collection[SequenceRow], shown: int | None) -> None:
        """Show the sequences of the session and their runs, and mark the run that is shown."""
        self.tree.set_rows(rows, shown)
        self._stack.setCurrentIndex(1 if self._listed or rows else 0)
        row = self.tree.row(shown)
        self._bar.setVisible(row is not None)
        number, note = (-1, "") if row is None else (row.number, row.note)
        if number != self._noted:
            self._commit_note()  # what was being written belongs to the run before
        if number != self._noted or not self._note.hasFocus():
            self._noted = number
            if self._note.text() != note:
                self._note.setText(note)

    def menu_at(self, item: QTreeWidgetItem) -> QMenu:
        """Return the context menu of a row of the tree."""
        menu = QMenu(self)
        if item.data(0, RUN) is not None:
            self._add_actions_of_run(menu, item)
        else:
            self._add_actions_of_sequence(menu, item)
        return menu

    def _add_actions_of_run(self, menu: QMenu, item: QTreeWidgetItem) -> None:
        row, sequence = item.data(0, RUN), item.data(0, SEQUENCE)
        number, here = row.number, self.tree.is_open(sequence)
        if not here:
            words = f"&Open {sequence.name} and show run {number}"
            menu.addAction(words, lambda: self.left_requested.emit(sequence, number))
        elif number != self.tree.shown:
            menu.addAction("&Show", lambda: self.run_requested.emit(number))
            words = "Stop &comparing" if row.compared else "&Compare with the shown run"
            menu.addAction(words, lambda: self.compare_requested.emit(number))
        else:
            menu.addAction("&Compare with another\tCtrl+D", lambda: self.compare_requested.emit(-1))
        menu.addSeparator()
        menu.addAction("&Rename\tF4", lambda: self._rename(sequence, number))
        if here:
            menu.addAction("&Note…", lambda: self._write_note(number))
        words = "Un&pin" if row.pinned else "Kee&p (pin), so that Forget runs leaves it"
        menu.addAction(
            words, lambda: self.change_requested.emit(sequence, number, {"pinned": not row.pinned})
        )
        menu.addSeparator()
        menu.addAction("&Delete\tDel", lambda: self.delete_requested.emit(sequence, number))
        menu.addAction("&Forget the runs of this sequence", lambda: self.forget_requested.emit(sequence))

    def _add_actions_of_sequence(self, menu: QMenu, item: QTreeWidgetItem) -> None:
        entries, sequences = self.tree.entries_of(item), self.tree.sequences_of(item)
        own = item.data(0, SEQUENCE)
        if own is not None and not self.tree.is_open(own):
            menu.addAction("&Open", lambda: self.left_requested.emit(own, -1))
        for camera, column in COLUMNS.items():
            entry = item.data(column, ENTRY)
            if entry is not None:
                words = f"Open with the {camera.value} camera"
                menu.addAction(words, lambda entry=entry: self.sequence_requested.emit(entry))
        menu.addSeparator()
        held = [row.sequence for row in self.tree.rows if row.sequence in sequences and row.runs]
        for sequence in held:
            words = f"&Forget the runs of {sequence.name}" if len(held) > 1 else "&Forget its runs"
            menu.addAction(words, lambda sequence=sequence: self.forget_requested.emit(sequence))
        menu.addAction("&Remove from the list\tDel", lambda: self.remove_requested.emit(entries, sequences))

    # -- requests -------------------------------------------------------------------------------------------

    def _rename(self, sequence: Sequence, number: int) -> None:
        item = self.tree.item(number, sequence)
        if item is not None:  # it may have been forgotten while the menu was open
            self.tree.rename(item)

    def _commit_note(self) -> None:
        # Only what was typed: another sequence has runs of the same numbers.
        row, typed = self.tree.row(self._noted), self._note.isModified()
        if row is not None and typed:
            self._note.setModified(False)
            self.change_requested.emit(None, row.number, {"note": self._note.text().strip()})

    def _write_note(self, number: int) -> None:
        self.run_requested.emit(number)
        self._note.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_context_menu_requested(self, position: QPoint) -> None:
        item, viewport = self.tree.itemAt(position), self.tree.viewport()
        if item is not None and viewport is not None:
            self._open_menu(self.menu_at(item), viewport.mapToGlobal(position))

    def _on_more_clicked(self) -> None:
        item = None if self.tree.shown is None else self.tree.item(self.tree.shown)
        if item is not None:
            menu = self.menu_at(item)
            self._open_menu(menu, self._more.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _open_menu(self, menu: QMenu, place: QPoint) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if not menu.isEmpty():
            menu.popup(place)
