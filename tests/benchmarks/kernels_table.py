"""Print whether the 3-D errors of a preset depend on the processor's kernels of OpenBLAS.

    python tests/benchmarks/kernels_table.py [FOLDER ...] [--only O/P ...] [--preset P] [--kernels K ...]

OpenBLAS sums in another order for every family of processors, so that the last bits of its results differ.
`OPENBLAS_CORETYPE` chooses a kernel that the processor can run; every kernel runs in a process of its own.
Columns: the mean 3-D error in mm under the first kernel (per-frame similarity without mirror), then for each
other kernel the difference of the mean and the largest difference over the frames, in mm, and the relative
difference of the losses of the bilinear solutions.  Where other rotations or another start were chosen, their
names follow.  Perspective sequences only.  CPU time, one BLAS thread.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from frame import Table, chosen_sequences, in_process, sequences_parser, timed

from core import PRESETS, iterate, procrustes_mm

KERNELS = ("SkylakeX", "Haswell", "Prescott")  # the first one is what the others are compared to
AGREEMENTS = (1e-6, 0.01)  # mm


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--preset", choices=PRESETS, default="recommended")
    arguments.add_argument("--kernels", nargs="+", default=KERNELS)
    options = arguments.parse_args()
    print_table({each: in_process(ends_of, options, OPENBLAS_CORETYPE=each) for each in options.kernels})


def ends_of(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Solve the sequences one after the other, and return what is compared between kernels."""
    ends = {}
    for name, sequence in chosen_sequences(options):
        last, seconds = timed(iterate(sequence, PRESETS[options.preset]))
        ends[name] = {
            "errors": procrustes_mm(last.geometry.points, sequence.truth).per_frame.tolist(),
            "loss": last.best.loss,
            "rotations": last.rotations,
            "start": min(last.starts, key=lambda start: start.loss).name if last.starts else "",
            "seconds": seconds,
        }
    return ends


def print_table(runs: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Print one row per sequence, then how many agree, and mean, median and time for every kernel."""
    (first, reference), *others = runs.items()
    table = Table("sequence", f"{first}, mm :.4f", *(kernel for kernel, _ in others))
    differences: dict[str, list[tuple[float, float]]] = {kernel: [] for kernel, _ in others}
    for name, end in reference.items():
        cells = []
        for kernel, found in others:
            other = found[name]
            apart = np.subtract(other["errors"], end["errors"])
            mean, largest = abs(float(apart.mean())), float(np.abs(apart).max())
            differences[kernel].append((mean, largest))
            differing = [key for key in ("rotations", "start") if other[key] != end[key]]
            chosen = "".join(f"; {other[key]}, not {end[key]}" for key in differing)
            cells.append(f"{mean:.1e} / {largest:.1e} / {other['loss'] / end['loss'] - 1:+.1e}{chosen}")
        table.row(name, float(np.mean(end["errors"])), *cells)
    for limit in AGREEMENTS:
        counts = [np.sum(np.array(found) <= limit, axis=0) for found in differences.values()]
        of_all = (f"{mean} / {most} of {len(reference)}" for mean, most in counts)
        table.row(f"within {limit:g} mm", "", *of_all)
    summaries = []
    for found in runs.values():
        means = [float(np.mean(end["errors"])) for end in found.values()]
        seconds = sum(end["seconds"] for end in found.values())
        summaries.append(f"{np.mean(means):.6f}, {np.median(means):.6f}, {seconds:.0f} s")
    table.row("mean, median, CPU", *summaries)


if __name__ == "__main__":
    main()
