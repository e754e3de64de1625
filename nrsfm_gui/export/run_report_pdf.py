"""A run's report as one page of PDF: text stays text, and charts stay drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPageSize, QPainter, QPdfWriter, QPen
from PyQt6.QtSvg import QSvgRenderer

from nrsfm_gui.export.report_charts import GRID, HEIGHT, MUTED, ORANGE, WIDTH

if TYPE_CHECKING:
    from nrsfm_gui.export.run_report import Rows, RunReport, Table

DOTS = 10  # per point: fonts are whole numbers of dots high
PAGE = (595.0, 842.0)  # A4
MARGIN, GAP = 36.0, 20.0
INK, SOFT = "#1c2024", "#f5f7f9"
FAMILY, FIXED = "DejaVu Sans", "DejaVu Sans Mono"
LEFT_ALIGNED = int(Qt.AlignmentFlag.AlignLeft.value)
RIGHT_ALIGNED = int(Qt.AlignmentFlag.AlignRight.value)
WORDS_WRAPPED = int(Qt.TextFlag.TextWordWrap.value) | LEFT_ALIGNED
WRAPPED = int(Qt.TextFlag.TextWrapAnywhere.value) | LEFT_ALIGNED
CODE_SIZE = 6.5
LEAST_PLATE = 18.0  # height of a line of code on its plate


def pdf_report(report: RunReport) -> bytes:
    """Return the file of the page."""
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(content)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setResolution(72 * DOTS)
    writer.setTitle(report.title)
    writer.setCreator("NRSfM Studio")
    painter = QPainter(writer)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _Page(painter).draw(report)
    painter.end()
    return bytes(content.data().data())


class _Page:
    """Draws from the top of the page downwards; all lengths are in points."""

    def __init__(self, painter: QPainter) -> None:
        self._painter = painter
        self._y = MARGIN

    def draw(self, report: RunReport) -> None:
        left, width = MARGIN, PAGE[0] - 2 * MARGIN
        half = (width - GAP) / 2
        right = left + half + GAP
        self._text(QRectF(left, self._y + 4, width, 12), report.date, 7.5, color=MUTED, flags=RIGHT_ALIGNED)
        self._text(QRectF(left, self._y, width - 120, 20), report.title, 15, bold=True)
        self._text(QRectF(left, self._y + 20, width, 13), report.subtitle, 9, color=MUTED)
        self._y += 42
        self._tiles(report.tiles, left, width)
        for remark in report.remarks:
            self._text(QRectF(left, self._y - 5, width, 12), remark, 7.5, color=ORANGE)
            self._y += 12
        self._charts(report, left, right, half)
        top = self._heading(report.worst_title, left, width)
        self._y = self._table(report.worst, left, top, width) + 12
        self._columns(report, left, width)
        self._again(report, left, width)
        foot = QRectF(left, PAGE[1] - MARGIN - 8, width, 16)
        self._text(foot, report.versions, 6, color=MUTED)

    def _tiles(self, tiles: Rows, left: float, width: float) -> None:
        room = (width - 3 * 8) / 4
        for index, (value, meaning) in enumerate(tiles):
            box = QRectF(left + index * (room + 8), self._y, room, 44)
            self._plate(box)
            self._text(box.adjusted(8, 5, -4, -22), value, 13, bold=True)
            self._text(box.adjusted(8, 22, -4, 0), meaning, 6.5, color=MUTED, flags=WORDS_WRAPPED)
        self._y += 56

    def _charts(self, report: RunReport, left: float, right: float, half: float) -> None:
        height = half * HEIGHT / WIDTH
        for pair in (
            ((report.picture_title, None), (report.errors_title, report.errors)),
            (("Loss", report.loss), ("Singular values and their weights", report.spectrum)),
        ):
            for x, (title, drawing) in zip((left, right), pair, strict=True):
                self._text(QRectF(x, self._y, half, 12), title, 8, bold=True)
                box = QRectF(x, self._y + 14, half, height)
                if drawing is None:
                    self._picture(report.picture, box)
                else:
                    QSvgRenderer(QByteArray(drawing.encode("utf-8"))).render(self._painter, _dots(box))
            self._y += height + 24

    def _picture(self, png: bytes, box: QRectF) -> None:
        image = QImage.fromData(QByteArray(png))
        shape = image.size().toSizeF().scaled(box.size(), Qt.AspectRatioMode.KeepAspectRatio)
        where = QRectF(box.topLeft(), shape)
        where.moveCenter(box.center())
        self._painter.drawImage(_dots(where), image)
        self._painter.setPen(QPen(QColor(GRID), 0.6 * DOTS))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawRect(_dots(where))

    def _heading(self, words: str, left: float, width: float) -> float:
        self._text(QRectF(left, self._y, width, 12), words, 9, bold=True)
        return self._y + 14

    def _table(self, table: Table, left: float, top: float, width: float) -> float:
        room = width / len(table.headings)
        for row, cells in enumerate((table.headings, *table.rows)):
            y = top + 12 * row
            for column, cell in enumerate(cells):
                box = QRectF(left + column * room, y, room - 4, 12)
                self._text(box, cell, 7.5, color=INK if row else MUTED)
            self._rule(left, y + 11, width)
        return top + 12.0 * (1 + len(table.rows))

    def _pairs(self, rows: Rows, left: float, top: float, width: float) -> float:
        y = top
        for name, value in rows:
            self._text(QRectF(left, y, 0.4 * width, 11), name, 7, color=MUTED)
            box = QRectF(left + 0.4 * width, y, 0.6 * width, 11)
            self._text(box, self._shortened(value, 7, box.width()), 7)
            self._rule(left, y + 10.4, width)
            y += 11.4
        return y

    def _again(self, report: RunReport, left: float, width: float) -> None:
        top = self._heading("How to make it again", left, width)
        bottom = PAGE[1] - MARGIN - 20
        for words, where, kept in (
            (report.command, "command", 2 * LEAST_PLATE),
            (report.python, "Python", 0.0),
        ):
            room = QRectF(left + 7, top + 5, width - 14, bottom - kept - top - 5)
            shown = self._fitting(words.splitlines(), room, f"Copy as {where}")
            room.setHeight(self._code_height(shown, room))
            self._plate(room.adjusted(-7, -5, 7, 5))
            self._text(room, shown, CODE_SIZE, family=FIXED, flags=WRAPPED)
            top = room.bottom() + 11

    def _fitting(self, lines: list[str], room: QRectF, action: str) -> str:
        """Return all lines, or as many whole ones as there is room for, and where the others are."""
        if self._code_height("\n".join(lines), room) <= room.height():
            return "\n".join(lines)
        for count in range(len(lines) - 1, 0, -1):
            said = f"# and {len(lines) - count} more lines: in the menu Edit, {action}"
            shown = "\n".join([*lines[:count], said])
            if self._code_height(shown, room) <= room.height():
                return shown
        return f"# too long for this page: in the menu Edit, {action}"

    def _code_height(self, words: str, room: QRectF) -> float:
        self._painter.setFont(self._font(CODE_SIZE, family=FIXED))
        endless = QRectF(room.x(), room.y(), room.width(), 10 * PAGE[1])
        return self._painter.boundingRect(_dots(endless), WRAPPED, words).height() / DOTS

    def _plate(self, box: QRectF) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(QColor(SOFT))
        self._painter.drawRoundedRect(_dots(box), 4 * DOTS, 4 * DOTS)

    def _columns(self, report: RunReport, left: float, width: float) -> None:
        """Draw three tables beside each other."""
        room, bottom = (width - 2 * GAP) / 3, self._y
        named = (("Numbers", report.numbers), ("Settings", report.settings), ("Sequence", report.facts))
        for column, (title, rows) in enumerate(named):
            x = left + column * (room + GAP)
            top = self._heading(title, x, room)
            bottom = max(bottom, self._pairs(rows, x, top, room))
        self._y = bottom + 10

    def _rule(self, left: float, y: float, width: float) -> None:
        self._painter.setPen(QPen(QColor(GRID), 0.4 * DOTS))
        line = _dots(QRectF(left, y, width, 0))
        self._painter.drawLine(line.topLeft(), line.topRight())

    def _shortened(self, words: str, size: float, width: float) -> str:
        metrics = QFontMetricsF(self._font(size), self._painter.device())
        return metrics.elidedText(words, Qt.TextElideMode.ElideRight, width * DOTS)

    def _font(self, size: float, *, bold: bool = False, family: str = FAMILY) -> QFont:
        font = QFont(family)
        font.setPixelSize(round(size * DOTS))
        font.setBold(bold)
        return font

    def _text(
        self,
        box: QRectF,
        words: str,
        size: float,
        *,
        bold: bool = False,
        color: str = INK,
        family: str = FAMILY,
        flags: int = LEFT_ALIGNED,
    ) -> None:
        self._painter.setFont(self._font(size, bold=bold, family=family))
        self._painter.setPen(QColor(color))
        self._painter.drawText(_dots(box), flags, words)


def _dots(box: QRectF) -> QRectF:
    return QRectF(box.x() * DOTS, box.y() * DOTS, box.width() * DOTS, box.height() * DOTS)
