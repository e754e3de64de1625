"""Objects of Qt are destroyed in the thread that they live in, however many threads make garbage."""

import gc
import threading
import weakref

from PyQt6.QtCore import QObject, QTimer


def test_a_thread_full_of_garbage_destroys_no_object_of_the_window(qtbot, collector):
    gone_in: list[int] = []

    def litter():
        for _ in range(200_000):
            knot: list[object] = []
            knot.append(knot)

    for _ in range(20):
        held = QObject()
        held.itself = held  # a cycle, as of a dialog and what is connected to it
        weakref.finalize(held, lambda: gone_in.append(threading.get_ident()))
        del held
    thread = threading.Thread(target=litter)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(gone_in) == 20)
    assert not gc.isenabled()
    assert set(gone_in) == {threading.get_ident()}


def test_what_is_to_be_deleted_is_deleted_before_garbage_is_collected(qtbot, collector):
    """A timer of it would call a function that was cleared, which ends the process."""
    order: list[str] = []
    held = QObject()
    timer = QTimer(held)

    def show(held=held):  # the object, its timer and the function refer to each other
        held.objectName()

    timer.timeout.connect(show)
    weakref.finalize(show, order.append, "collected")
    held.destroyed.connect(lambda: order.append("deleted"))
    held.deleteLater()
    del held, timer, show
    collector.freeze()
    qtbot.waitUntil(lambda: len(order) == 2)
    assert order == ["deleted", "collected"]
