"""BMM and R-BMM on a motion-capture file as a job, and the section of the report that they fill."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..io.readers.source import read_bytes
from .document import Block, BulletList, Cell, Heading, Paragraph, ReportTable, TableRow
from .job import JobResult, key_of
from .mocap import ACCOUNT, LIMIT, PUBLISHED, TAU, XI, bmm_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class MocapJob:
    """All rows of one motion-capture file."""

    path: Path

    @property
    def label(self) -> str:
        """The name of the sequence."""
        return f"BMM and R-BMM on {PUBLISHED[self.path.stem].name}"

    @property
    def cost(self) -> float:
        """About that of a long curve of Figure 1."""
        return 200_000.0

    @property
    def key(self) -> str:
        """Of the file, the settings and the version."""
        digest = hashlib.sha256(read_bytes(self.path)).hexdigest()
        return key_of("mocap", digest, {"values": [repr(PUBLISHED[self.path.stem]), XI, TAU, LIMIT]})

    def run(self) -> JobResult:
        """Run both methods, on estimated and on true rotations."""
        return JobResult({"rows": [asdict(row) for row in bmm_rows(self.path)]})


def mocap_jobs(real: Path | None) -> list[MocapJob]:
    """Return a job for every file of the published tables that `real/mocap` holds."""
    if real is None:
        return []
    paths = [real / "mocap" / f"{name}.mat" for name in PUBLISHED]
    return [MocapJob(path) for path in paths if path.is_file()]


def mocap_blocks(jobs: Collection[MocapJob], found: Mapping[str, JobResult]) -> list[Block]:
    """Return the table of e3D, the published numbers beside ours."""
    rows = [
        _row(values, rule=index == 0)
        for job in jobs
        for index, values in enumerate(found[job.key].facts.get("rows", ()))
    ]
    header = (
        "sequence",
        "method",
        "rotations",
        "ends",
        "K",
        "rotation error, °",
        "camera",
        "published",
        "object",
        "iterations",
        "CPU s",
    )
    return [
        Heading("BMM and R-BMM on motion capture"),
        Paragraph(
            "`e3d_global`: one orthogonal alignment of the whole sequence, relative to the spread of the "
            "truth; published by Dai et al. (2014) for BMM and by Kumar (2020) for R-BMM. **camera** "
            "compares in the camera's coordinates, where the tracks fix x and y; **object** in those of the "
            "file's shapes, where an error of a rotation turns its whole frame. The papers do not print all "
            "that would make their numbers again: the K of every sequence, the weights and the rotations are "
            "choices here, and the shapes of dance, face and shark turn before a fixed camera, so that there "
            "is no **object** to compare there. Where ours is far from the published number, read it as "
            "that, not as a reproduction."
        ),
        ReportTable("", header, tuple(rows), labels=4),
        BulletList(ACCOUNT),
    ]


def _row(values: Mapping[str, Any], *, rule: bool) -> TableRow:
    error = values["rotation_error"]
    cells = [
        Cell(values["sequence"] if rule else ""),
        Cell(values["method"]),
        Cell(values["rotations"]),
        Cell(values["status"]),
        Cell(str(values["rank"])),
        Cell("–" if error is None else f"{error:.2f}"),
        Cell(f"{values['camera']:.4f}"),
        Cell(f"{values['published']:.4f}", soft=True),
        Cell("–" if values["object"] is None else f"{values['object']:.4f}"),
        Cell(str(values["iterations"])),
        Cell(f"{values['seconds']:.1f}"),
    ]
    return TableRow(tuple(cells), rule=rule)
