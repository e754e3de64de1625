"""A headline: a large line above a small one, at the right of its place, which may open a menu."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PyQt6.QtWidgets import QMenu, QSizePolicy, QWidget

from nrsfm_gui.widgets.labels import plain_tip
from nrsfm_gui.widgets.style import Themed

LARGE, SMALL = 1.4, 0.88  # of the size of the application's font
PADDING = 8  # pixels at the left and right of the text
ARROW = 12  # pixels for the arrow of the menu
ROUNDING = 5
LEAST = "1000.0 mm", "per-frame similarity"  # texts that there is always room for


class Headline(Themed, QWidget):
    """Two lines of text, each in the longest of its forms that there is room for; no text is elided.

    It has a size that does not change with the text, so that a new text requests no layout of the window.
    """

    GESTURES = (("Click on the error", "choose how the estimate is laid over the ground truth"),)

    def __init__(self) -> None:
        super().__init__()
        self._large: Sequence[str] = ()
        self._small: Sequence[str] = ()
        self.menu: QMenu | None = None  # that a click opens
        self._outdated = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # painted anew when the pointer comes or goes

    @property
    def texts(self) -> tuple[str, str]:
        """The large and the small line as they are painted."""
        room = self.width() - 2 * PADDING - (ARROW if self.menu is not None else 0)
        large, small = self._metrics
        return _fitting(self._large, large, room), _fitting(self._small, small, room)

    @property
    def full_text(self) -> str:
        """Both lines in their longest form, "" where there is no text."""
        return "\n".join(forms[0] for forms in (self._large, self._small) if forms)

    def set_texts(self, large: Sequence[str], small: Sequence[str], tip: str) -> None:
        """Show a text, given by the forms of both lines, the longest first."""
        if (large, small) != (self._large, self._small):
            self._large, self._small = large, small
            self.setAccessibleName(self.full_text.replace("\n", ", "))
            self.update()
        self.setToolTip(plain_tip(tip))

    def set_menu(self, menu: QMenu | None) -> None:
        """Let a click on the text open a menu, or nothing."""
        if menu is not self.menu:
            self.menu = menu
            self.setCursor(Qt.CursorShape.PointingHandCursor if menu else Qt.CursorShape.ArrowCursor)
            self.update()

    def set_outdated(self, outdated: bool) -> None:
        """Show the text in the color of what is not up to date, or in its own."""
        if outdated != self._outdated:
            self._outdated = outdated
            self.update()

    def sizeHint(self) -> QSize:
        """Return the height of both lines; the width is given by the layout."""
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the size of the shortest texts."""
        metrics = self._metrics
        width = max(each.horizontalAdvance(text) for each, text in zip(metrics, LEAST, strict=True))
        return QSize(width + 2 * PADDING + ARROW, sum(each.height() for each in metrics))

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Open the menu below the text."""
        assert event is not None
        area = self._area()
        if self.menu is None or not area.contains(event.position().toPoint()):
            super().mousePressEvent(event)
            return
        corner = self.mapToGlobal(area.bottomRight())
        self.menu.popup(corner - QPoint(self.menu.sizeHint().width(), 0))

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint both lines, and the arrow of the menu."""
        texts = self.texts
        if not texts[0]:
            return
        theme, area = self._theme, self._area()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.menu is not None and self.underMouse():
            painter.setPen(QColor(theme.border))
            painter.setBrush(QColor(theme.raised))
            painter.drawRoundedRect(area.adjusted(0, 0, -1, -1), ROUNDING, ROUNDING)
        right, top = area.right() - PADDING, area.top()
        if self.menu is not None:
            self._paint_arrow(painter, right, area.bottom())
            right -= ARROW
        colors = theme.muted if self._outdated else theme.text, theme.muted
        for text, font, metrics, color in zip(texts, self._fonts, self._metrics, colors, strict=True):
            painter.setFont(font)
            painter.setPen(QColor(color))
            painter.drawText(right - metrics.horizontalAdvance(text), top + metrics.ascent(), text)
            top += metrics.height()

    def _paint_arrow(self, painter: QPainter, right: int, bottom: int) -> None:
        middle = bottom - self._metrics[1].height() / 2
        corners = ((-7.0, -2.0), (0.0, -2.0), (-3.5, 2.0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.muted))
        painter.drawPolygon(QPolygonF([QPointF(right + x, middle + y) for x, y in corners]))

    def _area(self) -> QRect:
        metrics = self._metrics
        widths = (each.horizontalAdvance(text) for each, text in zip(metrics, self.texts, strict=True))
        width = max(widths) + 2 * PADDING + (ARROW if self.menu is not None else 0)
        height = sum(each.height() for each in metrics)
        return QRect(self.width() - width, (self.height() - height) // 2, width, height)

    @property
    def _fonts(self) -> tuple[QFont, QFont]:
        large, small = QFont(self.font()), QFont(self.font())
        large.setPointSizeF(LARGE * large.pointSizeF())
        large.setWeight(QFont.Weight.DemiBold)
        small.setPointSizeF(SMALL * small.pointSizeF())
        return large, small

    @property
    def _metrics(self) -> tuple[QFontMetrics, QFontMetrics]:
        large, small = self._fonts
        return QFontMetrics(large, self), QFontMetrics(small, self)


def _fitting(forms: Sequence[str], metrics: QFontMetrics, room: int) -> str:
    """Return the longest form that there is room for, else the shortest; "" of none."""
    wide = (form for form in forms if metrics.horizontalAdvance(form) <= room)
    return next(wide, forms[-1] if forms else "")
