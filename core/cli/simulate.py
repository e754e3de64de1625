"""`nrsfm simulate`: a sequence with a known answer, in the NRSfM Challenge's folders."""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

from ..data.sequence import CameraModel
from ..synthetic import KINDS, PATHS, simulate, write_challenge
from .command_line import declare
from .console import print_lines

NUMBERS = ("frames", "points", "seed", "noise", "occlusion")  # arguments of `simulate`


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `simulate OBJECT -o FOLDER`."""
    parser.description = (
        "Write sequences of a deforming object into FOLDER/OBJECT, in the layout of the NRSfM Challenge, "
        "with the true shapes and cameras of every frame."
    )
    defaults = {name: value.default for name, value in inspect.signature(simulate).parameters.items()}
    declare(
        parser,
        f"""
        OBJECT: {", ".join(KINDS)}
        --path: camera path, or all six (default %(default)s)
        --camera: perspective tracks have the orthogonal ones as companion where both are written (default
            both)
        --frames N: number of frames (default %(default)s)
        --points N: number of points (default %(default)s)
        --seed N: of noise and missing tracks (default %(default)s)
        --noise PX: standard deviation in pixels (default %(default)s)
        --occlusion SHARE: share of the self-occluded observations that is missing, 0 to 1 (default
            %(default)s)
        -o --output FOLDER: where to write
        """,
        object=list(KINDS),
        path={"choices": [*PATHS, "all"], "default": defaults["path"]},
        camera={"choices": [*(model.value for model in CameraModel), "both"], "default": "both"},
        **{name: defaults[name] for name in NUMBERS},
        output={"type": Path, "required": True},
    )


def run(args: argparse.Namespace) -> None:
    """Write the sequences and name their folder on stderr."""
    root = write_challenge(
        args.output,
        args.object,
        paths=PATHS if args.path == "all" else (args.path,),
        camera_models=tuple(CameraModel) if args.camera == "both" else (CameraModel(args.camera),),
        **{name: getattr(args, name) for name in NUMBERS},
    )
    print_lines(f"wrote {root}", stream=sys.stderr)
