"""Plots of the selected points over the frames: errors or paths, one color per point."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.fields import filled
from nrsfm_gui.widgets.labels import PlainLabel
from nrsfm_gui.widgets.plots.frame_chart import AXIS_HEIGHT, NO_AXIS_HEIGHT, FrameChart, Plot
from nrsfm_gui.widgets.plots.plot_export import StackedFigure
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from collections.abc import Collection

    from PyQt6.QtGui import QColor, QResizeEvent

    from nrsfm_gui.model.theme import Theme

MOST_POINTS = 8  # that are drawn; more could not be distinguished
EMPTY = "Select points to see them over the frames: click, Ctrl+drag, or choose rows of the table."


class PointsCurves(Themed, QWidget):
    """Stacked plots on one axis of frames. A click requests the frame."""

    frame_requested = pyqtSignal(int)  # 0-based
    export_began = pyqtSignal()  # what is shown is about to be read, in a hidden panel, too

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._charts: list[FrameChart] = []
        self._frame = 0
        self._range: tuple[int, int] | None = None
        self._content: tuple[tuple[Plot, ...], tuple[int, ...], str] = ((), (), "")
        self._names = QLabel()
        self._names.setTextFormat(Qt.TextFormat.RichText)
        self._names.setWordWrap(True)
        self._names.setContentsMargins(8, 3, 8, 0)
        self._names.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._empty = PlainLabel(EMPTY, role="muted", wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(16)
        self._column = filled(QVBoxLayout(self), self._names, self._empty, grows=self._empty, spacing=0)
        self._follow_theme()

    @property
    def plots(self) -> tuple[Plot, ...]:
        """What is shown, from the top."""
        return self._content[0]

    @property
    def figure(self) -> StackedFigure:
        """The plots with the names of their points, for export."""
        return StackedFigure("selected points over the frames", self, self._shown_charts, self._named_colors)

    def _shown_charts(self) -> list[tuple[FrameChart, int]]:
        """Return the plots from the top, and the pixels by which each is higher than an equal share."""
        self.export_began.emit()
        shown = [chart for chart in self._charts if not chart.isHidden()]
        return [(chart, AXIS_HEIGHT - NO_AXIS_HEIGHT if chart is shown[-1] else 0) for chart in shown]

    def _named_colors(self) -> list[tuple[str, str]]:
        """Return the names of the points and the colors of their curves."""
        points = self._content[1]
        return [(f"point {point + 1}", self._color(place).name()) for place, point in enumerate(points)]

    def show_plots(
        self, plots: list[Plot] | tuple[Plot, ...], points: Collection[int], *, note: str = ""
    ) -> None:
        """Show plots with a curve for each of up to MOST_POINTS points, and a note after their names."""
        self._content = tuple(plots), tuple(points), note
        while len(self._charts) < len(plots):
            self._add_chart()
        colors = [self._color(place) for place in range(len(points))]
        for place, chart in enumerate(self._charts):
            chart.setVisible(place < len(plots))
            if place < len(plots):
                last = place == len(plots) - 1
                chart.show_plot(plots[place], colors, names_frames=last, color=self._theme.muted)
        self._share_height()
        self._empty.setVisible(not plots)
        self._empty.setText(note if note and not plots else EMPTY)
        self._names.setVisible(bool(plots))
        names = " ".join(
            f'<span style="color:{color.name()}">■</span>&nbsp;{point + 1}&ensp;'
            for color, point in zip(colors, points, strict=True)
        )
        self._names.setText(f"point {names}{html.escape(note)}")

    def set_frame(self, frame: int) -> None:
        """Mark a frame."""
        self._frame = frame
        for chart in self._charts:
            chart.set_frame(frame)

    def set_range(self, frames: tuple[int, int] | None) -> None:
        """Show which frames are played, None for all."""
        self._range = frames
        for chart in self._charts:
            chart.set_range(frames)

    def _apply_theme(self, _theme: Theme) -> None:
        plots, points, note = self._content
        self.show_plots(plots, points, note=note)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the plots equally high."""
        self._share_height()

    def _share_height(self) -> None:
        """Make the last plot higher by the axis that it has for all."""
        shown = [chart for chart in self._charts if not chart.isHidden()]
        more = AXIS_HEIGHT - NO_AXIS_HEIGHT
        each = max((self.height() - self._names.sizeHint().height() - more) // max(len(shown), 1), 1)
        for chart in shown:
            self._column.setStretchFactor(chart, each + (more if chart is shown[-1] else 0))

    def _color(self, place: int) -> QColor:
        colors = (self._theme.accent, *self._theme.runs, self._theme.text)
        return qcolor(colors[place % len(colors)])

    def _add_chart(self) -> None:
        chart = FrameChart()
        if self._charts:
            chart.getPlotItem().setXLink(self._charts[0].getPlotItem())
        chart.set_frame(self._frame)
        chart.set_range(self._range)
        chart.frame_requested.connect(self.frame_requested)
        self._charts.append(chart)
        self._column.addWidget(chart, 1)
