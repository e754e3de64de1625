"""The history of a run as it grows: arrays in the form that a plot needs, phases, and changes of settings."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from core import HistoryEntry, Settings
from core.foundation import DEPTHS, Bools, Floats, Ints, Phase, PhaseKind, RunStage

Part = TypeVar("Part")
FIRST_ROOM = 256
HIGHEST = 1e300  # what stands for a value that is not finite
LEAST_RESIDUAL = 1e-300  # a residual of zero has no logarithm
STARTS_AGAIN = ": starts again"
LIGHTER = "lighter lengths"  # in the names of the starts of a second search


@dataclass(frozen=True)
class Tick:
    """A change of the settings at record `first`."""

    first: int
    text: str
    restarts: bool = False  # whether the run began anew there
    before: Settings | None = None  # which were in force until then; None where that is not known
    later: tuple[int, ...] = ()  # records of the further changes of the same gesture

    @property
    def last(self) -> int:
        """The record of its last change: those before are of parameters that were passed on the way."""
        return self.later[-1] if self.later else self.first


class History:
    """Every record of a run, in columns that grow by doubling."""

    def __init__(self) -> None:
        self.records: list[HistoryEntry] = []
        self.phases: list[tuple[int, Phase]] = []  # with the record that each begins at
        self.kinds: list[tuple[int, RunStage]] = []  # likewise, under whatever parameters
        self.ticks: list[Tick] = []
        self.lighter: list[int] = []  # records from which lengths count less, or no longer do
        # iteration, seconds, value of the objective, log10 of the residuals, candidate for the lowest value
        self._columns = np.empty((6, FIRST_ROOM))
        self._lowest: tuple[object, Floats] = None, np.zeros(0)  # with what it was computed from
        self._stages: tuple[object, list[tuple[RunStage, int, int]]] = None, []  # likewise
        self.has_residuals = False  # whether there is a record with residuals

    def __len__(self) -> int:
        return len(self.records)

    def extend(self, records: Iterable[HistoryEntry]) -> None:
        """Append records."""
        for record in records:
            count = len(self.records)
            if self._is_lighter(record) != len(self.lighter) % 2:
                self.lighter.append(count)
            if not self.phases or self.phases[-1][1] != record.phase:
                self.phases.append((count, record.phase))
            if not self.kinds or self.kinds[-1][1] != record.stage:
                self.kinds.append((count, record.stage))
            if count == self._columns.shape[1]:
                self._columns = np.concatenate([self._columns, np.empty_like(self._columns)], axis=1)
            candidate = np.nan if record.candidate is None else _finite(record.candidate)
            primal, dual = _logarithm(record.primal), _logarithm(record.dual)
            self.has_residuals = self.has_residuals or bool(np.isfinite(primal))
            row = record.iteration, record.seconds, _finite(record.value), primal, dual, candidate
            self._columns[:, count] = row
            self.records.append(record)

    def until(self, count: int) -> History:
        """Return the first `count` records and the changes that led to them, to be read only."""
        first = copy(self)  # its columns, too: they grow beyond what it has, or elsewhere
        first.records = self.records[:count]
        first.phases = [(begin, phase) for begin, phase in self.phases if begin < count]
        first.kinds = [(begin, stage) for begin, stage in self.kinds if begin < count]
        ticks = (tick for tick in self.ticks if tick.first < count)
        first.lighter = [begin for begin in self.lighter if begin < count]
        first.ticks = [replace(tick, later=tuple(k for k in tick.later if k < count)) for tick in ticks]
        first.has_residuals = bool(np.isfinite(first.log_residuals[0]).any())
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

    def _is_lighter(self, record: HistoryEntry) -> bool:
        """Whether a record to come is of the search with lighter lengths, or goes on from its end.

        Its finest levels have no name. If the first end is kept after all, its energy is repeated or its
        closing levels follow, which a search with lighter lengths has none of.
        """
        phase = record.phase
        if not len(self.lighter) % 2 or phase.name:
            return LIGHTER in phase.name
        before = self.phases[-1][1]
        if phase.kind is PhaseKind.UNCERTAINTY:
            return record.value not in self.values[: self.lighter[0]]
        return not (phase.kind is before.kind is PhaseKind.FINEST and phase.parts > before.parts)

    @property
    def changes(self) -> Ints:
        """(M,) the records of another objective than that of the record before, ascending."""
        found = self.lighter + [record for tick in self.ticks for record in (tick.first, *tick.later)]
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
    def values(self) -> Floats:
        """(N,) values of the objective that is being minimized, clamped to be finite."""
        return self._columns[2, : len(self.records)]

    @property
    def log_residuals(self) -> Floats:
        """(2, N) base-10 logarithms of the primal and the dual residual, NaN where there is none."""
        return self._columns[3:5, : len(self.records)]

    @property
    def lowest(self) -> Floats:
        """(N,) the lowest value so far of the stage under the parameters of each record, NaN before one.

        That of the WNN problem is of its final objective, see `HistoryEntry.best`; an energy is of one level.
        """
        changes = self.changes.tolist()
        key = len(self.records), changes
        if self._lowest[0] != key:
            found = self._columns[5, : len(self.records)].copy()
            for stage, first, last in self.stage_spans:
                if stage.objective == DEPTHS:
                    cuts = [first, *(each for each in changes if first < each <= last), last + 1]
                    for begin, end in itertools.pairwise(cuts):
                        np.fmin.accumulate(found[begin:end], out=found[begin:end])
            self._lowest = key, found
        return self._lowest[1]

    def stage_of(self, record: int | None) -> RunStage:
        """Return the stage of a record, with None of the last one."""
        at = len(self.records) - 1 if record is None else record
        return next(stage for stage, first, _ in reversed(self.stage_spans) if first <= at)

    def in_stage(self, stage: RunStage) -> Bools:
        """Return which records (N,) belong to a stage."""
        found = np.zeros(len(self.records), dtype=bool)
        for each, first, last in self.stage_spans:
            found[first : last + 1] = each == stage
        return found

    @property
    def settled(self) -> Bools:
        """(N,) whether a record is of parameters that stayed, not of some that were passed on the way."""
        found = np.ones(len(self.records), dtype=bool)
        for tick in self.ticks:
            found[tick.first : tick.last] = False
        return found

    @property
    def phase_spans(self) -> list[tuple[Phase, int, int]]:
        """Every phase with its first and its last record."""
        return self._spans(self.phases)

    @property
    def stage_spans(self) -> list[tuple[RunStage, int, int]]:
        """Every stage with its first and its last record; one that was come back to has several spans.

        A change of the parameters or of the weight of lengths begins another one: what is minimized is
        another function.
        """
        key = len(self.records), len(self.ticks), len(self.lighter)
        if self._stages[0] != key:
            begins = sorted((*self.lighter, *(tick.first for tick in self.ticks)))
            changes = [first for first in begins if first < len(self.records)]
            kinds = dict(self.kinds)
            found: list[tuple[int, RunStage]] = []
            for first in sorted({*kinds, *changes}):
                kind = kinds.get(first) or found[-1][1]
                found.append((first, replace(kind, change=bisect_right(changes, first))))
            self._stages = key, self._spans(found)
        return self._stages[1]

    def _spans(self, begins: list[tuple[int, Part]]) -> list[tuple[Part, int, int]]:
        ends = [first for first, _ in begins[1:]] + [len(self.records)]
        return [(part, first, end - 1) for (first, part), end in zip(begins, ends, strict=False)]

    @property
    def level_ends(self) -> Bools:
        """(N,) whether the energies after a record do not compare with those up to it."""
        ends = np.zeros(len(self.records), dtype=bool)
        for (_, before), (first, phase) in itertools.pairwise(self.phases):
            ends[first - 1] = phase.objective == DEPTHS and not phase.comparable(before)
        return ends


def _finite(value: float) -> float:
    return min(max(value, -HIGHEST), HIGHEST) if value == value else HIGHEST


def _logarithm(residual: float | None) -> float:
    """Return log10 of a residual; NaN of none, and of the infinite ones before the first step."""
    if residual is None or not np.isfinite(residual):
        return float("nan")
    return float(np.log10(max(residual, LEAST_RESIDUAL)))
