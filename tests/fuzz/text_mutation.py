"""Damaged text: words and lines of tables, trees of JSON."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

NAMES = (
    "", "../x", "/etc/passwd", "\x1b[31mred", "=1+1", "<b>x</b>", "x" * 3000, "\u202e", "a\nb\nc\nd\ne\nf",
    "C:\\x",
)  # fmt: skip
WORDS = (
    "", "0", "-1", "1", "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e308", "1e308", "9" * 20,
    "9" * 400, "1" * 5000, "0x10", "1_000", "1.5", "None", "null", "true", "x", "\x1b[31m", "\u202eabc", '"',
    "'", ",", "\0", "\ufeff", "\u0661", "2147483648", "-9223372036854775809", "1e-320", "{}", "[]",
    "a" * 3000, "1;2", "é", "\t", "%s", "{0}",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, [], {}, "", "<b>x</b>", "x" * 3000, "\x1b[31m\u202e", "\udcff", "a\nb\nc\nd\ne\nf", 0, -1, 1, 2,
    10**400, 2**63, 2**31, 1e308, -1e308, 1e-320, 0.5, float("inf"), float("nan"), True, False, [[[]]],
    {"a": 1}, [1, 2, 3], "nan", "1", [None], [0.5] * 300, 10**18, "../../x", "sample:", "/dev/zero",
)  # fmt: skip
JSON_START = re.compile(rb"\s*[\[{]")
SPLIT = re.compile(r"([\s,;=/|:]+)")


def is_json(content: bytes) -> bool:
    if not JSON_START.match(content):
        return False
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def is_text(content: bytes) -> bool:
    """Return whether bytes are text but for a few."""
    some = content[:4096]
    return sum(byte < 9 or 13 < byte < 32 for byte in some) <= len(some) // 100


def mutated_json(content: bytes, random: Random) -> bytes:
    """Return a tree with another value, name or number of items at one place."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return mutated_text(content, random)
    places = list(_places(tree))
    if not places or random.random() < 0.03:
        return json.dumps(random.choice(VALUES)).encode()
    # The same chance for each depth, because most places are numbers in long lists.
    depths = sorted({len(place) for place in places})
    depth = random.choice(depths)
    *way, last = random.choice([place for place in places if len(place) == depth])
    parent = tree
    for key in way:
        parent = parent[key]
    kind = random.randrange(10)
    if kind <= 4:
        parent[last] = random.choice(VALUES)
    elif kind == 5:
        del parent[last]
    elif kind == 6 and isinstance(parent, dict):
        parent[random.choice((*NAMES, *map(str, tree if isinstance(tree, dict) else ())))] = parent.pop(last)
    elif kind == 6:
        parent.insert(last, parent[last])
    elif kind == 7:
        parent[last] = [parent[last]] if random.random() < 0.5 else {"a": parent[last]}
    elif kind == 8:
        other = random.choice(places)
        source = tree
        for key in other:
            source = source[key]
        parent[last] = json.loads(json.dumps(source))
    elif isinstance(parent[last], list | str):
        parent[last] = parent[last][: random.randrange(len(parent[last]) + 1)]
    else:
        parent[last] = -parent[last] if isinstance(parent[last], int | float) else random.choice(VALUES)
    return json.dumps(tree).encode()


def _places(value: Any, way: tuple[Any, ...] = ()) -> Any:
    """Yield the ways to all values of a tree, of long lists to the first and the last items."""
    if way:
        yield way
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*way, key))
    elif isinstance(value, list):
        for number in sorted({*range(min(len(value), 12)), *range(max(len(value) - 2, 0), len(value))}):
            yield from _places(value[number], (*way, number))


def mutated_text(content: bytes, random: Random) -> bytes:
    """Return a text with another word, or lines that are left out, doubled, joined or swapped."""
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    place, other, kind = random.randrange(len(lines)), random.randrange(len(lines)), random.randrange(14)
    if random.random() < 0.3:
        place = random.randrange(min(len(lines), 4))  # the header
    if kind <= 6:
        parts = SPLIT.split(lines[place])
        word = random.randrange(len(parts))
        parts[word] = _mutated_word(parts[word], random)
        lines[place] = "".join(parts)
    elif kind == 7:
        del lines[place]
    elif kind == 8:
        lines.insert(place, lines[other])
    elif kind == 9:
        lines[place], lines[other] = lines[other], lines[place]
    elif kind == 10:
        lines[place] += random.choice((",", " ", ";", "\t")).join(["", lines[other]])
    elif kind == 11:
        lines[place] = random.choice((*WORDS, lines[place] * random.choice((2, 50))))
    elif kind == 12:
        lines = lines[: place + 1]
    else:
        old, new = random.choice(((",", ";"), (",", "\t"), (" ", ","), (".", ","), ("\n", "\r"), ("0", "")))
        return new.join("\n".join(lines).split(old)).encode("utf-8", "surrogateescape")
    text = "\n".join(lines)
    form = random.choice(("utf-8",) * 30 + ("utf-16", "utf-8-sig", "latin-1"))
    return text.encode(form, "surrogateescape" if form == "utf-8" else "replace")


def _mutated_word(word: str, random: Random) -> str:
    kind = random.randrange(6)
    if kind <= 3 or not word:
        return random.choice(WORDS)
    if kind == 4:
        place = random.randrange(len(word))
        return (
            word[:place]
            + chr(random.choice((0, 9, 27, 34, 44, 45, 46, 48, 57, 101, 160, 0x661)))
            + word[place:]
        )
    return "-" + word
