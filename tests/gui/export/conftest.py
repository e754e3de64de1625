"""What exports a session, with its views and plots."""

from types import SimpleNamespace

import pytest

from core import Settings, simulate
from nrsfm_gui.panels.loss.loss_controller import LossController
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, starts=1, objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=6, points=20, noise=0.3, seed=2)


@pytest.fixture
def parts(session, control, display, scene_view, tracks_view, make_exporting, sequence):
    """Return the parts with a sequence, before any run."""
    exporting = make_exporting()
    session.set_settings(QUICK)
    session.set_sequence(sequence)
    display.refresh()
    return SimpleNamespace(
        session=session, run_control=control, display=display, scene_view=scene_view, tracks_view=tracks_view,
        export_controller=exporting,
    )  # fmt: skip


@pytest.fixture
def plots(show, parts, store):
    """Add the plots of the loss and of the singular values to the parts."""
    parts.loss_plot, form = LossPlot(), ParametersPanel()
    parts.spectrum_plot = form.spectrum_plot
    for widget in (parts.loss_plot, form):
        show(widget, 480, 320)
    session = parts.session
    parts.loss_controller = LossController(session, parts.run_control, parts.display, parts.loss_plot)
    ParametersController(session, parts.run_control, form, store)
    figures = {"loss": parts.loss_plot.figure, "spectrum": parts.spectrum_plot.figure}
    parts.export_controller._figures.update(figures)


@pytest.fixture
def solved(qtbot, parts, add_solved_run, sequence):
    """Return the parts with a run that is over, drawn."""
    add_solved_run(parts.session, sequence, QUICK)
    parts.display.refresh()
    qtbot.wait(1)
    return parts


@pytest.fixture
def plotted(plots, solved):
    """Return the same with the plots of that run."""
    return solved
