"""The heat map of a sweep as a figure: its colors in every format."""

import numpy as np
import pytest
from hands import send_mouse
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QImage

from nrsfm_gui.model.appearance import COLOR_MAPS
from nrsfm_gui.sweeps.heat_map import HeatMap
from nrsfm_gui.text.sweep_map import build_map
from nrsfm_gui.widgets.colors import LEVELS, color_table
from nrsfm_gui.widgets.plots.plot_export import FigureSize, save_figure


@pytest.fixture
def heat_map(qtbot, rows):
    widget = qtbot.addWidget(HeatMap())
    widget.resize(600, 420)
    widget.set_state(build_map(rows, np.ones(len(rows), dtype=bool), "procrustes_mm", "eta", "rank", "mean"))
    return widget


@pytest.mark.parametrize("number", ["procrustes_mm", "gradient"])
def test_the_label_of_the_color_bar_is_beside_its_numbers(heat_map, rows, number):
    heat_map.set_state(build_map(rows, np.ones(len(rows), dtype=bool), number, "eta", "rank", "mean"))
    heat_map.grab()  # the axis measures its numbers as it paints them
    axis = heat_map._bar.axis
    label = axis.label.mapRectToScene(axis.label.boundingRect())
    margin = axis.label.document().documentMargin()
    assert label.left() + margin >= axis.sceneBoundingRect().left() + axis.textWidth


def test_no_mark_of_an_axis_runs_into_a_cell(heat_map):
    image, box = heat_map.grab().toImage(), heat_map._plot.getViewBox()

    def color(x, y, beside=(0, 0)):
        place = heat_map._widget.mapFromScene(box.mapViewToScene(QPointF(x, y)))
        return image.pixelColor(place.x() + beside[0], place.y() + beside[1])

    for row in range(len(heat_map.state.rows)):
        marks = {color(0, row + 0.5, (across, down)).rgb() for across in (3, 4) for down in (-1, 0, 1)}
        assert marks == {color(0.1, row + 0.2).rgb()}


def test_a_click_in_which_the_mouse_moves_chooses_the_cell(qtbot, heat_map):
    heat_map.show()
    qtbot.waitExposed(heat_map)
    box, view = heat_map._plot.getViewBox(), heat_map._widget.viewport()
    place = heat_map._widget.mapFromScene(box.mapViewToScene(QPointF(0.4, 0.4)))
    with qtbot.waitSignal(heat_map.cell_requested) as requested:
        qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=place)
        moved = place + QPoint(9, 6)
        send_mouse(view, QEvent.Type.MouseMove, moved)
        qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=moved)
    assert requested.args == [0, 0]


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_the_cells_of_an_exported_map_have_the_colors_of_the_color_map(heat_map, tmp_path, read_pdf, suffix):
    path, size = tmp_path / f"map{suffix}", FigureSize(14.0, 10.0, dpi=192)
    save_figure(heat_map.figure, path, size)
    with heat_map.figure.layout(size.pixels):
        box = heat_map._plot.getViewBox()
        places = [
            heat_map._widget.mapFromScene(box.mapViewToScene(QPointF(x, y)))
            for y in (0.1, 1.1)
            for x in (0.1, 1.1)
        ]
    image = QImage(str(path)) if suffix == ".png" else read_pdf(path, (1058, 756))[0]
    values = heat_map.state.values.ravel()
    shares = (values - values.min()) / (values.max() - values.min())
    zoom = image.width() / size.pixels.width()
    for place, share in zip(places, shares, strict=True):
        seen = image.pixelColor(round(place.x() * zoom), round(place.y() * zoom)).getRgb()[:3]
        wanted = color_table(COLOR_MAPS[0])[[int(share * (LEVELS - 1)), int(np.ceil(share * (LEVELS - 1)))]]
        assert np.abs(wanted[:, :3].astype(int) - np.array(seen)).max(axis=1).min() <= 1, (seen, wanted)
