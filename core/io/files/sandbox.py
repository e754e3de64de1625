"""Reading files in a process that may die: its memory and its processor time are limited, ours are not.

Libraries in C crash on damaged files, compute without end, or ask for any memory. What reads a format by
such a library is a plain function from the bytes of a file to values, and need not check anything for safety.
One process reads file after file, because a new one takes a third of a second to start; one that died is
replaced. Memory and processor time are limited on Linux; elsewhere the time on the clock is, and the size of
what was read is looked at only afterward.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

from ...foundation.exceptions import InputError
from ...foundation.processes import (
    ProcessDied,
    ProcessPool,
    lift_limits,
    limit_memory,
    limit_processor,
    why_ended,
)
from .allowance import Allowance
from .contents import reason
from .variables import nested_bytes

_SECONDS = 3  # of the processor
_BYTES_PER_SECOND = 20_000_000
_OF_LIBRARY = 400_000_000  # bytes that it may need besides
_COPIES = 3  # of what is read, until it is sent
_PATIENCE = 20  # seconds on the clock for one of the processor: others may have it


def _processes() -> ProcessPool:
    """Return the processes that read for this one; a fork of it, as scripts have, must not share them."""
    return _pool_of(os.getpid())


@cache
def _pool_of(_process: int) -> ProcessPool:
    return ProcessPool()


def read_limited(read: Callable[[bytes, Allowance], Any], content: bytes) -> Any:
    """Return what a function finds in the bytes of a file; for what it raises, see `refusing_damage`."""
    allowance, wait = Allowance(len(content)), float(_PATIENCE * _seconds(content))
    try:
        return _processes().call(_read, read, content, allowance, timeout=wait)
    except ProcessDied as end:
        raise ValueError(why_ended(end.code)) from None


def _seconds(content: bytes) -> int:
    return _SECONDS + len(content) // _BYTES_PER_SECOND


def _read(read: Callable[[bytes, Allowance], Any], content: bytes, allowance: Allowance) -> Any:
    """Return what a function finds, or raise a sentence, or the reason of a library."""
    of_all = copy(allowance)
    try:
        limit_memory(_OF_LIBRARY + 4 * len(content) + _COPIES * allowance.left)
        limit_processor(_seconds(content))
        with warnings.catch_warnings(action="ignore"):
            found = read(content, allowance)
        of_all.use(nested_bytes(found, {}))
        return found
    except InputError:
        raise
    except MemoryError:
        raise InputError(allowance.refusal("too much")) from None
    except Exception as error:  # what libraries raise, and what damaged values lead to
        raise ValueError(reason(error)) from None
    finally:
        lift_limits()
