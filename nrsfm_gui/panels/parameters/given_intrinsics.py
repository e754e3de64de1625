"""An editor of K that is given: the focal length, and the principal point."""

from __future__ import annotations

import math

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QGridLayout, QWidget

from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.focal_length_editor import FocalLengthEditor
from nrsfm_gui.widgets.labels import PlainLabel

Intrinsics = tuple[float, float, float, float]

CENTER_TIP = (
    "Principal point: where the camera's axis meets the picture, in pixels from its upper left corner."
)


class GivenIntrinsics(QWidget):
    """Edits fx, fy, cx and cy; the ratio of fx and fy stays what it is."""

    edited = pyqtSignal()  # something was typed, whether or not it is accepted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._focals: tuple[float, float] | None = None  # until the focal length is edited
        self._ratio = 1.0  # of fy to fx
        self._known = False
        self._focal = FocalLengthEditor()
        self._cx, self._cy = NumberField(), NumberField()
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(6)
        layout.setVerticalSpacing(4)
        layout.addWidget(self._focal, 0, 0, 1, 3)
        label = PlainLabel("center")
        label.setToolTip(CENTER_TIP)
        layout.addWidget(label, 1, 0)
        for column, (name, field) in enumerate((("cx", self._cx), ("cy", self._cy)), start=1):
            field.setObjectName(name)
            field.setAccessibleName(f"Principal point, {name[1]}")
            field.setToolTip(CENTER_TIP)
            field.edited.connect(self.edited)
            layout.addWidget(field, 1, column)
        self._focal.edited.connect(self._on_focal_edited)
        self.setFocusProxy(self._focal)

    @property
    def known(self) -> bool:
        """Whether some numbers were set or typed."""
        return self._known

    def set_side(self, side: float | None) -> None:
        """Set the longer image side in pixels, None where it is not known."""
        self._focal.set_side(side)

    def set_value(self, value: Intrinsics) -> None:
        """Show fx, fy, cx and cy."""
        fx, fy, cx, cy = value
        self._focals, self._ratio, self._known = (fx, fy), fy / fx, True
        self._focal.set_focal_length(math.sqrt(fx * fy) if fx != fy else fx)
        for field, number in ((self._cx, cx), (self._cy, cy)):
            if not field.hasFocus():
                field.set_value(number)

    def offer(self, value: Intrinsics) -> None:
        """Show numbers to begin with; they are not among those that were set or typed."""
        self.set_value(value)
        self._known = False

    def value(self) -> Intrinsics:
        """Return fx, fy, cx and cy.

        Raises ValueError with a sentence, where something that is typed is not accepted.
        """
        if self._focals is None:
            focal, root = self._focal.focal_length(), math.sqrt(self._ratio)
            fx, fy = focal / root, focal * root
        else:
            fx, fy = self._focals
        center = []
        for name, field in (("cx", self._cx), ("cy", self._cy)):
            try:
                number = field.value()
            except ValueError as error:
                raise ValueError(f"principal point, {name}: {error}") from None
            assert number is not None  # the fields are not optional
            center.append(float(number))
        return fx, fy, center[0], center[1]

    def _on_focal_edited(self) -> None:
        self._focals, self._known = None, True
        self.edited.emit()
