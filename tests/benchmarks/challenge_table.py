"""Print log losses and 3-D errors on every perspective sequence of a folder in the Challenge's layout.

    python tests/benchmarks/challenge_table.py [FOLDER] [--only NAME ...]

Runs: `bilinear`, `admm` and `admm+bilinear` at rank 2, weighted nuclear norm, with the true rotations and
with the companion's (rank 2); then the presets, `recommended` also without the companion. CPU time, one BLAS
thread. Mean 3-D error over all frames with known truth, per-frame similarity without mirror, in mm.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from dataclasses import replace
from pathlib import Path

from core import PRESETS, CameraModel, list_sequences, read_sequence, solve_sequence
from core.metrics import procrustes_mm
from core.penalties import WeightedNuclearNorm

PLAIN = PRESETS["recommended"].with_changes(
    rank=2, penalty=WeightedNuclearNorm(xi=5e-3), intrinsics="gt", starts=60
)
METHODS = ("bilinear", "admm", "admm+bilinear")
RUNS = {
    **{f"truth/{m}": PLAIN.with_changes(rotations="truth", method=m) for m in METHODS},
    **{
        f"companion/{m}": PLAIN.with_changes(rotations="companion", rotation_rank=2, method=m)
        for m in METHODS
    },
    "paper": PRESETS["paper"],
    "recommended": PRESETS["recommended"],
    "recommended/tracks": PRESETS["recommended"],
}


def main() -> None:
    """Parse the arguments, run, print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    data = os.environ.get("NRSFM_DATA", "../shared/data")
    parser.add_argument("folder", nargs="?", default=f"{data}/challenge_like", type=Path)
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS))
    options = parser.parse_args()
    entries = [e for e in list_sequences(options.folder) if e.camera is CameraModel.PERSPECTIVE]
    print("| sequence |", " | ".join(options.only), "|")
    print("|---" * (len(options.only) + 1) + "|")
    totals = {name: [0.0, 0.0, 0.0] for name in options.only}
    for entry in entries:
        sequence = read_sequence(entry.file)
        cells = []
        for name in options.only:
            own = replace(sequence, companion=None) if name.endswith("tracks") else sequence
            began = time.process_time()
            result = solve_sequence(own, RUNS[name])
            seconds = time.process_time() - began
            errors = procrustes_mm(result.points, sequence.truth)
            reference = list(sequence.truth.frames).index(sequence.truth.reference)
            log_loss, mean, at = math.log10(result.loss), errors.mean, errors.per_frame[reference]
            cells.append(f"{log_loss:.4f} / {mean:.2f} / {at:.2f}")
            totals[name] = [a + b for a, b in zip(totals[name], (log_loss, mean, seconds), strict=True)]
        print(f"| {entry.object_name} {entry.path_name} |", " | ".join(cells), "|", flush=True)
    means = [[value / len(entries) for value in totals[name]] for name in options.only]
    print("| mean |", " | ".join(f"{a:.4f} / {b:.2f}, {c:.1f} s" for a, b, c in means), "|")


if __name__ == "__main__":
    main()
