"""Opening sequences: from a dialog, a drop, the list of recent ones, the bundled samples or the tree.

A file with tracks that is not clear is not opened but reported by `inspected`, with what was understood of
it: the import dialog asks, and opens it by `open_imported`. How a file was imported is stored, and it is read
so again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtWidgets import QWidget

from core import (
    CameraModel,
    HistoryEntry,
    InputError,
    Result,
    Sequence,
    SequenceEntry,
    bundled_samples,
    list_sequences,
    load_result,
    read_sequence,
)
from core.cameras import to_pixels
from core.data import GROUND_TRUTH, VIDEO_SUFFIXES
from core.foundation import Phase, phase_text
from core.io.readers import (
    FileContents,
    challenge_file,
    entry_of,
    inspect_file,
    installed_readers,
    is_sequence_folder,
    named_path,
    names_in,
    recording_files,
    refusing_damage,
    resolve,
    sample_name,
)
from core.reconstruction import RECORDS, start_from
from core.tracking import PICTURE_SUFFIXES, list_pictures, matching_pictures
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.model.app_store import AppStore, StoredImport
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import Session
from nrsfm_gui.sessions.session_file import SUFFIX, SavedSession, StoredSequence, as_contained, read_session
from nrsfm_gui.text.import_text import asks_for_camera, without_options
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path

# What was listed, and what was read.
Found: TypeAlias = "Sequence | FileContents | SavedSession | Run | NoSequence"
Read = tuple[tuple["SequenceEntry", ...], Found]
Then = Callable[[], object]
SAMPLE = "sample:"
RUNS_SUFFIX = ".jsonl"  # of the files of a sweep
RESULT_ARRAYS = {"B", "C", "weights", "meta"}  # which no sequence file has
FIRST_SAMPLE = f"{SAMPLE}balloon/circle"


def file_filters() -> str:
    """Return the filters of a dialog that opens files, with those of the readers that are registered."""
    readers = installed_readers()
    tracks = " ".join(f"*{suffix}" for suffix in readers)
    formats = [f"{reader.label} (*{suffix})" for suffix, reader in readers.items()]
    return ";;".join(
        (
            f"All that can be opened ({tracks} *.nrsfm *.jsonl)",
            f"Sequences ({tracks})",
            *formats,
            "Sessions (*.nrsfm)",
            "Results (*.npz)",
            "Runs of a sweep (*.jsonl)",
            "All files (*)",
        )
    )


@dataclass(frozen=True)
class NoSequence:
    """The folder of a sweep; or a video, a folder or a pattern of pictures, to follow points through."""

    path: Path
    is_video: bool


class SequenceOpening(QObject):
    """Reads files in threads of their own, and signals what they hold."""

    started = pyqtSignal(str, str)  # what is being read: its path, and its name in words
    # It has been read; how it was imported, and whether the user has answered that now, not some time before.
    opened = pyqtSignal(object, object, bool)
    # A tuple of `SequenceEntry`: what was found in all that was opened, in that order.
    listed = pyqtSignal(object)
    # The file was a session, or a result in the form of a run; None for one that is no recent file.
    session_read = pyqtSignal(object, object)
    result_read = pyqtSignal(object, object)
    sweep_found = pyqtSignal(object)  # the folder holds the runs of a sweep
    video_found = pyqtSignal(object)  # the path is a video or pictures, whose points are to be followed
    # All of what was asked for is on view: of a session or a result with its runs and parameters, too.
    shown = pyqtSignal()
    # A file was not opened, because it is not clear or its import was asked for; and how it was read.
    inspected = pyqtSignal(object, object)
    given_up = pyqtSignal()  # what `inspected` has reported is not opened
    failed = pyqtSignal(str, str)  # a sentence, and the traceback of a defect

    def __init__(self, session: Session, store: AppStore, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._store, self._parent = session, store, parent
        self._jobs = Jobs(self)
        self._newest = 0  # number of what was asked for last
        self.entries: tuple[SequenceEntry, ...] = ()
        # found with the inspected file; listed once it is opened
        self._pending: tuple[SequenceEntry, ...] = ()
        self.asks = True
        self._then: Then | None = None  # of what was asked for last

    @property
    def busy(self) -> bool:
        """Whether something is being read."""
        return bool(self._jobs)

    def ask(self) -> None:
        """Ask for a file or a folder, and open it."""
        title = "Open a sequence, a session, a result, or a folder of sequences or of a sweep"
        ask_for_path(
            self._parent, title, self.open, kind=PathKind.ANY, start=self.folder, filters=file_filters()
        )

    def open(
        self, path: str | Path, reading: Mapping[str, Any] | None = None, *, then: Then | None = None
    ) -> None:
        """Open a file, a folder (its sequences are listed, the first is shown) or "sample:NAME".

        `then` is called once all of it is on view.
        """
        known = None if reading else self._store.imported(Path(path))
        how = StoredImport(reading or {}) if known is None else known
        asks = self.asks and known is None
        self._start(path, how, lambda: _read(path, how.reading, tracks=asks), asks=asks, then=then)

    def open_result(self, path: Path, *, title: str, name: str, then: Then) -> None:
        """Open a result as a run with a title, which is no recent file; its name says what is read."""

        def read() -> Read:
            run = read_opened_result(path)
            run.title = title
            return _entries_of_source(run.sequence), run

        self._start(path, StoredImport(), read, recent=False, name=name, then=then)

    def inspect(self, path: str | Path) -> None:
        """Report by `inspected` what is understood of a file, even where it is clear."""
        how = self._store.imported(Path(path)) or StoredImport()
        self._start(path, how, lambda: ((), inspect_file(path, **how.reading)), imports=True)

    def open_imported(self, sequence: Sequence, how: StoredImport) -> None:
        """Open a sequence that was inspected, and remember how."""
        assert sequence.source is not None  # it was read from a file
        self._store.set_imported(sequence.source, how)
        found = {entry.file for entry in (*self.entries, *self._pending) if entry.path_name}
        own = () if sequence.source in found else (entry_of(sequence),)
        self.list_entries((*self._pending, *own))
        self._show(sequence, sequence.source, how, answered=True)

    def open_sequence(self, sequence: Sequence) -> None:
        """Open a sequence that is in memory already."""
        self.opened.emit(sequence, StoredImport(), False)

    def samples(self) -> list[tuple[str, str, str]]:
        """Return title, tip and path of the perspective tracks of every bundled sample."""
        return [
            (
                f"{entry.object_name}, {entry.path_name}",
                f"{entry.frames} frames of {entry.points} points",
                f"{SAMPLE}{entry.object_name}/{entry.path_name}",
            )
            for entry in bundled_samples()
            if entry.camera is CameraModel.PERSPECTIVE
        ]

    def open_entry(self, entry: SequenceEntry) -> None:
        """Open one sequence of a list; where its file is gone, as the session still has it."""
        held = (each.sequence for each in self._session.everything(without_runs=True))
        sequence = next((each for each in held if each.source == entry.file), None)
        if sequence is not None and not os.path.exists(entry.file):
            self.open_sequence(sequence)
            self._session.notifier.warn(as_contained(f"{entry.file} is not there any more", sequence))
            return
        known = self._store.imported(entry.file)
        how, asks = known or StoredImport(), self.asks and known is None
        self._start(entry.file, how, lambda: ((), _found_in(entry.file, how.reading)), asks=asks)

    def shut_down(self) -> None:
        """Wait for what is being read."""
        self._jobs.wait()

    def _start(
        self,
        path: str | Path,
        how: StoredImport,
        function: Callable[[], Read],
        *,
        asks: bool = False,
        imports: bool = False,
        recent: bool = True,
        name: str = "",
        then: Then | None = None,
    ) -> None:
        """Read in a job; with `asks` what is not clear is inspected, with `imports` what is clear, too."""
        number = self._newest = self._newest + 1
        what, self._then = str(path), then
        self.started.emit(what, name or what)

        def read(_job: Job) -> tuple[Read, list[Path]]:
            with recording_files() as files:
                found = function()
                for sequence in _sequences_of(found):
                    _ = sequence.content  # hashed here: 0.1 s for 99 frames of 28 880 points
            return found, files

        def finish(answer: tuple[Read, list[Path]]) -> None:
            if number != self._newest:  # another one was asked for since
                return
            (entries, found), files = answer
            saved = [Path(what).absolute()] if isinstance(found, SavedSession) else []  # may be saved again
            self._session.add_files(_sequences_of(answer[0]), (file for file in files if file not in saved))
            if isinstance(found, FileContents) and (imports or _is_question(found, how.reading, asks=asks)):
                self._pending = entries
                self.inspected.emit(found, how)
            elif isinstance(found, FileContents) and found.sequence is None:
                fail(found.problem, "")
            else:
                if entries:
                    self.list_entries(entries)
                self._show_found(found, what, how, recent=recent)

        def fail(sentence: str, details: str) -> None:
            if number == self._newest:
                self._then = None
                self.failed.emit(sentence, details)

        self._jobs.start(Job(read, done=finish, failed=fail))

    def _show_found(self, found: Found, what: str, how: StoredImport, *, recent: bool) -> None:
        """Signal what was read."""
        if isinstance(found, SavedSession):
            self.session_read.emit(found, Path(what))
        elif isinstance(found, Run):
            self.result_read.emit(found, Path(what) if recent else None)
        elif isinstance(found, NoSequence):
            self._store.add_recent(found.path)
            (self.video_found if found.is_video else self.sweep_found).emit(found.path)
        else:
            sequence = found.sequence if isinstance(found, FileContents) else found
            assert sequence is not None  # refused before
            self._show(sequence, None if what.startswith(SAMPLE) else Path(what), how)
            if isinstance(found, FileContents) and found.remarks and not how.reading:
                self._session.notifier.inform(". ".join(map(without_options, found.remarks)))
            return
        self._end()

    def _show(
        self, sequence: Sequence, recent: Path | None, how: StoredImport, *, answered: bool = False
    ) -> None:
        """Signal an opened sequence and what was answered for it."""
        if recent is not None:
            self._store.add_recent(recent)
        self.opened.emit(sequence, how, answered)
        self._end()

    def _end(self) -> None:
        """Signal that all is on view, and call what follows that."""
        then, self._then = self._then, None
        self.shown.emit()
        if then is not None:
            then()

    def list_entries(self, entries: Iterable[SequenceEntry]) -> None:
        """Add sequences to the list; one that was listed before stays in its place."""
        known = {entry.file: entry for entry in self.entries}
        self._set_entries((known | {entry.file: entry for entry in entries}).values())

    def remove_entries(self, entries: Collection[SequenceEntry]) -> Callable[[], None]:
        """Remove sequences from the list; what is returned restores them in their places."""
        before = self.entries
        self._set_entries(entry for entry in before if entry not in entries)

        def restore() -> None:
            after, self.entries = self.entries, before
            self.list_entries(after)

        return restore

    def _set_entries(self, entries: Iterable[SequenceEntry]) -> None:
        self.entries = tuple(entries)
        self.listed.emit(self.entries)

    @property
    def folder(self) -> str:
        """The folder of what was opened last, "" where nothing was."""
        recent = self._store.recent()
        return str(recent[0].parent) if recent else ""


def _read(what: str | Path, reading: Mapping[str, Any], *, tracks: bool) -> Read:
    """Return what a path holds and its first readable sequence; for a sample, all samples."""
    path = resolve(Path(what))
    if str(what).startswith(SAMPLE) and path.is_file() and not is_video(path):
        return bundled_samples(), read_sequence(path, **reading)
    folder = _sweep_folder(path)
    if folder is not None:
        return (), NoSequence(folder, is_video=False)
    if tracks and is_video(path):
        return (), NoSequence(path.absolute(), is_video=True)
    if path.suffix.lower() == SUFFIX:
        session = read_session(path)
        places = [named_path(place, path) for place in session.listed]
        found = [entry for place in places if place is not None for entry in _entries_in(place)]
        found += (entry for saved in session.sequences for entry in _entries_of_source(saved.sequence))
        return tuple(found), session
    if is_result(path):
        result = read_opened_result(path)
        return _entries_of_source(result.sequence), result
    if is_sequence_folder(path) or (path.is_file() and challenge_file(path) is None):
        contents = _found_in(path, reading)
        assert isinstance(contents, FileContents)  # as of every file that is none of the Challenge
        listed = () if contents.sequence is None else (entry_of(contents.sequence),)
        return listed, contents
    entries = list_sequences(path)
    readable = [entry for entry in entries if not entry.problem]
    if not readable:
        raise InputError(entries[0].problem)
    asked = [entry for entry in readable if entry.camera and entry.camera.value == reading.get("camera")]
    entry = (asked or readable)[0]
    return entries, _found_in(entry.file, reading)


def _sweep_folder(path: Path) -> Path | None:
    """Return the folder of a sweep, that or a file of its runs; None of any other path."""
    folder = path.parent if path.suffix.lower() == RUNS_SUFFIX else path
    if not (folder / f"runs{RUNS_SUFFIX}").is_file():
        return None
    from core.experiments.sweep.rows import is_sweep_folder

    return folder.absolute() if is_sweep_folder(folder) else None


def is_video(path: Path) -> bool:
    """Return whether a path is a video, a folder of pictures and no sequence, or a pattern of pictures."""
    if not path.is_dir():
        return path.suffix.lower() in VIDEO_SUFFIXES or bool(matching_pictures(path, PICTURE_SUFFIXES))
    if is_sequence_folder(path) or not list_pictures(path, PICTURE_SUFFIXES):
        return False
    try:
        return all(entry.problem for entry in list_sequences(path))
    except InputError:
        return True


def _found_in(file: Path, reading: Mapping[str, Any]) -> Sequence | FileContents:
    """Return what is understood of a file, or the sequence of one that can be understood in one way only."""
    if challenge_file(file) is not None and not reading:
        return read_sequence(file)
    contents = inspect_file(file, **reading)
    if contents.sequence is None and not (contents.arrays or contents.columns or contents.individuals):
        raise InputError(contents.problem)
    return contents


def _is_question(contents: FileContents, reading: Mapping[str, Any], *, asks: bool) -> bool:
    """Return whether the user is to be asked how a file is read, or by what camera its tracks were filmed."""
    sequence = contents.sequence
    if not asks:
        return False
    unknown = sequence is None or (asks_for_camera(sequence) and "camera" not in reading)
    return unknown or not contents.clear


def _sequences_of(read: Read) -> list[Sequence]:
    """Return the sequences that were read."""
    found = read[1]
    if isinstance(found, NoSequence):
        return []
    if isinstance(found, SavedSession):
        return [saved.sequence for saved in found.sequences]
    only = found if isinstance(found, Sequence) else found.sequence
    return [] if only is None else [only]


def _entries_of_source(sequence: Sequence) -> tuple[SequenceEntry, ...]:
    """Return what opening the file of a sequence would list, nothing where it is gone."""
    if sequence.source is None:
        return ()
    if sequence.reading and sequence.source.exists():
        return (entry_of(sequence),)  # without its options the file may not be clear
    return bundled_samples() if sample_name(sequence.source) is not None else _entries_in(sequence.source)


def _entries_in(place: Path) -> tuple[SequenceEntry, ...]:
    """Return the sequences of a `SequenceEntry.place`; nothing where it is gone, or any other folder."""
    try:
        if place.is_file() or is_sequence_folder(place):
            return list_sequences(place)
        paths = place / "sequence"
        return list_sequences(paths) if paths.is_dir() else ()
    except (InputError, OSError):
        return ()


# -- results ------------------------------------------------------------------------------------------------


def is_result(path: Path) -> bool:
    """Return whether a file holds the arrays that only a result has."""
    try:
        return RESULT_ARRAYS <= set(names_in(path, path))
    except Exception:  # whatever a damaged archive raises; another reader gives the reason
        return False


def read_opened_result(path: Path) -> Run:
    """Read a result as a run that has ended, whose number the session gives."""
    with refusing_damage(path):
        return _opened(load_result(path), path)


def _opened(result: Result, path: Path) -> Run:
    sequence = _from_its_file(result, path) or _from_itself(result, path)
    iterate = start_from(result, sequence, path)
    energies = {} if result.energy_history is None else dict(result.energy_history[:, ::2].tolist())
    lowest = [None] * len(result.history) if result.best_losses is None else result.best_losses.tolist()
    phases = dict(RECORDS.read(list[tuple[int, Phase]], result.meta.get("phases", []), "meta.phases"))
    phase, title, message = iterate.phase, f"opened: {path.stem}", phase_text(iterate.phase)
    state = RunState.FINISHED
    run = Run(1, sequence, iterate.settings, state=state, last=iterate, message=message, title=title)
    for index, ((iteration, seconds, loss), best) in enumerate(
        zip(result.history.tolist(), lowest, strict=True)
    ):
        phase = phases.get(index, phase)
        known = None if best is None or np.isnan(best) else best
        energy = energies.get(iteration)
        run.history.extend([HistoryEntry(int(iteration), seconds, loss, phase, energy=energy, best=known)])
    if len(run.history):
        run.snapshots.add(len(run.history) - 1, iterate)
    return run


def _from_its_file(result: Result, path: Path) -> Sequence | None:
    """Return the sequence that the result was made of, None where that is gone, elsewhere, or has changed."""
    source, known, content, reading = map(result.meta.get, ("source", "digest", "content", "reading"))
    file = None if not source or not known else named_path(source, path)
    if file is None:
        return None
    try:
        sequence = StoredSequence(file, str(known), content or "", reading or {}).read_unchanged(file)
    except (InputError, TypeError, ValueError):
        return None
    same = sequence is not None and sequence.visible.shape == result.visible.shape
    return sequence if same else None


def _from_itself(result: Result, path: Path) -> Sequence:
    """Return the sequence as the result contains it: its tracks in their units, truth, edges, faces."""
    meta, seen = result.meta, result.visible
    metric = bool((meta.get("low_rank") or {}).get("metric", True))  # else K is a scale and no camera's
    tracks = np.where(seen[:, None], to_pixels(result.tracks, result.intrinsics), np.nan)
    return Sequence(
        tracks,
        seen,
        result.camera,
        str(meta.get("name") or path.stem),
        intrinsics=result.intrinsics if metric and result.camera is CameraModel.PERSPECTIVE else None,
        truth=result.truth,
        edges=result.edges,
        faces=result.faces,
        units=str(meta.get("units") or "px"),
        truth_units=str(meta.get("truth_units") or "mm"),
        truth_name=str(meta.get("truth_name") or GROUND_TRUTH),
        image_size=meta.get("image_size"),
        frame_rate=meta.get("frame_rate"),
        video=named_path(str(meta["video"]), path) if meta.get("video") else None,
        video_frames=None if meta.get("video_frames") is None else np.array(meta["video_frames"]),
        point_names=meta.get("point_names"),
        provenance=f"the tracks in {path.name}",
    )
