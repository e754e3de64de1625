"""Print log losses and 3-D errors on every perspective sequence of a folder in the Challenge's layout.

    python tests/benchmarks/challenge_table.py [FOLDER] [--only NAME ...]

Each cell: log10 loss / mean error / error at the ground-truth frame; for `admm+bilinear` where ADMM ends, cut
to rank K, then where the run ends.

Runs: `bilinear` and `admm+bilinear` at rank 2, weighted nuclear norm, with the true rotations and
with the companion's (rank 2); then the presets, `bilinear` and `recommended` also without the companion. CPU
time, one BLAS thread. Mean 3-D error over all frames with known truth, per-frame similarity without mirror,
in mm.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core import (
    PRESETS,
    CameraModel,
    Sequence,
    Settings,
    WeightedNuclearNorm,
    iterate,
    list_sequences,
    procrustes_mm,
    read_sequence,
)
from core.foundation import PhaseKind

if TYPE_CHECKING:
    from core.foundation import Floats

PLAIN = PRESETS["bilinear"].with_changes(
    rank=2, penalty=WeightedNuclearNorm(xi=5e-3), intrinsics="gt", starts=60
)
METHODS = ("bilinear", "admm+bilinear")
RUNS = {
    **{f"truth/{m}": PLAIN.with_changes(rotations="truth", method=m) for m in METHODS},
    **{
        f"companion/{m}": PLAIN.with_changes(rotations="companion", rotation_rank=2, method=m)
        for m in METHODS
    },
    "paper": PRESETS["paper"],
    **{preset: PRESETS[preset] for preset in ("bilinear", "recommended")},
    **{f"{preset}/tracks": PRESETS[preset] for preset in ("bilinear", "recommended")},
}


def figures(sequence: Sequence, own: Sequence, settings: Settings) -> list[tuple[float, float, float]]:
    """Return log10 loss, mean error and that at the ground-truth frame: where ADMM ends, if it runs; last."""
    assert sequence.truth is not None
    reference = list(sequence.truth.frames).index(sequence.truth.reference)

    def measured(loss: float, shapes: Floats) -> tuple[float, float, float]:
        errors = procrustes_mm(shapes, sequence.truth)
        return math.log10(loss), errors.mean, float(errors.per_frame[reference])

    ended = None
    for last in iterate(own, settings):
        if last.phase.kind is PhaseKind.MATRIX:
            ended = last.current
    cut = [] if ended is None else [measured(ended.loss, ended.factors.shapes())]
    return [*cut, measured(last.best.loss, last.geometry.points)]


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
    totals: dict[str, list[float]] = {name: [0.0, 0.0, 0.0] for name in options.only}
    for entry in entries:
        sequence = read_sequence(entry.file)
        cells = []
        for name in options.only:
            own = replace(sequence, companion=None) if name.endswith("tracks") else sequence
            began = time.process_time()
            ends = figures(sequence, own, RUNS[name])
            seconds = time.process_time() - began
            cells.append(" -> ".join(f"{loss:.4f} / {mean:.2f} / {at:.2f}" for loss, mean, at in ends))
            totals[name] = [a + b for a, b in zip(totals[name], (*ends[-1][:2], seconds), strict=True)]
        print(f"| {entry.object_name} {entry.path_name} |", " | ".join(cells), "|", flush=True)
    means = [[value / len(entries) for value in totals[name]] for name in options.only]
    print("| mean |", " | ".join(f"{a:.4f} / {b:.2f}, {c:.1f} s" for a, b, c in means), "|")


if __name__ == "__main__":
    main()
