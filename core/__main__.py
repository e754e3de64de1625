"""The command `nrsfm`, which is `python -m core`, too."""

from __future__ import annotations

import sys

from .stop_signals import end_at_stop_signals


def run() -> int:
    """Run the command that the words of the process name.

    There is nothing to keep before its modules are imported: until then Ctrl-C and the signals of a batch
    system end the process at once, without a traceback.
    """
    restore = end_at_stop_signals()
    from .cli import main

    return main(started=restore)


if __name__ == "__main__":
    sys.exit(run())
