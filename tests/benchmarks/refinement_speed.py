"""Print CPU seconds, peak memory and errors of recommended runs, by size.

    python tests/benchmarks/refinement_speed.py [--sizes 100x50 99x28880 ...] [--sequences FILE ...]
        [--tracks-alone]

Each run is in a process of its own, with one BLAS thread, on a simulated sheet of paper with companion tracks
and noise of 0.3 px, or on a sequence of a file.

    bilinear    CPU s of all phases before the depth refinement
    refinement  CPU s of the depth refinement, standard deviations and verdicts
    total       the sum of the two
    MB          the largest resident set during the run, less that when the sequence had been loaded
    all MB      the largest resident set during the run
    before      3-D error of the bilinear solution, in the units of the truth
    after       3-D error of the refined one
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import core

SIZES = ("100x50", "23x301", "100x126", "99x28880")  # F x P
NOISE = 0.3  # px
RESET_PEAK = Path("/proc/self/clear_refs")  # of Linux
STATUS = Path("/proc/self/status")


def main() -> None:
    """Parse the arguments, run each size and file in its own process, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="*", default=SIZES, help="FxP of simulated sequences")
    parser.add_argument("--sequences", nargs="*", default=(), help="files, or names of samples")
    parser.add_argument("--tracks-alone", action="store_true", help="without the companion's tracks")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(measured(arguments.run, alone=arguments.tracks_alone)))
        return
    print("| sequence | F x P | bilinear | refinement | total | MB | all MB | before | after |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in (*arguments.sizes, *arguments.sequences):
        alone = ["--tracks-alone"] if arguments.tracks_alone else []
        command = [sys.executable, __file__, "--run", name, *alone]
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
        found = json.loads(done.stdout)
        print(
            "| {name} | {frames} x {points} | {bilinear:.1f} | {refinement:.1f} | {total:.1f} | {above:.0f} "
            "| {peak:.0f} | {before:.2f} | {after:.2f} |".format(**found),
            flush=True,
        )


def loaded(name: str) -> core.Sequence:
    """Return a simulated sequence of a size, or that of a file."""
    frames, _, points = name.partition("x")
    if frames.isdigit() and points.isdigit():
        return core.simulate("paper", frames=int(frames), points=int(points), noise=NOISE)
    return core.read_sequence(name)


def measured(name: str, *, alone: bool) -> dict[str, float | str]:
    """Run the preset on a sequence and return what the table needs."""
    sequence, settings = loaded(name), core.PRESETS["recommended"]
    if alone:
        sequence = replace(sequence, companion=None)
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what loading has freed does not count as loaded
    RESET_PEAK.write_text("5")
    before = resident("VmRSS")
    refined = 0.0
    began = time.process_time()
    for iterate in core.iterate(sequence, settings):
        if not refined and iterate.depth is not None:
            refined = time.process_time()
        last = iterate
    ended = time.process_time()
    peak = resident("VmHWM")
    errors = [
        core.procrustes_mm(each.geometry.points, sequence.truth).mean
        for each in (last.alternatives[core.reconstruction.BILINEAR_START], last)
    ]
    return {
        "name": sequence.name,
        "frames": sequence.frame_count,
        "points": sequence.point_count,
        "bilinear": refined - began,
        "refinement": ended - refined,
        "total": ended - began,
        "above": peak - before,
        "peak": peak,
        "before": errors[0],
        "after": errors[1],
    }


def resident(which: str) -> float:
    """Return the resident set now (VmRSS) or at its largest (VmHWM), in MB."""
    lines = (line.split() for line in STATUS.read_text().splitlines())
    return next(int(words[1]) * 1024 / 1e6 for words in lines if words[0] == f"{which}:")


if __name__ == "__main__":
    main()
