"""Colors, trails, mesh, camera path and turntable; the color bar and the panel."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hands import ask_for_menu, send_mouse
from PyQt6.QtCore import QEvent, QPointF, Qt
from PyQt6.QtWidgets import QAbstractSpinBox, QApplication, QCheckBox, QComboBox, QPushButton

from core.data import connect
from nrsfm_gui.model.appearance import COLORINGS, LAYERS, Appearance
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.appearance.appearance_panel import AppearancePanel
from nrsfm_gui.panels.view3d.scene_view_controller import SceneViewController
from nrsfm_gui.widgets.color_bar import INSET, number
from nrsfm_gui.widgets.colors import color_table
from nrsfm_gui.widgets.style import apply_theme


@pytest.fixture
def parts(session, display, scene_view, tracks_view, messages, press_action, known):
    """Return the parts with the ground truth of a sheet, before any run."""
    cameras = SceneViewController(session, display, scene_view, session)
    panel = AppearancePanel(
        session,
        display,
        scene_view,
        button=scene_view.buttons.look,
        drawn_by=lambda: scene_view.renderer.sentence,
        show_cameras=cameras.show_cameras,
    )
    made = SimpleNamespace(
        session=session,
        display=display,
        scene_view=scene_view,
        tracks_view=tracks_view,
        appearance_panel=panel,
        message_bar=messages,
    )

    def open_sequence(sequence):
        session.set_sequence(sequence)
        display.refresh()

    def press(name):
        action = press_action(made, name)
        display.refresh()
        return action

    made.open, made.press = open_sequence, press
    made.open(known.sequence)
    return made


@pytest.fixture
def bar(parts):
    """The color bar of the 3-D view, of depths."""
    parts.session.change_appearance(color_by="depth")
    parts.display.refresh()
    return parts.scene_view.color_bar


def mouse(bar, kind, x):
    send_mouse(bar, kind, QPointF(x, bar.height() / 2))


# Of popups, the offscreen platform says what it cannot do.
popups = pytest.mark.qt_log_ignore("does not support grabbing the keyboard", extend=True)


# The color bar


def test_dragging_an_end_moves_that_limit_and_a_double_click_resets_it_to_the_data(parts, bar):
    def limits_after(kind, x):
        mouse(bar, kind, x)
        parts.display.refresh()
        return parts.session.appearance.limits

    press, release, double = (QEvent.Type[f"MouseButton{name}"] for name in ("Press", "Release", "DblClick"))
    move = QEvent.Type.MouseMove
    low, high = bar.limits
    right, length = bar.width() - INSET, bar.width() - 2 * INSET
    mouse(bar, press, right)
    assert limits_after(move, right - length / 2) == pytest.approx((low, low + (high - low) / 2))
    beyond = limits_after(move, right + length)
    assert beyond == pytest.approx((low, low + 2 * (high - low)))
    lower, upper = limits_after(move, right - 3 * length)
    assert lower < upper  # not past the other end
    limits_after(move, right - length / 2)
    mouse(bar, release, right - length / 2)
    mouse(bar, press, INSET)
    limits = limits_after(move, INSET + length / 2)  # of the new scale
    assert limits == bar.limits == pytest.approx((low + (high - low) / 4, low + (high - low) / 2))
    mouse(bar, release, INSET)
    panel = parts.appearance_panel
    assert panel.low.value() == pytest.approx(bar.limits[0], rel=1e-3) and not panel.automatic.isChecked()
    assert limits_after(double, bar.width() / 2) is None
    assert bar.limits == (low, high)


@popups
def test_the_bar_shows_the_map_and_the_menu_offers_others(bar, qtbot):
    picture = bar.grab().toImage()
    rows = [picture.pixelColor(bar.width() // 2, y).getRgb()[:3] for y in range(bar.height())]
    assert np.abs(color_table("viridis")[127, :3] - np.array(rows)).max(axis=1).min() < 8
    menu = bar.menu()
    actions = {action.text(): action for action in menu.actions()}
    for title, change in (("Magma", {"color_map": "magma"}), ("Point number", {"color_by": "index"})):
        with qtbot.waitSignal(bar.change_requested) as caught:
            actions[title].trigger()
        assert caught.args == [change]
    ask_for_menu(bar, bar.rect().center())
    opened = QApplication.activePopupWidget()
    assert opened is not None
    opened.close()


def test_ends_have_enough_digits_to_differ():
    for value, span, text in ((1234.0, 1234.0, "1234"), (0.0, 5.0, "0"), (1480.24, 0.4, "1480.24")):
        assert number(value, span) == text
    assert number(-3.0, 6.0) == "\N{MINUS SIGN}3"


# The panel


def test_every_coloring_reaches_both_views_and_is_named(parts):
    for key in COLORINGS:
        parts.session.change_appearance(color_by=key)
        parts.display.refresh()
        scene = parts.scene_view._scene
        assert scene.appearance.color_by == key
        assert parts.tracks_view._scene is scene
        assert parts.appearance_panel.choices["color_by"].currentData() == key
        assert parts.scene_view.color_bar.isVisible() == scene.colored
    action = parts.press("color_by_error")
    assert action.isChecked() is True  # it was not before
    assert parts.session.appearance.color_by == "error"


def test_the_panel_changes_everything(parts):
    panel, display = parts.appearance_panel, parts.display

    def choose(field, key):
        box = panel.choices[field]
        box.setCurrentIndex(box.findData(key))
        box.activated.emit(box.currentIndex())

    choose("color_by", "index")
    choose("color_map", "cividis")
    display.refresh()
    panel.automatic.click()
    panel.high.setValue(7.0)
    panel.layers["trails"].click()
    panel.trail_frames.setValue(5)
    panel.point_size.setValue(200)
    choose("mesh_mode", "shaded")
    choose("mesh_source", "tracks")
    choose("labels", "all")
    panel.layers["grid"].click()
    appearance = parts.session.appearance
    assert appearance == Appearance(
        (frozenset(LAYERS) | {"trails"}) - {"path", "edges", "grid", "halos"},
        "index", "cividis", (1.0, 7.0), 5, "tracks", 2.0, "all",
    )  # fmt: skip
    display.refresh()
    assert display.scene.color_limits == (1.0, 7.0)
    panel.low.setValue(9.0)
    display.refresh()
    assert display.scene.color_limits == (1.0, 7.0)
    assert not panel.disorder.isHidden()  # it says why
    panel.high.setValue(11.0)
    assert panel.disorder.isHidden()
    display.refresh()
    assert display.scene.color_limits == (9.0, 11.0)


@popups
def test_fields_of_the_panel_have_tips_and_names_and_do_not_clip(qapp, parts):
    panel = parts.appearance_panel
    for theme in (DARK, LIGHT):
        apply_theme(theme)
        panel.toggle()
        for field in panel.findChildren((QCheckBox, QComboBox, QAbstractSpinBox, QPushButton)):
            assert field.toolTip(), field
            assert field.accessibleName(), field
            if field in (panel.low, panel.high):
                room = field.lineEdit().width()
                assert room > field.fontMetrics().horizontalAdvance(field.text()), field.text()
            else:
                assert field.width() >= field.minimumSizeHint().width(), field
        assert "OpenGL" in panel.renderer.text()
        panel.hide()


def test_keys_of_trails_mesh_and_path(parts, known):
    parts.press("trails")
    assert "trails" in parts.session.appearance.layers
    assert parts.display.scene.trail is None or len(parts.display.scene.trail) == 1
    parts.session.set_frame(9)
    parts.display.refresh()
    assert len(parts.display.scene.trail) == 10
    seen = [parts.session.appearance.mesh_mode]
    for _ in range(4):
        parts.press("mesh")
        seen.append(parts.session.appearance.mesh_mode)
    assert seen == ["both", "off", "wire", "shaded", "both"]
    parts.press("path")
    view = parts.scene_view
    pixels, _ = view._projection().pixels(parts.display.scene.path)
    assert parts.display.scene.path.shape == (known.sequence.frame_count, 3)
    assert ((pixels > 0) & (pixels < (view.width(), view.height()))).all()  # it is fitted in
    assert len(view.renderer.parts["path"].positions) == 2 * (known.sequence.frame_count - 1)


def test_a_sequence_without_a_mesh_gets_the_one_that_its_shapes_show(parts, known, qtbot):
    bare = replace(known.sequence, edges=None, faces=None)
    parts.open(bare)
    qtbot.waitUntil(lambda: len(parts.display.scene.edges) > 0)
    found = connect(bare.truth.points)
    assert np.array_equal(parts.display.scene.edges, found.edges)
    parts.press("mesh")
    assert parts.session.appearance.mesh_mode == "off"


def test_what_there_is_not_is_a_sentence(parts, known, make_known):
    bare = replace(known.sequence, edges=None, faces=None, truth=None)
    for sequence, key, words in (
        (bare, "mesh", "run the solver"),
        (make_known(affine=True).sequence, "path", "parallel rays have no place"),
    ):
        parts.open(sequence)
        parts.press(key)
        assert words in parts.message_bar.text
        assert key != "mesh" or not len(parts.display.scene.edges)


def test_a_loaded_triangulation_is_drawn_and_a_bad_one_is_a_sentence(parts, tmp_path):
    np.savez(tmp_path / "mesh.npz", faces=np.array([[0, 5, 6], [5, 6, 7]]))
    parts.appearance_panel.load_triangulation(tmp_path / "mesh.npz")
    parts.display.refresh()
    assert np.sort(parts.display.scene.faces, axis=1).tolist() == [[0, 5, 6], [5, 6, 7]]
    assert parts.appearance_panel.choices["mesh_source"].currentText() == "mesh.npz"
    (tmp_path / "bad.txt").write_text("0 1 99\n")
    parts.appearance_panel.load_triangulation(tmp_path / "bad.txt")
    assert "names point 99" in parts.message_bar.text
    assert parts.session.appearance.triangulation.name == "mesh.npz"


def test_the_turntable_turns_until_the_mouse_stops_it(parts, qtbot):
    view, moved = parts.scene_view, []
    before = view.camera.orbit.azimuth
    view.camera.orbit_changed.connect(moved.append)
    parts.press("turntable")
    assert view.camera.turning
    qtbot.waitUntil(lambda: bool(moved) and moved[-1].azimuth != before)
    qtbot.mousePress(view, Qt.MouseButton.LeftButton)
    assert not view.camera.turning
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton)
    view.set_turntable(True)
    view.set_camera_locked(True)
    assert not view.camera.turning
    view.set_turntable(True)  # the two exclude each other
    assert not view.camera.locked
    view.set_turntable(False)
