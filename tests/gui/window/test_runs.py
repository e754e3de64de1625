"""The runs of a session in all panels of the window."""

import pytest

from nrsfm_gui.model.theme import DARK
from nrsfm_gui.widgets.style import palette


@pytest.fixture(scope="module")
def shared(make_shared_window, add_three_runs):
    window = make_shared_window()
    add_three_runs(window.session)
    return window


@pytest.fixture
def window(qtbot, shared):
    """Return a window with three runs that are over, the last of another penalty; it is shown."""
    qtbot.activate(shared)
    run = shared.session.runs[-1]
    shared.session.set_shown(run)
    shared.session.set_settings(run.settings)
    shared.display.refresh()
    return shared


def test_what_is_asked_of_a_run_that_has_gone_meanwhile_is_not_done(window):
    runs, panel = window.session.runs, window.sequences_panel
    gone = 1 + max(run.number for run in runs)
    before = [(run.number, run.pinned, run.title, run.note) for run in runs], window.session.shown
    for signal, words in (
        (panel.run_requested, (gone,)),
        (panel.change_requested, (window.session.sequence, gone, {"pinned": True})),
        (panel.change_requested, (window.session.sequence, gone, {"title": "a name"})),
        (panel.change_requested, (None, gone, {"note": "a note"})),
        (panel.delete_requested, (window.session.sequence, gone)),
        (panel.compare_requested, (gone,)),
        (window.parameters_panel.run_parameters_requested, (gone,)),
    ):
        signal.emit(*words)
    window.compare_panel.run_chosen.emit(f"{gone}|refined")
    now = [(run.number, run.pinned, run.title, run.note) for run in runs], window.session.shown
    assert now == before and window.session.compared is None


def test_parameters_are_marked_where_the_run_shown_has_others_and_its_own_are_a_press_away(qtbot, window):
    line = window.parameters_panel.differs
    assert line.use.isHidden()
    window.session.set_shown(window.session.runs[1])
    window.display.refresh()
    assert line.use.isVisibleTo(window.parameters_panel)
    assert line.text.full_text == "Not those of run 2: rank, penalty"
    assert window.parameters_panel.viewportMargins().bottom() == line.height() > 0
    line.use.click()
    assert window.session.settings == window.session.runs[1].settings
    qtbot.waitUntil(line.use.isHidden)


def test_the_name_in_legend_and_list_follows_a_new_title_and_a_change_under_way(window, legend_of):
    window.loss_plot.setPalette(palette(DARK))
    run, panel, line = window.session.shown, window.sequences_panel, window.sequences_panel.tree.item(3)

    def names():
        window.display.refresh()
        return legend_of(window.loss_plot)[0], line.text(0)

    default = names()
    panel.change_requested.emit(window.session.sequence, 3, {"title": "soft corners"})
    assert run.title == "soft corners" and names() == ("3 soft corners", "soft corners")
    panel.change_requested.emit(window.session.sequence, 3, {"title": ""})
    assert run.title == "" and names() == default
    before = run.settings
    run.settings = before.with_changes(method="admm")
    window.session.report_run(run)
    assert all("ADMM" in name for name in names())
    run.settings = before
    window.session.report_run(run)
