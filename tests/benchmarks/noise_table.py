"""The estimate of the tracks' noise against noise that is added, on real shapes and six camera paths.

    NRSFM_DATA=... python tests/benchmarks/noise_table.py

The tracks of `challenge_like` and `challenge_more` have 0.3 px of noise. Printed is, for every object, the
estimate over the true noise as median, least and most of the paths, for further noise of 0, 1 and 2 px, and
for 0, 30 and 50 % of further observations hidden.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import core
from core.depth import estimate_noise

FOLDER = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
OWN = 0.3  # px
ADDED = (0.0, 1.0, 2.0)  # px
HIDDEN = (0.0, 0.3, 0.5)


def main() -> None:
    ratios: dict[str, list[list[float]]] = {}
    for folder in ("challenge_like", "challenge_more"):
        for entry in core.list_sequences(FOLDER / folder):
            if entry.camera is core.CameraModel.PERSPECTIVE:
                ratios.setdefault(entry.object_name, []).append(measure(core.read_sequence(entry.file)))
    cases = [(hidden, added) for hidden in HIDDEN for added in ADDED]
    print(f"{'hidden, px':>14}" + "".join(f"{f'{h:.0%} {np.hypot(OWN, a):.1f}':>18}" for h, a in cases))
    for name, rows in ratios.items():
        cells = [f"{np.median(c):.2f} ({min(c):.2f}-{max(c):.2f})" for c in zip(*rows, strict=True)]
        print(f"{name:>14}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def measure(sequence: core.Sequence) -> list[float]:
    """Return the estimate over the true noise, for every share of hidden points and every added noise."""
    found = []
    for hidden in HIDDEN:
        for added in ADDED:
            rng = np.random.default_rng(0)
            visible = sequence.visible & (rng.random(sequence.visible.shape) >= hidden)
            tracks = sequence.tracks + added * rng.standard_normal(sequence.tracks.shape)
            found.append(estimate_noise(tracks, visible) / float(np.hypot(OWN, added)))
    return found


if __name__ == "__main__":
    main()
