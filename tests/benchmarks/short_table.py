"""Print errors and energies of short sequences, and those of the minimum that the truth leads to.

    python tests/benchmarks/short_table.py DATA [DATA ...] [--only pickup/flyby] [--frames 10 15 20] [--cut]

DATA is a folder in the layout of the NRSfM Challenge. Of each perspective sequence so many frames are taken:
evenly over its path, with `--cut` the first ones. It is solved from its tracks alone by the default; then the
same energy is followed from the true shapes and cameras, through the levels after the coarse ones.

A row is good where its error is at most 1.3 times that of the end that began with the truth, or at most .5 mm
above it. Energies are per point and frame; the extent is that in depth over the lateral one, found and true.
Where one of both ends is of a handful of modes only (`core.depth.search`), energies do not compare.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from truth_table import perspective_entries

from core import PRESETS, GroundTruth, iterate, procrustes_mm, read_sequence
from core.depth import DepthOptions, DepthPoint, refine_part
from core.depth.problem import relative_extent

LARGEST_RATIO, LARGEST_EXCESS = 1.3, 0.5  # of a good row, the second in mm


def shortened(sequence, count, *, cut):
    """Return some frames of a sequence all of whose frames have a true shape, without its companion."""
    frames = np.arange(count) if cut else np.linspace(0, sequence.frame_count - 1, count).round().astype(int)
    truth = GroundTruth.of_all_frames(sequence.truth.points[frames])
    parts = {
        name: getattr(sequence, name)[frames] for name in ("tracks", "visible", "rotations", "translations")
    }
    return replace(sequence, companion=None, truth=truth, **parts)


def end_from_truth(sequence, followed):
    """Return the end that the true shapes and cameras lead to, under the energy of a run."""
    problem = followed.subset.problem
    R, t = sequence.rotations, sequence.translations[:, :, None]
    start = DepthPoint.from_camera_points(problem, R @ sequence.truth.points + t, R)
    starts, options = {"truth": followed.subset.restrict(start)}, DepthOptions(thorough=False, coarse=False)
    *_, (_, last) = refine_part(followed.subset, start, starts, options)
    return last


def extent(point):
    """Return the extent in depth of all shapes over their lateral one."""
    Y = point.camera_points()
    return relative_extent(Y - Y.mean(axis=2, keepdims=True))


def main():
    """Run all and print the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--frames", type=int, nargs="*", default=(10, 15, 20))
    parser.add_argument("--cut", action="store_true", help="take the first frames, not some along the path")
    options = parser.parse_args()
    rows = []
    print(f"{'':24s} frames  error mm  truth mm     energy      truth  extent  truth  CPU s")
    for entry in perspective_entries(options.folders, options.only):
        for count in options.frames:
            sequence = shortened(read_sequence(entry.file), count, cut=options.cut)
            began = time.process_time()
            *_, end = iterate(sequence, PRESETS["recommended"])
            seconds, found = time.process_time() - began, end.depth
            known = end_from_truth(sequence, found.followed)
            problem = found.followed.subset.problem
            error, least = (
                procrustes_mm(problem.shapes(each.best), sequence.truth).mean for each in (found, known)
            )
            good = error <= max(LARGEST_RATIO * least, least + LARGEST_EXCESS)
            rows.append((error, least, good, seconds))
            name = f"{entry.object_name}/{entry.path_name}"
            print(
                f"{name:24s} {count:6d} {error:9.2f} {least:9.2f} {found.best_energy:10.4f} "
                f"{known.best_energy:10.4f} {extent(found.best):7.2f} {extent(known.best):6.2f} "
                f"{seconds:6.1f}{'' if good else '  above'}",
                flush=True,
            )
    errors, least, good, seconds = np.array(rows).T
    print(
        f"mean {errors.mean():.2f} mm, median {np.median(errors):.2f}; from the truth {least.mean():.2f}, "
        f"{np.median(least):.2f}; good {int(good.sum())} of {len(good)}; {seconds.mean():.1f} s of CPU"
    )


if __name__ == "__main__":
    main()
