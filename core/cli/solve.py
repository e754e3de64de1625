"""`nrsfm solve`: reconstruct a sequence and write the result."""

from __future__ import annotations

import argparse
import csv
import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from ..cameras.intrinsics import LARGEST_CALIBRATED
from ..data.sequence import CameraModel, Sequence
from ..evaluation import solve_hiding_outliers
from ..evaluation.metrics import camera_truth, unscaled_errors
from ..foundation import DEPTHS, InputError, phase_text, replacing
from ..foundation.outputs import check_outputs, protecting, saved_elsewhere
from ..io.files.contents import naming
from ..io.readers import recording_files
from ..io.writers import WRITERS, export, writer_for
from ..reconstruction.progress import HistoryEntry, Iterate
from ..reconstruction.provenance import SolveStep, command_for
from ..reconstruction.reconstruct import replay
from ..reconstruction.restart import load_start
from ..reconstruction.result import Result
from ..reconstruction.settings import Settings
from . import options
from .command_line import INTERRUPTED, CheckedParser, check_stopped, declare
from .console import ProgressLine, as_json, as_lines, print_lines, progress_text, summary_of


def add_arguments(parser: CheckedParser) -> None:
    """Add the description and the arguments of `solve SEQUENCE -o OUT`."""
    parser.description = (
        "Reconstruct a sequence. A preset gives the defaults that other options override. Without --preset "
        "and --objective, options of the weighted nuclear norm alone, such as --rank, choose that objective."
    )
    parser.shorten_help(
        "SEQUENCE -o OUT", (*options.FREQUENT, "end", "outliers", "start", "output", "json", "quiet")
    )
    options.add_sequence_options(parser)
    options.add_settings_options(parser)
    group = parser.add_argument_group("steering")
    _add_iterates(group)
    declare(
        group,
        """
        --then OPTIONS: continue under other settings, those of a preset that the options of this one argument
            override, not those before, such as --then='--isometry 0.1'; may be repeated; where rotations are
            not chosen yet, or cameras are changed, it starts again
        --outliers: hide: leave out gross outliers of tracks, solve, hide what does not fit and solve again,
            in at most three rounds; the result holds what is hidden as --hide (default keep)
        --start RESULT: an .npz file of solve to continue from
        """,
        then={"action": "append", "default": []},
        outliers={"choices": ("keep", "hide"), "default": "keep"},
        start=Path,
    )
    declare(
        parser.add_argument_group("output"),
        f"""
        -o --output OUT: file to write, its format by its suffix ({", ".join(WRITERS)}); may be repeated
        --history CSV: write the loss of every iteration
        --json: print the summary as one JSON object
        --quiet: print no progress and no summary
        """,
        output={"type": Path, "action": "append", "required": True},
        history=Path,
    )


def steps_from(args: argparse.Namespace) -> tuple[SolveStep, ...]:
    """Return the steps that the options describe. Raises InputError where one is refused."""
    return (_step(args), *(_step(_parsed(text)) for text in args.then))


def _add_iterates(parser: argparse._ActionsContainer) -> None:
    declare(
        parser,
        """
        --iterates N: stop after N iterates (default: at the end)
        --end N: lead to the N-th end of the depth refinement by its energy (default: 1, the lowest)
        """,
        iterates=int,
        end=1,
    )


def _step(args: argparse.Namespace) -> SolveStep:
    return SolveStep(options.settings_from(args), args.iterates, args.end)


def _parsed(text: str) -> argparse.Namespace:
    parser = options.RefusingParser("--then", "options of settings, --iterates and --end")
    options.add_settings_options(parser)
    _add_iterates(parser)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--then is {text!r}, which cannot be split into words ({error})") from error
    return parser.parse_args(words)


def run(args: argparse.Namespace) -> int:
    """Solve, write every output, print the summary; after Ctrl-C with the best so far."""
    for path in args.output:
        writer_for(path)
    outputs = [("-o", path) for path in args.output]
    if args.history:
        outputs.append(("--history", args.history))
    check_outputs(outputs, {})  # before anything is read
    with recording_files() as hiding:
        steps = steps_from(args)
    sequence, files = options.chosen_sequence(args)
    inputs = _inputs(args, steps, files, hiding)
    check_outputs(outputs, inputs)
    _warn_of_pixels(sequence, steps[0].settings)
    iterates, said = _iterates(args, steps, sequence), _objectives(args, steps)
    last: Iterate | None = None
    interrupted, refusal = False, ""
    try:
        try:
            with ProgressLine(sys.stderr, shown=not args.quiet) as line:
                for each in iterates:
                    if last is None and not args.quiet:
                        said += [each.origin.remark] if each.origin is not None and each.origin.remark else []
                        print_lines(*(f"nrsfm solve: {sentence}" for sentence in said), stream=sys.stderr)
                    last = each
                    line.show(partial(progress_text, each))
                    check_stopped()
        except InputError as error:
            if last is None:
                raise
            refusal = str(error)
        assert last is not None  # a run yields at least where it begins
        result, written = _keep(args, sequence, last, inputs)
    except KeyboardInterrupt:  # the first signal, also one that arrives while the result is being written
        if last is None:
            raise
        interrupted = True
        result, written = _keep(args, sequence, last, inputs)
    summary = summary_of(result) | {"output": written}
    with naming(sequence.source or Path(sequence.name)):
        summary["errors"] |= unscaled_errors(result, camera_truth(sequence))
    if args.json:
        print(as_json(summary))
    elif not args.quiet:
        print_lines(*as_lines(summary))
    if refusal:
        raise InputError(f"{refusal}; the best so far is in {', '.join(written)}")
    if interrupted:
        if last.settings.objective == DEPTHS and result.energy is None:
            written = [*written, "from before the depths were refined"]
        print_lines(f"nrsfm solve: stopped; the best so far is in {', '.join(written)}", stream=sys.stderr)
        return INTERRUPTED
    return 0


def _iterates(
    args: argparse.Namespace, steps: tuple[SolveStep, ...], sequence: Sequence
) -> Iterator[Iterate]:
    """Return the iterates of the steps, or of the rounds that hide outliers."""
    if args.outliers == "keep":
        start = None if args.start is None else load_start(args.start, sequence)
        return replay(sequence, steps, start=start)
    if len(steps) > 1 or args.start is not None or steps[0] != SolveStep(steps[0].settings):
        raise InputError(
            "--outliers hide is given with --then, --start, --iterates or --end; its rounds run to their ends"
        )
    return solve_hiding_outliers(sequence, steps[0].settings)


def _inputs(
    args: argparse.Namespace, steps: tuple[SolveStep, ...], files: list[Path], hiding: list[Path]
) -> dict[Path, str]:
    """Return what every file is that is read: of the sequence, of cameras, of --hide and --start."""
    inputs = dict.fromkeys(files, "a file of the input") | dict.fromkeys(hiding, "the file of --hide")
    inputs[Path(args.sequence)] = "the input"
    if args.start is not None:
        inputs[args.start] = "the result of --start"
    for step in steps:
        for name in ("rotations", "intrinsics"):
            source = getattr(step.settings, name)
            if isinstance(source, Path):
                inputs[source] = f"the file of --{name}"
    return inputs


def _warn_of_pixels(sequence: Sequence, settings: Settings) -> None:
    """Warn where tracks that are treated as calibrated have coordinates of the size of pixels."""
    if (
        settings.intrinsics != "calibrated"
        or settings.camera_of(sequence.camera) is not CameraModel.PERSPECTIVE
    ):
        return
    typical = float(np.median(np.abs(sequence.tracks.transpose(0, 2, 1)[sequence.visible])))
    if typical > LARGEST_CALIBRATED:
        print(
            "nrsfm solve: warning: the tracks are treated as calibrated, but their median absolute "
            f"coordinate is {typical:.4g}, which looks like pixels; choose another --intrinsics",
            file=sys.stderr,
        )


def _objectives(args: argparse.Namespace, steps: tuple[SolveStep, ...]) -> list[str]:
    """Return what each step minimizes, and why."""
    given = (args, *map(_parsed, args.then))
    said = [options.objective_sentence(own, step.settings) for own, step in zip(given, steps, strict=True)]
    return [said[0], *(f"then {each}" for each in said[1:])]


def _keep(
    args: argparse.Namespace, sequence: Sequence, last: Iterate, inputs: Mapping[Path, str]
) -> tuple[Result, list[str]]:
    """Write what there is of a run; return the result, and the names of its files."""
    result = last.result()
    if last.provenance is not None:
        result.meta["command"] = command_for(sequence, last.provenance, args.output[0])
    with protecting(inputs):
        return result, _write(result, args.output, last.history, args.history)


def _write(
    result: Result, outputs: list[Path], records: list[HistoryEntry], history: Path | None
) -> list[str]:
    """Write every output, also after one that fails; where no file holds the result then, elsewhere."""
    written: list[str] = []
    failed: list[InputError] = []
    for path in outputs:
        try:
            written += map(str, export(result, path))
        except InputError as error:
            failed.append(error)
    if history is not None:
        try:
            _write_history(history, records)
        except InputError as error:
            failed.append(error)
    if not failed:
        return written
    if any(name.endswith(".npz") for name in written):
        raise failed[0]
    raise saved_elsewhere(failed[0], "result", ".npz", lambda path: export(result, path))


def _write_history(path: Path, records: list[HistoryEntry]) -> None:
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("iteration", "seconds", "loss", "phase", "primal", "dual", "energy", "best"))
        for record in records:
            others = (record.primal, record.dual, record.energy, record.best)
            known = ("" if value is None else repr(value) for value in others)
            table.writerow(
                (record.iteration, repr(record.seconds), repr(record.loss), phase_text(record.phase), *known)
            )
