"""Errors of the files that other programs write of one object, against those of its own file.

    python tests/benchmarks/foreign_table.py [--only FILE ...]

Reads each file of `foreign`, which all hold the tracks of `challenge_more/drink/circle`, with the options
that it needs, and runs `reconstruct` with the recommended preset; K is that of the README there, where the
file has none. `native` is the error of the object's own file, cut to the points and frames that the other
has, `ratio` the error over it. Errors are means after one similarity per frame, without mirror, in mm.
A file that is not read has the sentence that refuses it.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from frame import DATA, Table, error_mm, parser, timed

import core

FOREIGN = DATA / "foreign"
K = np.array([[1400.0, 0, 640], [0, 1400, 480], [0, 0, 1]])
OPTIONS: dict[str, dict[str, str]] = {"mediapipe.json": {"size": "1280x960"}}


def main() -> None:
    names = sorted(item.name for item in FOREIGN.iterdir() if item.name != "README.md")
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", default=names, choices=names, help="files")
    table = Table("file", "F x P", "visible :.1%", "mm :.2f", "native :.2f", "ratio :.3f", "CPU s :.1f")
    for name in arguments.parse_args().only:
        try:
            read = core.read_sequence(FOREIGN / name, **OPTIONS.get(name, {}))
        except core.InputError as error:
            print(f"{name}: {error}", flush=True)
            continue
        frames, points = read.visible.shape
        if read.camera is core.CameraModel.ORTHOGONAL:
            print(f"{name}: views of its 3-D points: {read.provenance}", flush=True)
            continue
        found, seconds = measure(read.tracks, read.visible, K if read.intrinsics is None else read.intrinsics)
        native = native_error(frames, points)
        size, seen = f"{frames} x {points}", read.visible.mean()
        table.row(name, size, seen, found, native, found / native, seconds)


@cache
def own() -> core.Sequence:
    """Return the object's own file."""
    return core.read_sequence(DATA / "challenge_more" / "drink" / "sequence" / "perspective" / "circle.txt")


@cache
def native_error(frames: int, points: int) -> float:
    """Return the error of the first frames and points of the object's own file."""
    return measure(own().tracks[:frames, :, :points], own().visible[:frames, :points], K)[0]


def measure(tracks, visible, intrinsics) -> tuple[float, float]:
    """Return the error of the recommended run on tracks alone against the truth, and the CPU seconds."""
    frames, points = visible.shape
    alone = core.Sequence(tracks, visible, intrinsics=intrinsics)
    last, seconds = timed(core.iterate(alone, core.PRESETS["recommended"]))
    truth = core.GroundTruth.of_all_frames(own().truth.points[:frames, :, :points])
    return error_mm(last.result().points, truth), seconds


if __name__ == "__main__":
    main()
