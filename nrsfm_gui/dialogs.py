"""The dialogs of the application: shortcuts, about, and what is shown when something is defective."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Sequence as Items

    from .actions import ActionSpec

MOUSE = (
    ("Left drag", "turn the 3-D view"),
    ("Middle drag, Shift+left drag", "move it"),
    ("Wheel", "zoom"),
    ("Double click", "fit"),
    ("Click", "select a point"),
)
FIELD_KEYS = (
    ("Up, Down, wheel", "step a number by a tenth of a decade, or by one"),
    ("Return, Escape", "leave the field, so that the keys of the window work again"),
)


def shortcut_sections(table: Items[ActionSpec]) -> dict[str, list[tuple[str, str]]]:
    """Return the keys and tips of all actions that have keys, by menu."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for spec in table:
        if spec.shortcuts:
            sections.setdefault(spec.menu.replace("&", ""), []).append((spec.keys, spec.tip))
    sections["Mouse, in the 3-D view"] = list(MOUSE)
    sections["Fields of parameters"] = list(FIELD_KEYS)
    return sections


class ShortcutSheet(QDialog):
    """All shortcuts, in two columns of sections."""

    def __init__(self, table: Items[ActionSpec], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        content = QWidget()
        row = QHBoxLayout(content)
        row.setSpacing(36)
        columns = [QVBoxLayout(), QVBoxLayout()]
        heights = [0, 0]
        for column in columns:
            column.setSpacing(16)
            row.addLayout(column, 1)
        for title, lines in shortcut_sections(table).items():
            side = 0 if heights[0] <= heights[1] else 1
            columns[side].addWidget(_section(title, lines))
            heights[side] += len(lines) + 2
        for column in columns:
            column.addStretch(1)
        area = QScrollArea()
        area.setWidget(content)
        area.setWidgetResizable(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(area)
        layout.addWidget(buttons)
        self.resize(960, 680)


def _section(title: str, lines: Items[tuple[str, str]]) -> QWidget:
    widget = QWidget()
    grid = QGridLayout(widget)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(4)
    grid.setHorizontalSpacing(14)
    heading = QLabel(title)
    heading.setProperty("role", "heading")
    grid.addWidget(heading, 0, 0, 1, 2)
    for row, (keys, tip) in enumerate(lines, start=1):
        key = QLabel(f"<b>{html.escape(keys)}</b>")
        text = QLabel(tip)
        text.setWordWrap(True)
        grid.addWidget(key, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(text, row, 1)
    grid.setColumnMinimumWidth(0, 130)
    grid.setColumnStretch(1, 1)
    return widget


def show_about(parent: QWidget) -> None:
    """Show version, licence and where the parts are loaded from."""
    from PyQt6.QtCore import PYQT_VERSION_STR, qVersion

    from core.version import versions

    from .arguments import version_text

    parts = ", ".join(f"{name} {version}" for name, version in versions().items() if name != "core")
    QMessageBox.about(
        parent,
        "About NRSfM Studio",
        "<h3>NRSfM Studio</h3>"
        "<p>Non-rigid structure from motion with the weighted nuclear norm: open tracks, solve, watch it "
        "converge, compare with the ground truth, export.</p>"
        f"<p>{html.escape(version_text())}<br>PyQt {PYQT_VERSION_STR}, Qt {qVersion()}, {parts}</p>"
        "<p>GNU General Public License, version 3 or later. There is no warranty.</p>",
    )


class DefectDialog(QDialog):
    """A defect of the program: what happened, and offers to save what there is."""

    def __init__(
        self, sentence: str, details: str, parent: QWidget, *, saves: Mapping[str, Callable[[], object]]
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Something went wrong")
        message = QLabel(
            f"<p><b>{html.escape(sentence)}</b></p><p>This is a defect of the program, not of your data. "
            "The application goes on; save your work if you are in doubt.</p>"
        )
        message.setWordWrap(True)
        self._others = 0
        self._count = QLabel()
        self._count.setProperty("role", "muted")
        self._count.hide()
        text = QPlainTextEdit(details)
        text.setAccessibleName("Details of the defect")
        text.setToolTip("Where it happened; copy this when you report the defect")
        text.setReadOnly(True)
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        copy = QPushButton("Copy the details")
        copy.clicked.connect(lambda: (text.selectAll(), text.copy()))
        buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        for title, save in saves.items():
            keep = QPushButton(title)
            keep.clicked.connect(lambda _checked, save=save: save())
            buttons.addButton(keep, QDialogButtonBox.ButtonRole.ActionRole)
        layout = QVBoxLayout(self)
        for part in (message, text, self._count, buttons):
            layout.addWidget(part)
        self.resize(720, 420)

    def count_another(self) -> None:
        """Say that more defects followed while this one was on view."""
        self._others += 1
        self._count.setText(f"{self._others} more followed; the log has them.")
        self._count.show()
