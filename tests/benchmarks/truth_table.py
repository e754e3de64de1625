"""Errors, standard deviations and verdicts of the presets on every perspective sequence of some folders.

    python tests/benchmarks/truth_table.py [FOLDER ...] [--only NAME ...] [--presets NAME ...] [--alone]
        [--one-path] [--noise PX] [--hidden SHARE] [--frames-every N]

The folders are in the Challenge's layout. Each preset runs on the tracks alone and with the companion's;
`paper` needs the companion. With noise (beside the 0.3 px that these tracks have), points that are hidden
until this share is, or every Nth frame, the tracks are alone; the README's rows of these are those of
`--one-path --presets recommended`, `bilinear` being the start. Errors are the mean over frames and points
after a similarity for each frame, without mirror, in the unit of the truth. Columns of a sequence:

    error      of the answer
    start      of the bilinear solution that the depth refinement began with
    rigid      of the one rigid shape that is nearest to the true shapes
    CPU s      of the run
    <1, <2     % of the distances within 1 and 2 of the norm of the three standard deviations, and beside
               each that of the camera's axes. Of a normal distribution each axis has 68 and 95; the distances
               have these where the errors are along the ray, and 61 and 99 where they are equal everywhere.
    error/std  root mean square of the errors over that of the standard deviations
    noise      the estimate of the noise over the true one
    verdicts   the sentences that the answer carries

Then for every object and for all: mean, median, how many are above 10, how many are worse than the best
rigid shape, how many are worse than `bilinear` by more than 10 %; of the wrong answers (either of the first
two) and of the right ones, how many carry a verdict; and the means of the other columns.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
from frame import Table, chosen_sequences, error_mm, sequences_parser, timed

from core import GroundTruth, InputError, Result, Sequence, Settings, iterate
from core.cameras import resolve_intrinsics
from core.data import occluded_blocks
from core.foundation import procrustes

FAR = 10.0  # errors above are counted
OWN_NOISE = 0.3  # px
BLOCK = 0.125, 0.125  # of the frames and of the points, that are hidden at once
ROUNDS = 20  # of the alternation that finds the best rigid shape
PERCENT = ("<1", "x<1", "y<1", "z<1", "<2", "x<2", "y<2", "z<2")
NUMBERS = ("error", "start", "rigid", "CPU s", *PERCENT, "error/std", "noise")


def main() -> None:
    arguments = sequences_parser(__doc__)
    arguments.add_argument("--presets", nargs="+", default=("paper", "bilinear", "recommended"))
    arguments.add_argument("--alone", action="store_true", help="without the companion's tracks")
    arguments.add_argument("--noise", type=float, default=0.0, help="further noise of the tracks, px")
    arguments.add_argument("--hidden", type=float, default=0.0, help="hide points until this share is")
    arguments.add_argument("--frames-every", type=int, default=1, help="use every Nth frame")
    options = arguments.parse_args()
    harder = options.noise or options.hidden or options.frames_every > 1
    formats = (f"{name} :{'.0f' if name in PERCENT else '.2f'}" for name in NUMBERS)
    table, rows = Table("sequence", "run", *formats, "verdicts"), []
    for name, given in chosen_sequences(options):
        if harder:
            given = made_harder(given, options.noise, options.hidden, options.frames_every)
        runs = {"tracks": replace(given, companion=None)}
        runs |= {} if harder or options.alone else {"companion": given}
        for preset, source in itertools.product(options.presets, runs):
            if (preset, source) == ("paper", "tracks"):
                continue
            try:
                last, seconds = timed(iterate(runs[source], preset))
            except InputError as error:
                print(f"{name} {preset}, {source}: {error}", flush=True)
                continue
            result = last.result()
            found = {"error": error_mm(result.points, result.truth), "rigid": rigid_error(result.truth)}
            found |= refinement(result, float(np.hypot(OWN_NOISE, options.noise))) | {"CPU s": seconds}
            cells = (found.get(each, "") for each in NUMBERS)
            table.row(name, f"{preset}, {source}", *cells, " ".join(result.verdicts))
            about = {"name": name, "preset": preset, "source": source, "warned": bool(result.verdicts)}
            rows.append(dict.fromkeys(NUMBERS, np.nan) | about | found)
    print_groups(pd.DataFrame(rows))


def made_harder(sequence: Sequence, noise: float, hidden: float, every: int) -> Sequence:
    """Return every Nth frame of the tracks alone, with further noise (px) and hidden up to a share.

    Blocks are hidden: again and again an eighth of the points, the neighbors of one of them, in an eighth of
    the frames, one after the other. K is that which is found without all of this.
    """
    rng, visible = np.random.default_rng(0), sequence.visible.copy()
    assert sequence.truth is not None
    for frames, points in occluded_blocks(sequence.truth.points, sequence.visible, BLOCK, rng):
        if visible.mean() <= 1 - hidden:
            break
        visible[frames, points] = False
    return Sequence(
        (sequence.tracks + noise * rng.standard_normal(sequence.tracks.shape))[::every],
        visible[::every],
        name=sequence.name,
        intrinsics=resolve_intrinsics(sequence, Settings().intrinsics).K,
        truth=GroundTruth.of_all_frames(sequence.truth.points[::every]),
    )


def rigid_error(truth: GroundTruth) -> float:
    """Return the error of the one shape that is nearest to all true shapes, each after a similarity."""
    shapes = truth.points[np.isfinite(truth.points).all(axis=(1, 2))]
    mean = shapes[0]
    for _ in range(ROUNDS):
        mean = procrustes(shapes, np.broadcast_to(mean, shapes.shape)).apply(shapes).mean(axis=0)
    return error_mm(np.broadcast_to(mean, truth.points.shape), truth)


def refinement(result: Result, noise: float) -> dict[str, float]:
    """Return the columns of what the depth refinement has found, none where there was none."""
    if result.std is None:
        return {}
    truth, (B, C, _, _) = result.truth, result.bilinear
    frames = list(truth.frames)
    estimate, std = result.camera_points[frames], result.std[frames]
    known = np.isfinite(truth.points).all(axis=1)
    fit = procrustes(estimate, truth.points)
    error = fit.apply(estimate) - truth.points
    error = np.abs(np.swapaxes(fit.rotation, 1, 2) @ error)  # in the axes of the camera
    std = std * np.asarray(fit.scale)[:, None, None]
    ratio = np.linalg.norm(error, axis=1)[known] / np.linalg.norm(std, axis=1)[known]
    axes = (error / std).transpose(1, 0, 2)[:, known]
    shares = [share for most in (1, 2) for share in ((ratio < most).mean(), *(axes < most).mean(axis=1))]
    squares = [np.square(each).sum(axis=1)[known].sum() for each in (error, std)]
    return {
        "start": error_mm((B @ C.T).reshape(result.points.shape), truth),
        **dict(zip(PERCENT, 100 * np.array(shares), strict=True)),
        "error/std": float(np.sqrt(squares[0] / squares[1])),
        "noise": result.meta["refinement"]["noise_px"] / noise,
    }


def print_groups(found: pd.DataFrame) -> None:
    """Print what the rows of every object, and of all, come to for each preset and source."""
    bilinear = found[found["preset"] == "bilinear"].set_index(["name", "source"])["error"]
    before = bilinear.reindex(pd.MultiIndex.from_frame(found[["name", "source"]])).to_numpy()
    found["object"] = found["name"].str.partition("/")[0]
    found["run"] = found["preset"] + ", " + found["source"]
    found["far"], found["above rigid"] = found["error"] > FAR, found["error"] > found["rigid"]
    found["above bilinear"] = found["error"] > 1.1 * before
    wrong = found["far"] | found["above rigid"]
    found["wrong"] = wrong
    found["wrong, warned"], found["right, warned"] = wrong & found["warned"], ~wrong & found["warned"]
    counts = ("far", "above rigid", "above bilinear", "wrong", "wrong, warned", "right, warned")
    for by in (["object", "run"], ["run"]):
        groups = found.groupby(by).agg(
            n=("error", "size"), mean=("error", "mean"), median=("error", "median"),
            **{name: (name, "sum") for name in counts}, **{name: (name, "mean") for name in NUMBERS[1:]},
        )  # fmt: skip
        print(f"\n{groups.dropna(axis=1, how='all').round(2).to_string()}")


if __name__ == "__main__":
    main()
