"""A frame that is drawn around a widget for a few seconds; it ignores mouse and keys."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

from PyQt6.QtCore import QEvent, QObject, Qt, QTimer
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
        self._watched: list[QWidget] = []  # the target and what it stands in: any of them may move it
        self._timer = QTimer(self)  # how long it is seen
        self._timer.setSingleShot(True)
        self._timer.setInterval(milliseconds)
        self._timer.timeout.connect(self.hide)
        self.hide()

    def point_out(self, target: QWidget) -> None:
        """Draw the frame around a widget."""
        window = self.parentWidget()
        assert window is not None
        for widget in self._watched:
            with suppress(RuntimeError):  # it was deleted since
                widget.removeEventFilter(self)
        self._target, self._watched = target, [target]
        while self._watched[-1] is not window and (around := self._watched[-1].parentWidget()) is not None:
            self._watched.append(around)
        for widget in self._watched:
            widget.installEventFilter(self)
        self._place()
        self.show()
        self.raise_()
        if self._timer.interval() > 0:
            self._timer.start()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Stay around the widget where it moves, also with a panel that is scrolled."""
        if event is not None and watched in self._watched and self.isVisible():
            if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
                self._place()
            elif event.type() is QEvent.Type.Hide and watched is self._target:
                self.hide()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        window, target = self.parentWidget(), self._target
        assert window is not None
        assert target is not None
        around = target.rect().adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
        for widget, outer in pairwise(self._watched):
            around.translate(widget.pos())
            around &= outer.rect()  # what a scrolled panel does not show has no frame
        self.setGeometry(around)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the frame."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(getattr(self._theme, self._color)), LINE))
        inset = LINE // 2 + 1
        painter.drawRoundedRect(self.rect().adjusted(inset, inset, -inset, -inset), 6, 6)
        painter.end()
