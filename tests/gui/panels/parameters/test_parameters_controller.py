"""The form of parameters, and the plot of the weights, of a session with runs."""

from __future__ import annotations

from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot


def test_an_active_run_is_marked_unless_it_applies_the_parameters(
    show, session, control, panel, add_three_runs, monkeypatch
):
    plot = SpectrumPlot()
    show(plot, 300, 200)
    controller = ParametersController(session, control, panel, plot, panel)
    add_three_runs(session)
    run = session.runs[1]
    session.set_shown(run)
    run.state = RunState.RUNNING
    controller.flush()
    assert panel.differs.isVisibleTo(panel)
    monkeypatch.setattr(session, "live", True)
    session.runs_changed.emit()
    controller.flush()
    assert panel.differs.isHidden()
