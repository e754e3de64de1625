"""Where the 3-D view stands: alone, or beside the view of a second run; then the table of what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

from nrsfm_gui.panels.comparison.compare_table import CompareTable

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

TABLE_WIDTH = 340  # pixels


class CompareStage(QSplitter):
    """Holds one view, or two of the same width, and the table. No signals."""

    def __init__(self, view: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(False)
        self._titles = [QLabel(), QLabel()]
        self._columns = [_Column(self._titles[0], view)]
        self.addWidget(self._columns[0])
        self._second: QWidget | None = None
        self.table = CompareTable()
        self.addWidget(self.table)
        self.table.hide()

    @property
    def second(self) -> QWidget | None:
        """The second view, once there is one."""
        return self._second

    def put_beside(self, view: QWidget) -> None:
        """Take in a second view."""
        self._second = view
        self._columns.append(_Column(self._titles[1], view))
        self._columns[1].hide()
        self.insertWidget(1, self._columns[1])

    def show_two(self, titles: tuple[str, str] | None) -> None:
        """Show both views under the names of their runs, or the first one alone without a name."""
        both = titles is not None and self._second is not None
        if len(self._columns) > 1:
            was = self._columns[1].isVisibleTo(self)
            self._columns[1].setVisible(both)
            if both != was:
                self._share()
        for label, title in zip(self._titles, titles or ("", ""), strict=True):
            label.setText(title)
            label.setVisible(both)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.table.set_theme(theme)
        for label, color in zip(self._titles, (theme.estimate, theme.other), strict=True):
            label.setStyleSheet(
                f"background: {theme.panel}; color: {theme.text}; padding: 2px 8px;"
                f"border: 0; border-top: 3px solid {color};"
            )

    def show_table(self, on: bool) -> None:
        """Show the table of what differs beside the view, or do not."""
        was = self.table.isVisibleTo(self)
        self.table.setVisible(on)
        if on and not was:
            self._share()

    def _share(self) -> None:
        """Give the table its width, and the views the same share of the rest."""
        table = min(TABLE_WIDTH, self.width() // 2) if self.table.isVisibleTo(self) else 0
        shown = [column for column in self._columns if column.isVisibleTo(self)]
        each = (self.width() - table) // max(len(shown), 1)
        self.setSizes([*(each if column in shown else 0 for column in self._columns), table])


class _Column(QWidget):
    """A title above a view."""

    def __init__(self, title: QLabel, view: QWidget) -> None:
        super().__init__()
        title.hide()
        title.setTextFormat(Qt.TextFormat.PlainText)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(title)
        layout.addWidget(view, 1)
