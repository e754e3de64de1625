"""How much memory the content of a file may need, checked by the sizes that it states before memory is used.

A file of n bytes may ask for 64 MB + 200 n, because tracks that are mostly hidden are nearly all zeros and
compress well, and no file for more than the limit of the process: 2 GB, or NRSFM_FILE_MEMORY.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

from ...foundation.exceptions import InputError

VARIABLE = "NRSFM_FILE_MEMORY"  # of the environment, which worker processes inherit; in GB
GIGABYTE = 1_000_000_000
DEFAULT_LIMIT = 2 * GIGABYTE
LARGEST_LIMIT = 1_000_000 * GIGABYTE
LEAST_SIZE_LIMIT = 64_000_000  # bytes that any file may ask for
LARGEST_RATIO = 200
FLOAT = 8  # bytes
TRACK_AXES = 3  # of arrays that become floats; those of pictures have more


def memory_limit() -> int:
    """Return how many bytes the content of one file may need at most."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return DEFAULT_LIMIT
    try:
        size = float(text) * GIGABYTE
    except ValueError:
        size = math.nan
    if not 1 <= size <= LARGEST_LIMIT:
        raise InputError(f"{VARIABLE} is {text[:20]!r}; accepted is a positive number of GB")
    return int(size)


def set_memory_limit(size: int) -> None:
    """Limit what the content of one file may need, in this process and in those that it starts.

    `size`: bytes.
    """
    os.environ[VARIABLE] = f"{size / GIGABYTE:.9g}"


class Allowance:
    """What the content of one file may still need; more is refused. `stored`: the bytes of the file."""

    def __init__(self, stored: int, *, ratio: float = LARGEST_RATIO) -> None:
        self._of_process = memory_limit()
        self._limit = min(self._of_process, int(LEAST_SIZE_LIMIT + ratio * stored))
        self._used = 0

    @property
    def left(self) -> int:
        """The bytes that are left."""
        return self._limit - self._used

    def refusal(self, needed: str) -> str:
        """Return the sentence that refuses a file."""
        more = f"; {VARIABLE} in GB allows more" if self._limit == self._of_process else ""
        return (
            f"needs {needed} of memory; accepted of a file of this size are {_megabytes(self._limit)}{more}"
        )

    def use(self, size: int) -> None:
        """Count bytes that the content of the file asks for."""
        self.check(size)
        self._used += size

    def check(self, size: int) -> None:
        """Refuse a file that needs so many bytes for a while, besides those that it uses."""
        if self._used + size > self._limit:
            raise InputError(self.refusal(_megabytes(self._used + size)))

    def use_array(self, shape: Iterable[int], itemsize: int) -> None:
        """Count the bytes of an array, as floats where it could become tracks."""
        shape = tuple(shape)
        self.use(math.prod(shape) * (max(itemsize, FLOAT) if len(shape) <= TRACK_AXES else itemsize))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size < LARGEST_LIMIT else "far too much"
