"""Print whether the 3-D errors of a preset depend on the processor's kernels of OpenBLAS.

    python tests/benchmarks/kernels_table.py [FOLDER ...] [--preset P] [--kernels K ...] [--sequences O/P ...]

OpenBLAS sums in another order for every family of processors, so that the last bits of its results differ.
`OPENBLAS_CORETYPE` chooses a kernel that the processor can run; every kernel runs in a process of its own.
Columns: the mean 3-D error in mm under the first kernel (per-frame similarity without mirror), then for each
other kernel the difference of the mean and the largest difference over the frames, in mm, and the relative
difference of the losses of the bilinear solutions.  Where other rotations or another start were chosen, their
names follow.  Perspective sequences only.  CPU time, one BLAS thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from truth_table import perspective_entries

from core import PRESETS, iterate, procrustes_mm, read_sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

KERNELS = ("SkylakeX", "Haswell", "Prescott")  # the first one is what the others are compared to
AGREEMENTS = (1e-6, 0.01)  # mm


def main() -> None:
    """Parse the arguments, run one process per kernel, print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    data = os.environ.get("NRSFM_DATA", "../shared/data")
    defaults = [Path(data) / name for name in ("challenge_like", "challenge_more")]
    parser.add_argument("folders", nargs="*", default=defaults, type=Path, metavar="FOLDER")
    parser.add_argument("--preset", choices=PRESETS, default="recommended")
    parser.add_argument("--kernels", nargs="+", default=KERNELS)
    parser.add_argument("--sequences", nargs="+", metavar="OBJECT/PATH", help="some of them only")
    parser.add_argument("--in-this-process", action="store_true", help="print one JSON object per sequence")
    options = parser.parse_args()
    if options.in_this_process:
        for folder in options.folders:
            for end in ends(folder, options.preset, options.sequences):
                print(json.dumps(end), flush=True)
        return
    runs = {kernel: run_under(kernel) for kernel in options.kernels}
    print_table(runs)


def ends(folder: Path, preset: str, wanted: list[str] | None) -> Iterator[dict[str, Any]]:
    """Solve the sequences one after the other, and yield what is compared between kernels."""
    for entry in perspective_entries([folder], wanted):
        sequence = read_sequence(entry.file)
        assert sequence.truth is not None
        began = time.process_time()
        for update in iterate(sequence, PRESETS[preset]):
            last = update
        yield {
            "sequence": f"{entry.object_name}/{entry.path_name}",
            "errors": procrustes_mm(last.geometry.points, sequence.truth).per_frame.tolist(),
            "loss": last.best.loss,
            "rotations": last.rotations,
            "start": min(last.starts, key=lambda start: start.loss).name if last.starts else "",
            "seconds": time.process_time() - began,
        }


def run_under(kernel: str) -> dict[str, dict[str, Any]]:
    """Run this script with the same arguments under a kernel; return its ends by sequence."""
    command = [sys.executable, __file__, *sys.argv[1:], "--in-this-process"]
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {end["sequence"]: end for end in map(json.loads, output.splitlines())}


def print_table(runs: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Print one row per sequence, then how many agree, and mean, median and time for every kernel."""
    (first, reference), *others = runs.items()
    print(f"| sequence | {first}, mm |", " | ".join(kernel for kernel, _ in others), "|")
    print("|---" * (2 + len(others)) + "|")
    differences: dict[str, list[tuple[float, float]]] = {kernel: [] for kernel, _ in others}
    for name, end in reference.items():
        cells = []
        for kernel, found in others:
            other = found[name]
            apart = np.subtract(other["errors"], end["errors"])
            differences[kernel].append((abs(float(apart.mean())), float(np.abs(apart).max())))
            differing = [key for key in ("rotations", "start") if other[key] != end[key]]
            chosen = "".join(f"; {other[key]}, not {end[key]}" for key in differing)
            mean, largest = differences[kernel][-1]
            cells.append(f"{mean:.1e} / {largest:.1e} / {other['loss'] / end['loss'] - 1:+.1e}{chosen}")
        print(f"| {name} | {np.mean(end['errors']):.4f} |", " | ".join(cells), "|")
    total = len(reference)
    for limit in AGREEMENTS:
        counts = [np.sum(np.array(differences[kernel]) <= limit, axis=0) for kernel, _ in others]
        cells = [f"{mean} / {largest} of {total}" for mean, largest in counts]
        print(f"| within {limit:g} mm | |", " | ".join(cells), "|")
    summaries = []
    for found in runs.values():
        means = [float(np.mean(end["errors"])) for end in found.values()]
        seconds = sum(end["seconds"] for end in found.values())
        summaries.append(f"{np.mean(means):.6f}, {np.median(means):.6f}, {seconds:.0f} s")
    print("| mean, median, CPU |", " | ".join(summaries), "|")


if __name__ == "__main__":
    main()
