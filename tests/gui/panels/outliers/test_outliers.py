"""The panel Outliers: found, listed, hidden together and counted in rounds."""

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtWidgets import QPushButton

from core import Settings, simulate
from core.evaluation import find_outliers
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.outliers.outliers_panel import (
    OutliersController,
    OutliersPanel,
    OutliersState,
    outlier_rows,
)
from nrsfm_gui.widgets.style import palette

QUICK = Settings(rank=2, rotations="truth", starts=1, objective="wnn")
WRONG = ((3, 4), (7, 11), (9, 20))  # frame and point


@pytest.fixture(scope="module")
def sequence():
    """Tracks of which some observations are gross outliers."""
    found = simulate("paper", frames=14, points=30, noise=0.3, seed=2)
    tracks = np.array(found.tracks)
    for number, (frame, point) in enumerate(WRONG):
        tracks[frame, :, point] += 200.0 + 50.0 * number
    return replace(found, tracks=tracks, digest="wrong")


@pytest.fixture
def panel(show):
    return show(OutliersPanel(), 520, 240)


@pytest.fixture
def controller(session, panel):
    return OutliersController(session, panel)


@pytest.fixture
def solved(session, controller, panel, sequence, add_solved_run):
    session.set_live(False)
    add_solved_run(session, sequence, QUICK)
    controller.show()
    return session


def button(panel, text):
    buttons = [*panel.header.findChildren(QPushButton), *panel.findChildren(QPushButton)]
    return next(each for each in buttons if each.text() == text)


def rows(panel):
    items = [panel.list.topLevelItem(row) for row in range(panel.list.topLevelItemCount())]
    return [tuple(item.text(column) for column in range(3)) for item in items]


def test_rows_begin_with_the_points_that_drift_and_then_descend():
    residuals = np.random.default_rng(0).rayleigh(size=(40, 12))
    residuals[20:, 3] = np.linspace(10, 60, 20)
    residuals[5, 7], residuals[6, 1] = 30.0, 40.0
    listed = outlier_rows(find_outliers(residuals))
    assert [(row.point, row.frame, row.drifting) for row in listed] == [
        (3, 20, True), (1, 6, False), (7, 5, False)
    ]  # fmt: skip
    assert [row.residual for row in listed] == [60.0, 40.0, 30.0]
    assert len(outlier_rows(find_outliers(residuals), most=2)) == 2


def test_the_worst_observations_of_a_run_are_listed_and_lead_there(solved, panel):
    listed = rows(panel)
    assert {(int(frame) - 1, int(point) - 1) for point, frame, _ in listed} >= set(WRONG)
    residuals = [float(value) for *_, value in listed]
    assert residuals == sorted(residuals, reverse=True)
    assert f"{len(listed)} of {solved.sequence.visible.sum()} (" in panel.sentence.full_text
    heading = panel.list.header()
    assert sum(heading.sectionSize(column) for column in range(3)) <= panel.list.viewport().width()
    item = panel.list.topLevelItem(1)
    panel.list.setCurrentItem(item)
    assert solved.frame + 1 == int(item.text(1)) and solved.point + 1 == int(item.text(0))


def test_the_histogram_counts_every_observation_and_the_chosen_row_stays_where_the_list_does(panel, near):
    residuals = np.random.default_rng(0).rayleigh(size=(40, 50))
    residuals[5, 7] = 60.0
    found = find_outliers(residuals)
    state = OutliersState(found, found.threshold, "px", "the bilinear solution")
    panel.set_state(state)
    assert panel.plot.counts.sum() == residuals.size
    for theme in (DARK, LIGHT):
        panel.setPalette(palette(theme))
        picture = panel.grab().toImage()
        assert near(picture, theme.accent, tolerance=30).sum() > 200
        assert near(picture, theme.warning, tolerance=30).sum() > 5
    panel.list.setCurrentItem(panel.list.topLevelItem(0))
    panel.set_state(replace(state, sentence="other", can_hide=True))
    assert panel.sentence.full_text == "other"
    assert panel.list.currentItem() is panel.list.topLevelItem(0) is not None
    panel.set_state(replace(state, unit="mm"))
    assert panel.list.currentItem() is None and panel.list.headerItem().text(2) == "mm"
    panel.set_state(replace(state, outliers=find_outliers(residuals, threshold=70.0)))
    assert not near(panel.grab().toImage(), LIGHT.warning, tolerance=30).any()


def test_residuals_of_another_solution_than_the_shown_one_carry_its_name(solved, panel, controller):
    axis = panel.plot._plot.getAxis("bottom")
    assert "solution" not in panel.sentence.full_text and axis.labelText == "residual (px)"
    last = solved.shown.last
    solved.shown.last = replace(last, record=replace(last.record, energy=-14.0))  # its depths are refined
    solved.run_changed.emit(solved.shown)
    controller.show()
    assert panel.sentence.full_text.endswith(" px in the bilinear solution")
    assert "bilinear residual (px)" in axis.labelText


def test_a_dragged_threshold_changes_the_list_and_is_put_back_and_no_frame_is_emptied(
    solved, controller, panel, messages
):
    line, before = panel.plot._line, rows(panel)
    line.setValue(line.value() - 1.0)
    assert len(rows(panel)) > len(before)
    button(panel, "Reset").click()
    assert rows(panel) == before and not button(panel, "Reset").isVisible()
    controller._found = replace(controller._found, mask=np.ones_like(controller._found.mask))
    button(panel, "Hide all").click()
    assert solved.settings.hide is None
    assert "frame 1 would be left without any point" in messages.text


def test_all_are_hidden_in_one_step_and_solved_without_them(
    qtbot, solved, controller, panel, sequence, add_run, solve_once
):
    button(panel, "Hide all").click()
    assert solved.excluded[tuple(np.transpose(WRONG))].all()
    controller.show()
    assert panel.sentence.full_text == f"{solved.excluded.sum()} observations hidden: press Solve again"
    assert rows(panel) == [] and not button(panel, "Hide all").isEnabled()
    with qtbot.waitSignal(panel.solve_requested):
        button(panel, "Solve again").click()
    error = solved.shown.last.best.loss
    add_run(solved, solve_once(sequence, solved.settings)[-1], solved.settings)
    controller.show()
    assert controller.round == 2
    assert panel.sentence.full_text.startswith("Round 2: ")
    assert solved.shown.last.best.loss < 0.9 * error
    with qtbot.waitSignal(panel.show_requested):
        button(panel, "Show all").click()
    solved.undo()
    assert solved.settings.hide is None and controller.round == 1


def test_nothing_is_listed_without_a_run_or_while_one_is_under_way(
    session, controller, panel, sequence, add_solved_run
):
    controller.show()
    assert rows(panel) == [] and panel.sentence.full_text == ""
    assert not any(button(panel, text).isEnabled() for text in ("Hide all", "Solve again", "Show all"))
    run = add_solved_run(session, sequence, QUICK)
    run.state = RunState.RUNNING
    session.report_run(run)
    controller.show()
    assert panel.sentence.full_text == "A run is under way" and not button(panel, "Hide all").isEnabled()
    run.state = RunState.FINISHED
    session.report_run(run)
    controller.show()
    assert len(rows(panel)) >= 3
