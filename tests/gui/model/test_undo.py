"""The changes of the parameters that can be undone."""

from __future__ import annotations

from core import Settings
from nrsfm_gui.model.undo import MOST_ENTRIES, UndoStack

QUICK = Settings(rank=2, starts=1, rotations="truth", refine="none")


def changed(**changes):
    return QUICK.with_changes(**changes)


def test_a_movement_is_undone_as_one_step_and_done_again():
    stack = UndoStack()
    etas = [changed(eta=eta) for eta in (0.05, 0.06, 0.07, 0.08)]
    for k in range(3):
        stack.add(etas[k], etas[k + 1], 0.1 * k)
    stack.add(etas[3], changed(eta=0.08, rank=3), 0.35)  # another parameter
    stack.add(changed(eta=0.08, rank=3), changed(eta=0.09, rank=3), 5.0)
    assert [(stack.undo().description) for _ in range(3)] == [
        "eta 0.08 → 0.09",
        "rank 2 → 3",
        "eta 0.05 → 0.08",
    ]
    assert stack.undo() is None
    assert stack.redo().after == etas[3]
    stack.add(etas[3], changed(eta=0.2), 9.0)  # a new change: what was undone is gone
    assert stack.redo() is None


def test_a_movement_that_ends_where_it_began_is_no_step():
    stack = UndoStack()
    stack.add(changed(eta=0.1), changed(eta=0.2), 0.0)
    stack.add(changed(eta=0.2), changed(eta=0.1), 0.2)
    assert stack.undo() is None


def test_the_stack_is_bounded():
    stack = UndoStack()
    for k in range(MOST_ENTRIES + 50):
        stack.add(changed(max_iterations=k + 1), changed(max_iterations=k + 2), 10.0 * k)
    count = 0
    while stack.undo() is not None:
        count += 1
    assert count == MOST_ENTRIES
