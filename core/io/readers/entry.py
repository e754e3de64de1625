"""One line of a listing: a sequence that can be read, and the cheap facts about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...foundation.representation import one_line_repr

if TYPE_CHECKING:
    from pathlib import Path

    from ...data.sequence import CameraModel, Sequence


@dataclass(frozen=True)
class SequenceEntry:
    """A sequence found in a folder or file. `read_sequence(entry.file)` reads it.

    Where the file is broken, `problem` is a sentence on it and the facts are zero.
    """

    object_name: str  # "balloon"
    camera: CameraModel | None  # None where the file is broken and does not state it
    path_name: str  # "circle"; empty where the file holds one sequence that has no path
    file: Path
    frames: int = 0
    points: int = 0
    visible_fraction: float = 0.0
    truth_frame: int | None = None  # 0-based frame that the ground truth refers to
    truth_frames: int = 0  # number of frames with ground truth
    intrinsics: bool = False  # whether the file gives K
    rotations: bool = False  # whether the true cameras are known
    companion: bool = False  # whether the same points under an orthogonal camera are there
    edges: int = 0
    faces: int = 0
    problem: str = ""

    __repr__ = one_line_repr


def entry_of(sequence: Sequence) -> SequenceEntry:
    """Return the entry of a sequence that has been read from one file."""
    assert sequence.source is not None  # every reader sets it
    truth = sequence.truth
    return SequenceEntry(
        object_name=sequence.name,
        camera=sequence.camera,
        path_name="",
        file=sequence.source,
        frames=sequence.frame_count,
        points=sequence.point_count,
        visible_fraction=float(sequence.visible.mean()),
        truth_frame=None if truth is None else truth.reference,
        truth_frames=0 if truth is None else len(truth.frames),
        intrinsics=sequence.intrinsics is not None,
        rotations=sequence.rotations is not None,
        companion=sequence.companion is not None,
        edges=0 if sequence.edges is None else len(sequence.edges),
        faces=0 if sequence.faces is None else len(sequence.faces),
    )
