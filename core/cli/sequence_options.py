"""The options that choose a sequence, shared by the commands that read one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..data.sequence import CameraModel
from ..foundation.exceptions import InputError
from ..io.readers import list_sequences, read_sequence

if TYPE_CHECKING:
    import argparse

    from ..data.sequence import Sequence
    from ..io.readers import SequenceEntry


def add_sequence_options(parser: argparse.ArgumentParser) -> None:
    """Add SEQUENCE, --camera, --path, --layout and --frame-base."""
    parser.add_argument(
        "sequence",
        metavar="SEQUENCE",
        help="a file (.txt, .mat, .npz, .csv), a Challenge object's folder, or sample:NAME for a bundled one",
    )
    parser.add_argument(
        "--camera",
        choices=[model.value for model in CameraModel],
        help="which of an object's cameras, or the camera model of a file that does not hold it",
    )
    parser.add_argument(
        "--path", metavar="NAME", help="which of an object's camera paths: circle, flyby, ..."
    )
    parser.add_argument(
        "--layout",
        metavar="NAME",
        help="layout of a .mat or .npz file that fits several or none, or of a .txt file (default there: "
        "interleaved, rows x, y of each frame): NAME or NAME:VARIABLE; with :MASK appended, the variable "
        "that is 1 where a point is seen, ~MASK hidden, MASK@0.5 from 0.5 on, or none",
    )
    add_frame_base(parser)


def add_frame_base(parser: argparse.ArgumentParser) -> None:
    """Add --frame-base."""
    parser.add_argument(
        "--frame-base",
        type=int,
        choices=(0, 1),
        default=1,
        help="number of the first frame in gt_frame_N (default 1)",
    )


def chosen_sequence(args: argparse.Namespace) -> Sequence:
    """Read the sequence that the options name.

    Raises
    ------
    InputError
        where there is none, or a folder holds several and nothing chooses one.
    """
    camera = CameraModel(args.camera) if args.camera else None
    path = Path(args.sequence)
    if path.is_dir():
        path = _only_one(path, camera, args)
    return read_sequence(path, camera=camera, layout=args.layout, frame_base=args.frame_base)


def _only_one(folder: Path, camera: CameraModel | None, args: argparse.Namespace) -> Path:
    """Return the file of the one sequence in a folder that the options leave; perspective unless asked."""
    found = list_sequences(folder, frame_base=args.frame_base)
    left = [entry for entry in found if args.path in (None, entry.path_name)]
    if camera is None and any(entry.camera is CameraModel.PERSPECTIVE for entry in left):
        camera = CameraModel.PERSPECTIVE
    left = [entry for entry in left if camera in (None, entry.camera)]
    if len(left) == 1:
        return left[0].file
    problem = f"holds {len(left)} sequences; choose one" if left else "has no such sequence; there are"
    raise InputError(f"{folder} {problem}: {', '.join(_choices(left or list(found)))}")


def _choices(entries: list[SequenceEntry]) -> list[str]:
    """Return the ways to choose: objects where there are several, else files, else camera and path."""
    objects = list(dict.fromkeys(entry.object_name for entry in entries))
    if len(objects) > 1:
        return objects
    if any(not entry.path_name for entry in entries):
        return [entry.file.name for entry in entries]
    return [
        " ".join(
            (f"--camera {entry.camera.value}" if entry.camera else "", f"--path {entry.path_name}")
        ).strip()
        for entry in entries
    ]
