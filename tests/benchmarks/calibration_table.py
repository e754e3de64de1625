"""The share of the true errors within 1 and 2 of the standard deviations of refined results, by object.

    NRSFM_DATA=... python tests/benchmarks/calibration_table.py [FOLDER ...] [--only OBJECT ...] [--companion]

Runs `reconstruct` with the recommended settings on every perspective sequence of folders in the Challenge's
layout, without their companions. Errors are in the axes of the camera after one similarity per frame. Printed
in percent, as the mean over the paths of an object: the share of distances within 1 and 2 of the norm of the
three standard deviations, and that of each axis; and the root mean square of the errors over that of the
standard deviations, least and most of the paths. Of a normal distribution each axis has 68 and 95; the
distances have 68 and 95 where the errors are along the ray, and 61 and 99 where they are equal in all
directions.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from truth_table import perspective_entries

import core
from core.foundation import procrustes

if TYPE_CHECKING:
    from core.foundation import Floats

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
COLUMNS = ("<1", "<2", "x<1", "y<1", "z<1", "x<2", "y<2", "z<2")


def main() -> None:
    """Parse the arguments, run, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    folders = [DATA / "challenge_like", DATA / "challenge_more"]
    parser.add_argument("folders", nargs="*", default=folders, type=Path)
    parser.add_argument("--only", nargs="+", default=[], help="objects")
    parser.add_argument("--companion", action="store_true", help="use the companion's tracks as well")
    options = parser.parse_args()
    rows: dict[str, list[Floats]] = {}
    print(f"{'':>14}" + "".join(f"{name:>6}" for name in COLUMNS) + f"{'error/std':>14}")
    for entry in perspective_entries(options.folders, options.only):
        sequence = core.read_sequence(entry.file)
        own = sequence if options.companion else replace(sequence, companion=None)
        row = measure(core.reconstruct(own))
        print_row(f"{entry.object_name} {entry.path_name}"[:24], [row])
        rows.setdefault(entry.object_name, []).append(row)
    for name, found in rows.items():
        print_row(name, found)


def print_row(name: str, rows: list[Floats]) -> None:
    """Print the mean shares of some sequences, and the range of the ratios."""
    mean, ratios = np.mean(rows, axis=0), [row[-1] for row in rows]
    cells = "".join(f"{100 * share:6.0f}" for share in mean[:-1])
    print(f"{name:>24}"[-24:] + f"{cells}   {min(ratios):.2f}-{max(ratios):.2f}", flush=True)


def measure(result: core.Result) -> Floats:
    """Return the shares of `COLUMNS`, and the ratio of errors and standard deviations."""
    truth = result.truth
    assert truth is not None and result.std is not None
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
