"""Labels: text as it is, elided or scrolled where the space is too small, and an empty state.

Names, units and notes are of files that are not trusted. Qt interprets what has tags as rich text, in labels
and in tips, which shows pictures of other files: texts are labels without a format, and tips are escaped.

`ElidedLabel` paints its text itself: QLabel and superqt's QElidingLabel request a layout of the window for
each new text. The latter has no accessible name, either, and takes 0.15 s to import.
"""

from __future__ import annotations

import html
from typing import TypeVar

from PyQt6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PyQt6.QtGui import QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QFrame, QLabel, QScrollArea, QSizePolicy, QWidget

Value = TypeVar("Value")
PADDING = 6  # pixels on each side
LEAST_SHOWN = 6  # characters of an elided text: fewer are not readable
MOST_LINES = 3
WIDEST_TIP = 120  # letters that a tip may have in one line
TIP_BEGINS, TIP_ENDS = '<span style="white-space:pre-wrap">', "</span>"  # of one that is escaped


def known(value: Value | None) -> Value:
    """Return what Qt gives: its getters may return None, and these do not, as this asserts."""
    assert value is not None
    return value


def plain_tip(text: str) -> str:
    """Return the tip that shows a text as it is: Qt interprets tags, and wraps rich text only."""
    if "<" not in text and "&lt;" not in text and max(map(len, text.split("\n"))) <= WIDEST_TIP:
        return text
    return f"{TIP_BEGINS}{html.escape(text)}{TIP_ENDS}"


def tip_as_text(tip: str) -> str:
    """Return the text that `plain_tip` has made a tip of."""
    return html.unescape(tip.removeprefix(TIP_BEGINS).removesuffix(TIP_ENDS)) if TIP_BEGINS in tip else tip


def tip_as_html(tip: str) -> str:
    """Return a tip as rich text: as `plain_tip` has made it, or escaped."""
    return tip if tip.startswith(TIP_BEGINS) else html.escape(tip)


class PlainLabel(QLabel):
    """A label that shows a text as it is, with tags if it has any; the style sheet knows its `role`."""

    def __init__(
        self, text: str = "", parent: QWidget | None = None, *, role: str = "", wraps: bool = False
    ) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wraps)
        if role:
            self.setProperty("role", role)

    def show_text(self, text: str) -> None:
        """Show a text; without one, the label is hidden."""
        self.setText(text)
        self.setVisible(bool(text))


class ElidedLabel(PlainLabel):
    """A label that elides its text instead of widening the window; the full text is then its tip."""

    def __init__(self, *, role: str = "") -> None:
        super().__init__(role=role)
        self.full_text = ""
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_full_text(self, text: str) -> None:
        """Show a text, elided to the width."""
        if text != self.full_text:
            self.full_text = text
            self.setAccessibleName(text)
            self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line; the width is given by the layout."""
        return QSize(60, self.fontMetrics().height() + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the height of a line; there is no least width."""
        return QSize(0, self.fontMetrics().height() + 2)

    def event(self, event: QEvent | None) -> bool:
        """Show the full text as the tip where it is elided."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self.setToolTip(plain_tip(self.full_text) if self._shown_text() != self.full_text else "")
        return super().event(event)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint the text, elided to the width."""
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self._text_area(), int(self.alignment()), self._shown_text())

    def _text_area(self) -> QRect:
        return self.rect().adjusted(PADDING, 0, -PADDING, 0)

    def _shown_text(self) -> str:
        return self._elided(self.full_text, self._text_area().width())

    def _elided(self, text: str, room: int) -> str:
        """Return a text, elided where it has no room; "" where too little of it would be left."""
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        return shown if shown == text or len(shown) >= LEAST_SHOWN else ""


class EmptyLabel(PlainLabel):
    """A sentence in the middle of an empty plot, which it covers; `margin`: pixels to its left and right."""

    def __init__(self, text: str, plot: QWidget, *, margin: int = 12) -> None:
        super().__init__(text, plot, role="muted", wraps=True)
        self._plot, self._margin = plot, margin
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        plot.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Keep the size of the plot."""
        if event is not None and event.type() == QEvent.Type.Resize:
            self.setGeometry(self._plot.rect().adjusted(self._margin, 0, -self._margin, 0))
        return False


class ClampedLabel(QScrollArea):
    """Text that can be selected, and is never cut."""

    def __init__(self) -> None:
        super().__init__()
        self.label = PlainLabel(wraps=True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.label.setContentsMargins(8, 0, 4, 0)
        self.setWidget(self.label)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def set_text(self, text: str) -> None:
        """Show another text from its beginning."""
        if text != self.label.text():
            self.label.setText(text)
            known(self.verticalScrollBar()).setValue(0)
            self._fit()

    def sizeHint(self) -> QSize:
        """Return the size of the text at the present width, of a few lines at most."""
        lines = self.fontMetrics().lineSpacing()
        return QSize(60, min(max(self.label.heightForWidth(self.width()), lines), MOST_LINES * lines) + 2)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Adapt the height to the text at the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.maximumHeight() != self.sizeHint().height():
            self.setFixedHeight(self.sizeHint().height())
