"""e3D of the recommended run on the motion-capture sequences, before and after the depth refinement.

    NRSFM_DATA=... python tests/benchmarks/mocap_table.py [FOLDER] [--only pickup,face]

Orthogonal cameras, tracks alone.  Errors are the global e3D in the camera's coordinates (`e3d_global`), next
to those that Dai et al. 2014 (BMM) and Kumar 2020 (R-BMM) print.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from core import CameraModel, GroundTruth, Sequence, iterate
from core.evaluation import e3d_global
from core.experiments.mocap import PUBLISHED_E3D, load_mocap

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))


def camera_error(result, truth):
    """Return e3D of a result in the units of its tracks."""
    Y = result.intrinsics[0, 0] * result.camera_points
    return e3d_global(Y, truth).mean


def main():
    """Print a line for every sequence."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=DATA / "real" / "mocap")
    parser.add_argument("--only", default=",".join(PUBLISHED_E3D))
    options = parser.parse_args()
    print("            F x P     BMM   R-BMM  bilinear  refined  CPU s, of which refinement")
    for name in options.only.split(","):
        mocap, published = load_mocap(options.folder / f"{name}.mat"), PUBLISHED_E3D[name]
        frames, _, points = mocap.tracks.shape
        truth = GroundTruth(np.arange(frames), mocap.rotations @ mocap.shapes, 0)
        sequence = Sequence(mocap.tracks, camera=CameraModel.ORTHOGONAL)
        began = refined_from = time.process_time()
        for each in iterate(sequence, "recommended", objective="depths"):
            if each.depth is None:
                bilinear, refined_from = each, time.process_time()
            last = each
        ended = time.process_time()
        before, after = camera_error(bilinear.result(), truth), camera_error(last.result(), truth)
        print(
            f"{name:8s} {frames:5d} x {points:2d} {published.e3d[0]:7.4f} {published.e3d[1]:7.4f} "
            f"{before:9.4f} {after:8.4f} {ended - began:6.1f} {ended - refined_from:6.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
