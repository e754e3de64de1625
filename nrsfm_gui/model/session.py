"""What the application is about at this moment: the only mutable state, and the signals that tell of it.

Views never hold a session; `main_window` passes them values. Handlers change the session, the session says
what changed, and the window shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from core import Alignment, CameraModel, ExplicitWeights, Settings
from core.evaluation import Mirror
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.theme import DARK, Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from core import Iterate, Penalty, Sequence


@dataclass(eq=False, repr=False)
class _Kept:
    """What is shown again when a sequence is opened once more."""

    runs: list[Run] = field(default_factory=list)
    shown: Run | None = None
    made: int = 0  # the largest number that a run of it was given


class Session(QObject):
    """The sequence, the settings, the runs, and what of them is shown."""

    sequence_changed = pyqtSignal(object)  # Sequence
    settings_changed = pyqtSignal(object)  # Settings
    runs_changed = pyqtSignal()  # there are others: one was added, or some were dropped
    run_changed = pyqtSignal(object)  # Run: it has new records, a new update, or another state
    shown_changed = pyqtSignal(object)  # Run or None
    frame_changed = pyqtSignal(int)
    point_changed = pyqtSignal(int)  # the one of the selection that was chosen last, -1 for none
    selection_changed = pyqtSignal(object)  # (N,) tuple of points
    hidden_changed = pyqtSignal(object)  # frozenset of points
    frame_range_changed = pyqtSignal(object)  # (first, last) or None
    moment_changed = pyqtSignal(object)  # record of the shown run that is looked at, None for the newest
    compared_changed = pyqtSignal(object)  # Run or None
    alignment_changed = pyqtSignal(object)  # Alignment
    theme_changed = pyqtSignal(object)  # Theme

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sequence: Sequence | None = None
        self.settings = Settings()
        self.runs: list[Run] = []
        self.shown: Run | None = None
        self.compared: Run | None = None  # a second run beside the one that is shown
        self.moment: int | None = None
        self.frame = 0
        self.frame_range: tuple[int, int] | None = None  # first and last frame that playing loops over
        self.point = -1
        self.selection: tuple[int, ...] = ()  # ascending; holds `point`
        self.hidden: frozenset[int] = frozenset()
        self.alignment = Alignment()
        self.theme: Theme = DARK
        self._made = 0  # the largest number that a run of this sequence was given
        self._kept: dict[Hashable, _Kept] = {}  # of the sequences that were left
        self._derived_penalty: Penalty = self.settings.penalty  # the last one that was not explicit weights

    def set_sequence(self, sequence: Sequence) -> None:
        """Show a sequence, with the runs that it had when it was left."""
        before, key = self.sequence, _key(sequence)
        if before is not None:
            self._kept[_key(before)] = _Kept(self.runs, self.shown, self._made)
        kept = self._kept.pop(key, _Kept())
        self.sequence, self.runs, self.shown, self._made = sequence, kept.runs, None, kept.made
        if before is not None and _key(before) != key:
            self.set_settings(self.lasting_settings)  # while no run is shown that could follow them
        for run in kept.runs:
            run.sequence = sequence  # the same tracks, read again
        self.shown = kept.shown
        self.compared = self.moment = self.frame_range = None
        self.frame = 0
        self.point, self.selection, self.hidden = -1, (), frozenset()
        self.sequence_changed.emit(sequence)
        self.runs_changed.emit()
        self.shown_changed.emit(self.shown)
        self.compared_changed.emit(None)
        self.moment_changed.emit(None)
        self.frame_changed.emit(0)
        self.frame_range_changed.emit(None)
        self.point_changed.emit(-1)
        self.selection_changed.emit(())
        self.hidden_changed.emit(self.hidden)
        # Orthogonal tracks look the same of a shape and of its mirror image.
        orthogonal = sequence.camera is CameraModel.ORTHOGONAL
        self.set_alignment(Alignment(mirror=Mirror.AUTOMATIC if orthogonal else Mirror.OFF))

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
        self._made += 1
        number = None if warm_from is None else warm_from.number
        shown = None if self.shown is None else self.shown.number
        run = Run(self._made, self.sequence, settings, warm_from=number, shown_before=shown)
        if warm_from is not None:
            run.last = self.seen if warm_from is self.shown else warm_from.last
        self.runs.append(run)
        self.runs_changed.emit()
        self.set_shown(run)
        return run

    def take_run(self, run: Run) -> None:
        """Append a run of this sequence that was made elsewhere, under a new number, and show it."""
        self._made += 1
        run.number = self._made
        self.runs.append(run)
        self.runs_changed.emit()
        self.set_shown(run)

    def everything(self) -> tuple[tuple[Sequence, list[Run], Run | None], ...]:
        """Return the open sequence, its runs and the shown one; then those that were left with runs."""
        left = [(kept.runs[0].sequence, kept.runs, kept.shown) for kept in self._kept.values() if kept.runs]
        return tuple(left) if self.sequence is None else ((self.sequence, self.runs, self.shown), *left)

    def replace_everything(self, sequences: Iterable[tuple[Sequence, list[Run], Run | None]]) -> None:
        """Forget what is there for sequences with runs; `set_sequence` then shows one of them."""
        self._kept = {
            _key(sequence): _Kept(runs, shown, max((run.number for run in runs), default=0))
            for sequence, runs, shown in sequences
        }
        self.sequence, self.runs, self.shown, self._made = None, [], None, 0

    def with_run(self, number: int, act: Callable[[Run], object]) -> None:
        """Do something with a run of the open sequence, if it is still there.

        A list that hangs open, or a name that is being typed, may be of a run that was forgotten meanwhile.
        """
        run = _numbered(self.runs, number)
        if run is not None:
            act(run)

    def set_shown(self, run: Run | None) -> None:
        """Show a run of this session, or the bare sequence."""
        if run is not self.shown:
            self.shown = run
            self.set_moment(None)
            if run is self.compared:
                self.set_compared(None)
            self.shown_changed.emit(run)

    def set_compared(self, run: Run | None) -> None:
        """Lay a second run beside the one that is shown, or none; a run is not compared with itself."""
        run = None if run is self.shown else run
        if run is not self.compared:
            self.compared = run
            self.compared_changed.emit(run)

    def set_moment(self, record: int | None) -> None:
        """Look at the shown run as it was at a record of its history, or, with None, as it is."""
        if record != self.moment:
            self.moment = record
            self.moment_changed.emit(record)

    @property
    def seen(self) -> Iterate | None:
        """What is looked at: a kept moment of the run that is shown, or the newest."""
        if self.shown is None:
            return None
        if self.moment is None or not len(self.shown.moments):
            return self.shown.last
        return self.shown.moments.at(self.moment)[1]

    @property
    def seen_run(self) -> Run | None:
        """The run that is shown as it is looked at, in a copy that nobody writes any more."""
        return None if self.shown is None else self.shown.as_of(self.moment)

    def rename_run(self, run: Run, title: str) -> None:
        """Give a run a name of its own; "" takes it away."""
        run.title = title.strip()
        self.runs_changed.emit()

    def set_note(self, run: Run, note: str) -> None:
        """Write something down about a run."""
        run.note = note.strip()
        self.runs_changed.emit()

    def pin_run(self, run: Run, pinned: bool) -> None:
        """Keep a run when all are forgotten, or no longer."""
        run.pinned = pinned
        self.runs_changed.emit()

    def restore_run(self, run: Run) -> None:
        """Take a forgotten run of this sequence back into its place among the others."""
        if run not in self.runs:
            self.runs = sorted([*self.runs, run], key=lambda other: other.number)
            self.runs_changed.emit()

    def drop_run(self, run: Run) -> None:
        """Forget a run that came to nothing; where it is shown, the run before it is shown again."""
        for kept in self._kept.values():
            if run in kept.runs:
                kept.runs.remove(run)
                kept.shown = _numbered(kept.runs, run.shown_before) if kept.shown is run else kept.shown
        if run in self.runs:
            self.runs = [other for other in self.runs if other is not run]
            if self.compared is run:
                self.set_compared(None)
            if self.shown is run:
                self.set_shown(_numbered(self.runs, run.shown_before))
            self.runs_changed.emit()

    def set_frame(self, frame: int) -> None:
        """Show a frame; numbers outside the sequence are brought into it."""
        if self.sequence is None:
            return
        frame = min(max(frame, 0), self.sequence.frame_count - 1)
        if frame != self.frame:
            self.frame = frame
            self.frame_changed.emit(frame)

    def set_frame_range(self, frames: tuple[int, int] | None) -> None:
        """Let playing loop over some frames, first and last, or with None over all."""
        if frames is not None and self.sequence is not None:
            first, last = sorted(min(max(frame, 0), self.sequence.frame_count - 1) for frame in frames)
            frames = first, last
        if frames != self.frame_range:
            self.frame_range = frames
            self.frame_range_changed.emit(frames)

    def set_point(self, point: int) -> None:
        """Select one point; -1 selects none."""
        self.set_selection(() if point < 0 else (point,))

    def set_selection(self, points: Iterable[int], primary: int | None = None) -> None:
        """Select points; `primary` of them, or else the first, is the one whose numbers are shown."""
        selection = tuple(sorted({int(point) for point in points}))
        if primary not in selection:
            primary = self.point if self.point in selection else selection[0] if selection else -1
        assert primary is not None  # it was in the selection, or is now
        changed, self.selection = selection != self.selection, selection
        if primary != self.point:
            self.point = primary
            self.point_changed.emit(primary)
        if changed:
            self.selection_changed.emit(selection)

    def set_hidden(self, points: Iterable[int]) -> None:
        """Leave points out of the views."""
        hidden = frozenset(int(point) for point in points)
        if hidden != self.hidden:
            self.hidden = hidden
            self.hidden_changed.emit(hidden)

    def set_alignment(self, alignment: Alignment) -> None:
        """Choose how the ground truth is laid over the estimate."""
        if alignment != self.alignment:
            self.alignment = alignment
            self.alignment_changed.emit(alignment)

    def set_theme(self, theme: Theme) -> None:
        """Choose the colors."""
        self.theme = theme
        self.theme_changed.emit(theme)


def _numbered(runs: list[Run], number: int | None) -> Run | None:
    return next((run for run in runs if run.number == number), None)


def _key(sequence: Sequence) -> Hashable:
    """Return what tells whether two sequences are the same, read in the same way."""
    file = sequence.digest or id(sequence)
    return file, sequence.content, tuple(sorted(sequence.reading.items()))
