"""How many wrong answers carry a verdict, and how many right ones, by object.

    NRSFM_DATA=... python tests/benchmarks/verdict_table.py [FOLDER ...] [--only OBJECT ...] [--noise PX]
                                                            [--every N]

Runs `reconstruct` with the recommended settings on every perspective sequence of folders in the Challenge's
layout, without their companions; with --noise, after adding noise to the tracks, and with --every on every
Nth frame alone. An answer is wrong where its mean error after one similarity per frame is above 10 mm, or
above that of the one rigid shape that is nearest to the true shapes. Printed is every answer that is wrong or
carries a verdict, and a table of the counts.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from truth_table import perspective_entries, rigid_error

import core
from core.cameras.intrinsics import resolve_intrinsics

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
LARGE = 10.0  # mm


def main() -> None:
    """Parse the arguments, run, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    folders = [DATA / "challenge_like", DATA / "challenge_more"]
    parser.add_argument("folders", nargs="*", default=folders, type=Path)
    parser.add_argument("--only", nargs="+", default=[], help="objects")
    parser.add_argument("--noise", type=float, default=0.0, help="further noise of the tracks, px")
    parser.add_argument("--every", type=int, default=1, help="use every Nth frame")
    options = parser.parse_args()
    counts: dict[str, list[tuple[bool, bool]]] = {}
    for entry in perspective_entries(options.folders, options.only):
        result = core.reconstruct(harder(core.read_sequence(entry.file), options.every, options.noise))
        assert result.truth is not None
        error = core.procrustes_mm(result.points, result.truth).mean
        wrong = bool(error > min(LARGE, rigid_error(result.truth)))
        found = [verdict["sentence"] for verdict in result.meta["verdicts"]]
        counts.setdefault(entry.object_name, []).append((wrong, bool(found)))
        if wrong or found:
            name = f"{entry.object_name} {entry.path_name}"
            print(f"{'wrong' if wrong else '':>5} {name:<26}{error:6.2f} mm  {' '.join(found)}", flush=True)
    print(f"{'':>14}{'wrong':>8}{'warned':>8}{'right':>8}{'warned':>8}")
    everything = [each for rows in counts.values() for each in rows]
    for name, rows in (*counts.items(), ("all", everything)):
        cells = [[warned for wrong, warned in rows if wrong is kind] for kind in (True, False)]
        print(f"{name:>14}" + "".join(f"{len(cell):8}{sum(cell):8}" for cell in cells))


def harder(sequence: core.Sequence, every: int, noise: float) -> core.Sequence:
    """Return every Nth frame of the tracks alone, with further noise."""
    assert sequence.truth is not None
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
