"""Print how far the shape moves when a parameter is changed live, that it stays, and that it comes back.

    python tests/benchmarks/steering_table.py [DATA ...] [--only pickup/flyby] [--every 3] [--objective NAME]

DATA is a folder in the layout of the NRSfM Challenge. Each perspective sequence is solved from its tracks
alone, by the preset of each objective. Then each parameter of the objective is moved and moved back as the
window does it in live mode: a run goes on from the last iterate under the changed settings, to its end.

Distances are root mean squares after a rotation of each frame, in mm of an object of 100 mm: of the shape
before and after the movement, of that and where the same settings lead from there once more, and of the shape
before and after the way back. The first iterate and the end of the movement are in seconds of CPU.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import replace

import numpy as np
from frame import Table, chosen_sequences, sequences_parser, timed

from core import PRESETS, ExplicitWeights, iterate
from core.depth.reflections import shape_distances
from core.foundation import DEPTHS, WNN

MARK = 0.1  # mm, between before and after
PRESET_OF = {DEPTHS: "recommended", WNN: "bilinear"}


def changes(end):
    """Return the changes of the parameters of the objective of an end, by name."""
    settings = end.settings
    if settings.objective == DEPTHS:
        noise = end.noise if settings.noise is None else settings.noise
        return {
            "mode weights 4.. x 20": {"mode_weights": (1.0, 1.0, 1.0, 20.0)},
            "isometry x 3": {"isometry": 3.0 * settings.isometry},
            "smallest movement x 2": {"smallest_movement": 2.0 * settings.smallest_movement},
            "noise x 2": {"noise": 2.0 * noise},
            "neighbors + 4": {"neighbors": settings.neighbors + 4},
        }
    weights = end.spectrum.weights
    heavier = np.where(np.arange(len(weights)) < 3, weights, 10.0 * weights)
    return {
        "weights 4.. x 10": {"penalty": ExplicitWeights(tuple(heavier.tolist()))},
        "xi x 3": {"penalty": replace(settings.penalty, xi=3.0 * settings.penalty.xi)},
        "eta x 2": {"eta": 2.0 * settings.eta},
        "rank - 1": {"rank": settings.rank - 1},
    }


def follow(sequence, settings, start):
    """Return the last iterate of a run that goes on, and the seconds to its first one and to its shape."""
    began, seconds = time.process_time(), []
    for last in iterate(sequence, settings, start=start):
        if not last.status.finished or not seconds:
            seconds.append(time.process_time() - began)
    return last, seconds[0], seconds[-1]


def distance(one, other):
    """Return the distance of the shapes of two iterates in mm of an object of 100 mm."""
    shapes = one.geometry.points, other.geometry.points
    X, Z = (points - points.mean(axis=2, keepdims=True) for points in shapes)
    scale = np.sqrt(np.square(Z).sum() / np.square(X).sum())  # depths are of geometric mean 1
    return 100.0 * float(np.sqrt(shape_distances(scale * X, Z).sum() / np.square(Z).sum()))


def rows(sequence, end):
    """Yield the name of each change of an end, the three distances, and the two durations."""
    for name, change in changes(end).items():
        moved, first, settled = follow(sequence, end.settings.with_changes(**change), end)
        again, _, _ = follow(sequence, moved.settings, moved)
        back, _, _ = follow(sequence, end.settings, moved)
        yield name, distance(moved, end), distance(again, moved), distance(back, end), first, settled


def main():
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--objective", choices=list(PRESET_OF), help="default: both")
    options = arguments.parse_args()
    found: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    millimeters = ("moved mm :.3f", "stays mm :.3f", "back mm :.3f")
    table = Table("sequence", "objective", "change", *millimeters, "first s :.3f", "settled s :.2f")
    for place, given in chosen_sequences(options):
        sequence = replace(given, companion=None)
        for objective in [options.objective] if options.objective else PRESET_OF:
            end, _ = timed(iterate(sequence, PRESETS[PRESET_OF[objective]]))
            for name, *numbers in rows(sequence, end):
                found[objective, name].append(tuple(numbers[:3]))
                table.row(place, objective, name, *numbers)
    for (objective, name), distances in found.items():
        moved, stays, back = np.array(distances).T
        print(
            f"{objective} {name}: moves by {np.median(moved):.2f} mm (median), stays within {MARK} mm on "
            f"{np.count_nonzero(stays <= MARK)} and comes back on {np.count_nonzero(back <= MARK)} "
            f"of {len(back)}"
        )


if __name__ == "__main__":
    main()
