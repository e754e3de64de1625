"""What is told of points wherever they are shown: in the pictures, on the timeline, in the heat-strip."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget


class PointSignals(QWidget):
    """A widget that shows points.

    Signals
    -------
    point_selected(int), point_toggled(int)
        a click on a point, and one with Ctrl; -1 for none, which only the first one tells.
    points_selected(indices (N,), bool)
        several points were chosen; True where they are to be added.
    point_hovered(int)
        the point under the mouse, or -1.
    """

    point_selected = pyqtSignal(int)
    point_toggled = pyqtSignal(int)
    points_selected = pyqtSignal(object, bool)
    point_hovered = pyqtSignal(int)
