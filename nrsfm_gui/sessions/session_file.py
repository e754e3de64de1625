"""A session in one file, `.nrsfm`: the open sequences, their runs, and the view.

The file is a zip archive (`sessions.archive`): `session.json`, and every array once as `arrays/NAME.npy`. It
is written completely or not at all, and read without pickle. Entries of `session.json`, version 1 ("array" is
the name of one, letters in brackets are its shape):

    format, version       "nrsfm-session", 1
    saved                 when, ISO 8601; versions: of the program and its parts
    file                  where the user saved the session, of an automatic copy; else null
    current               which of the sequences is open, from 0
    settings              the parameters of the next run of that sequence, as in a result's meta
    sequences             a list; each has
        source, digest    file (or "sample:NAME") and SHA-256 of its bytes, null and "" without one
        content           `sequence.Sequence.content`, a hash of what was read from it and from what lies
                          beside it; absent in files of earlier programs
        reading           the options that it was read with
        arrays, texts     the sequence itself, entries as in `npz`; both null where it needs more
                          than 50 MB and is in a file
        settings          the parameters of its next run; absent in files of earlier programs
        shown             number of the run that is shown, or null
        runs              a list; each has
            number, warm_from, shown_before, state, message, title, note, pinned, dismissed, settings
            history       columns: array (N, 7) of iteration, seconds, loss, primal and dual residual,
                          energy, best loss; files of earlier programs lack the last one or two;
                          phases: [first record, phase]; ticks, changes of settings: first (record),
                          text, restarts, before (the settings until then), later (records of
                          further changes of the gesture; absent in files of earlier programs)
            update        null, or the newest point: settings, record, status, fraction, rotations,
                          settled, starts, intrinsics (3, 3), calibration (3, 3), and
                current, best     kind, eta, weights (K), tail, spectral, B, C, s, loss; rotations (F, 3, 3);
                                  tracks (F, 2, P) and visible (F, P) only where they are not the
                                  sequence's, calibrated (best is absent where it is the same)
                view              a low-rank or refined solution in three dimensions
                depth             null, or the refinement: energy, best_energy, phase, fraction, finished;
                                  point, best (where it is another), coarser (of a finished one) and ends
                                  (name, energy, point): rotations (F, 3, 3), depths (F, P),
                                  rays (F, 2, P), affine
                noise             that it expects, in the units of the tracks
                verdicts          of a finished run: kind, sentence, frames, action; absent in files of
                                  earlier programs
                lineage           steps (settings, updates) that lead there, from nothing or from `result`
    view                  frame, point, selection, hidden, frame_range, alignment, theme, orbit, appearance,
                          background: its file, opacity and frame offset
    layout                docks: where the panels of the window stand, base64

What a file does not hold: the moments of a run that can be scrubbed through, but for the newest.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import InputError, Settings
from core.foundation import versions
from core.io.readers import Allowance, check_file, refusing_damage
from core.reconstruction import settings_to_dict
from nrsfm_gui.model.history import Tick
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.sessions.archive import LARGEST_RATIO, ArchiveReader, ArchiveWriter
from nrsfm_gui.sessions.json_reader import Node
from nrsfm_gui.sessions.session_data import read_sequence_entry, sequence_entry
from nrsfm_gui.sessions.session_parts import (
    history_entry,
    iterate_entry,
    read_history,
    read_iterate,
    read_settings,
)

if TYPE_CHECKING:
    from core import HistoryEntry, Iterate, Sequence

SUFFIX = ".nrsfm"
FORMAT = "nrsfm-session"
VERSION = 1
LONGEST_NOTE = 20_000  # characters
ENDED = tuple(state.value for state in RunState if not state.alive)


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A run as it was at one moment."""

    number: int
    settings: Settings
    warm_from: int | None
    shown_before: int | None
    state: RunState  # one that is over
    message: str
    title: str
    note: str
    pinned: bool
    dismissed: tuple[str, ...]  # sentences of verdicts
    records: tuple[HistoryEntry, ...]
    ticks: tuple[Tick, ...]
    iterate: Iterate | None

    @classmethod
    def of(cls, run: Run) -> SavedRun:
        """Return what is saved of a run; one that is active is saved as stopped."""
        return cls(
            number=run.number,
            settings=run.settings,
            warm_from=run.warm_from,
            shown_before=run.shown_before,
            state=RunState.STOPPED if run.state.alive else run.state,
            message=run.message,
            title=run.title,
            note=run.note,
            pinned=run.pinned,
            dismissed=tuple(sorted(run.dismissed)),
            records=tuple(run.history.records),
            ticks=tuple(run.history.ticks),
            iterate=run.last,
        )

    def run(self, sequence: Sequence) -> Run:
        """Return a run of the session again."""
        run = Run(self.number, sequence, self.settings, self.warm_from, self.shown_before, self.state)
        run.history.extend(self.records)
        run.history.ticks.extend(self.ticks)
        run.last, run.message = self.iterate, self.message
        if self.iterate is not None and self.records:
            run.snapshots.add(len(self.records) - 1, self.iterate)
        run.title, run.note, run.pinned = self.title, self.note, self.pinned
        run.dismissed = frozenset(self.dismissed)
        return run


@dataclass(frozen=True, eq=False)
class SavedSequence:
    """A sequence with its runs."""

    sequence: Sequence
    runs: tuple[SavedRun, ...]
    shown: int | None  # number of a run
    settings: Settings  # of its next run
    change: str = ""  # of its file since it was saved, a sentence; only of one that was read


@dataclass(frozen=True, eq=False)
class SavedSession:
    """The content of a session file; immutable, so that it can be written in the background."""

    sequences: tuple[SavedSequence, ...]
    current: int
    view: dict[str, Any] = field(default_factory=dict)  # see `viewpoint`
    layout: dict[str, str] = field(default_factory=dict)
    file: Path | None = None  # where the user saved it

    @property
    def settings(self) -> Settings:
        """The parameters of the open sequence."""
        return self.sequences[self.current].settings


# -- writing ------------------------------------------------------------------------------------------------


def write_session(session: SavedSession, path: Path, *, private: bool = False) -> Path:
    """Write a session, completely or not at all, and return its path.

    With `private`, nobody but its owner may read the file.

    Raises InputError where the file cannot be written.
    """
    archive = ArchiveWriter()
    document = {
        "format": FORMAT,
        "version": VERSION,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "file": None if session.file is None else str(session.file),
        "current": session.current,
        "settings": settings_to_dict(session.settings),
        "sequences": [_saved_entry(saved, archive) for saved in session.sequences],
        "view": session.view,
        "layout": session.layout,
    }
    archive.write(path, document, private=private)
    return path


def _saved_entry(saved: SavedSequence, archive: ArchiveWriter) -> dict[str, Any]:
    runs = [_run_entry(run, saved.sequence, archive) for run in saved.runs]
    settings = settings_to_dict(saved.settings)
    entry = sequence_entry(saved.sequence, archive)
    return entry | {"settings": settings, "shown": saved.shown, "runs": runs}


def _run_entry(run: SavedRun, sequence: Sequence, archive: ArchiveWriter) -> dict[str, Any]:
    names = ("number", "warm_from", "shown_before", "message", "title", "note", "pinned", "dismissed")
    entry = {name: getattr(run, name) for name in names}
    history = history_entry(run.records, archive)
    history["ticks"] = [_tick_entry(tick) for tick in run.ticks]
    return entry | {
        "state": run.state.value,
        "settings": settings_to_dict(run.settings),
        "history": history,
        "update": None if run.iterate is None else iterate_entry(run.iterate, sequence, archive),
    }


def _tick_entry(tick: Tick) -> dict[str, Any]:
    before = None if tick.before is None else settings_to_dict(tick.before)
    entry = {"first": tick.first, "text": tick.text, "restarts": tick.restarts, "before": before}
    return entry | {"later": list(tick.later)}


# -- reading ------------------------------------------------------------------------------------------------


def read_session(path: Path) -> SavedSession:
    """Read a session.

    Raises InputError where the file is absent, damaged, of another version, has impossible values, or leaves
    a large sequence to a file that is gone or has changed.
    """
    with refusing_damage(path), ArchiveReader(path) as archive:
        document = Node(archive, "", archive.document)
        if archive.document.get("format") != FORMAT:
            raise InputError(f"{path}: is not a session: its format is not {FORMAT!r}")
        if archive.document.get("version") != VERSION:
            found = archive.document.get("version")
            raise InputError(
                f"{path}: is a session of version {found!r}; this program reads version {VERSION}"
            )
        settings = read_settings(document.child("settings"))
        allowance = Allowance(check_file(path), ratio=LARGEST_RATIO)
        sequences = tuple(_read_saved(node, allowance) for node in document.child("sequences").items())
        if not sequences:
            raise document.child("sequences").refused("at least one sequence")
        file = document.optional("file")
        current = document.child("current").integer(0, len(sequences) - 1)
        open_now = replace(sequences[current], settings=settings)
        return SavedSession(
            (*sequences[:current], open_now, *sequences[current + 1 :]),
            current,
            document.child("view").mapping(),
            {key: document.child("layout").child(key).text() for key in document.child("layout").keys()},
            None if file is None else Path(file.text()),
        )


def _read_saved(node: Node, allowance: Allowance) -> SavedSequence:
    sequence, change = read_sequence_entry(node, allowance)
    runs = tuple(_read_run(item, sequence) for item in node.child("runs").items())
    numbers = [run.number for run in runs]
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{node.archive.path}: {node.where}.runs holds two runs of the same number")
    shown = node.optional("shown")
    number = None if shown is None else shown.integer(1)
    shown_run = next((run for run in runs if run.number == number), None)
    settings = node.optional("settings")
    if settings is not None:
        own = read_settings(settings)
    else:  # of an earlier program
        own = Settings() if shown_run is None else shown_run.settings
    return SavedSequence(sequence, runs, None if shown_run is None else number, own, change)


def _read_run(node: Node, sequence: Sequence) -> SavedRun:
    before, warm = node.optional("shown_before"), node.optional("warm_from")
    history, iterate = node.child("history"), node.optional("update")
    records = read_history(history)
    return SavedRun(
        number=node.child("number").integer(1),
        settings=read_settings(node.child("settings")),
        warm_from=None if warm is None else warm.integer(1),
        shown_before=None if before is None else before.integer(1),
        state=RunState(node.child("state").one_of(ENDED)),
        message=node.child("message").sentence(),
        title=node.child("title").sentence(),
        note=node.child("note").sentence(LONGEST_NOTE),
        pinned=node.child("pinned").flag(),
        dismissed=tuple(each.sentence() for each in node.child("dismissed").items()),
        records=records,
        ticks=tuple(_read_tick(tick, len(records)) for tick in history.child("ticks").items()),
        iterate=None if iterate is None else read_iterate(iterate, sequence),
    )


def _read_tick(node: Node, records: int) -> Tick:
    last = max(records - 1, 0)
    first, before, later = (
        node.child("first").integer(0, last),
        node.optional("before"),
        node.optional("later"),
    )
    settings = None if before is None else read_settings(before)
    further = () if later is None else tuple(each.integer(0, last) for each in later.items())
    return Tick(first, node.child("text").sentence(), node.child("restarts").flag(), settings, further)


def session_summary(path: Path) -> str:
    """Return what a session file holds, without its arrays: "2 sequences, 3 runs: 2 of back and 1 of face".

    Raises InputError where the file cannot be read.
    """
    with ArchiveReader(path) as archive:
        sequences = archive.document.get("sequences") or ()
    counts: list[tuple[int, str]] = []
    try:
        for entry in sequences:
            count, name = len(entry["runs"]), (entry["texts"] or {}).get("name") or Path(entry["source"]).stem
            if count or len(sequences) == 1:
                counts.append((count, name))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is not a session that can be read ({error})") from error
    total = sum(count for count, _name in counts)
    runs = f"{total} run" if total == 1 else f"{total} runs"
    if len(counts) < 2:
        return "".join(f"{runs} of {name}" for _count, name in counts)
    *others, last = (f"{count} of {name}" for count, name in counts)
    return f"{len(counts)} sequences, {runs}: {', '.join(others)} and {last}"
