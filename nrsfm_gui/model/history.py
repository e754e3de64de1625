"""The history of a run as it grows: arrays in the form that a plot needs, phases, and changes of settings."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core import HistoryEntry, Settings
    from core.foundation import Bools, Floats, Ints, Phase

FIRST_ROOM = 256
# Losses are drawn by their logarithm: a loss of zero or a value that is not finite has none.
LOWEST_LOSS, HIGHEST_LOSS = 1e-300, 1e300
STARTS_AGAIN = ": starts again"


@dataclass(frozen=True)
class Tick:
    """A change of the settings at record `first`."""

    first: int
    text: str
    restarts: bool = False  # whether the run began anew there
    before: Settings | None = None  # which were in force until then; None where that is not known
    later: tuple[int, ...] = ()  # records of the further changes of the same gesture


class History:
    """Every record of a run, in columns that grow by doubling."""

    def __init__(self) -> None:
        self.records: list[HistoryEntry] = []
        self.phases: list[tuple[int, Phase]] = []  # with the record that each begins at
        self.ticks: list[Tick] = []
        # iteration, seconds, log10 of loss, primal and dual residual, energy, log10 of best loss
        self._columns = np.empty((7, FIRST_ROOM))
        self.has_residuals = False  # whether there is a record with residuals
        self.has_energies = False  # whether there is a record of the depth refinement

    def __len__(self) -> int:
        return len(self.records)

    def extend(self, records: Iterable[HistoryEntry]) -> None:
        """Append records."""
        for record in records:
            count = len(self.records)
            if not self.phases or self.phases[-1][1] != record.phase:
                self.phases.append((count, record.phase))
            if count == self._columns.shape[1]:
                self._columns = np.concatenate([self._columns, np.empty_like(self._columns)], axis=1)
            best = np.nan if record.best is None else _log_loss(record.best)
            primal, dual = _logarithm(record.primal), _logarithm(record.dual)
            self.has_residuals = self.has_residuals or bool(np.isfinite(primal))
            energy = np.nan if record.energy is None else record.energy
            self.has_energies = self.has_energies or bool(np.isfinite(energy))
            row = record.iteration, record.seconds, _log_loss(record.loss), primal, dual, energy, best
            self._columns[:, count] = row
            self.records.append(record)

    def until(self, count: int) -> History:
        """Return the first `count` records and the changes that led to them, to be read only."""
        first = copy(self)  # its columns, too: they grow beyond what it has, or elsewhere
        first.records = self.records[:count]
        first.phases = [(begin, phase) for begin, phase in self.phases if begin < count]
        first.ticks = [tick for tick in self.ticks if tick.first < count]
        first.has_residuals = bool(np.isfinite(first.log_residuals[0]).any())
        first.has_energies = bool(np.isfinite(first.energies).any())
        return first

    def tick(self, iteration: int, text: str, *, before: Settings, restarts: bool = False) -> Tick:
        """Note that the settings changed at the record of that iteration."""
        first = int(np.searchsorted(self.iterations, iteration))
        tick = Tick(first, text + (STARTS_AGAIN if restarts else ""), restarts, before)
        self.ticks.append(tick)
        return tick

    def extend_tick(self, iteration: int, text: str) -> None:
        """Set the text of the last change, which continues at the record of that iteration."""
        tick, record = self.ticks[-1], int(np.searchsorted(self.iterations, iteration))
        text += STARTS_AGAIN if tick.restarts else ""
        self.ticks[-1] = replace(tick, text=text, later=(*tick.later, record))

    @property
    def changes(self) -> Ints:
        """(M,) the records under settings other than those of the record before, ascending."""
        found = [record for tick in self.ticks for record in (tick.first, *tick.later)]
        unique: Ints = np.unique(np.array(found, dtype=np.int64))
        return unique[unique < len(self.records)]

    @property
    def iterations(self) -> Floats:
        """(N,) iteration numbers."""
        return self._columns[0, : len(self.records)]

    @property
    def seconds(self) -> Floats:
        """(N,) seconds of computing."""
        return self._columns[1, : len(self.records)]

    @property
    def log_losses(self) -> Floats:
        """(N,) base-10 logarithms of the loss, clamped to be finite."""
        return self._columns[2, : len(self.records)]

    @property
    def log_residuals(self) -> Floats:
        """(2, N) base-10 logarithms of the primal and the dual residual, NaN where there is none."""
        return self._columns[3:5, : len(self.records)]

    @property
    def energies(self) -> Floats:
        """(N,) energies of the depth refinement, NaN where there is none; two phases do not compare."""
        return self._columns[5, : len(self.records)]

    @property
    def log_best_losses(self) -> Floats:
        """(N,) base-10 logarithms of the lowest loss so far of the final objective, NaN where unknown."""
        return self._columns[6, : len(self.records)]

    @property
    def phase_spans(self) -> list[tuple[Phase, int, int]]:
        """Every phase with its first and its last record."""
        ends = [first for first, _ in self.phases[1:]] + [len(self.records)]
        return [(phase, first, end - 1) for (first, phase), end in zip(self.phases, ends, strict=False)]

    @property
    def phase_ends(self) -> Bools:
        """(N,) whether another phase begins after a record."""
        ends = np.zeros(len(self.records), dtype=bool)
        ends[[first - 1 for first, _ in self.phases[1:]]] = True
        return ends


def _log_loss(loss: float) -> float:
    """Return log10 of a loss, clamped to be finite."""
    finite = loss if np.isfinite(loss) else HIGHEST_LOSS
    return float(np.log10(min(max(finite, LOWEST_LOSS), HIGHEST_LOSS)))


def _logarithm(residual: float | None) -> float:
    """Return log10 of a residual; NaN of none, and of the infinite ones before the first step."""
    if residual is None or not np.isfinite(residual):
        return float("nan")
    return float(np.log10(max(residual, LOWEST_LOSS)))
