"""The state of the application: the only mutable state, and the signals of its changes.

Views never hold a session. A controller passes values from the session to its view, and changes the session
as the view requests.
"""

from __future__ import annotations

import time
from bisect import insort
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from core import Alignment, CameraModel, ExplicitWeights, Iterate, Penalty, Sequence, Settings
from core.evaluation import Mirror
from core.foundation import Bools
from nrsfm_gui.model.appearance import Appearance, appearance_change
from nrsfm_gui.model.background import Background
from nrsfm_gui.model.excluded import excluded, with_excluded
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.model.run import Run, RunAdditions
from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.model.undo import UndoChange, UndoEntry, UndoStack, settings_change, values_before

_T = TypeVar("_T")

COMPARE_MODES = {"overlay": "Overlay", "side": "Side by side", "difference": "Difference"}
OWN = "own"  # the shape of a run itself, not another solution that it holds
INPUT = "a file of what is open"
SOURCES = {"rotations": "the file of the rotations", "intrinsics": "the file of the intrinsics"}


@dataclass(eq=False, repr=False)
class OpenSequence:
    """A sequence that is open or was left, with what is shown again when it is opened once more."""

    sequence: Sequence
    settings: Settings | None = None  # None: it was not open yet
    runs: list[Run] = field(default_factory=list)
    shown: Run | None = None
    rule: Penalty | None = None  # the last one that was not explicit weights
    made: int = 0  # the largest number that a run of it was given
    change: str = ""  # of its file since a session stored it, a sentence


class Session(QObject):
    """The sequence, the settings, the runs, what of them is shown, and how."""

    sequence_changed = pyqtSignal(object)  # Sequence
    settings_changed = pyqtSignal(object)  # Settings
    runs_changed = pyqtSignal()  # there are others: one was added, or some were dropped
    run_changed = pyqtSignal(object)  # Run: it has new records, a new iterate, or another state
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
    appearance_changed = pyqtSignal(object)  # Appearance
    background_changed = pyqtSignal(object)  # Background or None
    live_changed = pyqtSignal(bool)  # whether a run follows changes of the settings
    compare_mode_changed = pyqtSignal(str)
    sweep_changed = pyqtSignal(object)  # Path
    undo_requested = pyqtSignal()  # what is still going on is to be recorded first
    changed = pyqtSignal()  # anything: once for all changes of an iteration of the event loop

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.notifier = Notifier(self)
        self.sequence: Sequence | None = None
        self.settings = Settings()
        self.runs: list[Run] = []
        self.shown: Run | None = None
        self.compared: Run | None = None  # the run that is compared with the one that is shown
        self.moment: int | None = None
        self.frame = 0
        self.frame_range: tuple[int, int] | None = None  # first and last frame that playing loops over
        self.point = -1
        self.selection: tuple[int, ...] = ()  # ascending; holds `point`
        self.hidden: frozenset[int] = frozenset()
        self.alignment = Alignment()
        self.theme: Theme = DARK
        self.appearance = Appearance()
        self.background: Background | None = None  # pictures behind the tracks
        self.live = True
        # Which solution of the compared run it is, or a key of its `Iterate.alternatives`.
        self.compared_solution = OWN
        self.compare_mode = "overlay"  # how a second run is shown, a key of COMPARE_MODES
        self.sweep: Path | None = None  # folder of the sweep whose window was opened last
        self.undo_stack = UndoStack()
        self._files: dict[str, set[Path]] = {}  # that were read, by `Sequence.content`
        self.edits = 0  # how often runs or settings have changed, not what of them is looked at
        self._made = 0  # the largest number that a run of this sequence was given
        self._kept: dict[Hashable, OpenSequence] = {}  # of the sequences that were left
        self.rule: Penalty = self.settings.penalty  # the last one that was not explicit weights
        self._backgrounds: dict[str, Background] = {}  # by the digest of the sequences that were left
        self._change = QTimer(self)  # no Debounce: the model imports nothing of the engine
        self._change.setSingleShot(True)
        self._change.timeout.connect(self.changed)
        for edited in (self.runs_changed, self.settings_changed):
            edited.connect(self._count_edit)
        for name, signal in vars(Session).items():
            if isinstance(signal, pyqtSignal) and name.endswith("_changed"):
                getattr(self, name).connect(self._schedule_changed)

    def set_sequence(self, sequence: Sequence, settings: Settings | None = None) -> None:
        """Show a sequence, with the runs and the parameters that it had when it was left."""
        before, key, edits = self.sequence, _key(sequence), self.edits
        self._kept |= {_key(left.sequence): left for left in self._present}
        held, kept = key in self._kept, self._kept.pop(key, OpenSequence(sequence))
        self.sequence, self.runs, self.shown, self._made = sequence, kept.runs, None, kept.made
        first = self.settings
        if before is not None or first == Settings():  # the recommended preset, with a rank that it allows
            first = Settings(rank=min(Settings().rank, sequence.frame_count, 3 * sequence.point_count))
        self.set_settings(kept.settings or settings or first)  # while no run is shown that could follow them
        self.rule = kept.rule or self.rule
        for run in kept.runs:
            run.sequence = sequence  # the same tracks, read again
        self.shown = kept.shown
        self.compared = self.moment = self.frame_range = None
        self.frame = 0
        self.point, self.selection, self.hidden = -1, (), frozenset()
        self.undo_stack.clear()
        self.sequence_changed.emit(sequence)
        self.runs_changed.emit()
        for name in ("shown", "compared", "moment", "frame", "frame_range", "point", "selection", "hidden"):
            getattr(self, f"{name}_changed").emit(getattr(self, name))
        self.set_alignment(self.first_alignment, undoable=False)
        if not sequence.digest or before is None or sequence.digest != before.digest:
            if before is not None and before.digest and self.background is not None:
                self._backgrounds[before.digest] = self.background
            background = self._backgrounds.pop(sequence.digest, None)
            self.set_background(background or Background.of_sequence(sequence))
        if held or sequence.source is not None:  # else it is tracks that only the session has
            self.edits = edits

    def set_settings(self, settings: Settings, *, undoable: bool = True) -> None:
        """Set other parameters for the next run (and, through `run_control`, for the present one)."""
        if not isinstance(settings.penalty, ExplicitWeights):
            self.rule = settings.penalty
        if settings != self.settings:
            if undoable:
                change = settings_change(self.settings, settings, partial(self.set_settings, undoable=False))
                self.undo_stack.add(change, time.perf_counter())
            before, self.settings = self._suited_mirror(), settings
            self.settings_changed.emit(settings)
            if self._suited_mirror() is not before:
                self.set_alignment(replace(self.alignment, mirror=self._suited_mirror()), undoable=False)

    @property
    def first_alignment(self) -> Alignment:
        """The alignment that a sequence is shown in at first."""
        return Alignment(mirror=self._suited_mirror())

    def _suited_mirror(self) -> Mirror:
        return Mirror.OFF if self.sequence is None else suited_mirror(self.sequence, self.settings)

    def undo(self) -> None:
        """Undo the last change of the parameters or of the view, or the last removal of runs."""
        self.undo_requested.emit()
        entry = self.undo_stack.undo()
        if entry is None:
            self.notifier.show_status("Nothing is left to undo")
            return
        what = entry.description
        if isinstance(entry, UndoEntry):
            self.notifier.clear()  # one of the messages has a button that undoes the same
            entry.undo()
        else:
            if isinstance(entry.before, Settings):
                ticks = [] if self.shown is None else self.shown.history.ticks
                followed = any(tick.before == entry.before for tick in ticks)
                curve = "; a triangle on the loss curve leads to the run as it was then" if followed else ""
                what = f"back to {values_before(entry.before, entry.after)}{curve}"
            entry.apply(entry.before)
        self.notifier.show_status(f"Undone: {what}")

    def redo(self) -> None:
        """Redo what was undone last."""
        entry = self.undo_stack.redo()
        if entry is None:
            self.notifier.show_status("Nothing was undone")
            return
        if isinstance(entry, UndoEntry):
            entry.redo()
        else:
            entry.apply(entry.after)
        self.notifier.show_status(f"Done again: {entry.description}")

    def record_view_change(
        self, part: str, description: str, before: _T, after: _T, apply: Callable[[_T], object]
    ) -> None:
        """Let a change of what is seen be undone."""
        change = UndoChange(frozenset({part}), before, after, apply, lambda *_: description)
        self.undo_stack.add(change, time.perf_counter())

    def report_removal(self, sentence: str, entry: UndoEntry) -> None:
        """Report what was removed, and let it be restored by a button and by the key of undo."""
        self.undo_stack.push(entry)

        def undo() -> None:
            self.undo_stack.drop(entry)
            entry.undo()

        self.notifier.inform(sentence, action=("Undo", undo))

    def is_open(self, sequence: Sequence) -> bool:
        """Return whether a sequence is the open one, read again in the same way."""
        return self.sequence is not None and _key(self.sequence) == _key(sequence)

    def settings_of(self, sequence: Sequence) -> Settings | None:
        """Return the parameters of a sequence that is open or was left, None of any other."""
        kept = self._opened_as(sequence)
        return None if kept is None else kept.settings

    def add_files(self, sequences: Iterable[Sequence], files: Iterable[Path]) -> None:
        """Note files that were read for some sequences: tracks, pictures, results, triangulations."""
        found = [file.absolute() for file in files]
        for sequence in sequences:
            self._files.setdefault(sequence.content, set()).update(found)

    def inputs(self) -> dict[Path, str]:
        """Return the files that no export may replace, each with what a sentence calls it."""
        uses: dict[Path, str] = {}
        for each in self.everything():
            own = {file for file in (each.sequence.source, each.sequence.video) if file is not None}
            uses |= dict.fromkeys(own | self._files.get(each.sequence.content, set()), INPUT)
            for name, use in SOURCES.items():
                source = getattr(each.settings, name, None)
                if isinstance(source, Path):
                    uses[source] = use
        return uses

    @property
    def transferable_settings(self) -> Settings:
        """The settings without what suits one sequence only.

        That is mirrored frames, hidden observations, how it stands, the camera model, a given K and explicit
        weights; the penalty before these takes their place.
        """
        changes: dict[str, Any] = {"mirror": None, "hide": None, "upright": None, "camera_model": "auto"}
        if isinstance(self.settings.penalty, ExplicitWeights):
            changes["penalty"] = self.rule
        if isinstance(self.settings.intrinsics, tuple):
            changes["intrinsics"] = "auto"
        return self.settings.with_changes(**changes)

    @property
    def excluded(self) -> Bools | None:
        """(F, P) the observations that the settings hide from the solver, None where there are none."""
        return None if self.sequence is None else excluded(self.sequence, self.settings)

    def exclude(self, mask: Bools) -> bool:
        """Hide these observations (F, P) from the solver, and no others; False where a frame has no other."""
        assert self.sequence is not None  # whose observations they are
        visible = self.sequence.visible
        emptied = visible.any(axis=1) & ~(visible & ~mask).any(axis=1)
        if emptied.any():
            frame = f"frame {emptied.argmax() + 1}"
            self.notifier.warn(f"Nothing is hidden: {frame} would be left without any point.")
            return False
        self.set_settings(with_excluded(self.settings, mask))
        return True

    def add_run(self, settings: Settings, *, warm_from: Run | None = None) -> Run:
        """Append a run of the current sequence and show it."""
        assert self.sequence is not None  # there is no Run button without one
        number = None if warm_from is None else warm_from.number
        shown = None if self.shown is None else self.shown.number
        run = Run(0, self.sequence, settings, warm_from=number, shown_before=shown)
        if warm_from is not None:
            run.last = self.seen if warm_from is self.shown else warm_from.last
        self.append_run(run)
        return run

    def append_run(self, run: Run) -> None:
        """Append a run of this sequence under a new number, and show it."""
        self._made += 1
        run.number = self._made
        self.runs.append(run)
        self.runs_changed.emit()
        self.set_shown(run)

    def everything(self, *, without_runs: bool = False) -> tuple[OpenSequence, ...]:
        """Return each sequence: the open one, then those that were left.

        One that was left without runs only where it is asked for, or no file has it, as tracks of a video.
        """
        left = (
            kept for kept in self._kept.values() if without_runs or kept.runs or kept.sequence.source is None
        )
        return (*self._present, *left)

    @property
    def _present(self) -> tuple[OpenSequence, ...]:
        """The open sequence as it is now, if there is one."""
        if self.sequence is None:
            return ()
        return (OpenSequence(self.sequence, self.settings, self.runs, self.shown, self.rule, self._made),)

    def _opened_as(self, sequence: Sequence) -> OpenSequence | None:
        """Return a sequence that is open or was left, and was read in the same way."""
        key = _key(sequence)
        return next((each for each in self.everything(without_runs=True) if _key(each.sequence) == key), None)

    @property
    def all_runs(self) -> list[Run]:
        """The runs of all sequences."""
        return [run for each in self.everything() for run in each.runs]

    def replace_everything(self, sequences: Iterable[OpenSequence]) -> None:
        """Forget what is there for other sequences; `set_sequence` then shows one."""
        self._kept = {_key(each.sequence): each for each in sequences}
        for each in self._kept.values():
            each.made = max((run.number for run in each.runs), default=0)
        self.sequence, self.runs, self.shown, self._made = None, [], None, 0

    def remove_sequence(self, sequence: Sequence) -> Callable[[], None]:
        """Forget a sequence that was left, with its runs; what is returned restores it."""
        key = _key(sequence)
        kept = self._kept.pop(key, None)
        self.runs_changed.emit()

        def restore() -> None:
            if kept is not None:
                self._kept.setdefault(key, kept)
                self.runs_changed.emit()

        return restore

    def runs_of(self, sequence: Sequence) -> list[Run]:
        """Return the runs of a sequence that is open or was left."""
        return next((each.runs for each in self.everything() if each.sequence is sequence), [])

    def with_run(
        self, number: int, act: Callable[[Run], object], *, sequence: Sequence | None = None
    ) -> None:
        """Do something with a run of the open sequence, or of one that was left, if it is still there."""
        run = _numbered(self.runs if sequence is None else self.runs_of(sequence), number)
        if run is not None:
            act(run)

    def set_shown(self, run: Run | None) -> None:
        """Show a run of this session, or the bare sequence; where it was compared, the two change places."""
        if run is not self.shown:
            before, self.shown = self.shown, run
            self.set_moment(None)
            if run is not None and run is self.compared:
                self.set_compared(before if before in self.runs else None)
            self.shown_changed.emit(run)

    def look_at(self, run: Run | None, settings: Settings, moment: int | None) -> None:
        """Show a run, if it is still there, at a moment and beside parameters; that is no edit."""
        edits = self.edits
        self.set_shown(run if run in self.runs else None)
        self.set_settings(settings, undoable=False)
        self.set_moment(moment)
        self.edits = edits

    def set_compared(self, run: Run | None, solution: str = OWN) -> None:
        """Compare a second run, or another solution of the shown one, with what is shown; None: nothing."""
        run = None if run is self.shown and solution == OWN else run
        if run is not self.compared or (run is not None and solution != self.compared_solution):
            self.compared, self.compared_solution = run, solution
            self.compared_changed.emit(run)

    def set_moment(self, record: int | None) -> None:
        """Look at the shown run as it was at a record of its history, or, with None, as it is."""
        self._set("moment", record)

    @property
    def active_run(self) -> Run | None:
        """The run that is being worked on, running or paused."""
        return next((run for run in reversed(self.runs) if run.state.alive), None)

    @property
    def seen(self) -> Iterate | None:
        """What is looked at: a kept moment of the run that is shown, or the newest."""
        if self.shown is None:
            return None
        if self.moment is None or not len(self.shown.snapshots):
            return self.shown.last
        return self.shown.snapshots.at(self.moment)[1]

    @property
    def seen_compared(self) -> Iterate | None:
        """What is looked at of the compared run."""
        last = None if self.compared is None else self.compared.last
        return None if last is None else last.alternatives.get(self.compared_solution, last)

    @property
    def seen_run(self) -> Run | None:
        """The run that is shown as it is looked at, in a copy that does not change any more."""
        if self.shown is None:
            return None
        return replace(self.shown.as_of(self.moment), last=self.seen)

    def change_run(self, run: Run, **changes: Unpack[RunAdditions]) -> None:
        """Change what a user adds to a run."""
        for name, value in changes.items():
            setattr(run, name, value)
        self.runs_changed.emit()

    def report_run(self, run: Run, *, stored: bool = True) -> None:
        """Signal that a run has new records, a new iterate, or another state; `stored`: by a session file."""
        if stored and run in self.all_runs:
            self.edits += 1  # one that was stopped by opening another session still ends
        self.run_changed.emit(run)

    def restore_run(self, run: Run) -> None:
        """Restore a forgotten run in its place among the others of its sequence, if that is still there."""
        kept = self._opened_as(run.sequence)
        if kept is not None and run not in kept.runs:
            run.sequence = kept.sequence
            insort(kept.runs, run, key=lambda other: other.number)
            self.runs_changed.emit()

    def withdraw_run(self, run: Run) -> None:
        """Forget a run that has done nothing: the next one gets its number."""
        if run in self.runs and run.number == self._made:
            self._made -= 1
        self.drop_run(run)

    def drop_run(self, run: Run) -> None:
        """Forget a run; where it is shown, the run before it is shown again."""
        for each in self.everything():
            if run not in each.runs:
                continue
            each.runs.remove(run)
            if each.shown is run:
                each.shown = _numbered(each.runs, run.shown_before)
            if self.compared is run:
                self.set_compared(None)
            if self.shown is run:
                self.set_shown(each.shown)
            self.runs_changed.emit()

    def set_frame(self, frame: int) -> None:
        """Show a frame; numbers outside the sequence are brought into it."""
        if self.sequence is not None:
            self._set("frame", min(max(frame, 0), self.sequence.frame_count - 1))

    def set_frame_range(self, frames: tuple[int, int] | None) -> None:
        """Let playing loop over some frames, first and last, or with None over all."""
        if frames is not None and self.sequence is not None:
            first, last = sorted(min(max(frame, 0), self.sequence.frame_count - 1) for frame in frames)
            frames = first, last
        self._set("frame_range", frames)

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
        self._set("point", primary)
        if changed:
            self.selection_changed.emit(selection)

    def set_hidden(self, points: Iterable[int], *, undoable: bool = True) -> None:
        """Leave points out of the views."""
        hidden = frozenset(int(point) for point in points)
        description = f"{len(hidden)} points left out" if hidden else "all points shown"
        self._change_view("hidden", hidden, "hidden points", description, undoable=undoable)

    def set_alignment(self, alignment: Alignment, *, undoable: bool = True) -> None:
        """Choose how the ground truth is laid over the estimate."""
        description = f"alignment {alignment.label()}"
        self._change_view("alignment", alignment, "alignment", description, undoable=undoable)

    def set_theme(self, theme: Theme) -> None:
        """Choose the colors."""
        self.theme = theme
        self.theme_changed.emit(theme)

    def set_appearance(self, appearance: Appearance, *, undoable: bool = True) -> None:
        """Choose layers, colors, trails, mesh and sizes."""
        part, description = appearance_change(self.appearance, appearance)
        self._change_view("appearance", appearance, part, description, undoable=undoable)

    def change_appearance(self, *, undoable: bool = True, **changes: Any) -> None:
        """Choose some fields of the appearance."""
        self.set_appearance(self.appearance.changed(**changes), undoable=undoable)

    def set_background(self, background: Background | None) -> None:
        """Put pictures behind the tracks, or none."""
        self._set("background", background)

    def set_live(self, live: bool) -> None:
        """Let a run follow every change of weights, eta and rank, or none."""
        self._set("live", live)

    def set_sweep(self, folder: Path) -> None:
        """Note the sweep whose runs are on view."""
        self._set("sweep", folder)

    def set_compare_mode(self, mode: str) -> None:
        """Choose how a second run is shown with the first, by a key of COMPARE_MODES."""
        self._set("compare_mode", mode)

    def _set(self, name: str, value: object) -> None:
        """Set an attribute, and emit its signal where it has changed."""
        if value != getattr(self, name):
            setattr(self, name, value)
            getattr(self, f"{name}_changed").emit(value)

    def _change_view(self, name: str, value: object, part: str, description: str, *, undoable: bool) -> None:
        """Set an attribute of what is seen, and let that be undone."""
        before = getattr(self, name)
        if undoable and value != before:
            self.record_view_change(part, description, before, value, partial(self._set, name))
        self._set(name, value)

    def _count_edit(self, *_: object) -> None:
        self.edits += 1

    def _schedule_changed(self, *_: object) -> None:
        if not self._change.isActive():
            self._change.start(0)


def suited_mirror(sequence: Sequence, settings: Settings) -> Mirror:
    """Return whether errors allow a mirror image: orthogonal tracks are those of both."""
    orthogonal = settings.camera_of(sequence.camera) is CameraModel.ORTHOGONAL
    return Mirror.AUTOMATIC if orthogonal else Mirror.OFF


def _numbered(runs: list[Run], number: int | None) -> Run | None:
    return next((run for run in runs if run.number == number), None)


def _key(sequence: Sequence) -> Hashable:
    """Return a key that is equal for equal sequences that were read in the same way."""
    file = sequence.digest or id(sequence)
    return file, sequence.content, tuple(sorted(sequence.reading.items()))
