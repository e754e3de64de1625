"""What else the processors did while something was measured, printed with each figure."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")  # of Linux; its first line sums over all processors
IDLE, WAITING, STOLEN = 3, 4, 7  # columns: nothing to do, waiting for a disk, given to another machine


class Meanwhile:
    """Counts the processors' time from when it is constructed."""

    def __init__(self) -> None:
        self._before, self._own = _ticks(), time.process_time()

    def __str__(self) -> str:
        """Return what this process, other processes and other machines of the host used."""
        spent = [now - before for now, before in zip(_ticks(), self._before, strict=True)]
        if not sum(spent):
            return "what else the processors did is not known here"
        total = sum(spent)
        own = (time.process_time() - self._own) * os.sysconf("SC_CLK_TCK")
        others = total - spent[IDLE] - spent[WAITING] - spent[STOLEN] - own
        shares = (100 * ticks / total for ticks in (own, max(others, 0), spent[STOLEN]))
        return "of the processors this took {:.0f} %, other processes {:.0f} %, the host {:.1f} %".format(
            *shares
        )


def _ticks() -> list[int]:
    """Return the time of all processors by kind, in ticks of the clock; zeros where it is unknown."""
    if not STAT.exists():
        return [0] * 8
    first, *_ = STAT.read_text().splitlines()
    return [int(ticks) for ticks in first.split()[1:9]]
