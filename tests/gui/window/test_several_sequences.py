"""Going from one sequence to another and back: what is kept with each, and what is not carried over."""

from dataclasses import replace

import numpy as np
import pytest
from hands import button_of, type_into
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QLabel

from core import CameraModel, ExplicitWeights, NuclearNorm, Sequence, Settings, write_npz
from nrsfm_gui.model.names import sentence_name
from nrsfm_gui.model.run import RunState
from nrsfm_gui.widgets.fields import NumberField

LIGHT_WORK = Settings(rank=2, objective="wnn")


def tracked(name, digest):
    """Return a sequence of the size that the streams of these tests reconstruct."""
    tracks = np.random.default_rng(len(name)).normal(size=(3, 2, 4))
    seen = np.ones((3, 4), dtype=bool)
    return Sequence(tracks, seen, CameraModel.PERSPECTIVE, name, intrinsics=np.eye(3), digest=digest)


@pytest.fixture
def first():
    return tracked("first", "1")


@pytest.fixture
def second():
    return tracked("second", "2")


@pytest.fixture
def make_window(make_window):
    return lambda stream: make_window(settings=LIGHT_WORK, work=stream)


def take(window, settings):
    window.parameters_panel.set_settings(settings)
    window.session.set_settings(settings)


def show(window, sequence):
    window.sequence_opening.open_sequence(sequence)


def listed(window):
    return [run.number for run in window.sequences_panel.tree.open.runs]


def reads(sequence):
    """Return the same sequence as another reading of its file gives it."""
    return replace(sequence)


def test_runs_are_shown_again_with_their_sequence(qtbot, make_window, make_stream, first, second, solve):
    window = make_window(make_stream(length=10))
    show(window, first)
    for _ in range(2):
        solve(window, from_scratch=True)
    runs = list(window.session.runs)
    window.sequences_panel.run_requested.emit(1)
    show(window, second)
    assert window.session.runs == []
    assert window.session.shown is None
    assert listed(window) == []
    tree = window.sequences_panel.tree
    rows = [(row.sequence, row.open, len(row.runs)) for row in tree.rows]
    assert rows == [(second, True, 0), (first, False, 2)]
    tree.left_requested.emit(first, runs[0].number)
    assert window.session.sequence is first and window.session.runs == runs
    assert window.session.shown is runs[0]
    show(window, second)
    solve(window, from_scratch=True)
    window.runs_controller.updater.flush()
    assert listed(window) == [1]  # runs are numbered in each sequence
    again = reads(first)
    show(window, again)
    assert window.session.runs == runs
    assert window.session.shown is runs[0]
    assert listed(window) == [2, 1]
    assert window.session.shown.sequence is again
    qtbot.waitUntil(lambda: window.display.errors.of_run(runs[0]) is not None)
    assert [len(run.history) for run in runs] == [10, 10]


def test_a_run_that_opening_has_stopped_goes_on_at_one_click(qtbot, make_window, make_stream, first, second):
    stream = make_stream(pause=0.002)
    window = make_window(stream)
    show(window, first)
    window.parameters_controller.run()
    run = window.session.shown
    qtbot.waitUntil(lambda: len(run.history) > 5)
    with qtbot.waitSignal(window.run_control.ended):
        show(window, second)
    stopped = "Run 1 (bilinear, rank 2) was stopped; opening first again shows what it has."
    assert window.message_bar.text.startswith(stopped)
    assert run.state is RunState.STOPPED
    assert [record.iteration for record in run.history.records] == list(range(len(run.history)))
    assert run.last.record == run.history.records[-1]
    button_of(window.message_bar, f"Go on with run {sentence_name(run)}").click()
    assert window.session.sequence is first and window.session.runs[0] is run
    follows = window.run_control.current
    assert follows.warm_from == 1 and follows.settings == run.settings
    qtbot.waitUntil(lambda: len(follows.history) > 1)
    assert stream.starts[-1] is run.last


def test_sequences_have_parameters_of_their_own_new_ones_the_preset(make_window, make_stream, first, second):
    window = make_window(make_stream(length=3))
    show(window, first)
    take(window, Settings(rank=3, penalty=NuclearNorm(mu=0.02)))
    explicit = Settings(rank=3, penalty=ExplicitWeights((0.1, 0.2, 0.3)), hide="2:1")
    take(window, explicit)
    show(window, reads(first))
    assert window.session.settings == explicit
    show(window, second)
    assert window.session.settings == window.parameters_panel.settings == Settings(rank=3)  # of 3 frames
    begins = "second begins with the recommended parameters, not with those of first."
    assert window.message_bar.text == begins
    button_of(window.message_bar, "Use those here, too").click()  # all but what is of the other alone
    assert window.session.settings == Settings(rank=3, penalty=NuclearNorm(mu=0.02))
    take(window, Settings(rank=2))
    show(window, reads(first))
    assert window.session.settings == window.parameters_panel.settings == explicit
    assert window.session.rule == NuclearNorm(mu=0.02)
    assert window.message_bar.text == ""
    show(window, second)
    assert window.session.settings == Settings(rank=2)


def test_a_sequence_has_its_parameters_again_at_the_next_launch(make_window, make_stream, first, second):
    explicit = Settings(rank=3, penalty=ExplicitWeights((0.1, 0.2, 0.3)))
    other = replace(second, tracks=second.tracks + 1)
    window = make_window(make_stream(length=3))
    show(window, first)
    take(window, explicit.with_changes(mirror="2"))
    show(window, other)
    window.close()
    later = make_window(make_stream(length=3))
    show(later, second)
    show(later, other)
    assert later.session.settings == Settings(rank=3)
    show(later, reads(first))
    plain = explicit.with_changes(penalty=Settings().penalty)
    assert later.session.settings == plain  # mirrored frames and steered weights are of a run
    given = make_window(make_stream(length=3))
    given.sequences_controller.give_settings(Settings(rank=2))
    show(given, reads(first))
    assert given.session.settings == Settings(rank=2)  # asked for by the command


def test_a_rank_that_the_sequence_does_not_allow_is_marked(make_window, make_stream, first, make_known):
    window = make_window(make_stream(length=3))
    show(window, first)
    rank = window.parameters_panel.findChild(NumberField, "rank")
    note = window.parameters_panel.findChild(QLabel, "rank_note")
    type_into(rank, "4")
    assert note.text() == "shapes K is 4; 3 frames of 4 points allow 1 to 3"
    assert not note.isHidden()
    window.parameters_controller.run()
    assert window.session.runs == [] and window.message_bar.text.startswith("Nothing is run: ")
    show(window, make_known().sequence)
    assert note.isHidden()
    window.parameters_controller.run()
    assert len(window.session.runs) == 1


@pytest.fixture
def folder(tmp_path):
    """Return a folder of two sequences; a third lies beside it."""
    for name in ("place/one", "place/two", "three"):
        file = tmp_path / f"{name}.npz"
        file.parent.mkdir(exist_ok=True)
        write_npz(tracked(file.stem, ""), file)
    return tmp_path / "place"


def test_the_list_keeps_what_was_opened_until_it_is_removed(qtbot, make_window, make_stream, folder, solve):
    window = make_window(make_stream(length=5))
    opening, tree, session = window.sequence_opening, window.sequences_panel.tree, window.session

    def names():
        window.runs_controller.updater.flush()
        return [tree.topLevelItem(k).text(0) for k in range(tree.topLevelItemCount())]

    def open_(path):
        with qtbot.waitSignal(opening.shown):
            opening.open(path)

    open_(folder)
    run = solve(window, from_scratch=True)
    open_(folder.parent / "three.npz")
    assert names() == ["one", "two", "three"]
    open_(folder)
    assert names() == ["one", "two", "three"]
    open_(folder.parent / "three.npz")

    def delete(name):
        tree.setFocus()
        tree.setCurrentItem(tree.topLevelItem(names().index(name)))
        qtbot.keyClick(tree, Qt.Key.Key_Delete)

    for name in ("two", "one", "three"):
        delete(name)
    assert names() == ["three"] and "stays in the list" in window.message_bar.text
    assert [row.runs for row in tree.rows] == [()]
    session.undo()
    assert names() == ["one", "three"] and session.runs_of(tree.rows[1].sequence) == [run]
    session.undo()
    assert names() == ["one", "two", "three"]
    session.redo()
    assert names() == ["one", "three"]
    session.change_run(run, pinned=True)
    delete("one")
    assert names() == ["one", "three"] and "pinned" in window.message_bar.text
    window.message_bar.message.actions[0][1]()
    assert names() == ["three"] and "one" in window.message_bar.text and "1 run" in window.message_bar.text
