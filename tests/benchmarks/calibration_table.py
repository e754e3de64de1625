"""The share of the true errors within 1 and 2 of the standard deviations of refined results, by object.

    python tests/benchmarks/calibration_table.py [FOLDER ...] [--only OBJECT ...] [--companion]

Runs `reconstruct` with the recommended settings on every perspective sequence of folders in the Challenge's
layout, without their companions. Errors are in the axes of the camera after one similarity per frame. Printed
in percent, as the mean over the paths of an object: the share of distances within 1 and 2 of the norm of the
three standard deviations, and that of each axis; and the root mean square of the errors over that of the
standard deviations, least and most of the paths. Of a normal distribution each axis has 68 and 95; the
distances have 68 and 95 where the errors are along the ray, and 61 and 99 where they are equal in all
directions.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from frame import Table, chosen_sequences, sequences_parser

import core
from core.foundation import Floats, procrustes

COLUMNS = ("<1", "<2", "x<1", "y<1", "z<1", "x<2", "y<2", "z<2")


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--companion", action="store_true", help="use the companion's tracks as well")
    options = arguments.parse_args()
    rows: dict[str, list[Floats]] = defaultdict(list)
    table = Table("sequence", *(f"{name} :.0f" for name in COLUMNS), "error/std")

    def print_row(name: str, found: list[Floats]) -> None:
        ratios = [each[-1] for each in found]
        table.row(name, *100 * np.mean(found, axis=0)[:-1], f"{min(ratios):.2f}-{max(ratios):.2f}")

    for name, sequence in chosen_sequences(options):
        row = measure(core.reconstruct(sequence if options.companion else replace(sequence, companion=None)))
        print_row(name, [row])
        rows[name.partition("/")[0]].append(row)
    for name, found in rows.items():
        print_row(name, found)


def measure(result: core.Result) -> Floats:
    """Return the shares of `COLUMNS`, and the ratio of errors and standard deviations."""
    truth = result.truth
    frames = list(truth.frames)
    estimate, std = result.camera_points[frames], result.std[frames]
    known = np.isfinite(truth.points).all(axis=1)
    fit = procrustes(estimate, truth.points)
    error = fit.apply(estimate) - truth.points
    error = np.abs(np.swapaxes(fit.rotation, 1, 2) @ error)  # in the axes of the camera
    std = std * np.asarray(fit.scale)[:, None, None]
    ratio = np.linalg.norm(error, axis=1)[known] / np.linalg.norm(std, axis=1)[known]
    axes = (error / std).transpose(1, 0, 2)[:, known]
    squares = [np.square(each).sum(axis=1)[known].sum() for each in (error, std)]
    shares = [*(axes < 1).mean(axis=1), *(axes < 2).mean(axis=1)]
    return np.array([(ratio < 1).mean(), (ratio < 2).mean(), *shares, np.sqrt(squares[0] / squares[1])])


if __name__ == "__main__":
    main()
