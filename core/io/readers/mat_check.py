"""A look at the element tags of a version 5 MATLAB file before scipy reads it.

scipy 1.17 looks up the class of a variable and the type of its numbers in C tables without checking their
ends, so that one damaged byte can end the process. Compressed variables are safe: zlib has a checksum of
its own.
"""

from __future__ import annotations

import struct

_HEADER = 128  # bytes of text before the first element
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, _MATRIX, _COMPRESSED, 16, 17, 18}  # of elements
_CLASSES = range(1, 18)  # of variables
_PLAIN_CLASSES = range(1, 16)  # those whose content is elements too: no functions, no opaque objects


def check_elements(content: bytes) -> None:
    """Refuse a version 5 file with an element of no known type, or a variable of no known class.

    Raises
    ------
    ValueError
        with the byte where it is.
    """
    if content.startswith(b"MATLAB 5.0"):
        order = "<" if content[126:128] == b"IM" else ">"
        _check(content, _HEADER, len(content), order)


def _check(content: bytes, place: int, end: int, order: str) -> None:
    """Check the elements from one byte to another."""
    while place + 8 <= end:
        kind, size = struct.unpack_from(order + "II", content, place)
        body, following = place + 8, place + 8 + size
        if kind >> 16:  # a small element: size and type share four bytes, the content follows in the tag
            kind, following = kind & 0xFFFF, place + 8
        elif kind != _COMPRESSED:
            following += -size % 8
        if kind not in _TYPES:
            raise ValueError(f"the element at byte {place} is of no known type")
        if kind == _MATRIX and size:
            if size < 16 or following > end:
                raise ValueError(f"the variable at byte {place} is cut off")
            (flags,) = struct.unpack_from(order + "I", content, body + 8)
            if flags & 0xFF not in _CLASSES:
                raise ValueError(f"the variable at byte {place} is of no known class")
            if flags & 0xFF in _PLAIN_CLASSES:
                _check(content, body, following, order)
        place = following
