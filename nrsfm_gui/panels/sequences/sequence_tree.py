"""The tree of sequences and runs: object, camera path with a cell per camera, and the runs below it.

Rows stay in the order in which they came. A sequence of the session that is in no list, like the tracks of a
video, has a row of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from PyQt6.QtCore import QModelIndex, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QKeyEvent, QMouseEvent, QResizeEvent
from PyQt6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
)

from core import CameraModel, Sequence, SequenceEntry
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.sequences.row_delegate import COUNT, RUN, SEQUENCE, SHOWN, RowDelegate
from nrsfm_gui.text.run_rows import RunRow, SequenceRow
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.labels import known, plain_tip
from nrsfm_gui.widgets.style import Themed
from nrsfm_gui.widgets.tables import prepare_tree

COLUMNS = {CameraModel.PERSPECTIVE: 1, CameraModel.ORTHOGONAL: 2}
LETTERS = {CameraModel.PERSPECTIVE: "P", CameraModel.ORTHOGONAL: "O"}
ENTRY = Qt.ItemDataRole.UserRole  # the SequenceEntry of a cell
CELL_WIDTH = 32  # pixels
INDENTATION = 10  # pixels: "recommended" fits below object and path in a dock of the usual width


class _Cell(QStyledItemDelegate):
    """A cell that shows whether its sequence is open, however the row is selected."""

    def initStyleOption(self, option: QStyleOptionViewItem | None, index: QModelIndex) -> None:
        super().initStyleOption(option, index)
        known(option).state &= ~(QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus)


class SequenceTree(Themed, QTreeWidget):
    """Sequences with their runs; a click on a name, a cell or a run, or Return opens it."""

    GESTURES = (
        ("Click, Return", "open a sequence, or show a run"),
        ("Ctrl+click", "compare a run with the one that is shown"),
        ("F4, Delete", "rename or forget a run; Delete removes a sequence from the list"),
        ("Right click", "all that can be done with a run or a sequence"),
    )

    sequence_requested = pyqtSignal(object)  # a sequence of the list
    run_requested = pyqtSignal(int)  # a run of the open sequence that was chosen, or clicked with Ctrl held
    compare_requested = pyqtSignal(int)
    # A sequence that the session holds, but that is not open, and the run to show, -1 for none of them.
    left_requested = pyqtSignal(object, int)
    delete_requested = pyqtSignal(object, int)  # a run that is to be forgotten
    # Tuples of `SequenceEntry` and of `Sequence`, which are to be removed from the list.
    remove_requested = pyqtSignal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[SequenceRow, ...] = ()
        self.shown: int | None = None  # the run of the open sequence that is shown
        self._entries: tuple[SequenceEntry, ...] = ()
        self._of_file: dict[Path | None, list[SequenceEntry]] = {}
        self._tops: dict[Path, tuple[list[SequenceEntry], QTreeWidgetItem]] = {}  # an object, or a file
        self._paths: dict[tuple[Path, str], QTreeWidgetItem] = {}  # the rows of what can be opened
        self._others: list[QTreeWidgetItem] = []  # the rows of sequences that are in no list
        self._words: tuple[str, ...] = ()  # of the filter
        self.setAccessibleName("Sequences and runs")
        self.setColumnCount(3)
        self.setHeaderLabels(["Sequence", "P", "O"])
        cell, row = _Cell(self), RowDelegate(self)
        self.setItemDelegateForColumn(0, row)
        head, header = known(self.headerItem()), prepare_tree(self)
        header.setMinimumSectionSize(28)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for camera, column in COLUMNS.items():
            head.setToolTip(column, f"{camera.value} camera")
            head.setTextAlignment(column, Qt.AlignmentFlag.AlignCenter)
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, CELL_WIDTH)
            self.setItemDelegateForColumn(column, cell)
        self.setIndentation(INDENTATION)
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.itemClicked.connect(self._on_item_clicked)
        self.itemDoubleClicked.connect(self._on_item_double_clicked)
        self.currentItemChanged.connect(self._on_current_item_changed)
        self.change_requested = row.change_requested
        self._follow_theme()

    def set_entries(self, entries: Collection[SequenceEntry]) -> None:
        """List these sequences; those of the session stay."""
        self._entries = tuple(entries)
        self._of_file = {}
        for entry in self._entries:
            self._of_file.setdefault(entry.file, []).append(entry)
        self._fill_entries()
        self._fill_session(everything=True)

    def set_rows(self, rows: Collection[SequenceRow], shown: int | None) -> None:
        """Show the sequences of the session, the open one first, with their runs, and which run is shown."""
        before = self.open
        current = self.currentItem()
        held = None if current is None else (current.data(0, SEQUENCE), current.data(0, RUN))
        changed = shown != self.shown
        self.rows, self.shown = tuple(rows), shown
        self._fill_session()
        self.blockSignals(True)
        opened = self.open is not None and (before is None or self.open.sequence is not before.sequence)
        if self.open is not None and (opened or changed):
            found = None if shown is None else self.item(shown)
            item = found or self._row_of(self.open.sequence)
            self.setCurrentItem(item)
            if item is not None:
                self.scrollToItem(item)
        elif held is not None and held[1] is not None:  # its row may have been made anew
            found = self.item(held[1].number, held[0])
            if found is not self.currentItem():
                self.setCurrentItem(found)
        self.blockSignals(False)

    def set_filter(self, text: str) -> None:
        """Show the rows with these words in object, path, camera, name, number or note."""
        self._words = tuple(text.lower().split())
        self._apply_filter()

    @property
    def open(self) -> SequenceRow | None:
        """The open sequence."""
        return next((row for row in self.rows if row.open), None)

    def row(self, number: int | None) -> RunRow | None:
        """Return a run of the open sequence."""
        runs = () if self.open is None else self.open.runs
        return next((run for run in runs if run.number == number), None)

    def item(self, number: int, sequence: Sequence | None = None) -> QTreeWidgetItem | None:
        """Return the row of a run, of the open sequence where none is given."""
        if sequence is None and self.open is not None:
            sequence = self.open.sequence
        row = None if sequence is None else self._row_of(sequence)
        for child in () if row is None else _children(row):
            if child.data(0, SEQUENCE) is sequence and child.data(0, RUN).number == number:
                return child
        return None

    def rename(self, item: QTreeWidgetItem) -> None:
        """Edit the name of a run in its row."""
        self.scrollToItem(item)
        self.editItem(item, 0)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the chosen row in view: the note below the list takes room when a run is shown."""
        super().resizeEvent(event)
        self.scrollToItem(self.currentItem())

    def number_of(self, item: QTreeWidgetItem | None) -> int:
        """Return the number of a run of the open sequence, -1 for every other row."""
        if item is None or item.data(0, RUN) is None or not self.is_open(item.data(0, SEQUENCE)):
            return -1
        return int(item.data(0, RUN).number)

    def entries_of(self, item: QTreeWidgetItem) -> tuple[SequenceEntry, ...]:
        """Return what a row of the list can open: of an object all of it, of a run nothing."""
        cells = (item.data(column, ENTRY) for column in COLUMNS.values())
        below = [entry for child in _children(item) for entry in self.entries_of(child)]
        return (*(entry for entry in cells if entry is not None), *below)

    def sequences_of(self, item: QTreeWidgetItem) -> tuple[Sequence, ...]:
        """Return what the session holds of a row of the list."""
        entries = self.entries_of(item)
        return tuple(
            row.sequence
            for row in self.rows
            if item.data(0, SEQUENCE) is row.sequence or self._entry_of(row.sequence) in entries
        )

    def _apply_theme(self, _theme: Theme) -> None:
        self._mark_open()

    # -- the list -------------------------------------------------------------------------------------------

    def _fill_entries(self) -> None:
        """Make the rows of what is listed; those of an object that is listed as before stay as they are."""
        self.blockSignals(True)
        wanted: dict[Path, list[SequenceEntry]] = {}
        for entry in self._entries:
            wanted.setdefault(entry.place, []).append(entry)
        old = {place: top for place, (there, top) in self._tops.items() if wanted.get(place) != there}
        following: QTreeWidgetItem | None = None
        for place, entries in reversed(wanted.items()):
            if place not in self._tops or place in old:
                top, before = QTreeWidgetItem(), old.get(place)
                behind = before or following
                end = self.topLevelItemCount()
                self.insertTopLevelItem(end if behind is None else self.indexOfTopLevelItem(behind), top)
                self._fill_object(top, place, entries)
                top.setExpanded(len(wanted) == 1 if before is None else before.isExpanded())
            following = self._tops[place][1]
        for place, top in old.items():
            self.takeTopLevelItem(self.indexOfTopLevelItem(top))
            if place not in wanted:
                del self._tops[place]
        rows = {(entry.place, entry.path_name) for entry in self._entries}
        self._paths = {key: item for key, item in self._paths.items() if key in rows}
        self._name_objects()
        self.blockSignals(False)

    def _fill_object(self, top: QTreeWidgetItem, place: Path, entries: list[SequenceEntry]) -> None:
        self._tops[place] = entries, top
        rows: dict[str, QTreeWidgetItem] = {}
        for entry in entries:
            if entry.path_name not in rows:
                rows[entry.path_name] = QTreeWidgetItem(top, [entry.path_name]) if entry.path_name else top
            self._fill_cell(rows[entry.path_name], entry)
        self._paths |= {(place, name): row for name, row in rows.items()}

    def _name_objects(self) -> None:
        """Write the folder beside what has the name of something else in the list."""
        count = Counter(entries[0].object_name for entries, _top in self._tops.values())
        for place, (entries, top) in self._tops.items():
            name = entries[0].object_name
            text = name if count[name] == 1 else f"{name} ({place.parent.name})"
            if top.text(0) != text:
                top.setText(0, text)
            if entries[0].path_name:
                top.setToolTip(0, plain_tip(str(place)))

    def _fill_cell(self, row: QTreeWidgetItem, entry: SequenceEntry) -> None:
        camera = entry.camera or CameraModel.PERSPECTIVE  # of a broken file it may be unknown
        column = COLUMNS[camera]
        row.setText(column, "!" if entry.problem else LETTERS[camera])
        row.setTextAlignment(column, Qt.AlignmentFlag.AlignCenter)
        row.setData(column, ENTRY, entry)
        tip = entry.problem or f"{entry.frames} frames × {entry.points} points"
        click = "" if entry.problem else "\nClick to open"
        row.setToolTip(column, plain_tip(f"{describe(entry)}\n{tip}{click}"))
        if not entry.problem:
            row.setToolTip(0, plain_tip(f"{entry.frames} frames × {entry.points} points\n{entry.file}"))

    def _entry_of(self, sequence: Sequence) -> SequenceEntry | None:
        found = self._of_file.get(sequence.source, [])
        return next(
            (entry for entry in found if entry.camera is sequence.camera), found[0] if found else None
        )

    # -- what the session holds -----------------------------------------------------------------------------

    def _fill_session(self, *, everything: bool = False) -> None:
        """Add the rows of the session to those of the list; touches only what changed."""
        self.blockSignals(True)
        groups: dict[int, tuple[QTreeWidgetItem, list[SequenceRow]]] = {}
        for row in self.rows:
            item = self._row_of(row.sequence) or self._add_other(row.sequence)
            groups.setdefault(id(item), (item, []))[1].append(row)
        for item in [*self._paths.values(), *self._others]:
            if id(item) in groups:
                self._fill_runs(item, groups[id(item)][1])
            elif item in self._others:
                self._others.remove(item)
                self.takeTopLevelItem(self.indexOfTopLevelItem(item))
            elif item.childCount() or item.data(0, COUNT):
                self._fill_runs(item, [])
        self._mark_open()
        self.blockSignals(False)
        if self._words or everything:
            self._apply_filter()

    def _row_of(self, sequence: Sequence) -> QTreeWidgetItem | None:
        entry = self._entry_of(sequence)
        if entry is not None:
            return self._paths[entry.place, entry.path_name]
        return next((item for item in self._others if item.data(0, SEQUENCE) is sequence), None)

    def _add_other(self, sequence: Sequence) -> QTreeWidgetItem:
        item = QTreeWidgetItem([sequence.name])
        column = COLUMNS[sequence.camera]
        item.setText(column, LETTERS[sequence.camera])
        item.setTextAlignment(column, Qt.AlignmentFlag.AlignCenter)
        item.setData(0, SEQUENCE, sequence)
        size = f"{sequence.frame_count} frames × {sequence.point_count} points"
        item.setToolTip(0, plain_tip(f"{size}\n{sequence.source or 'not saved in a file'}"))
        self.addTopLevelItem(item)
        self._others.append(item)
        return item

    def _fill_runs(self, item: QTreeWidgetItem, rows: list[SequenceRow]) -> None:
        """Show the runs of the sequences of a row: those of both cameras where both have some."""
        rows = sorted(rows, key=lambda row: COLUMNS[row.sequence.camera])  # whichever is open
        wanted = [(row, run) for row in rows for run in row.runs]
        several = len({row.sequence.camera for row, _run in wanted}) > 1
        there = [(child.data(0, SEQUENCE), child.data(0, RUN).number) for child in _children(item)]
        if [(row.sequence, run.number) for row, run in wanted] != there:
            first = not item.childCount()
            item.takeChildren()
            item.addChildren([QTreeWidgetItem() for _run in wanted])
            item.setData(0, COUNT, len(wanted))
            if first and wanted:
                self._expand(item)
        for child, (row, run) in zip(_children(item), wanted, strict=True):
            camera = f"{row.sequence.camera.value} camera\n" if several else ""
            shown = row.open and run.number == self.shown
            before = child.data(0, SEQUENCE), child.data(0, RUN), child.data(0, SHOWN)
            if before != (row.sequence, run, shown):
                name = f"{run.name} {run.origin}" if run.origin else run.name
                child.setText(0, f"{LETTERS[row.sequence.camera]} {name}" if several else name)
                child.setToolTip(0, plain_tip(camera + run.tip))
                child.setData(0, SEQUENCE, row.sequence)
                child.setData(0, SHOWN, shown)
                child.setData(0, RUN, run)
                child.setFlags(child.flags() | Qt.ItemFlag.ItemIsEditable)
                child.setFirstColumnSpanned(True)

    def _expand(self, item: QTreeWidgetItem | None) -> None:
        while item is not None:
            item.setExpanded(True)
            item = item.parent()

    def _mark_open(self) -> None:
        opened = None if self.open is None else self.open.sequence
        entry = None if opened is None else self._entry_of(opened)
        for item in [*self._paths.values(), *self._others]:
            here = opened is not None and item.data(0, SEQUENCE) is opened
            for column in COLUMNS.values():
                cell = item.data(column, ENTRY)
                lit = here and bool(item.text(column)) if cell is None else cell == entry
                here = here or lit
                color = self._theme.warning if cell is not None and cell.problem else self._theme.accent
                foreground = QBrush(qcolor("#ffffff" if lit else color))
                background = QBrush(qcolor(color)) if lit else QBrush()
                if item.foreground(column) != foreground or item.background(column) != background:
                    item.setForeground(column, foreground)
                    item.setBackground(column, background)
            font = item.font(0)
            if font.bold() != here:
                font.setBold(here)
                item.setFont(0, font)
                if here:
                    self._expand(item.parent())

    def is_open(self, sequence: Sequence | None) -> bool:
        """Return whether a sequence is the open one."""
        return self.open is not None and sequence is self.open.sequence

    # -- the filter -----------------------------------------------------------------------------------------

    def _apply_filter(self) -> None:
        for item in [*self._paths.values(), *self._others]:
            matches = self._matches(_text_of(item))
            found = False
            for child in _children(item):
                run = child.data(0, RUN)
                texts = _text_of(item), child.text(0), str(run.number), run.note
                child.setHidden(not self._matches(" ".join(texts)))
                found = found or not child.isHidden()
            item.setHidden(not (matches or found))
            if self._words and found and not matches:
                item.setExpanded(True)
        for _entries, top in self._tops.values():
            if top not in self._paths.values():
                shown = any(not row.isHidden() for row in _children(top))
                top.setHidden(not shown)
                if self._words and shown:
                    top.setExpanded(True)

    def _matches(self, text: str) -> bool:
        return all(word in text.lower() for word in self._words)

    # -- the mouse and the keyboard -------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Compare where Ctrl is held on a run, else select; the right button opens a menu."""
        assert event is not None
        if event.button() == Qt.MouseButton.RightButton:
            return  # its menu is of the row under the mouse, and offers to show it
        number = self.number_of(self.itemAt(event.position().toPoint()))
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if number >= 0 and held and event.button() == Qt.MouseButton.LeftButton:
            self.compare_requested.emit(number)
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Open, rename or remove the row; `itemActivated` would also be emitted by a double click."""
        assert event is not None
        item = self.currentItem()
        row = None if item is None else item.data(0, RUN)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and item is not None:
            if self.state() is not self.State.EditingState:  # the field of a name passes Return on
                self._open(item)
        elif event.key() == Qt.Key.Key_F4 and item is not None and row is not None:
            self.rename(item)
        elif event.key() == Qt.Key.Key_Delete and item is not None:
            if row is None:
                self.remove_requested.emit(self.entries_of(item), self.sequences_of(item))
            else:
                self.delete_requested.emit(item.data(0, SEQUENCE), row.number)
        else:
            super().keyPressEvent(event)

    def _on_current_item_changed(self, item: QTreeWidgetItem | None) -> None:
        number = self.number_of(item)
        if number >= 0:
            self.run_requested.emit(number)

    def _on_item_clicked(self, item: QTreeWidgetItem, column: int) -> None:
        entry = item.data(column, ENTRY) if column else None
        if entry is not None:
            self.sequence_requested.emit(entry)
        elif item.data(0, RUN) is not None:
            self._open(item)
        elif item in self._others or item in self._paths.values():
            if not item.font(0).bold():  # a click on what is open changes nothing
                self._open(item)
        else:
            item.setExpanded(not item.isExpanded())

    def _on_item_double_clicked(self, item: QTreeWidgetItem, _column: int) -> None:
        if self.number_of(item) >= 0:
            self.rename(item)

    def _open(self, item: QTreeWidgetItem) -> None:
        """Open a row: of cells the perspective one first."""
        run, sequence = item.data(0, RUN), item.data(0, SEQUENCE)
        entry = next((item.data(c, ENTRY) for c in COLUMNS.values() if item.data(c, ENTRY) is not None), None)
        if self.number_of(item) >= 0:
            if run.number != self.shown:
                self.run_requested.emit(run.number)
        elif sequence is not None:
            self.left_requested.emit(sequence, -1 if run is None else run.number)
        elif entry is not None:
            self.sequence_requested.emit(entry)


def describe(entry: SequenceEntry) -> str:
    """Return object, path and camera as text."""
    camera = "" if entry.camera is None else entry.camera.value
    return " · ".join(part for part in (entry.object_name, entry.path_name, camera) if part)


def _children(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for k in range(item.childCount()):
        child = item.child(k)
        if child is not None:
            yield child


def _text_of(item: QTreeWidgetItem) -> str:
    entries = (item.data(column, ENTRY) for column in COLUMNS.values())
    return " ".join([item.text(0), *(describe(entry) for entry in entries if entry is not None)])
