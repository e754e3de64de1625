"""The command palette: a search field and a list of commands over the window, and the search in it.

Letters must keep their order and begin at the start of a word, so that "gtw" finds "Go to the worst frame".
The scorers of rapidfuzz do not do that: of 104 action titles searched by their initials, 92 are among the
first three rows here, 15 with its best scorer. It finds misspelled words instead, and does not return which
letters match.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from PyQt6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, QSize, Qt
from PyQt6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PyQt6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from nrsfm_gui.widgets.fields import filled, with_tip
from nrsfm_gui.widgets.labels import PlainLabel, known, plain_tip
from nrsfm_gui.widgets.style import theme_of

# The cost of each kind of match; the list is sorted by the sum.
AT_START, AT_WORD, INSIDE, SCATTERED = 0.0, 1.0, 3.0, 6.0
NEXT_TEXT = 8.0  # to be found in the second text of a line instead of the first, and so on

LONGER = 1e-4  # per letter of the title: of two that are found alike, the shorter one is nearer


def match(pattern: str, texts: tuple[str, ...]) -> tuple[float, frozenset[int]] | None:
    """Return the cost of a pattern in a row of texts (the title first), and the letters found in the title.

    None where a word of it is not found. Letters of a word may be scattered over the title as long as their
    order is kept; they are not looked for across two texts.
    """
    words, places, total = pattern.lower().split(), set[int](), 0.0
    for word in words:
        found = [_find(word, text.lower(), scattered=index == 0) for index, text in enumerate(texts)]
        hits = [(hit[0] + NEXT_TEXT * index, index, hit[1]) for index, hit in enumerate(found) if hit]
        if not hits:
            return None
        cost, nearest, letters = min(hits)
        total += cost
        if nearest == 0:
            places.update(letters)
    return total + (LONGER * len(texts[0]) if words else 0.0), frozenset(places)


def _find(word: str, text: str, *, scattered: bool) -> tuple[float, list[int]] | None:
    """Return the cost and the positions of a word's letters in a text, both in lower case."""
    inside = text.find(word)
    if inside < 0 and not (scattered and len(word) > 1 and _holds(word, text, 0)):
        return None  # most texts: starts of words are not looked for there
    starts = [index for index in range(len(text)) if _begins_word(text, index)]
    for start in starts:
        if text.startswith(word, start):
            cost = AT_START if start == starts[0] else AT_WORD
            return cost + 0.01 * start, list(range(start, start + len(word)))
    if inside >= 0:
        return INSIDE + 0.01 * inside, list(range(inside, inside + len(word)))
    found = [_scattered(word, text, start) for start in starts if text[start] == word[0]]
    spans = [places for places in found if places]
    if not spans:
        return None
    shortest = min(spans, key=lambda places: (places[-1] - places[0], places[0]))
    return SCATTERED + 0.1 * (shortest[-1] - shortest[0]), shortest


def _scattered(word: str, text: str, start: int) -> list[int]:
    """Return positions of the letters of a word, in order, from `start` on; starts of words are preferred."""
    places: list[int] = []
    position = start
    for number, letter in enumerate(word):
        rest = word[number + 1 :]
        candidates = [index for index in range(position, len(text)) if text[index] == letter]
        usable = [index for index in candidates if _holds(rest, text, index + 1)]
        if not usable:
            return []
        at_words = [index for index in usable if _begins_word(text, index)]
        chosen = usable[0] if usable[0] == position or not at_words else at_words[0]
        places.append(chosen)
        position = chosen + 1
    return places


def _holds(letters: str, text: str, start: int) -> bool:
    """Return whether a text contains the letters in this order, from `start` on."""
    for letter in letters:
        start = text.find(letter, start) + 1
        if not start:
            return False
    return True


def _begins_word(text: str, index: int) -> bool:
    return text[index].isalnum() and (index == 0 or not text[index - 1].isalnum())


WIDTH, ROWS = 640, 9  # pixels at most; lines of the list without scrolling
MARGIN, GAP = 12, 3
ROLE = Qt.ItemDataRole.UserRole
PAGE = 8  # lines that Page Up and Page Down move


@dataclass(frozen=True)
class PaletteEntry:
    """Something that is found by its name: an action, a parameter, a panel, a sequence, a run."""

    title: str
    tip: str
    run: Callable[[], object]
    kind: str = "action"
    place: str = ""  # the menu it is in, "" where it is in none
    keys: str = ""
    symbols: tuple[str, ...] = ()  # other names; each finds it before all that is not titled so
    reason: str = ""  # why it is not possible now
    checked: bool | None = None  # None where it cannot be switched on and off


class CommandPalette(QFrame):
    """Shown over its parent until a command is chosen, Escape is pressed, or the focus changes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("command palette")
        self.setProperty("role", "palette")
        self.setAccessibleName("Command palette")
        self._entries: tuple[PaletteEntry, ...] = ()
        self._focused: QWidget | None = None  # what had the focus before
        tip = "A few letters of an action, a parameter, a panel, a sequence or a run; Return does it"
        self.field = with_tip(QLineEdit(), "Find an action, a parameter, a panel or a sequence", tip)
        self.field.setPlaceholderText("Type what you want to do, or a name: xi, loss, balloon")
        self.field.setClearButtonEnabled(True)
        self.list = with_tip(QListWidget(), "Actions", "What is possible now, and in gray what is not")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._delegate = _EntryDelegate(self.list)
        self.list.setItemDelegate(self._delegate)
        self._nothing = PlainLabel("Nothing is called so", role="muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        filled(QVBoxLayout(self), self.field, (self.list, 1), self._nothing, margins=4 * (MARGIN,))
        for watched in (self.field, parent):
            watched.installEventFilter(self)
        self.field.textChanged.connect(self._filter)
        self.list.itemClicked.connect(self._run)
        self.hide()

    def open(self, entries: Collection[PaletteEntry]) -> None:
        """Show all entries, with an empty field that has the focus."""
        if not self.isVisible():
            self._focused = QApplication.focusWidget()
        self._entries = tuple(entries)
        self.field.clear()
        self._filter("")
        self.place()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_and_return(self) -> None:
        """Close, and restore the focus."""
        before, self._focused = self._focused, None
        self.hide()
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Handle the keys of the list in the field, and follow the size of the parent."""
        if event is not None and event.type() is QEvent.Type.Resize and watched is self.parent():
            self.place()
        if event is not None and watched is self.field:
            if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
                event.accept()  # no key of the window works while one types here
            elif event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._handle_key(event)
            elif event.type() is QEvent.Type.FocusOut and self.isVisible():
                self._focused = None
                self.hide()
        return super().eventFilter(watched, event)

    def _handle_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -PAGE, Qt.Key.Key_PageDown: PAGE}
        moves |= {Qt.Key.Key_Tab: 1, Qt.Key.Key_Backtab: -1}
        if key == Qt.Key.Key_Escape:
            self.close_and_return()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self.list.currentItem())
        elif key in moves and self.list.count():
            row = self.list.currentRow() + moves[key]
            last = self.list.count() - 1
            wrapped = row % (last + 1) if abs(moves[key]) == 1 else min(max(row, 0), last)
            self.list.setCurrentRow(wrapped)
        elif key not in moves:
            return False
        return True

    def _filter(self, pattern: str) -> None:
        found = []
        for index, entry in enumerate(self._entries):
            texts = entry.title, " ".join(entry.symbols), entry.kind, entry.place, entry.tip, entry.keys
            hit = match(pattern, texts)
            if hit is not None:
                cost, letters = hit
                names = [name.casefold() for name in (*entry.symbols, entry.title)]
                if (name := pattern.strip().casefold()) in names:
                    cost = -1.0 - (name == names[-1])
                found.append((cost, index, entry, letters))
        self.list.clear()
        for _cost, _index, entry, letters in sorted(found, key=lambda each: each[:2]):
            item = QListWidgetItem(entry.title, self.list)
            item.setData(ROLE, (entry, letters))
            spoken = ", ".join(part for part in (entry.title, entry.keys, entry.tip, entry.reason) if part)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
            item.setToolTip(plain_tip(entry.reason or entry.tip))
        self.list.setCurrentRow(0)
        self.list.setVisible(bool(found))
        self._nothing.setVisible(not found)
        self.place()

    def _run(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        entry, _letters = item.data(ROLE)
        if entry.reason:
            return  # the line shows why; the palette stays open
        self.close_and_return()
        entry.run()

    def place(self) -> None:
        """Put the palette below the top of its parent, as high as its list."""
        parent = known(self.parentWidget())
        width = min(WIDTH, parent.width() - 40)
        rows = min(max(self.list.count(), 1), ROWS)
        height = self._delegate.height() * rows + self.field.sizeHint().height() + 3 * MARGIN
        top = max(20, parent.height() // 9)
        self.setGeometry((parent.width() - width) // 2, top, width, min(height, parent.height() - top - 20))


class _EntryDelegate(QStyledItemDelegate):
    """Paints an entry: its title with the letters that were found, its menu and keys; below, what it does."""

    def height(self) -> int:
        parent = self.parent()
        assert isinstance(parent, QWidget)
        return parent.fontMetrics().height() + QFontMetrics(_small(parent.font())).height() + 3 * GAP + 4

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        return QSize(200, self.height())

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        assert painter is not None
        entry, found = index.data(ROLE)
        theme = theme_of(option.palette)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(theme.raised))
            edge = QRect(option.rect.topLeft(), QSize(3, option.rect.height()))
            painter.fillRect(edge, QColor(theme.accent))
        box = option.rect.adjusted(10, GAP, -10, -GAP)
        top = QRect(box.topLeft(), QSize(box.width(), QFontMetrics(option.font).height()))
        below = QRect(top.bottomLeft() + QPoint(0, GAP), box.bottomRight())
        muted = QColor(theme.muted)
        painter.setFont(option.font)
        painter.setPen(muted)
        where = " · ".join(part for part in (entry.kind, entry.place) if part)
        right = "   ".join(part for part in (where, entry.keys) if part)
        painter.drawText(top, int(Qt.AlignmentFlag.AlignRight), right)
        text = theme.muted if entry.reason else theme.text
        area = top.adjusted(0, 0, -QFontMetrics(option.font).horizontalAdvance(right) - 12, 0)
        mark = "✓ " if entry.checked else ""
        letters = {place + len(mark) for place in found}
        self._letters(painter, area, mark + entry.title, letters, (text, theme.accent))
        painter.setFont(_small(option.font))
        painter.setPen(QColor(theme.warning) if entry.reason else muted)
        line = entry.reason or entry.tip
        elided = painter.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, below.width())
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), elided)
        painter.restore()

    def _letters(
        self, painter: QPainter, area: QRect, text: str, found: Collection[int], colors: tuple[str, str]
    ) -> None:
        """Draw a text, the letters that were found in bold and in the second color."""
        plain, bold = painter.font(), QFont(painter.font())
        bold.setBold(True)
        x = area.left()
        for place, letter in enumerate(text):
            painter.setFont(bold if place in found else plain)
            painter.setPen(QColor(colors[place in found]))
            width = painter.fontMetrics().horizontalAdvance(letter)
            if x + width > area.right():
                break
            painter.drawText(QRect(x, area.top(), width + 2, area.height()), 0, letter)
            x += width


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(max(font.pointSizeF() * 0.88, 7.0))
    return small
