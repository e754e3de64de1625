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

import ctypes
from dataclasses import replace

from frame import Table, error_mm, in_process, parser, timed_refinement

import core
from core.foundation.memory import PeakMemory, peak_megabytes

SIZES = ("100x50", "23x301", "100x126", "99x28880")  # F x P
NOISE = 0.3  # px


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", nargs="*", default=SIZES, help="FxP of simulated sequences")
    arguments.add_argument("--sequences", nargs="*", default=(), help="files, or names of samples")
    arguments.add_argument("--tracks-alone", action="store_true", help="without the companion's tracks")
    options = arguments.parse_args()
    seconds = (f"{name} :.1f" for name in ("bilinear", "refinement", "total"))
    errors = "before :.2f", "after :.2f"
    table = Table("sequence", "F x P", *seconds, "MB :.0f", "all MB :.0f", *errors)
    for name in (*options.sizes, *options.sequences):
        table.row(*in_process(measured, name, options.tracks_alone))


def loaded(name: str) -> core.Sequence:
    """Return a simulated sequence of a size, or that of a file."""
    frames, _, points = name.partition("x")
    if frames.isdigit() and points.isdigit():
        return core.simulate("paper", frames=int(frames), points=int(points), noise=NOISE)
    return core.read_sequence(name)


def measured(name: str, alone: bool) -> list[float | str]:
    """Run the preset on a sequence and return the cells of the table."""
    sequence = loaded(name)
    if alone:
        sequence = replace(sequence, companion=None)
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what loading has freed does not count as loaded
    memory = PeakMemory()
    _, last, bilinear, total = timed_refinement(core.iterate(sequence, "recommended"))
    megabytes = memory.rise(), peak_megabytes()
    ends = last.alternatives[core.reconstruction.BILINEAR_START], last
    errors = [error_mm(each.geometry.points, sequence.truth) for each in ends]
    size = f"{sequence.frame_count} x {sequence.point_count}"
    return [sequence.name, size, bilinear, total - bilinear, total, *megabytes, *errors]


if __name__ == "__main__":
    main()
