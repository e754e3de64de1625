"""The penalties in the form of parameters: each with numbers of its own."""

import numpy as np
import pytest

from core import PENALTIES, LogPenalty, Settings
from core.foundation import parameters_of


def shown_numbers(form):
    names = dict.fromkeys(name for kind in PENALTIES.values() for name in parameters_of(kind))
    return [name for name in names if form.field(name).isVisibleTo(form.panel)]


def test_every_penalty_can_be_chosen_and_shows_its_own_numbers_and_tips(panel, form):
    for kind, penalty in PENALTIES.items():
        form.choose("penalty", kind)
        assert sorted(shown_numbers(form)) == sorted(parameters_of(penalty))
        for name, described in parameters_of(penalty).items():
            assert form.field(name).toolTip() == described.tip
        panel.flush()
        assert panel.settings.penalty == (Settings().penalty if kind == "wnn" else penalty())


def test_a_number_that_a_penalty_refuses_shows_why_next_to_it(panel, form):
    for kind, name, text, words in (
        ("schatten", "p", "1", "p is 1; accepted is a number above 0 and below 1"),
        ("log", "mu", "-1", "mu is -1"),
        ("ramp", "free", "1.5", "'1.5' is not a whole number"),
        ("rank", "mu", "inf", "mu is inf"),
    ):
        form.choose("penalty", kind)
        form.write(name, text)
        assert words in form.note(name) and panel.refusal
        form.choose("penalty", "nn")
        assert not panel.refusal


def test_each_penalty_remembers_its_numbers(panel, form):
    form.choose("penalty", "rank")
    form.write("mu", "0.25")
    panel.flush()
    form.choose("penalty", "log")
    assert form.field("mu").value() == LogPenalty().mu
    form.choose("penalty", "weights")
    assert form.field("mu").isVisibleTo(panel) and not form.field("mu").isEnabled()
    form.choose("penalty", "rank")
    assert form.field("mu").value() == 0.25


def test_weights_of_a_concave_penalty_are_its_slopes_at_the_singular_values(qtbot, panel, form):
    settings = Settings(rank=3, penalty=LogPenalty(mu=0.2, epsilon=0.5))
    panel.set_settings(settings)
    assert form.weights() == []
    assert "follow the singular values" in form.texts()
    for sigma in (np.array([19.0, 4.0, 0.5]), np.array([18.0, 5.0, 0.0])):
        panel.penalty.set_spectrum(None, sigma)
        shown = panel.penalty.weights_list.weights
        assert shown == pytest.approx(tuple(0.2 / (sigma + 0.5)), rel=1e-6)
    assert "slopes of the penalty" in form.texts()
    field = form.weights()[2]
    field.setFocus()
    field.selectAll()
    with qtbot.waitSignal(panel.settings_changed) as changed:
        qtbot.keyClicks(field, "2")
    penalty = changed.args[0].penalty
    assert penalty.a[:2] == pytest.approx(shown[:2])
    assert penalty.a[2] == 2.0
