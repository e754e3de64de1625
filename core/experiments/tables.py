"""The paper's tables from the results of jobs, with the published numbers next to ours on the same data."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..data.sequence import CameraModel
from ..reconstruction.provenance import options_for
from .published import mean_log_loss, published_tables
from .report import Heading, Paragraph, ReportTable, TableCell, TableRow, format_fixed, write_csv_table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from .jobs import JobResult
    from .report import ReportBlock
    from .table_data import TableData
    from .table_jobs import TableJob

# The rows of a table: the paper's, then the program's own of today.
TABLE_ROWS = {
    CameraModel.ORTHOGONAL: ("BMM", "Ours-NN", "Search-NN", "R-BMM", "Ours-WNN", "Search-WNN"),
    CameraModel.PERSPECTIVE: ("ADMM-NN", "Ours-NN", "Search-NN", "ADMM-WNN", "Ours-WNN", "Search-WNN"),
}
PERSPECTIVE_WNN = TABLE_ROWS[CameraModel.PERSPECTIVE][3:]
LOSS_ROUNDING = 1e-9  # relative difference below which two losses are of one minimum, reached to rounding
LOWER_LOSS = 1e-6  # relative difference from which one loss is called lower
DASH = "–"
CUT_METHODS = ("ADMM-NN", "ADMM-WNN")  # methods that minimize the same objective, over matrices of any rank
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


@dataclass(frozen=True)
class TableEntry:
    """One method on one sequence, and what was measured."""

    object_name: str
    path_name: str
    camera: CameraModel
    method: str
    loss: float
    errors: Mapping[str, float]
    cpu_seconds: float
    real: bool
    before_cut: float | None  # the loss of the matrix that was cut to rank K, for first-order methods
    status: str  # how the method ended
    command: str

    @property
    def log_loss(self) -> float:
        """The logarithm to base 10 of the loss."""
        return math.log10(self.loss) if self.loss > 0 else -math.inf


class TableEntries:
    """The entries of a report, by object, path, camera and method."""

    def __init__(self, entries: Iterable[TableEntry]) -> None:
        self._by_place = {(e.object_name, e.path_name, e.camera, e.method): e for e in entries}

    def __iter__(self) -> Iterator[TableEntry]:
        return iter(self._by_place.values())

    def get(self, name: str, path: str, camera: CameraModel, method: str) -> TableEntry | None:
        """Return one entry, or None where there is none."""
        return self._by_place.get((name, path, camera, method))

    def of(
        self, name: str, paths: Collection[str], camera: CameraModel, method: str
    ) -> list[TableEntry] | None:
        """Return the entries of a method on the paths of an object, or None unless there is one for each."""
        found = [self.get(name, path, camera, method) for path in paths]
        there = [entry for entry in found if entry is not None]
        return there if there and len(there) == len(found) else None


def table_entries(
    jobs: Iterable[TableJob], data: TableData, results: Mapping[str, JobResult]
) -> TableEntries:
    """Return the entries that the results of the jobs hold."""
    real = {(item.object_name, item.path_name, item.camera): item.real for item in data.items}
    entries = []
    for job in jobs:
        camera = job.sequence.camera
        for row in results[job.key].facts.get("rows", ()):
            entries.append(
                TableEntry(
                    object_name=job.object_name,
                    path_name=job.path_name,
                    camera=camera,
                    method=row["method"],
                    loss=row["loss"],
                    errors=row["errors"],
                    cpu_seconds=row["cpu_seconds"],
                    real=real[job.object_name, job.path_name, camera],
                    before_cut=row["loss_before_cut"] if row["method"] in CUT_METHODS else None,
                    status=row["status"],
                    command=job.command(row["method"]),
                )
            )
    return TableEntries(entries)


def write_numbers(entries: TableEntries, path: Path) -> None:
    """Write every number of the tables as csv, with the command that reproduces it.

    Raises InputError where the file cannot be written.
    """
    header = ["object", "path", "camera", "method", "loss", "log10_loss", *ERRORS]
    lines = [
        [
            *(entry.object_name, entry.path_name, entry.camera.value, entry.method),
            *(entry.loss, entry.log_loss),
            *(entry.errors.get(name) for name in ERRORS),
            *(f"{entry.cpu_seconds:.4f}", entry.status, entry.command),
        ]
        for entry in entries
    ]
    write_csv_table(path, [*header, "cpu_seconds", "status", "command"], lines)


def paths_of(data: TableData, name: str, camera: CameraModel) -> list[str]:
    """Return the paths that the data has of an object under a camera, in the order of the tables."""
    there = {item.path_name for item in data.items if (item.object_name, item.camera) == (name, camera)}
    return [path for path in data.paths if path in there]


def average_table(
    entries: TableEntries,
    data: TableData,
    caption: str,
    average: Callable[[list[TableEntry]], float],
    *,
    digits: int,
    table: str = "",
) -> ReportTable | None:
    """Return averages over the paths of every object: Tables 1 and 2 of the paper."""
    printed = {
        (name, camera): bool(table) and _comparable(entries, data, name, camera)
        for name in data.objects
        for camera in TABLE_ROWS
    }
    with_published = {name: any(printed[name, camera] for camera in TABLE_ROWS) for name in data.objects}
    rows: list[TableRow] = []
    for camera, all_methods in TABLE_ROWS.items():
        values = {
            (method, name): average(found)
            for method in all_methods
            for name in data.objects
            if (found := entries.of(name, paths_of(data, name, camera), camera, method)) is not None
        }
        measured = {method for (method, _), value in values.items() if not math.isnan(value)}
        methods = [method for method in all_methods if method in measured]
        for index, method in enumerate(methods):
            cells = [TableCell(camera.value if index == 0 else ""), TableCell(method)]
            for name in data.objects:
                column = [values.get((m, name), math.nan) for m in methods if _penalty(m) == _penalty(method)]
                cells.append(_number_cell(values.get((method, name), math.nan), column, digits))
                if with_published[name]:
                    there = published_tables().average(table, camera, method, name)
                    cells.append(_published_cell(there if printed[name, camera] else None, digits))
            new_penalty = index > 0 and _penalty(method) != _penalty(methods[index - 1])
            rows.append(TableRow(tuple(cells), rule=bool(rows) and (index == 0 or new_penalty)))
    if not rows:
        return None
    header = ["camera", "method"]
    for name in data.objects:
        header += [name, "published"] if with_published[name] else [name]
    return ReportTable(caption, tuple(header), tuple(rows), labels=2)


def sequence_table(
    entries: TableEntries,
    data: TableData,
    camera: CameraModel,
    methods: Collection[str],
    caption: str,
    value: Callable[[TableEntry], float],
    *,
    digits: int,
    table: str = "",
) -> ReportTable | None:
    """Return one number of every sequence: Tables A.1 and A.2 of the paper; arguments as `average_table`."""
    objects = [name for name in data.objects if paths_of(data, name, camera)]
    methods = [m for m in methods if any(e.method == m and e.camera is camera for e in entries)]
    if not objects or not methods:
        return None
    paths = [path for path in data.paths if any(path in paths_of(data, n, camera) for n in objects)]
    rows = []
    for name in objects:
        for index, method in enumerate(methods):
            found = {path: entries.get(name, path, camera, method) for path in paths}
            cells = [TableCell(name if index == 0 else ""), TableCell(method)]
            for path in paths:
                column = [value(e) for m in methods if (e := entries.get(name, path, camera, m)) is not None]
                entry = found[path]
                cells.append(_number_cell(math.nan if entry is None else value(entry), column, digits))
            rows.append(TableRow(tuple(cells), rule=index == 0))
            shown = [
                published_tables().sequence(table, method, name, path)
                if table and entry is not None and entry.real
                else None
                for path, entry in found.items()
            ]
            if any(there is not None for there in shown):
                cells = [TableCell(""), TableCell(f"{method}, published", muted=True)]
                rows.append(TableRow((*cells, *(_published_cell(there, digits) for there in shown))))
    return ReportTable(caption, ("object", "method", *paths), tuple(rows), labels=2)


def tables_summary(entries: TableEntries) -> str:
    """Return a sentence on how many sequences and penalties no method ends below the search on."""
    search = [entry for entry in entries if entry.method.startswith("Search")]
    above = []
    for entry in search:
        others = [m for m in TABLE_ROWS[entry.camera] if _penalty(m) == _penalty(entry.method)]
        ends = [entries.get(entry.object_name, entry.path_name, entry.camera, other) for other in others]
        if any(entry.loss > end.loss * (1 + LOSS_ROUNDING) for end in ends if end is not None):
            penalty = _penalty(entry.method)
            above.append(f"{entry.object_name} {entry.path_name} {entry.camera.value} {penalty}")
    exceptions = f"; it is above on {', '.join(above)}" if above else ""
    return (
        f"Tables: the loss of the search is not above that of any other method on {len(search) - len(above)} "
        f"of {len(search)} pairs of a sequence and a penalty{exceptions}."
    )


def comparison_table(entries: TableEntries) -> ReportTable:
    """Return on how many sequences no method ends below the search, for every camera and penalty."""
    rows = []
    for camera, methods in TABLE_ROWS.items():
        for method in [name for name in methods if name.startswith("Search")]:
            others = [m for m in methods if _penalty(m) == _penalty(method) and m != method]
            for other in others:
                pairs = [
                    (entry, against)
                    for entry in entries
                    if entry.camera is camera and entry.method == method
                    if (against := entries.get(entry.object_name, entry.path_name, camera, other))
                ]
                if pairs:
                    rows.append(_comparison_row(camera, method, other, pairs))
    header = ("camera", "method", "against", "sequences", "not above", "lower", "where above")
    return ReportTable(
        "On how many sequences the loss of one method is not above that of another (to rounding, "
        f"{LOSS_ROUNDING:.0e}), and lower by more than {LOWER_LOSS:.0e}, relatively",
        header,
        tuple(rows),
        labels=3,
    )


def _comparison_row(
    camera: CameraModel, method: str, other: str, pairs: list[tuple[TableEntry, TableEntry]]
) -> TableRow:
    above = [f"{a.object_name} {a.path_name}" for a, b in pairs if a.loss > b.loss * (1 + LOSS_ROUNDING)]
    below = sum(a.loss < b.loss * (1 - LOWER_LOSS) for a, b in pairs)
    texts = (camera.value, method, other, str(len(pairs)), str(len(pairs) - len(above)), str(below))
    return TableRow(tuple(TableCell(text) for text in (*texts, ", ".join(above) or "nowhere")))


def _comparable(entries: TableEntries, data: TableData, name: str, camera: CameraModel) -> bool:
    """Whether an object's averages are over the same sequences as the paper's."""
    there = {e.path_name for e in entries if (e.object_name, e.camera) == (name, camera) and e.real}
    return there == set(published_tables().paths) == set(paths_of(data, name, camera))


def _penalty(method: str) -> str:
    return {"BMM": "NN", "R-BMM": "WNN"}.get(method, method.rpartition("-")[2])


def _published_cell(value: float | None, digits: int) -> TableCell:
    return TableCell(DASH if value is None else format_fixed(value, digits), muted=True)


def _number_cell(value: float, column: list[float], digits: int) -> TableCell:
    """Return a number, strong where it is the lowest of its column as far as it is printed."""
    if math.isnan(value):
        return TableCell(DASH)
    lowest = len(column) > 1 and f"{value:.{digits}f}" == f"{np.nanmin(column):.{digits}f}"
    return TableCell(format_fixed(value, digits), strong=lowest)


def settings_blocks(jobs: list[TableJob], results: Mapping[str, JobResult]) -> list[ReportBlock]:
    """Return the settings of every row of the tables, and how often its method ended in which way."""
    ends: dict[tuple[CameraModel, str], Counter[str]] = {}
    options = {}
    for job in jobs:
        for row in results[job.key].facts.get("rows", ()):
            place = (job.sequence.camera, row["method"])
            ends.setdefault(place, Counter())[row["status"]] += 1
            settings = job.settings_of(row["method"])
            given = "" if settings is None else shlex.join(options_for(settings))
            options[place] = "from Python alone" if settings is None else f"`nrsfm solve … {given}`"
    rows = []
    for camera, methods in TABLE_ROWS.items():
        for method in [name for name in methods if (camera, name) in ends]:
            counts = ", ".join(f"{status} {count}" for status, count in ends[camera, method].most_common())
            cells = (camera.value, method, options[camera, method], counts)
            rows.append(TableRow(tuple(TableCell(text) for text in cells)))
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


def loss_blocks(entries: TableEntries, data: TableData) -> list[ReportBlock]:
    """Return Table 1."""
    table = average_table(
        entries,
        data,
        "log10 of the mean loss over the paths of an object; the lowest under a penalty in bold, as far as "
        "it is printed",
        lambda found: mean_log_loss([entry.log_loss for entry in found]),
        digits=3,
        table="table1",
    )
    before = average_table(
        entries,
        data,
        "ADMM before the cut to rank K: its matrix may have any rank, and so a lower loss than any of rank K",
        _mean_before_cut,
        digits=3,
    )
    return [Heading("Table 1: mean log loss"), *(made for made in (table, before) if made)]


def _mean_before_cut(found: list[TableEntry]) -> float:
    losses = [entry.before_cut for entry in found if entry.before_cut is not None]
    return float(np.log10(np.mean(losses))) if len(losses) == len(found) else float("nan")


def error_blocks(entries: TableEntries, data: TableData) -> list[ReportBlock]:
    """Return Table 2, and every other error in a table of its own."""
    blocks: list[ReportBlock] = [
        Heading("Table 2: mean errors"),
        Paragraph(
            "Means over the paths of an object. Only the first table is what the paper prints: one "
            "similarity at the ground-truth frame, without mirroring. The depth of an orthogonal camera is "
            "known up to a mirror image, and a lower loss is not always a lower error."
        ),
    ]
    for name, (meaning, unit, digits) in ERRORS.items():
        table = average_table(
            entries,
            data,
            f"`{name}`{', ' * bool(unit)}{unit}: {meaning}",
            partial(_mean_error, name),
            digits=digits,
            table="table2" if name == "procrustes_mm_reference" else "",
        )
        blocks += [table] if table else []
    return blocks


def _mean_error(name: str, found: list[TableEntry]) -> float:
    return float(np.mean([entry.errors.get(name, np.nan) for entry in found]))


def seconds_blocks(entries: TableEntries, data: TableData) -> list[ReportBlock]:
    """Return the mean CPU seconds, without the choice of rotations."""
    table = average_table(
        entries,
        data,
        "Means over the paths of an object, of one thread, without choosing rotations. **Ours** includes the "
        "first-order method that it starts from.",
        lambda found: float(np.mean([entry.cpu_seconds for entry in found])),
        digits=2,
    )
    return [Heading("CPU seconds"), *([table] if table else [])]


def appendix_loss_blocks(entries: TableEntries, data: TableData, *, complete: bool) -> list[ReportBlock]:
    """Return Table A.1; `complete` adds the other camera and penalty, which the paper omits."""
    return _appendix(entries, data, "Table A.1: log loss of every sequence", complete, "tableA1")


def appendix_error_blocks(entries: TableEntries, data: TableData, *, complete: bool) -> list[ReportBlock]:
    """Return Table A.2; `complete` as in `appendix_loss_blocks`."""
    return _appendix(entries, data, "Table A.2: 3-D error of every sequence, mm", complete, "tableA2")


def _appendix(
    entries: TableEntries, data: TableData, title: str, complete: bool, table: str
) -> list[ReportBlock]:
    blocks: list[ReportBlock] = [Heading(title)]
    shown = [(CameraModel.PERSPECTIVE, PERSPECTIVE_WNN, table)]
    if complete:
        shown += [(camera, TABLE_ROWS[camera][:3], "") for camera in TABLE_ROWS]
        shown += [(CameraModel.ORTHOGONAL, TABLE_ROWS[CameraModel.ORTHOGONAL][3:], "")]
    for camera, methods, printed in shown:
        penalty = methods[-1].rpartition("-")[2]
        if table == "tableA1":
            made = sequence_table(
                entries,
                data,
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
                data,
                camera,
                methods,
                f"{camera.value}, {penalty}: `procrustes_mm_reference`",
                lambda entry: entry.errors["procrustes_mm_reference"],
                digits=2,
                table=printed,
            )
        blocks += [made] if made else []
    return blocks


def verdict_blocks(entries: TableEntries) -> list[ReportBlock]:
    """Return on how many sequences no method ends below the search."""
    return [Heading("Lowest losses"), comparison_table(entries)]
