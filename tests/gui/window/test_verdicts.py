"""A refined run: its shape, its other solutions, and what may be wrong with it and can be done about that."""

from dataclasses import replace

import numpy as np
import pytest
from hands import button_of
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel, QTabBar, QToolButton

from core import Settings, Status, iterate, simulate
from core.depth import DepthEnd, mirror_in_depth
from core.reconstruction import BILINEAR_START, Verdict
from nrsfm_gui.model.names import numbered_title, sentence_name
from nrsfm_gui.model.numbers import NONE
from nrsfm_gui.model.run import RunState
from nrsfm_gui.scene.shapes import build_shapes
from nrsfm_gui.scene.summaries import percent_of
from nrsfm_gui.text.run_rows import run_row

SETTINGS = Settings(rank=2, starts=1, rotations="truth", noise=0.0)
MIRRORED = Verdict("mirrored", "Frames 4-6 may be mirrored.", (3, 5), "mirror")
JUMP = Verdict("jump", "The rotation jumps at frame 9.", (7, 8), "look")
RIGID = Verdict("rigid", "A rigid shape would do as well.")


@pytest.fixture(scope="module")
def sequence():
    return simulate("balloon", frames=9, points=15, noise=0.0, seed=3)


@pytest.fixture(scope="module")
def end(sequence):
    *_, last = iterate(sequence, SETTINGS)
    return last


@pytest.fixture
def show_run(make_window, sequence, end):

    def make(*verdicts):
        window = make_window()
        session = window.session
        session.set_sequence(sequence)
        session.set_settings(SETTINGS)
        run = session.add_run(SETTINGS)
        run.last, run.state = replace(end, verdicts=verdicts), RunState.FINISHED
        run.history.extend([end.record])
        session.report_run(run)
        window.display.refresh()
        return window

    return make


def tab_of(window):
    """Return whether the tab of the panel Numbers is marked, and its tip."""
    window.numbers_controller.flush()
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    places = [(bar, tab) for bar in bars for tab in range(bar.count()) if bar.tabText(tab) == "Numbers"]
    (bar, tab), *_others = places
    return not bar.tabIcon(tab).isNull(), bar.tabToolTip(tab)


def test_a_report_says_what_the_answer_is_worth_once_the_run_has_ended(qtbot, show_run, tmp_path):
    for verdicts, worth in (((), "the tracks determine the shape"), ((JUMP, RIGID), "the rotation jumps")):
        window = show_run(*verdicts)
        with qtbot.waitSignal(window.export_controller.saved):
            window.export_controller.save_report(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert f"<p>Answer: {worth}" in page and all(each.sentence in page for each in verdicts)
        run = window.session.shown
        run.last = replace(run.last, status=Status.RUNNING)
        window.session.report_run(run)
        with qtbot.waitSignal(window.export_controller.saved):
            window.export_controller.save_report(tmp_path / "r.html")
        assert "Answer:" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_remarks_are_gone_once_dismissed_or_without_their_run(qtbot, show_run):
    window = show_run(JUMP, RIGID)
    panel, session = window.numbers_panel, window.session
    assert tab_of(window) == (True, "2 remarks")
    said = {"What may be wrong", JUMP.sentence, RIGID.sentence}
    qtbot.waitUntil(
        lambda: said <= {each.text() for each in panel.findChildren(QLabel) if each.isVisibleTo(panel)}
    )
    assert JUMP.sentence in run_row(session.shown, None).tip
    next(each for each in panel.findChildren(QToolButton) if each.isVisibleTo(panel)).click()
    window.display.refresh()
    assert session.shown.dismissed == {JUMP.sentence}
    assert tab_of(window) == (True, "1 remark")
    assert run_row(session.shown, None).origin == "1 remark"
    session.undo()
    window.compare_controller.compare_solution(BILINEAR_START)
    window.display.refresh()
    assert tab_of(window) == (True, "2 remarks")  # of the shape that is shown
    session.change_run(session.shown, dismissed=frozenset({JUMP.sentence, RIGID.sentence}))
    window.display.refresh()
    assert tab_of(window) == (False, "Numbers") and run_row(session.shown, None).origin == ""
    assert not any(each.isVisibleTo(panel) for each in panel.findChildren(QToolButton))
    session.change_run(session.shown, dismissed=frozenset())
    window.display.refresh()
    assert tab_of(window) == (True, "2 remarks")
    session.drop_run(session.shown)
    window.display.refresh()
    assert tab_of(window) == (False, "Numbers")


def test_looking_goes_to_the_frames_and_colors_by_the_uncertainty(show_run):
    window = show_run(JUMP)
    button_of(window.numbers_panel, "Look").click()
    session = window.session
    assert session.frame == 7 and session.frame_range == (7, 8)
    assert (session.appearance.color_by == "uncertainty") is (session.seen.geometry.std is not None)


def test_comparing_shows_the_end_that_is_named_or_the_bilinear_solution(show_run, end):
    ends = [each.name for each in end.depth.ends]
    names = list(end.alternatives)
    other = names[-1]
    assert [name.partition(": ")[2] for name in names[1:]] == ends[1:]  # further ends are solutions, too
    verdict = Verdict("ambiguous", f"Two shapes; the other is {other.partition(': ')[2]}.", None, "compare")
    window = show_run(verdict)
    button_of(window.numbers_panel, "Compare").click()
    session = window.session
    assert session.compared is session.shown and session.compared_solution == other
    window.display.refresh()
    assert window.display.together is not None


def test_an_end_is_as_far_and_as_high_in_compare_as_in_the_summary_of_the_command_line(show_run, end):
    lowest = end.depth.ends[0].energy
    mirrored = DepthEnd("rigid", mirror_in_depth(end.depth.best), lowest + 0.0123, lowest)
    end = replace(end, depth=replace(end.depth, ends=(*end.depth.ends, mirrored)), view=None)
    ends = end.geometry.refinement["ends"]
    window = show_run()
    session = window.session
    session.shown.last = end
    session.report_run(session.shown)
    name = list(end.alternatives)[1]
    window.compare_controller.compare_solution(name)
    window.display.refresh()
    apart = percent_of(ends[1]["distance"], 1.0)
    assert window.compare_panel.summary.full_text.startswith(f"{apart} of the object apart · ")
    rows = {row.name: (row.first, row.second) for row in window.compare_controller._resolve().rows}
    assert rows["above the lowest end"] == (NONE, f"{ends[1]['excess']:.2g}")
    window.compare_controller.compare_solution(BILINEAR_START)
    window.display.refresh()
    assert "above the lowest end" not in {row.name for row in window.compare_controller._resolve().rows}


@pytest.mark.slow
def test_frames_are_mirrored_in_a_run_of_its_own_that_is_reported(qtbot, show_run, sequence, end):
    window = show_run(MIRRORED)
    session = window.session
    source = session.shown
    button_of(window.numbers_panel, "Mirror").click()
    run = session.shown
    assert run is not source and run.settings == SETTINGS.with_changes(mirror="4-6")
    assert session.settings == SETTINGS  # the next run mirrors nothing
    qtbot.waitUntil(lambda: run.state is RunState.FINISHED)
    *_, expected = iterate(sequence, SETTINGS.with_changes(mirror="4-6"), start=source.last)
    np.testing.assert_allclose(run.last.geometry.points, expected.geometry.points, atol=1e-9)
    name = sentence_name(source)
    qtbot.waitUntil(lambda: f"has frames 4-6 of run {name} mirrored" in window.message_bar.text)
    energies = [f"{each.last.energy:.4f}".replace("-", "−") for each in (source, run)]
    assert f"energy {energies[0]} before, {energies[1]} after; 3-D error " in window.message_bar.text
    button_of(window.message_bar, f"Compare with run {name}").click()
    assert session.compared is source


def test_a_run_is_compared_with_the_bilinear_solution_that_it_started_from(show_run, sequence, end):
    window = show_run()
    session, controller = window.session, window.compare_controller
    controller.compare_solution(BILINEAR_START)
    window.display.refresh()
    assert controller.on and session.compared is session.shown
    ends = end, end.alternatives[BILINEAR_START]
    refined, bilinear = (build_shapes(sequence, each).points for each in ends)
    assert np.abs(refined - bilinear).max() > 0.1
    np.testing.assert_allclose(window.display.together.points, bilinear)
    assert window.display.together.mean > 0.1
    assert window.compare_panel._second.currentText() == numbered_title(session.shown, BILINEAR_START)
    assert window.compare_panel._second.currentText().endswith(f": {BILINEAR_START}")
    controller.swap()
    assert session.compared is session.shown  # the shown shape is that of the run
    window.display.refresh()
    np.testing.assert_array_equal(window.display.scene.shapes.points, refined)
    controller.stop()
    session.set_compared(session.shown)  # with the same solution of itself
    assert not controller.on and session.compared is None
