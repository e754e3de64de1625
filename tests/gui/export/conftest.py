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
def parts(show, session, control, display, scene_view, tracks_view, make_exporting, sequence, store):
    """Return the parts with a sequence, before any run."""
    plot, form = LossPlot(), ParametersPanel()
    spectrum = form.spectrum_plot
    for widget in (plot, form):
        show(widget, 480, 320)
    loss = LossController(session, control, display, plot, session)
    ParametersController(session, control, form, store, session)
    exporting = make_exporting(loss=plot.figure, spectrum=spectrum.figure)
    session.set_settings(QUICK)
    session.set_sequence(sequence)
    display.refresh()
    return SimpleNamespace(
        session=session, run_control=control, display=display, scene_view=scene_view, tracks_view=tracks_view,
        loss_controller=loss, loss_plot=plot, spectrum_plot=spectrum, export_controller=exporting,
    )  # fmt: skip


@pytest.fixture
def solved(qtbot, parts, add_solved_run, sequence):
    """Return the parts with a run that is over, drawn."""
    add_solved_run(parts.session, sequence, QUICK)
    parts.display.refresh()
    qtbot.wait(1)
    return parts
