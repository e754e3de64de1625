"""`nrsfm info`: what can be read in a folder or file, as a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..foundation.exceptions import InputError
from ..io.readers import list_sequences
from .options import add_frame_base

if TYPE_CHECKING:
    import argparse

    from ..io.readers import SequenceEntry

HEADER = (
    "object",
    "camera",
    "path",
    "frames",
    "points",
    "visible",
    "truth",
    "K",
    "cameras",
    "companion",
    "edges",
)
NUMERIC = ("frames", "points", "visible", "edges")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `info PATH`."""
    parser.description = (
        "List every sequence in a folder or file: size, how much is visible, and which of ground truth, "
        "intrinsics (K), true cameras, orthogonal companion and edges it has. The frame in brackets "
        "is the one that intrinsics are estimated from, counted as gt_frame_N counts."
    )
    parser.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="a Challenge object's folder, a folder of files, one above, or a file",
    )
    add_frame_base(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON list in place of the table")


def run(args: argparse.Namespace) -> None:
    """Print the table, or the list.

    Raises
    ------
    InputError
        where nothing can be read.
    """
    entries = list_sequences(args.path, frame_base=args.frame_base)
    if all(entry.problem for entry in entries):
        raise InputError(entries[0].problem)
    if args.json:
        print(json.dumps([_values(entry, args.frame_base) for entry in entries], indent=2))
        return
    rows = [_row(entry, args.frame_base) for entry in entries if not entry.problem]
    widths = [max(len(row[column]) for row in [HEADER, *rows]) for column in range(len(HEADER))]
    for row in [HEADER, *rows]:
        cells = [
            cell.rjust(width) if name in NUMERIC else cell.ljust(width)
            for name, cell, width in zip(HEADER, row, widths, strict=True)
        ]
        print("  ".join(cells).rstrip())
    objects = len({entry.object_name for entry in entries if not entry.problem})
    print(f"\n{len(rows)} sequence{'s' * (len(rows) != 1)} of {objects} object{'s' * (objects != 1)}")
    for entry in entries:
        if entry.problem:
            print(f"cannot be read: {entry.problem}")


def _row(entry: SequenceEntry, frame_base: int) -> tuple[str, ...]:
    """Return the cells of one line of the table."""
    truth = "-"
    if entry.truth_frame is not None:
        shown = f"frame {entry.truth_frame + frame_base}"
        many = "all" if entry.truth_frames == entry.frames else str(entry.truth_frames)
        truth = shown if entry.truth_frames == 1 else f"{many} ({shown})"
    return (
        entry.object_name,
        entry.camera.value if entry.camera else "-",
        entry.path_name or "-",
        str(entry.frames),
        str(entry.points),
        f"{100 * entry.visible_fraction:.1f} %",
        truth,
        "yes" if entry.intrinsics else "-",
        "yes" if entry.rotations else "-",
        "yes" if entry.companion else "-",
        str(entry.edges or "-"),
    )


def _values(entry: SequenceEntry, frame_base: int) -> dict[str, object]:
    """Return the facts about one sequence for JSON."""
    return {
        "object": entry.object_name,
        "camera": entry.camera.value if entry.camera else None,
        "path": entry.path_name or None,
        "file": str(entry.file),
        "frames": entry.frames,
        "points": entry.points,
        "visible": entry.visible_fraction,
        "truth_frame": None if entry.truth_frame is None else entry.truth_frame + frame_base,
        "truth_frames": entry.truth_frames,
        "intrinsics": entry.intrinsics,
        "true_cameras": entry.rotations,
        "companion": entry.companion,
        "edges": entry.edges,
        "faces": entry.faces,
        "problem": entry.problem or None,
    }
