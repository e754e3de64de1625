"""Arrays of lines that are painted from: what is written is what is drawn, and nothing is lost on the way."""

import tracemalloc

import numpy as np
from PyQt6.QtCore import QLineF

from nrsfm_gui.widgets.plots.primitive_arrays import Primitives


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
