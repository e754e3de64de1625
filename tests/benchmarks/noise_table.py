"""Errors of recommended runs with further noise or further hidden points: bilinear, exact rays, refined.

    NRSFM_DATA=... python tests/benchmarks/noise_table.py [--only OBJECT ...] [--path NAME]
                                                           [--part noise hidden]

Runs `reconstruct` on the tracks alone of one camera path of each object of `challenge_like` and
`challenge_more`, or of the path that is named. These have noise of 0.3 px, and 6 % of their points are
hidden. Noise of 0.3, 1 and 2 px is added to all of the tracks, or points are hidden until 10, 30 or 50 % are:
again and again an eighth of the points, the neighbors of one of them, in an eighth of the frames, one after
the other. `refined` has the recommended settings, `exact` has rays without noise, and `estimate` is the
estimate of the noise over the true one. Errors are means after one similarity per frame, without mirror, in
mm. The camera's intrinsics are those found without the further noise.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import core
from core.cameras.intrinsics import resolve_intrinsics
from core.data import occluded_blocks

if TYPE_CHECKING:
    from core.foundation import Bools, Floats

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
OWN = 0.3  # px
ADDED = (0.0, 0.3, 1.0, 2.0)  # px
HIDDEN = (0.1, 0.3, 0.5)
BLOCK = 0.125, 0.125  # of the frames and of the points, that are hidden at once
PATHS = {
    "dance": "circle",
    "face": "flyby",
    "kinect_paper": "semi_circle",
    "pickup": "zigzag",
    "shark": "tricky",
    "back": "circle",
    "drink": "flyby",
    "mat": "semi_circle",
    "stretch": "zigzag",
}
HEADINGS = ("bilinear", "exact", "refined", "estimate")


def main() -> None:
    """Parse the arguments, run, print a line for each run and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(PATHS), choices=PATHS, help="objects")
    parser.add_argument("--path", help="camera path of all objects")
    parser.add_argument("--part", nargs="+", default=("noise", "hidden"), choices=("noise", "hidden"))
    options = parser.parse_args()
    cases = [(added, 0.0) for added in ADDED if "noise" in options.part]
    cases += [(0.0, hidden) for hidden in HIDDEN if "hidden" in options.part]
    rows: dict[tuple[float, float], list[list[float]]] = {}
    print(f"{'':>24}{'added px':>9}{'hidden':>8}" + "".join(f"{name:>10}" for name in HEADINGS))
    for folder in (DATA / "challenge_like", DATA / "challenge_more"):
        for entry in core.list_sequences(folder):
            name, path = entry.object_name, entry.path_name
            chosen = name in options.only and path == (options.path or PATHS[name])
            if not chosen or entry.camera is not core.CameraModel.PERSPECTIVE:
                continue
            given = core.read_sequence(entry.file)
            for added, hidden in cases:
                harder, share = make_harder(given, added, hidden)
                found = measure(harder, float(np.hypot(OWN, added)))
                rows.setdefault((added, hidden), []).append(found)
                print_row(f"{name} {path}", added, share, found)
    for (added, hidden), group in rows.items():
        print_row("mean", added, hidden, list(np.mean(group, axis=0)))


def print_row(name: str, added: float, hidden: float, row: list[float]) -> None:
    """Print the errors and the estimate of a run, or their means."""
    cells = "".join(f"{value:10.2f}" for value in row)
    print(f"{name:>24}{added:9.1f}{hidden:8.0%}{cells}", flush=True)


def make_harder(sequence: core.Sequence, added: float, hidden: float) -> tuple[core.Sequence, float]:
    """Return the tracks alone with further noise and hidden points, and the share that is hidden."""
    assert sequence.truth is not None
    rng = np.random.default_rng(0)
    visible = hide(sequence.visible, sequence.truth.points, hidden, rng)
    harder = core.Sequence(
        sequence.tracks + added * rng.standard_normal(sequence.tracks.shape),
        visible,
        name=sequence.name,
        intrinsics=resolve_intrinsics(sequence, core.Settings().intrinsics).K,
        truth=sequence.truth,
    )
    return harder, 1 - float(visible.mean())


def hide(visible: Bools, shapes: Floats, share: float, rng: np.random.Generator) -> Bools:
    """Return what is visible after blocks of neighbors are hidden, up to a share."""
    left = visible.copy()
    for frames, points in occluded_blocks(shapes, visible, BLOCK, rng):
        if left.mean() <= 1 - share:
            break
        left[frames, points] = False
    return left


def measure(sequence: core.Sequence, noise: float) -> list[float]:
    """Return the figures of `HEADINGS`."""
    assert sequence.truth is not None
    recommended = core.PRESETS["recommended"]
    refined = core.reconstruct(sequence, recommended)
    exact = core.reconstruct(sequence, replace(recommended, noise=0.0))
    B, C, _, _ = refined.bilinear
    bilinear = (B @ C.T).reshape(refined.points.shape)
    found = (bilinear, exact.points, refined.points)
    errors = [float(core.procrustes_mm(points, sequence.truth).mean) for points in found]
    return [*errors, refined.meta["refinement"]["noise_px"] / noise]


if __name__ == "__main__":
    main()
