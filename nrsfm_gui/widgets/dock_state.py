"""States of docks that come from a file, checked before Qt restores them.

QMainWindow.restoreState trusts the counts, the areas and the depth of a state: a hostile one makes it read
outside of an array, never end, or overflow the stack.
"""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

from PyQt6.QtCore import QByteArray
from PyQt6.QtWidgets import QMainWindow

MOST_BYTES = 4096  # of a state; the window's own has up to 730
PIXELS = range(1 - 2**28, 2**28)  # a place or a size; several docks without limit have 2**24 each
SIDE, CORNER, TEXT = range(4), {1, 2, 4, 8}, None
# What Qt writes in qmainwindow.cpp, qdockarealayout.cpp and qtoolbararealayout.cpp. A range or a set has the
# accepted values of an integer; {byte: what follows it}; (one, after, the, other); [any number of them, after
# their count]; a number of bytes that are not interpreted; the name of a part, which may hold itself.
PARTS: dict[str, Any] = {
    "state": (
        {0xFF}, PIXELS, {0xFD: ()}, ["area"], PIXELS, PIXELS, CORNER, CORNER, CORNER, CORNER, {0xFC: ()},
        ["line of tool bars"],
    ),
    "area": (SIDE, PIXELS, PIXELS, "docks"),
    "docks": ({0xFC: (), 0xFA: PIXELS}, {1: (), 2: ()}, ["item"]),  # side by side or tabs; orientation
    "item": {0xFB: (TEXT, 1, *4 * (PIXELS,)), 0xFC: (*4 * (PIXELS,), "docks")},
    "line of tool bars": (SIDE, ["tool bar"]),
    "tool bar": (TEXT, 1, PIXELS, PIXELS, 8),  # the rectangle of one that floats is packed
}  # fmt: skip


def restore_docks(window: QMainWindow, state: QByteArray) -> bool:
    """Put the docks of a window where a state has them; return False where it is refused, or does not fit."""
    return is_state(state.data()) and window.restoreState(state)


def is_state(state: bytes) -> bool:
    """Return whether bytes are such as QMainWindow.saveState writes."""
    if len(state) > MOST_BYTES:  # which bounds the depth, too
        return False
    try:
        return _is_read_to_its_end(BytesIO(state))
    except struct.error:  # it ends too early
        return False


def _is_read_to_its_end(stream: BytesIO) -> bool:
    def integer(kind: str) -> int:
        (value,) = struct.unpack(f">{kind}", stream.read(struct.calcsize(kind)))
        return int(value)

    waiting: list[Any] = ["state"]
    while waiting:
        match waiting.pop():
            case str() as name:
                waiting.append(PARTS[name])
            case tuple() as parts:
                waiting += reversed(parts)
            case list() as part:
                count = integer("i")
                if count > MOST_BYTES:
                    return False
                waiting += count * part
            case dict() as following:
                byte = integer("B")
                if byte not in following:
                    return False
                waiting.append(following[byte])
            case range() | set() as accepted:
                if integer("i") not in accepted:
                    return False
            case length:
                length = integer("I") if length is TEXT else length
                if len(stream.read(length)) < length:
                    return False
    return not stream.read()
