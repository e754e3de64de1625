"""CPU time and curve of one method."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALWAYS_KEPT = 50  # iterations at the start that are all points of the curve
UNLIMITED = 1_000_000  # iterations: the limit is one of time
TIME_RATIO = 1.02  # of the CPU time of a later point to that of the point before


@dataclass(frozen=True)
class CurvePoint:
    """A point of a curve."""

    iteration: int
    seconds: float  # of CPU since the start
    loss: float  # of the problem at rank K
    own_loss: float  # the method's own objective


@dataclass(frozen=True, eq=False)
class MethodCurve:
    """How one method approached the solution of one problem."""

    method: str
    curve: tuple[CurvePoint, ...]

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.curve[-1].iteration if self.curve else 0

    @property
    def seconds(self) -> float:
        """CPU seconds used."""
        return self.curve[-1].seconds if self.curve else 0.0

    @property
    def loss(self) -> float:
        """The least loss reached; infinite where there is none."""
        return min((point.loss for point in self.curve), default=float("inf"))

    def seconds_to(self, loss: float) -> float | None:
        """Return the CPU seconds until the loss was at most this; None where it never was."""
        return next((point.seconds for point in self.curve if point.loss <= loss), None)


class TimeLimitReached(Exception):
    """A method reached its time limit in the middle of an iteration."""


class Stopwatch:
    """Counts CPU seconds while `running`, so that what only the curve needs is not counted."""

    def __init__(self, limit: float, report: Callable[[list[CurvePoint]], None] | None = None) -> None:
        self.limit = limit
        self.curve: list[CurvePoint] = []
        self._report = report
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
        """Count during the block."""
        self._began = time.process_time()
        try:
            yield
        finally:
            self._spent, self._began = self.seconds, None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count during the block, which is inside one that counts."""
        self._spent, self._began = self.seconds, None
        try:
            yield
        finally:
            self._began = time.process_time()

    def due(self, iteration: int) -> bool:
        """Whether the curve should have a point here."""
        return iteration < ALWAYS_KEPT or not self.curve or self.seconds > TIME_RATIO * self.curve[-1].seconds

    def mark(self, iteration: int, loss: float, own_loss: float) -> None:
        """Add a point to the curve."""
        self.curve.append(CurvePoint(iteration, self.seconds, loss, own_loss))
        if self._report is not None:
            self._report(self.curve)
