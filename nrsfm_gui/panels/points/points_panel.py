"""The panel Points: a table of all points, and plots of the selected ones over the frames."""

from __future__ import annotations

import html
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from PyQt6.QtCore import QObject, QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QResizeEvent
from PyQt6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from core import Sequence
from core.foundation import Floats
from nrsfm_gui.engine.throttle import FRAME_MILLISECONDS, PanelUpdater
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.points.points_table import PointsTable
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.scene.shapes import Shapes
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.fields import filled, tool_button
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel, known
from nrsfm_gui.widgets.plots.frame_chart import AXIS_HEIGHT, NO_AXIS_HEIGHT, FrameChart, Plot
from nrsfm_gui.widgets.plots.plot_export import StackedFigure
from nrsfm_gui.widgets.style import Themed

MOST_POINTS = 8  # that are drawn; more could not be distinguished
EMPTY = "Select points to see them over the frames: click, Ctrl+drag, or choose rows of the table."
WIDE = 720  # pixels from which on table and curves are side by side
TABLE_WIDTH = 460  # beside the curves: the titles of all columns are seen
PAGES = {
    "table": ("Table", "A row for every point; its selected rows are the selected points"),
    "errors": ("Errors", "Errors of the selected points over the frames"),
    "paths": (
        "Paths",
        "x, y and z of the selected points over the frames; ground truth is dashed, and a band of "
        "one and of two standard deviations is around the estimate",
    ),
}


@dataclass(frozen=True, eq=False)
class PointsState:
    """What the panel shows; frames and points are counted from 0."""

    sequence: Sequence | None = None
    shapes: Shapes | None = None  # of all its points, None where their errors are not known
    hidden: frozenset[int] = frozenset()  # points that are not drawn elsewhere
    selection: tuple[int, ...] = ()  # points, ascending
    point: int = -1  # that of them which was selected last
    frame: int = 0
    played: tuple[int, int] | None = None  # first and last of the frames that are played, None for all

    @property
    def drawn(self) -> list[int]:
        """The points that have curves: that which was selected last, and the others by number."""
        others = [point for point in self.selection if point != self.point]
        return ([self.point, *others] if self.point >= 0 else others)[:MOST_POINTS]


class PointsCurves(Themed, QWidget):
    """Stacked plots on one axis of frames. A click requests the frame."""

    frame_requested = pyqtSignal(int)  # 0-based
    export_began = pyqtSignal()  # what is shown is about to be read, in a hidden panel, too

    def __init__(self) -> None:
        super().__init__()
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
    def figure(self) -> StackedFigure:
        """The plots with the names of their points, for export."""
        return StackedFigure("selected points over the frames", self, self._shown_charts, self._named_colors)

    def _shown_charts(self) -> list[tuple[FrameChart, int]]:
        """Return the plots from the top, and the pixels by which each is higher than an equal share."""
        self.export_began.emit()
        return self._shares()

    def _named_colors(self) -> list[tuple[str, str]]:
        points = self._content[1]
        return [(f"point {point + 1}", self._color(place).name()) for place, point in enumerate(points)]

    def show_plots(self, plots: Collection[Plot], points: Collection[int], *, note: str = "") -> None:
        """Show plots with a curve for each of up to MOST_POINTS points, and a note after their names."""
        plots, points = tuple(plots), tuple(points)
        self._content = plots, points, note
        while len(self._charts) < len(plots):
            self._add_chart()
        colors = [self._color(place) for place in range(len(points))]
        for chart, plot in zip_longest(self._charts, plots):
            chart.setVisible(plot is not None)
            if plot is not None:
                chart.show_plot(plot, colors, names_frames=plot is plots[-1], color=self._theme.muted)
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
        shares = self._shares()
        room = self.height() - self._names.sizeHint().height() - sum(more for _, more in shares)
        for chart, more in shares:
            self._column.setStretchFactor(chart, max(room // len(shares), 1) + more)

    def _shares(self) -> list[tuple[FrameChart, int]]:
        """Return the plots that are shown; the last one is higher by the axis that it has for all."""
        shown = [chart for chart in self._charts if not chart.isHidden()]
        return [(chart, AXIS_HEIGHT - NO_AXIS_HEIGHT if chart is shown[-1] else 0) for chart in shown]

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


class PointsPanel(QWidget):
    """Table and curves side by side, or one of them where there is little space."""

    frame_requested = pyqtSignal(int)
    # A click with the right button on a row of the table, at a place of the screen.
    menu_requested = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(240, 150)
        self._page = "table"
        self._state = PointsState()
        self.table = PointsTable()
        self.table.setToolTip("All points with their errors; click a heading to sort, a row to select")
        self.curves = PointsCurves()
        self.header = QWidget()
        self._count = ElidedLabel(role="muted")
        self._buttons = {name: self._button(name) for name in PAGES}
        group, buttons = QButtonGroup(self), self._buttons.values()
        for button in buttons:
            group.addButton(button)
        filled(QHBoxLayout(self.header), self._count, *buttons, grows=self._count, margins=(8, 2, 4, 2))
        filled(QHBoxLayout(self), self.table, self.curves, grows=self.curves, spacing=1)
        self.points_selected = self.table.points_selected
        self.table.frame_requested.connect(self.frame_requested)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._on_menu_requested)
        self.curves.frame_requested.connect(self.frame_requested)
        self._show_page()

    def set_state(self, state: PointsState) -> None:
        """Show the values of all points, select rows of the table, and draw the curves of a few."""
        before, self._state = self._state, state
        other = state.shapes is not before.shapes
        if other:
            self.table.set_shapes(state.sequence, state.shapes)
        if state.hidden != before.hidden:
            self.table.set_hidden(state.hidden)
        if other or (state.selection, state.point) != (before.selection, before.point):
            self.table.set_selection(state.selection, state.point)
            self._show_curves()
        count = known(self.table.model()).rowCount()
        self._count.set_full_text(f"{len(state.selection)} of {count} points selected")
        self.curves.set_frame(state.frame)
        self.curves.set_range(state.played)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Show table, curves or both, as there is space."""
        self._show_page()

    def _button(self, name: str) -> QToolButton:
        title, tip = PAGES[name]
        pressed = partial(self._on_page_clicked, name)
        button = tool_button(title, tip, pressed=pressed, object_name=name, checkable=True)
        button.setChecked(name == self._page)
        return button

    def _on_page_clicked(self, page: str) -> None:
        self._page = page
        self._show_page()
        self._show_curves()

    def _on_menu_requested(self, place: QPoint) -> None:
        viewport = self.table.viewport()
        if viewport is not None and self.table.indexAt(place).isValid():
            self.menu_requested.emit(viewport.mapToGlobal(place))

    def _show_page(self) -> None:
        wide = self.width() >= WIDE
        only_table = self._page == "table" and not wide
        self._buttons["table"].setVisible(not wide)
        self._buttons["errors" if wide and self._page == "table" else self._page].setChecked(True)
        self.table.setVisible(wide or only_table)
        self.curves.setVisible(not only_table)
        self.table.setMinimumWidth(TABLE_WIDTH if wide else 0)
        self.table.setMaximumWidth(TABLE_WIDTH if wide else 16_777_215)

    def _show_curves(self) -> None:
        state, points, note = self._state, self._state.drawn, ""
        plots: list[Plot] = []
        if state.sequence is not None and state.shapes is not None and points:
            paths, units = self._page == "paths", state.sequence.units
            plots = _paths(state.shapes, points) if paths else _errors(state.shapes, points, units)
        if points and not plots:
            note = "There are errors and paths after a run: press Run (Ctrl+R)."
        elif len(state.selection) > len(points):
            note = f"({len(points)} of {len(state.selection)})"
        self.curves.show_plots(plots, points, note=note)


def _errors(shapes: Shapes, points: list[int], track_unit: str) -> list[Plot]:
    kinds = ("reproj.", track_unit, shapes.residuals), ("3-D", shapes.unit, shapes.errors)
    return [Plot(name, unit, _of(points, values)) for name, unit, values in kinds if values is not None]


def _paths(shapes: Shapes, points: list[int]) -> list[Plot]:
    if shapes.drawn is None:
        return []
    paths, truths = _of(points, shapes.points), _of(points, shapes.truth)
    stds = tuple(std for std in map(shapes.std_of_coordinates, points) if std is not None)
    return [
        Plot(name, shapes.unit, *(tuple(each[:, axis] for each in kind) for kind in (paths, truths, stds)))
        for axis, name in enumerate("xyz")
    ]


def _of(points: list[int], values: Floats | None) -> tuple[Floats, ...]:
    """Return the values (F, ...) of some points from those of all, (F, ..., P)."""
    return () if values is None else tuple(values[..., point] for point in points)


class PointsController(QObject):
    """Shows in the panel what the session has come to, as long as the panel is visible."""

    def __init__(self, session: Session, display: Display, panel: PointsPanel) -> None:
        super().__init__(panel)
        self._session = session
        self._shapes: Shapes | None = None  # whose errors are known
        updater = PanelUpdater(self._resolve, panel.set_state, self, milliseconds=FRAME_MILLISECONDS)
        self._updater = updater
        session.sequence_changed.connect(self._on_sequence_changed)
        display.scene_shown.connect(self._on_scene_shown)
        updater.rest_while_hidden(panel)
        updater.follow(
            session.selection_changed, session.point_changed, session.hidden_changed, session.frame_changed,
            session.frame_range_changed,
        )  # fmt: skip
        display.refreshed.connect(updater.flush)
        panel.curves.export_began.connect(updater.run)  # the panel may be hidden
        panel.frame_requested.connect(session.set_frame)

    def _on_sequence_changed(self, _sequence: Sequence) -> None:
        self._shapes = None
        self._updater.request()

    def _on_scene_shown(self, scene: Scene) -> None:
        if scene.shapes is not self._shapes and not scene.ahead:
            self._shapes = scene.shapes
            self._updater.request()

    def _resolve(self) -> PointsState:
        session = self._session
        return PointsState(
            session.sequence, self._shapes, session.hidden, session.selection, session.point, session.frame,
            session.frame_range,
        )  # fmt: skip
