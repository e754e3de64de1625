"""The sequence of a session: a copy of it, and the file that it is from.

A session can be opened without its data, so it contains the tracks, up to a size; where the file
has changed since, its runs are still of the tracks that they were made of.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core import InputError, Sequence, read_sequence
from core.io.readers import (
    Allowance,
    ReadingOptions,
    challenge_file,
    digest,
    entries_of,
    is_self_contained,
    named_path,
    naming,
    read_bytes,
    resolve,
    sample_name,
    sequence_from,
)
from nrsfm_gui.sessions.archive import ArchiveWriter, Array

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
    if path is None:
        return sequence, f"{file} {ELSEWHERE}: {sequence.name} is shown as the session contains it."
    return sequence, _change(path, stored, sequence.name)


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


def _change(path: Path, stored: StoredSequence, name: str) -> str:
    """Return how a file, or one that is read with it, has changed since, "" where it has not."""
    shown = f"{name} is shown as the session contains it."
    if not os.path.exists(path):
        return f"{path} is not there any more: {shown}"
    if not stored.digest:
        return ""
    try:
        content = read_bytes(path)
        same = digest(content) == stored.digest
        # Reading a large table takes seconds, and what has no other files has not changed with these bytes.
        if same and not is_self_contained(content):
            same = stored.read(path).content == stored.content
    except InputError as error:
        return f"{error}: {shown}"
    return "" if same else f"{path} has changed since, or what is read with it: {shown}"


def _resolved(file: str, session: Path) -> Path | None:
    """Return the file of a sequence that a session names, None where it is not looked at."""
    try:
        found = resolve(Path(file))
    except InputError:  # a sample that is not installed here
        return Path(file)
    return named_path(file, session) if found == Path(file) else found
