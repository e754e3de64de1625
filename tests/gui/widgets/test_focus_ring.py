"""The frame around a widget: it is scrolled with the widget, and ends where the panel ends."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from nrsfm_gui.widgets.focus_ring import MARGIN, FocusRing


@pytest.fixture
def area(qtbot, show):
    """A window with a scrolled column of 40 labels."""
    window, area, column = QWidget(), QScrollArea(), QWidget()
    labels = QVBoxLayout(column)
    for k in range(40):
        labels.addWidget(QLabel(f"label {k}"))
    area.setWidget(column)
    QVBoxLayout(window).addWidget(area)
    show(window, 300, 200)
    return area


def place(area, label):
    """Return where a label is in the window, with the margin of the frame."""
    corner = label.mapTo(area.window(), QPoint(0, 0))
    return QRect(corner, label.size()).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)


def test_the_frame_is_scrolled_with_its_widget_and_cut_where_the_panel_ends(area):
    window = area.window()
    label = area.widget().findChildren(QLabel)[4]
    ring = FocusRing(window, "accent", milliseconds=0)
    ring.point_out(label)
    port = QRect(area.viewport().mapTo(window, QPoint(0, 0)), area.viewport().size())
    assert ring.geometry() == place(area, label) & port
    area.verticalScrollBar().setValue(30)
    assert ring.geometry() == place(area, label) & port
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    assert ring.geometry().isEmpty()
    area.verticalScrollBar().setValue(0)
    assert ring.geometry() == place(area, label) & port and not ring.geometry().isEmpty()


def test_the_frame_leaves_a_widget_for_another(area):
    first, second = area.widget().findChildren(QLabel)[:2]
    ring = FocusRing(area.window(), "accent", milliseconds=0)
    ring.point_out(first)
    ring.point_out(second)
    first.hide()
    assert ring.isVisible()
    second.hide()
    assert not ring.isVisible()
