"""A loss plot, and what it shows."""

import pytest
from sharing import called_by_tests

from core import HistoryEntry
from core.foundation import Phase, PhaseKind
from nrsfm_gui.model.history import History
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.loss.loss_plot import EVERYTHING, LossPlot
from nrsfm_gui.widgets.style import palette

REFINE = Phase(PhaseKind.REFINE)


@called_by_tests
def history(count, *, phase=REFINE, top=1.0):
    """Make histories of a falling loss, a hundredth of a second an iteration."""
    made = History()
    made.extend(HistoryEntry(k, 0.01 * k, top / (1 + k), phase, best=top / (1 + k)) for k in range(count))
    return made


@called_by_tests
def stage_names(plot):
    """Return the names of stages or phases that are seen in a plot."""
    return [text for text in plot._stages._texts if text.isVisible()]


@pytest.fixture
def plot(show):
    plot = LossPlot()
    plot.setPalette(palette(DARK))
    plot.header.mode.setCurrentText(EVERYTHING)
    return show(plot, 640, 360)


@pytest.fixture
def item(plot):
    """Return what pyqtgraph draws of the plot."""
    return plot.plot_widget.getPlotItem()


@pytest.fixture
def left(item):
    """Return its axis at the left."""
    return item.getAxis("left")
