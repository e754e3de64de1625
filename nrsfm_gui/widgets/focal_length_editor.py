"""An editor of a focal length: in pixels, in millimeters of a lens on a sensor, or as a field of view."""

from __future__ import annotations

import math
from collections.abc import Callable

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from core.cameras import SENSOR, focal_from_lens, focal_from_view, lens_of_focal, view_of_focal
from nrsfm_gui.widgets.fields import Choice, NumberField, grid_layout, with_tip
from nrsfm_gui.widgets.labels import PlainLabel, known

PIXELS, LENS, VIEW = "px", "mm", "°"
UNITS = {
    PIXELS: "pixels, as in K",
    LENS: "millimeters of the lens; a phone's “26 mm” is for a sensor of 36 mm",
    VIEW: "field of view along the longer image side, in degrees",
}
DIGITS = 4  # that a converted number is shown with
Conversion = Callable[[float, float, float], float]
# From what is shown to pixels and back, for the longer image side and the longer side of the sensor.
CONVERSIONS: dict[str, tuple[Conversion, Conversion]] = {
    PIXELS: (lambda shown, _side, _sensor: shown, lambda focal, _side, _sensor: focal),
    LENS: (focal_from_lens, lens_of_focal),
    VIEW: (
        lambda shown, side, _sensor: focal_from_view(shown, side),
        lambda focal, side, _sensor: view_of_focal(focal, side),
    ),
}


class FocalLengthEditor(QWidget):
    """Edits a focal length in the unit that the user chooses; a change of the unit converts the number."""

    edited = pyqtSignal()  # the user changed the focal length, whether or not it is accepted

    def __init__(self) -> None:
        super().__init__()
        self._side: float | None = None
        self._focal: float | None = None  # what the field shows, in all digits
        self.unit = PIXELS  # that the number is shown in, of UNITS
        self._number, self._units, self._sensor = NumberField(), Choice(UNITS), NumberField()
        for widget, key, name, tip in (
            (self._number, "focal length", "Focal length", "Focal length, in the unit to the right."),
            (self._units, "focal length unit", "Unit of the focal length",
             "Pixels, millimeters of the lens, or degrees of the view; a change converts."),
            (self._sensor, "sensor width", "Longer side of the sensor in millimeters",
             "Longer side of the camera's sensor in millimeters.\n"
             "36 for a “35 mm equivalent” focal length, as phones give it."),
        ):  # fmt: skip
            with_tip(widget, name, tip).setObjectName(key)
        self._units.setMinimumContentsLength(2)
        self._sensor_label = PlainLabel("sensor (mm)")
        self._sensor.set_value(SENSOR)
        self._sensor_label.setBuddy(self._sensor)
        layout = grid_layout(self, 6, 4)
        for row, parts in enumerate(((self._number, self._units), (self._sensor_label, self._sensor))):
            for column, part in enumerate(parts):
                layout.addWidget(part, row, column)
                layout.setColumnStretch(column, 1)
        self._number.edited.connect(self._on_edited)
        self._sensor.edited.connect(self._on_edited)
        self._units.chosen.connect(self.choose_unit)
        self.setFocusProxy(self._number)
        self.set_side(None)

    def set_side(self, side: float | None) -> None:
        """Set the longer image side in pixels; where it is None only pixels are offered."""
        self._side = side
        why_not = "The size of the image is not known yet."
        for unit in (LENS, VIEW):
            self._units.set_available(unit, side is not None, why_not=why_not)
        if side is None:
            self.unit = PIXELS
        self._show()

    def set_focal_length(self, focal: float | None) -> None:
        """Show a focal length given in pixels; None for none."""
        self._focal = focal
        if not self._number.hasFocus():
            self._show()

    def focal_length(self) -> float:
        """Return the focal length in pixels. Raises ValueError where what is typed is none."""
        if self._focal is not None:
            return self._focal
        shown = known(self._number.value())  # the field is not optional
        if not 0 < shown < math.inf:
            raise ValueError(f"focal length is {shown:g} {self.unit}; accepted is a number above 0")
        if self.unit == PIXELS:
            return float(shown)
        sensor = known(self._sensor.value())  # nor is this one
        assert self._side is not None  # else only pixels are offered
        return CONVERSIONS[self.unit][0](float(shown), self._side, float(sensor))

    def choose_unit(self, unit: str) -> None:
        """Show the focal length in another unit: "px", "mm" or "°"."""
        try:
            self._focal = self.focal_length()
        except ValueError:
            self._focal = None
        self.unit = unit
        self._show()

    def _on_edited(self) -> None:
        self._focal = None
        self.edited.emit()

    def _show(self) -> None:
        """Show the number in its unit, and the sensor where it counts."""
        self._units.set_key(self.unit)
        for widget in (self._sensor_label, self._sensor):
            widget.setVisible(self.unit == LENS)
        if self._focal is None:
            self._number.set_value(None)
            self._number.setPlaceholderText("not given")
            return
        try:
            sensor = float(self._sensor.value() or SENSOR)
        except ValueError:
            sensor = SENSOR
        side = 1.0 if self._side is None else self._side
        shown = CONVERSIONS[self.unit][1](self._focal, side, sensor)
        self._number.set_value(float(f"{shown:.{DIGITS}g}"))
