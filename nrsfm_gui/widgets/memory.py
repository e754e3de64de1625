"""How much memory this process has in RAM. No Qt here."""

from __future__ import annotations

import os
from pathlib import Path

STATM = Path("/proc/self/statm")


def resident_bytes() -> int | None:
    """Return the bytes of this process that are in RAM, None where the system does not tell."""
    try:
        pages = int(STATM.read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None
