"""The sheet of shortcuts: every action with a key, and what views, lists and fields do with mouse and keys.

These declare it as GESTURES, pairs of what is done and what follows.
"""

from __future__ import annotations

import html
from collections.abc import Collection

from PyQt6.QtCore import QSize, Qt
from PyQt6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.outliers.outliers_panel import OutliersPlot
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumCanvas
from nrsfm_gui.panels.points.points_table import PointsTable
from nrsfm_gui.panels.sequences.sequence_tree import SequenceTree
from nrsfm_gui.panels.timeline.error_curve import ErrorCurve
from nrsfm_gui.panels.timeline.frame_slider import FrameSlider
from nrsfm_gui.panels.timeline.heat_strip import HeatStrip
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.shell.actions import ACTIONS, SWEEP_SECTION
from nrsfm_gui.sweeps.heat_map import HeatMap
from nrsfm_gui.sweeps.runs_table import RunsTable
from nrsfm_gui.sweeps.sweep_window import SweepWindow
from nrsfm_gui.widgets.color_bar import ColorBar
from nrsfm_gui.widgets.command_palette import match
from nrsfm_gui.widgets.dialogs import resize_within_screen
from nrsfm_gui.widgets.dock_title import DockTitle
from nrsfm_gui.widgets.drag_number import DragLabel, DragSlider
from nrsfm_gui.widgets.fields import NumberField, filled, grid_layout, with_tip
from nrsfm_gui.widgets.headline import Headline
from nrsfm_gui.widgets.labels import PlainLabel
from nrsfm_gui.widgets.plots.frame_chart import FrameChart

SIZE = QSize(1000, 700)
WHERE = (
    "Keys without Ctrl act in the views: 3-D, 2-D, timeline and plots. A click into a view gives it the "
    "keys, Escape leads back to the 3-D view. Letters, digits and brackets act wherever no text is typed."
)
# The classes whose mouse and keys each section is about.
GESTURES = {
    "Mouse, in the tool bar": (Headline,),
    "Mouse, in the 3-D view": (SceneView, ColorBar),
    "Mouse, in the 2-D view": (TracksView,),
    "Mouse, in the timeline": (ErrorCurve, FrameSlider, HeatStrip),
    "Mouse, in the loss plot": (LossPlot,),
    "Weights": (SpectrumCanvas,),
    "Other plots": (FrameChart, OutliersPlot),
    "Sequences and runs": (SequenceTree,),
    "Table of points": (PointsTable,),
    SWEEP_SECTION: (SweepWindow, RunsTable, HeatMap),
    "Panels": (DockTitle,),
    "Fields of parameters": (NumberField, DragSlider, DragLabel),
}


Line = tuple[str, str, str]  # the title that it is found by, what it does, and its keys


def shortcut_sections() -> dict[str, list[Line]]:
    """Return titles, tips and keys of all actions that have keys, by menu; then what views declare."""
    sections: dict[str, list[Line]] = {}
    for spec in ACTIONS:
        if spec.shortcuts:
            line = spec.title.replace("&", ""), spec.tip, spec.keys
            sections.setdefault(spec.menu.replace("&", ""), []).append(line)
    for title, classes in GESTURES.items():
        sections[title] = [("", tip, keys) for each in classes for keys, tip in each.GESTURES]
    return sections


class ShortcutSheet(QDialog):
    """All shortcuts, in two columns of sections; typed words filter the lines."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find a key or what it does")
        with_tip(self.field, "Find a shortcut", "Words of what is wanted, or a key")
        self.field.setClearButtonEnabled(True)
        content = QWidget()
        columns, heights = [QVBoxLayout(), QVBoxLayout()], [0, 0]
        for column in columns:
            column.setSpacing(16)
        filled(QHBoxLayout(content), *((column, 1) for column in columns), spacing=36, margins=None)
        self.sections: list[Section] = []
        for title, lines in shortcut_sections().items():
            side = 0 if heights[0] <= heights[1] else 1
            self.sections.append(Section(title, lines))
            columns[side].addWidget(self.sections[-1])
            heights[side] += len(lines) + 2
        for column in columns:
            column.addStretch(1)
        area = QScrollArea()
        area.setWidget(content)
        area.setWidgetResizable(True)
        area.setAccessibleName("Shortcuts")
        nothing = "No shortcut is called so; Ctrl+K finds actions without a key, too."
        self._nothing = PlainLabel(nothing, role="muted")
        self._nothing.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        where = PlainLabel(WHERE, role="muted", wraps=True)
        filled(QVBoxLayout(self), self.field, where, self._nothing, area, buttons, margins=None)
        resize_within_screen(self, SIZE)
        self.field.textChanged.connect(self._filter)
        self.field.setFocus()

    def _filter(self, pattern: str) -> None:
        found = [section.filter(pattern) for section in self.sections]
        self._nothing.setVisible(not any(found))


class Section(QWidget):
    """The shortcuts of one menu."""

    def __init__(self, title: str, lines: Collection[Line]) -> None:
        super().__init__()
        self._title = title
        self._lines: list[tuple[Line, QLabel, PlainLabel]] = []
        grid = grid_layout(self, 14, 4)
        grid.addWidget(PlainLabel(title, role="heading"), 0, 0, 1, 2)
        for row, line in enumerate(lines, start=1):
            key, text = QLabel(f"<b>{html.escape(line[2])}</b>"), PlainLabel(line[1], wraps=True)
            grid.addWidget(key, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, row, 1)
            self._lines.append((line, key, text))
        grid.setColumnMinimumWidth(0, 130)
        grid.setColumnStretch(1, 1)

    def filter(self, pattern: str) -> bool:
        """Show the lines that have all words of a pattern; return whether there are any."""
        found = [match(pattern, (*line, self._title)) is not None for line, _key, _text in self._lines]
        for has, (_line, *labels) in zip(found, self._lines, strict=True):
            for label in labels:
                label.setVisible(has)
        self.setVisible(any(found))
        return any(found)
