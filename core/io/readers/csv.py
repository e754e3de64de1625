"""Tracks as a table: one line per observation, `frame,point,x,y` and optionally `visible`.

    frame,point,x,y,visible
    0,0,612.25,480.5,1
    0,1,,,0

`frame` counts from 0 or 1 without a gap; `point` is any whole number, and points are ordered by it. An
observation that has no line, no x and y, or `visible` 0 is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...data.sequence import CameraModel, Sequence
from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from .contents import digest, naming, read_bytes, sequence_name

if TYPE_CHECKING:
    from ...foundation.types import Bools, Floats, Ints


_COLUMNS = ["frame", "point", "x", "y"]
LARGEST = 2**53 - 1  # up to it all whole numbers are exact as floats
ACCEPTED = "accepted is frame,point,x,y or frame,point,x,y,visible"


def is_csv(content: bytes) -> bool:
    """Return whether a file begins with the header of such a table."""
    return _header(content)[:4] == _COLUMNS


def _header(content: bytes) -> list[str]:
    first = content.lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    return [name.strip().strip('"').lower() for name in first.decode("latin-1").split(",")]


def read_csv(path: Path, *, camera: CameraModel | None = None) -> Sequence:
    """Return the tracks of a table, orthogonal unless `camera` is another model.

    Raises
    ------
    InputError
        with the file and the line at fault.
    """
    content = read_bytes(path)
    header = _header(content)
    if header not in (_COLUMNS, [*_COLUMNS, "visible"]):
        raise InputError(f"{path}: the first line is {','.join(header)[:60]!r}; {ACCEPTED}")
    with naming(path):
        table, lines = _parse(content, len(header))
        frames, points = _whole(table, lines, 0, "frame"), _whole(table, lines, 1, "point")
        base = int(frames.min())
        if base not in (0, 1):
            raise InputError(f"the first frame is {base}; accepted is counting from 0 or 1")
        _check_gapless(frames, lines)
        labels, columns = np.unique(points, return_inverse=True)
        places = (frames - base) * len(labels) + columns
        _, first = np.unique(places, return_index=True)
        if len(first) < len(places):
            row = int(np.setdiff1d(np.arange(len(places)), first)[0])
            raise InputError(
                f"line {lines[row]} is a second one for frame {frames[row]}, point {points[row]}"
            )
        tracks = np.full((int(frames.max()) - base + 1, 2, len(labels)), np.nan)
        visible = np.zeros((len(tracks), len(labels)), dtype=bool)
        tracks[frames - base, :, columns] = table[:, 2:4]
        visible[frames - base, columns] = _seen(table, lines)
        model = camera or CameraModel.ORTHOGONAL
        note = (
            "" if camera else "the file does not name its camera: orthogonal is assumed (camera=, --camera)"
        )
        return Sequence(
            tracks,
            visible,
            model,
            sequence_name(path),
            units="px" if model is CameraModel.PERSPECTIVE else "units",
            source=path.absolute(),
            digest=digest(content),
            provenance=note,
        )


def _parse(content: bytes, width: int) -> tuple[Floats, list[int]]:
    """Return the table, empty fields as NaN, and the 1-based line of each of its rows."""
    rows, lines = [], []
    for number, line in enumerate(content.decode("latin-1").splitlines(), 1):
        if number == 1 or not line.strip():
            continue
        fields = line.split(",")
        if len(fields) != width:
            raise InputError(f"line {number} has {len(fields)} fields; the header has {width}")
        try:
            rows.append([float(field) if field.strip() else np.nan for field in fields])
        except ValueError:
            raise InputError(f"line {number} is {line.strip()[:40]!r}; accepted are numbers") from None
        lines.append(number)
    if not rows:
        raise InputError("there is no line after the header; at least 2 frames of 4 points are needed")
    table = np.array(rows)
    if np.isinf(table).any():
        raise InputError(f"line {lines[int(np.argwhere(np.isinf(table))[0, 0])]} holds an infinity")
    return table, lines


def _whole(table: Floats, lines: list[int], column: int, name: str) -> Ints:
    values = table[:, column]
    bad = ~(values == np.floor(values)) | (values < 0) | (values > LARGEST)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"line {lines[row]} has {name} {values[row]:g}; accepted is a whole number from 0 to {LARGEST}"
        )
    return values.astype(np.int64)


def _check_gapless(frames: Ints, lines: list[int]) -> None:
    """Refuse frames that are left out: a column of times would ask for more memory than there is."""
    there, first = np.unique(frames, return_index=True)
    gaps = np.flatnonzero(np.diff(there) > 1)
    if gaps.size:
        last, after = gaps[0], gaps[0] + 1
        raise InputError(
            f"line {lines[first[after]]} has frame {there[after]}, but no line has frame {there[last] + 1}; "
            "accepted is counting without a gap"
        )


def _seen(table: Floats, lines: list[int]) -> Bools:
    absent = np.isnan(table[:, 2]) | np.isnan(table[:, 3])
    if table.shape[1] == 4:
        return ~absent
    flags = table[:, 4]
    bad = ~np.isin(flags, (0, 1)) | (absent & (flags == 1))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"line {lines[row]} has visible {flags[row]:g} with x, y = {table[row, 2]:g}, {table[row, 3]:g}; "
            "accepted is 1 with two numbers, or 0"
        )
    seen: Bools = flags == 1
    return seen


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
