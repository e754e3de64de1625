"""`nrsfm info`: what can be read in a folder, as a table; of a file also how it is understood."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence as SequenceOf
from dataclasses import asdict
from pathlib import Path

from ..data.sequence import CameraModel, Sequence
from ..foundation.exceptions import LONGEST_SENTENCE, InputError, printable_name
from ..io import readers
from .command_line import declare
from .console import print_lines
from .options import add_frame_base, add_reading_options, reading_from

HEADER = (
    *("object", "camera", "path", "frames", "points", "visible", "truth", "K", "cameras", "companion"),
    "edges",
)
MOST_ARRAYS = 1000  # that are listed
NUMERIC = ("frames", "points", "visible", "edges")
# What the JSON list has under the names of the fields: of a sequence, and of what was understood of its file.
COUNTED = ("frames", "points", "truth_frames", "intrinsics", "companion", "edges", "faces")
SAID = ("producer", "clear", "guesses", "left_out", "individuals", "columns")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `info PATH`."""
    parser.description = (
        "List every sequence in a folder or file: size, how much is visible, and which of ground truth, "
        "intrinsics (K), true cameras, orthogonal companion and edges it has. The frame in brackets "
        "is the one that intrinsics are estimated from, counted as gt_frame_N counts. Of a file it also "
        "shows what each array is taken for, and what was guessed or left out; the options change it."
    )
    path = "PATH: a Challenge object's folder, a folder of files, one above, or a file"
    declare(parser, path, path=Path)
    add_frame_base(parser)
    add_reading_options(parser)
    declare(parser, "--json: print a JSON list in place of the table")


def run(args: argparse.Namespace) -> None:
    """Print the table, or the list. Raises InputError where nothing can be read."""
    contents = _contents(args)
    if contents is None or contents.sequence is None or contents.states_all:
        entries = readers.list_sequences(args.path, frame_base=args.frame_base)
    else:
        entries = (readers.entry_of(contents.sequence),)
    if all(entry.problem for entry in entries):
        raise InputError(entries[0].problem)
    if args.json:
        understood = {} if contents is None else _understood(contents)
        print(json.dumps([_values(entry, args.frame_base) | understood for entry in entries], indent=2))
        return
    rows = [_row(entry, args.frame_base) for entry in entries if not entry.problem]
    print_lines(*_aligned([HEADER, *rows], [name in NUMERIC for name in HEADER]))
    objects = len({entry.object_name for entry in entries if not entry.problem})
    print(f"\n{len(rows)} sequence{'s' * (len(rows) != 1)} of {objects} object{'s' * (objects != 1)}")
    for entry in entries:
        if entry.problem:
            print_lines(f"left out: {entry.problem}")
    if contents is not None:
        print_lines("", *_lines(contents))


def _aligned(rows: SequenceOf[SequenceOf[str]], numeric: SequenceOf[bool]) -> list[str]:
    """Return rows of cells as lines, two spaces between columns, of which some are numeric."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    forms = [f"{{:{'>' if right else '<'}{width}}}" for width, right in zip(widths, numeric, strict=True)]
    return ["  ".join(forms).format(*row).rstrip() for row in rows]


def _contents(args: argparse.Namespace) -> readers.FileContents | None:
    """Return how a file is understood, None for a folder of sequences, which has no reading options."""
    reading = reading_from(args)
    path = readers.resolve(args.path)
    if path.is_dir() and not readers.is_sequence_folder(path):
        for name in reading.keys() - {"frame_base"}:
            raise InputError(f"--{name} says how a file is read; {path} is a folder of sequences")
        return None
    contents = readers.inspect_file(path, **reading)
    if contents.problem:
        raise InputError(contents.problem)
    return contents


def _understood(contents: readers.FileContents) -> dict[str, object]:
    sequence = contents.sequence
    assert sequence is not None  # a file that cannot be read has been refused
    matrix = sequence.intrinsics
    return {
        **{name: getattr(contents, name) for name in SAID},
        "arrays": [asdict(entry) for entry in contents.arrays],
        "reading": dict(contents.reading),
        "K": None if matrix is None else matrix.tolist(),
        "image_size": None if sequence.image_size is None else list(sequence.image_size),
        "units": sequence.units,
        "truth_name": None if sequence.truth is None else sequence.truth_name,
        "provenance": sequence.provenance,
    }


def _lines(contents: readers.FileContents) -> list[str]:
    sequence = contents.sequence
    assert sequence is not None  # a file that cannot be read has been refused
    arrays = contents.arrays[:MOST_ARRAYS]
    rows = [(entry.role, printable_name(entry.name), entry.size, entry.dtype) for entry in arrays]
    lines = [f"read as {contents.producer}:", *(f"  {line}" for line in _aligned(rows, [False] * 4))]
    more = len(contents.arrays) - len(rows)
    lines += [f"  and {more} more"] if more else []
    lines += [f"camera: {_camera(sequence)}"]
    if sequence.image_size is not None:
        lines += [f"picture: {sequence.image_size[0]} x {sequence.image_size[1]} px"]
    if contents.reading:
        chosen = " ".join(f"--{name} {shlex.quote(value)}" for name, value in contents.reading.items())
        lines += [printable_name(f"the same by options: {chosen}", LONGEST_SENTENCE)]
    lines += list(contents.left_out)
    lines += [f"guessed: {guess}" for guess in contents.guesses]
    return lines


def _camera(sequence: Sequence) -> str:
    matrix, name = sequence.intrinsics, sequence.camera.value
    if matrix is not None:
        (fx, _, cx), (_, fy, cy), _ = matrix.tolist()
        return f"{name}, focal length {fx:g} x {fy:g} px, principal point {cx:g}, {cy:g}"
    return f"{name}, focal length unknown" if sequence.camera is CameraModel.PERSPECTIVE else name


def _row(entry: readers.SequenceEntry, frame_base: int) -> tuple[str, ...]:
    values = _values(entry, frame_base)
    truth = "-"
    if entry.truth_frame is not None:
        shown = f"frame {values['truth_frame']}"
        many = "all" if entry.truth_frames == entry.frames else str(entry.truth_frames)
        truth = shown if entry.truth_frames == 1 else f"{many} ({shown})"
    return (
        *(str(values[name] or "-") for name in ("object", "camera", "path")),
        str(entry.frames),
        str(entry.points),
        f"{100 * entry.visible_fraction:.1f} %",
        truth,
        *("yes" if values[name] else "-" for name in ("intrinsics", "true_cameras", "companion")),
        str(entry.edges or "-"),
    )


def _values(entry: readers.SequenceEntry, frame_base: int) -> dict[str, object]:
    return {
        "object": entry.object_name,
        "camera": entry.camera.value if entry.camera else None,
        "path": entry.path_name or None,
        "file": str(entry.file),
        **{name: getattr(entry, name) for name in COUNTED},
        "visible": entry.visible_fraction,
        "truth_frame": None if entry.truth_frame is None else entry.truth_frame + frame_base,
        "true_cameras": entry.rotations,
        "problem": entry.problem or None,
    }
