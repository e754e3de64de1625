"""The signals with which a terminal, a batch system or a limit of CPU time stops a program.

A batch system sends SIGTERM, unless its user asks for SIGUSR1 or SIGUSR2, as for a warning some time before
the end. SIGXCPU comes where a process has used its CPU time. Nothing else is imported here, so that a program
hears them from its first line on.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # typing takes its time, in which nothing hears a signal
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object]

__all__ = ["SIGNALED", "STOP_SIGNALS", "end_at_stop_signals", "handle_stop_signals"]

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU")  # Windows has the first two
STOP_SIGNALS: tuple[signal.Signals, ...] = tuple(
    getattr(signal, name) for name in NAMES if hasattr(signal, name)
)
SIGNALED = 128  # the exit code of a program that a signal ends is this and the number of the signal


def handle_stop_signals(handler: Handler) -> Callable[[], None]:
    """Call a function at these signals, but at those that are ignored already, as SIGHUP is under `nohup`."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    heard = {number: known for number, known in before.items() if known is not signal.SIG_IGN}
    for number in heard:
        signal.signal(number, handler)

    def restore() -> None:
        for number, known in heard.items():
            signal.signal(number, known)

    return restore


def end_at_stop_signals() -> Callable[[], None]:
    """End the process at once at these signals, without a traceback, while there is nothing to keep."""
    return handle_stop_signals(lambda number, _frame: os._exit(SIGNALED + number))
