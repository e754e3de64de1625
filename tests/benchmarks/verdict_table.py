"""How many wrong answers carry a verdict, and how many right ones, by object.

    python tests/benchmarks/verdict_table.py [FOLDER ...] [--only OBJECT ...] [--noise PX] [--frames-every N]

Runs `reconstruct` with the recommended settings on every perspective sequence of folders in the Challenge's
layout, without their companions; with --noise, after adding noise to the tracks, and with --frames-every on
every Nth frame alone. An answer is wrong where its mean error after one similarity per frame is above 10 mm,
or above that of the one rigid shape that is nearest to the true shapes. Printed is every answer that is wrong
or carries a verdict, and a table of the counts.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from frame import Table, chosen_sequences, error_mm, rigid_error, sequences_parser

import core
from core.cameras.intrinsics import resolve_intrinsics

LARGE = 10.0  # mm


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--noise", type=float, default=0.0, help="further noise of the tracks, px")
    arguments.add_argument("--frames-every", type=int, default=1, help="use every Nth frame")
    options = arguments.parse_args()
    rows = []
    for name, sequence in chosen_sequences(options):
        result = core.reconstruct(harder(sequence, options.frames_every, options.noise))
        error = error_mm(result.points, result.truth)
        wrong = bool(error > min(LARGE, rigid_error(result.truth)))
        found = [verdict["sentence"] for verdict in result.meta["verdicts"]]
        rows.append((name.partition("/")[0], wrong, bool(found)))
        if wrong or found:
            print(f"{'wrong' if wrong else '':>5} {name:<26}{error:6.2f} mm  {' '.join(found)}", flush=True)
    answers = pd.DataFrame(rows, columns=["object", "wrong", "warned"])
    table = Table("object", "wrong", "warned", "right", "warned")
    for name, group in (*answers.groupby("object", sort=False), ("all", answers)):
        cells = [group["warned"][group["wrong"] == kind] for kind in (True, False)]
        table.row(name, *(number for cell in cells for number in (len(cell), sum(cell))))


def harder(sequence: core.Sequence, every: int, noise: float) -> core.Sequence:
    """Return every Nth frame of the tracks alone, with further noise."""
    rng = np.random.default_rng(0)
    tracks = sequence.tracks + noise * rng.standard_normal(sequence.tracks.shape)
    return core.Sequence(
        tracks[::every],
        sequence.visible[::every],
        name=sequence.name,
        intrinsics=resolve_intrinsics(sequence, core.Settings().intrinsics).K,
        truth=core.GroundTruth.of_all_frames(sequence.truth.points[::every]),
    )


if __name__ == "__main__":
    main()
