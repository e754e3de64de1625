"""The sequences of the tables: the Challenge's own, those of a folder like it, or the bundled samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..foundation.exceptions import InputError
from ..io.readers import list_sequences, read_sequence
from ..io.readers.samples import PREFIX
from .published import in_printed_order, published_tables

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.sequence import CameraModel, Sequence
    from ..io.readers import SequenceEntry


@dataclass(frozen=True, eq=False)
class TableSequence:
    """A sequence and its place in the tables."""

    object_name: str
    path_name: str
    sequence: Sequence
    real: bool  # whether it is one that the paper's tables have

    @property
    def camera(self) -> CameraModel:
        """Which camera it was seen by."""
        return self.sequence.camera


@dataclass(frozen=True, eq=False)
class TableData:
    """The sequences of a report."""

    origin: str  # where the sequences are from
    items: tuple[TableSequence, ...]

    @property
    def real(self) -> bool:
        """Whether all of them are the Challenge's own."""
        return all(item.real for item in self.items)

    @property
    def objects(self) -> list[str]:
        """The objects in the paper's order, then others by name."""
        return in_printed_order((item.object_name for item in self.items), published_tables().objects)


def load_table_data(folder: Path | None, *, frame_base: int = 1) -> TableData:
    """Read the sequences of a folder in the Challenge's layout, or the bundled samples.

    `folder`: the folder; None for the bundled samples. Raises InputError where there are none, one is broken
    or has no ground truth, or several are of one object and path.
    """
    entries = list_sequences(PREFIX if folder is None else folder, frame_base=frame_base)
    items: dict[tuple[str, str, CameraModel], TableSequence] = {}
    for entry in entries:
        if entry.problem:
            raise InputError(entry.problem)
        if entry.camera is None or not entry.path_name:
            continue  # not of the Challenge's layout
        sequence = read_sequence(entry.file, frame_base=frame_base)
        if sequence.truth is None:
            raise InputError(f"{entry.file}: its object has no gt_frame_N.txt, which the errors need")
        place = (entry.object_name, entry.path_name, entry.camera)
        if place in items:
            both = f"{items[place].sequence.source} and {entry.file}"
            raise InputError(f"{both} are of the same object and path; accepted is one of them")
        items[place] = TableSequence(entry.object_name, entry.path_name, sequence, _is_published(entry))
    if not items:
        if folder is None:
            raise InputError("no simulated objects are bundled with this installation; give --data FOLDER")
        raise InputError(
            f"{folder}: holds no sequence of the Challenge's layout, <object>/sequence/{{orthogonal,"
            "perspective}/<path>.txt"
        )
    origin = "bundled simulated objects" if folder is None else str(folder)
    return TableData(origin, tuple(items.values()))


def _is_published(entry: SequenceEntry) -> bool:
    """Whether a sequence is one of the Challenge's own, judged by its name and its ground truth.

    Simulated objects may have the same names, but their shapes are known in every frame.
    """
    tables = published_tables()
    if entry.object_name not in tables.objects or entry.path_name not in tables.paths:
        return False
    number = None if entry.truth_frame is None else entry.truth_frame + 1
    wanted = tables.truth_frames[entry.object_name]
    return entry.truth_frames == 1 and number is not None and number in (wanted, wanted + 1)
