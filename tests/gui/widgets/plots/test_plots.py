"""The axes of plots, whatever their height, and arrays of lines, of which no memory is lost."""

import tracemalloc

import numpy as np
from PyQt6.QtCore import QLineF
from PyQt6.QtGui import QColor, QPainter, QPixmap

from nrsfm_gui.model.numbers import MINUS
from nrsfm_gui.widgets.plots.frame_chart import FrameChart, Plot
from nrsfm_gui.widgets.plots.primitive_arrays import Primitives


def labels(chart):
    """Return the rectangles and the texts of the numbers at the left."""
    chart.grab()
    ground = QPixmap(400, 400)
    painter = QPainter(ground)
    painter.setFont(chart.font())
    _, _, specs = chart.getPlotItem().getAxis("left").generateDrawSpecs(painter)
    painter.end()
    return [rect for rect, _, _ in specs], [text for _, _, text in specs]


def test_the_numbers_of_a_low_plot_do_not_overlap(show):
    chart = show(FrameChart(), 375, 200)
    for height in (40, 60, 200):
        chart.resize(375, height)
        for low, high in ((-33.0, -12.0), (18.0, 43.0), (0.001, 0.0016)):
            curve = np.linspace(low, high, 30)
            plot = Plot("x", "mm", (curve,))
            chart.show_plot(plot, [QColor("#4c9aff")], names_frames=False, color="#888888")
            rects, texts = labels(chart)
            assert 1 <= len(texts) <= height // 8
            assert all(not one.intersects(other) for i, one in enumerate(rects) for other in rects[:i])
            assert not any("-" in text for text in texts)
            assert (low < 0) == any(MINUS in text for text in texts)


def test_no_memory_is_lost_while_numbers_change():
    lines = Primitives(QLineF, 4)
    sizes = np.random.default_rng(0).integers(1, 30, 3000)
    lines.resize(30)
    for size in range(1, 31):
        lines.resize(size)
        lines.drawargs()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for size in sizes.tolist():
        lines.resize(size)
        lines.drawargs()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 20_000  # a view for each would be 200 000
