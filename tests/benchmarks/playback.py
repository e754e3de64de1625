"""Print the frames per second of playback and the growth of memory.

    xvfb-run -a -s '-screen 0 1600x1000x24' python tests/benchmarks/playback.py
    xvfb-run -a -s '-screen 0 1600x1000x24' python tests/benchmarks/playback.py --minutes 30 --runs 200

The whole window plays, at 1280x800: the scene is built, both views, timeline and numbers follow. First
500 points with residuals, trails and mesh at 60 frames a second asked for, then 28 880 points as they are
drawn at first. Each is played by OpenGL and by software painting; `python -m cProfile` shows what the parts
of a frame take. With --minutes or --runs only the memory is watched: while frames are played, and while runs
of a small problem follow one another.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import psutil
from frame import Meanwhile, parser
from studio import Studio

from core import Sequence, Settings, simulate
from nrsfm_gui.model.appearance import DEFAULT_LAYERS

FEW, MANY = (60, 500), (20, 28_880)  # frames, points
ASKED = 4.0  # times 15 frames a second
SECONDS = 8.0  # of each measurement
LEAST = {("few", "opengl"): 55.0, ("few", "software"): 15.0, ("many", "opengl"): 15.0}  # frames a second
# A few iterations, for something to play.
SETTINGS = Settings(rank=3, starts=1, rotations="truth", max_iterations=3, objective="wnn")
SHOWN = {"layers": DEFAULT_LAYERS | {"trails"}, "mesh_source": "tracks"}
GROWTH = 30.0  # MB that the second half of a curve may lie above the first
EVERY = 15.0  # seconds between two lines of a curve


def main() -> int:
    """Measure, print, and return 1 where a figure misses its mark."""
    arguments = parser(__doc__)
    arguments.add_argument("--minutes", type=float, default=0.0, help="watch the memory while it is played")
    arguments.add_argument("--runs", type=int, default=0, help="watch the memory over so many runs")
    options = arguments.parse_args()
    if options.minutes or options.runs:
        return watch_memory(options.minutes, options.runs)
    missed = False
    for name, size in (("few", FEW), ("many", MANY)):
        sequence = simulate("paper", frames=size[0], points=size[1])
        for renderer in ("opengl", "software"):
            missed |= measure(sequence, name, renderer)
    return int(missed)


def measure(sequence: Sequence, name: str, renderer: str) -> bool:
    """Play, print, and return whether it was too slow."""
    with Studio(software=renderer == "software") as studio:
        window = studio.window
        studio.open(sequence)
        studio.solve(SETTINGS)
        studio.settle(1.0)
        if name == "few":
            window.session.change_appearance(**SHOWN)
            studio.settle(0.5)
        drawn: list[int] = []
        window.display.scene_shown.connect(lambda scene: drawn.append(scene.frame))
        window.timeline_controller.playback.set_speed(ASKED)
        window.timeline_controller.playback.set_playing(True)
        began, meanwhile = time.perf_counter(), Meanwhile()
        studio.settle(SECONDS, nap=0.0)
        took, said = time.perf_counter() - began, str(meanwhile)
        window.timeline_controller.playback.set_playing(False)
    rate, least = len(drawn) / took, LEAST.get((name, renderer), 0.0)
    points = sequence.point_count
    print(
        f"{points} points by {renderer}: {rate:.1f} frames a second of {15 * ASKED:.0f} asked for "
        f"(at least {least:.0f}), {resident():.0f} MB; {said}"
    )
    return rate < least


def watch_memory(minutes: float, runs: int) -> int:
    """Print the memory over time of playing and of repeated runs; return 1 where it grows."""
    grown = False
    with Studio() as studio:
        window, playback = studio.window, studio.window.timeline_controller.playback
        studio.open(simulate("paper", frames=FEW[0], points=FEW[1]))
        studio.solve(SETTINGS)
        window.session.change_appearance(**SHOWN, color_by="error")
        if minutes:
            playback.set_speed(ASKED)
            playback.set_playing(True)
            curve = []
            began = time.perf_counter()
            while (spent := time.perf_counter() - began) < 60 * minutes:
                studio.settle(min(EVERY, 60 * minutes), nap=0.001)
                curve.append(resident())
                print(f"playing {spent / 60:6.1f} min {curve[-1]:8.1f} MB", flush=True)
            playback.set_playing(False)
            grown |= grows(curve, "playing")
        if runs:
            studio.open(simulate("balloon", frames=30, points=60))
            studio.settle(0.5)
            curve = []
            for run in range(1, runs + 1):
                studio.solve(SETTINGS)
                if run % 5 == 0:
                    for each in list(window.session.runs):  # what was dropped must be gone
                        window.session.drop_run(each)
                    studio.settle(0.2)
                    curve.append(resident())
                    print(f"after {run:4d} runs {curve[-1]:8.1f} MB", flush=True)
            grown |= grows(curve, "runs")
    return int(grown)


def grows(curve: list[float], name: str) -> bool:
    """Print and return whether the second half of a curve lies above the first; its first fifth warms up."""
    steady = np.array(curve[len(curve) // 5 :])
    if len(steady) < 4:
        print(f"{name}: {len(curve)} values are too few to judge")
        return False
    half = len(steady) // 2
    growth = float(np.median(steady[half:]) - np.median(steady[:half]))
    print(f"{name}: {growth:+.1f} MB from the first half to the second (at most {GROWTH:.0f})")
    return growth > GROWTH


def resident() -> float:
    """Return the memory that the process holds, MB."""
    return psutil.Process().memory_info().rss / 1e6


if __name__ == "__main__":
    sys.exit(main())
