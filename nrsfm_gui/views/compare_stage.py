"""Where the 3-D view stands: alone, or beside the view of a second run, each under the name of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from nrsfm_gui.theme import Theme


class CompareStage(QSplitter):
    """Holds one view, or two of the same width. No signals."""

    def __init__(self, view: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setChildrenCollapsible(False)
        self._titles = [QLabel(), QLabel()]
        self._columns = [_Column(self._titles[0], view)]
        self.addWidget(self._columns[0])
        self._second: QWidget | None = None

    @property
    def second(self) -> QWidget | None:
        """The second view, once there is one."""
        return self._second

    def put_beside(self, view: QWidget) -> None:
        """Take in a second view."""
        self._second = view
        self._columns.append(_Column(self._titles[1], view))
        self.addWidget(self._columns[1])

    def show_two(self, titles: tuple[str, str] | None) -> None:
        """Show both views under the names of their runs, or the first one alone without a name."""
        both = titles is not None and self._second is not None
        if len(self._columns) > 1:
            was = self._columns[1].isVisibleTo(self)
            self._columns[1].setVisible(both)
            if both and not was:
                self.setSizes([self.width() // 2, self.width() - self.width() // 2])
        for label, title in zip(self._titles, titles or ("", ""), strict=True):
            label.setText(title)
            label.setVisible(both)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        for label, color in zip(self._titles, (theme.estimate, theme.other), strict=True):
            label.setStyleSheet(
                f"background: {theme.panel}; color: {theme.text}; padding: 2px 8px;"
                f"border: 0; border-top: 3px solid {color};"
            )


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
