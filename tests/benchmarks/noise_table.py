"""Errors of recommended runs with further noise or further hidden points: bilinear, exact rays, refined.

    python tests/benchmarks/noise_table.py [--only OBJECT ...] [--path NAME] [--part noise hidden]

Runs `reconstruct` on the tracks alone of one camera path of each object of `challenge_like` and
`challenge_more`, or of the path that is named. These have noise of 0.3 px, and 6 % of their points are
hidden. Noise of 0.3, 1 and 2 px is added to all of the tracks, or points are hidden until 10, 30 or 50 % are:
again and again an eighth of the points, the neighbors of one of them, in an eighth of the frames, one after
the other. `refined` has the recommended settings, `exact` has rays without noise, and `estimate` is the
estimate of the noise over the true one. Errors are means after one similarity per frame, without mirror, in
mm. The camera's intrinsics are those found without the further noise.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
from frame import Table, chosen_sequences, error_mm, sequences_parser

import core
from core.cameras.intrinsics import resolve_intrinsics
from core.data import occluded_blocks

OWN = 0.3  # px
ADDED = (0.0, 0.3, 1.0, 2.0)  # px
HIDDEN = (0.1, 0.3, 0.5)
BLOCK = 0.125, 0.125  # of the frames and of the points, that are hidden at once
PATHS = {
    "dance": "circle", "face": "flyby", "kinect_paper": "semi_circle", "pickup": "zigzag", "shark": "tricky",
    "back": "circle", "drink": "flyby", "mat": "semi_circle", "stretch": "zigzag",
}  # fmt: skip


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--path", help="camera path of all objects")
    arguments.add_argument("--part", nargs="+", default=("noise", "hidden"), choices=("noise", "hidden"))
    options = arguments.parse_args()
    cases = [(added, 0.0) for added in ADDED if "noise" in options.part]
    cases += [(0.0, hidden) for hidden in HIDDEN if "hidden" in options.part]
    chosen = options.only or PATHS
    options.only = [f"{name}/{options.path or path}" for name, path in PATHS.items() if name in chosen]
    found = defaultdict(list)
    figures = (f"{name} :.2f" for name in ("bilinear", "exact", "refined", "estimate"))
    table = Table("sequence", "added px :.1f", "hidden :.0%", *figures)
    for name, given in chosen_sequences(options):
        for case in cases:
            harder = make_harder(given, *case)
            row = measure(harder, float(np.hypot(OWN, case[0])))
            found[case].append(row)
            table.row(name, case[0], 1 - float(harder.visible.mean()), *row)
    for case, rows in found.items():
        table.row("mean", *case, *np.mean(rows, axis=0))


def make_harder(sequence: core.Sequence, added: float, hidden: float) -> core.Sequence:
    """Return the tracks alone with further noise, and blocks of neighbors hidden up to a share."""
    rng = np.random.default_rng(0)
    visible = sequence.visible.copy()
    for frames, points in occluded_blocks(sequence.truth.points, sequence.visible, BLOCK, rng):
        if visible.mean() <= 1 - hidden:
            break
        visible[frames, points] = False
    return core.Sequence(
        sequence.tracks + added * rng.standard_normal(sequence.tracks.shape),
        visible,
        name=sequence.name,
        intrinsics=resolve_intrinsics(sequence, core.Settings().intrinsics).K,
        truth=sequence.truth,
    )


def measure(sequence: core.Sequence, noise: float) -> list[float]:
    """Return three errors, and the estimate of the noise over the true one."""
    recommended = core.PRESETS["recommended"]
    refined = core.reconstruct(sequence, recommended)
    exact = core.reconstruct(sequence, replace(recommended, noise=0.0))
    B, C, _, _ = refined.bilinear
    shapes = ((B @ C.T).reshape(refined.points.shape), exact.points, refined.points)
    errors = [error_mm(points, sequence.truth) for points in shapes]
    return [*errors, refined.meta["refinement"]["noise_px"] / noise]


if __name__ == "__main__":
    main()
