"""The panel Sequences: object, camera path, and one cell per camera model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QModelIndex, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QKeyEvent
from PyQt6.QtWidgets import (
    QHeaderView,
    QLabel,
    QLineEdit,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from core import CameraModel
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Collection

    from core import SequenceEntry
    from nrsfm_gui.model.theme import Theme

COLUMNS = {CameraModel.PERSPECTIVE: 1, CameraModel.ORTHOGONAL: 2}
LETTERS = {CameraModel.PERSPECTIVE: "P", CameraModel.ORTHOGONAL: "O"}
ENTRY = Qt.ItemDataRole.UserRole
HINT = "Drop a file or folder here\nor Open (Ctrl+O)"


class _Tree(QTreeWidget):
    """Emits `returned` on Return; `itemActivated` would also be emitted by a double click."""

    returned = pyqtSignal(QTreeWidgetItem)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        assert event is not None
        row = self.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row is not None:
            self.returned.emit(row)
        else:
            super().keyPressEvent(event)


class _Cell(QStyledItemDelegate):
    """A cell that shows whether its sequence is open, however the row is selected."""

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        super().initStyleOption(option, index)
        assert option is not None
        option.state &= ~(QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus)


class SequenceTree(Themed, QWidget):
    """A tree of object > path with a cell for each camera; a click on a name, a cell, or Return opens it."""

    sequence_requested = pyqtSignal(object)  # a SequenceEntry

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[SequenceEntry, ...] = ()
        self._current: SequenceEntry | None = None
        self._filter = QLineEdit()
        self._filter.setPlaceholderText("Filter")
        self._filter.setAccessibleName("Filter the sequences")
        self._filter.setToolTip("Show the sequences whose object, path or camera contains these words")
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(self._apply_filter)
        self._tree = _Tree()
        self._tree.setAccessibleName("Sequences")
        self._tree.setToolTip(
            "Click a name to open its sequence. P: with a perspective camera; O: with an orthogonal one"
        )
        self._build_tree()
        self._hint = QLabel(HINT)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._hint.setWordWrap(True)
        self._hint.setProperty("role", "muted")
        listing = QWidget()
        column = QVBoxLayout(listing)
        column.setContentsMargins(6, 6, 6, 0)
        column.setSpacing(6)
        column.addWidget(self._filter)
        column.addWidget(self._tree)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._hint)
        self._stack.addWidget(listing)
        self._follow_theme()

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        return QSize(220, 320)

    # Setters

    def set_entries(self, entries: Collection[SequenceEntry]) -> None:
        """List these; an empty list shows what to do instead."""
        self._entries = tuple(entries)
        self._stack.setCurrentIndex(1 if self._entries else 0)
        self._fill()

    def set_current(self, entry: SequenceEntry | None) -> None:
        """Mark the sequence that is open."""
        self._current = entry
        self._paint_cells()

    def _apply_theme(self, _theme: Theme) -> None:
        self._paint_cells()

    # Construction

    def _build_tree(self) -> None:
        tree = self._tree
        tree.setColumnCount(3)
        tree.setHeaderLabels(["Sequence", "P", "O"])
        head = tree.headerItem()
        assert head is not None  # setHeaderLabels made it
        for camera, column in COLUMNS.items():
            head.setToolTip(column, f"{camera.value} camera")
            head.setTextAlignment(column, Qt.AlignmentFlag.AlignCenter)
        header = tree.header()
        assert header is not None  # a tree has one
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(28)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in COLUMNS.values():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, 32)
        tree.setIndentation(14)
        tree.setUniformRowHeights(True)
        tree.setExpandsOnDoubleClick(False)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.itemClicked.connect(self._on_item_clicked)
        tree.returned.connect(self._open)
        cell = _Cell(tree)
        for column in COLUMNS.values():
            tree.setItemDelegateForColumn(column, cell)

    def _fill(self) -> None:
        self._tree.clear()
        objects: dict[str, QTreeWidgetItem] = {}
        rows: dict[tuple[str, str], QTreeWidgetItem] = {}
        paths = {(entry.object_name, entry.path_name) for entry in self._entries}
        for entry in self._entries:
            key = (entry.object_name, entry.path_name)
            if key not in rows:
                alone = not entry.path_name and sum(name == entry.object_name for name, _ in paths) == 1
                if alone:
                    rows[key] = QTreeWidgetItem(self._tree, [entry.object_name])
                else:
                    if entry.object_name not in objects:
                        objects[entry.object_name] = _object_row(self._tree, entry.object_name)
                    name = entry.path_name or entry.file.name
                    rows[key] = QTreeWidgetItem(objects[entry.object_name], [name])
            self._fill_cell(rows[key], entry)
        for row in objects.values():
            row.setExpanded(len(objects) == 1)
        self._paint_cells()
        self._apply_filter(self._filter.text())

    def _fill_cell(self, row: QTreeWidgetItem, entry: SequenceEntry) -> None:
        camera = entry.camera or CameraModel.PERSPECTIVE  # of a broken file it may be unknown
        column = COLUMNS[camera]
        row.setText(column, "!" if entry.problem else LETTERS[camera])
        row.setTextAlignment(column, Qt.AlignmentFlag.AlignCenter)
        row.setData(column, ENTRY, entry)
        tip = entry.problem or f"{entry.frames} frames × {entry.points} points"
        row.setToolTip(column, f"{describe(entry)}\n{tip}" + ("" if entry.problem else "\nClick to open"))
        if not entry.problem:
            row.setToolTip(0, f"{entry.frames} frames × {entry.points} points")

    def _paint_cells(self) -> None:
        current = None if self._current is None else (self._current.file, self._current.camera)
        for row in self._rows():
            opened = False
            for column in COLUMNS.values():
                entry = row.data(column, ENTRY)
                if entry is None:
                    continue
                here = (entry.file, entry.camera) == current
                opened = opened or here
                color = self._theme.warning if entry.problem else self._theme.accent
                row.setForeground(column, QBrush(qcolor("#ffffff" if here else color)))
                row.setBackground(column, QBrush(qcolor(color)) if here else QBrush())
            font = row.font(0)
            font.setBold(opened)
            row.setFont(0, font)
            if opened and row.parent() is not None:
                row.parent().setExpanded(True)  # type: ignore[union-attr]
            if opened and not row.isSelected():
                self._tree.setCurrentItem(row)  # keyboard navigation starts there

    def _rows(self) -> list[QTreeWidgetItem]:
        found = []
        for k in range(self._tree.topLevelItemCount()):
            top = self._tree.topLevelItem(k)
            assert top is not None  # k is below the count
            found += [top, *(top.child(j) for j in range(top.childCount()))]
        return [row for row in found if row is not None]

    # Handlers

    def _apply_filter(self, text: str) -> None:
        words = text.lower().split()
        for k in range(self._tree.topLevelItemCount()):
            top = self._tree.topLevelItem(k)
            assert top is not None  # k is below the count
            children = [child for j in range(top.childCount()) if (child := top.child(j)) is not None]
            for row in children:
                row.setHidden(not _matches(row, words))
            if children:
                shown = any(not row.isHidden() for row in children)
                top.setHidden(not shown)
                if words and shown:
                    top.setExpanded(True)
            else:
                top.setHidden(not _matches(top, words))

    def _on_item_clicked(self, row: QTreeWidgetItem, column: int) -> None:
        entry = row.data(column, ENTRY) if column else None
        if entry is not None:
            self.sequence_requested.emit(entry)
        elif row.childCount():
            row.setExpanded(not row.isExpanded())
        elif not row.font(0).bold():  # a click on what is open changes nothing
            self._open(row)

    def _open(self, row: QTreeWidgetItem) -> None:
        """Open the first sequence of a row: perspective first."""
        entry = next((row.data(c, ENTRY) for c in COLUMNS.values() if row.data(c, ENTRY) is not None), None)
        if entry is not None:
            self.sequence_requested.emit(entry)


def describe(entry: SequenceEntry) -> str:
    """Return object, path and camera as text."""
    camera = "" if entry.camera is None else entry.camera.value
    return " · ".join(part for part in (entry.object_name, entry.path_name, camera) if part)


def _object_row(tree: QTreeWidget, name: str) -> QTreeWidgetItem:
    row = QTreeWidgetItem(tree, [name])
    row.setFirstColumnSpanned(False)
    return row


def _matches(row: QTreeWidgetItem, words: list[str]) -> bool:
    text = " ".join(
        describe(entry).lower()
        for column in COLUMNS.values()
        if (entry := row.data(column, ENTRY)) is not None
    )
    return all(word in text for word in words)
