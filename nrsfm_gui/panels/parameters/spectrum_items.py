"""What is drawn in the weights panel: bars, handles, a place for one more, and a number beside a handle.

Everything is made once; what changes is put into the items that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtWidgets import QGraphicsRectItem

from nrsfm_gui.widgets.plots.plots import ONLY_FOR_USE

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.model.theme import Theme

BAR_WIDTH = 0.56
KEPT, DROPPED, POINTED = 150, 50, 225  # of 255: how strongly bars are painted
HANDLE, HELD = 12, 17  # pixels across
GHOST_HEIGHT = 0.3
HEADROOM = 0.06  # above the top of the scales
NEAR_TOP = 0.85  # above it a handle's number stands below it


class SpectrumItems:
    """The items of a plot whose vertical axis goes from 0 to 1."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._plot = plot
        self._bars = pg.BarGraphItem(x=[], height=[], width=BAR_WIDTH, pen=pg.mkPen(None))
        self._line = pg.PlotCurveItem()
        self._handles = pg.ScatterPlotItem(symbol="d", size=HANDLE)
        self._ghost = QGraphicsRectItem()
        self._plus = pg.TextItem("+", anchor=(0.5, 0.5))
        self._number = pg.TextItem("", anchor=(0.5, 1.3))
        for depth, item in enumerate(
            (self._bars, self._ghost, self._plus, self._line, self._handles, self._number)
        ):
            item.setZValue(depth)
            plot.addItem(item, ignoreBounds=True)
        for item in (self._ghost, self._plus):
            item.setData(ONLY_FOR_USE, True)
        self._number.hide()
        self._heights = np.zeros(0)
        self._shares = np.zeros(0)
        self._kept = 0
        self._pointed: int | None = None  # a bar, 0-based
        self._active: int | None = None  # a handle
        self._barrier: int | None = None  # a handle that stopped another one
        self._brushes = {alpha: pg.mkBrush("gray") for alpha in (KEPT, DROPPED, POINTED)}
        self._colors = {"handle": pg.mkBrush("gray"), "active": pg.mkBrush("w"), "barrier": pg.mkBrush("r")}
        self._edge = pg.mkPen("k")
        self._muted, self._accent = pg.mkColor("gray"), pg.mkColor("w")

    @property
    def shares(self) -> Floats:
        """(K,) where the handles stand, 0 to 1."""
        return self._shares

    @property
    def heights(self) -> Floats:
        """(N,) how high the bars are, 0 to 1."""
        return self._heights

    @property
    def barrier(self) -> int | None:
        """The handle that is marked because it stopped another one."""
        return self._barrier

    @property
    def number(self) -> str:
        """The number beside a handle, "" where there is none."""
        return self._number.toPlainText() if self._number.isVisible() else ""

    @property
    def columns(self) -> int:
        """How many there are, without the place for one more."""
        return max(len(self._heights), len(self._shares))

    def set_bars(self, heights: Floats, kept: int) -> None:
        """Show bars; those from `kept` on are to be dropped."""
        self._heights, self._kept = heights, kept
        self._draw_bars()
        self._place_ghost()

    def set_handles(self, shares: Floats) -> None:
        """Show handles."""
        others = len(shares) != len(self._shares)
        self._shares = shares
        self._draw_handles()
        if others:
            self._place_ghost()

    def point_at(self, bar: int | None) -> None:
        """Show what a click on a bar would keep; None shows what is kept."""
        if bar != self._pointed:
            self._pointed = bar
            self._draw_bars()
            self._ghost.setPen(self._ghost_pen(bar == self.columns and bar is not None))

    def set_active(self, handle: int | None, text: str = "") -> None:
        """Mark a handle and write a number beside it."""
        changed = handle != self._active
        self._active = handle
        there = handle is not None and handle < len(self._shares)
        self._number.setVisible(there)
        if handle is not None and there:
            share = float(self._shares[handle])
            self._number.setText(text)
            self._number.setAnchor((0.5, 1.3 if share < NEAR_TOP else -0.3))
            self._number.setPos(handle + 1, share)
        if changed:
            self._draw_handles()

    def set_barrier(self, handle: int | None) -> None:
        """Mark a handle that stopped another one."""
        if handle != self._barrier:
            self._barrier = handle
            self._draw_handles()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        for alpha in self._brushes:
            color = pg.mkColor(theme.estimate)
            color.setAlpha(alpha)
            self._brushes[alpha] = pg.mkBrush(color)
        self._colors = {
            "handle": pg.mkBrush(theme.residual),
            "active": pg.mkBrush(theme.selection),
            "barrier": pg.mkBrush(theme.warning),
        }
        self._edge = pg.mkPen(theme.panel)
        self._line.setPen(pg.mkPen(theme.residual, width=1))
        self._muted = pg.mkColor(theme.muted)
        self._accent = pg.mkColor(theme.accent)
        self._ghost.setPen(self._ghost_pen(False))
        self._plus.setColor(theme.muted)
        self._number.setColor(theme.text)
        self._number.fill = pg.mkBrush(theme.raised)
        self._number.border = pg.mkPen(theme.border)
        self._draw_bars()
        self._draw_handles()

    def _ghost_pen(self, pointed: bool) -> object:
        color = self._accent if pointed else self._muted
        return pg.mkPen(color, width=1, style=Qt.PenStyle.DashLine)

    def _draw_bars(self) -> None:
        count = len(self._heights)
        kept = self._kept if self._pointed is None else self._pointed + 1
        pointed = self._pointed is not None
        brushes = [
            self._brushes[(POINTED if pointed else KEPT) if k < kept else DROPPED] for k in range(count)
        ]
        self._bars.setOpts(
            x=np.arange(1, count + 1), y0=np.zeros(count), height=self._heights, brushes=brushes
        )

    def _draw_handles(self) -> None:
        count = len(self._shares)
        k = np.arange(1, count + 1)
        marks = [
            "barrier" if i == self._barrier else "active" if i == self._active else "handle" for i in k - 1
        ]
        self._handles.setData(
            x=k,
            y=self._shares,
            brush=[self._colors[mark] for mark in marks],
            size=[HANDLE if mark == "handle" else HELD for mark in marks],
            pen=self._edge,
        )
        self._line.setData(k, self._shares)

    def _place_ghost(self) -> None:
        there = self.columns > 0
        where = self.columns + 1
        self._ghost.setVisible(there)
        self._plus.setVisible(there)
        self._ghost.setRect(QRectF(where - BAR_WIDTH / 2, 0.0, BAR_WIDTH, GHOST_HEIGHT))
        self._plus.setPos(where, GHOST_HEIGHT / 2)
        self._plot.setRange(xRange=(0.4, where + 0.6), yRange=(0.0, 1.0 + HEADROOM), padding=0)
