"""The sequence of a session: a copy of it, and the file that it is from.

A session opens where the data is not, so that it keeps the tracks themselves, up to a size; where the file
has changed since, its runs are still of the tracks that they were made of.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.arrays import InputError
from core.files import read_sequence
from core.files.npz import entries_of, sequence_from
from core.files.samples import resolve, sample_name
from core.files.source import digest, naming, read_bytes
from core.sequence import CameraModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.sequence import Sequence

    from .archive import ArchiveWriter
    from .node import Node

LARGE = 50_000_000  # bytes of a sequence's arrays, above which only the file is named


def sequence_entry(sequence: Sequence, archive: ArchiveWriter) -> dict[str, Any]:
    """Return where a sequence is from, and the sequence itself unless it is large and in a file."""
    source = sequence.source
    entry: dict[str, Any] = {
        "source": None if source is None else sample_name(source) or str(source.resolve()),
        "digest": sequence.digest,
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


def read_sequence_entry(node: Node) -> tuple[Sequence, str]:
    """Return a sequence and a sentence on what has become of its file, "" where nothing.

    Raises
    ------
    InputError
        where the entry is not what it should be, or the file that alone has the tracks is gone or changed.
    """
    source, known, reading = node.optional("source"), node.child("digest").text(), _reading(node)
    file = None if source is None else source.text()
    arrays, texts = node.optional("arrays"), node.optional("texts")
    if arrays is None or texts is None:
        if file is None or not known:
            raise InputError(
                f"{node.archive.path}: {node.where} holds neither tracks nor the file they are in"
            )
        return _read_from_file(node, file, known, reading), ""
    entries: dict[str, Any] = {key: texts.child(key).text() for key in texts.keys()}
    for key in arrays.keys():
        entries[key] = node.archive.array(arrays.child(key).text())
    with naming(node.archive.path):
        made = sequence_from(entries)
        path = None if file is None else _resolved(file)
    sequence = replace(made, source=path, digest=known, reading=reading)
    return sequence, "" if path is None else _change(path, known, sequence.name)


def _read_from_file(node: Node, file: str, known: str, reading: dict[str, str | int]) -> Sequence:
    """Read a large sequence from its file, or from one of that name beside the session."""
    recorded = _resolved(file)
    for path in (recorded, node.archive.path.parent / recorded.name):
        sequence = read_unchanged(path, known, reading)
        if sequence is not None:
            return sequence
    became = "has changed since" if os.path.exists(recorded) else "is not there"
    raise InputError(
        f"{node.archive.path}: keeps no copy of the tracks of {file}, which {became}; put the file as it was "
        f"(SHA-256 {known[:12]}…) there or beside the session"
    )


def read_unchanged(path: Path, known: str, reading: Mapping[str, Any]) -> Sequence | None:
    """Return the sequence of a file, read with the options `reading`.

    None where the file is gone, or its bytes have another SHA-256 than `known`.
    """
    if not os.path.isfile(path) or digest(read_bytes(path)) != known:
        return None
    options = dict(reading)
    if "camera" in options:
        options["camera"] = CameraModel(options["camera"])
    return read_sequence(path, **options)


def _change(path: Path, known: str, name: str) -> str:
    """Say what became of a file since, "" where nothing."""
    if not os.path.isfile(path):
        return f"{path} is not there any more: {name} is shown as the session keeps it."
    try:
        if not known or digest(read_bytes(path)) == known:
            return ""
    except InputError as error:
        return f"{error}: {name} is shown as the session keeps it."
    return f"{path} has changed since: {name} is shown as the session keeps it."


def _resolved(file: str) -> Path:
    try:
        return resolve(Path(file))
    except InputError:  # a sample that is not installed here
        return Path(file)


def _reading(node: Node) -> dict[str, str | int]:
    reading: dict[str, str | int] = {}
    given = node.child("reading")
    for key in given.keys():
        value = given.child(key)
        if key == "camera":
            reading[key] = value.one_of(model.value for model in CameraModel)
        elif key == "frame_base":
            reading[key] = value.whole(0, 1)
        elif key == "layout":
            reading[key] = value.text()
        else:
            raise given.refused("camera, layout and frame_base")
    return reading
