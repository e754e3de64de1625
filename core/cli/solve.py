"""`nrsfm solve`: reconstruct a sequence and write what comes out."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import InputError
from ..atomic import check_writable, replacing
from ..cameras.intrinsics import from_four
from ..exporters import EXPORTERS, export, exporter_for
from ..penalties import ExplicitWeights
from ..recipes import DEFAULT_PRESET, command_for
from ..reconstruct import finish, reconstruct
from ..sequence import CameraModel
from ..settings import INTRINSICS_SOURCES, PRESETS, ROTATION_SOURCES, Settings
from .method_options import add_method_options, method_changes
from .outputs import check_outputs, files_of
from .penalty_options import add_penalty_options, numbers, penalty_from
from .progress import ProgressLine
from .sequence_options import add_sequence_options, chosen_sequence
from .summary import as_json, as_lines, summary_of

if TYPE_CHECKING:
    import argparse

    from ..reconstruct import Record, Update
    from ..result import Result
    from ..sequence import Sequence
    from . import Subparsers

INTERRUPTED = 130
LARGEST_CALIBRATED = 10.0  # median absolute coordinate; a view of 90 degrees has 1 at its edge
# The options that are fields of Settings under the same name, with the type of their value.
PLAIN = {
    "eta": float,
    "rotations": str,
    "rotation_rank": int,
    "starts": int,
    "seed": int,
    "tolerance": float,
    "max_iterations": int,
}


def add_parser(subparsers: Subparsers) -> None:
    """Add `solve SEQUENCE -o OUT`."""
    parser = subparsers.add_parser(
        "solve",
        help="reconstruct a sequence",
        description="Reconstruct a sequence. A preset gives the defaults that the other options override.",
        allow_abbrev=False,
    )
    add_sequence_options(parser)
    parser.add_argument(
        "--preset", choices=list(PRESETS), default=DEFAULT_PRESET, help="default: %(default)s"
    )
    add_method_options(parser)
    parser.add_argument("--rank", type=int, metavar="K", help=_default("rank", "number of basis shapes"))
    parser.add_argument("--eta", type=float, metavar="E", help=_default("eta", "pOSE weight, 0 < E <= 1"))
    add_penalty_options(parser)
    cameras = parser.add_argument_group("cameras")
    cameras.add_argument(
        "--rotations",
        metavar="SOURCE",
        help=_default("rotations", f"an npz file with R (F, 3, 3), or {_table(ROTATION_SOURCES)}"),
    )
    cameras.add_argument(
        "--rotation-rank",
        type=int,
        metavar="N",
        help=_default("rotation_rank", "rank that they are factored at"),
    )
    cameras.add_argument(
        "--intrinsics",
        metavar="SOURCE",
        help=_default("intrinsics", f"fx,fy,cx,cy, a file, or {_table(INTRINSICS_SOURCES)}"),
    )
    effort = parser.add_argument_group("effort")
    effort.add_argument(
        "--starts", type=int, metavar="N", help=_default("starts", "starting points searched")
    )
    effort.add_argument("--seed", type=int, metavar="N", help=_default("seed", "of the random starts"))
    effort.add_argument(
        "--tolerance",
        type=float,
        metavar="T",
        help=_default("tolerance", "predicted relative decrease to stop at"),
    )
    effort.add_argument(
        "--max-iterations", type=int, metavar="N", help=_default("max_iterations", "per phase")
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        required=True,
        metavar="OUT",
        help=f"file to write, its format by its suffix ({', '.join(EXPORTERS)}); may be repeated",
    )
    output.add_argument("--history", type=Path, metavar="CSV", help="write the loss of every iteration")
    output.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    output.add_argument("--quiet", action="store_true", help="print no progress and no summary")


def run(args: argparse.Namespace) -> int:
    """Solve, write every output, print the summary; after Ctrl-C with the best so far."""
    for path in args.output:
        exporter_for(path)
        check_writable(path)
    if args.history:
        check_writable(args.history)
    settings = settings_from(args)
    sequence = chosen_sequence(args)
    _check_overwriting(args, settings, sequence)
    _warn_of_pixels(sequence, settings)
    records, last, interrupted = _drain(sequence, settings, quiet=args.quiet)
    if last is None:  # interrupted before there was anything to keep
        raise KeyboardInterrupt
    result = finish(sequence, settings, last, records)
    result.meta["command"] = command_for(sequence, settings, args.output[0])
    written = _write(result, args.output)
    if args.history:
        _write_history(args.history, records)
    summary = summary_of(result) | {"output": written}
    if args.json:
        print(as_json(summary))
    elif not args.quiet:
        print("\n".join(as_lines(summary)))
    if interrupted:
        print(f"nrsfm solve: stopped; the best so far is in {', '.join(written)}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _check_overwriting(args: argparse.Namespace, settings: Settings, sequence: Sequence) -> None:
    """Refuse an output that is a file of the input or of the cameras, or another output."""
    inputs = files_of(sequence)
    for name in ("rotations", "intrinsics"):
        source = getattr(settings, name)
        if isinstance(source, Path):
            inputs[source] = f"the file of --{name}"
    outputs = [("-o", path) for path in args.output]
    check_outputs(outputs + ([("--history", args.history)] if args.history else []), inputs)


def _warn_of_pixels(sequence: Sequence, settings: Settings) -> None:
    """Say so where tracks that are taken as calibrated can hardly be."""
    if settings.intrinsics != "calibrated" or sequence.camera is not CameraModel.PERSPECTIVE:
        return
    typical = float(np.median(np.abs(sequence.tracks.transpose(0, 2, 1)[sequence.visible])))
    if typical > LARGEST_CALIBRATED:
        print(
            "nrsfm solve: warning: the tracks are taken as calibrated, but their median absolute coordinate "
            f"is {typical:.4g}, which looks like pixels; choose another --intrinsics",
            file=sys.stderr,
        )


def settings_from(args: argparse.Namespace) -> Settings:
    """Return the settings that the options ask for.

    Raises
    ------
    InputError
        where a value is out of range, or an option does not belong to the penalty.
    """
    base = PRESETS[args.preset]
    changes: dict[str, Any] = {name: getattr(args, name) for name in PLAIN if getattr(args, name) is not None}
    changes |= method_changes(args, base)
    if args.rank is not None:
        changes["rank"] = args.rank
    if args.intrinsics is not None:
        changes["intrinsics"] = _intrinsics(args.intrinsics)
    changes["penalty"] = penalty_from(args, base.penalty)
    if isinstance(changes["penalty"], ExplicitWeights):
        count = len(changes["penalty"].a)
        if changes.setdefault("rank", count) != count:
            raise InputError(f"--rank is {args.rank}, but --weights gives {count}; one per basis shape")
    return base.with_changes(**changes)


def _intrinsics(text: str) -> str | tuple[float, ...]:
    if text in INTRINSICS_SOURCES or Path(text).is_file():
        return text
    four = numbers(text)
    if len(four) != 4:
        raise InputError(
            f"--intrinsics is {text!r}; accepted are four numbers fx,fy,cx,cy, an existing file, "
            f"{', '.join(INTRINSICS_SOURCES)}"
        )
    from_four(np.array(four), f"--intrinsics {text}")
    return four


def _table(entries: dict[str, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in entries.items())


def _default(name: str, meaning: str) -> str:
    """Append what a setting is in each preset; once where they agree."""
    values = {}
    for preset, settings in PRESETS.items():
        value = getattr(settings, name)
        values[preset] = "chosen by loss" if value is None else f"{value}"
    if len(set(values.values())) == 1:
        return f"{meaning} (default {values[DEFAULT_PRESET]})"
    return f"{meaning} ({', '.join(f'{preset} {value}' for preset, value in values.items())})"


def _drain(
    sequence: Sequence, settings: Settings, *, quiet: bool
) -> tuple[list[Record], Update | None, bool]:
    """Run to the end or to Ctrl-C; return the records, the last update and whether it was Ctrl-C."""
    records: list[Record] = []
    last: Update | None = None
    line = ProgressLine(sys.stderr, shown=not quiet)
    try:
        for update in reconstruct(sequence, settings):
            last = update
            records.append(update.record)
            line.show(update)
    except KeyboardInterrupt:
        if last is not None and records[-1:] != [last.record]:  # interrupted between the two lines above
            records.append(last.record)
        return records, last, True
    finally:
        line.clear()
    return records, last, False


def _write(result: Result, outputs: list[Path]) -> list[str]:
    """Write every output; one that fails does not keep the others from being written."""
    written: list[str] = []
    failed: list[InputError] = []
    for path in outputs:
        try:
            written += [str(file) for file in export(result, path)]
        except InputError as error:
            failed.append(error)
    if failed:
        raise failed[0]
    return written


def _write_history(path: Path, records: list[Record]) -> None:
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("iteration", "seconds", "loss", "phase"))
        for record in records:
            table.writerow((record.iteration, repr(record.seconds), repr(record.loss), record.phase))
