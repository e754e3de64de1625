"""The paper's tables: their sequences, a job for each under one penalty, and the published numbers.

The sequences are the Challenge's own, those of a folder like it, or the bundled samples; the settings are
the paper's (K = 2, eta = 0.05 or 1, rotations from the orthogonal tracks, intrinsics from the ground-truth
frame). Each row of a table is the end of a method:

    Search-...      the program's default: the bilinear form from several starts; it chooses the rotations
    ADMM-...        perspective: ADMM from the closed form to its end, cut to rank K
    BMM, R-BMM      orthogonal: the same of these
    Ours-...        the paper's pipeline: the bilinear form from that cut

All are ends of the same problem, with the same rotations and weights, so that their losses can be compared.

The published numbers are averages over the six camera paths of the NRSfM Challenge's five objects (Tables 1
and 2), and the numbers of every sequence (Tables A.1 and A.2); K = 2, eta = 0.05.

Entries are a DataFrame with a row for every sequence and method, without numbers where it was not computed.
Its columns are object, path, camera, method, penalty, loss, log10_loss, before_cut (the loss of the matrix
that was cut to rank K), every error, cpu_seconds, status (how the method ended), real (whether the paper's
tables have the sequence), and command.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sequence import CameraModel, Sequence
from ..evaluation import metrics
from ..foundation import Floats, InputError, procrustes
from ..io.readers import SequenceEntry, list_sequences, read_sequence
from ..io.readers.challenge import PREFIX
from ..penalties import NuclearNorm, Penalty, WeightedNuclearNorm
from ..problem import Problem, full_rank_start
from ..problem.factors import Factors, center
from ..reconstruction.progress import Iterate, Point, finish
from ..reconstruction.provenance import command_for, options_for, settings_to_dict
from ..reconstruction.reconstruct import iterate_sequence
from ..reconstruction.result import Result
from ..reconstruction.settings import PRESETS, Settings
from ..solvers import ADMM, BMM, RBMM, Algorithm, VariableProjection, solve
from .jobs import ExperimentJob, JobResult, job_key
from .mocap import BMM_TAU
from .report import Heading, Paragraph, ReportBlock, ReportTable, TableCell, format_fixed

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED_ERRATA = (
    "Table A.1, Balloon/Line: Ours-WNN (-3.096) is printed in bold above ADMM-WNN (-3.130), though it is the "
    "higher loss. The average in Table 1 (-2.931) does not follow from -3.096 (that gives -2.928), but from "
    "about -3.13 in its place: the cell is likely a misprint.",
    "The averages of Table 1 are log10 of the mean loss over the six paths (the rows that Table A.1 has "
    "reproduce that way); those of Table 2 are plain means of Table A.2. Ours are formed in the same way.",
    "Table 2, Articulated, ADMM-WNN: 18.33 mm is printed, and Table A.2 averages to 18.24 mm.",
    "Table 1, orthogonal: R-BMM and Ours-WNN are identical in all five columns, and Ours-WNN is in bold.",
    "Table 1's caption names the perspective data only; its first block is of the orthogonal.",
    "The paper does not state the alignment of its errors in millimeters; ours is one similarity "
    "without mirroring, at the frame that the ground truth is given for.",
)
TABLE_PENALTIES: dict[str, Penalty] = {"NN": NuclearNorm(mu=1e-3), "WNN": WeightedNuclearNorm(xi=5e-3)}
# The first-order method of every camera and penalty: its row, its name on the command line, itself. Its own
# criteria end it; as in the paper it runs until it converges or stalls, up to the limit that it has.
FIRST_ORDER: dict[tuple[CameraModel, str], tuple[str, str, Algorithm[Any]]] = {
    (CameraModel.ORTHOGONAL, "NN"): ("BMM", "bmm", BMM(tau=BMM_TAU, max_iterations=2000)),
    (CameraModel.ORTHOGONAL, "WNN"): ("R-BMM", "r-bmm", RBMM()),
    (CameraModel.PERSPECTIVE, "NN"): ("ADMM-NN", "admm", ADMM()),
    (CameraModel.PERSPECTIVE, "WNN"): ("ADMM-WNN", "admm", ADMM()),
}
# The methods of every camera and penalty, in the order of the tables.
TABLE_ROWS = {
    (camera, penalty): (first, f"Ours-{penalty}", f"Search-{penalty}")
    for (camera, penalty), (first, *_) in FIRST_ORDER.items()
}
ALL_METHODS = ("BMM", "ADMM-NN", "Ours-NN", "Search-NN", "R-BMM", "ADMM-WNN", "Ours-WNN", "Search-WNN")
LOSS_ROUNDING = 1e-9  # relative difference below which two losses are of one minimum, reached to rounding
LOWER_LOSS = 1e-6  # relative difference from which one loss is called lower
DASH = "–"
ERROR_DIGITS = {  # of the errors that have a table
    **dict.fromkeys(("procrustes_mm_reference", "procrustes_mm_reference_mirror", "procrustes_mm"), 2),
    **dict.fromkeys(("procrustes_mm_mirror", "challenge_v02"), 2),
    **dict.fromkeys(("e3d_global", "frobenius_relative"), 4),
    "reprojection_px": 3,
}
# The number of every sequence, its digits, what it is, and the title.
APPENDIX = {
    "tableA1": ("log10_loss", 3, "log10 loss", "Table A.1: log loss of every sequence"),
    "tableA2": (
        "procrustes_mm_reference",
        2,
        "`procrustes_mm_reference`",
        "Table A.2: 3-D error of every sequence, mm",
    ),
}
WRITTEN_ENTRIES = (  # the columns of numbers.csv
    *("object", "path", "camera", "method", "loss", "log10_loss"),
    *ERROR_DIGITS,
    *("cpu_seconds", "status", "command"),
)


@dataclass(frozen=True)
class PublishedTables:
    """The paper's tables; values of objects in the order of `objects`, of paths in that of `paths`."""

    source: str
    objects: tuple[str, ...]
    paths: tuple[str, ...]
    truth_frames: Mapping[str, int]  # number in the name of each object's gt_frame_N.txt
    table1: Mapping[str, Mapping[str, tuple[float, ...]]]  # camera, method: log10 loss of every object
    table2: Mapping[str, Mapping[str, tuple[float, ...]]]  # camera, method: mm of every object
    tableA1: Mapping[str, Mapping[str, tuple[float, ...]]]  # method, object: log10 loss of every path
    tableA2: Mapping[str, Mapping[str, tuple[float, ...]]]  # method, object: mm of every path

    def find(self, table: str, first: str, second: str, place: str) -> float | None:
        """Return what a table prints for an object or a path, None where it has no such cell."""
        values = getattr(self, table).get(first, {}).get(second)
        places = self.paths if table in APPENDIX else self.objects
        return values[places.index(place)] if values and place in places else None


@cache
def published_tables() -> PublishedTables:
    """Return the paper's tables, read from the package's own file."""
    file = Path(__file__).with_name("published.json")
    numbers = json.loads(file.read_text(encoding="utf-8"))
    return PublishedTables(**numbers | {name: tuple(numbers[name]) for name in ("objects", "paths")})


def in_printed_order(names: Iterable[str], printed: SequenceOf[str]) -> list[str]:
    """Return names once each: those that the paper prints in its order, then others by the alphabet."""
    known = set(names)
    return [*(name for name in printed if name in known), *sorted(known.difference(printed))]


@dataclass(frozen=True, eq=False)
class TableSequence:
    """A sequence and its place in the tables."""

    object_name: str
    path_name: str
    sequence: Sequence
    real: bool  # whether it is one that the paper's tables have


def load_table_data(folder: Path | None, *, frame_base: int = 1) -> list[TableSequence]:
    """Read the sequences of a folder in the Challenge's layout; None chooses the bundled samples."""
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
    return [*items.values()]


def _is_published(entry: SequenceEntry) -> bool:
    """Whether a sequence is one of the Challenge's own, judged by its name and its ground truth.

    Simulated objects may have the same names, but their shapes are known in every frame.
    """
    tables = published_tables()
    if entry.object_name not in tables.objects or entry.path_name not in tables.paths:
        return False
    number = tables.truth_frames[entry.object_name]  # counted from 0 or from 1
    return entry.truth_frames == 1 and entry.truth_frame in (number - 1, number)


@dataclass(frozen=True, eq=False)
class TableJob(ExperimentJob):
    """All methods on one sequence. `penalty` is a key of `TABLE_PENALTIES`."""

    item: TableSequence
    penalty: str
    settings: Settings  # the paper's, with the program's default method

    @property
    def sequence(self) -> Sequence:
        """What is solved."""
        return self.item.sequence

    def run(self) -> JobResult:
        """Solve by every method, and measure every solution."""
        last, seconds = self._search()
        rows, arrays = [], {}

        def add(name: str, candidate: Point, seconds: float, **more: Any) -> None:
            # Of the history only its length is asked for, and every end has its own.
            result = finish(self.sequence, self.settings, replace(last, best=candidate), [])
            errors, loss = _errors(result, self.sequence), candidate.loss
            rows.append({"method": name, "loss": loss, "errors": errors, "cpu_seconds": seconds, **more})
            arrays[f"estimate {name}"] = aligned_estimate(result)

        losses = [start.loss for start in last.starts]
        add(f"Search-{self.penalty}", last.best, seconds, status=last.status.value, starts=losses)
        problem = last.best.problem
        name, _, algorithm = FIRST_ORDER[self.sequence.camera, self.penalty]
        cut, first_seconds, ending = _solved(problem, algorithm, center(full_rank_start(problem)))
        add(name, cut, first_seconds, **ending)
        polish = VariableProjection(
            tolerance=self.settings.tolerance, max_iterations=self.settings.max_iterations
        )
        refined, more_seconds, ending = _solved(problem, polish, cut.factors)
        refined = min(refined, cut, key=lambda end: end.loss)
        add(f"Ours-{self.penalty}", refined, first_seconds + more_seconds, **ending)
        truth = self.sequence.truth
        assert truth is not None  # `load_table_data` refuses sequences without one
        shape = truth.at(truth.reference)
        assert shape is not None  # GroundTruth checks that its reference is one of its frames
        return JobResult({"rotations": last.rotations, "rows": rows}, arrays | {"truth": shape})

    def settings_of(self, row: str) -> Settings | None:
        """Return the settings that end where a row does; None for refining BMM, which has none."""
        if row == f"Search-{self.penalty}":
            return self.settings
        _, method, algorithm = FIRST_ORDER[self.sequence.camera, self.penalty]
        if row == f"Ours-{self.penalty}":
            if method != "admm":
                return None
            method = "admm+bilinear"
        changes: dict[str, Any] = {
            "method": method,
            "max_iterations": max(algorithm.max_iterations, self.settings.max_iterations),
        }
        if method == "bmm":
            changes["options"] = (("tau", BMM_TAU),)
        return self.settings.with_changes(**changes)

    def _search(self) -> tuple[Iterate, float]:
        """Return the last iterate, and the CPU seconds without those of choosing rotations."""
        seconds, before = 0.0, time.process_time()
        for last in iterate_sequence(self.sequence, self.settings):
            now = time.process_time()
            seconds += now - before if last.rotations_chosen else 0.0
            before = now
        return last, seconds


def table_job(item: TableSequence, penalty: str) -> TableJob:
    """Return the job of a sequence under a penalty."""
    sequence, first_order = item.sequence, FIRST_ORDER[item.sequence.camera, penalty]
    settings = PRESETS["paper"].with_changes(method="bilinear", penalty=TABLE_PENALTIES[penalty])
    values = settings_to_dict(settings) | {"first-order": repr(first_order)}
    key = job_key("sequence", sequence.content, values)
    label = f"{item.object_name} {item.path_name} {sequence.camera.value} {penalty}"
    cost = 1e-3 * sequence.visible.size * first_order[2].max_iterations
    return TableJob(key, label, cost, item, penalty, settings)


def _solved(
    problem: Problem, algorithm: Algorithm[Any], start: Factors
) -> tuple[Point, float, dict[str, Any]]:
    """Return the end of a method, cut to the problem's rank, its CPU seconds, and how it ended."""
    began = time.process_time()
    last = solve(problem, algorithm, start)
    seconds = time.process_time() - began
    factors = algorithm.factors(problem, last.state)
    ending = {
        "iterations": last.progress.iteration,
        "status": last.status.value,
        "loss_before_cut": last.progress.loss,
    }
    return Point(problem, factors, problem.loss(factors)), seconds, ending


def _errors(result: Result, sequence: Sequence) -> dict[str, float]:
    """Return all errors that the truth allows, those of all frames only where it has more than one."""
    errors = metrics.errors_of(result) | metrics.published_errors(result, metrics.camera_truth(sequence))
    mirrored = metrics.procrustes_at_reference(result, reflection=True)
    assert mirrored is not None and sequence.truth is not None  # `load_table_data` has refused others
    errors["procrustes_mm_reference_mirror"] = mirrored
    if len(sequence.truth.frames) == 1:
        del errors["procrustes_mm"], errors["procrustes_mm_mirror"]
    return errors


def aligned_estimate(result: Result) -> Floats:
    """Return the estimate of the truth's reference frame, (3, P), moved onto it by a similarity."""
    truth = result.truth
    assert truth is not None
    mirror = result.camera is CameraModel.ORTHOGONAL  # which cannot distinguish a shape from its mirror image
    source, target = result.points[truth.reference], truth.at(truth.reference)
    assert target is not None  # GroundTruth checks that its reference is one of its frames
    return procrustes(source, target, reflection=mirror).apply(source)


def table_entries(jobs: Iterable[TableJob], results: Mapping[str, JobResult]) -> pd.DataFrame:
    """Return the entries that the results of the jobs hold; places and methods are in the order of tables."""
    import pandas as pd

    entries: list[dict[str, Any]] = []
    for job in jobs:
        place = {"object": job.item.object_name, "path": job.item.path_name, "real": job.item.real}
        place |= {"camera": job.sequence.camera.value, "penalty": job.penalty}
        found = {row["method"]: row for row in results[job.key].facts.get("rows", ())}
        for method in TABLE_ROWS[job.sequence.camera, job.penalty]:
            row = found.get(method, {})
            numbers = {name: row.get(name) for name in ("loss", "cpu_seconds", "status")}
            numbers["before_cut"] = row.get("loss_before_cut") if method.startswith("ADMM") else None
            numbers |= row.get("errors", {})
            settings = job.settings_of(method)
            command = "" if settings is None else command_for(job.sequence, settings)
            entries.append({**place, "method": method, **numbers, "command": command})
    table = pd.DataFrame(entries).astype(dict.fromkeys(("loss", "before_cut", "cpu_seconds"), float))
    table["log10_loss"] = log10(table["loss"])
    orders = {
        "object": in_printed_order(table["object"], published_tables().objects),
        "path": in_printed_order(table["path"], published_tables().paths),
        "camera": [*dict.fromkeys(camera.value for camera, _ in TABLE_ROWS)],
        "method": ALL_METHODS,
    }
    for name, order in orders.items():
        table[name] = pd.Categorical(table[name], order, ordered=True)
    return table.reindex(columns=[*dict.fromkeys((*table.columns, *ERROR_DIGITS))])


def penalty_of(method: str) -> str:
    """Return the penalty of a row of the tables."""
    return {"BMM": "NN", "R-BMM": "WNN"}.get(method, method.rpartition("-")[2])


def log10(values: Any) -> Any:
    """Return logarithms to base 10, minus infinity of 0."""
    with np.errstate(divide="ignore"):
        return np.log10(values)


def methods_table(
    entries: pd.DataFrame,
    caption: str,
    number: str,
    *,
    digits: int,
    by: tuple[str, str] = ("camera", "object"),
    logarithm: bool = False,
    table: str = "",
) -> list[ReportTable]:
    """Return the mean of a number for every method, and the published one where it is of the same sequences.

    `by`: what groups the rows, and what is over the columns: camera and object, of whose paths it is the mean
    (Tables 1 and 2 of the paper), or object and path (A.1 and A.2); `logarithm`: of the mean its logarithm;
    `table`: the published one, "" for none. Returns no table where there is no such number.
    """
    first, across = by
    grouped = entries.groupby([first, "method", across], observed=True)[number]
    means = grouped.agg(lambda each: each.mean(skipna=False))
    means = (log10(means) if logarithm else means).unstack(across).dropna(how="all").sort_index(axis=1)
    if means.empty:
        return []
    rows: list[tuple[str | TableCell, ...]] = []
    rules = []
    for group, part in means.groupby(level=first, observed=True):
        camera = CameraModel(group if first == "camera" else entries["camera"].iat[0])
        label = group
        for _, same in part.droplevel(first).groupby(penalty_of, sort=False):
            rules.append(len(rows))
            for method, values in same.iterrows():
                cells = (_number_cell(value, same[name], digits) for name, value in values.items())
                rows.append((label, method, *cells))
                label = ""
                printed = [
                    _published(entries, table, camera, method, dict(zip(by, (group, name), strict=True)))
                    for name in same
                ]
                if any(value is not None for value in printed):
                    texts = (DASH if value is None else format_fixed(value, digits) for value in printed)
                    line = f"{method}, published", *texts
                    rows.append(("", *(TableCell(text, muted=True) for text in line)))
    return [ReportTable(caption, (first, "method", *means), rows, labels=2, rules=rules)]


def _published(
    entries: pd.DataFrame, table: str, camera: CameraModel, method: str, place: dict[str, str]
) -> float | None:
    """Return a published number, None where there is none, or it is of other sequences than ours."""
    name, path, tables = place["object"], place.get("path"), published_tables()
    of_object = entries[(entries["object"] == name) & (entries["camera"] == camera.value)]
    known = set(of_object["path"][of_object["real"] & of_object["loss"].notna()])
    if not table or not known:
        return None
    if path is not None:
        return tables.find(table, method, name, path) if path in known else None
    same = known == set(tables.paths) == set(of_object["path"])
    return tables.find(table, camera.value, method, name) if same else None


def _number_cell(value: float, column: pd.Series, digits: int) -> TableCell:
    """Return a number, strong where it is the lowest of its column as far as it is printed."""
    if np.isnan(value):
        return TableCell(DASH)
    lowest = len(column.dropna()) > 1 and f"{value:.{digits}f}" == f"{column.min():.{digits}f}"
    return TableCell(format_fixed(value, digits), strong=lowest)


def search_pairs(entries: pd.DataFrame) -> pd.DataFrame:
    """Return the search beside every other method on the same sequence and penalty, a row each.

    Its columns are those of entries, with `_search` of the search, and `above`: whether the search is.
    """
    place = ["camera", "penalty", "object", "path"]
    known = entries[entries["loss"].notna()]
    searched = known["method"].str.startswith("Search")
    pairs = known[searched].merge(known[~searched], on=place, suffixes=("_search", ""))
    pairs["above"] = pairs["loss_search"] > pairs["loss"] * (1 + LOSS_ROUNDING)
    return pairs


def tables_summary(entries: pd.DataFrame) -> str:
    """Return a sentence on how many sequences and penalties no method ends below the search on."""
    pairs = search_pairs(entries)
    above = pairs[pairs["above"]][["object", "path", "camera", "penalty"]].drop_duplicates()
    total = int((entries["loss"].notna() & entries["method"].str.startswith("Search")).sum())
    exceptions = f"; it is above on {', '.join(map(' '.join, above.itertuples(index=False)))}"
    return (
        f"Tables: the loss of the search is not above that of any other method on {total - len(above)} "
        f"of {total} pairs of a sequence and a penalty{exceptions if len(above) else ''}."
    )


def comparison_table(entries: pd.DataFrame) -> ReportTable:
    """Return on how many sequences no method ends below the search, for every camera and penalty."""
    pairs = search_pairs(entries)
    rows = []
    for (camera, method), part in pairs.groupby(["camera", "method"], observed=True):
        above = part[part["above"]]
        places = ", ".join(f"{row.object} {row.path}" for row in above.itertuples())
        below = int((part["loss_search"] < part["loss"] * (1 - LOWER_LOSS)).sum())
        counts = str(len(part)), str(len(part) - len(above)), str(below)
        rows.append((camera, part["method_search"].iat[0], method, *counts, places or "nowhere"))
    header = ("camera", "method", "against", "sequences", "not above", "lower", "where above")
    caption = (
        "On how many sequences the loss of one method is not above that of another (to rounding, "
        f"{LOSS_ROUNDING:.0e}), and lower by more than {LOWER_LOSS:.0e}, relatively"
    )
    return ReportTable(caption, header, rows, labels=3)


def settings_blocks(jobs: list[TableJob], entries: pd.DataFrame) -> list[ReportBlock]:
    """Return the settings of every row of the tables, and how often its method ended in which way."""
    options = {}
    for job in jobs:
        for method in TABLE_ROWS[job.sequence.camera, job.penalty]:
            settings = job.settings_of(method)
            given = "" if settings is None else shlex.join(options_for(settings))
            text = "from Python alone" if settings is None else f"`nrsfm solve … {given}`"
            options[job.sequence.camera.value, method] = text
    rows = []
    for place, ends in entries.groupby(["camera", "method"], observed=True)["status"]:
        counts = ", ".join(f"{status} {count}" for status, count in ends.value_counts().items())
        if counts:
            rows.append((*place, options[place], counts))
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
        ReportTable("", ("camera", "row", "as a command", "ends"), rows, labels=4),
    ]


def loss_blocks(entries: pd.DataFrame) -> list[ReportBlock]:
    """Return Table 1."""
    caption = (
        "log10 of the mean loss over the paths of an object; the lowest under a penalty in bold, as far as "
        "it is printed"
    )
    before = (
        "ADMM before the cut to rank K: its matrix may have any rank, and so a lower loss than any of rank K"
    )
    return [
        Heading("Table 1: mean log loss"),
        *methods_table(entries, caption, "loss", logarithm=True, digits=3, table="table1"),
        *methods_table(entries, before, "before_cut", logarithm=True, digits=3),
    ]


def error_blocks(entries: pd.DataFrame) -> list[ReportBlock]:
    """Return Table 2, and every other error in a table of its own."""
    blocks: list[ReportBlock] = [
        Heading("Table 2: mean errors"),
        Paragraph(
            "Means over the paths of an object. Only the first table is what the paper prints: one "
            "similarity at the ground-truth frame, without mirroring. The depth of an orthogonal camera is "
            "known up to a mirror image, and a lower loss is not always a lower error."
        ),
    ]
    for name, digits in ERROR_DIGITS.items():
        _, unit, meaning = metrics.ERROR_NAMES[name]
        unit = "px, or mm for orthogonal cameras" if unit == "px" else unit
        caption = f"`{name}`{', ' * bool(unit)}{unit}: {meaning}"
        printed = "table2" if name == "procrustes_mm_reference" else ""
        blocks += methods_table(entries, caption, name, digits=digits, table=printed)
    return blocks


def seconds_blocks(entries: pd.DataFrame) -> list[ReportBlock]:
    """Return the mean CPU seconds, without the choice of rotations."""
    caption = (
        "Means over the paths of an object, of one thread, without choosing rotations. **Ours** includes the "
        "first-order method that it starts from."
    )
    return [Heading("CPU seconds"), *methods_table(entries, caption, "cpu_seconds", digits=2)]


def appendix_blocks(entries: pd.DataFrame, table: str, *, complete: bool) -> list[ReportBlock]:
    """Return "tableA1" or "tableA2"; `complete` adds the other camera and penalty, which the paper omits."""
    number, digits, meaning, title = APPENDIX[table]
    paper = CameraModel.PERSPECTIVE, "WNN"
    others = sorted(TABLE_ROWS.keys() - {paper}, key=lambda place: (place[1], place[0].value))
    blocks: list[ReportBlock] = [Heading(title)]
    for camera, penalty in (paper, *(others if complete else ())):
        part = entries[(entries["camera"] == camera.value) & (entries["penalty"] == penalty)]
        caption = f"{camera.value}, {penalty}: {meaning}"
        printed = table if (camera, penalty) == paper else ""
        blocks += methods_table(part, caption, number, digits=digits, by=("object", "path"), table=printed)
    return blocks
