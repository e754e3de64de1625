"""Damaged files of MATLAB, versions 4 and 5."""

from __future__ import annotations

import struct
import zlib
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from array_mutation import VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

HEADER = 128
MATRIX, COMPRESSED, DOUBLE, INT32, UINT32 = 14, 15, 9, 5, 6
KINDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 23, 255, 65535)
WHOLE = (0, 1, 2, 3, 7, -1, 2**15, 2**20, 2**30, 2**31 - 1, -(2**31))
MOST_NESTED = 60


@dataclass
class Element:
    """An element: elements of its own, or bytes."""

    kind: int
    content: bytes = b""
    inside: list[Element] = field(default_factory=list)
    stated: int | None = None  # its size in the file, where that is wrong

    def pack(self) -> bytes:
        """Return its bytes in a file."""
        content = b"".join(each.pack() for each in self.inside) if self.inside else self.content
        if self.kind == COMPRESSED:
            content = zlib.compress(content)
        size = len(content) if self.stated is None else self.stated
        padding = b"" if self.kind == COMPRESSED else bytes(-len(content) % 8)
        return struct.pack("<II", self.kind & 0xFFFFFFFF, size & 0xFFFFFFFF) + content + padding

    def walk(self) -> Iterator[Element]:
        """Yield this element and all in it."""
        yield self
        for each in self.inside:
            yield from each.walk()


def is_mat5(content: bytes) -> bool:
    return content[HEADER - 2 : HEADER] == b"IM"


def is_mat4(content: bytes) -> bool:
    return 0 in content[:4] and len(content) >= 20 and content[:4] in _MAT4_KINDS


_MAT4_KINDS = {struct.pack("<i", 10 * number + form) for number in range(6) for form in range(3)}


def _elements(content: bytes, depth: int = 0) -> list[Element]:
    """Return the elements that are in bytes, as far as these are whole."""
    found, place = [], 0
    while place + 8 <= len(content) and depth < MOST_NESTED:
        kind, size = struct.unpack_from("<II", content, place)
        if kind >> 16:
            found.append(Element(kind & 0xFFFF, content[place + 4 : place + 4 + (kind >> 16)]))
            place += 8
            continue
        inside = content[place + 8 : place + 8 + size]
        place += 8 + size + (0 if kind == COMPRESSED else -size % 8)
        if kind == COMPRESSED:
            try:
                found.append(Element(kind, inside=_elements(zlib.decompress(inside), depth + 1)))
            except zlib.error:
                found.append(Element(kind))
        elif kind == MATRIX:
            found.append(Element(kind, inside=_elements(inside, depth + 1)))
        else:
            found.append(Element(kind, inside))
    return found


def mutated_mat5(content: bytes, random: Random) -> bytes:
    """Return a file with an element of another type, size, content or place, at any depth."""
    top = _elements(content[HEADER:])
    elements = [each for element in top for each in element.walk()]
    if not elements:
        return content[: random.randrange(len(content))]
    chosen, kind = random.choice(elements), random.randrange(12)
    leaves = [each for each in elements if not each.inside and each.content]
    if kind <= 4 and leaves:
        _change_numbers(random.choice(leaves), random)
    elif kind == 5:
        chosen.kind = random.choice(KINDS)
    elif kind == 6:
        chosen.stated = random.choice((*WHOLE, len(chosen.content) + random.choice((-8, -1, 1, 8))))
    elif kind == 7 and chosen.inside:
        del chosen.inside[random.randrange(len(chosen.inside))]
    elif kind == 8 and chosen.inside:
        chosen.inside.insert(random.randrange(len(chosen.inside) + 1), deepcopy(random.choice(elements)))
    elif kind == 9:
        chosen.content = chosen.content[: random.randrange(len(chosen.content) + 1)]
    elif kind == 10:
        for number, each in enumerate(top):
            top[number] = _in_cells(each, random.choice((1, 2, 40)))
    elif top:
        top.append(random.choice(top))
    return content[:HEADER] + b"".join(element.pack() for element in top)


def _change_numbers(leaf: Element, random: Random) -> None:
    """Change a number of an element that has no others in it: dimensions, flags, names, values."""
    form = {DOUBLE: "d", INT32: "i", UINT32: "I"}.get(leaf.kind, "B")
    width = struct.calcsize(form)
    place = random.randrange(max(len(leaf.content) // width, 1)) * width
    number = random.choice(VALUES) if form == "d" else random.choice((*WHOLE, random.randrange(20)))
    if form in "IB":
        number = int(number) % 256**width
    packed = struct.pack(f"<{form}", number)
    leaf.content = leaf.content[:place] + packed + leaf.content[place + width :]


def _in_cells(element: Element, depth: int) -> Element:
    """Return an element in cells that are in each other."""
    for _ in range(depth):
        flags, sides, name = struct.pack("<II", 1, 0), struct.pack("<ii", 1, 1), b"W"
        element = Element(
            MATRIX, inside=[Element(UINT32, flags), Element(INT32, sides), Element(1, name), element]
        )
    return element


def mutated_mat4(content: bytes, random: Random) -> bytes:
    """Return a file with another number in the header of its first matrix, or in its values."""
    damaged, kind = bytearray(content), random.randrange(4)
    if kind <= 1:
        place = 4 * random.randrange(5)
        damaged[place : place + 4] = struct.pack(
            "<i", random.choice((*WHOLE, 10, 11, 12, 20, 50, 51, 1000, 4000))
        )
    elif kind == 2:
        place = 20 + 8 * random.randrange(max((len(content) - 20) // 8, 1))
        damaged[place : place + 8] = struct.pack("<d", random.choice(VALUES))
    else:
        del damaged[random.randrange(20, len(damaged) + 1) :]
    return bytes(damaged)
