"""Numbers that are changed by a drag on their label or slider."""

from dataclasses import replace

import pytest
from hands import LEFT, NO_KEY, send_mouse
from PyQt6.QtCore import QEvent, QPoint, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication

from core import CameraModel, Settings, TruncatedNuclearNorm
from nrsfm_gui.widgets.drag_number import PIXELS_PER_UNIT, DragLabel, DragSlider


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
