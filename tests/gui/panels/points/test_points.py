"""The panel of points: the table, the curves, and what a click into either does."""

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtCore import QItemSelectionModel, QPoint, QPointF, Qt
from PyQt6.QtGui import QColor
from reconstructions import build_shapes

from core import Alignment, CameraModel, Sequence, Settings
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.points.points_panel import PointsController, PointsPanel, PointsState
from nrsfm_gui.panels.points.points_table import UNCERTAINTY, PointsTable
from nrsfm_gui.panels.points.selection_controller import SelectionController
from nrsfm_gui.scene.ranking import known_means
from nrsfm_gui.scene.shapes import Shapes
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.widgets.plots.frame_chart import FrameChart, Plot
from nrsfm_gui.widgets.style import palette

LEFT = Qt.MouseButton.LeftButton
QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture
def hidden(qtbot, session, display, sequence):
    """Return the panel of a sequence before any run; it is not shown yet."""
    panel = qtbot.addWidget(PointsPanel())
    panel.resize(700, 300)
    PointsController(session, display, panel)
    SelectionController(session, panel)
    session.set_sequence(sequence)
    display.refresh()
    return panel


@pytest.fixture
def panel(show, display, hidden):
    """Return the panel of a sequence before any run."""
    show(hidden)
    display.refresh()
    return hidden


@pytest.fixture
def solved(session, display, panel, add_solved_run, sequence):
    """Return the panel after a run."""
    add_solved_run(session, sequence, QUICK)
    display.refresh()
    return panel


def rows(panel):
    """Return the points of the selected rows of the table."""
    model = panel.table.selectionModel()
    return sorted(int(panel.table.model().order[index.row()]) for index in model.selectedRows())


def test_bands_of_one_and_two_standard_deviations_are_around_the_curves(show, near):
    chart = show(FrameChart(), 400, 200)
    curve, std = np.linspace(0.0, 10.0, 20), np.full(20, 1.5)
    std[7] = np.nan
    color = QColor("#4c9aff")
    chart.show_plot(Plot("x", "mm", (curve,), stds=(std,)), [color], names_frames=True, color="#888888")
    wide, narrow = (item for item in chart._bands if item.isVisible())
    for item, times in ((wide, 2.0), (narrow, 1.0)):
        x, y = item.getData()
        known = np.flatnonzero(np.isfinite(std))
        np.testing.assert_array_equal(x, np.concatenate([known, known[::-1]]) + 1)
        np.testing.assert_allclose(y[:19] - y[19:][::-1], 2 * times * 1.5)
    picture, place = chart.grab().toImage(), chart.getPlotItem().getViewBox().mapViewToScene
    places = [place(QPointF(15.0, curve[14] + above)).toPoint() for above in (1.0, 2.5, 4.0)]
    seen = [picture.pixelColor(each).blue() for each in places]
    assert seen[0] > seen[1] + 5 > seen[2] + 10
    chart.show_plot(Plot("x", "mm", (curve,)), [color], names_frames=True, color="#888888")
    assert not any(item.isVisible() for item in chart._bands)


def test_the_uncertainty_has_a_column_and_bands_where_it_is_known(panel, known):
    panel.set_state(PointsState(known.sequence, build_shapes(known.sequence, known.result)))
    assert panel.table.isColumnHidden(UNCERTAINTY)
    std = 1e-3 * np.random.default_rng(5).uniform(0.2, 2.0, (12, 3, 20))
    shapes = build_shapes(known.sequence, replace(known.result, std=std))
    panel.set_state(PointsState(known.sequence, shapes, selection=(6,), point=6))
    model = panel.table.model()
    assert not panel.table.isColumnHidden(UNCERTAINTY)
    assert model.headerData(UNCERTAINTY, Qt.Orientation.Horizontal) == "± (mm)"
    assert f"{model.data(model.index(2, UNCERTAINTY))} mm" == measure(shapes.uncertainty[:, 2].mean(), "mm")
    panel._buttons["paths"].click()
    stds = np.stack([plot.stds[0] for plot in panel.curves._content[0]], axis=1)
    np.testing.assert_allclose(stds, shapes.std_of_coordinates()[:, :, 6])


def test_rows_of_the_table_are_the_selection_in_whatever_order_they_stand(session, display, solved):
    table = solved.table
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    means = known_means(display.scene.shapes.errors, 0)
    worst = np.argsort(-means)
    flags = QItemSelectionModel.SelectionFlag
    for row in (0, 3):
        table.selectionModel().select(table.model().index(row, 0), flags.Select | flags.Rows)
    assert session.selection == tuple(sorted(int(worst[row]) for row in (0, 3)))
    before = session.selection
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert tuple(rows(solved)) == before == session.selection
    assert table.model().data(table.model().index(0, 0)) == "1"
    shown = float(table.model().data(table.model().index(5, 2)))
    assert shown == pytest.approx(means[5], rel=5e-3)


def test_the_curves_are_the_errors_and_paths_of_the_selected_points(session, display, solved):
    shapes = display.scene.shapes
    session.set_selection((4, 11))
    display.refresh()
    solved.header.findChild(type(solved._buttons["errors"]), "errors").click()
    plots = solved.curves._content[0]
    assert [plot.unit for plot in plots] == ["px", shapes.unit]
    np.testing.assert_array_equal(plots[0].curves[0], shapes.residuals[:, 4])
    np.testing.assert_array_equal(plots[1].curves[1], shapes.errors[:, 11])
    solved._buttons["paths"].click()
    plots = solved.curves._content[0]
    assert [plot.title for plot in plots] == ["x", "y", "z"]
    np.testing.assert_array_equal(plots[2].curves[1], shapes.points[:, 2, 11])
    np.testing.assert_array_equal(plots[2].dashed[0], shapes.truth[:, 2, 4])
    assert [widget.isVisibleTo(solved) for widget in solved.curves._charts] == [True] * 3
    session.set_frame(8)
    display.refresh()
    assert {chart._cursor.value() for chart in solved.curves._charts} == {9}
    session.set_selection(range(20))
    display.refresh()
    assert len(solved.curves._content[0][0].curves) == 8
    assert "(8 of 20)" in solved.curves._names.text()
    session.set_selection(())
    display.refresh()
    assert solved.curves._empty.isVisibleTo(solved)


@pytest.mark.parametrize("width", [720, 1200])
def test_the_titles_of_all_columns_are_seen_next_to_the_curves(qtbot, solved, width):
    solved.resize(width, 400)
    header = solved.table.horizontalHeader()
    qtbot.waitUntil(lambda: solved.curves.isVisible() and solved.table.isVisible())
    for k in range(header.count()):
        assert header.sectionSize(k) >= header.sectionSizeHint(k), k


def test_a_click_into_the_curves_goes_to_the_frame_and_a_double_click_on_a_row_to_the_worst_one(
    qtbot, session, display, solved
):
    table = solved.table
    table.doubleClicked.emit(table.model().index(6, 0))
    assert session.frame == int(np.argmax(display.scene.shapes.errors[:, 6]))
    session.set_point(4)
    display.refresh()
    solved._buttons["errors"].click()
    plot = solved.curves._charts[0]
    qtbot.waitUntil(plot.isVisible)
    box = plot.getPlotItem().getViewBox()
    where = plot.mapFromScene(box.mapViewToScene(QPointF(9.0, np.mean(box.viewRange()[1]))))
    qtbot.mouseClick(plot.viewport(), LEFT, pos=where)
    qtbot.waitUntil(lambda: session.frame == 8)


def test_what_is_not_seen_is_not_computed_until_it_is(qtbot, show, session, display, hidden):
    session.set_selection((2, 4))
    display.refresh()
    assert hidden.table.model().rowCount() == 0 and len(hidden._state.selection) == 0
    show(hidden)
    qtbot.waitUntil(lambda: len(hidden._state.selection) == 2)
    assert hidden.table.model().rowCount() == 30


def test_the_panel_shows_what_to_do_while_there_is_nothing(session, display, panel):
    assert panel.table.model().data(panel.table.model().index(0, 1)) == "–"
    panel._buttons["errors"].click()
    assert "Select points" in panel.curves._empty.text()
    session.set_point(3)
    display.refresh()
    assert "press Run" in panel.curves._empty.text()


def test_the_table_selects_and_sorts_very_many_points(qtbot, show):
    count = 6_000
    rng = np.random.default_rng(0)
    values = rng.exponential(1.0, (2, count))
    table = show(PointsTable(), 300, 250)
    shapes = Shapes(
        "mm", Alignment(), None, np.zeros((2, 2)), truth=None, cameras=None,
        residuals=values[[0, 0]], errors=values[[1, 1]],
    )  # fmt: skip
    tracks = np.zeros((2, 2, count))
    sequence = Sequence(tracks, np.ones((2, count), dtype=bool), CameraModel.PERSPECTIVE, "many")
    table.set_shapes(sequence, shapes)
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    table.set_selection(range(0, count, 40), 40)
    table.grab()
    table.set_selection(range(count), -1)
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    table.grab()
    assert len(table._selected()) == count
    table.set_selection(range(0, count, 2), 0)  # every other one, all over the table
    with qtbot.waitSignal(table.points_selected) as caught:
        qtbot.mouseClick(table.viewport(), LEFT, pos=QPoint(60, 40))
    assert len(caught.args[0]) == 1
    table.set_selection(range(0, count, 2), 0)
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert table._selected().tolist() == list(range(0, count, 2))
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert f"{table.model().data(table.model().index(0, 2))} mm" == measure(values[1].max(), "mm")


def test_hidden_points_have_the_muted_color_of_either_theme(session, display, solved):
    session.set_hidden((3,))
    display.refresh()
    model = solved.table.model()
    for theme in (DARK, LIGHT):
        solved.setPalette(palette(theme))
        shown = [model.data(model.index(row, 0), Qt.ItemDataRole.ForegroundRole) for row in (3, 4)]
        assert shown[0].color().name() == theme.muted and shown[1] is None


def test_lengths_in_the_table_have_as_many_digits_as_elsewhere(show):
    table, lengths = show(PointsTable(), 300, 250), np.array([[0.58, 0.606, 2.4, 123.4, 0.0004, np.nan]])
    shapes = Shapes(
        "mm", Alignment(), None, np.zeros((2, 6)), truth=None, cameras=None, residuals=lengths[[0, 0]],
    )  # fmt: skip
    seen = np.ones((2, 6), dtype=bool)
    table.set_shapes(Sequence(np.zeros((2, 2, 6)), seen, CameraModel.PERSPECTIVE, "lengths"), shapes)
    model = table.model()
    texts = [model.data(model.index(row, 1)) for row in range(6)]
    assert texts == ["0.580", "0.606", "2.40", "123.4", "4.0e-04", "–"]
    assert model.data(model.index(0, 0)) == "1"


def test_a_heading_without_room_begins_with_its_name(panel):
    assert panel.table.horizontalHeader().textElideMode() is Qt.TextElideMode.ElideRight
