"""The panel Log: the messages of the application, to be filtered, copied, saved and cleared."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontDatabase, QGuiApplication
from PyQt6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from nrsfm_gui.model.log_records import LINES, Level, LogLine
from nrsfm_gui.widgets.fields import ComboBox, filled, tool_button, with_tip
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PyQt6.QtGui import QShowEvent

    from nrsfm_gui.model.theme import Theme

LEVELS = {
    "everything": Level.DETAIL,
    "from notes": Level.INFO,
    "from warnings": Level.WARNING,
    "errors": Level.ERROR,
}
NARROWEST = 54  # pixels of a field in a narrow dock


class LogPanel(Themed, QWidget):
    """Lines from the chosen level on with the filter text; `header` has the controls, for the dock."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: list[LogLine] = []
        self._stale = False  # lines came while the panel could not be seen
        self._level = with_tip(ComboBox(), "Level", "Which lines are shown, by how much they matter")
        self._level.addItems(LEVELS)
        self._level.setCurrentText("from notes")
        self._filter = with_tip(QLineEdit(), "Filter", "Show lines with this text only")
        self._filter.setPlaceholderText("Filter")
        self._filter.setClearButtonEnabled(True)
        self._filter.setMinimumWidth(NARROWEST)
        tip = "The messages of the application: time, level, source, text"
        self._text = with_tip(QPlainTextEdit(), "Log", tip)
        self._text.setReadOnly(True)
        self._text.setMaximumBlockCount(4 * LINES)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setPlaceholderText("There are no messages yet")
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        copy = tool_button("Copy", "Copy the lines that are shown, or what is selected", "Copy the log")
        save = tool_button("Save…", "Save all lines as a text file", "Save the log")
        clear = tool_button("Clear", "Forget all lines", "Clear the log")
        self._level.setMinimumWidth(NARROWEST)  # a panel as wide as all texts would squeeze its neighbors
        self._level.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.header = QWidget()
        parts = (self._level, self._filter, copy, save, clear)
        filled(QHBoxLayout(self.header), *parts, grows=self._filter, spacing=3, margins=(6, 2, 2, 2))
        filled(QVBoxLayout(self), self._text)
        self._level.currentTextChanged.connect(self._rebuild)
        self._filter.textChanged.connect(self._rebuild)
        copy.clicked.connect(self._on_copy_clicked)
        self.save_requested, self.clear_requested = save.clicked, clear.clicked
        self._follow_theme()

    @property
    def shown_text(self) -> str:
        """The lines that pass the filter, as text."""
        return "\n".join(str(line) for line in self._lines if self._passes(line))

    def add_line(self, line: LogLine) -> None:
        """Append a line; the view stays at the end where it was there."""
        self._lines.append(line)
        del self._lines[:-LINES]
        if not self.isVisible():
            self._stale = True
        elif self._passes(line):
            self._text.appendHtml(self._as_html(line))

    def set_lines(self, lines: Iterable[LogLine]) -> None:
        """Show these lines instead of those before."""
        self._lines = list(lines)
        self._rebuild()

    def _apply_theme(self, _theme: Theme) -> None:
        self._rebuild()

    def showEvent(self, event: QShowEvent | None) -> None:
        """Show what came while the panel could not be seen."""
        super().showEvent(event)
        if self._stale:
            self._rebuild()

    def _passes(self, line: LogLine) -> bool:
        terms = self._filter.text().lower().split()
        line_text = f"{line.source} {line.text} {line.details}".lower()
        return line.level >= LEVELS[self._level.currentText()] and all(word in line_text for word in terms)

    def _rebuild(self) -> None:
        self._stale = not self.isVisible()
        if self._stale:
            return
        self._text.clear()
        for line in self._lines:
            if self._passes(line):
                self._text.appendHtml(self._as_html(line))
        bar = self._text.verticalScrollBar()
        if bar is not None:
            bar.setValue(bar.maximum())

    def _as_html(self, line: LogLine) -> str:
        """Return a line as rich text in the color of its level."""
        theme = self._theme
        color = {Level.DETAIL: theme.muted, Level.INFO: theme.text}.get(line.level, theme.warning)
        urgent = f"{line.level.name}  " if line.level >= Level.WARNING else ""
        line_text = f"{line.time:%H:%M:%S}  {line.source:<8}  {urgent}{line.text}"
        rows = [line_text, *(f"    {row}" for row in line.details.splitlines())]
        text = "<br>".join(html.escape(row) for row in rows)
        return f'<span style="color:{color}; white-space:pre-wrap">{text}</span>'

    def _on_copy_clicked(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            chosen = self._text.textCursor().selectedText().replace("\u2029", "\n").replace("\u2028", "\n")
            clipboard.setText(chosen or self.shown_text)
