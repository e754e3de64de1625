"""Comparing two runs: what is drawn, what the bar and the table show, and the way out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PyQt6.QtWidgets import QStyleOptionComboBox, QVBoxLayout, QWidget

from core import NuclearNorm, Settings
from core.foundation import DEPTHS, WNN, Phase, PhaseKind, relative_distance
from nrsfm_gui.model.theme import THEMES
from nrsfm_gui.panels.comparison.compare_controller import CompareController, compare_rows
from nrsfm_gui.panels.comparison.compare_panel import ComparePanel, CompareSplitter
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.incumbent import incumbent_of
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.scene.summaries import percent_of
from nrsfm_gui.text.run_numbers import numbers
from nrsfm_gui.text.run_rows import run_row


@pytest.fixture
def parts(show, session, display, scene_view, messages, press_action, add_run, make_iterate, known):
    """Return the parts with three runs of different noise; the last one is shown."""
    panel, splitter, around = ComparePanel(), CompareSplitter(scene_view), QWidget()
    layout = QVBoxLayout(around)
    layout.addWidget(panel)
    layout.addWidget(splitter, 1)
    controller = CompareController(
        session, display, panel, splitter, scene_view, make_view=lambda: SceneView(software=True),
        select=session.set_shown,
    )  # fmt: skip
    show(around, 900, 600)
    session.set_sequence(known.sequence)
    for number, noise in enumerate((0.0, 0.02, 0.05)):
        iterate = make_iterate(known, noise=noise, seed=number)
        add_run(session, iterate, Settings(rank=3 + number), noise=noise)
    display.refresh()
    return SimpleNamespace(
        session=session, display=display, scene_view=scene_view, compare_controller=controller,
        compare_panel=panel, compare_splitter=splitter, message_bar=messages, press_action=press_action,
        around=around,
    )  # fmt: skip


def test_the_name_of_a_run_that_has_no_room_is_elided(show):
    panel = show(ComparePanel(), 640, 60)
    names = {"2": "2 recommended, rank 8, isometry 0.5", "3": "3 wnn"}
    for key, elided in (("2", True), ("3", False)):
        panel.set_runs("1 recommended", names, key)
        option = QStyleOptionComboBox()
        panel._second.initStyleOption(option)
        assert option.currentText.endswith("…") == elided
        assert elided or option.currentText == names[key]


def expected_points(parts, run):
    return build_shapes(run.sequence, run.last, parts.session.alignment).points


def test_ctrl_d_compares_with_the_previous_run_and_again_stops_comparing(parts, wait_for_comparison):
    parts.press_action(parts, "compare")
    assert parts.session.compared.number == 2
    wait_for_comparison(parts.session, parts.display)
    scene = parts.display.scene
    np.testing.assert_allclose(scene.other, expected_points(parts, parts.session.runs[1])[0].T, atol=1e-9)
    assert scene.other_name == "2 bilinear, rank 4" and parts.compare_panel.isVisible()
    parts.press_action(parts, "compare")
    parts.display.refresh()
    assert parts.session.compared is None and not parts.compare_panel.isVisible()
    assert parts.display.scene.other is None


def test_the_bar_shows_the_distance_and_the_alignment(parts, wait_for_comparison):
    parts.compare_controller.toggle()
    wait_for_comparison(parts.session, parts.display)
    points = [expected_points(parts, run) for run in parts.session.runs[1:]]
    mean = np.linalg.norm(points[0] - points[1], axis=1).mean()
    reported = parts.compare_panel.summary.full_text
    apart = percent_of(relative_distance(points[0], points[1]), 1.0)
    assert reported.startswith(f"{apart} of the object apart · mean distance {mean:.2f} mm, in this frame ")
    assert reported.endswith("per-frame similarity")
    parts.session.set_compare_mode("difference")
    parts.session.set_appearance(parts.session.appearance.changed(color_by="error"))
    assert parts.session.compare_mode == "overlay"  # coloring by something else ends the difference
    parts.compare_controller.stop()
    assert parts.session.appearance.color_by == "error"


def test_side_by_side_each_run_has_a_view_under_its_name_and_one_camera(qtbot, parts, wait_for_comparison):
    parts.compare_controller.toggle()
    wait_for_comparison(parts.session, parts.display)
    parts.session.set_compare_mode("side")
    parts.display.refresh()
    first, second = parts.scene_view, parts.compare_splitter.second
    qtbot.waitUntil(lambda: second.isVisible() and second.width() > 100)
    assert parts.display.scene.other is None
    shown = second._scene
    np.testing.assert_allclose(shown.estimate, expected_points(parts, parts.session.runs[1])[0].T, atol=1e-9)
    titles = [label.text() for label in parts.compare_splitter._titles]
    assert titles == ["3 bilinear, rank 5", "2 bilinear, rank 4"]
    assert abs(second.width() - first.width()) <= 2
    assert min(view.buttons.geometry().left() for view in (first, second)) >= 0
    first.set_axis_preset("top")
    assert second.camera.orbit == first.camera.orbit
    second.set_axis_preset("side")
    assert second.camera.orbit == first.camera.orbit
    parts.session.set_frame(5)
    parts.display.refresh()
    assert second._scene.frame == 5
    parts.session.set_compare_mode("overlay")
    assert not second.isVisible() and not any(label.isVisible() for label in parts.compare_splitter._titles)


def test_the_table_lists_parameters_that_differ_and_the_numbers_of_both(parts, wait_for_comparison):
    parts.compare_controller.toggle()
    wait_for_comparison(parts.session, parts.display)
    parts.compare_panel._more.click()
    table = parts.compare_splitter.table
    assert table.isVisible()
    rows = {row.name: row for row in table._rows}
    assert (rows["rank"].first, rows["rank"].second) == ("5", "4")
    assert rows["3-D error"].better == 2  # the run with less noise
    assert rows["log10 loss"].better == 2
    parts.compare_panel._more.click()
    assert not table.isVisible()


def test_losses_of_other_objectives_are_not_ranked(parts, add_run, make_iterate, known, wait_for_comparison):
    iterate, settings = make_iterate(known, noise=0.3, seed=7), Settings(rank=3, penalty=NuclearNorm())
    add_run(parts.session, iterate, settings, noise=0.3)
    parts.compare_controller.toggle()
    wait_for_comparison(parts.session, parts.display)
    rows = {row.name: row for row in parts.compare_splitter.table._rows}
    assert rows["log10 loss"].better == 0 and "another penalty" in rows["log10 loss"].tip
    assert rows["penalty"].first == "NN"


def test_every_line_of_the_table_has_a_name_of_its_own(parts, add_run, make_iterate, known):
    end = make_iterate(known, noise=0.1)
    refined = replace(end, record=replace(end.record, energy=-3.0, phase=Phase(PhaseKind.FINEST)))
    runs = [
        add_run(parts.session, each, Settings(objective=objective))
        for each, objective in ((end, WNN), (refined, DEPTHS))
    ]
    rows = compare_rows(*runs, tuple(incumbent_of(run, run.last, None) for run in runs))
    names = [row.name for row in rows]
    assert len(names) == len(set(names)) and {"objective", "minimized value"} <= set(names)


def test_energies_under_another_weight_of_lengths_are_not_ranked(parts, add_run, make_iterate, known):
    """A run gives lengths less weight where they do not stay; its settings do not say so."""
    end = make_iterate(known, noise=0.1)
    runs = []
    for energy, share in ((-3.0, 1.0), (-2.5, 1 / 6)):
        record = replace(end.record, energy=energy, phase=Phase(PhaseKind.FINEST))
        view = replace(end.geometry, refinement={"energy": energy, "length_share": share})
        runs.append(add_run(parts.session, replace(end, record=record, view=view), Settings()))
    found = [incumbent_of(run, run.last, None) for run in runs]
    row = {row.name: row for row in compare_rows(*runs, found)}["energy"]
    assert row.better == 0 and "other weight of lengths" in row.tip
    assert "other weight of lengths" in run_row(runs[0], None, shown=runs[1]).tip
    listed = [
        [each.value for each in numbers(run, of_run, known.sequence) if each.label == "isometry"]
        for run, of_run in zip(runs, found, strict=True)
    ]
    assert listed == [[], ["0.3 × 0.17, since lengths do not stay"]]


def test_the_two_change_their_places_and_the_comparison_ends_with_its_runs_or_its_sequence(parts, make_known):
    session, controller = parts.session, parts.compare_controller

    def ended():
        parts.display.refresh()
        return not controller.on and not parts.compare_panel.isVisible()

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
    assert ended() and len(parts.display.scene.shapes.truth) == 6
    session.set_sequence(left)
    session.drop_run(session.runs[0])
    controller.toggle()
    assert "one run only" in parts.message_bar.text and ended()


def test_the_compared_run_has_a_color_that_no_other_run_has():
    for theme in THEMES.values():
        assert theme.other not in {theme.accent, theme.estimate, theme.truth, *theme.runs}
