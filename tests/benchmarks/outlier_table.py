"""Errors of recommended runs with gross outliers and with tracks that drift: losses, and hiding in rounds.

    python tests/benchmarks/outlier_table.py [--only OBJECT ...] [--case NAME ...] [--way NAME ...]

The tracks alone of one camera path (circle; of drink also zigzag) of each object of `challenge_like`, on
which constants were chosen, and of `challenge_more`. Of a gross outlier the observation is replaced by a
uniform place in the extent of the tracks, or moved by 20 to 200 px. Of a tenth of the points the tracks drift
away, by 20 to 60 px at the end, from a frame in the middle half on. `hide` is `solve_hiding_outliers`. Errors
are means of all points after one similarity per frame, in mm; each is followed by its ratio to that of the
clean tracks by least squares, and by the CPU seconds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from frame import Table, chosen_sequences, error_mm, sequences_parser, timed

import core
from core.cameras.intrinsics import resolve_intrinsics
from core.evaluation import solve_hiding_outliers
from core.foundation import Floats

ITEMS = ("/circle", "drink/zigzag")
CASES = {"clean": 0.0, "1 %": 0.01, "2 %": 0.02, "5 %": 0.05, "10 %": 0.1, "drift": 0.1}
WAYS = ("squared", "huber", "cauchy", "hide")
OFFSETS, DRIFTS = (20.0, 200.0), (20.0, 60.0)  # px


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.set_defaults(only=ITEMS)
    arguments.add_argument("--case", nargs="+", default=list(CASES), choices=CASES)
    arguments.add_argument("--way", nargs="+", default=list(WAYS), choices=WAYS)
    options = arguments.parse_args()
    table = Table("sequence", "case", *options.way)
    clean, sequences = {}, {}
    for name, given in chosen_sequences(options):
        K = resolve_intrinsics(given, core.Settings().intrinsics).K
        sequences[name] = replace(given, intrinsics=K, companion=None)
        clean[name] = measure(sequences[name], "squared")[0]
    for case in options.case:
        ratios = []
        for name, sequence in sequences.items():
            harder = drifting(sequence) if case == "drift" else with_outliers(sequence, CASES[case])
            found = [measure(harder, way) for way in options.way]
            ratios.append([error / clean[name] for error, _ in found])
            cells = zip(found, ratios[-1], strict=True)
            table.row(name, case, *(f"{error:.2f} {ratio:.2f} {s:.1f} s" for (error, s), ratio in cells))
        table.row("mean ratio", case, *(f"{mean:.2f}" for mean in np.exp(np.log(ratios).mean(axis=0))))


def with_outliers(sequence: core.Sequence, share: float) -> core.Sequence:
    """Return the tracks with a share of the visible observations replaced or moved."""
    rng, tracks = np.random.default_rng(1), np.array(sequence.tracks)
    frame, point = np.nonzero(sequence.visible)
    seen = tracks[frame, :, point]
    some = rng.choice(len(frame), round(share * len(frame)), replace=False)
    place = rng.uniform(seen.min(axis=0), seen.max(axis=0), size=(len(some), 2))
    moved = seen[some] + offsets(rng, OFFSETS, len(some))
    replaced = rng.uniform(size=(len(some), 1)) < 0.5
    tracks[frame[some], :, point[some]] = np.where(replaced, place, moved)
    return replace(sequence, tracks=tracks)


def drifting(sequence: core.Sequence) -> core.Sequence:
    """Return the tracks with a tenth of the points that drift away."""
    rng, tracks = np.random.default_rng(1), np.array(sequence.tracks)
    frames, points = sequence.visible.shape
    for point in rng.choice(points, max(round(CASES["drift"] * points), 1), replace=False):
        first = int(rng.integers(frames // 4, 3 * frames // 4))
        ramp = np.clip(np.arange(frames) - first, 0, None) / (frames - 1 - first)
        tracks[:, :, point] += ramp[:, None] * offsets(rng, DRIFTS, 1)
    return replace(sequence, tracks=tracks)


def offsets(rng: np.random.Generator, lengths: tuple[float, float], count: int) -> Floats:
    """Return vectors of uniform directions and lengths, (count, 2)."""
    angle, length = rng.uniform(0, 2 * np.pi, count), rng.uniform(*lengths, count)
    return np.stack((length * np.cos(angle), length * np.sin(angle)), axis=1)


def measure(sequence: core.Sequence, way: str) -> tuple[float, float]:
    """Return the mean 3-D error in mm, and the CPU seconds."""
    settings = core.Settings()
    hiding = way == "hide"
    run = solve_hiding_outliers(sequence, settings) if hiding else core.iterate(sequence, settings, loss=way)
    last, seconds = timed(run)
    return error_mm(last.result().points, sequence.truth), seconds


if __name__ == "__main__":
    main()
