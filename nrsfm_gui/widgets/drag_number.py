"""Numbers that are dragged: a scale, a slider over it, and a label that moves the slider.

With Shift a drag is coarse, with Ctrl it is fine; changing the key during a drag does not move the slider.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from PyQt6.QtCore import QEvent, QSignalBlocker, Qt, pyqtSignal
from PyQt6.QtGui import QEnterEvent, QMouseEvent

from core.foundation import Parameter
from nrsfm_gui.widgets.fields import Slider
from nrsfm_gui.widgets.labels import PlainLabel, known

STEP = 1.01  # from one step of a logarithmic scale to the next: 1 %
LINEAR_STEPS = 200  # of a linear one
SLIDER_SPEED = 0.5  # of the scale while the mouse crosses the slider
LABEL_PIXELS = 100  # that the mouse moves on a label for a decade, or for half of a linear scale
PIXELS_PER_UNIT = 14  # of an integer
COARSE, FINE = 5.0, 0.1  # times the pace with Shift, with Ctrl
DRAG_TIP = "Drag the label or the slider: with Shift coarse, with Ctrl fine."


@dataclass(frozen=True)
class Scale:
    """The range of a slider, and its steps."""

    lowest: float
    highest: float
    logarithmic: bool = True
    zero: bool = False  # whether the leftmost step is 0, below the lowest
    integer: bool = False  # then it is linear, one step for each number

    @property
    def steps(self) -> int:
        """The rightmost step; the leftmost is 0."""
        if self.integer:
            return round(self.highest - self.lowest)
        if not self.logarithmic:
            return LINEAR_STEPS
        return round(math.log(self.highest / self.lowest) / math.log(STEP)) + self.zero

    @property
    def steps_per_pixel(self) -> float:
        """The number of steps per pixel of a drag on the label."""
        if self.integer:
            return 1 / PIXELS_PER_UNIT
        if not self.logarithmic:
            return self.steps / 2 / LABEL_PIXELS
        return math.log(10) / math.log(STEP) / LABEL_PIXELS

    def position(self, value: float) -> float:
        """Return the position of a number, 0 to `steps`; numbers outside are at the ends."""
        if self.logarithmic and not self.integer:
            if value <= 0:
                return 0.0
            share = math.log(value / self.lowest) / math.log(self.highest / self.lowest)
        else:
            share = (value - self.lowest) / (self.highest - self.lowest)
        return self.zero + (self.steps - self.zero) * min(max(share, 0.0), 1.0)

    def value(self, position: float) -> float:
        """Return the number at a position, to four digits; half a step from the left of a zero it is 0."""
        if self.integer:
            return float(round(self.lowest + position))
        if self.zero and position < 0.5:
            return 0.0
        share = min(max((position - self.zero) / (self.steps - self.zero), 0.0), 1.0)
        if self.logarithmic:
            return float(f"{self.lowest * (self.highest / self.lowest) ** share:.4g}")
        return float(f"{self.lowest + (self.highest - self.lowest) * share:.4g}")


def scale_of(described: Parameter) -> Scale:
    """Return the scale of a parameter that has a slider; a strength of 0 is its leftmost step."""
    assert described.slider is not None
    lowest, highest = described.slider
    from_zero = described.least == 0 and not described.open_below
    zero = described.logarithmic and not described.integer and from_zero
    return Scale(lowest, highest, described.logarithmic, zero=zero, integer=described.integer)


class _Drags:
    """Moves a slider by the movement of the mouse; comes first among the bases of a class."""

    _x: float | None = None  # of the mouse, None while nothing is dragged
    _slider_and_pace: Callable[[], tuple[DragSlider, float]]  # a method: what is moved, its steps per pixel

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        assert event is not None
        if event.button() is Qt.MouseButton.LeftButton:
            self._x = event.position().x()
            self._slider_and_pace()[0].begin()

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        assert event is not None
        if self._x is not None:
            (slider, pace), x = self._slider_and_pace(), event.position().x()
            slider.drag(pace * (x - self._x), event.modifiers())
            self._x = x

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        if known(event).button() is Qt.MouseButton.LeftButton and self._x is not None:
            self._x = None
            self._slider_and_pace()[0].end()


class DragSlider(_Drags, Slider):
    """A slider over a scale: the mouse drags it at half its speed, keys move it by one step."""

    GESTURES = (
        ("Drag a slider, or its name", "change the number at once; with Shift coarsely, with Ctrl finely"),
    )

    moved = pyqtSignal(float)  # a number that it was moved to; not emitted by `set_number`

    def __init__(self, scale: Scale) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.scale = scale
        self.number = scale.lowest  # that it shows, which may be between two steps or outside its scale
        self._position = 0.0  # while it is dragged, between the steps
        self.setRange(0, scale.steps)
        self.setPageStep(max(scale.steps // 20, 1))
        self.setMinimumWidth(50)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.valueChanged.connect(self._on_step_changed)

    def set_number(self, number: float) -> None:
        """Show a number; during a drag the handle does not move."""
        self.number = number
        if not self.isSliderDown():
            self._show_step(self.scale.position(number))

    def begin(self) -> None:
        """Begin a drag; the number does not change until the mouse moves."""
        self._position = self.scale.position(self.number)
        self.setSliderDown(True)

    def drag(self, steps: float, modifiers: Qt.KeyboardModifier) -> None:
        """Move by so many steps, scaled by the modifier keys."""
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            steps *= COARSE
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            steps *= FINE
        self._position = min(max(self._position + steps, 0.0), float(self.scale.steps))
        number = self.scale.value(self._position)
        if number != self.number:
            self.number = number
            self._show_step(self._position)
            self.moved.emit(number)

    def end(self) -> None:
        """End a drag."""
        self.setSliderDown(False)
        self.set_number(self.number)

    def _slider_and_pace(self) -> tuple[DragSlider, float]:
        return self, SLIDER_SPEED * self.scale.steps / self.width()

    def _show_step(self, position: float) -> None:
        with QSignalBlocker(self):
            self.setValue(round(position))

    def _on_step_changed(self, step: int) -> None:
        self.number = self.scale.value(step)
        self.moved.emit(self.number)


class DragLabel(_Drags, PlainLabel):
    """A caption that moves a slider when it is dragged sideways."""

    GESTURES = (("Double click on a name", "the value of the preset"),)

    reset = pyqtSignal()  # it was clicked twice

    def __init__(self, text: str, slider: DragSlider) -> None:
        super().__init__(text)
        self._slider = slider
        self.setCursor(Qt.CursorShape.SizeHorCursor)

    def _slider_and_pace(self) -> tuple[DragSlider, float]:
        return self._slider, self._slider.scale.steps_per_pixel

    def mouseDoubleClickEvent(self, event: QMouseEvent | None) -> None:
        """Request the default."""
        if known(event).button() is Qt.MouseButton.LeftButton:
            self.reset.emit()

    def enterEvent(self, event: QEnterEvent | None) -> None:
        """Show that it can be dragged."""
        self._underline(self.isEnabled())

    def leaveEvent(self, event: QEvent | None) -> None:
        """Show that the mouse has left."""
        self._underline(False)

    def _underline(self, on: bool) -> None:
        font = self.font()
        font.setUnderline(on)
        self.setFont(font)
