"""Relative 3-D errors against the error of the focal length, with the default and with the estimate.

    NRSFM_DATA=... python tests/benchmarks/focal_table.py [--only CASE ...] [--path NAME] [--starts N]

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

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import core
from core.evaluation import Mirror, aligned_mm

if TYPE_CHECKING:
    from core.cameras import IntrinsicsOrigin

DATA = Path(os.environ.get("NRSFM_DATA", Path(__file__).parents[3] / "shared" / "data"))
CHALLENGE = 1400.0, (640.0, 480.0)  # focal length and principal point
PATHS = (
    *(("challenge_like", "dance", "circle"), ("challenge_like", "face", "flyby")),
    *(("challenge_like", "kinect_paper", "semi_circle"), ("challenge_like", "pickup", "zigzag")),
    *(("challenge_like", "shark", "tricky"), ("challenge_more", "back", "circle")),
    *(("challenge_more", "drink", "flyby"), ("challenge_more", "mat", "semi_circle")),
    *(("challenge_more", "stretch", "zigzag"), ("challenge_more", "drink", "circle")),
)
REAL = {
    "kinect_paper/mdh_results-KPaper.mat": (528.0, (320.0, 240.0)),
    "back/back_L_3D.mat": (1459.0, (620.0, 514.0)),
}
RATIOS = (0.5, 0.8, 1.0, 1.2, 1.5)
CASES = (*(f"{ratio:g}" for ratio in RATIOS), "orthogonal", "default", "estimate")


def main() -> None:
    """Parse the arguments, run, print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--path", help="camera path of all objects, in place of a chosen one of each")
    parser.add_argument("--starts", type=int, default=4)
    options = parser.parse_args()
    print("| sequence |", " | ".join(options.only), "|")
    print("|---" * (len(options.only) + 1) + "|")
    means: dict[str, list[float]] = {case: [] for case in options.only}
    for sequence, focal, center in sequences(options.path):
        cells = []
        for case in options.only:
            text, error = measure(sequence, case, focal, center, options.starts)
            cells.append(text)
            means[case].append(error)
        print(f"| {sequence.name} |", " | ".join(cells), "|", flush=True)
    print("| mean |", " | ".join(f"{np.mean(errors):.2f}" for errors in means.values()), "|")


def sequences(path: str | None) -> list[tuple[core.Sequence, float, tuple[float, float]]]:
    """Return the sequences without what gives their K, and their focal lengths and principal points."""
    found = []
    for folder, name, own in dict.fromkeys((*each[:2], path or each[2]) for each in PATHS):
        file = DATA / folder / name / "sequence" / "perspective" / f"{path or own}.txt"
        found.append((core.read_sequence(file), *CHALLENGE))
    if path is None:
        found += [(core.read_sequence(DATA / "real" / file), *camera) for file, camera in REAL.items()]
    return [(replace(each, companion=None, intrinsics=None), *camera) for each, *camera in found]


def measure(
    sequence: core.Sequence, case: str, focal: float, center: tuple[float, float], starts: int
) -> tuple[str, float]:
    """Return the cell of a run, and its relative error in percent."""
    unknown = replace(sequence, truth=None)  # it would give K
    settings = core.Settings(starts=starts)
    if case == "orthogonal":
        settings = settings.with_changes(camera_model="orthogonal")
    elif case == "estimate":
        settings = settings.with_changes(intrinsics="estimate")
    elif case != "default":
        settings = settings.with_changes(intrinsics=(float(case) * focal, float(case) * focal, *center))
    began = time.process_time()
    *_, last = core.iterate(unknown, settings)
    seconds = time.process_time() - began
    assert sequence.truth is not None
    mirror = Mirror.AUTOMATIC if case == "orthogonal" else Mirror.OFF
    errors, _ = aligned_mm(last.geometry.points, sequence.truth, core.Alignment(mirror=mirror))
    truth = sequence.truth.points
    centered = truth - np.nanmean(truth, axis=2, keepdims=True)
    relative = 100 * errors.mean / float(np.sqrt(np.nanmean(np.square(centered).sum(axis=1))))
    found = last.intrinsics[0, 0] / focal
    text = f"{relative:.2f}"
    if case in ("default", "estimate"):
        text += f" (f {found:.3f}{interval_text(last.origin)}, {seconds:.0f} s)"
    return text, relative


def interval_text(origin: IntrinsicsOrigin | None) -> str:
    """Return half an interval of 95 % of the focal length, relative; "" where there is none."""
    if origin is None or origin.interval is None:
        return ""
    low, high = origin.interval
    return f" ± {50 * np.log(high / low):.0f} %"


if __name__ == "__main__":
    main()
