"""Print errors and energies of short sequences, and those of the minimum that the truth leads to.

    python tests/benchmarks/short_table.py [DATA ...] [--only pickup/flyby] [--frames 10 15 20] [--cut]

DATA is a folder in the layout of the NRSfM Challenge. Of each perspective sequence so many frames are taken:
evenly over its path, with `--cut` the first ones. It is solved from its tracks alone by the default; then the
same energy is followed from the true shapes and cameras, through the levels after the coarse ones.

A row is good where its error is at most 1.3 times that of the end that began with the truth, or at most .5 mm
above it. Energies are per point and frame; the extent is that in depth over the lateral one, found and true.
Where one of both ends is of a handful of modes only (`core.depth.search`), energies do not compare.
"""

from dataclasses import replace

import numpy as np
from frame import Table, chosen_sequences, error_mm, sequences_parser, timed

from core import PRESETS, GroundTruth, iterate
from core.depth import DepthOptions, DepthPoint, refine_part
from core.depth.problem import relative_extent

LARGEST_RATIO, LARGEST_EXCESS = 1.3, 0.5  # of a good row, the second in mm


def shortened(sequence, count, *, cut):
    """Return some frames of a sequence all of whose frames have a true shape, without its companion."""
    frames = np.arange(count) if cut else np.linspace(0, sequence.frame_count - 1, count).round().astype(int)
    truth = GroundTruth.of_all_frames(sequence.truth.points[frames])
    of_frames = ("tracks", "visible", "rotations", "translations")
    parts = {name: getattr(sequence, name)[frames] for name in of_frames}
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
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--frames", type=int, nargs="*", default=(10, 15, 20))
    arguments.add_argument("--cut", action="store_true", help="take the first frames, not some of the path")
    options = arguments.parse_args()
    numbers = ("error mm :.2f", "from the truth :.2f", "energy :.4f", "of the truth :.4f")
    table = Table("sequence", "frames", *numbers, "extent :.2f", "true :.2f", "CPU s :.1f", "good")
    for name, whole in chosen_sequences(options):
        for count in options.frames:
            sequence = shortened(whole, count, cut=options.cut)
            end, seconds = timed(iterate(sequence, PRESETS["recommended"]))
            found = end.depth
            known = end_from_truth(sequence, found.followed)
            shapes = found.followed.subset.problem.shapes
            ends = found, known
            error, least = (error_mm(shapes(each.best), sequence.truth) for each in ends)
            good = error <= max(LARGEST_RATIO * least, least + LARGEST_EXCESS)
            energies = (each.best_energy for each in ends)
            extents = (extent(each.best) for each in ends)
            table.row(name, count, error, least, *energies, *extents, seconds, int(good))
    table.summary("mean")
    table.summary("median", np.median)


if __name__ == "__main__":
    main()
