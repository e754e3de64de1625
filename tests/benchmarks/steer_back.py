"""Print how far a refined shape moves when a parameter is changed, and when it is put back.

    python tests/benchmarks/steer_back.py DATA [DATA ...] [--only pickup/flyby] [--every 3]

DATA is a folder in the layout of the NRSfM Challenge. Each perspective sequence is solved from its tracks
alone, with the preset `recommended`. Then each parameter is moved and moved back, and the shape follows
at the finest level. Distances are root mean squares after a rotation of each frame, in mm of an object of
100 mm. Iterations and CPU seconds are of both ways.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np

from core import CameraModel, list_sequences, read_sequence, reconstruct
from core.depth import DepthOptions, follow_depths, shape_distances
from core.reconstruction import refinement

MARK = 0.1  # mm, between before and after
MOVED = {
    "weights 4.. x 20": {"weights": (1.0, 1.0, 1.0, 20.0)},
    "isometry x 3": {"isometry": 0.9},
    "eps x 2": {"eps": 0.005},
    "noise x 2": {},
    "neighbors 12": {"neighbors": 12},
}


def refined(sequence):
    """Return the last step of the refinement of the points that all levels follow."""
    found = []
    refine_part = refinement.refine_part

    def kept(*arguments):
        for of_part, step in refine_part(*arguments):
            found[:] = [of_part]
            yield of_part, step

    refinement.refine_part = kept
    try:
        reconstruct(replace(sequence, companion=None))
    finally:
        refinement.refine_part = refine_part
    return found[0]


def distance(problem, one, other):
    """Return the distance of two points' shapes in mm of an object of 100 mm."""
    X, Z = problem.shapes(one), problem.shapes(other)
    return 100.0 * float(np.sqrt(shape_distances(X, Z).sum() / np.square(Z).sum()))


def moved(step, name):
    """Return how far a change moves an end, how far from it the way back ends, iterations and seconds."""
    objective, problem = step.objective, step.objective.problem
    noise = problem.noise * (2.0 if name.startswith("noise") else 1.0)
    began, count, point = time.process_time(), 0, step.best
    for options, noise_there in ((DepthOptions(**MOVED[name]), noise), (DepthOptions(), problem.noise)):
        objective = options.objective(objective, noise_there, point)
        back = noise_there == problem.noise and options == DepthOptions()
        steps = list(follow_depths(objective, point, end=step.best if back else None))
        count += len(steps)
        before, point = point, deque(steps, maxlen=1)[0].best
    return (
        distance(problem, before, step.best),
        distance(problem, point, step.best),
        count,
        time.process_time() - began,
    )


def main():
    """Run all and print the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--every", type=int, default=1, help="of the sequences, only each so many")
    options = parser.parse_args()
    entries = [
        entry
        for folder in options.folders
        for entry in list_sequences(folder)
        if entry.camera is CameraModel.PERSPECTIVE
        and (not options.only or f"{entry.object_name}/{entry.path_name}" in options.only)
    ][:: options.every]
    returned = dict.fromkeys(MOVED, 0)
    print(f"{'':24s} {'':18s} away mm  back mm  iterations  CPU s")
    for entry in entries:
        step = refined(read_sequence(entry.file))
        for name in MOVED:
            away, back, count, seconds = moved(step, name)
            returned[name] += back <= MARK
            place = f"{entry.object_name}/{entry.path_name}"
            print(f"{place:24s} {name:18s} {away:7.3f} {back:8.3f} {count:11d} {seconds:6.2f}", flush=True)
    for name, count in returned.items():
        print(f"{name}: {count} of {len(entries)} come back to within {MARK} mm")


if __name__ == "__main__":
    main()
