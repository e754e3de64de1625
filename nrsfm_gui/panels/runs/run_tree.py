"""The table of runs: a row per run with marks, a name that can be edited, and numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QBrush, QColor, QIcon, QPainter, QPixmap
from PyQt6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.widgets.icons import paint_icon
from nrsfm_gui.widgets.style import Themed, faint_text

if TYPE_CHECKING:
    from PyQt6.QtGui import QMouseEvent, QResizeEvent

    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.text.run_rows import RunRow

COLUMNS = ("#", "run", "K", "log10", "px", "error")
NAME, LOSS = COLUMNS.index("run"), COLUMNS.index("log10")
TIPS = (
    "number of the run, and the color of its curve in the plot of the loss",
    "your name of the run, or preset, or method and penalty; F4 or a double click to rename",
    "rank",
    "base-10 logarithm of the loss; faint where its objective is another one than that of the run shown",
    "root mean square reprojection error, in the units of the tracks",
    "mean 3-D error after the alignment that is chosen",
)
NEEDED_WIDTH = {"K": 240, "log10": 300, "px": 330}  # pixels of width below which the names need the space
FEW = 6  # lines that are changed one by one
NUMBER = Qt.ItemDataRole.UserRole
MARK_HEIGHT = 16  # pixels
SWATCH, MARK = 9.0, 13.0  # pixels of width of the curve's color and of a mark, each with the gap after it
MARK_SIDE = 13.12  # pixels of the drawing of a mark
SELECTED_INK = "#ffffff"  # on the accent of either theme
PIXEL_RATIOS = (1, 2, 3)


class RunTree(Themed, QTreeWidget):
    """A table whose names are edited only through `rename`.

    Signals
    -------
    run_requested(int), compare_requested(int)
        the number of a run that was selected, or clicked with Ctrl held.
    title_changed(int, str)
        a run, and what was written in place of its name.
    """

    run_requested = pyqtSignal(int)
    compare_requested = pyqtSignal(int)
    title_changed = pyqtSignal(int, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[RunRow, ...] = ()
        self.shown: int | None = None
        self._renamed = -1  # the run whose name is being edited
        self.setAccessibleName("Runs")
        self.setHeaderLabels(list(COLUMNS))
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAlternatingRowColors(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setAllColumnsShowFocus(True)
        self.setEditTriggers(QTreeWidget.EditTrigger.NoEditTriggers)
        header, head = self.header(), self.headerItem()
        assert header is not None and head is not None
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(20)
        modes = QHeaderView.ResizeMode
        for column, tip in enumerate(TIPS):
            header.setSectionResizeMode(column, modes.Stretch if column == NAME else modes.ResizeToContents)
            head.setToolTip(column, tip)
            if column != NAME:
                head.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.currentItemChanged.connect(self._on_current_item_changed)
        self.itemChanged.connect(self._on_item_changed)
        delegate = self.itemDelegate()
        assert delegate is not None
        delegate.closeEditor.connect(lambda *_: self._on_editor_closed())
        self.itemDoubleClicked.connect(lambda item, _column: self.rename(number_of(item)))
        self._follow_theme()

    # -- setters --------------------------------------------------------------------------------------------

    def set_rows(self, rows: tuple[RunRow, ...], shown: int | None) -> None:
        """Show the runs in the order given and mark the one that is shown; touches only what changed."""
        self.blockSignals(True)
        before, front = self.rows, self.shown
        self.rows, self.shown = rows, shown
        self._fit_columns()
        self.setIconSize(QSize(mark_width(max((row.marks for row in rows), default=0)), 16))
        same = [row.number for row in rows] == [row.number for row in before]
        changed = [
            index
            for index, row in enumerate(rows)
            if not same or row != before[index] or (shown != front and row.number in (shown, front))
        ]
        if not same or (len(changed) > FEW and self.state() != QTreeWidget.State.EditingState):
            self._fill_all()
        else:
            for index in changed:
                item = self.topLevelItem(index)
                assert item is not None  # there are as many as rows
                self._fill(item, rows[index])
        current = None if shown is None else self._item(shown)
        if self.currentItem() is not current:
            self.setCurrentItem(current)
        self.blockSignals(False)

    def _apply_theme(self, _theme: Theme) -> None:
        self.blockSignals(True)
        self._fill_all()
        self.setCurrentItem(None if self.shown is None else self._item(self.shown))
        self.blockSignals(False)

    def rename(self, number: int) -> None:
        """Edit the name of a run in its line."""
        item = self._item(number)
        if item is not None:
            row = self.row(number)
            assert row is not None  # it has a line
            self._renamed = number
            self.blockSignals(True)
            item.setText(NAME, row.name)
            self.blockSignals(False)
            self.editItem(item, NAME)

    def row(self, number: int | None) -> RunRow | None:
        """Return the line of a run."""
        return next((row for row in self.rows if row.number == number), None)

    # -- drawing --------------------------------------------------------------------------------------------

    def _fill_all(self) -> None:
        """Make all lines anew: a view that is seen measures its columns after every change of a line."""
        bar = self.verticalScrollBar()
        place = 0 if bar is None else bar.value()
        self.clear()
        items = [QTreeWidgetItem() for _row in self.rows]
        for item, row in zip(items, self.rows, strict=True):
            self._fill(item, row)
        self.addTopLevelItems(items)
        if bar is not None:
            bar.setValue(place)

    def _fill(self, item: QTreeWidgetItem, row: RunRow) -> None:
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        name = f"{row.name} {row.origin}" if row.origin else row.name
        texts = (str(row.number), name, row.rank, row.loss, row.reprojection, row.error)
        for column, text in enumerate(texts):
            if column == NAME and self._edits(row):
                continue  # it would overwrite the text in the editor
            item.setText(column, text)
            item.setToolTip(column, row.tip)
            item.setForeground(column, QBrush())
            if column != NAME:
                item.setTextAlignment(column, right)
        if row.why_other_loss:
            item.setForeground(LOSS, QColor(faint_text(self._theme)))
        if row.compared and not self._edits(row):
            item.setForeground(NAME, QColor(self._theme.other))
        if not item.flags() & Qt.ItemFlag.ItemIsEditable:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        item.setData(0, NUMBER, row.number)
        item.setIcon(0, mark_icon(self._color(row), self._theme, pinned=row.pinned, noted=bool(row.note)))

    def _edits(self, row: RunRow) -> bool:
        return row.number == self._renamed and self.state() == QTreeWidget.State.EditingState

    def _color(self, row: RunRow) -> str:
        if row.compared:
            return self._theme.other
        runs = self._theme.runs
        return self._theme.accent if row.number == self.shown else runs[row.number % len(runs)]

    def _item(self, number: int) -> QTreeWidgetItem | None:
        items = (self.topLevelItem(index) for index in range(len(self.rows)))
        return next((item for item in items if item is not None and number_of(item) == number), None)

    # -- requests --------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Compare where Ctrl is held, else select; the right button opens a menu."""
        assert event is not None
        item = self.itemAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.RightButton:
            return  # its menu is of the run under the mouse, and offers to show it
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if item is not None and held and event.button() == Qt.MouseButton.LeftButton:
            self.compare_requested.emit(number_of(item))
            return
        super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Hide columns where there is little space."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Hide columns where there is little space; the tip has them.

        Of loss and errors the last one that is known stays: without truth the reprojection error.
        """
        hidden = {name: self.width() < width for name, width in NEEDED_WIDTH.items()}
        hidden["error"] = False
        if hidden["px"] and self.rows and all(row.error == NONE for row in self.rows):
            hidden |= {"px": False, "error": True}
        for name, out in hidden.items():
            if self.isColumnHidden(COLUMNS.index(name)) != out:
                self.setColumnHidden(COLUMNS.index(name), out)

    def _on_current_item_changed(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.run_requested.emit(number_of(item))

    def _on_editor_closed(self) -> None:
        """Restore the row where a name was not changed."""
        item, row = self._item(self._renamed), self.row(self._renamed)
        self._renamed = -1
        if item is not None and row is not None:
            self.blockSignals(True)
            self._fill(item, row)
            self.blockSignals(False)

    def _on_item_changed(self, item: QTreeWidgetItem, column: int) -> None:
        row = self.row(number_of(item))
        if column != NAME or row is None or row.number != self._renamed:
            return
        self._renamed = -1
        text = item.text(NAME).strip()
        self.blockSignals(True)
        self._fill(item, row)  # what comes of it comes back as a row
        self.blockSignals(False)
        if text != row.name:
            self.title_changed.emit(row.number, text)


def number_of(item: QTreeWidgetItem) -> int:
    """Return the number of the run of a line."""
    return int(item.data(0, NUMBER))


def mark_width(marks: int) -> int:
    """Return the width in pixels of the color of a curve with so many marks after it."""
    return round(SWATCH + MARK * marks)


@lru_cache(maxsize=64)
def mark_icon(color: str, theme: Theme, *, pinned: bool, noted: bool) -> QIcon:
    """Return the color of a run's curve, followed by a pin and a note where the run has them."""
    marks = [name for name, present in (("pin", pinned), ("note", noted)) if present]
    result = QIcon()
    for mode, ink in ((QIcon.Mode.Normal, theme.text), (QIcon.Mode.Selected, SELECTED_INK)):
        for ratio in PIXEL_RATIOS:
            result.addPixmap(_mark_picture(color, ink, ratio, marks), mode)
    return result


def _mark_picture(color: str, ink: str, ratio: int, marks: list[str]) -> QPixmap:
    picture = QPixmap(mark_width(len(marks)) * ratio, MARK_HEIGHT * ratio)
    picture.fill(Qt.GlobalColor.transparent)
    picture.setDevicePixelRatio(ratio)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawRoundedRect(QRectF(0, 5.5, 8, 5), 1.5, 1.5)
    for place, name in enumerate(marks):
        x, y = SWATCH + MARK * place, (MARK_HEIGHT - MARK_SIDE) / 2
        paint_icon(painter, name, QRectF(x, y, MARK_SIDE, MARK_SIDE), ink)
    painter.end()
    return picture
