"""The two solutions of a refined run: shown in turn, and compared with each other."""

from __future__ import annotations

import numpy as np
import pytest

from core import Settings, iterate, simulate
from nrsfm_gui.model.run import RunState
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.scene.summaries import measure

SETTINGS = Settings(rank=2, starts=1, rotations="truth", noise=0.0)


@pytest.fixture(scope="module")
def sequence():
    return simulate("balloon", frames=9, points=15, noise=0.0, seed=3)


@pytest.fixture(scope="module")
def end(sequence):
    """Return the last iterate of a refined run."""
    *_, last = iterate(sequence, SETTINGS)
    assert last.record.energy is not None
    return last


@pytest.fixture
def window(make_window, sequence, end):
    window = make_window()
    session = window.session
    session.set_sequence(sequence)
    run = session.add_run(SETTINGS)
    run.last, run.state = end, RunState.FINISHED
    run.history.extend([end.record])
    session.report_run(run)
    window.display.refresh()
    return window


def shown_points(window):
    window.display.refresh()
    return window.display.scene.shapes.points


def test_the_views_show_the_refined_depths_or_the_bilinear_solution(window, sequence, end):
    refined, bilinear = (
        build_shapes(sequence, each).points for each in (end, end.alternatives[BILINEAR_START])
    )
    assert np.abs(refined - bilinear).max() > 0.1
    action, buttons = window.toolbars.actions["refined"], window.scene_view.buttons
    np.testing.assert_array_equal(shown_points(window), refined)
    assert buttons.solution == "refined"
    action.trigger()
    np.testing.assert_array_equal(shown_points(window), bilinear)
    assert window.session.solution == buttons.solution == "bilinear" and not window.session.newest_seen
    errors = window.display.errors.incumbent.error
    assert errors == pytest.approx(np.nanmean(window.display.scene.shapes.errors))
    action.trigger()
    np.testing.assert_array_equal(shown_points(window), refined)
    assert window.display.errors.of_run(window.session.shown).error < errors


@pytest.mark.parametrize("solution", ["refined", "bilinear"])
def test_the_row_of_the_shown_run_has_the_error_of_the_headline(qtbot, window, end, solution):
    window.session.set_solution(solution)
    window.display.refresh()
    found, run = window.display.errors.incumbent, window.session.shown
    assert window.display.errors.of_run(run) is found

    def agrees():
        rows = window.sequences_panel.tree.open.runs
        headline = window.status_controller.headline.full_text.split(" · ")[0]
        return headline == rows[0].error == measure(found.error, found.unit)

    qtbot.waitUntil(agrees)
    exact = window.display.errors.of_run(run, exact=True)  # of the end of the run, whatever is shown
    assert exact is None or exact.iterate is end


def test_a_run_without_refinement_offers_no_choice(window, sequence, add_solved_run):
    add_solved_run(window.session, sequence, SETTINGS.with_changes(objective="wnn"))
    window.display.refresh()
    assert window.scene_view.buttons.solution == ""
    before = shown_points(window)
    window.session.set_solution("bilinear")
    np.testing.assert_array_equal(shown_points(window), before)


def test_a_run_is_compared_with_its_own_bilinear_solution(window, sequence, end):
    session, controller = window.session, window.compare_controller
    controller.compare_solution("bilinear")
    window.display.refresh()
    assert controller.on and session.compared is session.shown
    bilinear = build_shapes(sequence, end.alternatives[BILINEAR_START]).points
    np.testing.assert_allclose(window.display.together.points, bilinear)
    assert window.display.together.mean > 0.1
    assert window.compare_panel.second == "1: bilinear"
    controller.swap()
    window.display.refresh()
    assert session.solution == "bilinear" and session.compared_solution == "refined"
    np.testing.assert_array_equal(window.display.scene.shapes.points, bilinear)
    session.set_solution("refined")
    assert not controller.on


def test_a_run_is_not_compared_with_the_same_solution_of_itself(window):
    window.session.set_compared(window.session.shown)
    assert window.session.compared is None


def test_further_ends_of_a_refinement_are_solutions_too(end):
    ends = end.depth.ends
    assert [name.partition(": ")[2] for name in list(end.alternatives)[1:]] == [
        each.name for each in ends[1:]
    ]
    for alternative, each in zip(list(end.alternatives.values())[1:], ends[1:], strict=True):
        assert alternative.depth.best is each.point and alternative.geometry.std is None
