"""The numbers of a reconstruction, each with its unit, and those of the selected point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

NONE = "–"


@dataclass(frozen=True)
class Number:
    """A line of the panel: what it is, its value as text, and a tip that defines it."""

    label: str
    value: str
    tip: str = ""


class NumbersPanel(QScrollArea):
    """Two lists of labeled values: of the reconstruction, and of the selected point. No signals."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._main = _Table()
        self._point_heading = QLabel("Selected point")
        self._point_heading.setProperty("role", "heading")
        line = QFrame()
        line.setProperty("role", "line")
        self._point = _Table()
        self._hint = QLabel("Click a point in the 3-D or 2-D view to see its numbers.")
        self._hint.setProperty("role", "muted")
        self._hint.setWordWrap(True)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(12, 6, 12, 10)
        layout.setSpacing(6)
        layout.addWidget(self._main)
        layout.addSpacing(4)
        layout.addWidget(self._point_heading)
        layout.addWidget(line)
        layout.addWidget(self._hint)
        layout.addWidget(self._point)
        layout.addStretch(1)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(90)

    def set_numbers(self, numbers: Items[Number]) -> None:
        """Show the numbers of the reconstruction."""
        self._main.set_rows(numbers)

    def set_point(self, title: str, numbers: Items[Number]) -> None:
        """Show the numbers of a point; none are given where no point is selected."""
        appears = bool(numbers) and not self._point.isVisibleTo(self)
        self._point_heading.setText(title)
        self._hint.setVisible(not numbers)
        self._point.setVisible(bool(numbers))
        self._point.set_rows(numbers)
        if appears:  # it may stand below what is seen; its place is known once it is laid out
            QTimer.singleShot(0, self._show_point)

    def _show_point(self) -> None:
        content = self.widget()
        assert content is not None
        needed = max(content.heightForWidth(content.width()), content.minimumSizeHint().height())
        content.resize(content.width(), needed)
        self.ensureWidgetVisible(self._point, 0, 0)


class _Table(QWidget):
    """Label and value pairs; widgets are kept as long as the labels stay."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []

    def set_rows(self, numbers: Items[Number]) -> None:
        while len(self._rows) < len(numbers):
            row = len(self._rows)
            label, value = QLabel(), QLabel()
            label.setProperty("role", "muted")
            label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
            value.setWordWrap(True)
            value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            self._grid.addWidget(label, row, 0)
            self._grid.addWidget(value, row, 1)
            self._rows.append((label, value))
        for row, (label, value) in enumerate(self._rows):
            shown = row < len(numbers)
            label.setVisible(shown)
            value.setVisible(shown)
            if shown:
                number = numbers[row]
                if label.text() != number.label:
                    label.setText(number.label)
                if value.text() != number.value:
                    value.setText(number.value)
                label.setToolTip(number.tip)
                value.setToolTip(number.tip)
