"""The command `nrsfm`, which is `python -m core`, too."""

from __future__ import annotations

import os
import signal
import sys


def run() -> int:
    """Run the command that the words of the process name.

    There is nothing to keep before its modules are imported: until then Ctrl-C and the signals of a batch
    system end the process at once, without a traceback.

    Returns
    -------
    int
        the exit code.
    """
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    heard = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in heard:
        signal.signal(number, lambda received, _frame: os._exit(128 + received))
    from .cli import main

    return main(started=lambda: [signal.signal(*each) for each in heard.items()])


if __name__ == "__main__":
    sys.exit(run())
