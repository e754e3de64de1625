"""The runs of a session in all panels of the window."""

import pytest
from hands import type_into
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLineEdit

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


def line(window, number):
    return window.sequences_panel.tree.item(number)


def write(qtbot, window, text):
    editor = window.sequences_panel.tree.findChild(QLineEdit)
    type_into(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.sequences_panel.tree.findChild(QLineEdit) is None)
    window.display.refresh()


def test_what_is_asked_of_a_run_that_has_gone_meanwhile_is_not_done(window):
    runs, panel = window.session.runs, window.sequences_panel
    gone = 1 + max(run.number for run in runs)
    before = [(run.number, run.pinned, run.title, run.note) for run in runs], window.session.shown
    for signal, words in (
        (panel.run_requested, (gone,)),
        (panel.pin_requested, (window.session.sequence, gone, True)),
        (panel.title_changed, (window.session.sequence, gone, "a name")),
        (panel.note_changed, (gone, "a note")),
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


def test_f4_renames_everywhere_and_an_empty_name_restores_the_default(qtbot, window, legend_of):
    window.loss_plot.setPalette(palette(DARK))
    tree = window.sequences_panel.tree
    tree.setFocus()
    before = line(window, 3).text(0)
    qtbot.keyClick(tree, Qt.Key.Key_F4)
    write(qtbot, window, "soft corners")
    run = window.session.shown
    assert run.title == "soft corners" and line(window, 3).text(0) == "soft corners"
    assert legend_of(window.loss_plot)[0] == "3 soft corners"
    qtbot.keyClick(tree, Qt.Key.Key_F4)
    write(qtbot, window, " ")
    assert run.title == "" and line(window, 3).text(0) == before


def test_the_name_in_the_legend_follows_a_change_under_way(window, legend_of):
    window.loss_plot.setPalette(palette(DARK))
    run = window.session.shown
    before = run.settings
    run.settings = before.with_changes(method="admm")
    window.session.report_run(run)
    window.display.refresh()
    assert "ADMM" in legend_of(window.loss_plot)[0] and "ADMM" in line(window, 3).text(0)
    run.settings = before
    window.session.report_run(run)
