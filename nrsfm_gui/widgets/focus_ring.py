"""A frame that is drawn around a widget for a few seconds; mouse and keys pass through it."""

from __future__ import annotations

from contextlib import suppress

from PyQt6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PyQt6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QWidget

from nrsfm_gui.widgets.style import Themed

MARGIN, LINE = 5, 3  # pixels
SHOWN_MILLISECONDS = 3000


class FocusRing(Themed, QWidget):
    """A frame over the window of a widget.

    Parameters
    ----------
    window
        the window.
    color
        the name of a color of the theme.
    milliseconds
        how long it is seen; 0 for until it is hidden.
    """

    def __init__(self, window: QWidget, color: str, *, milliseconds: int = SHOWN_MILLISECONDS) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self._color = color
        self._target: QWidget | None = None
        self._timer = QTimer(self)  # how long it is seen
        self._timer.setSingleShot(True)
        self._timer.setInterval(milliseconds)
        self._timer.timeout.connect(self.hide)
        self.hide()

    def point_out(self, target: QWidget) -> None:
        """Draw the frame around a widget."""
        window = self.parentWidget()
        assert window is not None
        if self._target is not None:
            with suppress(RuntimeError):  # it was deleted since
                self._target.removeEventFilter(self)
        self._target = target
        target.installEventFilter(self)
        self._place()
        self.show()
        self.raise_()
        if self._timer.interval() > 0:
            self._timer.start()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Stay around the widget where it moves."""
        if event is not None and watched is self._target and self.isVisible():
            if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
                self._place()
            elif event.type() is QEvent.Type.Hide:
                self.hide()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        window, target = self.parentWidget(), self._target
        assert window is not None
        assert target is not None
        corner = target.mapTo(window, QPoint(0, 0)) if window.isAncestorOf(target) else QPoint(0, 0)
        around = QRect(corner, target.size()).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
        self.setGeometry(around.intersected(window.rect()))

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(getattr(self._theme, self._color)), LINE))
        inset = LINE // 2 + 1
        painter.drawRoundedRect(self.rect().adjusted(inset, inset, -inset, -inset), 6, 6)
        painter.end()
