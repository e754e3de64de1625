"""Signals that end the application: of a terminal that is closed, a system that shuts down, a job, Ctrl-C.

Python calls the handler of a signal only between two of its instructions, and there are none while Qt waits
for events. But the number of a signal is written to a socket at once, which Qt watches.
"""

from __future__ import annotations

import signal
import socket

from PyQt6.QtCore import QObject, QSocketNotifier, pyqtSignal
from PyQt6.sip import voidptr

from core.stop_signals import STOP_SIGNALS, handle_stop_signals


class StopSignals(QObject):
    """Reports signals in the event loop, also those that arrived before it began.

    A signal that is ignored already, as under `nohup`, stays so.
    """

    received = pyqtSignal(int)  # the number of a signal

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._read, self._written = socket.socketpair()
        for end in (self._read, self._written):
            end.setblocking(False)
        self._notifier = QSocketNotifier(voidptr(self._read.fileno()), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_written)
        signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        handle_stop_signals(lambda *_: None)

    def _on_written(self) -> None:
        for number in self._read.recv(64):
            if number in STOP_SIGNALS:
                self.received.emit(number)
