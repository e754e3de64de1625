"""A loss plot, what it shows, and where something is in a picture of it."""

import numpy as np
import pytest

from core import HistoryEntry
from core.foundation import Phase, PhaseKind
from nrsfm_gui.model.history import History
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.loss.loss_plot import EVERYTHING, LossPlot
from nrsfm_gui.widgets.style import palette

REFINE = Phase(PhaseKind.REFINE)


@pytest.fixture
def history():
    """Make histories of a falling loss, a hundredth of a second an iteration."""

    def make(count, *, phase=REFINE, top=1.0):
        made = History()
        made.extend(HistoryEntry(k, 0.01 * k, top / (1 + k), phase, best=top / (1 + k)) for k in range(count))
        return made

    return make


@pytest.fixture
def edges():
    """Find left, right, top and bottom of what a mask holds."""

    def find(mask):
        y, x = np.nonzero(mask)
        return np.array([x.min(), x.max(), y.min(), y.max()])

    return find


@pytest.fixture
def plot(show):
    plot = LossPlot()
    plot.setPalette(palette(DARK))
    plot.set_mode(EVERYTHING)
    show(plot, 640, 360)
    return plot
