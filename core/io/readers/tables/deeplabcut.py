"""The table of DeepLabCut and Lightning Pose: a header of three rows, or of four with individuals.

    scorer,net,net,net,net,...
    individuals,mouse1,mouse1,mouse1,mouse2,...     (only with several animals)
    bodyparts,nose,nose,nose,tail,...
    coords,x,y,likelihood,x,...
    0,410.3,217.9,0.998,388.1,...

The first columns number the frame, or name its picture in a table of labels, which has no likelihood.
Lightning Pose adds a last column, set. A field is empty where a point is missing.

DeepLabCut writes the same table as HDF5, by pandas: its values, and the names of its columns as a pickle.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....foundation.exceptions import InputError
from ...files.reading_options import ReadingOptions
from ...files.variables import LoadedFile, Parts, Variables, is_array
from ..arrays.saved_arrays import unpickle
from ..keypoints.poses import CUTOFF, read_individual
from .delimited import Table

FRAME = "df_with_missing"  # the group of an HDF5 file that holds such a table
LEVELS = ["scorer", "individuals", "bodyparts", "coords"]  # rows of the header; the second may be absent
_COORDINATES = ("x", "y", "likelihood")
_ONE = ""  # the individual of a table without individuals


def is_pose_table(table: Table) -> bool:
    """Return whether a table has such a header."""
    coords = _row(table, "coords")
    return _row(table, "bodyparts") is not None and coords is not None and "x" in coords and "y" in coords


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


def _row(table: Table, name: str) -> tuple[str, ...] | None:
    return next((row for row in table.header if row[0].lower() == name), None)


def _places(table: Table) -> dict[str, dict[str, dict[str, int]]]:
    """Return the columns of each individual and point: {"mouse1": {"nose": {"x": 1, "y": 2}}}."""
    bodyparts, coords = _row(table, "bodyparts"), _row(table, "coords")
    individuals = _row(table, "individuals")
    assert bodyparts is not None and coords is not None  # the table is such a one
    found: dict[str, dict[str, dict[str, int]]] = {}
    for index, (point, kind) in enumerate(zip(bodyparts, coords, strict=True)):
        if kind.lower() in _COORDINATES:
            individual = _ONE if individuals is None else individuals[index]
            found.setdefault(individual, {}).setdefault(point, {})[kind.lower()] = index
    return found


def arrays_of(table: Table) -> tuple[Variables, tuple[str, ...]]:
    """Return each individual's points (F, P, 2), their likelihood (F, P) and names, and the individuals."""
    arrays: Variables = {}
    found = _places(table)
    for individual, points in found.items():
        for point, columns in points.items():
            if not {"x", "y"} <= columns.keys():
                raise InputError(
                    f"bodypart {point} has the columns {', '.join(columns)}; accepted are x and y"
                )
        values = {
            kind: table.numbers([columns[kind] for columns in points.values()])
            for kind in _COORDINATES
            if all(kind in columns for columns in points.values())
        }
        arrays[_name(individual, "bodyparts")] = np.array(list(points))
        arrays[_name(individual, "coords")] = np.stack([values["x"], values["y"]], axis=2)
        if "likelihood" in values:
            arrays[_name(individual, "likelihood")] = values["likelihood"]
    return arrays, tuple(name for name in found if name != _ONE)


def _name(individual: str, array: str) -> str:
    return f"{individual} {array}".lstrip()


def read(file: LoadedFile, table: Table, options: ReadingOptions) -> Parts:
    """Return the tracks of one individual, visible from a likelihood on."""
    arrays, names = file.variables, file.individuals or (_ONE,)
    poses = [(arrays[_name(each, "coords")], arrays.get(_name(each, "likelihood"))) for each in names]
    index, parts = read_individual(names, poses, options, "DeepLabCut", "likelihood", CUTOFF)
    kinds = {"coords": "tracks", "bodyparts": "names", "likelihood": "scores"}
    named = {_name(names[index], kind): role for kind, role in kinds.items()}
    roles = {name: role for name, role in named.items() if name in arrays}
    guesses: tuple[str, ...] = ()
    if table.rows and not table.texts(0)[0].isdigit():
        guesses = ("the rows are labelled pictures: they may be far apart in time, or of several videos",)
    point_names = tuple(arrays[_name(names[index], "bodyparts")].tolist())
    return replace(parts, point_names=point_names, guesses=guesses, roles=roles)
