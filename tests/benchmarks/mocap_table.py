"""e3D of the recommended run on the motion-capture sequences, before and after the depth refinement.

    python tests/benchmarks/mocap_table.py [FOLDER] [--only pickup face]

Orthogonal cameras, tracks alone.  Errors are the global e3D in the camera's coordinates (`e3d_global`), next
to those that Dai et al. 2014 (BMM) and Kumar 2020 (R-BMM) print.
"""

from pathlib import Path

import numpy as np
from frame import DATA, Table, parser, timed_refinement

from core import CameraModel, GroundTruth, Sequence, iterate
from core.evaluation import e3d_global
from core.experiments.mocap import PUBLISHED_E3D, load_mocap


def camera_error(iterate, truth):
    """Return e3D of an iterate in the units of its tracks."""
    result = iterate.result()
    return e3d_global(result.intrinsics[0, 0] * result.camera_points, truth).mean


def main():
    arguments = parser(__doc__)
    arguments.add_argument("folder", type=Path, nargs="?", default=DATA / "real" / "mocap")
    arguments.add_argument("--only", nargs="+", default=list(PUBLISHED_E3D), choices=PUBLISHED_E3D)
    options = arguments.parse_args()
    errors = (f"{name} :.4f" for name in ("BMM", "R-BMM", "bilinear", "refined"))
    table = Table("sequence", "F x P", *errors, "CPU s :.1f", "of which refinement :.1f")
    for name in options.only:
        mocap = load_mocap(options.folder / f"{name}.mat")
        frames, _, points = mocap.tracks.shape
        truth = GroundTruth(np.arange(frames), mocap.rotations @ mocap.shapes, 0)
        sequence = Sequence(mocap.tracks, camera=CameraModel.ORTHOGONAL)
        *ends, before, seconds = timed_refinement(iterate(sequence, "recommended", objective="depths"))
        errors = (camera_error(end, truth) for end in ends)
        table.row(name, f"{frames} x {points}", *PUBLISHED_E3D[name].e3d, *errors, seconds, seconds - before)


if __name__ == "__main__":
    main()
