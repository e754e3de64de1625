"""The memory of this process."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

RESET_PEAK = "5"  # what /proc/self/clear_refs accepts for resetting the peak
PROCESS_STATUS = Path("/proc/self/status")


class PeakMemory:
    """How far the resident memory rises above what it is now.

    On Linux the kernel's peak is reset first; elsewhere it is the peak since the process started that is
    compared with, so that a rise below an earlier peak is not seen.
    """

    def __init__(self) -> None:
        with suppress(OSError):  # another system, or not allowed: the peak so far is used
            Path("/proc/self/clear_refs").write_text(RESET_PEAK)
        self._before = peak_megabytes()

    def rise(self) -> float | None:
        """Return MB; None where the system does not report it."""
        now = peak_megabytes()
        return None if now is None or self._before is None else now - self._before


def peak_megabytes() -> float | None:
    """Return the peak of the resident memory in MB (1e6 bytes); None where the system does not report it."""
    if PROCESS_STATUS.exists():  # the peak of getrusage would include that of the parent process
        for line in PROCESS_STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024 / 1e6
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
