"""The solutions of a refined run: its own shape is shown, and compared with the others."""

import numpy as np
import pytest

from core import Settings, iterate, simulate
from core.reconstruction import BILINEAR_START
from nrsfm_gui.model.names import numbered_title
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


def test_the_views_show_the_shape_of_the_run(qtbot, window, sequence, end):
    refined = build_shapes(sequence, end).points
    np.testing.assert_array_equal(shown_points(window), refined)
    found, run = window.display.errors.incumbent, window.session.shown
    assert window.display.errors.of_run(run) is found and found.iterate is end
    assert found.error == pytest.approx(np.nanmean(window.display.scene.shapes.errors))

    def agrees():
        rows = window.sequences_panel.tree.open.runs
        headline = window.status_controller.headline.full_text.split(" · ")[0]
        return headline == rows[0].error == measure(found.error, found.unit)

    qtbot.waitUntil(agrees)


def test_a_run_is_compared_with_the_bilinear_solution_that_it_started_from(window, sequence, end):
    session, controller = window.session, window.compare_controller
    controller.compare_solution(BILINEAR_START)
    window.display.refresh()
    assert controller.on and session.compared is session.shown
    refined, bilinear = (
        build_shapes(sequence, each).points for each in (end, end.alternatives[BILINEAR_START])
    )
    assert np.abs(refined - bilinear).max() > 0.1
    np.testing.assert_allclose(window.display.together.points, bilinear)
    assert window.display.together.mean > 0.1
    assert window.compare_panel._second.currentText() == numbered_title(session.shown, BILINEAR_START)
    assert window.compare_panel._second.currentText().endswith(f": {BILINEAR_START}")
    controller.swap()
    assert session.compared is session.shown  # the shown shape is that of the run
    np.testing.assert_array_equal(shown_points(window), refined)
    controller.stop()
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
