"""`nrsfm export`: a result file in another format."""

from __future__ import annotations

import argparse
import sys
from argparse import RawDescriptionHelpFormatter
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..foundation import InputError, check_outputs, protecting
from ..io import writers
from ..io.readers import named_path
from ..reconstruction.result import load_result
from .command_line import declare, explained
from .console import print_lines

# What is chosen on the command line, with its value where nothing is.
OPTIONS = {
    each.name: each.default for each in fields(writers.ExportOptions) if each.name not in ("progress", "y_up")
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `export RESULT.npz -o FILE`."""
    parser.description = (
        "Write a result in another format, chosen by the suffix of FILE. The options are for some of them."
    )
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _list_formats()
    declare(
        parser,
        f"""
        RESULT.npz
        -o --output FILE: file to write, {", ".join(writers.WRITERS)}; may be repeated
        """,
        result=Path,
        output={"type": Path, "action": "append", "required": True},
    )
    declare(
        parser.add_mutually_exclusive_group(),
        """
        --frame N: write this frame, counted from 1
        --all-frames: write a file for every frame (ply, obj), numbered from 1: FILE_0001.ply
        --stacked: write all frames into one file (ply)
        """,
        frame=int,
        all_frames={"dest": "frames", "action": "store_const", "const": "numbered", "default": "one"},
        stacked={"dest": "frames", "action": "store_const", "const": "stacked"},
    )
    declare(
        parser,
        f"""
        --coordinates: {explained(writers.COORDINATES)}
        --align: {explained(writers.ALIGNMENTS)}
        --mirror: let --align truth and --align sequence use the mirror image where it is nearer
        --scale RULE: a length that is known, which gives the shapes their units where they are not aligned:
            3-17=85mm, the distance of two points counted from 1, or size=200mm (default: that of solve)
        --upright RULE: how the shapes stand: up=X,Y,Z and front=X,Y,Z in the axes of the first camera, and
            floor=12:3-5-9, points 3, 5 and 9 of frame 12 (default: that of solve, or as the pictures)
        --text: write ply as text, not binary
        --fps N: frames per second of an animation (default: the frame rate of the sequence, 15 where unknown)
        --interpolation: {_heeding("interpolation")}: {explained(writers.INTERPOLATIONS)}
        --color: {_heeding("color")}: {explained(writers.COLORS)}
        --video: {_heeding("video")}: put the video that was tracked behind the camera; pictures of all frames
            beside USD, the first one inside glTF
        """,
        coordinates={"choices": list(writers.COORDINATES), "default": "upright"},
        align={"choices": list(writers.ALIGNMENTS), "default": "none"},
        fps=float,
        interpolation={"choices": list(writers.INTERPOLATIONS), "default": "linear"},
        color={"choices": list(writers.COLORS), "default": "plain"},
    )


def run(args: argparse.Namespace) -> None:
    """Write every output and name the files on stderr."""
    given = {name: getattr(args, name) for name in OPTIONS}
    _check_applicable(given, args.output)
    result = load_result(args.result)
    if args.frame is not None:
        if not 1 <= args.frame <= result.frame_count:
            raise InputError(f"--frame is {args.frame}; the result has frames 1 to {result.frame_count}")
        given["frame"] = args.frame - 1
    inputs = {args.result: "the input"}
    source = named_path(str(result.meta["source"]), args.result) if result.meta.get("source") else None
    if source is not None:
        inputs[source] = "the sequence of the result"
    check_outputs([("-o", path) for path in args.output], inputs)
    if args.scale is not None:
        result = result.with_scale(args.scale)
    if args.upright is not None:
        result = result.with_upright(args.upright)
    for path in args.output:
        with protecting(inputs):
            written = writers.export(result, path, **given)
        last = f" to {written[-1]}" if len(written) > 1 else ""
        print_lines(f"wrote {written[0]}{last}", stream=sys.stderr)


def _check_applicable(given: dict[str, Any], paths: list[Path]) -> None:
    """Refuse an option that means nothing for any of the files."""
    heeded = frozenset[str]().union(*(writers.writer_for(path).options for path in paths))
    for name, default in OPTIONS.items():
        if given[name] != default and name not in heeded:
            option = "--all-frames or --stacked" if name == "frames" else f"--{name}"
            raise InputError(
                f"{option} has no effect on {', '.join(path.name for path in paths)}; "
                f"it is for {_heeding(name)}"
            )


def _list_formats() -> str:
    width = max(map(len, writers.WRITERS))
    lines = ["formats:"]
    for kind, title in writers.KINDS.items():
        lines.append(f"  {title}")
        for writer in writers.WRITERS.values():
            if writer.kind == kind:
                told = "; ".join(filter(None, (writer.label, writer.purpose)))
                lines.append(f"    {writer.suffix:{width}}  {told}")
    return "\n".join(lines)


def _heeding(option: str) -> str:
    """Return the suffixes of the formats that an option has a meaning for."""
    return ", ".join(suffix for suffix, writer in writers.WRITERS.items() if option in writer.options)
