"""The command `nrsfm-gui`, which is `python -m nrsfm_gui`, too."""

import os
import signal
import sys


def run() -> int:
    """Start the application; return its exit code.

    There is nothing to keep before its window is there: until then Ctrl-C and the signals of a batch system
    or of a closed terminal end the process at once, without a traceback.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Windows has the first two
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda received, _frame: os._exit(128 + received))
    from nrsfm_gui.app import main

    return main()


if __name__ == "__main__":
    sys.exit(run())
