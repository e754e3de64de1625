"""Cyclic garbage is collected in the window's thread and in no other.

Python collects wherever the count of new objects happens to pass a threshold, which is as well in a solver's
thread as anywhere. Where the garbage holds objects of Qt (a dialog and the functions connected to it refer to
each other) they would be destroyed there, while the window's thread may be sending them events: that ends the
process, rarely, and at unrelated places. So the interpreter's own collection is switched
off, and a timer in the window's thread does the same by the same thresholds.

PyQt releases the Python object of a `QObject` when `deleteLater` is called. Until Qt deletes the object, it
and its children still emit signals, but Python sees the functions connected to them as garbage; the call of a
function that was cleared is a segmentation fault. So what is to be deleted is deleted before garbage is
collected.
"""

from __future__ import annotations

import gc
import time

from PyQt6.QtCore import QCoreApplication, QEvent, QObject, QTimer

LOOK_MILLISECONDS = 100
FREEZE_MILLISECONDS = 3000  # after the start: the window is shown, and the user does not drag yet
ALL_SECONDS = 10.0  # between two full collections, which are slow


class Collector(QObject):
    """Collects garbage in the thread that it was made in."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._everything_at = time.monotonic()
        self._timer = QTimer(self)  # a clock
        self._timer.setInterval(LOOK_MILLISECONDS)
        self._timer.timeout.connect(self.collect_due)
        QTimer.singleShot(FREEZE_MILLISECONDS, self.freeze)
        self._timer.start()
        gc.disable()

    def collect_due(self) -> None:
        """Collect the generation whose threshold has been passed."""
        passed = [count > most > 0 for count, most in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        now = time.monotonic()
        if passed[2] and now - self._everything_at > ALL_SECONDS:
            _collect(2)
            self._everything_at = time.monotonic()
        elif passed[1]:
            _collect(1)
        elif passed[0]:
            _collect(0)

    def freeze(self) -> None:
        """Freeze all present objects: modules and the window are not examined again."""
        _collect(2)
        gc.freeze()


def _collect(generation: int) -> None:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect(generation)
