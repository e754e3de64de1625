"""Errors of recommended runs with gross outliers and with tracks that drift: losses, and hiding in rounds.

    NRSFM_DATA=... python tests/benchmarks/outlier_table.py [--only OBJECT ...] [--case NAME ...]
                                                             [--way NAME ...]

The tracks alone of one camera path (circle; of drink also zigzag) of each object of `challenge_like`, on
which constants were chosen, and of `challenge_more`. Of a gross outlier the observation is replaced by a
uniform place in the extent of the tracks, or moved by 20 to 200 px. Of a tenth of the points the tracks drift
away, by 20 to 60 px at the end, from a frame in the middle half on. `hide` is `solve_hiding_outliers`. Errors
are means of all points after one similarity per frame, in mm; each is followed by its ratio to that of the
clean tracks by least squares, and by the CPU seconds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import core
from core.cameras.intrinsics import resolve_intrinsics
from core.evaluation import solve_hiding_outliers

if TYPE_CHECKING:
    from core.foundation import Floats

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
ITEMS = {
    **{f"{name}/circle": "challenge_like" for name in ("pickup", "face", "shark", "kinect_paper", "dance")},
    **{f"{name}/circle": "challenge_more" for name in ("drink", "stretch", "back", "mat")},
    "drink/zigzag": "challenge_more",
}
CASES = {"clean": 0.0, "1 %": 0.01, "2 %": 0.02, "5 %": 0.05, "10 %": 0.1, "drift": 0.1}
WAYS = ("squared", "huber", "cauchy", "hide")
OFFSETS, DRIFTS = (20.0, 200.0), (20.0, 60.0)  # px


def main() -> None:
    """Parse the arguments, run, print a line for each run and the geometric means of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(ITEMS), choices=ITEMS)
    parser.add_argument("--case", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--way", nargs="+", default=list(WAYS), choices=WAYS)
    options = parser.parse_args()
    print(f"{'':>20}{'case':>8}" + "".join(f"{way:>22}" for way in options.way))
    clean: dict[str, float] = {}
    ratios: dict[tuple[str, str], list[float]] = {}
    for case in options.case:
        for item in options.only:
            sequence = tracks_alone(item)
            if item not in clean:
                clean[item] = measure(sequence, "squared")[0]
            harder = drifting(sequence) if case == "drift" else with_outliers(sequence, CASES[case])
            cells = ""
            for way in options.way:
                error, seconds = measure(harder, way)
                ratios.setdefault((case, way), []).append(error / clean[item])
                cells += f"{error:9.2f}{error / clean[item]:6.2f}{seconds:6.1f}s"
            print(f"{item:>20}{case:>8}{cells}", flush=True)
        means = "".join(f"{np.exp(np.mean(np.log(ratios[case, way]))):15.2f}{'':>7}" for way in options.way)
        print(f"{'mean ratio':>20}{case:>8}{means}", flush=True)


def tracks_alone(item: str) -> core.Sequence:
    """Return the tracks of a camera path with the intrinsics of the clean ones."""
    name, path = item.split("/")
    given = core.read_sequence(DATA / ITEMS[item] / name / "sequence" / "perspective" / f"{path}.txt")
    K = resolve_intrinsics(given, core.Settings().intrinsics).K
    return replace(given, intrinsics=K, companion=None)


def with_outliers(sequence: core.Sequence, share: float) -> core.Sequence:
    """Return the tracks with a share of the visible observations replaced or moved."""
    rng, tracks = np.random.default_rng(1), np.array(sequence.tracks)
    frame, point = np.nonzero(sequence.visible)
    seen = tracks[frame, :, point]
    some = rng.choice(len(frame), round(share * len(frame)), replace=False)
    place = rng.uniform(seen.min(axis=0), seen.max(axis=0), size=(len(some), 2))
    moved = seen[some] + _offsets(rng, OFFSETS, len(some))
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
        tracks[:, :, point] += ramp[:, None] * _offsets(rng, DRIFTS, 1)
    return replace(sequence, tracks=tracks)


def _offsets(rng: np.random.Generator, lengths: tuple[float, float], count: int) -> Floats:
    """Return vectors of uniform directions and lengths, (count, 2)."""
    angle, length = rng.uniform(0, 2 * np.pi, count), rng.uniform(*lengths, count)
    return np.stack((length * np.cos(angle), length * np.sin(angle)), axis=1)


def measure(sequence: core.Sequence, way: str) -> tuple[float, float]:
    """Return the mean 3-D error in mm, and the CPU seconds."""
    assert sequence.truth is not None
    began, settings = time.process_time(), core.Settings()
    if way == "hide":
        run = solve_hiding_outliers(sequence, settings)
    else:
        run = core.iterate(sequence, settings, loss=way)
    (last,) = deque(run, maxlen=1)
    seconds = time.process_time() - began
    return float(core.procrustes_mm(last.result().points, sequence.truth).mean), seconds


if __name__ == "__main__":
    main()
