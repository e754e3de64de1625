"""Damaged pickles: their operations and the arguments of these."""

from __future__ import annotations

import pickletools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

OPERATIONS = tuple(operation.code.encode("latin-1") for operation in pickletools.opcodes)


def is_pickle(content: bytes) -> bool:
    return content[:1] == b"\x80" and content[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")


def mutated_pickle(content: bytes, random: Random) -> bytes:
    """Return a pickle with an operation that is left out, doubled, swapped, or has another argument."""
    try:
        places = [place for _, _, place in pickletools.genops(content) if place is not None]
    except Exception:  # it is damaged already
        return content[: random.randrange(len(content))]
    parts = [content[a:b] for a, b in zip(places, [*places[1:], len(content)], strict=True)]
    place, other, kind = random.randrange(len(parts)), random.randrange(len(parts)), random.randrange(7)
    if kind == 0:
        del parts[place]
    elif kind == 1:
        parts.insert(other, parts[place])
    elif kind == 2:
        parts[place], parts[other] = parts[other], parts[place]
    elif kind == 3:
        parts[place] = random.choice(OPERATIONS) + parts[place][1:]
    elif kind == 4:
        parts.insert(place, random.choice(OPERATIONS))
    else:
        changed = bytearray(parts[place])
        changed[random.randrange(len(changed))] = random.choice(
            (0, 1, 0x7F, 0x80, 0xFF, random.randrange(256))
        )
        parts[place] = bytes(changed)
    return b"".join(parts)
