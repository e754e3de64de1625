"""A session in one file, `.nrsfm`: the open sequences, their runs, and the view.

The file is a zip archive (`sessions.archive`): `session.json`, and every array once as `arrays/NAME.npy`. It
is written completely or not at all, and read without pickle. `session.json` has

    format, version       "nrsfm-session", 2
    saved, versions       when, ISO 8601; of the program and its parts

and the fields of `SavedSession`. A class is an object with its fields, an array is the name of one, and what
is null is absent. Others than their fields are stored of

    Sequence              `StoredSequence`: where it is from, and what is in it
    Run                   no sequence: it is of that beside it
    History of a run      `StoredHistory`: columns, where phases begin, changes of the settings
    Problem               its tracks only where they are not those of the sequence, calibrated
    Iterate, DepthStep    nothing that is found again (`session_records.LEFT_OUT`)

What a file does not hold: the moments of a run that can be scrubbed through, but for the newest. It holds the
tracks up to a size, because it can be opened without their file; where that has changed since, its runs are
still of the tracks that they were made of.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from core import Alignment, InputError, Sequence, Settings, read_sequence
from core.foundation import Hook, Records, versions
from core.io.readers import (
    Allowance,
    ReadingOptions,
    challenge_file,
    check_file,
    digest,
    entries_of,
    is_self_contained,
    named_path,
    naming,
    read_bytes,
    refusing_damage,
    resolve,
    sample_name,
    sequence_from,
)
from core.reconstruction import RECORDS
from nrsfm_gui.model.appearance import Appearance, check_accepted
from nrsfm_gui.model.background import Background
from nrsfm_gui.model.run import Run
from nrsfm_gui.model.session import COMPARE_MODES, OWN, OpenSequence, Session
from nrsfm_gui.model.theme import THEMES
from nrsfm_gui.scene.orbit_camera import Orbit
from nrsfm_gui.sessions.archive import LARGEST_RATIO, ArchiveWriter, Array, read_archive
from nrsfm_gui.sessions.session_records import SessionRecords

SUFFIX = ".nrsfm"
FORMAT = "nrsfm-session"
VERSION = 2
ABOUT = ("format", "version", "versions", "saved")  # entries besides those of the session
# Fields that a session and its view have in common.
SEEN = (
    "frame", "point", "selection", "frame_range", "alignment", "appearance", "background",
    "compared_solution", "compare_mode", "live",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SavedSession:
    """The content of a session file; nobody changes it while it is written in the background."""

    sequences: tuple[OpenSequence, ...]  # the first is shown
    view: dict[str, Any] = field(default_factory=dict)  # see `ViewState`
    layout: dict[str, str] = field(default_factory=dict)  # docks: where the panels stand, base64
    listed: tuple[str, ...] = ()  # paths of the objects and the files in the list of sequences
    file: Path | None = None  # where the user saved it

    def __post_init__(self) -> None:
        if not self.sequences:
            raise InputError("there is no sequence")


@dataclass(frozen=True)
class ViewState:
    """The view of a session; the session limits points and frames to its sequence."""

    frame: int
    point: int
    selection: tuple[int, ...]
    hidden: tuple[int, ...]
    frame_range: tuple[int, int] | None
    alignment: Alignment
    theme: str  # a key of THEMES
    orbit: Orbit
    appearance: Appearance
    background: Background | None = None  # pictures behind the tracks
    saved_views: dict[str, Orbit] = field(default_factory=dict)  # by the key that shows it
    compared: int | None = None  # the number of a run
    compared_solution: str = OWN
    compare_mode: str = "overlay"
    live: bool = True

    @classmethod
    def of(cls, session: Session, orbit: Orbit, saved_views: Mapping[str, Orbit]) -> ViewState:
        """Return that of a session whose 3-D view is seen from somewhere."""
        return cls(
            **{name: getattr(session, name) for name in SEEN},
            hidden=tuple(sorted(session.hidden)),
            theme=session.theme.name,
            compared=None if session.compared is None else session.compared.number,
            orbit=orbit,
            saved_views=dict(saved_views),
        )

    def __post_init__(self) -> None:
        check_accepted(self, theme=THEMES, compare_mode=COMPARE_MODES)
        for orbit in (self.orbit, *self.saved_views.values()):
            numbers = (*orbit.center, orbit.distance, orbit.azimuth, orbit.elevation)
            if not all(map(math.isfinite, numbers)) or not orbit.distance > 0:
                raise InputError("the orbit holds a number that is not finite, or no distance")
            if not abs(math.hypot(*orbit.up) - 1.0) < 1e-6:  # written so that NaN is refused, too
                raise InputError("the orbit holds an upward axis that is not a unit vector")

    def as_plain(self) -> dict[str, Any]:
        """Return values that JSON can hold; a loaded triangulation is left out, its file has it."""
        source = self.appearance.mesh_source
        shown = replace(self.appearance, mesh_source="automatic" if source == "loaded" else source)
        values: dict[str, Any] = _VIEW.write(replace(self, appearance=shown))
        return values

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> ViewState:
        """Return what `as_plain` gave."""
        state: ViewState = _VIEW.read(cls, values, "the view")
        return state

    def show(self, session: Session, *, theme: bool = True) -> None:
        """Apply this view to a session, with or without its theme; the caller sets the orbit."""
        sequence = session.sequence
        assert sequence is not None  # a session that is shown has one
        inside = range(sequence.point_count)
        session.set_appearance(self.appearance, undoable=False)
        session.set_alignment(self.alignment, undoable=False)
        if theme:
            session.set_theme(THEMES[self.theme])
        session.set_frame(self.frame)
        session.set_frame_range(self.frame_range)
        session.set_hidden((point for point in self.hidden if point in inside), undoable=False)
        session.set_selection((point for point in self.selection if point in inside), self.point)
        session.set_background(self.background)
        session.set_live(session.live and self.live)  # switching it on could start a run
        session.set_compare_mode(self.compare_mode)
        if self.compared is not None:
            session.with_run(self.compared, lambda run: session.set_compared(run, self.compared_solution))


_VIEW = Records(
    names={
        "Alignment": Alignment,
        "Appearance": Appearance,
        "Background": Background,
        "Orbit": Orbit,
        "Path": Path,
    },
    left_out={Appearance: ("triangulation",)},
)


# -- the sequence of a session -------------------------------------------------------------------------------

ELSEWHERE = "is on another computer or leads out of the folder, and is not looked at"
LARGE = 50_000_000  # bytes of a sequence's arrays, above which only the file is named


@dataclass(frozen=True, eq=False)
class StoredSequence:
    """Where a sequence is from, and the sequence itself unless it is large and in a file."""

    source: Path | None  # or "sample:NAME"
    digest: str  # SHA-256 of the file's bytes, "" without one
    content: str  # `Sequence.content`: a hash of what was read from it and from what lies beside it
    reading: dict[str, Any]  # the options of `read_sequence`
    arrays: dict[str, str] | None = None  # entries as in `npz`: names of arrays,
    texts: dict[str, Any] | None = None  # and texts

    def __post_init__(self) -> None:
        try:
            ReadingOptions(**self.reading)
        except (InputError, TypeError) as error:
            raise InputError(f"reading is {self.reading}: {error}") from error
        texts = self.texts or {}
        if not all(isinstance(text, str) for text in texts.values()):
            raise InputError(f"texts are {texts}; accepted are texts")

    def read(self, path: Path) -> Sequence:
        """Read a file in the same way."""
        return read_sequence(path, **self.reading)

    def read_unchanged(self, path: Path) -> Sequence | None:
        """Return the sequence of a file, read as it was."""
        if not os.path.isfile(path) or digest(read_bytes(path)) != self.digest:
            return None
        sequence = self.read(path)
        return sequence if self.content == sequence.content else None


def is_contained(sequence: Sequence) -> bool:
    """Return whether a session holds the arrays of a sequence: all but large ones of a file."""
    entries = entries_of(sequence).values()
    size = sum(np.asarray(value).nbytes for value in entries if not isinstance(value, str))
    return sequence.source is None or not sequence.digest or size <= LARGE


def stored_sequence(sequence: Sequence, archive: ArchiveWriter) -> StoredSequence:
    """Return what a session holds of a sequence; its arrays are in the archive."""
    source = sequence.source
    stored = StoredSequence(
        None if source is None else Path(sample_name(source) or source.resolve()),
        sequence.digest,
        sequence.content,
        dict(sequence.reading),
    )
    if not is_contained(sequence):
        return stored
    entries = entries_of(sequence)
    texts = {key: value for key, value in entries.items() if isinstance(value, str)}
    arrays = {key: archive.name(np.asarray(entries[key])) for key in entries if key not in texts}
    return replace(stored, texts=texts, arrays=arrays)


def sequence_of(
    stored: StoredSequence, arrays: Mapping[str, Array], session: Path, allowance: Allowance
) -> tuple[Sequence, str]:
    """Return a sequence and a sentence on a change of its file, "" where there is none."""
    file = None if stored.source is None else str(stored.source)
    if stored.arrays is None or stored.texts is None:
        if file is None or not stored.digest:
            raise InputError(f"{session}: holds neither the tracks of a sequence nor the file they are in")
        return _read_from_file(session, file, stored), ""
    missing = set(stored.arrays.values()) - set(arrays)
    if missing:
        raise InputError(f"{session}: lacks the array {min(missing)} of a sequence")
    entries = {key: arrays[name] for key, name in stored.arrays.items()}
    with naming(session):
        allowance.use(sum(array.nbytes for array in entries.values()))
        made = sequence_from(stored.texts | entries)
    video = None if made.video is None else named_path(str(made.video), session)
    path = None if file is None else _resolved(file, session)
    sequence = replace(made, source=path, digest=stored.digest, reading=stored.reading, video=video)
    if file is None:
        return sequence, ""
    change = f"{file} {ELSEWHERE}" if path is None else _change(path, stored)
    return sequence, as_contained(change, sequence) if change else ""


def _read_from_file(session: Path, file: str, stored: StoredSequence) -> Sequence:
    """Read a large sequence from its file, or from one of that name in the folder of the session."""
    path, places = _resolved(file, session), ["there"]
    candidates = [] if path is None else [path]
    if path is None or challenge_file(path) is None:  # else it is read with what lies around it there
        candidates.append(session.parent / Path(file).name)
        places.append("in the folder of the session")
    for candidate in candidates:
        sequence = stored.read_unchanged(candidate)
        if sequence is not None:
            return sequence
    became = ELSEWHERE if path is None else "is gone or has changed"
    raise InputError(
        f"{session}: contains no copy of the tracks of {file}, which {became}; put the file as it was "
        f"(SHA-256 {stored.digest[:12]}…) {' or '.join(places[path is None :])}"
    )


def as_contained(why: str, sequence: Sequence) -> str:
    """Return a sentence on why a sequence is not shown as its file has it."""
    return f"{why}: {sequence.name} is shown as the session contains it."


def _change(path: Path, stored: StoredSequence) -> str:
    """Return how a file, or one that is read with it, has changed since, "" where it has not."""
    if not os.path.exists(path):
        return f"{path} is not there any more"
    if not stored.digest:
        return ""
    try:
        content = read_bytes(path)
        same = digest(content) == stored.digest
        # Reading a large table takes seconds, and what has no other files has not changed with these bytes.
        if same and not is_self_contained(content):
            same = stored.read(path).content == stored.content
    except InputError as error:
        return str(error)
    return "" if same else f"{path} has changed since, or what is read with it"


def _resolved(file: str, session: Path) -> Path | None:
    """Return the file of a sequence that a session names, None where it is not looked at."""
    try:
        found = resolve(Path(file))
    except InputError:  # a sample that is not installed here
        return Path(file)
    return named_path(file, session) if found == Path(file) else found


# -- writing and reading ------------------------------------------------------------------------------------


def write_session(session: SavedSession, path: Path, *, private: bool = False) -> Path:
    """Write a session, `private` or for all, completely or not at all, and return its path."""
    archive = ArchiveWriter()

    def write_sequence(opened: OpenSequence) -> dict[str, Any]:
        return {
            "sequence": RECORDS.write(stored_sequence(opened.sequence, archive)),
            "settings": RECORDS.write(opened.settings),
            "shown": None if opened.shown is None else opened.shown.number,
            "runs": SessionRecords(opened.sequence, archive.name, {}).write(opened.runs),
        }

    about = {"format": FORMAT, "version": VERSION, "versions": versions()}
    when = {"saved": datetime.now(UTC).isoformat(timespec="seconds")}
    content = Records({OpenSequence: Hook(write_sequence, lambda *_: None)}).write(session)
    archive.write(path, about | when | content, private=private)
    return path


def read_session(path: Path) -> SavedSession:
    """Read a session."""
    with refusing_damage(path):
        document, arrays = read_archive(path)
        if document.get("format") != FORMAT:
            raise InputError(f"{path}: is not a session: its format is not {FORMAT!r}")
        if document.get("version") != VERSION:
            found = document.get("version")
            raise InputError(
                f"{path}: is a session of version {found!r}; this program reads version {VERSION}"
            )
        allowance = Allowance(check_file(path), ratio=LARGEST_RATIO)

        def read_entry(_kind: type, value: Any, where: str) -> OpenSequence:
            entry = RECORDS.read(dict[str, Any], value, where)
            stored = RECORDS.read(StoredSequence, entry.get("sequence"), f"{where}.sequence")
            sequence, change = sequence_of(stored, arrays, path, allowance)
            records = SessionRecords(sequence, str, arrays).read(
                list[Run], entry.get("runs"), f"{where}.runs"
            )
            runs = {run.number: run for run in records}
            if len(runs) < len(records):
                raise InputError(f"{where}: {sequence.name} has two runs of the same number")
            settings = RECORDS.read(Settings, entry.get("settings"), f"{where}.settings")
            shown = RECORDS.read(int | None, entry.get("shown"), f"{where}.shown")
            return OpenSequence(sequence, settings, records, runs.get(shown), change=change)

        content = {name: value for name, value in document.items() if name not in ABOUT}
        session: SavedSession = Records({OpenSequence: Hook(str, read_entry)}).read(SavedSession, content, "")
        return session


def session_summary(path: Path) -> str:
    """Return what a session file holds, without its arrays: "2 sequences, 3 runs: 2 of a and 1 of b"."""
    document, _arrays = read_archive(path, arrays=False)
    counts: list[tuple[int, str]] = []
    try:
        for entry in document.get("sequences") or ():
            stored = entry["sequence"]
            name = (stored["texts"] or {}).get("name") or Path(stored["source"]).stem
            counts.append((len(entry["runs"]), name))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: is not a session that can be read ({error})") from error
    if len(counts) > 1:
        counts = [each for each in counts if each[0]]
    total = sum(count for count, _name in counts)
    runs = f"{total} run" if total == 1 else f"{total} runs"
    if len(counts) < 2:
        return "".join(f"{runs} of {name}" for _count, name in counts)
    *others, last = (f"{count} of {name}" for count, name in counts)
    return f"{len(counts)} sequences, {runs}: {', '.join(others)} and {last}"
