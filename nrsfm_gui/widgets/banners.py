"""Banners over a view: the most urgent of those that want to be seen is shown, the others wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from PyQt6.QtCore import QElapsedTimer, QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, pyqtSignal
from PyQt6.QtGui import QEnterEvent, QHideEvent, QResizeEvent, QShowEvent
from PyQt6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from nrsfm_gui.model.notifier import Action, Actions, Notifier
from nrsfm_gui.widgets.fields import MIDDLE, ButtonRow, close_button, copy_text, filled, tool_button
from nrsfm_gui.widgets.labels import PlainLabel, known, plain_tip
from nrsfm_gui.widgets.style import set_property

MARGIN = 8  # pixels
BUTTONS = 42  # pixels at the bottom of the view that its buttons cover


class Urgency(IntEnum):
    """What a banner is about, the most urgent first."""

    ERROR = 0
    STATE = 1  # something is read, or nothing is open
    QUESTION = 2  # a session can be recovered
    MESSAGE = 3
    PROGRESS = 4
    GUIDE = 5  # the first steps


class Banners(QWidget):
    """Shows one banner at the bottom of a widget, above its buttons and `clear` parts, or in its middle.

    A banner is shown and hidden by its owner as any widget; one that is not hidden waits here while a more
    urgent one is seen. Where there is none, the mouse reaches what is below.
    """

    def __init__(self, below: QWidget, parent: QWidget, *, clear: tuple[QWidget, ...] = ()) -> None:
        super().__init__(parent)
        self._below, self._clear = below, clear
        self._banners: dict[QWidget, tuple[QWidget, Callable[[], Urgency], bool]] = {}
        self._column = filled(QVBoxLayout(self), spacing=0)
        for part in (below, *clear):
            part.installEventFilter(self)
        self.hide()

    @property
    def shown(self) -> QWidget | None:
        """The banner that is seen, None where there is none."""
        waiting = [banner for banner in self._banners if not banner.isHidden()]
        return min(waiting, key=lambda banner: self._banners[banner][1](), default=None)

    def add(self, banner: QWidget, urgency: Callable[[], Urgency], *, central: bool = False) -> None:
        """Add a banner; `central` ones are shown in the middle."""
        holder = QWidget(self)
        filled(QVBoxLayout(holder), banner)
        holder.hide()
        self._column.addWidget(holder)
        self._banners[banner] = holder, urgency, central
        banner.installEventFilter(self)
        self.choose()

    def choose(self) -> None:
        """Show the most urgent banner: also to be called where the urgency of one has changed."""
        shown = self.shown
        for banner, (holder, _urgency, _central) in self._banners.items():
            if banner is not shown:
                holder.hide()
        if shown is not None:
            self._banners[shown][0].show()
        self.setVisible(shown is not None)
        self._place()

    def event(self, event: QEvent | None) -> bool:
        """Adapt the size to the banner."""
        done = super().event(event)
        if event is not None and event.type() is QEvent.Type.LayoutRequest:
            self._place()
        return done

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Choose anew where a banner was shown or hidden, and stay in place where the view is resized."""
        if event is not None and watched in (self._below, *self._clear):
            if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
                self._place()
        elif event is not None and event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.choose()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        shown, parent = self.shown, known(self.parentWidget())  # as of the constructor
        if shown is None:
            return
        area, central = self._below.size(), self._banners[shown][2]
        width = max(min(shown.sizeHint().width(), area.width() - 2 * MARGIN), 0)
        height = self._column.totalHeightForWidth(width)
        if height < 0:  # no line wraps
            height = self._column.totalSizeHint().height()
        top = (area.height() - height) // 2 if central else area.height() - height - BUTTONS
        place = QRect(QPoint((area.width() - width) // 2, top), QSize(width, height))
        for part in () if central else self._clear:
            covered = QRect(part.mapTo(self._below, QPoint()), part.size())
            if part.isVisible() and covered.intersects(place):
                place.moveBottom(covered.top() - MARGIN)
        place.moveTop(max(place.top(), 0))
        self.setGeometry(place.translated(self._below.mapTo(parent, QPoint())))
        self.raise_()


NOTE_MILLISECONDS = 6000
OFFER_MILLISECONDS = 12000  # a message with a button stays longer, so that it can be clicked
REACH_MILLISECONDS = 300  # a mouse that enters earlier was there before the message
PADDING = 4  # pixels of a line of text, so that it does not wrap
MOST_LINES = 2  # of a sentence beside its buttons: below a longer one they leave it all of the width
READ_MILLISECONDS = 3000  # a warning that was on view for so long has been read: a note may follow it


@dataclass(frozen=True, eq=False)
class Message:
    """A sentence, and buttons with what each of them does."""

    sentence: str
    actions: tuple[Action, ...]


class MessageBar(QFrame):
    """Shows a warning, then the newest note; a newer message of the same kind replaces the older one.

    A warning stays until it is closed, or until it was read and a note waits. A note closes by itself. Each
    can offer buttons ("Undo"), which are below a long sentence.
    """

    changed = pyqtSignal()  # another message is on view

    def __init__(self) -> None:
        super().__init__()
        self._warning: Message | None = None
        self._note: Message | None = None
        self._on_view = QElapsedTimer()
        self._text = PlainLabel(wraps=True)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setProperty("role", "banner")
        self._buttons = ButtonRow()
        tip = "Copy this sentence"
        self._copy_button = tool_button("Copy text", tip, tip, lambda: copy_text(self.text), keyboard=False)
        close = close_button("Close this message", self.dismiss, keyboard=False)
        self._parts = filled(QBoxLayout(QBoxLayout.Direction.LeftToRight), (self._text, 1), self._buttons)
        self._parts.setAlignment(self._buttons, Qt.AlignmentFlag.AlignRight)
        beside = (self._copy_button, MIDDLE), (close, MIDDLE)
        filled(QHBoxLayout(self), (self._parts, 1), *beside, margins=(12, 6, 8, 6))
        self._timer = QTimer(self)  # how long a note is seen, or a warning where a note waits
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        super().hide()

    @property
    def text(self) -> str:
        """The sentence that is shown, "" where none is."""
        message = self.message
        return "" if self.isHidden() or message is None else message.sentence

    @property
    def message(self) -> Message | None:
        """The message on view."""
        return self._warning or self._note

    @property
    def warns(self) -> bool:
        """Whether the message on view is a warning."""
        return self._warning is not None

    def listen_to(self, notifier: Notifier) -> None:
        """Show what a notifier sends."""
        notifier.warned.connect(lambda sentence, action: self.warn(sentence, action=action))
        notifier.informed.connect(lambda sentence, action: self.note(sentence, action=action))
        notifier.cleared.connect(self.hide)

    def warn(self, sentence: str, *, action: Actions = ()) -> None:
        """Show a sentence until it is closed; `action` is a (text, callback) or several."""
        self._warning = _message(sentence, action, self._warning)
        self._show()

    def note(self, sentence: str, *, action: Actions = ()) -> None:
        """Show a sentence for a few seconds, after a warning that has not been read yet."""
        self._note = _message(sentence, action, self._note)
        if self._warning is None:
            self._show()
        else:
            self._start_timer()

    def dismiss(self) -> None:
        """Close the message on view; a note behind a warning follows."""
        if not self.warns:
            self._note = None
        self._warning = None
        self._show()

    def hide(self) -> None:
        """Close all messages: they are about something that is over."""
        self._warning = self._note = None
        self._show()

    def sizeHint(self) -> QSize:
        """Return the size with the sentence in one line, and its buttons beside it."""
        line = self._text.fontMetrics().horizontalAdvance(self._text.text()) + PADDING
        return QSize(line + self._width_beside(), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Arrange the parts for the new width."""
        super().resizeEvent(event)
        self._arrange()

    def enterEvent(self, event: QEnterEvent | None) -> None:
        """Keep a message while the mouse is on it, unless it appeared under the mouse."""
        note = self._note is not None and not self.warns
        if note and self._on_view.isValid() and self._on_view.elapsed() > REACH_MILLISECONDS:
            self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Remove a message some time after the mouse has left it."""
        self._start_timer()
        super().leaveEvent(event)

    def showEvent(self, event: QShowEvent | None) -> None:
        """Count the time of a message from when it is seen."""
        super().showEvent(event)
        self._on_view.start()
        self._start_timer()

    def hideEvent(self, event: QHideEvent | None) -> None:
        """Keep a message that has to wait for a more urgent banner."""
        super().hideEvent(event)
        self._timer.stop()

    def _show(self) -> None:
        message = self.message
        if message is None:
            self._buttons.set_buttons(())
            self._timer.stop()
            super().hide()
            self.changed.emit()
            return
        self._text.setAccessibleName(message.sentence)
        self._copy_button.setVisible(self.warns)
        self._buttons.set_buttons(
            (text, plain_tip(f"{text}: {message.sentence}"), partial(self._act, message, callback))
            for text, callback in message.actions
        )
        self._text.setText(message.sentence)
        self._arrange()
        self.updateGeometry()
        self._on_view.start()
        set_property(self, "edge", "warning" if self.warns else "accent")
        self.show()
        self._start_timer()
        self.changed.emit()

    def _width_beside(self) -> int:
        """Return the width of all but the sentence, with the buttons beside it."""
        others = super().sizeHint().width() - self._parts.sizeHint().width()
        buttons = self._buttons.sizeHint().width()
        return others + (buttons + self._parts.spacing() if buttons else 0)

    def _arrange(self) -> None:
        """Show the buttons beside the sentence, or below a long one."""
        width = max(self.width() - self._width_beside(), 1)
        below = self._text.heightForWidth(width) > MOST_LINES * self._text.fontMetrics().lineSpacing()
        directions = QBoxLayout.Direction
        self._parts.setDirection(directions.TopToBottom if below else directions.LeftToRight)

    def _act(self, message: Message, callback: Callable[[], object]) -> None:
        if message is self.message:
            self.dismiss()
        callback()

    def _start_timer(self) -> None:
        """Close a note after a while, and a warning that a note waits for."""
        message = self.message
        self._timer.stop()
        if message is None or not self.isVisible():
            return
        if not self.warns:
            self._timer.start(OFFER_MILLISECONDS if message.actions else NOTE_MILLISECONDS)
        elif self._note is not None:
            self._timer.start(max(READ_MILLISECONDS - int(self._on_view.elapsed()), 0))


def _message(sentence: str, action: Actions, before: Message | None) -> Message:
    """Return a message with one or several actions; the same sentence keeps what it offered."""
    if action and isinstance(action[0], str):
        action = (action,)
    elif before is not None and before.sentence == sentence and not action:
        action = before.actions
    return Message(sentence, action)
