"""A session goes from one sequence to another and back, and keeps the runs of each."""

import shutil
from dataclasses import replace

import pytest

from core import Settings, read_sequence, write_challenge


@pytest.fixture
def first(known):
    return replace(known.sequence, name="first", digest="1")


@pytest.fixture
def second(known):
    return replace(known.sequence, name="second", digest="2")


def reads(sequence):
    """Return the same sequence as another reading of its file gives it."""
    return replace(sequence)


def test_the_same_tracks_read_in_another_way_are_another_sequence(session, first):
    session.set_sequence(first)
    run = session.add_run(Settings())
    session.set_sequence(replace(first, reading={"frames": 7}))
    assert session.runs == []
    session.set_sequence(reads(first))
    assert session.runs == [run]


def test_a_sequence_that_is_shown_is_an_edit_only_where_no_file_has_it(session, first, second, tmp_path):
    session.set_sequence(replace(first, source=None))
    for sequence, edited in (
        (replace(first, source=tmp_path / "a.npz", digest="3"), False),
        (replace(second, source=None), True),
        (first, False),  # as it was left
    ):
        before = session.edits
        session.set_sequence(sequence)
        assert (session.edits > before) is edited


def test_the_same_tracks_seen_otherwise_are_another_sequence(session, tmp_path):
    """The visibility of a Challenge sequence lies in a file of its own."""
    folder = write_challenge(tmp_path, "balloon", paths=("circle",), frames=9, points=16, seed=3)
    session.set_sequence(read_sequence(folder))
    run = session.add_run(Settings())
    session.set_sequence(read_sequence(folder))
    assert session.runs == [run]
    shutil.rmtree(folder / "visibility")
    session.set_sequence(read_sequence(folder))
    assert session.runs == []


def test_forgetting_a_run_leaves_others_also_where_its_sequence_was_left(session, first, second):
    session.set_sequence(first)
    good, refused = session.add_run(Settings()), session.add_run(Settings())
    session.set_sequence(second)
    session.drop_run(session.add_run(Settings()))
    session.drop_run(refused)
    session.set_sequence(first)
    assert session.runs == [good] and session.shown is good
