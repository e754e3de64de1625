"""States of docks that come from a file, checked before Qt restores them.

QMainWindow.restoreState trusts the counts, the areas and the depth of a state: a hostile one makes it read
outside of an array, never end, or overflow the stack.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PyQt6.QtCore import QByteArray
    from PyQt6.QtWidgets import QMainWindow

MOST_PIXELS = 2**28  # of a place or a size, on either side of 0; several docks without limit have 2**24 each
MOST_BYTES = 4096  # of a state; the window's own has up to 730
# As Qt writes them in qmainwindow.cpp, qdockarealayout.cpp and qtoolbararealayout.cpp.
VERSION, DOCKS, DOCK, SEQUENCE, TABS, TOOL_BARS = 0xFF, 0xFD, 0xFB, 0xFC, 0xFA, 0xFC
AREAS = (0, 1, 2, 3)
CORNERS = (1, 2, 4, 8)
ORIENTATIONS = (1, 2)


def restore_docks(window: QMainWindow, state: QByteArray) -> bool:
    """Put the docks of a window where a state has them; return False where it is refused, or does not fit."""
    return is_state(state.data()) and window.restoreState(state)


def is_state(state: bytes) -> bool:
    """Return whether bytes are such as QMainWindow.saveState writes."""
    if len(state) > MOST_BYTES:  # which bounds the depth, too
        return False
    try:
        return _StateParser(state).is_state()
    except struct.error:  # it ends too early
        return False


class _StateParser:
    """Reads the parts of a state one after the other; what it returns is whether they are accepted."""

    def __init__(self, state: bytes) -> None:
        self._state = state
        self._at = 0

    def is_state(self) -> bool:
        """Read all of a state."""
        return (
            self._next("i") == VERSION
            and self._integers(1)
            and self._next("B") == DOCKS
            and all(self._area() for _ in range(self._next("i")))
            and self._integers(2)
            and all(self._next("i") in CORNERS for _ in range(4))
            and self._next("B") == TOOL_BARS
            and all(self._line() for _ in range(self._next("i")))
            and self._at == len(self._state)
        )

    def _area(self) -> bool:
        return self._next("i") in AREAS and self._integers(2) and self._docks()

    def _docks(self) -> bool:
        """Read docks that are side by side, or tabs."""
        marker = self._next("B")
        accepted = marker == SEQUENCE or (marker == TABS and self._integers(1))
        accepted = accepted and self._next("B") in ORIENTATIONS
        return accepted and all(self._item() for _ in range(self._next("i")))

    def _item(self) -> bool:
        marker = self._next("B")
        if marker == DOCK:
            return self._text() and self._flags() and self._integers(4)
        return marker == SEQUENCE and self._integers(4) and self._docks()

    def _line(self) -> bool:
        """Read tool bars that are in a line."""
        return self._next("i") in AREAS and all(self._tool_bar() for _ in range(self._next("i")))

    def _tool_bar(self) -> bool:
        """Read its name, flags, place and size, and the packed rectangle of one that floats."""
        accepted = self._text() and self._flags() and self._integers(2)
        self._at += struct.calcsize(">II")
        return accepted

    def _flags(self) -> bool:
        self._next("B")
        return True

    def _text(self) -> bool:
        length = self._next("I")
        self._at += length
        return self._at <= len(self._state)

    def _integers(self, count: int) -> bool:
        return all(abs(self._next("i")) < MOST_PIXELS for _ in range(count))

    def _next(self, kind: str) -> int:
        (value,) = struct.unpack_from(f">{kind}", self._state, self._at)
        self._at += struct.calcsize(f">{kind}")
        assert isinstance(value, int)
        return value
