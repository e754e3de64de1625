"""`nrsfm reproduce`: the paper's tables and figures, run again."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from ..experiments.jobs import JobsProgress
from ..experiments.reproduce import CURVE_SECONDS, EXPERIMENTS, reproduce_experiment
from ..foundation.exceptions import InputError
from ..foundation.processes import processor_count
from .command_line import INTERRUPTED, declare, explained
from .console import ProgressLine, jobs_progress_text, print_lines
from .options import add_frame_base

REPORT = Path("report")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `reproduce EXPERIMENT`."""
    parser.description = (
        "Run the paper's experiments again, with its settings, and write a report as Markdown and HTML. "
        "What is finished is kept in REPORT/jobs: the same command continues a run that was stopped."
    )
    declare(
        parser,
        f"""
        EXPERIMENT: {explained({name: meaning for name, (_title, meaning) in EXPERIMENTS.items()})}
        --data FOLDER: the NRSfM Challenge's folder, or one in its layout (default: the bundled simulated
            objects, which are substitutes)
        --real FOLDER: of Figure 1's sequences: door/data.mat, back/back_L_3D.mat,
            kinect_paper/mdh_results-KPaper.mat, and of motion capture: mocap/NAME.mat (default: the folder
            'real' next to that of --data, else simulated sequences)
        -o --output REPORT: folder of the report (default: %(default)s)
        --jobs N: processes at a time (default: one per processor)
        --seconds S: CPU seconds for every curve of Figure 1 (default %(default)g)
        """,
        experiment=list(EXPERIMENTS),
        data=Path,
        real=Path,
        output={"type": Path, "default": REPORT},
        jobs=int,
        seconds=CURVE_SECONDS,
    )
    add_frame_base(parser)


def run(args: argparse.Namespace) -> int:
    """Compute what is not yet there, write the report, and name it."""
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs is {args.jobs}; accepted is a whole number of at least 1")
    now: JobsProgress | None = None

    def progress(given: JobsProgress) -> None:
        nonlocal now
        now = given
        line.write(jobs_progress_text(now))

    try:
        with ProgressLine(sys.stderr) as line:
            written = reproduce_experiment(
                args.experiment,
                args.output,
                **{name: getattr(args, name) for name in ("data", "real", "frame_base", "seconds")},
                processes=args.jobs or processor_count(),
                command=command_of(args),
                progress=progress,
            )
    except KeyboardInterrupt:
        if now is None:
            raise
        kept = f"{now.done} of {now.total} jobs are kept in {args.output / 'jobs'}"
        said = f"nrsfm reproduce: stopped; {kept}, and the same command continues from there"
        print_lines(said, stream=sys.stderr)
        return INTERRUPTED
    print_lines(f"wrote {written}")
    return 0


def command_of(args: argparse.Namespace) -> str:
    """Return the command that makes this report."""
    command = ["nrsfm", "reproduce", args.experiment]
    for name in ("data", "real"):
        if getattr(args, name) is not None:
            command += [f"--{name}", str(getattr(args, name))]
    if args.seconds != CURVE_SECONDS:
        command += ["--seconds", f"{args.seconds:g}"]
    if args.frame_base != 1:
        command += ["--frame-base", str(args.frame_base)]
    return shlex.join([*command, "-o", str(args.output)])
