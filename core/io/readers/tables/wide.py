"""Tables with one line per frame: DeepLabCut's, Lightning Pose's, any other by the names of its columns.

The header of the former has three rows, or four with individuals:

    scorer,net,net,net,net,...
    individuals,mouse1,mouse1,mouse1,mouse2,...     (only with several animals)
    bodyparts,nose,nose,nose,tail,...
    coords,x,y,likelihood,x,...
    0,410.3,217.9,0.998,388.1,...

The first columns number the frame, or name its picture in a table of labels, which has no likelihood.
Lightning Pose adds a last column, set. A field is empty where a point is missing. DeepLabCut writes the same
table as HDF5, by pandas: its values, and the names of its columns as a pickle.

Other tables have columns x0,y0,x1,y1 or nose_x,nose_y,nose_score, with a column of frames or without. Anipose
writes 3-D points in one, nose_x,nose_y,nose_z,nose_error: see `markers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ....foundation.exceptions import InputError
from ....foundation.types import Floats
from ...files.reading_options import NO_MASK, ReadingOptions
from ...files.variables import LoadedFile, Parts, Variables, is_array
from ..arrays.saved_arrays import unpickle
from ..geometry.markers import turning_views
from ..keypoints.poses import CUTOFF, HALF, read_individual
from .delimited import Table

Points: TypeAlias = dict[str, dict[str, int]]  # the columns of each: {"nose": {"x": 1, "y": 2, "score": 3}}

FRAME = "df_with_missing"  # the group of an HDF5 file that holds such a table
LEVELS = ["scorer", "individuals", "bodyparts", "coords"]  # rows of the header; the second may be absent
_ONE = ""  # the individual of a table without individuals
_NAMES, _PLACES, _SCORES, _PICTURES = "bodyparts", "coords", "likelihood", "pictures"  # arrays
# What a column is of its point.
_OF_POINT = {
    **{name: name for name in "xyz"},
    **dict.fromkeys("likelihood score confidence conf visibility visible vis v c".split(), "score"),
    **dict.fromkeys(("error", "ncams"), "3-D"),
}  # fmt: skip
_FIRST = re.compile(r"([a-z]+)[ _.-]?(\d+)|([xyz])[ _.-](.+)", re.IGNORECASE)  # x0, x_nose
_LAST = re.compile(r"(.+)[ _.-]([a-z]+)|(.*\d)([xyzvc])", re.IGNORECASE)  # nose_x, p1x


def usual_threshold(name: str) -> float:
    """Return the score in a column of this name from which on a point is visible, where none is given."""
    return CUTOFF if "likelihood" in name.lower() else HALF


def is_pose_table(table: Table) -> bool:
    """Return whether a table has the header of DeepLabCut."""
    coords = _row(table, "coords")
    return _row(table, "bodyparts") is not None and coords is not None and {"x", "y"} <= set(coords)


def _row(table: Table, name: str) -> tuple[str, ...] | None:
    return next((row for row in table.header if row[0].lower() == name), None)


def table_of_frame(variables: Variables) -> Table:
    """Return the table that pandas has written as HDF5, with the fields that the csv would have."""
    frame = variables[FRAME].get("table", {})
    values, pickled = frame.get("values_block_0"), frame.get("values_block_0_kind")
    if not is_array(values, 2) or pickled is None:
        raise InputError(f"{FRAME} is no table of DeepLabCut; accepted is what analyze_videos writes")
    names = [[str(level) for level in column] for column in unpickle(str(pickled).encode())]
    counts = {len(column) for column in names}
    levels = LEVELS if counts == {len(LEVELS)} else [LEVELS[0], *LEVELS[2:]]
    if counts != {len(levels)} or len(names) != len(values):
        raise InputError(f"{FRAME} has columns of other names; accepted are {', '.join(LEVELS)}")
    header = tuple((level, *column) for level, column in zip(levels, zip(*names, strict=True), strict=True))
    rows = [
        [str(number), *("" if value != value else repr(value) for value in row)]
        for number, row in enumerate(values.T.tolist())
    ]
    return Table(header, rows, list(range(len(rows))), ",")


def _columns_of(table: Table) -> Iterator[tuple[str, str, str, int]]:
    """Yield the individual, the point, the kind and the index of each column that is of a point."""
    points, kinds, individuals = (_row(table, name) for name in ("bodyparts", "coords", "individuals"))
    for index, name in enumerate(table.columns):
        if points is not None and kinds is not None:
            kind = _OF_POINT.get(kinds[index].lower())
            if kind is not None:
                yield _ONE if individuals is None else individuals[index], points[index], kind, index
            continue
        for pattern, of_point, of_kind in ((_LAST, 0, 1), (_FIRST, 1, 0)):
            match = pattern.fullmatch(name)
            groups = [group for group in match.groups() if group is not None] if match else []
            if groups and groups[of_kind].lower() in _OF_POINT:
                yield _ONE, groups[of_point], _OF_POINT[groups[of_kind].lower()], index
                break


def points_of(table: Table) -> dict[str, Points]:
    """Return the points of each individual; of a table that is not DeepLabCut's those with x and y."""
    found: dict[str, Points] = {}
    for individual, point, kind, index in _columns_of(table):
        found.setdefault(individual, {}).setdefault(point, {}).setdefault(kind, index)
    for points in found.values():
        for point in [point for point, columns in points.items() if not {"x", "y"} <= columns.keys()]:
            del points[point]
            if is_pose_table(table):
                raise InputError(f"bodypart {point} has no x or no y; accepted are columns of both")
    return found


def _coordinates(table: Table, points: Points, axes: str) -> Floats:
    """Return coordinates (F, P, axes)."""
    return np.stack([table.numbers([columns[axis] for columns in points.values()]) for axis in axes], axis=2)


def _scores(table: Table, points: Points) -> Floats | None:
    """Return the scores (F, P), infinite of points without; None where no point has one."""
    scored = {number: c["score"] for number, c in enumerate(points.values()) if "score" in c}
    if not scored:
        return None
    scores = np.full((len(table.rows), len(points)), np.inf)
    scores[:, list(scored)] = table.numbers(list(scored.values()))
    return scores


def load_poses(path: Path, content: bytes, table: Table) -> LoadedFile:
    """Return each individual's points (F, P, 2), their likelihood (F, P) and names, of DeepLabCut."""
    individuals: dict[str, Variables] = {}
    for individual, points in points_of(table).items():
        arrays = {_NAMES: np.array(list(points)), _PLACES: _coordinates(table, points, "xy")}
        scores = _scores(table, points)
        individuals[individual] = arrays if scores is None else arrays | {_SCORES: scores}
    variables = individuals.pop(_ONE, {}) | individuals
    if table.rows and not table.texts(0)[0].isdigit():
        variables[_PICTURES] = np.array(table.texts(0))
    return LoadedFile(path, content, variables, tuple(individuals))


def is_poses(file: LoadedFile) -> bool:
    """Return whether the content of a file is that of a table of DeepLabCut."""
    return {_NAMES, _PLACES} <= file.arrays(next(iter(file.individuals), _ONE)).keys()


def read_poses(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the tracks of one individual of DeepLabCut, visible from a likelihood on."""
    names = file.individuals or (_ONE,)
    found = [file.variables[name] for name in file.individuals] or [file.variables]
    poses = [(arrays[_PLACES], arrays.get(_SCORES)) for arrays in found]
    index, parts = read_individual(names, poses, options, "DeepLabCut", "likelihood", CUTOFF)
    roles = {_PLACES: "tracks", _NAMES: "names", _SCORES: "scores", _PICTURES: "frames"}
    guess = "the rows are labelled pictures: they may be far apart in time, or of several videos"
    return replace(
        parts,
        point_names=tuple(found[index][_NAMES].tolist()),
        guesses=(guess,) if _PICTURES in file.variables else (),
        roles={name: role for name, role in roles.items() if name in {**file.variables, **found[index]}},
    )


def read_wide(table: Table, points: Points, options: ReadingOptions) -> Parts:
    """Return the tracks of another table, visible from a score on; of Anipose views of its 3-D points."""
    names = None if all(name.isdigit() for name in points) else tuple(points)
    if all({"z", "3-D"} <= columns.keys() for columns in points.values()):
        shapes = _coordinates(table, points, "xyz").transpose(0, 2, 1)
        return replace(turning_views(shapes, "units"), point_names=names, producer="Anipose")
    scores = None if options.visible == NO_MASK else _scores(table, points)
    first = next((table.columns[c["score"]] for c in points.values() if "score" in c), "")
    pose = _coordinates(table, points, "xy"), scores
    score, usual = f"score ({first}, ...)", usual_threshold(first)
    _, parts = read_individual([_ONE], [pose], options, "", score, usual)
    guessed = scores is not None and not np.isin(scores[np.isfinite(scores)], (0, 1)).all()
    kinds = {"x": "tracks", "y": "tracks", "score": "scores"}
    return replace(
        parts,
        point_names=names,
        guesses=(parts.provenance,) if guessed and options.threshold is None else (),
        roles={
            table.columns[index]: kinds[kind]
            for columns in points.values()
            for kind, index in columns.items()
            if kind in kinds
        },
    )
