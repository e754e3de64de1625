"""What the application is about at this moment: the only mutable state, and the signals that tell of it.

Views never hold a session; `main_window` passes them values. Handlers change the session, the session says
what changed, and the window shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from core.penalties import ExplicitWeights
from core.sequence import CameraModel
from core.settings import Settings

from .history import History
from .shapes import Alignment
from .theme import DARK, Theme

if TYPE_CHECKING:
    from collections.abc import Hashable

    from core.penalties import Penalty
    from core.reconstruct import Update
    from core.sequence import Sequence


class RunState(Enum):
    """Where a run stands."""

    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def alive(self) -> bool:
        """Whether a thread works on it."""
        return self in (RunState.RUNNING, RunState.PAUSED)


@dataclass(eq=False, repr=False)
class Run:
    """One reconstruction of this session; only `run_control` writes to it."""

    number: int  # 1-based
    sequence: Sequence
    settings: Settings  # in force now
    warm_from: int | None = None  # number of the run it went on from
    shown_before: int | None = None  # number of the run that was shown when it was added
    state: RunState = RunState.RUNNING
    history: History = field(default_factory=History)
    last: Update | None = None
    message: str = ""


@dataclass(eq=False, repr=False)
class _Kept:
    """What is shown again when a sequence is opened once more."""

    runs: list[Run] = field(default_factory=list)
    shown: Run | None = None


class Session(QObject):
    """The sequence, the settings, the runs, and what of them is shown."""

    sequence_changed = pyqtSignal(object)  # Sequence
    settings_changed = pyqtSignal(object)  # Settings
    runs_changed = pyqtSignal()  # there are others: one was added, or some were dropped
    run_changed = pyqtSignal(object)  # Run: it has new records, a new update, or another state
    shown_changed = pyqtSignal(object)  # Run or None
    frame_changed = pyqtSignal(int)
    point_changed = pyqtSignal(int)  # -1 for none
    alignment_changed = pyqtSignal(object)  # Alignment
    theme_changed = pyqtSignal(object)  # Theme

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sequence: Sequence | None = None
        self.settings = Settings()
        self.runs: list[Run] = []
        self.shown: Run | None = None
        self.frame = 0
        self.point = -1
        self.alignment = Alignment.PER_FRAME
        self.theme: Theme = DARK
        self._runs_made = 0
        self._kept: dict[Hashable, _Kept] = {}  # of the sequences that were left
        self._derived_penalty: Penalty = self.settings.penalty  # the last one that was not explicit weights

    def set_sequence(self, sequence: Sequence) -> None:
        """Show a sequence, with the runs that it had when it was left."""
        before, key = self.sequence, _key(sequence)
        if before is not None:
            self._kept[_key(before)] = _Kept(self.runs, self.shown)
        kept = self._kept.pop(key, _Kept())
        self.sequence, self.runs, self.shown = sequence, kept.runs, None
        if before is not None and _key(before) != key:
            self.set_settings(self.lasting_settings)  # while no run is shown that could follow them
        for run in kept.runs:
            run.sequence = sequence  # the same tracks, read again
        self.shown = kept.shown
        self.frame = 0
        self.point = -1
        self.sequence_changed.emit(sequence)
        self.runs_changed.emit()
        self.shown_changed.emit(self.shown)
        self.frame_changed.emit(0)
        self.point_changed.emit(-1)
        # Orthogonal tracks look the same of a shape and of its mirror image.
        orthogonal = sequence.camera is CameraModel.ORTHOGONAL
        self.set_alignment(Alignment.PER_FRAME_MIRROR if orthogonal else Alignment.PER_FRAME)

    def set_settings(self, settings: Settings) -> None:
        """Take other parameters for the next run (and, through `run_control`, for the present one)."""
        if not isinstance(settings.penalty, ExplicitWeights):
            self._derived_penalty = settings.penalty
        if settings != self.settings:
            self.settings = settings
            self.settings_changed.emit(settings)

    @property
    def lasting_settings(self) -> Settings:
        """The settings without explicit weights, which suit one sequence: the penalty before them instead."""
        if isinstance(self.settings.penalty, ExplicitWeights):
            return self.settings.with_changes(penalty=self._derived_penalty)
        return self.settings

    def add_run(self, settings: Settings, *, warm_from: Run | None = None) -> Run:
        """Append a run of the current sequence and show it."""
        assert self.sequence is not None  # there is no Run button without one
        self._runs_made += 1
        number = None if warm_from is None else warm_from.number
        shown = None if self.shown is None else self.shown.number
        run = Run(self._runs_made, self.sequence, settings, warm_from=number, shown_before=shown)
        run.last = None if warm_from is None else warm_from.last
        self.runs.append(run)
        self.runs_changed.emit()
        self.set_shown(run)
        return run

    def set_shown(self, run: Run | None) -> None:
        """Show a run of this session, or the bare sequence."""
        if run is not self.shown:
            self.shown = run
            self.shown_changed.emit(run)

    def drop_run(self, run: Run) -> None:
        """Forget a run that came to nothing; where it is shown, the run before it is shown again."""
        for kept in self._kept.values():
            if run in kept.runs:
                kept.runs.remove(run)
                kept.shown = _numbered(kept.runs, run.shown_before) if kept.shown is run else kept.shown
        if run in self.runs:
            self.runs = [other for other in self.runs if other is not run]
            if self.shown is run:
                self.set_shown(_numbered(self.runs, run.shown_before))
            self.runs_changed.emit()

    def remove_runs(self) -> None:
        """Forget the runs of the sequence; those of the other ones are kept."""
        self.runs = []
        self.runs_changed.emit()
        self.set_shown(None)

    def set_frame(self, frame: int) -> None:
        """Show a frame; numbers outside the sequence are brought into it."""
        if self.sequence is None:
            return
        frame = min(max(frame, 0), self.sequence.frame_count - 1)
        if frame != self.frame:
            self.frame = frame
            self.frame_changed.emit(frame)

    def set_point(self, point: int) -> None:
        """Select a point; -1 selects none."""
        if point != self.point:
            self.point = point
            self.point_changed.emit(point)

    def set_alignment(self, alignment: Alignment) -> None:
        """Choose how the ground truth is laid over the estimate."""
        if alignment is not self.alignment:
            self.alignment = alignment
            self.alignment_changed.emit(alignment)

    def set_theme(self, theme: Theme) -> None:
        """Choose the colors."""
        self.theme = theme
        self.theme_changed.emit(theme)


def _numbered(runs: list[Run], number: int | None) -> Run | None:
    return next((run for run in runs if run.number == number), None)


def _key(sequence: Sequence) -> Hashable:
    """Return what tells whether two sequences have the same tracks, read in the same way."""
    content = sequence.digest or id(sequence)
    return content, sequence.camera, tuple(sorted(sequence.reading.items()))
