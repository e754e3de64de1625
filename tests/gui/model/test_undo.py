"""The changes of the parameters that can be undone."""

from core import Alignment, Settings
from core.evaluation import Kind
from nrsfm_gui.model.changes import named
from nrsfm_gui.model.undo import MOST_ENTRIES, UndoChange, UndoStack, settings_change

QUICK = Settings(rank=2, starts=1, rotations="truth", objective="wnn")


def changed(**changes):
    return QUICK.with_changes(**changes)


def add(stack, before, after, now):
    stack.add(settings_change(before, after, list), now)


def test_a_movement_is_undone_as_one_step_and_done_again():
    stack = UndoStack()
    etas = [changed(eta=eta) for eta in (0.05, 0.06, 0.07, 0.08)]
    for k in range(3):
        add(stack, etas[k], etas[k + 1], 0.1 * k)
    add(stack, etas[3], changed(eta=0.08, rank=3), 0.35)  # another parameter
    add(stack, changed(eta=0.08, rank=3), changed(eta=0.09, rank=3), 5.0)
    undone = [stack.undo().description for _ in range(3)]
    assert undone == ["eta 0.08 → 0.09", "rank 2 → 3", "eta 0.05 → 0.08"]
    assert stack.undo() is None
    assert stack.redo().after == etas[3]
    add(stack, etas[3], changed(eta=0.2), 9.0)  # a new change: what was undone is gone
    assert stack.redo() is None


def test_the_stack_is_bounded():
    stack = UndoStack()
    for k in range(MOST_ENTRIES + 50):
        add(stack, changed(max_iterations=k + 1), changed(max_iterations=k + 2), 10.0 * k)
    count = 0
    while stack.undo() is not None:
        count += 1
    assert count == MOST_ENTRIES


# -- changes of the view ----------------------------------------------------------------------------------


def test_what_is_quickly_as_before_is_no_step():
    stack = UndoStack()
    for on, now in ((True, 0.0), (False, 0.3)):
        stack.add(UndoChange(frozenset({"trails"}), not on, on, list, named), now)
    add(stack, changed(eta=0.1), changed(eta=0.2), 5.0)
    add(stack, changed(eta=0.2), changed(eta=0.1), 5.2)
    assert stack.undo() is None


def test_changes_of_view_and_parameters_are_undone_in_their_order(session, statuses):
    settings = session.settings
    session.set_settings(changed(rank=4))
    layers = session.appearance.layers
    session.set_appearance(session.appearance.with_layer("trails", True))
    session.set_alignment(Alignment(Kind.NONE))
    session.set_hidden((1, 2))
    session.change_appearance(color_by="error")
    emitted = []
    session.settings_changed.connect(emitted.append)
    aligned = f"alignment {Alignment(Kind.NONE).label()}"
    for expected in ("colored by 3-D error", "2 points left out", aligned, "trails shown"):
        session.undo()
        assert statuses[-1] == f"Undone: {expected}"
    assert (session.appearance.layers, session.appearance.color_by) == (layers, "role")
    assert (session.alignment, session.hidden) == (Alignment(), frozenset())
    assert emitted == [] and session.settings == changed(rank=4)
    session.undo()
    assert session.settings == settings
    for _ in range(3):
        session.redo()
    assert "trails" in session.appearance.layers and session.alignment.kind is Kind.NONE
    assert statuses[-1] == f"Done again: {aligned}"


def test_what_a_program_shows_is_not_undone(session):
    session.change_appearance(color_by="error", undoable=False)
    session.set_hidden((1,), undoable=False)
    session.undo()
    assert session.appearance.color_by == "error" and session.hidden == {1}
