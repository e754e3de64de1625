"""`nrsfm solve`: reconstruct a sequence and write what comes out."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..data.sequence import CameraModel
from ..foundation.atomic import check_writable, replacing
from ..foundation.exceptions import InputError
from ..io.writers import WRITERS, export, writer_for
from ..reconstruction.progress import finish
from ..reconstruction.provenance import command_for
from ..reconstruction.reconstruct import replay
from ..reconstruction.restart import load_start
from .outputs import check_outputs, files_of
from .progress import ProgressLine
from .sequence_options import add_sequence_options, chosen_sequence
from .settings_options import add_settings_options
from .step_options import add_step_options, steps_from
from .summary import as_json, as_lines, summary_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ..data.sequence import Sequence
    from ..reconstruction.progress import HistoryEntry, Iterate
    from ..reconstruction.provenance import SolveStep
    from ..reconstruction.result import Result
    from ..reconstruction.settings import Settings
    from . import Subparsers

INTERRUPTED = 130
LARGEST_CALIBRATED = 10.0  # median absolute coordinate; a view of 90 degrees has 1 at its edge


def add_parser(subparsers: Subparsers) -> None:
    """Add `solve SEQUENCE -o OUT`."""
    parser = subparsers.add_parser(
        "solve",
        help="reconstruct a sequence",
        description="Reconstruct a sequence. A preset gives the defaults that the other options override.",
        allow_abbrev=False,
    )
    add_sequence_options(parser)
    add_settings_options(parser)
    add_step_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        required=True,
        metavar="OUT",
        help=f"file to write, its format by its suffix ({', '.join(WRITERS)}); may be repeated",
    )
    output.add_argument("--history", type=Path, metavar="CSV", help="write the loss of every iteration")
    output.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    output.add_argument("--quiet", action="store_true", help="print no progress and no summary")


def run(args: argparse.Namespace) -> int:
    """Solve, write every output, print the summary; after Ctrl-C with the best so far."""
    for path in args.output:
        writer_for(path)
        check_writable(path)
    if args.history:
        check_writable(args.history)
    steps = steps_from(args)
    sequence = chosen_sequence(args)
    _check_overwriting(args, steps, sequence)
    _warn_of_pixels(sequence, steps[0].settings)
    start = None if args.start is None else load_start(args.start, sequence)
    records, last, interrupted = _drain(replay(sequence, steps, start=start), quiet=args.quiet)
    if last is None:  # interrupted before there was anything to keep
        raise KeyboardInterrupt
    result = finish(sequence, last.settings, last, records)
    known = None if last.provenance is None else last.provenance.flatten()
    if known is not None:
        result.meta["command"] = command_for(sequence, known, args.output[0])
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


def _check_overwriting(args: argparse.Namespace, steps: tuple[SolveStep, ...], sequence: Sequence) -> None:
    """Refuse an output that is a file of the input or of the cameras, or another output."""
    inputs = files_of(sequence)
    if args.start is not None:
        inputs[args.start] = "the result of --start"
    for step in steps:
        for name in ("rotations", "intrinsics"):
            source = getattr(step.settings, name)
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


def _drain(updates: Iterator[Iterate], *, quiet: bool) -> tuple[list[HistoryEntry], Iterate | None, bool]:
    """Run to the end or to Ctrl-C; return the records, the last update and whether it was Ctrl-C."""
    records: list[HistoryEntry] = []
    last: Iterate | None = None
    line = ProgressLine(sys.stderr, shown=not quiet)
    try:
        for update in updates:
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


def _write_history(path: Path, records: list[HistoryEntry]) -> None:
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("iteration", "seconds", "loss", "phase", "primal", "dual"))
        for record in records:
            residuals = ("" if value is None else repr(value) for value in (record.primal, record.dual))
            table.writerow(
                (record.iteration, repr(record.seconds), repr(record.loss), record.phase, *residuals)
            )
