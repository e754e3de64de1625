"""Vertical lines and names where the phases of a run begin in the loss plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontMetricsF

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.model.history import History
    from nrsfm_gui.model.theme import Theme

GAP = 6.0  # pixels between two names
LEAST_NAME = 44.0  # pixels that a shortened name needs to tell anything
SUBSET = " (subset)"
BEHIND = -10  # the curves are in front


class _Mark:
    """A vertical line and the name at its upper end."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self.line = pg.InfiniteLine(angle=90, movable=False)
        self.text = pg.TextItem(anchor=(0, 0))
        for item in (self.line, self.text):
            item.setZValue(BEHIND)
            plot.addItem(item, ignoreBounds=True)

    def hide(self) -> None:
        self.line.setVisible(False)
        self.text.setVisible(False)

    def set_theme(self, theme: Theme) -> None:
        self.line.setPen(pg.mkPen(theme.grid, width=1))
        self.text.setColor(theme.muted)


class PhaseMarks:
    """The lines and names of phases in a plot; names never overlap."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self._marks: list[_Mark] = []
        self._theme: Theme | None = None

    @property
    def names(self) -> list[pg.TextItem]:
        """The names that are shown."""
        return [mark.text for mark in self._marks if mark.text.isVisible()]

    def clear(self) -> None:
        """Hide everything."""
        for mark in self._marks:
            mark.hide()

    def place(self, history: History, x: Floats) -> None:
        """Put a line where each phase of a history begins, and the names that there is room for.

        `x` (N,) is where the plot has its records.
        """
        phases = short_phases(history)
        while len(self._marks) < len(phases):
            self._marks.append(_Mark(self._plot))
            if self._theme is not None:
                self._marks[-1].set_theme(self._theme)
        for mark in self._marks[len(phases) :]:
            mark.hide()
        box = self._plot.getViewBox()
        (left, right), (_bottom, top) = box.viewRange()
        pixel = (right - left) / max(box.width(), 1.0)
        starts = x[[first for first, _ in phases]]
        shown = self._names([name for _, name in phases], (starts - left) / pixel, box.width())
        for k, mark in enumerate(self._marks[: len(phases)]):
            mark.line.setValue(float(starts[k]))
            mark.line.setVisible(len(phases) > 1)
            name = shown.get(k, "")
            mark.text.setVisible(bool(name))
            if name:
                if mark.text.toPlainText() != name:
                    mark.text.setPlainText(name)
                mark.text.setPos(float(starts[k]), top)

    def set_theme(self, theme: Theme) -> None:
        """Use the colors of a theme."""
        self._theme = theme
        for mark in self._marks:
            mark.set_theme(theme)

    def _names(self, names: list[str], starts: Floats, width: float) -> dict[int, str]:
        """Return what to write at which phase; `starts` (N,) and `width` are in pixels.

        Names that are not numbers go first, those of long phases before short ones, elided where another name
        begins; numbers are added where they fit without elision.
        """
        document = self._marks[0].text.textItem.document()
        metrics, margins = QFontMetricsF(document.defaultFont()), 2 * document.documentMargin()
        words = [k for k, name in enumerate(names) if not name.isdigit()]
        ends = np.clip([*starts[words[1:]], width], 0.0, width)
        lengths = dict(zip(words, ends - np.clip(starts[words], 0.0, width), strict=True))
        numbers = [k for k in range(len(names)) if k not in lengths]
        shown: dict[int, str] = {}
        occupied: list[tuple[float, float]] = []
        for k in [*sorted(words, key=lambda k: -lengths[k]), *numbers]:
            start, name = float(starts[k]), names[k]
            if start < 0 or any(low - GAP < start < high + GAP for low, high in occupied):
                continue
            free = min([width, *(low - GAP for low, _ in occupied if low > start)]) - start
            needed = metrics.horizontalAdvance(name) + margins
            if needed > free:
                if k not in lengths or free < LEAST_NAME:
                    continue
                name = metrics.elidedText(name, Qt.TextElideMode.ElideRight, free - margins)
            shown[k] = name
            occupied.append((start, start + min(needed, free)))
        return shown


def short_phases(history: History) -> list[tuple[int, str]]:
    """Return where phases begin and what to call them: "rotations 1 of 7", "2", "3", "rigid", "rank 2", "3".

    Parts of a phase, separated by a colon, are merged. Losses of a subset, which are
    not those of the whole, are named so.
    """
    result: list[tuple[int, str]] = []
    before = ""
    for phase in history.phases:
        name = phase.name.split(":")[0]
        if phase.name.endswith(SUBSET) and not name.endswith(SUBSET):
            name += SUBSET
        if name == before:
            continue
        words, last = name.split(), before.split()
        numbered = len(words) > 1 and words[1].isdigit() and words[:1] == last[:1] and last[1].isdigit()
        result.append((phase.first, words[1] if numbered else name))
        before = name
    return result
