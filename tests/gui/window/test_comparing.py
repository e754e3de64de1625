"""Two runs that are compared: what is drawn, what the bar and the table show, and the way out.

Also the alignment with the ground truth.
"""

from dataclasses import replace

import numpy as np
import pyqtgraph as pg
import pytest
from PyQt6.QtWidgets import QToolButton

from core import NuclearNorm, Settings
from core.foundation import DEPTHS, WNN, Phase, PhaseKind, relative_distance
from nrsfm_gui.model.theme import DARK, THEMES
from nrsfm_gui.panels.comparison.compare_controller import compare_rows
from nrsfm_gui.scene.incumbent import incumbent_of
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.scene.summaries import measure, percent_of, relative_measure
from nrsfm_gui.widgets.style import palette


@pytest.fixture
def window(qtbot, emptied, known, make_iterate, add_run):
    """Return a window with three runs of different noise; the last one is shown."""
    session = emptied.session
    session.set_sequence(known.sequence)
    for number, noise in enumerate((0.0, 0.02, 0.05)):
        iterate = make_iterate(known, noise=noise, seed=number)
        add_run(session, iterate, Settings(rank=3 + number), noise=noise)
    emptied.display.refresh()
    return emptied


def points_of(window, run):
    return build_shapes(run.sequence, run.last, window.session.alignment).points


def test_ctrl_d_compares_with_the_previous_run_and_again_stops_comparing(window, wait_for_comparison):
    window.toolbars.actions["compare"].trigger()
    assert window.session.compared.number == 2
    wait_for_comparison(window.session, window.display)
    scene = window.display.scene
    np.testing.assert_allclose(scene.other, points_of(window, window.session.runs[1])[0].T, atol=1e-9)
    assert scene.other_name == "2 bilinear, rank 4" and window.compare_panel.isVisible()
    window.toolbars.actions["compare"].trigger()
    window.display.refresh()
    assert window.session.compared is None and not window.compare_panel.isVisible()
    assert window.display.scene.other is None


def test_the_bar_shows_the_distance_and_the_alignment(window, wait_for_comparison):
    window.compare_controller.toggle()
    wait_for_comparison(window.session, window.display)
    points = [points_of(window, run) for run in window.session.runs[1:]]
    mean = np.linalg.norm(points[0] - points[1], axis=1).mean()
    reported = window.compare_panel.summary.full_text
    apart = percent_of(relative_distance(points[0], points[1]), 1.0)
    assert reported.startswith(f"{apart} of the object apart · mean distance {mean:.2f} mm, in this frame ")
    assert reported.endswith("per-frame similarity")
    window.session.set_compare_mode("difference")
    window.session.set_appearance(window.session.appearance.changed(color_by="error"))
    assert window.session.compare_mode == "overlay"  # coloring by something else ends the difference
    window.compare_controller.stop()
    assert window.session.appearance.color_by == "error"


def test_side_by_side_each_run_has_a_view_under_its_name_and_one_camera(qtbot, window, wait_for_comparison):
    window.compare_controller.toggle()
    wait_for_comparison(window.session, window.display)
    window.session.set_compare_mode("side")
    window.display.refresh()
    first, second = window.scene_view, window.compare_splitter.second
    qtbot.waitUntil(lambda: second.isVisible() and second.width() > 100)
    assert window.display.scene.other is None
    shown = second._scene
    np.testing.assert_allclose(shown.estimate, points_of(window, window.session.runs[1])[0].T, atol=1e-9)
    titles = [label.text() for label in window.compare_splitter._titles]
    assert titles == ["3 bilinear, rank 5", "2 bilinear, rank 4"]
    assert abs(second.width() - first.width()) <= 2
    assert min(view.buttons.geometry().left() for view in (first, second)) >= 0
    first.set_axis_preset("top")
    assert second.camera.orbit == first.camera.orbit
    second.set_axis_preset("side")
    assert second.camera.orbit == first.camera.orbit
    window.session.set_frame(5)
    window.display.refresh()
    assert second._scene.frame == 5
    window.session.set_compare_mode("overlay")
    assert not second.isVisible() and not any(label.isVisible() for label in window.compare_splitter._titles)


def test_the_table_lists_parameters_that_differ_and_the_numbers_of_both(window, wait_for_comparison):
    window.compare_controller.toggle()
    wait_for_comparison(window.session, window.display)
    window.compare_panel._more.click()
    table = window.compare_splitter.table
    assert table.isVisible()
    rows = {row.name: row for row in table._rows}
    assert (rows["rank"].first, rows["rank"].second) == ("5", "4")
    assert rows["3-D error"].better == 2  # the run with less noise
    assert rows["log10 loss"].better == 2
    window.compare_panel._more.click()
    assert not table.isVisible()


def test_losses_of_other_objectives_are_not_ranked(window, add_run, make_iterate, known, wait_for_comparison):
    iterate, settings = make_iterate(known, noise=0.3, seed=7), Settings(rank=3, penalty=NuclearNorm())
    add_run(window.session, iterate, settings, noise=0.3)
    window.compare_controller.toggle()
    wait_for_comparison(window.session, window.display)
    rows = {row.name: row for row in window.compare_splitter.table._rows}
    assert rows["log10 loss"].better == 0 and "another penalty" in rows["log10 loss"].tip
    assert rows["penalty"].first == "NN"


def test_every_line_of_the_table_has_a_name_of_its_own(window, add_run, make_iterate, known):
    end = make_iterate(known, noise=0.1)
    refined = replace(end, record=replace(end.record, energy=-3.0, phase=Phase(PhaseKind.FINEST)))
    runs = [
        add_run(window.session, each, Settings(objective=objective))
        for each, objective in ((end, WNN), (refined, DEPTHS))
    ]
    rows = compare_rows(*runs, tuple(incumbent_of(run, run.last, None) for run in runs))
    names = [row.name for row in rows]
    assert len(names) == len(set(names)) and {"objective", "minimized value"} <= set(names)


def test_the_two_change_their_places_and_the_comparison_ends_with_its_runs_or_its_sequence(
    window, make_known
):
    session, controller = window.session, window.compare_controller

    def ended():
        window.display.refresh()
        return not controller.on and not window.compare_panel.isVisible()

    controller.toggle()
    session.set_shown(session.runs[1])  # showing the second run
    assert (session.shown.number, session.compared.number) == (2, 3)
    controller.swap()
    assert (session.shown.number, session.compared.number) == (3, 2)
    controller.stop()
    session.set_shown(session.runs[1])
    assert session.compared is None and ended()
    controller.toggle()
    session.drop_run(session.compared)
    assert ended()
    controller.toggle()
    session.set_compare_mode("side")
    left = session.sequence
    session.set_sequence(make_known(frames=6).sequence)
    assert ended() and len(window.display.scene.shapes.truth) == 6
    session.set_sequence(left)
    session.drop_run(session.runs[0])
    controller.toggle()
    assert "one run only" in window.message_bar.text and ended()


def test_the_compared_run_has_a_color_that_no_other_run_has():
    for theme in THEMES.values():
        assert theme.other not in {theme.accent, theme.estimate, theme.truth, *theme.runs}


def test_the_table_has_the_numbers_of_the_second_run_as_soon_as_it_is_drawn(qtbot, window):
    window.compare_controller.toggle()
    qtbot.waitUntil(lambda: window.display.together is not None)
    rows = {row.name: row.second for row in window.compare_controller._stage.table._rows if row.number}
    second = window.display.compared_incumbent
    assert rows["reprojection"] == measure(second.errors.reprojection, "px")
    assert rows["3-D error"].startswith(measure(second.errors.error, second.errors.unit))


def test_differences_color_the_points_and_fill_the_heat_strip(window, known, wait_for_comparison):
    window.compare_controller.toggle()
    wait_for_comparison(window.session, window.display)
    errors = window.timeline_controller._errors[0]
    window.session.set_compare_mode("difference")
    window.display.refresh()
    scene, together = window.display.scene, window.compare_controller.together
    np.testing.assert_allclose(scene.color_values, together.distances[scene.frame])
    assert "truth" not in scene.layers and "truth" in window.session.appearance.layers
    assert window.timeline.series.name == "run distance"
    np.testing.assert_array_equal(window.timeline.strip._series.per_point, together.distances)
    window.compare_controller.stop()
    assert window.session.appearance.color_by == "role"
    window.display.refresh()
    assert window.timeline.series is errors
    assert window.timeline.strip._series is errors


def test_w_goes_to_where_two_runs_differ_most_at_the_first_press(window, wait_for_comparison):
    window.toolbars.actions["worst_frame"].trigger()  # by the errors: what was found is not gone on from
    window.compare_controller.toggle()
    wait_for_comparison(window.session, window.display)
    window.session.set_compare_mode("difference")
    window.display.refresh()
    together = window.compare_controller.together
    apart = together.distances.mean(axis=1)
    window.toolbars.actions["worst_frame"].trigger()
    assert window.session.frame == int(np.argmax(apart))
    assert "differ most" in window.status_controller.line.full_text
    assert window.timeline.transport.findChild(QToolButton, "worst").text() == "Apart"
    window.display.refresh()
    caption = window.display.scene.caption
    far = relative_measure(apart.max(), together.unit, window.display.scene.shapes.size, short=True)
    assert caption.endswith(f" · {far} between the runs")
    window.compare_controller.stop()
    window.display.refresh()
    assert window.timeline.transport.findChild(QToolButton, "worst").text() == "Worst"


def beside(window):
    """Return which curves of the loss have the color of the run beside."""
    items = window.loss_plot.plot_widget.getPlotItem().listDataItems()[-3:]
    return [pg.mkPen(item.opts["pen"]).color() == pg.mkColor(DARK.other) for item in items]


def test_any_two_runs_are_compared_from_the_list_and_the_strip(window):
    window.loss_plot.setPalette(palette(DARK))
    window.sequences_panel.compare_requested.emit(1)
    assert window.session.compared.number == 1
    assert beside(window) == [True, False, False] and window.loss_plot._all
    window.compare_panel.run_chosen.emit("2|refined")
    assert window.session.compared.number == 2
    window.sequences_panel.compare_requested.emit(2)
    assert window.session.compared is None and not any(beside(window))
    assert not window.loss_plot._all
    window.sequences_panel.compare_requested.emit(3)
    assert window.session.compared is None and "Run 3 (bilinear, rank 5) is shown" in window.message_bar.text


def test_the_key_for_the_next_alignment_shows_its_name_and_the_headline_has_the_menu(window):
    session = window.session
    session.set_theme(DARK)  # whose tool bar has room for all at this width
    names = []
    for _ in range(5):
        window.toolbars.actions["alignment"].trigger()
        window.display.refresh()
        names.append(session.alignment.label())
        assert window.message_bar.text.lower().startswith(names[-1].lower())
        assert names[-1] in window.status_controller.headline.full_text
        if session.alignment.compares:
            assert names[-1] in window.display.scene.caption
            assert names[-1] in window.sequences_panel.tree.open.runs[0].tip
    assert names == [
        "one similarity for all frames", "rigid motion per frame", "as is, by the cameras", "no alignment",
        "per-frame similarity",
    ]  # fmt: skip
    headline = window.status_controller.headline
    assert headline.isVisible() and headline.menu is window.alignment_controller.menu
    assert "per-frame similarity" in headline.toolTip()
