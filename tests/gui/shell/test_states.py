"""Loading, failed and finished states: each says what goes on, and what can be done next."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from hands import button_of, text_of
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QProgressBar, QPushButton

from core import Settings, iterate, simulate
from core.depth import DepthPoint, DepthProblem, DepthStep
from core.reconstruction import BILINEAR_START
from core.solvers import Status
from nrsfm_gui.model.run import RunState
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.sessions import opening as module

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=8, points=20, noise=0.3, seed=2)


@pytest.fixture
def window(make_window):
    """Return a window that announces what its runs have come to."""
    made = make_window()
    made.state_cards.announces = True
    made.session.set_live(False)
    return made


def show_better(messages):
    """Press the button that shows what is better."""
    (button,) = (each for each in messages.findChildren(QPushButton) if each.text().startswith("Show "))
    button.click()


def test_slow_reading_is_shown_with_the_name_of_the_file_and_goes_when_it_is_done(qtbot, monkeypatch, window):
    card = window.state_cards.card
    go_on = threading.Event()
    read = module._read

    def slow(*given, **options):
        go_on.wait(60)
        return read(*given, **options)

    monkeypatch.setattr(module, "_read", slow)
    window.sequence_opening.open("sample:balloon/circle")
    assert text_of(card) == ""  # what is quick needs no word
    qtbot.waitUntil(lambda: "Reading balloon/circle" in text_of(card))
    assert card.findChild(QProgressBar).isVisible()
    place = QRect(card.mapTo(window, QPoint(0, 0)), card.size())
    view = window.scene_view
    assert QRect(view.mapTo(window, QPoint(0, 0)), view.size()).contains(place)
    go_on.set()
    qtbot.waitUntil(lambda: text_of(card) == "" and window.session.sequence is not None)


def test_a_failure_with_nothing_open_shows_why_and_what_next(qtbot, tmp_path, window):
    card = window.state_cards.card
    window.sequence_opening.open(tmp_path / "absent.txt")
    qtbot.waitUntil(lambda: "absent.txt" in text_of(card))
    assert "could not be opened" in text_of(card)
    assert not card.findChild(QProgressBar).isVisible()
    assert window.message_bar.text == ""  # it is said once
    button_of(card, "Copy text").click()
    assert "absent.txt" in QGuiApplication.clipboard().text()
    button_of(card, "Open the sample").click()
    qtbot.waitUntil(lambda: window.session.sequence is not None)
    assert text_of(card) == ""


def test_a_failure_next_to_an_open_sequence_offers_another_file_and_the_log(
    qtbot, tmp_path, window, sequence
):
    messages = window.message_bar
    window.session.set_sequence(sequence)
    window.sequence_opening.open(tmp_path / "absent.txt")
    qtbot.waitUntil(lambda: "absent.txt" in messages.text)
    assert button_of(messages, "Open another…")
    button_of(messages, "Show the log").click()
    assert window.log_panel.isVisible()


def test_the_result_of_a_run_is_reported_once_in_a_sentence(qtbot, window, known, make_iterate, add_run):
    session, messages = window.session, window.message_bar
    session.set_sequence(replace(known.sequence, truth=None))

    def end(run):
        window.display.refresh()
        window.run_control.ended.emit(run)

    run = add_run(session, make_iterate(known, noise=0.1), QUICK)
    end(run)
    qtbot.waitUntil(lambda: messages.text.startswith("Run 1 "))
    assert ". " not in messages.text and messages.text.endswith(".")  # one sentence
    assert ") converged in " in messages.text
    assert not any(unit in messages.text for unit in ("px", "mm"))  # they are in the headline
    button_of(messages, "Go to the worst frame").click()
    assert window.status_controller.line.full_text.startswith("Worst frame")
    messages.hide()
    end(run)  # it followed a change
    assert messages.text == ""
    limited = replace(make_iterate(known, noise=0.2), status=Status.LIMIT)
    end(add_run(session, limited, QUICK))
    qtbot.waitUntil(lambda: messages.text.startswith("Run 2 "))
    assert ") reached its iteration limit in " in messages.text


def test_a_refined_shape_that_the_truth_shows_to_be_worse_is_announced_with_the_way_to_the_other(
    qtbot, window, sequence
):
    session, display, messages = window.session, window.display, window.message_bar
    *_, end = iterate(sequence, rank=2, starts=1, rotations="truth", objective="wnn")
    bilinear, problem = end.result(), end.best.problem
    sequence = replace(sequence, truth=replace(sequence.truth, points=bilinear.points))
    tracks = DepthProblem(problem.tracks, problem.visible, problem.affine)
    point = DepthPoint.from_camera_points(tracks, bilinear.camera_points, bilinear.rotations)
    depths = point.depths * np.random.default_rng(0).uniform(0.9, 1.1, size=point.depths.shape)
    record = replace(end.record, energy=-1.0)
    depth = DepthStep(replace(point, depths=depths), -1.0, -1.0, end.phase, 1.0, finished=True)
    session.set_sequence(sequence)
    run = session.add_run(end.settings)
    run.last, run.state = replace(end, record=record, depth=depth), RunState.FINISHED
    run.history.extend([record])
    session.report_run(run)
    display.refresh()
    window.run_control.ended.emit(run)
    qtbot.waitUntil(lambda: bool(messages.text))
    now = measure(display.errors.incumbent.error, "mm")
    assert f", {now} from the ground truth; nearer: " in messages.text
    assert f" in {BILINEAR_START}" in messages.text
    show_better(messages)
    assert session.compared is run and session.compared_solution == BILINEAR_START
    display.refresh()
    assert display.compared_incumbent.error < 1e-6 < display.errors.incumbent.error


def test_a_run_that_passed_something_nearer_to_the_truth_says_so_and_offers_it(
    qtbot, window, known, make_iterate
):
    session, display, messages = window.session, window.display, window.message_bar
    session.set_sequence(known.sequence)
    run = session.add_run(QUICK)
    for index, (noise, seconds) in enumerate(((0.2, 2.0), (0.01, 9.0), (0.1, 48.0))):
        made = make_iterate(known, noise=noise)
        run.last = replace(made, record=replace(made.record, iteration=index + 1, seconds=seconds))
        run.history.extend([run.last.record])
        run.snapshots.add(index, run.last)
    run.state = RunState.FINISHED
    session.report_run(run)
    display.refresh()
    end = display.errors.incumbent.error
    window.run_control.ended.emit(run)
    qtbot.waitUntil(lambda: "at 9.00 s" in messages.text)
    assert f", {measure(end, 'mm')} from the ground truth; nearer: " in messages.text
    assert messages.text.endswith(" mm at 9.00 s.")  # nothing else is nearer
    show_better(messages)
    assert session.moment == 1
    display.refresh()
    assert display.errors.incumbent.error < 0.2 * end


def test_a_refused_run_shows_why_and_shows_the_log(qtbot, make_stream, make_window, sequence):
    window = make_window(sequence, work=make_stream(refuses=QUICK))
    window.session.set_settings(QUICK)
    window.run_control.start(warm=False)
    qtbot.waitUntil(lambda: "is refused" in window.message_bar.text)
    button_of(window.message_bar, "Show the log").click()
    assert window.log_panel.isVisible()


def test_tracks_that_may_be_wrong_are_announced_with_the_result(qtbot, window, sequence):
    tracks = np.array(sequence.tracks)
    for frame, point in ((1, 15), (3, 4), (5, 9)):
        tracks[frame, :, point] += 80.0
    window.session.set_settings(QUICK.with_changes(rotations="truth", starts=1))
    window.session.set_sequence(replace(sequence, tracks=tracks, digest="wrong"))
    window.run_control.start(warm=False)
    qtbot.waitUntil(lambda: "not fit the shapes (" in window.message_bar.text)
    button_of(window.message_bar, "Find outliers").click()
    assert window.outliers_panel.isVisible()
