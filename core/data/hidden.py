"""Observations that a run leaves out: as a mask, as the text that settings and commands hold, and in blocks.

The text has one entry for each point, "POINT:FRAMES", and entries are separated by ";" or line breaks. Points
and frames are counted from 1. Frames are "12", "12-18", "45-" (from 45 on) or "*" (all), separated by ",":

    3:12-18,40;17:45-;20:*
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ..foundation.exceptions import InputError
from ..foundation.types import Bools, Floats, Ints
from .sequence import Sequence

_Entry = tuple[int, tuple[tuple[int, int | None], ...]]  # a point, and first and last frames, from 1

_POINT = re.compile(r"\s*([0-9]+)\s*:(.*)", re.DOTALL)
_FRAMES = re.compile(r"\s*(?:(\*)|([0-9]+)\s*(?:([-\u2013])\s*([0-9]+)?)?)\s*")
_LONGEST_SHOWN = 40  # letters of a refused entry


def normalize_hidden(text: str) -> str | None:
    """Return the text of hidden observations in its shortest form, None where it names none."""
    entries = _entries(text)
    return ";".join(f"{point}:{','.join(map(_run_text, runs))}" for point, runs in entries) or None


def parse_hidden(text: str, frames: int, points: int) -> Bools:
    """Return which observations (F, P) a text such as "3:12-18,40;17:45-;20:*" names."""
    mask = np.zeros((frames, points), dtype=bool)
    for point, runs in _entries(text):
        if point > points:
            raise InputError(f"hide names point {point}; accepted are points from 1 to {points}")
        for first, last in runs:
            if max(first, last or 1) > frames:
                raise InputError(
                    f"hide names frame {max(first, last or 1)} of point {point}; accepted are frames from 1 "
                    f"to {frames}"
                )
            mask[first - 1 : last, point - 1] = True
    return mask


def format_hidden(mask: Bools) -> str:
    """Return the text that names the observations of a mask (F, P); "" where there are none."""
    entries = []
    for point in np.flatnonzero(mask.any(axis=0)):
        column = mask[:, point]
        if column.all():
            entries.append(f"{point + 1}:*")
            continue
        edges = np.flatnonzero(np.diff(np.concatenate(([False], column, [False]))))
        runs = [
            _run_text((first + 1, None if end == len(column) and end - first > 1 else end))
            for first, end in edges.reshape(-1, 2).tolist()
        ]
        entries.append(f"{point + 1}:{','.join(runs)}")
    return ";".join(entries)


def hide_observations(sequence: Sequence, text: str | None) -> Sequence:
    """Return a sequence without the observations that a text names; companion tracks are kept."""
    if text is None:
        return sequence
    frames, points = sequence.visible.shape
    visible = sequence.visible & ~parse_hidden(text, frames, points)
    empty = np.flatnonzero(~visible.any(axis=1))
    if empty.size:
        raise InputError(
            f"{sequence.name}: hide leaves frame {empty[0] + 1} without any point; every frame needs at "
            "least one"
        )
    return replace(sequence, visible=visible)


@lru_cache(maxsize=8)  # settings are checked each time that a slider moves
def _entries(text: str) -> tuple[_Entry, ...]:
    entries: list[_Entry] = []
    for entry in re.split(r"[;\r\n]", text):
        if not entry.strip():
            continue
        found = _POINT.fullmatch(entry)
        runs = None if found is None else _runs(found[2])
        if found is None or runs is None or int(found[1]) < 1:
            shown = entry.strip()
            shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
            raise InputError(
                f"hide has the entry {shown!r}; accepted are a point and its frames, counted from 1, such as "
                "3:12-18,40 or 17:45- or 20:*, separated by ;"
            )
        entries.append((int(found[1]), runs))
    return tuple(entries)


def _runs(text: str) -> tuple[tuple[int, int | None], ...] | None:
    """Return the first and the last frame of every run, None where a run cannot be read."""
    runs: list[tuple[int, int | None]] = []
    for part in text.split(","):
        found = _FRAMES.fullmatch(part)
        if found is None:
            return None
        first = 1 if found[1] else int(found[2])
        last = int(found[4]) if found[4] else None if found[1] or found[3] else first
        if first < 1 or (last is not None and last < first):
            return None
        runs.append((first, last))
    return tuple(runs)


def _run_text(run: tuple[int, int | None]) -> str:
    first, last = run
    if last is None:
        return "*" if first == 1 else f"{first}-"
    return str(first) if first == last else f"{first}-{last}"


def occluded_blocks(
    positions: Floats, visible: Bools, shares: tuple[float, float], rng: np.random.Generator
) -> Iterator[tuple[slice, Ints]]:
    """Yield the blocks that an object hides of itself, each point being twice a center.

    A block is of neighboring points over frames one after the other. `positions` (F, d, P) of the visible
    points (F, P) tell neighbors.
    """
    frames, points = visible.shape
    length, count = (max(round(share * size), 1) for share, size in zip(shares, visible.shape, strict=True))
    for center in rng.permutation(np.tile(np.arange(points), 2)):
        first = int(rng.integers(frames - length + 1))
        middle = first + length // 2
        if not visible[middle, center]:
            continue
        away = np.linalg.norm(positions[middle] - positions[middle][:, [center]], axis=0)
        near = np.argsort(np.where(visible[middle], away, np.inf), kind="stable")[:count]
        yield slice(first, first + length), near.astype(np.int64)
