"""3-D errors of the presets on every perspective sequence of folders in the Challenge's layout.

    python tests/benchmarks/truth_table.py FOLDER ... [--only NAME ...] [--presets paper bilinear recommended]

Each preset runs on the tracks alone and with the companion's; `paper` needs the companion.  Errors are the
mean over frames and points after a similarity for each frame, without mirror, in the unit of the truth.  A
line for every sequence and preset, then for every object and folder mean, median, how many are above 10,
how many are worse than the best single rigid shape for the true poses, how many are worse than `bilinear` by
more than 10 %, and CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from core import CameraModel, InputError, list_sequences, procrustes_mm, read_sequence, reconstruct
from core.foundation import procrustes

ROUNDS = 20  # of the alternation that finds the best rigid shape
FAR = 10.0  # errors above are counted


@dataclass(frozen=True)
class Row:
    """One run."""

    folder: str
    object_name: str
    path_name: str
    run: str
    error: float
    rigid: float
    seconds: float


def rigid_error(truth):
    """Return the error of the one shape that is nearest to all true shapes, each after a similarity."""
    shapes = truth.points[np.isfinite(truth.points).all(axis=(1, 2))]
    mean = shapes[0]
    for _ in range(ROUNDS):
        aligned = procrustes(shapes, np.broadcast_to(mean, shapes.shape)).apply(shapes)
        mean = aligned.mean(axis=0)
    repeated = np.broadcast_to(mean, truth.points.shape)
    return procrustes_mm(repeated, truth).mean


def perspective_entries(folders, only):
    """Return the perspective sequences of folders in whose `object/path` one of some words is, if any."""
    return [
        entry
        for folder in folders
        for entry in list_sequences(folder)
        if entry.camera is CameraModel.PERSPECTIVE
        and (not only or any(word in f"{entry.object_name}/{entry.path_name}" for word in only))
    ]


def run_all(folder, options):
    """Yield the rows of a folder."""
    for entry in perspective_entries([folder], options.only):
        given = read_sequence(entry.file)
        rigid = rigid_error(given.truth)
        for preset in options.presets:
            for source in ("tracks", "companion"):
                if preset == "paper" and source == "tracks":
                    continue
                sequence = replace(given, companion=None) if source == "tracks" else given
                began = time.process_time()
                try:
                    result = reconstruct(sequence, preset)
                except InputError as error:
                    print(f"{entry.object_name}/{entry.path_name} {preset}, {source}: {error}", flush=True)
                    continue
                seconds = time.process_time() - began
                error = procrustes_mm(result.points, given.truth).mean
                row = Row(
                    folder.name,
                    entry.object_name,
                    entry.path_name,
                    f"{preset}, {source}",
                    error,
                    rigid,
                    seconds,
                )
                print(
                    f"{row.object_name}/{row.path_name:12s} {row.run:24s} {error:6.2f} (rigid {rigid:5.2f}) "
                    f"{seconds:5.1f} s",
                    flush=True,
                )
                yield row


def summarize(rows):
    """Print a line for every folder or object and run."""
    groups = defaultdict(list)
    for row in rows:
        groups[f"{row.folder}/{row.object_name}", row.run].append(row)
        groups[row.folder, row.run].append(row)
    bilinear = {
        (row.folder, row.object_name, row.path_name, row.run.split(", ")[1]): row.error
        for row in rows
        if row.run.startswith("bilinear")
    }
    print(f"\n{'':46s}   n   mean median  >10 >rigid >bilinear  CPU s")
    for (name, run), group in sorted(groups.items()):
        errors = np.array([row.error for row in group])
        before = [
            bilinear.get((row.folder, row.object_name, row.path_name, row.run.split(", ")[1]), np.inf)
            for row in group
        ]
        print(
            f"{name:20s} {run:25s} {len(group):3d} {errors.mean():6.2f} {np.median(errors):6.2f} "
            f"{(errors > FAR).sum():4d} {sum(row.error > row.rigid for row in group):6d} "
            f"{(errors > 1.1 * np.array(before)).sum():9d} {np.mean([row.seconds for row in group]):6.1f}"
        )


def main():
    """Run all and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--presets", nargs="*", default=("paper", "bilinear", "recommended"))
    options = parser.parse_args()
    summarize([row for folder in options.folders for row in run_all(folder, options)])


if __name__ == "__main__":
    main()
