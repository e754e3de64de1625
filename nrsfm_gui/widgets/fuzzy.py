"""Fuzzy search for the command palette and the list of shortcuts. No Qt here.

Letters must keep their order and begin at the start of a word, so that "gtw" finds "Go to the worst frame".
The scorers of rapidfuzz do not do that: of 104 action titles searched by their initials, 92 are among the
first three rows here, 15 with its best scorer. It finds misspelled words instead, and does not return which
letters match.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# The cost of each kind of match; the list is sorted by the sum.
AT_START, AT_WORD, INSIDE, SCATTERED = 0.0, 1.0, 3.0, 6.0
NEXT_TEXT = 8.0  # to be found in the second text of a line instead of the first, and so on

LONGER = 1e-4  # per letter of the title: of two that are found alike, the shorter one is nearer


@dataclass(frozen=True)
class Match:
    """How a line was found."""

    cost: float  # what lines are sorted by, the best first
    # For each text of the line, the positions of the letters that were found.
    places: tuple[frozenset[int], ...] = field(default=())


def match(pattern: str, texts: tuple[str, ...]) -> Match | None:
    """Return how a row of texts (the title first) matches every word of a pattern, None if it does not.

    Letters of a word may be scattered over a text as long as their order is kept; they are not looked for
    across two texts.
    """
    lowered = [text.lower() for text in texts]
    places: list[set[int]] = [set() for _ in texts]
    total = 0.0
    for word in pattern.lower().split():
        best: tuple[float, int, list[int]] | None = None
        for index, text in enumerate(lowered):
            found = _find(word, text, scattered=index == 0)
            if found is not None:
                cost = found[0] + NEXT_TEXT * index
                if best is None or cost < best[0]:
                    best = (cost, index, found[1])
        if best is None:
            return None
        total += best[0]
        places[best[1]].update(best[2])
    if pattern.split():
        total += LONGER * len(lowered[0])
    return Match(total, tuple(frozenset(place) for place in places))


def _find(word: str, text: str, *, scattered: bool) -> tuple[float, list[int]] | None:
    """Return the cost and the positions of a word's letters in a text, both in lower case."""
    inside = text.find(word)
    if inside < 0 and not (scattered and len(word) > 1 and _holds(word, text, 0)):
        return None  # most texts: starts of words are not looked for there
    starts = [index for index in range(len(text)) if _begins_word(text, index)]
    for start in starts:
        if text.startswith(word, start):
            cost = AT_START if start == starts[0] else AT_WORD
            return cost + 0.01 * start, list(range(start, start + len(word)))
    if inside >= 0:
        return INSIDE + 0.01 * inside, list(range(inside, inside + len(word)))
    found = [_scattered(word, text, start) for start in starts if text[start] == word[0]]
    spans = [places for places in found if places]
    if not spans:
        return None
    shortest = min(spans, key=lambda places: (places[-1] - places[0], places[0]))
    return SCATTERED + 0.1 * (shortest[-1] - shortest[0]), shortest


def _scattered(word: str, text: str, start: int) -> list[int]:
    """Return positions of the letters of a word, in order, from `start` on; starts of words are preferred."""
    places: list[int] = []
    position = start
    for number, letter in enumerate(word):
        rest = word[number + 1 :]
        candidates = [index for index in range(position, len(text)) if text[index] == letter]
        usable = [index for index in candidates if _holds(rest, text, index + 1)]
        if not usable:
            return []
        at_words = [index for index in usable if _begins_word(text, index)]
        chosen = usable[0] if usable[0] == position or not at_words else at_words[0]
        places.append(chosen)
        position = chosen + 1
    return places


def _holds(letters: str, text: str, start: int) -> bool:
    """Return whether a text contains the letters in this order, from `start` on."""
    for letter in letters:
        start = text.find(letter, start) + 1
        if not start:
            return False
    return True


def _begins_word(text: str, index: int) -> bool:
    return text[index].isalnum() and (index == 0 or not text[index - 1].isalnum())
