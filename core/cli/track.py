"""`nrsfm track`: follow points through a video and write their tracks."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import numpy as np

from .. import tracking
from ..data.sequence import Sequence
from ..foundation import Floats, InputError
from ..foundation.outputs import check_outputs, saved_elsewhere
from ..io.readers import write_csv, write_npz
from ..tracking.region import rectangle
from .command_line import INTERRUPTED, check_stopped, declare
from .console import ProgressLine, print_lines

WRITTEN = {".npz": write_npz, ".csv": write_csv}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `track VIDEO -o TRACKS`."""
    samples = ", ".join(f"sample:{name}" for name in tracking.sample_videos()) or "sample:NAME"
    parser.description = (
        "Follow points through a video: corners are followed by Lucas-Kanade and checked against their first "
        "patch; new ones begin where others end. Ctrl-C keeps what has been followed so far."
    )
    declare(
        parser,
        f"""
        VIDEO: file, folder or %%04d pattern of pictures, or {samples}
        -o --output TRACKS: the file to write: .npz, which names the video, or .csv
        --points N: points that are followed at a time, and at most in the result (default %(default)s)
        --region X,Y,W,H: where points begin in the first frame: a rectangle in pixels, or the corners
            X,Y,X,Y,X,Y,... of a polygon (default: everywhere)
        --mask MASK: pictures that are black except where the object is: one for all frames, or a folder of
            one for each frame; points begin inside and are not seen outside
        --check SIMILARITY: a point ends where its patch is less similar to its first one, 0 to 1 (default
            %(default)s)
        --start N: first frame, counted from 1
        --end N: last frame (default: that of the video)
        --step N: every so many frames are in the result, for a long video (default %(default)s)
        --quiet: print no progress and no summary
        """,
        video=Path,
        output={"type": Path, "required": True},
        points=tracking.POINTS,
        region=_region,
        mask=Path,
        check=tracking.CHECK,
        start=1,
        end=int,
        step=1,
    )


def run(args: argparse.Namespace) -> int:
    """Follow the points and write their tracks; after Ctrl-C those so far."""
    write = WRITTEN.get(args.output.suffix.lower())
    if write is None:
        raise InputError(f"-o {args.output}: unknown suffix; accepted are {', '.join(WRITTEN)}")
    video = tracking.video_path(args.video)
    masks = {} if args.mask is None else {args.mask: "the mask"}
    check_outputs([("-o", args.output)], {video: "the video", **masks})
    given = ("points", "region", "mask", "check", "start", "end", "step")
    following = tracking.track_video(video, **{name: getattr(args, name) for name in given})
    began = time.monotonic()
    last: tracking.TrackingStep | None = None
    sequence: Sequence | None = None  # at the end
    interrupted = False
    try:
        with ProgressLine(sys.stderr, shown=not args.quiet) as line, closing(following):
            for last in following:
                line.show(partial(_progress_text, last))
                check_stopped()
        assert last is not None  # there are some frames
        sequence = last.sequence()
        _keep(sequence, write, args.output)
    except KeyboardInterrupt:  # the first signal, also one that arrives while the tracks are being written
        interrupted = True
        if last is not None:
            with suppress(InputError):  # of too few frames
                sequence = last.sequence()
        if sequence is None:
            raise
        _keep(sequence, write, args.output)
    if not args.quiet:
        assert last is not None
        notes = [*last.remarks(sequence), *filter(None, [tracking.plugin_warning()])]
        lines = [
            f"{sequence.frame_count} frames, {sequence.point_count} points, {sequence.visible.mean():.0%} "
            f"visible, {time.monotonic() - began:.1f} s",
            *(f"note: {note}" for note in notes),
            f"wrote {args.output}",
        ]
        print_lines(*lines)
    if interrupted:
        print_lines(f"nrsfm track: stopped; what was followed so far is in {args.output}", stream=sys.stderr)
        return INTERRUPTED
    return 0


def _keep(sequence: Sequence, write: Callable[[Sequence, Path], object], path: Path) -> None:
    """Write the tracks, elsewhere where they cannot be written to their file."""
    try:
        write(sequence, path)
    except InputError as refusal:
        raise saved_elsewhere(
            refusal, "sequence", path.suffix, lambda other: write(sequence, other)
        ) from None


def _progress_text(step: tracking.TrackingStep, elapsed: float) -> str:
    """Return the line: share, time left, frame, and how many points are followed."""
    left = elapsed * (step.total - step.done) / step.done
    return (
        f"{100 * step.done / step.total:.0f} %  ETA {left:.0f} s  frame {step.done} of {step.total}  "
        f"{step.followed} points"
    )


def _region(text: str) -> Floats:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 4:
        return rectangle(*numbers)
    if len(numbers) < 6 or len(numbers) % 2:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no region; accepted are X,Y,W,H, or X,Y of three or more corners"
        )
    return np.array(numbers).reshape(-1, 2)
