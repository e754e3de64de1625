"""The sections of a report that hold tables: what is said of the methods on all sequences."""

from __future__ import annotations

import shlex
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..data.sequence import CameraModel
from ..reconstruction.provenance import options_for
from .document import Block, Cell, Heading, Paragraph, ReportTable, TableRow
from .published import mean_log_loss
from .tables import (
    METHODS,
    PERSPECTIVE_WNN,
    TableEntries,
    TableEntry,
    average_table,
    comparison,
    sequence_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .job import JobResult
    from .sequence_job import SequenceJob
    from .sources import ReportSequences

ERRORS = {
    "procrustes_mm_reference": ("3-D error at the ground-truth frame", "mm", 2),
    "procrustes_mm_reference_mirror": ("the same, mirror images allowed", "mm", 2),
    "procrustes_mm": ("3-D error over all frames whose truth is known", "mm", 2),
    "procrustes_mm_mirror": ("the same, mirror images allowed", "mm", 2),
    "challenge_v02": ("the Challenge's score, version 0.2, at the ground-truth frame", "mm", 2),
    "e3d_global": ("camera frame, one orthogonal alignment, relative to the spread of the truth", "", 4),
    "frobenius_relative": ("camera frame, relative to the size of the truth", "", 4),
    "reprojection_px": ("root mean square reprojection error", "px, or mm for orthogonal cameras", 3),
}


def settings_blocks(jobs: list[SequenceJob], found: Mapping[str, JobResult]) -> list[Block]:
    """Return how every row of the tables is made, and how often its method came to an end of its own."""
    ends: dict[tuple[CameraModel, str], Counter[str]] = {}
    options = {}
    for job in jobs:
        for row in found[job.key].facts.get("rows", ()):
            place = (job.sequence.camera, row["method"])
            ends.setdefault(place, Counter())[row["status"]] += 1
            settings = job.settings_of(row["method"])
            words = None if settings is None else shlex.join(options_for(settings))
            options[place] = "from Python alone" if words is None else f"`nrsfm solve … {words}`"
    rows = []
    for camera, methods in METHODS.items():
        for method in [name for name in methods if (camera, name) in ends]:
            said = ", ".join(f"{status} {count}" for status, count in ends[camera, method].most_common())
            cells = (camera.value, method, options[camera, method], said)
            rows.append(TableRow(tuple(Cell(word) for word in cells)))
    first = jobs[0].settings
    return [
        Heading("Settings"),
        Paragraph(
            f"K = {first.rank}; η = {first.eta:g}, orthogonal tracks at η = 1; rotations from the orthogonal "
            f"tracks of the same path by Dai et al. at rank {first.rotation_rank}, their depth reflection "
            "chosen by loss; intrinsics estimated from the ground-truth frame; weights 1e-3 (NN), or "
            "5e-3 / (σ(X₀) + 1e-6) (WNN). **ADMM**, **BMM** and **R-BMM** start from the closed form, run "
            "until they converge or stall, within the number of iterations that they have, and are then cut "
            "to rank K. **Ours** is the paper's pipeline: the bilinear form from that cut. **Search** is "
            "this program's default today: the bilinear form from many starts, the lowest end of which wins. "
            "Losses are of the cut, and of one problem, so that they can be compared."
        ),
        ReportTable("", ("camera", "row", "as a command", "ends"), tuple(rows), labels=4),
    ]


def loss_blocks(entries: TableEntries, source: ReportSequences) -> list[Block]:
    """Return Table 1."""
    table = average_table(
        entries,
        source,
        "log10 of the mean loss over the paths of an object; the lowest under a penalty in bold, as far as "
        "it is printed",
        lambda found: mean_log_loss([entry.log_loss for entry in found]),
        digits=3,
        table="table1",
    )
    before = average_table(
        entries,
        source,
        "ADMM before the cut to rank K: its matrix may have any rank, and so a lower loss than any of rank K",
        _mean_before_cut,
        digits=3,
    )
    return [Heading("Table 1: mean log loss"), *(made for made in (table, before) if made)]


def _mean_before_cut(found: list[TableEntry]) -> float:
    losses = [entry.before_cut for entry in found if entry.before_cut is not None]
    return float(np.log10(np.mean(losses))) if len(losses) == len(found) else float("nan")


def error_blocks(entries: TableEntries, source: ReportSequences) -> list[Block]:
    """Return Table 2, and every other error in a table of its own."""
    blocks: list[Block] = [
        Heading("Table 2: mean errors"),
        Paragraph(
            "Means over the paths of an object. Only the first table is what the paper prints: one "
            "similarity at the ground-truth frame, without mirroring. The depth of an orthogonal camera is "
            "known up to a mirror image, and a lower loss is not always a lower error."
        ),
    ]
    for name, (words, unit, digits) in ERRORS.items():
        table = average_table(
            entries,
            source,
            f"`{name}`{', ' * bool(unit)}{unit}: {words}",
            partial(_mean_error, name),
            digits=digits,
            table="table2" if name == "procrustes_mm_reference" else "",
        )
        blocks += [table] if table else []
    return blocks


def _mean_error(name: str, found: list[TableEntry]) -> float:
    return float(np.mean([entry.errors.get(name, np.nan) for entry in found]))


def seconds_blocks(entries: TableEntries, source: ReportSequences) -> list[Block]:
    """Return the mean CPU seconds, without the choice of rotations."""
    table = average_table(
        entries,
        source,
        "Means over the paths of an object, of one thread, without choosing rotations. **Ours** includes the "
        "first-order method that it starts from.",
        lambda found: float(np.mean([entry.cpu_seconds for entry in found])),
        digits=2,
    )
    return [Heading("CPU seconds"), *([table] if table else [])]


def appendix_loss_blocks(entries: TableEntries, source: ReportSequences, *, whole: bool) -> list[Block]:
    """Return Table A.1; `whole` adds the other camera and penalty, which the paper leaves out."""
    return _appendix(entries, source, "Table A.1: log loss of every sequence", whole, "tableA1")


def appendix_error_blocks(entries: TableEntries, source: ReportSequences, *, whole: bool) -> list[Block]:
    """Return Table A.2; `whole` as in `appendix_loss_blocks`."""
    return _appendix(entries, source, "Table A.2: 3-D error of every sequence, mm", whole, "tableA2")


def _appendix(
    entries: TableEntries, source: ReportSequences, title: str, whole: bool, table: str
) -> list[Block]:
    blocks: list[Block] = [Heading(title)]
    shown = [(CameraModel.PERSPECTIVE, PERSPECTIVE_WNN, table)]
    if whole:
        shown += [(camera, METHODS[camera][:3], "") for camera in METHODS]
        shown += [(CameraModel.ORTHOGONAL, METHODS[CameraModel.ORTHOGONAL][3:], "")]
    for camera, methods, printed in shown:
        penalty = methods[-1].rpartition("-")[2]
        if table == "tableA1":
            made = sequence_table(
                entries,
                source,
                camera,
                methods,
                f"{camera.value}, {penalty}: log10 loss",
                lambda entry: entry.log_loss,
                digits=3,
                table=printed,
            )
        else:
            made = sequence_table(
                entries,
                source,
                camera,
                methods,
                f"{camera.value}, {penalty}: `procrustes_mm_reference`",
                lambda entry: entry.errors["procrustes_mm_reference"],
                digits=2,
                table=printed,
            )
        blocks += [made] if made else []
    return blocks


def verdict_blocks(entries: TableEntries) -> list[Block]:
    """Return on how many sequences the search is not beaten."""
    return [Heading("Who ends lowest"), comparison(entries)]
