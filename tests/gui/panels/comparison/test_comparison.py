"""Comparing two runs in the window: what is drawn, what the strip and the table say, and the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
import pytest
from PyQt6.QtWidgets import QToolButton

from core import HistoryEntry, NuclearNorm, Settings
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK, THEMES
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.widgets.style import palette

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def add_run(window, update, *, noise, **changes):
    """Add a run that is over, without a solver."""
    run = window.session.add_run(Settings(rank=3).with_changes(**changes))
    run.last, run.state = update, RunState.FINISHED
    run.history.extend([HistoryEntry(k, 0.01 * k, 2.0 - 0.1 * k + noise, "refine") for k in range(9)])
    window.session.report_run(run)
    return run


@pytest.fixture
def window(qtbot, make_window, make_update, known) -> MainWindow:
    """A window with three runs of different noise; the last one is shown."""
    window = make_window(known.sequence)
    window.session.set_live(False)
    for number, noise in enumerate((0.0, 0.02, 0.05)):
        add_run(window, make_update(known, noise=noise, seed=number), noise=noise, rank=3 + number)
    window.display.refresh()
    return window


def settled(qtbot, window):
    """Wait for the picture of both runs."""
    session = window.session
    qtbot.waitUntil(
        lambda: (
            window.comparison.together is not None
            and window.display.compared_picture is not None
            and window.display.compared_picture.of.update is session.compared.last
        )
    )
    window.display.refresh()


def expected_points(window, run):
    return build_shapes(run.sequence, run.last, window.session.alignment).points


def test_ctrl_d_compares_with_the_previous_run_and_again_stops_comparing(qtbot, window):
    action = window.toolbars.actions["compare"]
    action.trigger()
    assert window.session.compared.number == 2
    settled(qtbot, window)
    scene = window.display.scene
    np.testing.assert_allclose(scene.other, expected_points(window, window.session.runs[1])[0].T, atol=1e-9)
    assert scene.other_name == "2 bilinear, WNN" and window.compare_panel.isVisible()
    action.trigger()
    window.display.refresh()
    assert window.session.compared is None and not window.compare_panel.isVisible()
    assert window.display.scene.other is None


def test_escape_stops_comparing_once_nothing_is_selected(qtbot, window):
    window.comparison.toggle()
    window.session.set_point(4)
    window.toolbars.actions["deselect"].trigger()
    assert window.comparison.on and window.session.point == -1
    window.toolbars.actions["deselect"].trigger()
    assert not window.comparison.on


def test_the_bar_shows_the_distance_and_the_alignment(qtbot, window):
    window.comparison.toggle()
    settled(qtbot, window)
    points = [expected_points(window, run) for run in window.session.runs[1:]]
    mean = np.linalg.norm(points[0] - points[1], axis=1).mean()
    said = window.compare_panel._summary.full_text
    assert said.startswith(f"Mean distance {mean:.2f} mm, in this frame ")
    assert said.endswith("per-frame similarity")


def test_differences_color_the_points_and_fill_the_heat_strip(qtbot, window, known):
    window.comparison.toggle()
    settled(qtbot, window)
    errors = window.timeline_controller._errors
    window.session.set_compare_mode("difference")
    window.display.refresh()
    scene, together = window.display.scene, window.comparison.together
    np.testing.assert_allclose(scene.color_values, together.distances[scene.frame])
    assert "truth" not in scene.layers and "truth" in window.session.appearance.layers
    assert window.timeline.series.name == "run distance"
    np.testing.assert_array_equal(window.timeline.strip._errors, together.distances)
    window.comparison.stop()
    assert window.session.appearance.color_by == "role"
    assert window.timeline.series is errors
    np.testing.assert_array_equal(window.timeline.strip._errors, errors.per_point)


def test_w_goes_to_where_two_runs_differ_most_at_the_first_press(qtbot, window):
    window.toolbars.actions["worst_frame"].trigger()  # by the errors: what was found is not gone on from
    window.comparison.toggle()
    settled(qtbot, window)
    window.session.set_compare_mode("difference")
    window.display.refresh()
    together = window.comparison.together
    apart = together.distances.mean(axis=1)
    window.toolbars.actions["worst_frame"].trigger()
    assert window.session.frame == int(np.argmax(apart))
    assert "differ most" in window.status.activity.full_text
    assert window.timeline.transport.findChild(QToolButton, "worst").text() == "Apart"
    window.display.refresh()
    caption = window.display.scene.caption
    assert caption.endswith(f"{apart.max():.3g} {together.unit} between the runs")
    window.comparison.stop()
    assert window.timeline.transport.findChild(QToolButton, "worst").text() == "Worst"


def test_coloring_by_something_else_ends_the_difference_and_is_kept(qtbot, window):
    window.comparison.toggle()
    settled(qtbot, window)
    window.session.set_compare_mode("difference")
    window.appearance.change(color_by="error")
    assert window.session.compare_mode == "overlay" and window.session.appearance.color_by == "error"
    window.comparison.stop()
    assert window.session.appearance.color_by == "error"


def test_side_by_side_each_run_has_a_view_under_its_name_and_one_camera(qtbot, window):
    window.comparison.toggle()
    settled(qtbot, window)
    window.session.set_compare_mode("side")
    window.display.refresh()
    first, second = window.scene_view, window.compare_splitter.second
    qtbot.waitUntil(lambda: second.isVisible() and second.width() > 100)
    assert window.display.scene.other is None
    shown = second._scene
    np.testing.assert_allclose(
        shown.estimate, expected_points(window, window.session.runs[1])[0].T, atol=1e-9
    )
    assert [label.text() for label in window.compare_splitter._titles] == [
        "3 bilinear, WNN",
        "2 bilinear, WNN",
    ]
    assert abs(second.width() - first.width()) <= 2
    assert min(view.buttons.geometry().left() for view in (first, second)) >= 0
    first.set_axis_preset("top")
    assert second.orbit == first.orbit
    second.set_axis_preset("side")
    assert second.orbit == first.orbit
    window.session.set_frame(5)
    window.display.refresh()
    assert second._scene.frame == 5
    window.session.set_compare_mode("overlay")
    assert not second.isVisible() and not any(label.isVisible() for label in window.compare_splitter._titles)


def test_the_table_lists_parameters_that_differ_and_the_numbers_of_both(qtbot, window):
    window.comparison.toggle()
    settled(qtbot, window)
    window.compare_panel._more.click()
    table = window.compare_splitter.table
    assert table.isVisible()
    rows = {row.name: row for row in table._rows}
    assert (rows["rank"].first, rows["rank"].second) == ("5", "4")
    assert rows["3-D error"].better == 2  # the run with less noise
    assert rows["log10 loss"].better == 2
    window.compare_panel._more.click()
    assert not table.isVisible()


def test_losses_of_other_objectives_are_not_ranked(qtbot, window, make_update, known):
    add_run(window, make_update(known, noise=0.3, seed=7), noise=0.3, penalty=NuclearNorm())
    window.comparison.toggle()
    settled(qtbot, window)
    rows = {row.name: row for row in window.compare_splitter.table._rows}
    assert rows["log10 loss"].better == 0 and "another penalty" in rows["log10 loss"].tip
    assert rows["penalty"].first == "NN"


def test_showing_the_second_run_lets_the_two_change_their_places(qtbot, window):
    window.comparison.toggle()
    window.run_list.run_requested.emit(2)
    assert (window.session.shown.number, window.session.compared.number) == (2, 3)
    window.comparison.swap()
    assert (window.session.shown.number, window.session.compared.number) == (3, 2)
    window.comparison.stop()
    window.run_list.run_requested.emit(2)
    assert window.session.compared is None


def beside(window):
    """Return which curves of the loss have the color of the run beside."""
    items = window.loss_plot.plot_widget.getPlotItem().listDataItems()[-3:]
    return [pg.mkPen(item.opts["pen"]).color() == pg.mkColor(DARK.other) for item in items]


def test_any_two_runs_are_compared_from_the_list_and_the_strip(qtbot, window):
    window.loss_plot.setPalette(palette(DARK))
    window.run_list.compare_requested.emit(1)
    assert window.session.compared.number == 1
    assert beside(window) == [True, False, False] and window.loss_plot.header._all.isChecked()
    window.compare_panel.run_chosen.emit(2)
    assert window.session.compared.number == 2
    window.run_list.compare_requested.emit(2)
    assert window.session.compared is None and not any(beside(window))
    assert not window.loss_plot.header._all.isChecked()
    window.run_list.compare_requested.emit(3)
    assert window.session.compared is None and "Run 3 is shown" in window.messages.text


def test_forgetting_the_compared_run_ends_the_comparison(qtbot, window):
    window.comparison.toggle()
    window.runs.forget(window.session.compared)
    assert not window.comparison.on and not window.compare_panel.isVisible()


def test_one_run_alone_shows_what_to_do(qtbot, make_window, make_update, known):
    window = make_window(known.sequence)
    add_run(window, make_update(known, noise=0.0), noise=0.0)
    window.comparison.toggle()
    assert "one run only" in window.messages.text and not window.comparison.on


def test_another_sequence_ends_the_comparison(qtbot, window, make_known):
    window.comparison.toggle()
    settled(qtbot, window)
    window.session.set_compare_mode("side")
    window.opening.open_sequence(make_known(frames=6).sequence)
    window.display.refresh()
    assert not window.comparison.on and not window.compare_panel.isVisible()
    assert window.display.scene.frame_count == 6


def test_the_key_for_the_next_alignment_shows_its_name_and_the_button_has_the_menu(qtbot, window):
    session = window.session
    session.set_theme(DARK)  # whose tool bar has room for all at this width
    names = []
    for _ in range(5):
        window.toolbars.actions["alignment"].trigger()
        window.display.refresh()
        names.append(session.alignment.words())
        assert window.messages.text.lower().startswith(names[-1].lower())
        assert names[-1] in window.status.headline.full_text
        if session.alignment.compares:
            assert names[-1] in window.display.scene.caption
            assert any(names[-1] in line for line in window.run_list.tree.rows[0].tip.splitlines())
    assert names == [
        "one similarity for all frames", "rigid motion per frame", "as is, by the cameras", "no alignment",
        "per-frame similarity",
    ]  # fmt: skip
    button = window.findChild(QToolButton, "alignment")
    assert button.isVisible() and button.menu() is window.alignment.menu
    assert "per-frame similarity" in button.toolTip()


def test_the_menu_of_alignments_offers_what_is_possible_and_mirrors(qtbot, window, known):
    menu, session = window.alignment.menu, window.session
    kinds = {action.text().replace("&", ""): action for action in menu.actions() if action.text()}
    kinds["Rigid motion per frame"].trigger()
    mirror = kinds["Mirror image"].menu()
    next(action for action in mirror.actions() if action.text().replace("&", "") == "On").trigger()
    assert session.alignment.words() == "rigid motion per frame, mirrored"
    bare = replace(known.sequence, rotations=None, translations=None, digest="bare")
    window.opening.open_sequence(bare)
    assert not kinds["As is, by the cameras"].isEnabled()
    assert "true cameras" in kinds["As is, by the cameras"].toolTip()
    window.opening.open_sequence(replace(bare, truth=None, digest="barer"))
    assert not any(action.isEnabled() for text, action in kinds.items() if text != "Mirror image")
    button = window.findChild(QToolButton, "alignment")
    qtbot.waitUntil(lambda: not button.isVisible())
    window.toolbars.actions["alignment"].trigger()
    assert "no ground truth" in window.messages.text


def test_the_compared_run_has_a_color_that_no_other_run_has():
    for theme in THEMES.values():
        assert theme.other not in {theme.accent, theme.estimate, theme.truth, *theme.runs}
