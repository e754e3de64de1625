"""Opening sequences: from a dialog, a drop, the list of recent ones, the bundled samples or the tree."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QObject, pyqtSignal

from core import (
    CameraModel,
    HistoryEntry,
    InputError,
    Sequence,
    bundled_samples,
    list_sequences,
    load_result,
    read_sequence,
)
from core.cameras import to_pixels
from core.data import GROUND_TRUTH
from core.io.readers import READERS, sample_name
from core.reconstruction import start_from
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.model.run import RunState
from nrsfm_gui.sessions.session_data import Recorded, read_unchanged
from nrsfm_gui.sessions.session_file import SUFFIX, SavedRun, SavedSession, read_session
from nrsfm_gui.widgets.path_dialog import PathKind, ask_for_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtWidgets import QWidget

    from core import Result, SequenceEntry
    from nrsfm_gui.model.app_store import AppStore

# What was listed, the entry to show ("sample:NAME" has one too) and what was read.
Read = tuple[tuple["SequenceEntry", ...], "SequenceEntry | None", "Sequence | SavedSession | OpenedResult"]
SAMPLE = "sample:"
RESULT_ARRAYS = {"B.npy", "C.npy", "weights.npy", "meta.npy"}  # which no sequence file has
FIRST_SAMPLE = f"{SAMPLE}balloon/circle"


def file_filters() -> str:
    """Return the filters of a dialog that opens files, with those of the readers that are registered."""
    tracks = " ".join(f"*{suffix}" for suffix in READERS)
    formats = [f"{reader.label} (*{suffix})" for suffix, reader in READERS.items()]
    return ";;".join(
        (
            f"All that can be opened ({tracks} *.nrsfm)",
            f"Sequences ({tracks})",
            *formats,
            "Sessions (*.nrsfm)",
            "Results (*.npz)",
            "All files (*)",
        )
    )


@dataclass(frozen=True, eq=False)
class OpenedResult:
    """A result in the form that the session needs."""

    sequence: Sequence
    run: SavedRun  # its number is given by the session


class SequenceOpening(QObject):
    """Reads files in threads of their own, and signals what they hold.

    Signals
    -------
    started(str)
        what is being read.
    opened(Sequence, SequenceEntry or None)
        it has been read; the entry is the one of the list that it belongs to.
    listed(object)
        a tuple of `SequenceEntry`: what a folder holds.
    session_read(SavedSession, Path), result_read(Sequence, SavedRun, Path)
        the file was a session, or a result.
    shown()
        all of what was asked for is on view: of a session or a result with its runs and parameters, too.
    failed(str, str)
        a sentence, and the traceback of a defect.
    """

    started = pyqtSignal(str)
    opened = pyqtSignal(object, object)
    listed = pyqtSignal(object)
    session_read = pyqtSignal(object, object)
    result_read = pyqtSignal(object, object, object)
    shown = pyqtSignal()
    failed = pyqtSignal(str, str)

    def __init__(self, store: AppStore, parent: QWidget) -> None:
        super().__init__(parent)
        self._store = store
        self._parent = parent
        self._jobs = Jobs(self)
        self._newest = 0  # number of what was asked for last
        self._entries: tuple[SequenceEntry, ...] = ()  # that were listed last

    @property
    def busy(self) -> bool:
        """Whether something is being read."""
        return bool(self._jobs)

    def ask_for_file(self) -> None:
        """Ask for a file, and open it."""
        title = "Open a sequence, a session or a result"
        ask_for_path(self._parent, title, self.open, start=self._folder(), filters=file_filters())

    def ask_for_folder(self) -> None:
        """Ask for a folder, and open it."""
        ask_for_path(self._parent, "Open a folder", self.open, kind=PathKind.FOLDER, start=self._folder())

    def open(self, path: str | Path) -> None:
        """Open a file, a folder (its sequences are listed, the first is shown) or "sample:NAME".

        A file is a sequence, a session or a result.
        """
        self._start(lambda: _read(path), str(path))

    def open_sequence(self, sequence: Sequence, *, listed: bool = True) -> None:
        """Open a sequence that is in memory already; `listed` where it may be one of the present list."""
        self.opened.emit(sequence, self.entry_of(sequence) if listed else None)

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
        """Open one sequence of a list."""
        self._start(lambda: _read_entry(entry), str(entry.file))

    def entry_of(self, sequence: Sequence) -> SequenceEntry | None:
        """Return the entry of the present list that a sequence belongs to, None where it is of none."""
        return next((entry for entry in self._entries if entry.file == sequence.source), None)

    def shut_down(self) -> None:
        """Wait for what is being read."""
        self._jobs.wait()

    def _start(self, function: Callable[[], Read], what: str) -> None:
        number = self._newest = self._newest + 1
        self.started.emit(what)
        self._jobs.start(
            Job(
                lambda _job: _hashed(function()),
                done=lambda read: self._finish(number, read, what),
                failed=lambda sentence, details: self._fail(number, sentence, details),
            )
        )

    def _finish(self, number: int, read: Read, what: str) -> None:
        if number != self._newest:  # another one was asked for since
            return
        entries, entry, found = read
        if entries:
            self._entries = entries
            self.listed.emit(entries)
        if isinstance(found, SavedSession):
            self.session_read.emit(found, Path(what))
        elif isinstance(found, OpenedResult):
            self.result_read.emit(found.sequence, found.run, Path(what))
        else:
            if not what.startswith(SAMPLE):
                self._store.add_recent(Path(what))
            self.opened.emit(found, entry)
        self.shown.emit()

    def _fail(self, number: int, sentence: str, details: str) -> None:
        if number == self._newest:
            self.failed.emit(sentence, details)

    def _folder(self) -> str:
        recent = self._store.recent()
        return str(recent[0].parent) if recent else ""


def _read(path: str | Path) -> Read:
    """Return what a path holds and its first readable sequence; for a sample, all samples."""
    if str(path).startswith(SAMPLE):
        sequence = read_sequence(path)
        entries = bundled_samples()
        return entries, next(entry for entry in entries if entry.file == sequence.source), sequence
    if Path(path).suffix.lower() == SUFFIX:
        session = read_session(Path(path))
        return _entries_of_source(session.sequences[session.current].sequence), None, session
    if is_result(Path(path)):
        result = read_opened_result(Path(path))
        return _entries_of_source(result.sequence), None, result
    entries = list_sequences(path)
    readable = [entry for entry in entries if not entry.problem]
    if not readable:
        raise InputError(entries[0].problem)
    if Path(path).is_file():
        return entries, readable[0], read_sequence(path)
    return entries, readable[0], read_sequence(readable[0].file)


def _hashed(read: Read) -> Read:
    """Hash what was read, in this thread: a tenth of a second for 99 frames of 28 880 points."""
    found = read[2]
    if isinstance(found, SavedSession):
        sequences = [saved.sequence for saved in found.sequences]
    else:
        sequences = [found.sequence if isinstance(found, OpenedResult) else found]
    for sequence in sequences:
        _ = sequence.content
    return read


def _entries_of_source(sequence: Sequence) -> tuple[SequenceEntry, ...]:
    """Return what opening the file of a sequence would list, nothing where it is gone."""
    if sequence.source is None:
        return ()
    if sample_name(sequence.source) is not None:
        return bundled_samples()
    try:
        return list_sequences(sequence.source)
    except InputError:
        return ()


def _read_entry(entry: SequenceEntry) -> Read:
    return (), entry, read_sequence(entry.file)


# -- results ------------------------------------------------------------------------------------------------


def is_result(path: Path) -> bool:
    """Return whether a file holds the arrays that only a result has."""
    try:
        with zipfile.ZipFile(path) as archive:
            return RESULT_ARRAYS <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def read_opened_result(path: Path) -> OpenedResult:
    """Read a result and its sequence: from its file where that is as it was, else from the result itself.

    Raises
    ------
    InputError
        where the result cannot be read, or not gone on from.
    """
    result = load_result(path)
    sequence = _from_its_file(result) or _from_itself(result, path)
    iterate = start_from(result, sequence, path)
    energies = {} if result.energy_history is None else dict(result.energy_history[:, ::2].tolist())
    records = tuple(
        HistoryEntry(int(iteration), seconds, loss, iterate.phase, energy=energies.get(iteration))
        for iteration, seconds, loss in result.history.tolist()
    )
    run = SavedRun(
        number=1,
        settings=iterate.settings,
        warm_from=None,
        shown_before=None,
        state=RunState.FINISHED,
        message=iterate.phase,
        title=f"opened: {path.stem}",
        note="",
        pinned=False,
        records=records,
        ticks=(),
        iterate=iterate,
    )
    return OpenedResult(sequence, run)


def _from_its_file(result: Result) -> Sequence | None:
    """Return the sequence that the result was made of, None where that is gone or has changed."""
    names = ("source", "digest", "content", "reading")
    source, known, content, reading = (result.meta.get(name) for name in names)
    if not isinstance(source, str) or not known or not isinstance(reading, dict | None):
        return None
    try:
        sequence = read_unchanged(Path(source), Recorded(known, content or "", reading or {}))
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
        video=Path(str(meta["video"])) if meta.get("video") else None,
        point_names=meta.get("point_names"),
        provenance=f"the tracks in {path.name}",
    )
