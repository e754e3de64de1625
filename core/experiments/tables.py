"""The paper's tables from the ends of jobs, with the published numbers beside ours on the same data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sequence import CameraModel
from .document import Cell, ReportTable, TableRow
from .published import published

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from .sources import ReportSequences

# The rows of a table: the paper's, then the program's own of today.
METHODS = {
    CameraModel.ORTHOGONAL: ("BMM", "Ours-NN", "Search-NN", "R-BMM", "Ours-WNN", "Search-WNN"),
    CameraModel.PERSPECTIVE: ("ADMM-NN", "Ours-NN", "Search-NN", "ADMM-WNN", "Ours-WNN", "Search-WNN"),
}
PERSPECTIVE_WNN = METHODS[CameraModel.PERSPECTIVE][3:]
SAME = 1e-9  # relative difference below which two losses are of one minimum, reached to rounding
LOWER = 1e-6  # relative difference from which one loss is called lower
MISSING = "–"


@dataclass(frozen=True)
class TableEntry:
    """One end: a sequence, a method, and what was measured."""

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
    """All ends of a report, by object, path, camera and method."""

    def __init__(self, entries: Iterable[TableEntry]) -> None:
        self._by_place = {(e.object_name, e.path_name, e.camera, e.method): e for e in entries}

    def __iter__(self) -> Any:
        return iter(self._by_place.values())

    def get(self, name: str, path: str, camera: CameraModel, method: str) -> TableEntry | None:
        """Return one end, or None where it is not there."""
        return self._by_place.get((name, path, camera, method))

    def of(
        self, name: str, paths: Collection[str], camera: CameraModel, method: str
    ) -> list[TableEntry] | None:
        """Return the ends of a method on the paths of an object, or None unless there is one for each."""
        found = [self.get(name, path, camera, method) for path in paths]
        there = [entry for entry in found if entry is not None]
        return there if there and len(there) == len(found) else None


def paths_of(source: ReportSequences, name: str, camera: CameraModel) -> list[str]:
    """Return the paths that a source has of an object under a camera, in the order of the tables."""
    there = {item.path_name for item in source.items if (item.object_name, item.camera) == (name, camera)}
    return [path for path in source.paths if path in there]


def average_table(
    entries: TableEntries,
    source: ReportSequences,
    caption: str,
    average: Callable[[list[TableEntry]], float],
    *,
    digits: int,
    table: str = "",
) -> ReportTable | None:
    """Return averages over the paths of every object: Tables 1 and 2 of the paper.

    Parameters
    ----------
    entries, source
        the ends, and where they are from.
    caption
        of the table.
    average
        of the ends of one method on all paths of one object; NaN where it has none.
    digits
        after the point.
    table
        "table1" or "table2" for the published numbers beside ours; else none.
    """
    printed = {
        (name, camera): bool(table) and _comparable(entries, source, name, camera)
        for name in source.objects
        for camera in METHODS
    }
    with_published = {name: any(printed[name, camera] for camera in METHODS) for name in source.objects}
    rows: list[TableRow] = []
    for camera, all_methods in METHODS.items():
        values = {
            (method, name): average(found)
            for method in all_methods
            for name in source.objects
            if (found := entries.of(name, paths_of(source, name, camera), camera, method)) is not None
        }
        measured = {method for (method, _), value in values.items() if not math.isnan(value)}
        methods = [method for method in all_methods if method in measured]
        for index, method in enumerate(methods):
            cells = [Cell(camera.value if index == 0 else ""), Cell(method)]
            for name in source.objects:
                column = [values.get((m, name), math.nan) for m in methods if _penalty(m) == _penalty(method)]
                cells.append(_figure(values.get((method, name), math.nan), column, digits))
                if with_published[name]:
                    there = published().average(table, camera, method, name)
                    shown = there if printed[name, camera] else None
                    cells.append(Cell(MISSING if shown is None else number(shown, digits), soft=True))
            new_penalty = index > 0 and _penalty(method) != _penalty(methods[index - 1])
            rows.append(TableRow(tuple(cells), rule=bool(rows) and (index == 0 or new_penalty)))
    if not rows:
        return None
    header = ["camera", "method"]
    for name in source.objects:
        header += [name, "published"] if with_published[name] else [name]
    return ReportTable(caption, tuple(header), tuple(rows), labels=2)


def sequence_table(
    entries: TableEntries,
    source: ReportSequences,
    camera: CameraModel,
    methods: Collection[str],
    caption: str,
    value: Callable[[TableEntry], float],
    *,
    digits: int,
    table: str = "",
) -> ReportTable | None:
    """Return one number of every sequence: Tables A.1 and A.2 of the paper; arguments as `average_table`."""
    objects = [name for name in source.objects if paths_of(source, name, camera)]
    methods = [m for m in methods if any(e.method == m and e.camera is camera for e in entries)]
    if not objects or not methods:
        return None
    paths = [path for path in source.paths if any(path in paths_of(source, n, camera) for n in objects)]
    rows = []
    for name in objects:
        for index, method in enumerate(methods):
            found = {path: entries.get(name, path, camera, method) for path in paths}
            cells = [Cell(name if index == 0 else ""), Cell(method)]
            for path in paths:
                column = [value(e) for m in methods if (e := entries.get(name, path, camera, m)) is not None]
                entry = found[path]
                cells.append(_figure(math.nan if entry is None else value(entry), column, digits))
            rows.append(TableRow(tuple(cells), rule=index == 0))
            printed = [published().sequence(table, method, name, path) if table else None for path in paths]
            shown = [
                there if entry is not None and entry.real else None
                for there, entry in zip(printed, found.values(), strict=True)
            ]
            if any(there is not None for there in shown):
                words = [MISSING if there is None else number(there, digits) for there in shown]
                cells = [Cell(""), Cell(f"{method}, published", soft=True)]
                rows.append(TableRow((*cells, *(Cell(word, soft=True) for word in words))))
    return ReportTable(caption, ("object", "method", *paths), tuple(rows), labels=2)


def summary(entries: TableEntries) -> str:
    """Say on how many sequences and penalties the search is beaten by nothing."""
    search = [entry for entry in entries if entry.method.startswith("Search")]
    above = []
    for entry in search:
        others = [m for m in METHODS[entry.camera] if _penalty(m) == _penalty(entry.method)]
        ends = [entries.get(entry.object_name, entry.path_name, entry.camera, other) for other in others]
        if any(entry.loss > end.loss * (1 + SAME) for end in ends if end is not None):
            penalty = _penalty(entry.method)
            above.append(f"{entry.object_name} {entry.path_name} {entry.camera.value} {penalty}")
    words = f"; it is above on {', '.join(above)}" if above else ""
    return (
        f"Tables: the loss of the search is not above that of any other method on {len(search) - len(above)} "
        f"of {len(search)} pairs of a sequence and a penalty{words}."
    )


def comparison(entries: TableEntries) -> ReportTable:
    """Say, penalty by penalty and camera by camera, on how many sequences the search is not beaten."""
    rows = []
    for camera, methods in METHODS.items():
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
                    rows.append(_compared(camera, method, other, pairs))
    header = ("camera", "method", "against", "sequences", "not above", "lower", "where above")
    return ReportTable(
        "On how many sequences the loss of one method is not above that of another (to rounding, "
        f"{SAME:.0e}), and lower by more than {LOWER:.0e}, relatively",
        header,
        tuple(rows),
        labels=3,
    )


def _compared(
    camera: CameraModel, method: str, other: str, pairs: list[tuple[TableEntry, TableEntry]]
) -> TableRow:
    above = [f"{a.object_name} {a.path_name}" for a, b in pairs if a.loss > b.loss * (1 + SAME)]
    below = sum(a.loss < b.loss * (1 - LOWER) for a, b in pairs)
    counts = (len(pairs), len(pairs) - len(above), below)
    cells = [Cell(camera.value), Cell(method), Cell(other), *(Cell(str(count)) for count in counts)]
    return TableRow((*cells, Cell(", ".join(above) or "nowhere")))


def _comparable(entries: TableEntries, source: ReportSequences, name: str, camera: CameraModel) -> bool:
    """Whether an object's averages are over the same sequences as the paper's."""
    there = {e.path_name for e in entries if (e.object_name, e.camera) == (name, camera) and e.real}
    return there == set(published().paths) == set(paths_of(source, name, camera))


def _penalty(method: str) -> str:
    return {"BMM": "NN", "R-BMM": "WNN"}.get(method, method.rpartition("-")[2])


def _figure(value: float, column: list[float], digits: int) -> Cell:
    """Return a number, strong where it is the lowest of its column as far as it is printed."""
    if math.isnan(value):
        return Cell(MISSING)
    lowest = len(column) > 1 and f"{value:.{digits}f}" == f"{np.nanmin(column):.{digits}f}"
    return Cell(number(value, digits), strong=lowest)


def number(value: float, digits: int) -> str:
    """Return a number with so many digits after the point, and a minus sign where it is negative."""
    return f"{value:.{digits}f}".replace("-", "−")
