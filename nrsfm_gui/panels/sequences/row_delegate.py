"""How a row of the tree is painted: a sequence with the number of its runs, or a run with its badge."""

from __future__ import annotations

from PyQt6.QtCore import QAbstractItemModel, QModelIndex, QObject, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PyQt6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from core import Sequence
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.text.run_rows import RunRow
from nrsfm_gui.widgets.icons import paint_icon
from nrsfm_gui.widgets.style import faint_text, theme_of

RUN = Qt.ItemDataRole.UserRole + 1  # a RunRow
SHOWN = Qt.ItemDataRole.UserRole + 2  # whether it is the run that is shown
COUNT = Qt.ItemDataRole.UserRole + 3  # of the runs of a sequence
SEQUENCE = Qt.ItemDataRole.UserRole + 4  # of a run, or of a row that is in no list
MARK = 13  # pixels of a pin and of a note
GAP = 6  # pixels between the parts of a row
LOSS_WIDTH = 260  # pixels of a row that has room for the loss, too
LIGHT_INK, DARK_INK, HALF = "#ffffff", "#101215", 0.5  # of a badge, by the lightness of its color


class RowDelegate(QStyledItemDelegate):
    """Paints the first column, and edits the name of a run without its numbers."""

    # The sequence and the number of a run, None for the open one, and what of it is to be changed.
    change_requested = pyqtSignal(object, int, dict)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._edited: tuple[Sequence, RunRow] | None = None  # the run whose name is being edited

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Paint a row: what the style paints without the text, then the parts."""
        assert painter is not None and option.widget is not None
        view = QStyleOptionViewItem(option)
        self.initStyleOption(view, index)
        text, view.text = view.text or "", ""
        style = option.widget.style()
        assert style is not None
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, view, painter, option.widget)
        painter.save()
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        area = view.rect.adjusted(3, 0, -4, 0)
        row, theme = index.data(RUN), theme_of(view.palette)
        if row is None:
            self._paint_sequence(painter, area, view.font, text, index, theme)
        else:
            self._paint_run(painter, area, view.font, row, bool(index.data(SHOWN)), theme)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return the size of a row, which is higher than its text by a margin for the badges."""
        hint = super().sizeHint(option, index)
        return QSize(hint.width(), max(hint.height(), QFontMetrics(option.font).height() + 6))

    # -- painting -------------------------------------------------------------------------------------------

    def _paint_sequence(
        self, painter: QPainter, area: QRect, font: QFont, text: str, index: QModelIndex, theme: Theme
    ) -> None:
        count = index.data(COUNT) or 0
        room = _badge_width(font, str(count)) + GAP if count else 0
        used = _paint_text(painter, area.adjusted(0, 0, -room, 0), text, font, theme.text)
        if count:
            place = area.adjusted(used + GAP, 0, 0, 0)
            _paint_badge(painter, place, str(count), font, theme.raised, theme.muted)

    def _paint_run(
        self, painter: QPainter, area: QRect, font: QFont, row: RunRow, shown: bool, theme: Theme
    ) -> None:
        color = badge_color(row, theme, shown=shown)
        ink = DARK_INK if QColor(color).lightnessF() > HALF else LIGHT_INK
        left = area.left() + _paint_badge(painter, area, str(row.number), font, color, ink) + GAP
        for name, present in (("pin", row.pinned), ("note", bool(row.note))):
            if present:
                mark = QRectF(left, area.center().y() - MARK / 2 + 1, MARK, MARK)
                paint_icon(painter, name, mark, theme.muted)
                left += MARK + 2
        right = area.right()
        error = row.error if row.error != NONE else row.reprojection
        numbers = [(error, theme.text if shown else theme.muted)]
        if area.width() >= LOSS_WIDTH:
            numbers.append((row.loss, faint_text(theme) if row.why_other_loss else theme.muted))
        for text, ink in numbers:
            if text != NONE:
                width = QFontMetrics(font).horizontalAdvance(text)
                place = QRect(right - width, area.top(), width + 1, area.height())
                painter.setFont(font)
                painter.setPen(QColor(ink))
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
                right -= width + GAP
        place = QRect(left, area.top(), max(right - left, 0), area.height())
        name, color = row.name, theme.other if row.compared else theme.text
        bold = QFont(font)
        bold.setBold(True)
        fits = QFontMetrics(bold).horizontalAdvance(name) <= place.width()
        used = _paint_text(painter, place, name, bold if shown and fits else font, color)
        _paint_text(painter, place.adjusted(used + GAP, 0, 0, 0), row.origin, font, theme.muted)

    # -- the name of a run ----------------------------------------------------------------------------------

    def setEditorData(self, editor: QWidget | None, index: QModelIndex) -> None:
        """Begin with the name alone; numbers that come in later leave alone what is being written."""
        row = index.data(RUN)
        if isinstance(editor, QLineEdit) and row is not None and self._edited is None:
            self._edited = index.data(SEQUENCE), row
            editor.setText(row.name)
            editor.selectAll()

    def setModelData(
        self, editor: QWidget | None, model: QAbstractItemModel | None, index: QModelIndex
    ) -> None:
        """Request another name; the row has it once the session has."""
        if isinstance(editor, QLineEdit) and self._edited is not None:
            sequence, row = self._edited
            if editor.text().strip() != row.name:
                self.change_requested.emit(sequence, row.number, {"title": editor.text().strip()})

    def destroyEditor(self, editor: QWidget | None, index: QModelIndex) -> None:
        """Allow the next name to be edited."""
        self._edited = None
        super().destroyEditor(editor, index)


def badge_color(row: RunRow, theme: Theme, *, shown: bool) -> str:
    """Return the color of the curve of a run, which its badge has."""
    if row.compared:
        return theme.other
    return theme.accent if shown else theme.runs[row.number % len(theme.runs)]


def _badge_width(font: QFont, text: str) -> int:
    height = QFontMetrics(font).height()
    return max(QFontMetrics(font).horizontalAdvance(text) + height // 2, height)


def _paint_badge(painter: QPainter, area: QRect, text: str, font: QFont, color: str, ink: str) -> int:
    """Paint a rounded number at the left of an area, and return its width."""
    width, height = _badge_width(font, text), QFontMetrics(font).height()
    place = QRectF(area.left(), area.center().y() + 1 - height / 2, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawRoundedRect(place, height / 2, height / 2)
    painter.setFont(font)
    painter.setPen(QColor(ink))
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
    return width


def _paint_text(painter: QPainter, area: QRect, text: str, font: QFont, color: str | QColor) -> int:
    """Paint a text at the left of an area, elided where it is longer, and return its width."""
    metrics = QFontMetrics(font)
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    painter.setFont(font)
    painter.setPen(QColor(color))
    painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, shown)
    return metrics.horizontalAdvance(shown)
