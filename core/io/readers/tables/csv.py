"""Tracks as a table: this program's, those of pose tools, and any other by the names of its columns.

A long table has one line per observation. This program writes

    frame,point,x,y,visible
    0,0,612.25,480.5,1
    0,1,,,0

`frame` is a whole number, and frames are ordered by it; `point` is a whole number or a name. An observation
that has no line, no x and y, or `visible` 0 is missing. Other names of these columns are known from
`SYNONYMS`, or given by the option `columns`.

A line of one word and empty fields ends a part, of which one is read, like one of several individuals.

A table with one line per frame is that of the module `wide`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np

from ....data.sequence import MIN_POINTS, CameraModel, Sequence
from ....foundation.atomic import replacing
from ....foundation.exceptions import InputError
from ....foundation.types import Bools, Floats, Ints
from ...files.allowance import Allowance
from ...files.reading_options import NO_MASK, ReadingOptions
from ...files.variables import LoadedFile, Parts, joined
from ..keypoints.poses import chosen_individual, gaps_in, in_pixels
from . import wide
from .delimited import Table, parse_table

_COLUMNS = ("frame", "point", "x", "y")
LARGEST = 2**53 - 1  # up to it all whole numbers are exact as floats
# What the columns of a long table are called elsewhere, in small letters and digits alone.
SYNONYMS = {
    "frame": "frame frames frameid frameidx frameindex framenumber frameno framenum image imageid img t time "
    "timestep slice fnum iter iteration",
    "point": "point pointid points track trackid id particle keypoint keypointid bodypart landmark "
    "landmarkid marker joint node label feature object objectid pid tid",
    "x": "x posx positionx xpx xpos xcoord xpixel u px centerx cx",
    "y": "y posy positiony ypx ypos ycoord ypixel v py centery cy",
    "visible": "visible visibility vis isvisible seen valid occluded isoccluded hidden likelihood "
    "confidence conf score",
    "individual": "individual individuals animal person personid subject instance",
}
_OF_A_SWEEP = frozenset(("object", "camera", "path", "sequence", "key"))  # columns of its table
_HIDDEN = ("occluded", "isoccluded", "hidden")
_LONGEST_HEADER = 1000  # bytes, of which the first names decide
_CHARACTER = 4  # bytes, in an array
_MOST_NAMED = 12
_LONGEST = 160  # characters of a list of names
LEFT_OUT = "they are left out, and "  # frames without a line
COLUMNS_OPTION = "--columns frame=A,point=B,x=C,y=D[,visible=E] (columns=)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LoadedTable(LoadedFile):
    """A table, before it is known what its columns are."""

    table: Table


def is_csv(content: bytes) -> bool:
    """Return whether a file begins with the header of such a table, or of a table of DeepLabCut."""
    beginning = content[:_LONGEST_HEADER]  # the first line of what is no text may be all of it
    first = beginning.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("latin-1").lower()
    names = tuple(name.strip().strip('"') for name in first.split(","))
    return names[:4] == _COLUMNS or (len(names) > 1 and names[0] == "scorer")


def load_csv(path: Path, content: bytes) -> LoadedFile:
    """Return the columns of a table by their names, those of DeepLabCut as arrays of all points."""
    table = parse_table(content)
    if not table.rows:
        raise InputError("there is no line after the header; at least 2 frames of 4 points are needed")
    if wide.is_pose_table(table):
        return wide.load_poses(path, content, table)
    allowance = Allowance(len(content))
    variables = {name: _values(table, column, allowance) for column, name in enumerate(table.columns)}
    individual = _found_columns(table).get("individual")
    individuals = table.parts if individual is None else tuple(dict.fromkeys(table.texts(individual)))
    return LoadedTable(path, content, variables, individuals, table.columns, table=table)


def _values(table: Table, column: int, allowance: Allowance) -> object:
    """Return a column as numbers, as text where it has others."""
    try:
        return table.numbers([column])[:, 0]
    except InputError:
        texts = table.texts(column)
        allowance.use(_CHARACTER * len(texts) * max(map(len, texts)))  # all are as long as the longest
        return np.array(texts)


def interpret_csv(file: LoadedFile, options: ReadingOptions) -> Parts:
    """Return the tracks of a table."""
    if not isinstance(file, LoadedTable):
        return wide.read_poses(file, options)
    table = file.table
    found = _named_columns(table, options.columns) if options.columns else _found_columns(table)
    points = wide.points_of(table).get("", {})
    frames: Ints | None
    if found.keys() >= set(_COLUMNS):
        parts, frames = _read_long(table, found, options, len(file.content))
    elif _OF_A_SWEEP.issubset(table.columns):
        raise InputError("is the table of a sweep, not a sequence; `nrsfm sweep DIR --table NUMBER` reads it")
    elif len(points) < MIN_POINTS:
        raise InputError(
            f"the columns are {_listed(table.columns)}; it is not clear which are frame, point, x and y: "
            f"name them by {COLUMNS_OPTION}, or x0,y0,x1,y1,..."
        )
    else:
        parts = wide.read_wide(table, points, options)
        if parts.shapes is not None:
            return parts  # views of 3-D points
        frames = _frames_of(table, points, found.get("frame"))
    roles, columns = dict(parts.roles), table.columns
    if frames is not None:
        roles.setdefault(columns[found["frame"]], "frames")
    unread = [n for index, n in enumerate(columns) if n and (n not in roles or n in columns[:index])]
    gaps = [] if frames is None else gaps_in(frames, "line", LEFT_OUT)
    notes = gaps + ([f"not read: {_listed(unread)}"] if unread else [])
    parts = replace(
        parts,
        camera=CameraModel.ORTHOGONAL,  # unless the numbers are those of pixels
        camera_assumed=True,
        units="units",
        guesses=(*parts.guesses, *gaps),
        provenance=joined(parts.provenance, *notes),
        roles=roles,
    )
    return in_pixels(parts, options)


def _listed(names: SequenceOf[str]) -> str:
    """Return names as a sentence lists them: the first of many, shortened."""
    text = ", ".join(names)
    more = len(names) > _MOST_NAMED or len(text) > _LONGEST
    return f"{', '.join(names[:_MOST_NAMED])[:_LONGEST]}, ... ({len(names)} columns)" if more else text


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _found_columns(table: Table) -> dict[str, int]:
    """Return the index of each column of a long table that is known by its name."""
    plain = [_plain(name) for name in table.columns]
    found = {}
    for role, synonyms in SYNONYMS.items():
        known = synonyms.split()
        present = [name for name in known if name in plain]
        if present:
            found[role] = plain.index(present[0])
    return found


def _named_columns(table: Table, asked: str) -> dict[str, int]:
    named = {}
    for pair in asked.split(","):
        role, _, name = (part.strip() for part in pair.partition("="))
        if role not in SYNONYMS or not name:
            raise InputError(f"columns has {pair!r}; accepted is {COLUMNS_OPTION}")
        if name not in table.columns:
            raise InputError(f"there is no column {name!r}; there are {_listed(table.columns)}")
        named[role] = table.columns.index(name)
    if missing := [role for role in _COLUMNS if role not in named]:
        raise InputError(f"columns names no {', '.join(missing)}; accepted is {COLUMNS_OPTION}")
    return named


# -- long tables ---------------------------------------------------------------------------------------------


def _read_long(
    table: Table, found: dict[str, int], options: ReadingOptions, stored: int
) -> tuple[Parts, Ints]:
    """Return the tracks and the frames of a table with one line per observation, of so many bytes."""
    reading = {"columns": ",".join(f"{role}={table.columns[index]}" for role, index in found.items())}
    if "individual" in found:
        table, reading["individual"] = _of_individual(table, found, options)
    elif table.parts:
        index = chosen_individual(table.parts, None, options.individual)
        table, reading["individual"] = table.part(index), table.parts[index]
    frames = _whole(table, found["frame"], "frame")
    labels, columns = _points(table, found["point"])
    there, rows = np.unique(frames, return_inverse=True)
    places = rows * len(labels) + columns
    _, first = np.unique(places, return_index=True)
    if len(first) < len(places):
        row = int(np.setdiff1d(np.arange(len(places)), first)[0])
        point = labels[columns[row]]
        raise InputError(f"line {table.lines[row]} is a second one for frame {frames[row]}, point {point}")
    xy = table.numbers([found["x"], found["y"]])
    seen: Bools = np.asarray(np.isfinite(xy).all(axis=1))
    roles = {table.columns[index]: "tracks" for role, index in found.items() if role in _COLUMNS}
    note = ""
    mask = _mask_of(table, found, options)
    name, hidden = mask.removeprefix("~"), mask.startswith("~")
    if name != NO_MASK:
        seen, least = _seen_in_lines(table, name, hidden, xy, options)
        roles[name], reading["visible"] = "visibility", mask
        if least is not None:
            reading["threshold"] = f"{least:g}"
            marked = "hidden" if hidden else "visible"
            note = f"{name} is a score, and a point is {marked} from {least:g} on (threshold)"
    Allowance(stored).use_array((len(there), 2, len(labels)), 8)
    tracks = np.full((len(there), 2, len(labels)), np.nan)
    visible = np.zeros((len(there), len(labels)), dtype=bool)
    tracks[rows, :, columns] = xy
    visible[rows, columns] = seen
    if "individual" in found:
        roles[table.columns[found["individual"]]] = "names"
    return Parts(
        tracks,
        CameraModel.ORTHOGONAL,
        visible=visible,
        point_names=None if isinstance(labels, np.ndarray) else tuple(labels),
        guesses=(note,) if note and options.threshold is None else (),
        provenance=note,
        roles=roles,
        reading=reading,
    ), there


def _of_individual(table: Table, found: dict[str, int], options: ReadingOptions) -> tuple[Table, str]:
    of_line = table.texts(found["individual"])
    numbers = {name: number for number, name in enumerate(dict.fromkeys(of_line))}
    names, index = list(numbers), [numbers[name] for name in of_line]
    complete = np.isfinite(table.numbers([found["x"], found["y"]])).all(axis=1)
    shares = (np.bincount(index, complete) / np.bincount(index)).tolist()
    name = names[chosen_individual(names, shares, options.individual)]
    kept = [other == name for other in of_line]
    return replace(
        table, rows=list(compress(table.rows, kept)), lines=list(compress(table.lines, kept))
    ), name


def _whole(table: Table, column: int, name: str) -> Ints:
    values = table.numbers([column])[:, 0]
    bad = ~(values == np.floor(values)) | (values < 0) | (values > LARGEST)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"line {table.lines[row]} has {name} {values[row]:g}; accepted is a whole number from 0 to "
            f"{LARGEST}"
        )
    return values.astype(np.int64)


def _points(table: Table, column: int) -> tuple[Ints | list[str], Ints]:
    """Return the points, by number or in the order of their names, and that of each line."""
    texts = table.texts(column)
    try:
        table.numbers([column])
    except InputError:
        names = list(dict.fromkeys(texts))
        index = {name: number for number, name in enumerate(names)}
        return names, np.array([index[text] for text in texts])
    labels, columns = np.unique(_whole(table, column, "point"), return_inverse=True)
    return labels, columns


def _mask_of(table: Table, found: dict[str, int], options: ReadingOptions) -> str:
    """Return the column that says what is visible, as the option `visible` has it."""
    if options.visible is None and "visible" in found:
        name = table.columns[found["visible"]]
        return f"~{name}" if _plain(name) in _HIDDEN else name
    mask = options.visible or NO_MASK
    if (name := mask.removeprefix("~")) not in (NO_MASK, *table.columns):
        raise InputError(f"there is no column {name!r}; there are {_listed(table.columns)}")
    return mask


def _seen_in_lines(
    table: Table, name: str, hidden: bool, xy: Floats, options: ReadingOptions
) -> tuple[Bools, float | None]:
    """Return which lines are of a visible point, and the threshold where the column holds scores."""
    absent: Bools = np.asarray(np.isnan(xy).any(axis=1))
    flags = table.numbers([table.columns.index(name)])[:, 0]
    if options.threshold is None and (name == "visible" or np.isin(flags[~np.isnan(flags)], (0, 1)).all()):
        bad = ~np.isin(flags, (0, 1)) | (absent & ((flags == 1) != hidden))
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"line {table.lines[row]} has {name} {flags[row]:g} with x, y = {xy[row, 0]:g}, "
                f"{xy[row, 1]:g}; accepted is {int(not hidden)} with two numbers, or {int(hidden)}"
            )
        return np.asarray((flags == 1) != hidden), None
    least = wide.usual_threshold(name) if options.threshold is None else options.threshold
    seen = (flags < least) if hidden else (flags >= least)  # both are false where the score is NaN
    return np.asarray(seen & ~absent), least


def _frames_of(table: Table, points: wide.Points, column: int | None) -> Ints | None:
    """Return the frames of a table with one line for each, None where no column has them."""
    if column is None or any(column in columns.values() for columns in points.values()):
        return None
    frames = _whole(table, column, "frame")
    if (np.diff(frames) <= 0).any():
        row = int((np.diff(frames) <= 0).argmax()) + 1
        raise InputError(
            f"line {table.lines[row]} has frame {frames[row]} after frame {frames[row - 1]}; accepted are "
            "increasing frames"
        )
    return frames


# -- writing -------------------------------------------------------------------------------------------------


def write_csv(sequence: Sequence, path: str | Path) -> None:
    """Write the tracks of a sequence, every digit of them; hidden ones keep their values where they have any.

    Parameters
    ----------
    sequence
        the sequence of the tracks.
    path
        the file, which is replaced where it exists.

    Raises
    ------
    InputError
        where the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     core.write_csv(sequence, pathlib.Path(folder, "tracks.csv"))
    ...     core.read_sequence(pathlib.Path(folder, "tracks.csv")).frame_count
    12
    """
    lines = [",".join([*_COLUMNS, "visible"])]
    for frame, (rows, seen) in enumerate(zip(sequence.tracks, sequence.visible, strict=True)):
        for point, (x, y, flag) in enumerate(zip(*rows.tolist(), seen.tolist(), strict=True)):
            numbers = ["" if value != value else repr(value) for value in (x, y)]
            lines.append(f"{frame},{point},{numbers[0]},{numbers[1]},{int(flag)}")
    with replacing(Path(path)) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="ascii")
