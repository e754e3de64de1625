"""Random sequences with gaps through all presets: an exception but InputError, or a warning, is a finding.

    python tests/fuzz/gaps.py [--cases 2000] [--first 0]

Frames and points are seen 1 to 5 times, frames repeat, points coincide or stand still. Printed are the
findings with the number of their case, and how often each sentence of a refusal came.
"""

import argparse
import traceback
import warnings
from collections import Counter

import numpy as np

import core

K = np.array([[500.0, 0, 300], [0, 500, 300], [0, 0, 1]])
METHODS = ("lm", "admm", "irnn", "agd", "admm+bilinear")


def observed(rng):
    """Return tracks (F, 2, P) of a deforming object, some degenerate, and whether they are in pixels."""
    times = 1 if rng.random() < 0.9 else 5  # the larger ones are solved on some of their frames and points
    frames, points = times * int(rng.integers(2, 16)), times * int(rng.integers(4, 24))
    mean, share, mode = (rng.normal(size=size) for size in ((3, points), (frames, 1, 1), (3, points)))
    a = np.cumsum(rng.normal(0, 0.1, frames))
    x, y, z = (mean + 0.1 * share * mode).transpose(1, 0, 2)
    cosine, sine = np.cos(a)[:, None], np.sin(a)[:, None]
    turned = np.stack([cosine * x + sine * z, y, cosine * z - sine * x], 1)
    perspective = bool(rng.random() < 0.7)
    tracks = 500 * turned[:, :2] / (turned[:, 2:] + 6) + 300 if perspective else turned[:, :2]
    damage = {
        1: lambda: np.repeat(tracks[::2], 2, axis=0)[:frames],  # frames that repeat
        2: lambda: tracks[:1] + 0 * tracks,  # nothing moves
        3: lambda: tracks[:, :, :1] + 0 * tracks,  # points that coincide
        4: lambda: np.round(tracks / 50) * 50,
        5: lambda: tracks[:, :, np.r_[0, 0, 2 : tracks.shape[2]]],  # two of them
    }
    return damage.get(int(rng.integers(8)), lambda: tracks)(), perspective


def visible(shape, rng):
    """Return a mask in which some frames and points are hardly seen."""
    mask = rng.random(shape) < rng.choice([0.05, 0.3, 0.5, 0.8, 1.0])
    for rows in (mask, mask.T):
        for index in rng.integers(len(rows), size=rng.integers(4)):
            rows[index] = False
            rows[index, rng.permutation(rows.shape[1])[: rng.integers(1, 6)]] = True
    return mask


def run(seed):
    """Reconstruct one case, and return what it was."""
    rng = np.random.default_rng(seed)
    tracks, perspective = observed(rng)
    camera = core.CameraModel.PERSPECTIVE if perspective else core.CameraModel.ORTHOGONAL
    known = K if perspective and rng.random() < 0.7 else None
    mask = visible((len(tracks), tracks.shape[2]), rng)
    sequence = core.Sequence(tracks, mask, camera, name="gaps", intrinsics=known)
    preset = str(rng.choice(list(core.PRESETS)))
    changes = {"rotations": "tracks", "intrinsics": "auto"} if preset == "paper" else {}
    if preset != "lowrank" and rng.random() < 0.5:
        changes["rank"] = int(rng.integers(1, 4))
    if preset == "bilinear" and rng.random() < 0.3:
        changes["method"] = str(rng.choice(METHODS))
    core.reconstruct(sequence, preset, **changes).errors()
    return preset


def main():
    """Run the cases and print what they came to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    outcomes, findings = Counter(), 0
    for seed in range(options.first, options.first + options.cases):
        try:
            with warnings.catch_warnings(action="error"):
                outcomes[f"{run(seed)}: reconstructed"] += 1
        except core.InputError as error:
            outcomes[" ".join(str(error).split()[:8])] += 1
        except Exception:  # a finding
            findings += 1
            print(f"case {seed}\n{traceback.format_exc(limit=-2)}", flush=True)
    for outcome, count in outcomes.most_common():
        print(f"{count:6} {outcome}")
    print(f"{options.cases} cases, {findings} findings")


if __name__ == "__main__":
    main()
