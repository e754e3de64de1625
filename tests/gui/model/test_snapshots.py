"""The kept moments of a run: which ones, how many, how large, and what they show."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core import HistoryEntry, Settings, iterate, simulate
from core.foundation import Phase, PhaseKind
from nrsfm_gui.model.snapshots import LARGEST, MOST, Snapshots


@pytest.fixture
def make_iterate(make_stream):
    """Make iterates whose points differ in their loss."""
    (first,) = make_stream(length=1)(None, Settings(), None)

    def make(index, phase=1, *, best=None, points=4):
        factors = replace(first.best.factors, C=np.full((2, 3, points), index))
        current = replace(first.best, factors=factors, loss=float(index))
        record = HistoryEntry(index, 0.0, float(index), Phase(PhaseKind.START, phase))
        return replace(first, record=record, current=current, best=current if best is None else best)

    return make


def largest_gap(indices):
    return max(b - a for a, b in itertools.pairwise(indices))


def test_few_updates_are_all_kept(make_iterate):
    snapshots = Snapshots()
    for index in range(0, 300, 5):  # as the window sees them, several records at a time
        snapshots.add(index, make_iterate(index))
    assert snapshots.indices == tuple(range(0, 300, 5))
    assert snapshots.at(37) == (35, snapshots.at(35)[1])
    assert snapshots.at(38)[0] == 40
    assert snapshots.at(-3)[0] == 0
    assert snapshots.at(10_000)[0] == 295


@pytest.mark.slow
@pytest.mark.parametrize("count", [121, 1000, 5_003])
def test_many_are_thinned_evenly(make_iterate, count):
    snapshots = Snapshots()
    for index in range(count):
        snapshots.add(index, make_iterate(index))
        assert len(snapshots) <= MOST
    assert snapshots.indices[0] == 0
    assert snapshots.indices[-1] == count - 1
    assert len(snapshots) == MOST
    assert largest_gap(snapshots.indices) <= 2.1 * count / MOST
    for index in snapshots.indices:
        assert snapshots.at(index)[1].record.iteration == index


def test_bytes_are_bounded_at_the_largest_size(make_iterate):
    """99 x 28 880 at rank 10 has points of 7 MB: some moments, no more than the bound."""
    points, rank = 28_880, 10
    one = 8 * (99 * rank + rank * 3 * points + 99 * 3)
    assert 5 < LARGEST // one < MOST
    largest = 20_000
    snapshots = Snapshots(largest=largest)
    for index in range(200):
        snapshots.add(index, make_iterate(index, points=50))
        assert snapshots.size <= largest
    one = snapshots.at(0)[1].current.factors
    fitting = largest // (one.B.nbytes + one.C.nbytes + one.s.nbytes)
    assert len(snapshots) == fitting


def test_ends_of_phases_outlive_the_rest(make_iterate):
    snapshots = Snapshots(most=10)
    for index in range(400):
        snapshots.add(index, make_iterate(index, index // 100))
    assert {0, 99, 199, 299, 399} <= set(snapshots.indices)
    assert len(snapshots) <= 10


def test_what_is_held_is_the_last_one_before_and_dropped_last(make_iterate):
    snapshots = Snapshots(most=6)
    for index in range(0, 200, 7):
        if index == 49:
            snapshots.protect(44)  # 42 was seen, 44 was not
        snapshots.add(index, make_iterate(index, index))  # and outlives the ends of phases
    assert 42 in snapshots.indices
    Snapshots().protect(3)  # nothing there is nothing to hold


def test_records_must_follow_each_other(make_iterate):
    snapshots = Snapshots()
    snapshots.add(4, make_iterate(4))
    with pytest.raises(ValueError, match="record 4 has a snapshot; 4 does not follow"):
        snapshots.add(4, make_iterate(4))
    with pytest.raises(IndexError, match="no moment"):
        Snapshots().at(0)


def test_snapshots_of_a_run_that_is_not_shown_can_shrink(make_iterate):
    snapshots = Snapshots()
    for index in range(100):
        snapshots.add(index, make_iterate(index))
    for most in (50, 25, 12):
        snapshots.shrink()
        assert len(snapshots) <= most
        assert snapshots.indices[0] == 0
        assert snapshots.indices[-1] == 99
    for _ in range(9):
        snapshots.shrink()
    assert snapshots.indices == (0, 99)


def test_a_moment_shows_what_was_shown_then(make_iterate):
    best = make_iterate(1).current
    snapshots = Snapshots()
    snapshots.add(7, make_iterate(7, best=best))
    snapshots.add(8, make_iterate(8, best=best))
    assert snapshots.at(7)[1].best.loss == snapshots.at(7)[1].current.loss == 1.0
    assert snapshots.at(8)[1].best.loss == 1.0


def test_a_snapshot_of_a_real_run_can_be_continued_and_has_no_data_term():
    sequence = simulate("paper", frames=12, points=20, seed=0)
    settings = Settings(rank=2, starts=1, rotations="truth", objective="wnn")
    iterates = list(iterate(sequence, settings))
    snapshots = Snapshots()
    for index, state in enumerate(iterates):
        snapshots.add(index, state)
    index, moment = snapshots.at(len(iterates) // 2)
    assert "data" in iterates[index].current.problem.__dict__
    assert "data" not in moment.current.problem.__dict__
    assert moment.current.problem.tracks is iterates[index].current.problem.tracks
    assert moment.best.loss == iterates[index].current.loss
    assert moment.current.problem.loss(moment.current.factors) == pytest.approx(moment.best.loss, rel=1e-9)
    *_, end = iterate(sequence, settings, start=moment)
    assert end.best.loss == pytest.approx(iterates[-1].best.loss, rel=1e-9)
