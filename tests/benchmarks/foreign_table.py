"""Errors of the files that other programs write of one object, against those of its own file.

    NRSFM_DATA=... python tests/benchmarks/foreign_table.py [--only FILE ...]

Reads each file of `foreign`, which all hold the tracks of `challenge_more/drink/circle`, with the options
that it needs, and runs `reconstruct` with the recommended preset; K is that of the README there, where the
file has none. `native` is the error of the object's own file, cut to the points and frames that the other
has, `ratio` the error over it. Errors are means after one similarity per frame, without mirror, in mm.
A file that is not read has the sentence that refuses it.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import core

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
FOREIGN = DATA / "foreign"
K = np.array([[1400.0, 0, 640], [0, 1400, 480], [0, 0, 1]])
OPTIONS: dict[str, dict[str, str]] = {"mediapipe.json": {"size": "1280x960"}}


def main() -> None:
    """Parse the arguments, run, print a line for each file."""
    names = sorted(item.name for item in FOREIGN.iterdir() if item.name != "README.md")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", default=names, choices=names, help="files")
    options = parser.parse_args()
    own = core.read_sequence(DATA / "challenge_more" / "drink" / "sequence" / "perspective" / "circle.txt")
    assert own.truth is not None
    errors: dict[tuple[int, int], float] = {}
    print(
        f"{'file':>24}{'frames':>8}{'points':>8}{'visible':>9}{'mm':>8}{'native':>8}{'ratio':>8}{'CPU s':>8}"
    )
    for name in options.only:
        try:
            read = core.read_sequence(FOREIGN / name, **OPTIONS.get(name, {}))
        except core.InputError as error:
            print(f"{name:>24}  {error}", flush=True)
            continue
        frames, points = read.visible.shape
        if read.camera is core.CameraModel.ORTHOGONAL:
            print(f"{name:>24}{frames:8}{points:8}  views of its 3-D points: {read.provenance}", flush=True)
            continue
        if (frames, points) not in errors:
            errors[frames, points] = measure(cut(own, frames, points), own)
        begun = time.process_time()
        found = measure(replace(read, intrinsics=K if read.intrinsics is None else read.intrinsics), own)
        native, seen = errors[frames, points], read.visible.mean()
        print(
            f"{name:>24}{frames:8}{points:8}{seen:9.1%}{found:8.2f}{native:8.2f}{found / native:8.3f}"
            f"{time.process_time() - begun:8.1f}",
            flush=True,
        )


def cut(sequence: core.Sequence, frames: int, points: int) -> core.Sequence:
    """Return the first frames and points of the tracks alone."""
    return core.Sequence(
        sequence.tracks[:frames, :, :points], sequence.visible[:frames, :points], intrinsics=K
    )


def measure(sequence: core.Sequence, own: core.Sequence) -> float:
    """Return the error of the recommended run on the tracks alone, against the truth of the object."""
    frames, points = sequence.visible.shape
    assert own.truth is not None
    alone = core.Sequence(sequence.tracks, sequence.visible, intrinsics=sequence.intrinsics)
    result = core.reconstruct(alone, core.PRESETS["recommended"])
    truth = core.GroundTruth.of_all_frames(own.truth.points[:frames, :, :points])
    return float(core.procrustes_mm(result.points, truth).mean)


if __name__ == "__main__":
    main()
