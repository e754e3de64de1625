"""`nrsfm simulate`: a sequence with a known answer, in the NRSfM Challenge's folders."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.sequence import CameraModel
from ..synthetic import KINDS, PATHS, simulate, write_challenge
from .console import print_lines

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of `simulate OBJECT -o FOLDER`."""
    parser.description = (
        "Write sequences of a deforming object into FOLDER/OBJECT, in the layout of the NRSfM Challenge, "
        "with the true shapes and cameras of every frame."
    )
    defaults = {name: value.default for name, value in inspect.signature(simulate).parameters.items()}
    parser.add_argument("object", choices=list(KINDS), metavar="OBJECT", help=", ".join(KINDS))
    parser.add_argument(
        "--path",
        choices=[*PATHS, "all"],
        default=defaults["path"],
        help="camera path, or all six (default %(default)s)",
    )
    parser.add_argument(
        "--camera",
        choices=[*(model.value for model in CameraModel), "both"],
        default="both",
        help="perspective tracks have the orthogonal ones as companion where both are written (default both)",
    )
    counts = {
        "frames": "number of frames",
        "points": "number of points",
        "seed": "of noise and missing tracks",
    }
    for name, meaning in counts.items():
        parser.add_argument(
            f"--{name}",
            type=int,
            default=defaults[name],
            metavar="N",
            help=f"{meaning} (default %(default)s)",
        )
    parser.add_argument(
        "--noise",
        type=float,
        default=defaults["noise"],
        metavar="PX",
        help="standard deviation in pixels (default %(default)s)",
    )
    parser.add_argument(
        "--occlusion",
        type=float,
        default=defaults["occlusion"],
        metavar="SHARE",
        help="share of the self-occluded observations that is missing, 0 to 1 (default %(default)s)",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where to write")


def run(args: argparse.Namespace) -> None:
    """Write the sequences and name their folder on stderr."""
    root = write_challenge(
        args.output,
        args.object,
        paths=PATHS if args.path == "all" else (args.path,),
        camera_models=tuple(CameraModel) if args.camera == "both" else (CameraModel(args.camera),),
        frames=args.frames,
        points=args.points,
        noise=args.noise,
        occlusion=args.occlusion,
        seed=args.seed,
    )
    print_lines(f"wrote {root}", stream=sys.stderr)
