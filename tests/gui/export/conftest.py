"""What exports a session, with its views and plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from core import Settings, simulate
from nrsfm_gui.panels.loss.loss_controller import LossController
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.engine.run_control import RunControl
    from nrsfm_gui.export.export_controller import ExportController
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
    from nrsfm_gui.panels.view2d.tracks_view import TracksView
    from nrsfm_gui.panels.view3d.scene_view import SceneView
    from nrsfm_gui.scene.display import Display

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, starts=1, objective="wnn")


@dataclass(frozen=True)
class Parts:
    """A session, what draws it, and the controller that exports it."""

    session: Session
    run_control: RunControl
    display: Display
    scene_view: SceneView
    tracks_view: TracksView
    loss_controller: LossController
    loss_plot: LossPlot
    spectrum_plot: SpectrumPlot
    export_controller: ExportController


@pytest.fixture(scope="module")
def sequence() -> Sequence:
    return simulate("paper", frames=6, points=20, noise=0.3, seed=2)


@pytest.fixture
def parts(show, session, control, display, scene_view, tracks_view, make_exporting, sequence, store) -> Parts:
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
    return Parts(session, control, display, scene_view, tracks_view, loss, plot, spectrum, exporting)


@pytest.fixture
def solved(qtbot, parts, add_solved_run, sequence) -> Parts:
    """Return the parts with a run that is over, drawn."""
    add_solved_run(parts.session, sequence, QUICK)
    parts.display.refresh()
    qtbot.wait(1)
    return parts
