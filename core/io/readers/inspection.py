"""What a file holds and what each of its arrays is taken for, before it is opened."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.sequence import Sequence
from ...foundation.exceptions import InputError
from ...foundation.representation import one_line_repr
from ..files.reading_options import ReadingOptions
from ..files.variables import size_of
from .assembly import as_sequence
from .challenge import challenge_file
from .read import read_challenge, read_sequence, reads_as_challenge
from .samples import resolve
from .table import interpret_file, is_sequence_folder, load_file

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ..files.variables import Variables

CHALLENGE = "NRSfM Challenge"
OWN = "nrsfm"


@dataclass(frozen=True)
class ArrayEntry:
    """One array of a file, and what it is taken for."""

    name: str
    size: str  # "60 x 41 x 2", "12 cells of 3 x 41"
    dtype: str  # "float32"; "" for what is no array
    # "tracks", "visibility", "intrinsics", "cameras", "truth", "names", "edges", "scores" or "not read"; ""
    # where the tracks were not found.
    role: str = ""

    __repr__ = one_line_repr


@dataclass(frozen=True, eq=False)
class FileContents:
    """What was understood of a file.

    `problem` is the sentence that reading the file would raise; then there is no `sequence`.
    """

    path: Path
    producer: str = ""  # "CoTracker", "NumPy arrays"
    arrays: tuple[ArrayEntry, ...] = ()
    sequence: Sequence | None = None
    problem: str = ""
    guesses: tuple[str, ...] = ()  # sentences on what the file leaves open
    left_out: tuple[str, ...] = ()  # and on what is not used of it
    individuals: tuple[str, ...] = ()  # of which one is to be chosen
    columns: tuple[str, ...] = ()  # of a table
    reading: Mapping[str, str] = field(default_factory=dict)  # the reading options in effect, given or found

    __repr__ = one_line_repr

    @property
    def states_all(self) -> bool:
        """Whether the format states what each array is: this program's or the Challenge's."""
        return self.producer in (CHALLENGE, OWN)

    @property
    def remarks(self) -> tuple[str, ...]:
        """All sentences on it."""
        return (*self.left_out, *self.guesses)

    @property
    def clear(self) -> bool:
        """Whether the file could be read and nothing was guessed."""
        return self.sequence is not None and not self.guesses


def inspect_file(path: str | os.PathLike[str], **reading: Any) -> FileContents:
    """Return what a file holds and how it is understood; what is wrong with it is a sentence in the answer.

    Parameters
    ----------
    path
        as `read_sequence` accepts it.
    **reading
        the reading options of `read_sequence`.

    Returns
    -------
    FileContents
        with the sequence that `read_sequence` returns with the same options, or the problem.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> from core.io.readers import inspect_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "paper.csv")
    ...     core.write_csv(core.simulate("paper", frames=12, points=20), file)
    ...     inspect_file(file).sequence.frame_count
    12
    """
    found = FileContents(Path(path))
    try:
        options = ReadingOptions(**reading)
        found = replace(found, path=resolve(Path(path)))
        item = challenge_file(found.path)
        if found.path.is_dir() and not is_sequence_folder(found.path):
            return _of_sequence(found, CHALLENGE, read_sequence(found.path, **reading))
        if item is not None and reads_as_challenge(options):
            return _of_sequence(found, CHALLENGE, read_challenge(item, options))
        reader, file = load_file(found.path)
        found = replace(
            found,
            producer=reader.label,
            arrays=_entries(file.variables, {}),
            individuals=file.individuals,
            columns=file.columns,
        )
        options = replace(options, frame_base=1)
        made = interpret_file(reader, file, options)
        sequence = as_sequence(made, file, options)
        if isinstance(made, Sequence):
            return _of_sequence(found, OWN, sequence)
        effective = {**made.reading, "camera": sequence.camera.value} if made.camera_assumed else made.reading
        return replace(
            found,
            producer=made.producer or reader.label,
            arrays=_entries(file.variables, made.roles),
            guesses=made.guesses,
            left_out=made.left_out,
            reading=effective,
            sequence=sequence,
        )
    except InputError as error:
        return replace(found, problem=str(error))


def _of_sequence(found: FileContents, producer: str, sequence: Sequence) -> FileContents:
    """Return the contents of a file in a format that states what each array is."""
    parts: dict[str, tuple[str, Any]] = {
        "tracks": ("tracks", sequence.tracks),
        "visible": ("visibility", sequence.visible),
        "intrinsics": ("intrinsics", sequence.intrinsics),
        "rotations": ("cameras", sequence.rotations),
        "truth": ("truth", None if sequence.truth is None else sequence.truth.points),
        "edges": ("edges", sequence.edges),
    }
    arrays = tuple(
        ArrayEntry(name, size_of(value), str(value.dtype), role)
        for name, (role, value) in parts.items()
        if value is not None
    )
    return replace(found, producer=producer, arrays=arrays, sequence=sequence)


def _entries(variables: Variables, roles: Mapping[str, str]) -> tuple[ArrayEntry, ...]:
    """Return every array with its role: that which was read first, then the others by name."""
    names = [name for name in roles if name in variables] + sorted(set(variables) - set(roles))
    return tuple(
        ArrayEntry(
            name,
            size_of(variables[name]),
            str(variables[name].dtype) if isinstance(variables[name], np.ndarray) else "",
            roles.get(name, "not read" if roles else ""),
        )
        for name in names
    )
