"""The message bar over the view, and the column that stacks such bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QElapsedTimer, QEvent, QPoint, Qt, QTimer
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from nrsfm_gui.widgets.fields import tool_button
from nrsfm_gui.widgets.style import set_property

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtCore import QObject
    from PyQt6.QtGui import QEnterEvent

    from nrsfm_gui.model.notifier import Action, Actions, Notifier

NOTE_MILLISECONDS = 6000
OFFER_MILLISECONDS = 12000  # a message with a button stays longer, so that it can be clicked
REACH_MILLISECONDS = 300  # a mouse that enters earlier was there before the message
READ_MILLISECONDS = 3000  # a warning that was on view for so long has been read
WIDEST, MARGIN = 640, 8  # pixels
TITLE = 50  # pixels at the top of the view that its title and its legend cover


@dataclass(eq=False)
class _Message:
    sentence: str
    warning: bool
    actions: tuple[Action, ...]
    seconds_read: float = 0.0  # how long it was on view


class MessageBar(QFrame):
    """Shows the newest message; an older one that was not read yet is shown again afterwards.

    A warning stays until it is closed or followed by another message, a note closes by itself. Each can offer
    buttons ("Undo").
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._messages: list[_Message] = []  # the last one is on view
        self._on_view = QElapsedTimer()
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._more = QLabel()
        self._more.setProperty("role", "muted")
        self.setProperty("role", "banner")
        self._buttons = QHBoxLayout()
        copy = tool_button("Copy", "Copy this sentence", "Copy this sentence", keyboard=False)
        copy.clicked.connect(self._copy)
        close = tool_button("✕", "Close this message", "Close this message", keyboard=False)
        close.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 8, 6)
        layout.addWidget(self._text, 1)
        for part in (self._more, copy, close):
            layout.addWidget(part, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.insertLayout(1, self._buttons)
        self._timer = QTimer(self)  # how long a note is seen
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        super().hide()

    @property
    def text(self) -> str:
        """The sentence that is shown, "" where none is."""
        return "" if self.isHidden() else self._text.text()

    def listen_to(self, notifier: Notifier) -> None:
        """Show what a notifier sends."""
        notifier.warned.connect(lambda sentence, action: self.warn(sentence, action=action))
        notifier.informed.connect(
            lambda sentence, action, replaces: self.note(sentence, action=action, replaces=replaces)
        )
        notifier.cleared.connect(self.hide)

    def warn(self, sentence: str, *, action: Actions = ()) -> None:
        """Show a sentence until it is closed or followed by another; `action` is a (text, callback)."""
        self._add(_Message(sentence, True, _as_actions(action)))

    def note(self, sentence: str, *, action: Actions = (), replaces: str = "") -> None:
        """Show a sentence for a few seconds, which also replaces a warning, because it is newer."""
        if replaces and self.text == replaces:
            self.dismiss()
        self._add(_Message(sentence, False, _as_actions(action)))

    def dismiss(self) -> None:
        """Close the message on view; one below it that could not be read yet comes back."""
        if self._messages:
            self._messages.pop()
        self._show()

    def hide(self) -> None:
        """Close all messages: they are about something that is over."""
        self._messages.clear()
        self._show()

    def enterEvent(self, event: QEnterEvent | None) -> None:
        """Keep a message while the mouse is on it, unless it appeared under the mouse."""
        if self._on_view.isValid() and self._on_view.elapsed() > REACH_MILLISECONDS:
            self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent | None) -> None:
        """Remove a message some time after the mouse has left it."""
        self._start_timer()
        super().leaveEvent(event)

    def _add(self, message: _Message) -> None:
        self._add_reading_time()
        before = next((other for other in self._messages if other.sentence == message.sentence), None)
        if before is not None and not message.actions:
            message.actions = before.actions  # the same sentence keeps what it offered
        self._messages = [
            other
            for other in self._messages
            if other.seconds_read < READ_MILLISECONDS / 1000 and other.sentence != message.sentence
        ]
        self._messages.append(message)
        self._show()

    def _add_reading_time(self) -> None:
        """Add to the shown message the time that it was visible."""
        if self._messages and self._on_view.isValid():
            self._messages[-1].seconds_read += self._on_view.elapsed() / 1000

    def _show(self) -> None:
        while self._buttons.count():
            item = self._buttons.takeAt(0)
            button = None if item is None else item.widget()
            if button is not None:
                button.hide()
                button.deleteLater()
        if not self._messages:
            self._timer.stop()
            super().hide()
            return
        message = self._messages[-1]
        self._text.setText(message.sentence)
        self._text.setAccessibleName(message.sentence)
        others = len(self._messages) - 1
        self._more.setVisible(others > 0)
        self._more.setText(f"{others} more")
        for text, callback in message.actions:
            button = QPushButton(text)
            button.setAccessibleName(text)
            button.setToolTip(f"{text}: {message.sentence}")
            button.clicked.connect(
                lambda _checked, message=message, callback=callback: self._on_action_clicked(
                    message, callback
                )
            )
            self._buttons.addWidget(button)
            button.show()
        self._on_view.start()
        set_property(self, "edge", "warning" if message.warning else "accent")
        self.show()
        self._start_timer()

    def _on_action_clicked(self, message: _Message, callback: Callable[[], object]) -> None:
        if message in self._messages:
            self._messages.remove(message)
            self._show()
        callback()

    def _start_timer(self) -> None:
        if self._messages and not self._messages[-1].warning:
            self._timer.start(OFFER_MILLISECONDS if self._messages[-1].actions else NOTE_MILLISECONDS)
        else:
            self._timer.stop()

    def _copy(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(self._text.text())


def _as_actions(action: Actions) -> tuple[Action, ...]:
    """Return buttons as a tuple of pairs, where one pair was given too."""
    if action and isinstance(action[0], str):
        return (action,)
    return action


class Banners(QWidget):
    """Lines below each other, at the right of a widget that has the same parent.

    Where all of them are hidden it has no height, and the mouse reaches what is below.
    """

    def __init__(self, below: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._below = below
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        below.installEventFilter(self)

    def add(self, banner: QWidget) -> None:
        """Add a line below the others."""
        self._column.addWidget(banner)

    def event(self, event: QEvent | None) -> bool:
        """Adapt the height to the visible lines."""
        done = super().event(event)
        if event is not None and event.type() is QEvent.Type.LayoutRequest:
            self._place()
        return done

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Stay at the right of the widget."""
        if event is not None and watched is self._below:
            if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show):
                self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        width = max(min(WIDEST, self._below.width() - 2 * MARGIN), 0)
        height = self._column.totalHeightForWidth(width)
        if height < 0:  # no line wraps
            height = self._column.totalSizeHint().height()
        shown = any(
            (item := self._column.itemAt(index)) is not None and not item.isEmpty()
            for index in range(self._column.count())
        )
        corner = self._below.pos() + QPoint(self._below.width() - width - MARGIN, TITLE)
        self.setGeometry(corner.x(), corner.y(), width, height if shown else 0)
        self.raise_()
