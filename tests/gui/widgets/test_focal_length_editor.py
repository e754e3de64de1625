"""The editor of a focal length converts between pixels, lens and field of view, and refuses in a sentence."""

import pytest
from PyQt6.QtTest import QTest

from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.focal_length_editor import FocalLengthEditor


@pytest.fixture
def editor(qtbot):
    made = qtbot.addWidget(FocalLengthEditor())
    made.set_side(1280.0)
    made.set_focal_length(1536.0)
    made.show()
    return made


def field(editor, name):
    return editor.findChild(NumberField, name)


def type_into(editor, name, text):
    field(editor, name).selectAll()
    QTest.keyClicks(field(editor, name), text)


def test_a_change_of_the_unit_converts_the_number_and_keeps_the_focal_length(editor):
    assert field(editor, "sensor width").isHidden()
    editor.choose_unit("mm")
    assert field(editor, "focal length").value() == 43.2
    assert not field(editor, "sensor width").isHidden()
    editor.choose_unit("°")
    assert field(editor, "focal length").value() == 45.24
    editor.choose_unit("px")
    assert field(editor, "focal length").value() == 1536.0
    assert editor.focal_length() == 1536.0


def test_what_is_typed_is_the_focal_length_in_the_chosen_unit(editor, qtbot):
    editor.choose_unit("mm")
    with qtbot.waitSignal(editor.edited):
        type_into(editor, "focal length", "26")
    assert editor.focal_length() == pytest.approx(1280 * 26 / 36)
    type_into(editor, "sensor width", "13")
    assert editor.focal_length() == pytest.approx(2560.0)
    editor.choose_unit("°")
    type_into(editor, "focal length", "90")
    assert editor.focal_length() == pytest.approx(640.0)


def test_what_is_no_focal_length_is_refused(editor):
    for unit, text in (("px", "0"), ("px", "wide"), ("°", "200"), ("mm", "\b")):
        editor.choose_unit(unit)
        type_into(editor, "focal length", text)
        with pytest.raises(ValueError, match=r"accepted|not a number|missing"):
            editor.focal_length()


def test_without_an_image_size_there_are_only_pixels(editor):
    editor.choose_unit("°")
    editor.set_side(None)
    assert editor.unit == "px"
    assert editor.focal_length() == 1536.0
