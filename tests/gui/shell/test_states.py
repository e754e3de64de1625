"""Loading, failed and finished states: each says what goes on, and what can be done next."""

import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hands import button_of, text_of
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtGui import QGuiApplication
from PyQt6.QtWidgets import QProgressBar, QPushButton

from core import Settings, iterate, simulate
from core.depth import DepthPoint, DepthProblem, DepthStep
from core.reconstruction import BILINEAR_START
from core.reconstruction.verdicts import DETERMINED
from core.solvers import Status
from nrsfm_gui.engine.run_control import RunControl
from nrsfm_gui.model.run import RunState
from nrsfm_gui.panels.sequences.sequences_controller import SequencesController
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.sessions import opening as module
from nrsfm_gui.sessions.opening import SequenceOpening
from nrsfm_gui.shell.state_cards import StateCards
from nrsfm_gui.widgets.banners import Banners, Urgency

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=8, points=20, noise=0.3, seed=2)


@pytest.fixture
def opening(show, store, session, control):
    """Return what reads files, and shows in the session what they hold."""
    tree = show(SequencesPanel(), 200, 200)
    made = SequenceOpening(session, store, tree)
    SequencesController(session, control, made, store, tree)
    return made


@pytest.fixture
def asked():
    """Return what the buttons of messages have led to."""
    return []


@pytest.fixture
def make_states(session, display, messages, scene_view, opening, asked, show):
    """Make the cards over the 3-D view, for what starts and stops runs."""

    def make(control):
        show(messages, 700, 40)
        states = StateCards(
            session, control, display.errors, opening, messages, parent=session, act=asked.append,
            show_log=partial(asked.append, "log"), show_worst=partial(asked.append, "worst"),
            show_outliers=partial(asked.append, "outliers"), show_own_tracks=partial(asked.append, "tracks"),
        )  # fmt: skip
        Banners(scene_view, scene_view).add(states.card, lambda: Urgency.STATE, central=True)
        return states

    return make


@pytest.fixture
def states(make_states, control):
    return make_states(control)


def show_better(messages):
    """Press the button that shows what is better."""
    (button,) = (each for each in messages.findChildren(QPushButton) if each.text().startswith("Show "))
    button.click()


def test_slow_reading_is_shown_with_the_name_of_the_file_and_goes_when_it_is_done(
    qtbot, monkeypatch, session, opening, states, scene_view
):
    card = states.card
    go_on = threading.Event()
    read = module._read

    def slow(*given, **options):
        go_on.wait(60)
        return read(*given, **options)

    monkeypatch.setattr(module, "_read", slow)
    opening.open("sample:balloon/circle")
    assert text_of(card) == ""  # what is quick needs no word
    qtbot.waitUntil(lambda: "Reading balloon/circle" in text_of(card))
    assert card.findChild(QProgressBar).isVisible()
    place = QRect(card.mapTo(scene_view, QPoint(0, 0)), card.size())
    assert scene_view.rect().contains(place)
    go_on.set()
    qtbot.waitUntil(lambda: text_of(card) == "" and session.sequence is not None)


def test_a_failure_with_nothing_open_shows_why_and_what_next(
    qtbot, tmp_path, session, opening, states, messages
):
    card = states.card
    opening.open(tmp_path / "absent.txt")
    qtbot.waitUntil(lambda: "absent.txt" in text_of(card))
    assert "could not be opened" in text_of(card)
    assert not card.findChild(QProgressBar).isVisible()
    assert messages.text == ""  # it is said once
    button_of(card, "Copy text").click()
    assert "absent.txt" in QGuiApplication.clipboard().text()
    button_of(card, "Open the sample").click()
    qtbot.waitUntil(lambda: session.sequence is not None)
    assert text_of(card) == ""


def test_a_failure_next_to_an_open_sequence_offers_another_file_and_the_log(
    qtbot, tmp_path, session, opening, messages, asked, sequence, states
):
    session.set_sequence(sequence)
    opening.open(tmp_path / "absent.txt")
    qtbot.waitUntil(lambda: "absent.txt" in messages.text)
    texts = {button.text() for button in messages.findChildren(QPushButton)}
    assert {"Open another…", "Show the log"} <= texts
    button_of(messages, "Show the log").click()
    assert asked == ["log"]


def test_the_result_of_a_run_is_reported_once_in_a_sentence(
    qtbot, session, control, states, display, messages, asked, known, make_iterate, add_run
):
    session.set_sequence(replace(known.sequence, truth=None))
    states.announces = True

    def end(run):
        display.refresh()
        control.ended.emit(run)

    run = add_run(session, make_iterate(known, noise=0.1), QUICK)
    end(run)
    qtbot.waitUntil(lambda: messages.text.startswith("Run 1 "))
    assert ". " not in messages.text and messages.text.endswith(".")  # one sentence
    assert ") converged in " in messages.text
    assert not any(unit in messages.text for unit in ("px", "mm"))  # they are in the headline
    button_of(messages, "Go to the worst frame").click()
    assert asked == ["worst"]
    messages.hide()
    end(run)  # it followed a change
    assert messages.text == ""
    limited = replace(make_iterate(known, noise=0.2), status=Status.LIMIT)
    end(add_run(session, limited, QUICK))
    qtbot.waitUntil(lambda: messages.text.startswith("Run 2 "))
    assert ") reached its iteration limit in " in messages.text


def test_a_refined_shape_that_the_truth_shows_to_be_worse_is_announced_with_the_way_to_the_other(
    qtbot, session, control, states, display, messages, sequence
):
    *_, end = iterate(sequence, rank=2, starts=1, rotations="truth", objective="wnn")
    bilinear, problem = end.result(), end.best.problem
    sequence = replace(sequence, truth=replace(sequence.truth, points=bilinear.points))
    tracks = DepthProblem(problem.tracks, problem.visible, problem.affine)
    point = DepthPoint.from_camera_points(tracks, bilinear.camera_points, bilinear.rotations)
    depths = point.depths * np.random.default_rng(0).uniform(0.9, 1.1, size=point.depths.shape)
    record = replace(end.record, energy=-1.0)
    depth = DepthStep(replace(point, depths=depths), -1.0, -1.0, end.phase, 1.0, finished=True)
    session.set_sequence(sequence)
    states.announces = True
    run = session.add_run(end.settings)
    run.last, run.state = replace(end, record=record, depth=depth), RunState.FINISHED
    run.history.extend([record])
    session.report_run(run)
    display.refresh()
    control.ended.emit(run)
    qtbot.waitUntil(lambda: bool(messages.text))
    now = measure(display.errors.incumbent.errors.error, "mm")
    assert f", {now} from the ground truth; nearer: " in messages.text
    assert messages.text.endswith(f" in {BILINEAR_START}; {DETERMINED}.")
    show_better(messages)
    assert session.compared is run and session.compared_solution == BILINEAR_START
    display.refresh()
    assert display.compared_incumbent.errors.error < 1e-6 < display.errors.incumbent.errors.error


def test_a_run_that_passed_something_nearer_to_the_truth_says_so_and_offers_it(
    qtbot, session, control, states, display, messages, known, make_iterate
):
    session.set_sequence(known.sequence)
    states.announces = True
    run = session.add_run(QUICK)
    for index, (noise, seconds) in enumerate(((0.2, 2.0), (0.01, 9.0), (0.1, 48.0))):
        made = make_iterate(known, noise=noise)
        run.last = replace(made, record=replace(made.record, iteration=index + 1, seconds=seconds))
        run.history.extend([run.last.record])
        run.snapshots.add(index, run.last)
    run.state = RunState.FINISHED
    session.report_run(run)
    display.refresh()
    end = display.errors.incumbent.errors.error
    control.ended.emit(run)
    qtbot.waitUntil(lambda: "at 9.00 s" in messages.text)
    assert f", {measure(end, 'mm')} from the ground truth; nearer: " in messages.text
    assert messages.text.endswith(" mm at 9.00 s.")  # nothing else is nearer
    show_better(messages)
    assert session.moment == 1
    display.refresh()
    assert display.errors.incumbent.errors.error < 0.2 * end


def test_a_refused_run_shows_why_and_shows_the_log(
    qtbot, make_stream, sequence, session, messages, asked, make_states
):
    control = RunControl(session, work=make_stream(refuses=QUICK), parent=session)
    make_states(control)
    session.set_settings(QUICK)
    session.set_sequence(sequence)
    control.start(warm=False)
    qtbot.waitUntil(lambda: "is refused" in messages.text)
    button_of(messages, "Show the log").click()
    assert asked == ["log"]


def test_tracks_that_may_be_wrong_are_announced_with_the_result(
    qtbot, sequence, session, control, states, messages, asked
):
    tracks = np.array(sequence.tracks)
    for frame, point in ((1, 15), (3, 4), (5, 9)):
        tracks[frame, :, point] += 80.0
    states.announces = True
    session.set_settings(QUICK.with_changes(rotations="truth", starts=1))
    session.set_sequence(replace(sequence, tracks=tracks, digest="wrong"))
    control.start(warm=False)
    qtbot.waitUntil(lambda: "not fit the shapes (" in messages.text)
    button_of(messages, "Find outliers").click()
    assert asked == ["outliers"]
