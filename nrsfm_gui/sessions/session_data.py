"""The sequence of a session: a copy of it, and the file that it is from.

A session can be opened without its data, so it contains the tracks, up to a size; where the file
has changed since, its runs are still of the tracks that they were made of.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import CameraModel, InputError, read_sequence
from core.io.readers import (
    READING_OPTIONS,
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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core import Sequence
    from core.io.readers import Allowance
    from nrsfm_gui.sessions.archive import ArchiveWriter
    from nrsfm_gui.sessions.json_reader import Node

ELSEWHERE = "is on another computer or leads out of the folder, and is not looked at"
LARGE = 50_000_000  # bytes of a sequence's arrays, above which only the file is named


@dataclass(frozen=True)
class Recorded:
    """How a sequence was read from its file, as a session contains it."""

    digest: str  # SHA-256 of the file's bytes
    content: str  # `Sequence.content`; "" where it was not kept, as earlier versions did not
    reading: Mapping[str, Any]  # options of `read_sequence`

    def are_bytes_of(self, path: Path) -> bool:
        """Return whether a file is there with the bytes that were read."""
        return os.path.isfile(path) and digest(read_bytes(path)) == self.digest

    def read(self, path: Path) -> Sequence:
        """Read a file in the same way."""
        return read_sequence(path, **self.reading)

    def is_of(self, sequence: Sequence) -> bool:
        """Return whether a sequence has the content, as far as that is known."""
        return self.content in ("", sequence.content)


def sequence_entry(sequence: Sequence, archive: ArchiveWriter) -> dict[str, Any]:
    """Return where a sequence is from, and the sequence itself unless it is large and in a file."""
    source = sequence.source
    entry: dict[str, Any] = {
        "source": None if source is None else sample_name(source) or str(source.resolve()),
        "digest": sequence.digest,
        "content": sequence.content,
        "reading": dict(sequence.reading),
        "arrays": None,
        "texts": None,
    }
    entries = entries_of(sequence)
    texts = {key: value for key, value in entries.items() if isinstance(value, str)}
    arrays = {key: np.asarray(value) for key, value in entries.items() if key not in texts}
    if source is None or not sequence.digest or sum(array.nbytes for array in arrays.values()) <= LARGE:
        entry["texts"] = texts
        entry["arrays"] = {key: archive.name(array) for key, array in arrays.items()}
    return entry


def read_sequence_entry(node: Node, allowance: Allowance) -> tuple[Sequence, str]:
    """Return a sequence and a sentence on a change of its file, "" where there is none.

    Its arrays are counted, because it copies them: a session can have one array as that of many sequences.

    Raises InputError where the entry is not what it should be, or the file that alone has the tracks is gone
    or changed.
    """
    source, content = node.optional("source"), node.optional("content")
    recorded = Recorded(
        node.child("digest").text(), "" if content is None else content.text(), _reading(node)
    )
    file = None if source is None else source.text()
    arrays, texts = node.optional("arrays"), node.optional("texts")
    if arrays is None or texts is None:
        if file is None or not recorded.digest:
            raise InputError(
                f"{node.archive.path}: {node.where} holds neither tracks nor the file they are in"
            )
        return _read_from_file(node, file, recorded), ""
    entries: dict[str, Any] = {key: texts.child(key).text() for key in texts.keys()}
    for key in arrays.keys():
        entries[key] = node.archive.array(arrays.child(key).text())
    with naming(node.archive.path):
        allowance.use(sum(entries[key].nbytes for key in arrays.keys()))
        made = sequence_from(entries)
    video = None if made.video is None else named_path(str(made.video), node.archive.path)
    path = None if file is None else _resolved(file, node.archive.path)
    sequence = replace(made, source=path, digest=recorded.digest, reading=recorded.reading, video=video)
    if file is None:
        return sequence, ""
    if path is None:
        return sequence, f"{file} {ELSEWHERE}: {sequence.name} is shown as the session contains it."
    return sequence, _change(path, recorded, sequence.name)


def _read_from_file(node: Node, file: str, recorded: Recorded) -> Sequence:
    """Read a large sequence from its file, or from one of that name in the folder of the session."""
    path, known = _resolved(file, node.archive.path), recorded.digest
    beside = node.archive.path.parent / Path(file).name
    movable = path is None or challenge_file(path) is None  # else it is read with what lies around it there
    for candidate in filter(None, (path, beside) if movable else (path,)):
        sequence = read_unchanged(candidate, recorded)
        if sequence is not None:
            return sequence
    where = "there or in the folder of the session" if movable else "there"
    became, what = "which has changed since", f"the file as it was (SHA-256 {known[:12]}…) {where}"
    if path is None:
        became, where = f"which {ELSEWHERE}", "in the folder of the session"
        what = f"the file as it was (SHA-256 {known[:12]}…) {where}"
    elif not os.path.exists(path):
        became = "which is not there"
    elif recorded.are_bytes_of(path):
        became, what = "beside which something that is read with it has changed since", "that as it was"
    raise InputError(f"{node.archive.path}: contains no copy of the tracks of {file}, {became}; put {what}")


def read_unchanged(path: Path, recorded: Recorded) -> Sequence | None:
    """Return the sequence of a file, read as it was.

    None where the file is gone, or it or what is read with it has changed.
    """
    if not recorded.are_bytes_of(path):
        return None
    sequence = recorded.read(path)
    return sequence if recorded.is_of(sequence) else None


def _change(path: Path, recorded: Recorded, name: str) -> str:
    """Return how a file, or one that is read with it, has changed since, "" where it has not."""
    shown = f"{name} is shown as the session contains it."
    if not os.path.exists(path):
        return f"{path} is not there any more: {shown}"
    if not recorded.digest:
        return ""
    try:
        content = read_bytes(path)
        if digest(content) != recorded.digest:
            return f"{path} has changed since: {shown}"
        # Reading a large table takes seconds, and what has no other files has not changed with these bytes.
        if recorded.content and not is_self_contained(content) and not recorded.is_of(recorded.read(path)):
            return f"What is read with {path} has changed since: {shown}"
    except InputError as error:
        return f"{error}: {shown}"
    return ""


def _resolved(file: str, session: Path) -> Path | None:
    """Return the file of a sequence that a session names, None where it is not looked at."""
    try:
        found = resolve(Path(file))
    except InputError:  # a sample that is not installed here
        return Path(file)
    return named_path(file, session) if found == Path(file) else found


def _reading(node: Node) -> dict[str, str | int | float]:
    reading: dict[str, str | int | float] = {}
    given = node.child("reading")
    for key in given.keys():
        value = given.child(key)
        if key not in READING_OPTIONS:
            raise given.refused(", ".join(READING_OPTIONS))
        if key == "camera":
            reading[key] = value.one_of(model.value for model in CameraModel)
        elif key == "frame_base":
            reading[key] = value.integer(0, 1)
        elif key == "threshold":
            reading[key] = value.number()
        else:
            reading[key] = value.text()
    return reading
