"""The form of parameters: what it accepts, what it refuses and how it says so; numbers that are dragged."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hands import LEFT, NO_KEY, send_mouse, type_into
from PyQt6.QtCore import QEvent, QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QFileDialog, QWidget

from core import (
    PRESETS,
    CameraModel,
    ExplicitWeights,
    NuclearNorm,
    SchattenNorm,
    Settings,
    TruncatedNuclearNorm,
)
from core.cameras import Calibration, IntrinsicsOrigin
from nrsfm_gui.widgets.drag_number import PIXELS_PER_UNIT, DragLabel, DragSlider
from nrsfm_gui.widgets.fields import Choice, stepped


def test_what_is_typed_becomes_settings_a_moment_later(qtbot, panel, form):
    with qtbot.waitSignal(panel.settings_changed) as changed:
        form.write("rank", "12")
    assert changed.args == [Settings().with_changes(rank=12)]  # one signal: not first for a rank of 1


def test_an_invalid_value_is_explained_next_to_its_field(panel, form):
    emitted = []
    for penalty, name, text, words in (
        ("wnn", "eta", "2", "affine part η is 2; accepted is a number above 0 and at most 1"),
        ("wnn", "eta", "five", "'five' is not a number"),
        ("wnn", "rank", "0", "shapes K is 0"),
        ("wnn", "rank", "2.5", "'2.5' is not a whole number"),
        ("wnn", "rotation_rank", "0", "rotation rank is 0"),
        ("wnn", "gamma", "0", "offset γ is 0"),
        ("wnn", "xi", "nan", "strength ξ is nan"),
        ("schatten", "p", "1", "p is 1; accepted is a number above 0 and below 1"),
        ("log", "mu", "-1", "strength μ is -1"),
        ("ramp", "free", "1.5", "'1.5' is not a whole number"),
        ("rank", "mu", "inf", "strength μ is inf"),
        ("wnn", "smallest_movement", "-5", "smallest movement is -5; accepted is a number"),
    ):
        form.choose("penalty", penalty)
        before = panel.settings
        panel.settings_changed.connect(emitted.append)
        form.write(name, text)
        assert words in form.note(name) and panel.refusal.startswith(form.field(name).accessibleName())
        assert form.field(name).property("invalid") is True
        panel.flush()
        assert emitted == [] and panel.settings == before
        panel.settings_changed.disconnect(emitted.append)
        panel.set_settings(Settings())
        assert not panel.refusal and form.note(name) == ""
    type_into(form.widget("hide"), "abc")
    assert panel.refusal.startswith("hidden has the entry 'abc'")


def test_an_empty_field_is_only_accepted_where_it_means_something(qtbot, panel, form):
    form.write("rank", "")
    assert "whole number" in form.note("rank")
    panel.set_settings(Settings(rotation_rank=3))
    target = form.field("rotation_rank")
    target.selectAll()
    with qtbot.waitSignal(panel.settings_changed) as changed:
        qtbot.keyClick(target, Qt.Key.Key_Delete)
    assert changed.args == [Settings(rotation_rank=None)]


def test_settings_shown_are_settings_read(panel):
    for settings in (
        *PRESETS.values(),
        Settings(penalty=NuclearNorm(mu=0.02), rotations="tracks", rotation_rank=3),
        Settings(penalty=TruncatedNuclearNorm(mu=0.5, free=2), method="lm", intrinsics="calibrated"),
        Settings(penalty=ExplicitWeights((0.1, 0.2)), rank=2, intrinsics=(1400.0, 1400.0, 640.0, 480.0)),
        Settings(method="r-bmm", options=(("rho", 3.0), ("growth", 1.7))),
        Settings(method="agd", options=(("acceptance", "nonmonotone"),)),
        Settings(penalty=SchattenNorm(mu=0.3, p=0.125, epsilon=1e-9)),
    ):
        panel.set_settings(settings)
        panel.flush()
        assert panel.settings == settings and not panel.refusal


def test_arrow_keys_step_by_a_tenth_of_a_decade_and_a_number_after_return_replaces_that_before(qtbot, form):
    eta, rank = form.field("eta"), form.field("rank")
    for field, key, text in ((eta, "Up", "0.063"), (eta, "Down", "0.05"), (rank, "Up", "7")):
        field.setFocus()
        qtbot.keyClick(field, Qt.Key[f"Key_{key}"])
        assert field.text() == text
    qtbot.keyClick(rank, Qt.Key.Key_Return)
    assert rank.window().focusWidget() is rank  # elsewhere digits are keys of the views
    qtbot.keyClicks(rank, "5")
    assert rank.text() == "5"
    qtbot.keyClick(rank, Qt.Key.Key_Escape)
    assert rank.window().focusWidget() is not rank
    for text in ("nan", "-inf", "1e308", "5e-324", "-1", "0"):  # some of which have no next one
        for key in (Qt.Key.Key_Up, Qt.Key.Key_PageDown):
            eta.setText(text)
            for _ in range(5):
                qtbot.keyClick(eta, key)
            assert eta.text() == text or 0 < eta.value() < math.inf


def test_steps_are_round_numbers_over_many_decades():
    value = 1e-6
    for _ in range(60):
        value = stepped(value, 1)
    assert (value, stepped(1.0, -1), stepped(0.005, 10)) == (1.0, 0.8, 0.05)


def test_sources_that_a_sequence_does_not_have_are_grayed_out(panel, known):
    panel.set_sequence(known.sequence)
    choice = panel.findChild(QWidget, "rotations").findChild(Choice)
    model = choice.model()
    assert model.item(choice.findData("truth")).isEnabled()
    assert not model.item(choice.findData("companion")).isEnabled()
    panel.set_sequence(replace(known.sequence, companion=known.sequence.observations))
    assert model.item(choice.findData("companion")).isEnabled()


def test_until_a_file_is_chosen_the_source_stays_and_the_file_until_another_source_is(
    qtbot, panel, form, known, tmp_path
):
    path = tmp_path / "cameras.npz"
    np.savez(path, R=np.zeros((2, 3, 3)))
    choice, changed = panel.findChild(QWidget, "rotations").findChild(Choice), []
    panel.set_settings(Settings(rotations="tracks"))
    panel.settings_changed.connect(changed.append)
    qtbot.keyClick(choice, Qt.Key.Key_End)
    dialog = panel.findChild(QFileDialog)
    assert dialog.isVisible()
    panel.set_sequence(known.sequence)  # the fields are read again while the dialog is open
    form.write("rank", "2")
    panel.flush()
    assert [each.rotations for each in changed] == ["tracks"] and not panel.refusal
    dialog.setDirectory(str(tmp_path))
    dialog.selectFile(path.name)
    dialog.accept()
    qtbot.waitUntil(lambda: panel.settings.rotations == path)
    assert choice.currentText() == "file: cameras.npz"
    qtbot.waitUntil(lambda: panel.findChild(QFileDialog) is None)
    choice.chosen.emit(choice.key)  # the same entry once more, to choose another file
    qtbot.waitUntil(lambda: panel.findChild(QFileDialog) is not None)
    panel.findChild(QFileDialog).reject()
    panel.flush()
    assert panel.settings.rotations == path and not panel.refusal and len(changed) == 2
    qtbot.keyClick(choice, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: panel.settings.rotations == "best")


def test_intrinsics_in_a_file_on_another_computer_are_read_when_a_run_begins(panel, form, known):
    panel.set_sequence(known.sequence)
    panel.set_settings(Settings(intrinsics="/elsewhere/K.txt"))
    assert "/elsewhere/K.txt: there is no such file" in form.note("intrinsics")
    panel.set_settings(Settings(intrinsics="//elsewhere/K.txt"))
    assert form.note("intrinsics") == "//elsewhere/K.txt is read when a run begins."


def test_given_intrinsics_are_edited_as_focal_length_and_principal_point(qtbot, panel, form):
    panel.set_settings(Settings(intrinsics=(1.0, 2.0, 3.0, 4.0)))
    assert panel.settings.intrinsics == (1.0, 2.0, 3.0, 4.0)
    form.write("cx", "320x")
    assert "principal point, cx" in form.note("intrinsics")
    form.write("cx", "320")
    assert form.note("intrinsics") == ""
    qtbot.waitUntil(lambda: panel.settings.intrinsics == (1.0, 2.0, 320.0, 4.0))
    panel.set_settings(Settings(intrinsics=(1000.0, 1000.0, 320.0, 240.0)))
    form.write("focal length", "900")
    qtbot.waitUntil(lambda: panel.settings.intrinsics == (900.0, 900.0, 320.0, 240.0))
    panel.set_settings(Settings(intrinsics=(1000.0, 1210.0, 320.0, 240.0)))
    form.write("focal length", "2200")  # the ratio of the two stays
    qtbot.waitUntil(lambda: panel.settings.intrinsics[:2] == pytest.approx((2000.0, 2420.0)))


def test_the_camera_model_is_a_parameter_and_names_that_of_the_sequence(panel, form, known):
    panel.set_sequence(known.sequence)
    choice = panel.findChild(Choice, "camera_model")
    assert choice.itemText(0) == "auto: perspective"
    form.choose("camera_model", "orthogonal")
    assert panel.settings.camera_model == "orthogonal"
    assert not form.field("eta").isEnabled()


def test_what_the_intrinsics_are_is_described_below_them_and_whether_it_is_a_guess(panel, form, known):
    panel.set_sequence(known.sequence)
    assert form.note("intrinsics").startswith("f ")
    assert "the sequence's own" in form.note("intrinsics")
    unknown = replace(known.sequence, intrinsics=None, truth=None, image_size=(1280, 960))
    panel.set_sequence(unknown)
    assert form.note("intrinsics").startswith(
        "Focal length unknown: 1536 px assumed = 1.2 × 1280 px (45° wide"
    )
    panel.set_settings(Settings(intrinsics="estimate"))
    assert "Not estimated yet" in form.note("intrinsics")
    panel.set_calibration(
        Calibration(np.diag([1400.0, 1400.0, 1.0]), IntrinsicsOrigin("tracks", "focal length 1400 px"))
    )
    assert form.note("intrinsics").startswith("Focal length 1400 px")
    absurd = np.diag([1e300, 1e300, 1.0])  # the product of whose focal lengths is no number
    panel.set_calibration(Calibration(absurd, IntrinsicsOrigin("tracks", "absurd")))
    assert form.note("intrinsics").startswith("Absurd (0° wide")


def drag(widget, steps, keys=NO_KEY):
    """Press in the middle, move to the right by so many pixels one after the other, do not release."""
    place = widget.rect().center()
    QTest.mousePress(widget, LEFT, pos=place)
    for step in steps:
        place += QPoint(step, 0)
        send_mouse(widget, QEvent.Type.MouseMove, place, keys=keys)


def drag_widgets(panel, name):
    slider = panel.findChild(DragSlider, f"drag {name}")
    label = panel.findChild(DragLabel, f"drag label {name}")
    assert slider is not None and label is not None
    return slider, label


@pytest.mark.parametrize("name", ["eta", "gamma"])
def test_a_drag_on_a_label_goes_a_decade_in_a_hundred_pixels_and_counts_in_the_next_turn(
    qtbot, panel, form, name
):
    _, label = drag_widgets(panel, name)
    received = []
    panel.settings_changed.connect(received.append)
    before = form.field(name).value()
    drag(label, [10, 10, 10])
    assert received == []
    assert form.field(name).value() == pytest.approx(before * 10**0.3, rel=1e-3)
    QApplication.processEvents()
    assert len(received) == 1  # of three moves that came together the last one counts
    source = received[0] if name == "eta" else received[0].penalty
    assert getattr(source, name) == form.field(name).value()
    qtbot.mouseRelease(label, Qt.MouseButton.LeftButton)
    qtbot.mouseDClick(label, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert received[-1] == Settings()  # back at the default
    assert len(received) == 2


def test_shift_makes_a_drag_coarse_and_control_fine(qtbot, panel, form):
    _, label = drag_widgets(panel, "eta")
    for modifier, decades in (
        (Qt.KeyboardModifier.ShiftModifier, -0.5),
        (Qt.KeyboardModifier.ControlModifier, -0.01),
    ):
        panel.set_settings(Settings())
        drag(label, [-10], modifier)
        qtbot.mouseRelease(label, Qt.MouseButton.LeftButton)
        assert form.field("eta").value() == pytest.approx(0.05 * 10**decades, rel=1e-3)


def test_a_slider_follows_what_is_typed_and_stays_inside_what_is_accepted(panel, form):
    slider, _ = drag_widgets(panel, "eta")
    form.write("eta", "0.2")
    assert slider.number == 0.2
    assert slider.value() == round(slider.scale.position(0.2))
    drag(slider, [1000])
    QApplication.processEvents()
    assert panel.settings.eta == 1.0
    assert not panel.refusal
    drag(slider, [-5000])
    QApplication.processEvents()
    assert panel.settings.eta == slider.scale.lowest
    form.write("eta", "five")
    assert slider.number == slider.scale.lowest  # what is no number does not move it
    form.write("rank", "9" * 400)  # no float is as large
    assert "shapes K is too large" in panel.refusal


def test_integers_are_dragged_one_by_one(panel, form):
    form.choose("penalty", "tnn")
    _, label = drag_widgets(panel, "free")
    drag(label, [PIXELS_PER_UNIT, PIXELS_PER_UNIT // 2 - 1])
    QApplication.processEvents()
    assert panel.settings.penalty == TruncatedNuclearNorm(free=2)
    _, label = drag_widgets(panel, "rank")
    drag(label, [-4 * PIXELS_PER_UNIT])
    QApplication.processEvents()
    assert panel.settings.rank == 2


def test_sliders_are_named_and_grayed_out_with_their_rows(panel, known):
    slider, label = drag_widgets(panel, "eta")
    assert slider.accessibleName() == "affine part η"
    assert "double click" in label.toolTip() and "0.05" in label.toolTip()
    panel.set_sequence(replace(known.sequence, camera=CameraModel.ORTHOGONAL))
    assert not slider.isEnabled() and not label.isEnabled()
    assert all(not drag_widgets(panel, name)[0].isVisibleTo(panel) for name in ("mu", "theta", "p"))
