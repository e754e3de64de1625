"""The command `nrsfm-gui`, which is `python -m nrsfm_gui`, too."""

import sys

from core.stop_signals import end_at_stop_signals


def run() -> int:
    """Start the application; return its exit code.

    There is nothing to keep before its window is there: until then Ctrl-C and the signals of a batch system
    or of a closed terminal end the process at once, without a traceback.
    """
    end_at_stop_signals()
    from nrsfm_gui.app import main

    return main()


if __name__ == "__main__":
    sys.exit(run())
