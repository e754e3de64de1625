"""The paper's tables from the results of jobs, with the published numbers below ours on the same data.

Entries are a DataFrame with a row for every sequence and method, without numbers where it was not computed.
Its columns are object, path, camera, method, penalty, loss, log10_loss, before_cut (the loss of the matrix
that was cut to rank K), every error, cpu_seconds, status (how the method ended), real (whether the paper's
tables have the sequence), and command.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.sequence import CameraModel
from ..reconstruction.provenance import options_for
from .published import in_printed_order, published_tables
from .report import Heading, Paragraph, ReportTable, TableCell, format_fixed, write_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from .jobs import JobResult
    from .report import ReportBlock
    from .table_jobs import TableJob

TABLE_ROWS = {
    CameraModel.ORTHOGONAL: ("BMM", "Ours-NN", "Search-NN", "R-BMM", "Ours-WNN", "Search-WNN"),
    CameraModel.PERSPECTIVE: ("ADMM-NN", "Ours-NN", "Search-NN", "ADMM-WNN", "Ours-WNN", "Search-WNN"),
}
ALL_METHODS = [*dict.fromkeys(name for pair in zip(*TABLE_ROWS.values(), strict=True) for name in pair)]
PERSPECTIVE_WNN = TABLE_ROWS[CameraModel.PERSPECTIVE][3:]
LOSS_ROUNDING = 1e-9  # relative difference below which two losses are of one minimum, reached to rounding
LOWER_LOSS = 1e-6  # relative difference from which one loss is called lower
DASH = "–"
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
ALL_ENTRIES = (
    "object",
    "path",
    "camera",
    "method",
    "loss",
    "log10_loss",
    *ERRORS,
    "cpu_seconds",
    "status",
    "command",
)


def table_entries(jobs: Iterable[TableJob], results: Mapping[str, JobResult]) -> pd.DataFrame:
    """Return the entries that the results of the jobs hold; places and methods are in the order of tables."""
    import pandas as pd

    entries: list[dict[str, Any]] = []
    for job in jobs:
        item = job.item
        place: dict[str, Any] = {
            "object": item.object_name,
            "path": item.path_name,
            "camera": item.camera.value,
        }
        place |= {"penalty": job.penalty, "real": item.real}
        found = {row["method"]: row for row in results[job.key].facts.get("rows", ())}
        for method in (name for name in TABLE_ROWS[item.camera] if penalty_of(name) == job.penalty):
            row = found.get(method, {"errors": {}})
            numbers = {
                "loss": row.get("loss"), "cpu_seconds": row.get("cpu_seconds"),
                "before_cut": row.get("loss_before_cut") if method.startswith("ADMM") else None,
            }  # fmt: skip
            ending = {"status": row.get("status"), "command": job.command(method)}
            entries.append(place | {"method": method} | numbers | row["errors"] | ending)
    table = pd.DataFrame(entries).astype(dict.fromkeys(("loss", "before_cut", "cpu_seconds"), float))
    table["log10_loss"] = log10(table["loss"])
    orders = {
        "object": in_printed_order(table["object"], published_tables().objects),
        "path": in_printed_order(table["path"], published_tables().paths),
        "camera": [camera.value for camera in TABLE_ROWS],
        "method": ALL_METHODS,
    }
    for name, order in orders.items():
        table[name] = pd.Categorical(table[name], order, ordered=True)
    return table.reindex(columns=[*dict.fromkeys((*table.columns, *ERRORS))])


def penalty_of(method: str) -> str:
    """Return the penalty of a row of the tables."""
    return {"BMM": "NN", "R-BMM": "WNN"}.get(method, method.rpartition("-")[2])


def log10(values: Any) -> Any:
    """Return logarithms to base 10, minus infinity of 0."""
    with np.errstate(divide="ignore"):
        return np.log10(values)


def write_numbers(entries: pd.DataFrame, path: Path) -> None:
    """Write every number of the tables as csv, with the command that reproduces it.

    Raises InputError where the file cannot be written.
    """
    write_frame(path, entries[entries["loss"].notna()][list(ALL_ENTRIES)])


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
    for group in means.index.unique(first):
        camera = CameraModel(group if first == "camera" else entries["camera"].iat[0])
        part = means.loc[group]
        penalty = ""
        for method in part.index:
            if penalty_of(method) != penalty:
                rules.append(len(rows))
            same = part[[penalty_of(name) == penalty_of(method) for name in part.index]]
            start = "" if penalty else group, method
            penalty = penalty_of(method)
            rows.append((*start, *(_number_cell(part.at[method, name], same[name], digits) for name in part)))
            printed = [
                _published(entries, table, camera, method, dict(zip(by, (group, name), strict=True)))
                for name in part
            ]
            if any(value is not None for value in printed):
                texts = (DASH if value is None else format_fixed(value, digits) for value in printed)
                start = "", TableCell(f"{method}, published", muted=True)
                rows.append((*start, *(TableCell(text, muted=True) for text in texts)))
    return [ReportTable(caption, (first, "method", *means), rows, labels=2, rules=rules)]


def _published(
    entries: pd.DataFrame, table: str, camera: CameraModel, method: str, place: dict[str, str]
) -> float | None:
    """Return a published number, None where there is none, or it is of other sequences than ours."""
    name, path = place["object"], place.get("path")
    of_object = (entries["object"] == name) & (entries["camera"] == camera.value)
    known = entries[of_object & entries["real"] & entries["loss"].notna()]
    if not table or known.empty:
        return None
    if path is not None:
        real = (known["path"] == path).any()
        return published_tables().sequence(table, method, name, path) if real else None
    same = set(known["path"]) == set(published_tables().paths) == set(entries[of_object]["path"])
    return published_tables().average(table, camera, method, name) if same else None


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
    for camera, methods in TABLE_ROWS.items():
        for method in methods:
            part = pairs[(pairs["camera"] == camera.value) & (pairs["method"] == method)]
            if len(part):
                above = part[part["above"]]
                places = ", ".join(f"{row.object} {row.path}" for row in above.itertuples())
                below = int((part["loss_search"] < part["loss"] * (1 - LOWER_LOSS)).sum())
                counts = str(len(part)), str(len(part) - len(above)), str(below)
                rows.append(
                    (camera.value, part["method_search"].iat[0], method, *counts, places or "nowhere")
                )
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
        for method in TABLE_ROWS[job.sequence.camera]:
            if penalty_of(method) == job.penalty:
                settings = job.settings_of(method)
                given = "" if settings is None else shlex.join(options_for(settings))
                text = "from Python alone" if settings is None else f"`nrsfm solve … {given}`"
                options[job.sequence.camera, method] = text
    ends = entries.groupby(["camera", "method"], observed=True)["status"].value_counts()
    rows = []
    for camera, methods in TABLE_ROWS.items():
        for method in [name for name in methods if (camera.value, name) in ends.index]:
            counts = ", ".join(f"{status} {count}" for status, count in ends[camera.value, method].items())
            rows.append((camera.value, method, options[camera, method], counts))
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
    for name, (meaning, unit, digits) in ERRORS.items():
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
    """Return Table A.1 or A.2; `complete` adds the other camera and penalty, which the paper omits.

    `table`: "tableA1" or "tableA2".
    """
    number, digits, meaning, title = APPENDIX[table]
    shown: list[tuple[CameraModel, Sequence[str], str]] = [(CameraModel.PERSPECTIVE, PERSPECTIVE_WNN, table)]
    if complete:
        shown += [(camera, TABLE_ROWS[camera][:3], "") for camera in TABLE_ROWS]
        shown += [(CameraModel.ORTHOGONAL, TABLE_ROWS[CameraModel.ORTHOGONAL][3:], "")]
    blocks: list[ReportBlock] = [Heading(title)]
    for camera, methods, printed in shown:
        part = entries[(entries["camera"] == camera.value) & entries["method"].isin(methods)]
        caption = f"{camera.value}, {penalty_of(methods[-1])}: {meaning}"
        by = "object", "path"
        blocks += methods_table(part, caption, number, digits=digits, by=by, table=printed)
    return blocks
