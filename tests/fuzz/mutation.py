"""Damaged copies of files: of what their structure states, and of any of their bytes.

Each format has a module that changes it as what it is: arrays and archives of them, variables of MATLAB,
trees of JSON, lines and words of text. What is damaged so is still read far enough to reach what comes after
the first check. Bits that flip, bytes that are cut off, doubled or from another file are for all formats.
"""

from __future__ import annotations

import struct
import warnings
from typing import TYPE_CHECKING

from array_mutation import is_npy, is_zip, mutated_npy, mutated_zip
from hdf5_mutation import is_hdf5, mutated_hdf5
from mat_mutation import is_mat4, is_mat5, mutated_mat
from pickle_mutation import is_pickle, mutated_pickle
from text_mutation import is_json, is_text, mutated_json, mutated_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

BYTES_ONLY = 0.2  # the share of inputs whose structure is left as it is
BOTH = 0.15  # of those whose bytes are damaged after their structure
MOST_CHANGES = 3  # of the structure of one input
NUMBERS = (
    0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1,
)  # fmt: skip

# In the order in which they are tried.
STRUCTURES: tuple[tuple[Callable[[bytes], bool], Callable[[bytes, Random], bytes]], ...] = (
    (is_zip, mutated_zip),
    (is_npy, mutated_npy),
    (is_hdf5, mutated_hdf5),
    (is_mat5, mutated_mat),
    (is_pickle, mutated_pickle),
    (is_json, mutated_json),
    (is_text, mutated_text),
    (is_mat4, mutated_mat),
)


def mutated(content: bytes, random: Random, other: bytes = b"") -> bytes:
    """Return a damaged copy.

    `content`: the bytes of a file; `random`: what is damaged and how depends on it alone; `other`: another
    file, of which parts may be put in. The result is seldom equal to it.
    """
    change = next((change for fits, change in STRUCTURES if fits(content)), None)
    if change is None or random.random() < BYTES_ONLY:
        return mutated_bytes(content, random, other)
    damaged = content
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of names that are twice in an archive, of numbers that become others
        for _ in range(random.randint(1, MOST_CHANGES)):
            damaged = change(damaged, random)
            if not any(fits(damaged) and known is change for fits, known in STRUCTURES):
                break
    return mutated_bytes(damaged, random, other) if random.random() < BOTH else damaged


def mutated_bytes(content: bytes, random: Random, other: bytes = b"") -> bytes:
    """Return a copy with some bytes changed, whatever they stand for.

    `content, random, other`: as in `mutated`. There is at least one.
    """
    damaged = bytearray(content or b"\0")
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        place, length = random.randrange(len(damaged)), min(random.choice((1, 4, 16, 64, 512)), len(damaged))
        kind = random.randrange(9)
        if kind <= 1:
            damaged[place] ^= 1 << random.randrange(8)
        elif kind == 2:
            damaged[place] = random.randrange(256)
        elif kind <= 4:
            form = random.choice(("<B", "<H", "<I", "<Q", ">H", ">I", ">Q"))
            number = random.choice(NUMBERS) % 256 ** struct.calcsize(form)
            damaged[place : place + struct.calcsize(form)] = struct.pack(form, number)
        elif kind == 5:
            del damaged[place : place + length]
        elif kind == 6:
            damaged[place:place] = damaged[place : place + length]
        elif kind == 7:
            start = random.randrange(max(len(other), 1))
            damaged[place : place + length] = other[start : start + length]
        else:
            del damaged[max(place, 1) :]
        damaged = damaged or bytearray(b"\0")
    return bytes(damaged)
