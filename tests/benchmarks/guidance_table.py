"""How well the held-out error ranks settings as the 3-D error does, for every kind of hiding.

    python tests/benchmarks/guidance_table.py FILE ... [--hiding tracks blocks ...] [--folds N]

FILE are tracks with their truth in the Challenge's layout. Each is reconstructed once without refinement.
From there series over one parameter are solved, under the weighted nuclear norm over xi, the rank and eta,
and under the energy of the depths over its numbers: once with all observations, which gives the 3-D error
(mean over frames and points after a similarity for each frame, in the unit of the truth), and once for every
fold of every kind of hiding, which gives the held-out error, root mean square and median. Printed are
Spearman's rank correlation of the two, the mean over the sequences, and the 3-D error at the lowest held-out
error over the lowest one, the geometric mean: over the values of each parameter, over the settings without
refinement, over those with it, and over all.
"""

import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from frame import Table, error_mm, parser
from scipy.stats import spearmanr

from core import PRESETS, iterate, read_sequence
from core.evaluation import HIDING, HoldoutPlan, sweep, with_parameter
from core.evaluation.cross_validation import pose_problem, solve_from
from core.foundation import WNN, InputError
from core.reconstruction.refinement import refine_end

# Values beside those of the presets: xi 0.5, rank 6, eta 0.05, isometry 0.3, smallest movement 0.0025,
# neighbors 8, noise estimated.
BILINEAR = {"xi": (0.05, 0.15, 0.5, 1.5, 5.0), "rank": (2.0, 3.0, 4.0), "eta": (0.01, 0.25)}
REFINED = {
    "isometry": (0.03, 0.1, 0.3, 1.0, 3.0),
    "smallest_movement": (0.001, 0.01),
    "neighbors": (4.0, 14.0),
    "noise": (0.05, 1.0),
}
PRESENT = {"bilinear": ("xi", 0.5), "recommended": ("isometry", 0.3)}  # where the presets themselves are


def series():
    """Yield the settings and the parameter with its values of every series."""
    for preset, plans in (("bilinear", BILINEAR), ("recommended", REFINED)):
        for parameter, values in plans.items():
            yield preset, parameter, values


def true_error(sequence, start, settings):
    """Return the 3-D error of the solution for all observations, from the rotations of a run."""
    problem = pose_problem(start.best.problem, settings, sequence.camera)
    end = solve_from(problem, start.best.factors)
    points = problem.rotations @ (end.factors.shapes() + end.factors.s[:, :, None])
    if settings.objective != WNN:
        try:
            points = refine_end(end, settings, start.intrinsics).best.camera_points()
        except InputError:  # nothing is left to refine
            pass
    return error_mm(points, sequence.truth)


def measure(file, options):
    """Return by (preset, parameter, value) the 3-D error and the held-out error of every kind of hiding."""
    sequence = read_sequence(file)
    *_, start = iterate(sequence, "bilinear")
    found = {}
    for preset, parameter, values in series():
        settings = PRESETS[preset]
        for value in values:
            error = true_error(sequence, start, with_parameter(settings, parameter, value))
            found[preset, parameter, value] = {"truth": error}
        for hiding in options.hiding:
            plan = HoldoutPlan(parameter, values, folds=options.folds, hiding=hiding)
            held = defaultdict(list)
            for trial in sweep(sequence, start, settings, plan):
                held[trial.value].append((trial.held.rms, trial.held.median))
            for value in values:
                rms, median = np.mean(held[value], axis=0).tolist()
                found[preset, parameter, value] |= {hiding: rms, f"{hiding}, median": median}
    return found


def rows_of(table, group):
    """Return the rows of a group of settings: of a preset, of one of its parameters, or all."""
    preset, _, parameter = group.partition(" ")
    return [
        row
        for key, row in table.items()
        if key[0].startswith(preset)
        and (not parameter or key[1] == parameter or PRESENT[preset] == (key[1], key[2]))
    ]


def summarize(tables, scores):
    """Print rank correlations, and the 3-D error at the choice by each score over the lowest one."""
    groups = [f"{preset} {parameter}" for preset, parameter, _ in series()] + [*PRESENT, ""]
    printed = Table("rank correlation, ratio", *scores)
    for group in groups:
        cells = []
        for score in scores:
            correlations, ratios = [], []
            for table in tables.values():
                rows = rows_of(table, group)
                truth, held = (np.array([row[name] for row in rows]) for name in ("truth", score))
                held = np.nan_to_num(held, nan=1e9)
                correlations.append(spearmanr(truth, held).statistic)
                ratios.append(truth[np.argmin(held)] / truth.min())
            cells.append(f"{np.nanmean(correlations):.2f} {np.exp(np.mean(np.log(ratios))):.2f}")
        printed.row(group or "all", *cells)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("files", type=Path, nargs="+")
    arguments.add_argument("--hiding", nargs="*", default=list(HIDING))
    arguments.add_argument("--folds", type=int, default=1)
    options = arguments.parse_args()
    tables = {}
    for file in options.files:
        began = time.process_time()
        name = f"{file.parents[2].name}/{file.stem}"
        tables[name] = measure(file, options)
        print(f"{name}: {time.process_time() - began:.0f} s", flush=True)
    summarize(tables, [f"{name}{score}" for score in ("", ", median") for name in options.hiding])


if __name__ == "__main__":
    main()
