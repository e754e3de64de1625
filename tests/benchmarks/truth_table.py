"""3-D errors of the presets on every perspective sequence of folders in the Challenge's layout.

    python tests/benchmarks/truth_table.py [FOLDER ...] [--only NAME ...] [--presets NAME ...]

Each preset runs on the tracks alone and with the companion's; `paper` needs the companion.  Errors are the
mean over frames and points after a similarity for each frame, without mirror, in the unit of the truth.  A
row for every sequence and preset, then for every object and all: mean, median, how many are above 10, how
many are worse than the best single rigid shape for the true poses, how many are worse than `bilinear` by more
than 10 %, and CPU seconds.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from frame import Table, chosen_sequences, error_mm, rigid_error, sequences_parser, timed

from core import InputError, iterate

FAR = 10.0  # errors above are counted


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--presets", nargs="+", default=("paper", "bilinear", "recommended"))
    options = arguments.parse_args()
    rows = []
    table = Table("sequence", "run", "error :.2f", "rigid :.2f", "CPU s :.1f")
    for name, given in chosen_sequences(options):
        rigid = rigid_error(given.truth)
        alone = replace(given, companion=None)
        runs = [(preset, source) for preset in options.presets for source in ("tracks", "companion")]
        for preset, source in runs:
            if (preset, source) == ("paper", "tracks"):
                continue
            try:
                last, seconds = timed(iterate(alone if source == "tracks" else given, preset))
            except InputError as error:
                print(f"{name} {preset}, {source}: {error}", flush=True)
                continue
            cells = name, f"{preset}, {source}", error_mm(last.result().points, given.truth), rigid, seconds
            table.row(*cells)
            rows.append((*cells, preset, source))
    found = pd.DataFrame(rows, columns=["name", "run", "error", "rigid", "seconds", "preset", "source"])
    bilinear = found[found["preset"] == "bilinear"].set_index(["name", "source"])["error"]
    before = bilinear.reindex(pd.MultiIndex.from_frame(found[["name", "source"]])).to_numpy()
    found["object"] = found["name"].str.partition("/")[0]
    found["far"] = found["error"] > FAR
    found["above rigid"] = found["error"] > found["rigid"]
    found["above bilinear"] = found["error"] > 1.1 * before
    sums = {name: (name, "sum") for name in ("far", "above rigid", "above bilinear")}
    for by in (["object", "run"], ["run"]):
        groups = found.groupby(by).agg(
            n=("error", "size"), mean=("error", "mean"), median=("error", "median"),
            **sums, seconds=("seconds", "mean"),
        )  # fmt: skip
        print(f"\n{groups.round(2).to_string()}")


if __name__ == "__main__":
    main()
