"""Relative 3-D errors against the error of the focal length, with the default and with the estimate.

    python tests/benchmarks/focal_table.py [--case CASE ...] [--only /circle] [--starts N]

One camera path of each object of `challenge_like`, on which the constants of the estimate were chosen, and of
each of `challenge_more`, which decided nothing, and a second one of `drink`; and two real sequences,
`kinect_paper` with the K of its camera and `back`, whose f is 1459. The true focal length of the others is
1400 at 1280 x 960. Tracks alone: no companion; the truth measures the errors only.

Columns: the focal length times 0.5 to 1.5, `orthogonal`, the `default` (1.2 times the longer side of a
picture whose size is guessed from the tracks) and the `estimate`. Each cell: mean distance of points and
truth after a similarity per frame, without mirror, in percent of the object's radius (root mean square
distance from the center). For an orthogonal camera the better of both mirror images. Of the default and the
estimate also: the focal length over the true one, half its interval of 95 %, and CPU seconds.

Settings are the recommended ones, but for the number of starts: 4 in place of 32, which changes no rotation
candidate and no refinement.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from frame import DATA, PATHS, Table, chosen_sequences, sequences_parser, timed

import core
from core.evaluation import Mirror, aligned_mm

CHALLENGE = 1400.0, (640.0, 480.0)  # focal length and principal point
REAL = {
    "kinect_paper/mdh_results-KPaper.mat": (528.0, (320.0, 240.0)),
    "back/back_L_3D.mat": (1459.0, (620.0, 514.0)),
}
CASES = ("0.5", "0.8", "1", "1.2", "1.5", "orthogonal", "default", "estimate")


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    arguments.add_argument("--starts", type=int, default=4)
    options = arguments.parse_args()
    real = {} if options.only else REAL
    options.only = options.only or (*PATHS, "drink/circle")
    cases = [(sequence, *CHALLENGE) for _, sequence in chosen_sequences(options)]
    cases += [(core.read_sequence(DATA / "real" / file), *camera) for file, camera in real.items()]
    table, errors = Table("sequence", *options.case), []
    for given, focal, center in cases:
        sequence = replace(given, companion=None, intrinsics=None)
        found = [measure(sequence, case, focal, center, options.starts) for case in options.case]
        errors.append([error for _, error in found])
        table.row(sequence.name, *(text for text, _ in found))
    table.row("mean", *(f"{mean:.2f}" for mean in np.mean(errors, axis=0)))


def measure(
    sequence: core.Sequence, case: str, focal: float, center: tuple[float, float], starts: int
) -> tuple[str, float]:
    """Return the cell of a run, and its relative error in percent."""
    known = {"orthogonal": {"camera_model": case}, "estimate": {"intrinsics": case}, "default": {}}
    changes = known.get(case)
    if changes is None:
        changes = {"intrinsics": (float(case) * focal, float(case) * focal, *center)}
    settings = core.Settings(starts=starts).with_changes(**changes)
    last, seconds = timed(core.iterate(replace(sequence, truth=None), settings))  # which would give K
    mirror = Mirror.AUTOMATIC if case == "orthogonal" else Mirror.OFF
    errors, _ = aligned_mm(last.geometry.points, sequence.truth, core.Alignment(mirror=mirror))
    truth = sequence.truth.points
    centered = truth - np.nanmean(truth, axis=2, keepdims=True)
    relative = 100 * errors.mean / float(np.sqrt(np.nanmean(np.square(centered).sum(axis=1))))
    text = f"{relative:.2f}"
    if case in ("default", "estimate"):
        interval = None if last.origin is None else last.origin.interval
        half = "" if interval is None else f" ± {50 * np.log(interval[1] / interval[0]):.0f} %"
        text += f" (f {last.intrinsics[0, 0] / focal:.3f}{half}, {seconds:.0f} s)"
    return text, relative


if __name__ == "__main__":
    main()
