"""CPU time of one method, and its curve: loss against seconds."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY = 50  # the first iterations are all kept, then those that are
APART = 1.02  # times later than the one before


@dataclass(frozen=True)
class CurvePoint:
    """A point of a curve."""

    iteration: int
    seconds: float  # of CPU since the start
    loss: float  # of the problem at rank K
    own: float  # what the method itself minimizes there


class OutOfTime(Exception):
    """The limit of a method is reached in the middle of an iteration."""


class Stopwatch:
    """Counts CPU seconds while `running`, so that what is only measured for the curve costs nothing."""

    def __init__(self, limit: float, tell: Callable[[list[CurvePoint]], None] | None = None) -> None:
        self.limit = limit
        self.marks: list[CurvePoint] = []
        self._tell = tell
        self._spent = 0.0
        self._began: float | None = None

    @property
    def seconds(self) -> float:
        """CPU seconds counted so far."""
        return self._spent + (time.process_time() - self._began if self._began is not None else 0.0)

    @property
    def expired(self) -> bool:
        """Whether the limit is reached."""
        return self.seconds >= self.limit

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count while the block lasts."""
        self._began = time.process_time()
        try:
            yield
        finally:
            self._spent, self._began = self.seconds, None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count while the block lasts, inside one that counts."""
        self._spent, self._began = self.seconds, None
        try:
            yield
        finally:
            self._began = time.process_time()

    def due(self, iteration: int) -> bool:
        """Whether the curve should have a point here."""
        return iteration < EVERY or not self.marks or self.seconds > APART * self.marks[-1].seconds

    def mark(self, iteration: int, loss: float, own: float) -> None:
        """Add a point to the curve."""
        self.marks.append(CurvePoint(iteration, self.seconds, loss, own))
        if self._tell is not None:
            self._tell(self.marks)
