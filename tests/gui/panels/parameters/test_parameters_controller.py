"""The form of parameters and the plot of the weights, which change the parameters of a session."""

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtWidgets import QInputDialog

from core import PRESETS, ExplicitWeights, NuclearNorm, Settings, WeightedNuclearNorm
from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.parameters.parameters_controller import ParametersController
from nrsfm_gui.widgets.drag_number import DragSlider
from nrsfm_gui.widgets.fields import Choice, NumberField


@pytest.fixture
def plot(panel):
    return panel.spectrum_plot


@pytest.fixture
def controller(session, control, panel, store):
    return ParametersController(session, control, panel, store)


def test_the_panel_and_the_parameters_show_one_penalty(qtbot, session, controller, panel, plot, known):
    session.set_sequence(known.sequence)
    session.set_settings(Settings(rank=3, penalty=NuclearNorm(mu=0.01), objective="wnn"))
    controller.flush()
    assert plot.canvas.weights == (0.01,) * 3
    plot.canvas.weights_edited.emit((0.01, 0.01, 0.2))
    qtbot.waitUntil(lambda: session.settings.penalty == ExplicitWeights((0.01, 0.01, 0.2)))
    controller.flush()
    assert panel.settings == session.settings
    assert plot.back.isVisibleTo(plot) and plot.back.accessibleName() == "To the rule"
    plot.canvas.rank_requested.emit(2)
    qtbot.waitUntil(lambda: session.settings.rank == 2)
    assert session.settings.penalty == ExplicitWeights((0.01, 0.01))
    controller.flush()
    assert plot.canvas.weights == (0.01, 0.01)
    plot.back.click()
    assert session.settings.penalty == NuclearNorm(mu=0.01)
    controller.flush()
    assert not plot.back.isVisibleTo(plot)
    plot.rule_requested.emit("wnn")
    assert isinstance(session.settings.penalty, WeightedNuclearNorm)
    panel.set_value("eta", 0.2)
    qtbot.waitUntil(lambda: session.settings.eta == 0.2)


def test_an_active_run_is_marked_unless_it_applies_the_parameters(
    session, controller, panel, add_three_runs, monkeypatch
):
    add_three_runs(session)
    run = session.runs[1]
    session.set_shown(run)
    run.state = RunState.RUNNING
    controller.flush()
    assert panel.differs.text.isVisibleTo(panel)
    monkeypatch.setattr(session, "live", True)
    session.runs_changed.emit()
    controller.flush()
    assert panel.differs.text.isHidden()


def test_the_noise_that_the_shown_run_has_estimated_is_in_the_form(
    session, controller, panel, add_run, make_iterate, known
):
    session.set_sequence(known.sequence)
    end = make_iterate(known, noise=0.1)
    plain = add_run(session, end, Settings(), noise=0.0)
    refined = add_run(session, end, Settings(), noise=0.0)
    refined.last = replace(end, record=replace(end.record, energy=-2.0), noise=0.42)
    field = panel.findChild(NumberField, "noise")
    for run, shown in ((plain, "auto"), (refined, "0.42 px")):
        session.set_shown(run)
        controller.flush()
        assert field.placeholderText() == shown and field.value() is None
    assert panel.findChild(DragSlider, "drag noise").number == 0.42  # it begins there
    refined.last = replace(refined.last, settings=Settings(noise=0.42))
    session.report_run(refined)
    controller.flush()
    assert field.placeholderText() == "auto"


@pytest.fixture
def refined(session, controller, known, make_iterate, add_run):
    """Return a shown run that ended with refined depths."""
    settings = Settings(rank=2, starts=1, rotations="truth", objective="depths")
    session.set_settings(settings)
    session.set_sequence(known.sequence)
    end = make_iterate(known, noise=0.1)
    end = replace(end, record=replace(end.record, energy=-2.0), settings=settings)
    run = add_run(session, end, settings)
    session.set_shown(run)
    controller.flush()
    return run


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"isometry": 1.0, "starts": 2}, "Applied after the search: isometry"),
        ({"starts": 2}, "Press Run (Ctrl+R) to apply: starts"),
        ({}, ""),
    ],
)
def test_what_a_run_under_way_does_not_follow_yet_is_named(
    session, controller, panel, refined, monkeypatch, changes, sentence
):
    session.set_live(False)
    refined.state = RunState.RUNNING
    session.set_settings(refined.settings.with_changes(**changes))
    monkeypatch.setattr(session, "live", True)
    session.runs_changed.emit()
    controller.flush()
    assert panel.differs.text.full_text == sentence
    assert panel.differs.text.isVisibleTo(panel) == bool(sentence) and panel.differs.use.isHidden()


def test_the_bars_are_the_modes_of_the_refined_shape(session, controller, plot, refined):
    values = 100 * refined.last.spectrum.values
    count = len(plot.canvas.weights)
    assert 3 <= count <= 10 and set(plot.canvas.weights) == {1.0}
    np.testing.assert_allclose(plot.canvas.state.singular_values, values[:count])
    session.set_settings(session.settings.with_changes(mode_weights=(1.0,) * 11 + (2.0,)))
    controller.flush()
    assert len(plot.canvas.weights) == 12  # all that are given
    session.set_settings(session.settings.with_changes(objective="wnn"))
    controller.flush()
    assert (
        len(plot.canvas.weights) == 2 and plot.canvas.state.singular_values is None
    )  # bars of another objective say nothing here


def test_weights_of_modes_are_dragged_suppressed_given_back_and_chosen_by_a_penalty(
    qtbot, session, controller, panel, plot, refined
):
    def modes():
        controller.flush()
        assert panel.settings == session.settings
        return session.settings.mode_weights

    count = len(plot.canvas.weights)
    plot.canvas.weights_edited.emit((1.0,) * (count - 1) + (5.0,))
    qtbot.waitUntil(lambda: session.settings.mode_weights != (1.0,))
    assert modes() == (1.0,) * (count - 1) + (5.0,)
    assert plot.back.isVisibleTo(plot)
    plot.back.click()
    assert modes() == (1.0,) and not plot.back.isVisibleTo(plot)
    plot.canvas.rank_requested.emit(1)
    assert modes() == (1.0, 20.0)  # the last one is of all that follow
    plot.canvas.rank_requested.emit(1)
    assert modes() == (1.0,)
    session.set_settings(session.settings.with_changes(smallest_movement=1e-5))  # more modes are above it
    plot.penalty_requested.emit("wnn")
    chosen = modes()
    assert chosen[0] == 1.0 and len(chosen) > 1 and all(np.diff(chosen) >= 0)
    plot.canvas.reset_requested.emit(len(plot.canvas.weights) - 1)
    assert modes() == (1.0,)  # the order brings the others along
    plot.penalty_requested.emit("nn")
    assert modes() == (1.0,)
    plot.canvas.rank_requested.emit(1)
    session.undo()
    assert modes() == (1.0,)


def test_parameters_that_are_named_are_a_preset_until_it_is_removed(
    qtbot, session, control, store, controller, panel, form, known
):
    session.set_sequence(known.sequence)
    controller.flush()
    own = Settings(rank=3, isometry=0.1)
    presets = panel.findChild(Choice, "preset")
    assert presets.refusal("save...") and presets.refusal("remove...")
    before = own.with_changes(rank=2)
    panel.set_settings(before)
    session.set_settings(before)
    form.write("rank", "3")  # a moment before it is accepted
    presets.choose("save...")
    dialog = panel.findChild(QInputDialog)
    dialog.setTextValue(" loose  paper ")
    dialog.accept()
    assert presets.key == "loose paper" and store.presets == {"loose paper": own}
    presets.choose("paper")
    assert session.settings == PRESETS["paper"]
    panel.set_own_presets({})
    ParametersController(session, control, panel, store)  # at the next start
    presets.choose("loose paper")
    assert session.settings == own and presets.key == "loose paper"
    with qtbot.waitSignal(session.notifier.warned):
        panel.preset_named.emit("paper")  # is one of the program
    assert store.presets == {"loose paper": own}
    presets.choose("remove...")
    assert presets.key == "custom" and session.settings == own and not store.presets
