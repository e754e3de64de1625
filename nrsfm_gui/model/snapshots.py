"""The snapshots of a run: iterates at a thinned set of its records, bounded in number and in bytes.

A run may take thousands of iterations and each of them has a point of up to megabytes, so that only some are
kept of those that the window received. Where there are too many, the one that leaves the smallest gap is
dropped, so that the gaps double one after the other. The first and the newest stay. The ends of phases, and
those that a change of the parameters protects, are dropped last.

A snapshot has what was shown at its record: the best point up to it, and of a refinement the best depths.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from enum import IntEnum

from core import Iterate

MOST = 120  # snapshots of one run
LARGEST = 64_000_000  # bytes of their points
LEAST = 2  # the first and the newest, whatever their size


class _Priority(IntEnum):
    """Why a snapshot is kept; the lowest is dropped first."""

    NONE = 0
    PHASE = 1  # the last one that was seen of a phase
    PROTECTED = 2


@dataclass(eq=False)
class _KeptIterate:
    index: int
    iterate: Iterate
    priority: _Priority = _Priority.NONE


class Snapshots:
    """Snapshots of a run, ordered by their records: at most so many, or two, and so many bytes."""

    def __init__(self, *, most: int = MOST, largest: int = LARGEST) -> None:
        self._most, self._largest = most, largest
        self._kept: list[_KeptIterate] = []
        self.size = 0  # bytes of all points, as if none of them were shared

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def indices(self) -> tuple[int, ...]:
        """The records of the snapshots, ascending."""
        return tuple(moment.index for moment in self._kept)

    def add(self, index: int, iterate: Iterate) -> None:
        """Add an iterate as the newest snapshot."""
        if self._kept and index <= self._kept[-1].index:
            raise ValueError(f"record {self._kept[-1].index} has a snapshot; {index} does not follow it")
        if self._kept and self._kept[-1].iterate.phase != iterate.phase:
            self._kept[-1].priority = max(self._kept[-1].priority, _Priority.PHASE)
        # Without the data term, which forms it anew, and of the point that was shown.
        best = replace(iterate.best, problem=iterate.best.problem.without_data())
        kept = replace(iterate, current=best, best=best)
        self._kept.append(_KeptIterate(index, kept))
        self.size += _size(kept)
        self._thin(self._most, self._largest)

    def protect(self, index: int) -> None:
        """Protect the snapshot at a record, or the last one before it: it is dropped last."""
        place = bisect_right(self.indices, index) - 1
        if place >= 0:
            self._kept[place].priority = _Priority.PROTECTED

    def at(self, index: int) -> tuple[int, Iterate]:
        """Return the nearest record with a snapshot, and the iterate of that snapshot."""
        if not self._kept:
            raise IndexError("no moment is kept")
        moment = min(self._kept, key=lambda kept: abs(kept.index - index))
        return moment.index, moment.iterate

    def shrink(self) -> None:
        """Keep half as many: of a run that is not shown, to free memory for others."""
        self._thin(max(len(self) // 2, LEAST), self._largest)

    def _thin(self, most: int, largest: int) -> None:
        while len(self._kept) > max(most, LEAST) or (self.size > largest and len(self._kept) > LEAST):
            kept = self._kept
            least = min(
                range(1, len(kept) - 1),
                key=lambda place: (kept[place].priority, kept[place + 1].index - kept[place - 1].index),
            )
            self.size -= _size(kept.pop(least).iterate)


def _size(iterate: Iterate) -> int:
    point, depth = iterate.current.factors, iterate.depth
    size = point.B.nbytes + point.C.nbytes + point.s.nbytes
    if depth is not None:
        size += depth.best.rotations.nbytes + depth.best.depths.nbytes + depth.best.rays.nbytes
    return size
