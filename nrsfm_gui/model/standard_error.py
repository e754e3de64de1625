"""Sentences for the standard error: of a script, and of a window that nobody sees any more."""

from __future__ import annotations

import sys
from contextlib import suppress

from core.foundation import PROGRAM, printable


def report(sentence: str) -> None:
    """Write a sentence in one line, unless the standard error is closed or full."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{PROGRAM}: {printable(sentence)}\n")
            sys.stderr.flush()
