"""What else the processors did while something was measured: a figure needs that beside it."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")  # of Linux; its first line sums over all processors
IDLE, WAITING, STOLEN = 3, 4, 7  # columns: nothing to do, waiting for a disk, given to another machine


class Meanwhile:
    """Watches the processors from when it is made."""

    def __init__(self) -> None:
        self._before, self._own = _ticks(), time.process_time()

    def __str__(self) -> str:
        """Say what this process used, what other processes did, and what the host gave to other machines."""
        spent = [now - before for now, before in zip(_ticks(), self._before, strict=True)]
        if not sum(spent):
            return "what else the processors did is not known here"
        whole = sum(spent)
        own = (time.process_time() - self._own) * os.sysconf("SC_CLK_TCK")
        others = whole - spent[IDLE] - spent[WAITING] - spent[STOLEN] - own
        shares = (100 * ticks / whole for ticks in (own, max(others, 0), spent[STOLEN]))
        return "of the processors this took {:.0f} %, other processes {:.0f} %, the host {:.1f} %".format(
            *shares
        )


def _ticks() -> list[int]:
    """Return how long all processors did what, in ticks of the clock; zeros where it is not told."""
    if not STAT.exists():
        return [0] * 8
    first, *_ = STAT.read_text().splitlines()
    return [int(ticks) for ticks in first.split()[1:9]]
