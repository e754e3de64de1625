"""Two runs that are compared, and the alignment with the ground truth, in all panels of the window."""

import numpy as np
import pyqtgraph as pg
import pytest
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtWidgets import QToolButton

from core import Settings
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.scene.summaries import measure, relative_measure
from nrsfm_gui.sessions.session_file import ViewState
from nrsfm_gui.widgets.style import palette


@pytest.fixture(scope="module")
def shared(make_shared_window, make_iterate, add_run, known):
    """Return a window with three runs of different noise; the last one is shown."""
    window = make_shared_window(known.sequence)
    window.session.set_live(False)
    for number, noise in enumerate((0.0, 0.02, 0.05)):
        iterate = make_iterate(known, noise=noise, seed=number)
        add_run(window.session, iterate, Settings(rank=3 + number), noise=noise)
    return window


@pytest.fixture
def window(shared):
    session = shared.session
    shared.compare_controller.stop()
    session.set_compare_mode("overlay")
    session.set_shown(session.runs[-1])
    session.set_selection(())
    shared.message_bar.hide()
    shared.display.refresh()
    return shared


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
    errors = window.display.errors.series[0]
    window.session.set_compare_mode("difference")
    window.display.refresh()
    scene, together = window.display.scene, window.compare_controller.together
    np.testing.assert_allclose(scene.color_values, together.distances[scene.frame])
    assert "truth" not in scene.layers and "truth" in window.session.appearance.layers
    assert window.timeline.state.series.name == "run distance"
    np.testing.assert_array_equal(window.timeline.strip._series.per_point, together.distances)
    window.compare_controller.stop()
    assert window.session.appearance.color_by == "role"
    window.display.refresh()
    assert window.timeline.state.series is errors
    assert window.timeline.strip._series is errors


def test_a_view_that_is_restored_compares_the_same_run_by_the_same_colors(window):
    session = window.session
    window.compare_controller.toggle()
    session.set_compare_mode("difference")
    compared = session.compared
    view = ViewState.from_plain(ViewState.of(session, window.scene_view.camera.orbit, {}).as_plain())
    window.compare_controller.stop()
    session.set_compare_mode("overlay")
    view.show(session)
    assert session.compared is compared is not None and session.appearance.color_by == "difference"
    assert window.compare_panel.isVisible() and window.compare_panel._modes["difference"].isChecked()
    window.compare_controller.stop()
    assert session.appearance.color_by == "role"


def test_runs_that_a_session_shows_side_by_side_are_seen_from_where_they_were(
    qtbot, make_window, make_iterate, add_run, known, tmp_path, saved_to, wait_for_comparison
):
    window = make_window(known.sequence)
    session, camera = window.session, window.scene_view.camera
    session.set_live(False)
    for number, noise in enumerate((0.0, 0.02)):
        add_run(
            session, make_iterate(known, noise=noise, seed=number), Settings(rank=3 + number), noise=noise
        )
    window.display.refresh()
    window.compare_controller.toggle()
    session.set_compare_mode("side")
    wait_for_comparison(session, window.display)
    camera.move(camera.orbit.turned(40.0, 10.0), fitted=False)
    seen, path = camera.orbit, saved_to(window, tmp_path / "side.nrsfm")
    camera.move(camera.orbit.turned(40.0, 10.0))
    with qtbot.waitSignal(window.session_saver.session_shown):
        window.sequence_opening.open(path)
    qtbot.waitUntil(lambda: window.compare_splitter.second.isVisible())
    assert window.compare_splitter.second.camera.orbit == camera.orbit == seen


def test_a_message_leaves_the_scale_of_the_colors_in_view_in_a_small_window(qtbot, window):
    window.resize(800, 600)
    window.session.change_appearance(color_by="error")
    window.display.refresh()
    window.message_bar.note(
        "A change of the parameters is followed by a run, which goes on from the one before"
    )
    bar = window.scene_view.color_bar

    def is_clear():
        banner, scale = (QRect(part.mapTo(window, QPoint()), part.size()) for part in (window.banners, bar))
        return bar.isVisible() and not window.banners.isHidden() and banner.bottom() < scale.top()

    qtbot.waitUntil(is_clear)
    window.session.change_appearance(color_by="role")
    window.resize(1280, 800)


def test_the_key_to_the_worst_frame_counts_as_a_step_of_a_new_user(window):
    window.first_steps.restart()
    window.toolbars.actions["worst_frame"].trigger()
    assert "✓&nbsp;Worst frame" in window.first_steps._names.text()
    window.first_steps.dismiss()


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
