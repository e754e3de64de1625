"""Make the pictures of the help page from the solver: what the rank, the weights and eta do.

    python tests/benchmarks/help_pictures.py [FOLDER]

Every curve is of real reconstructions of a bundled sequence. The pictures are transparent, in colors that can
be read on dark and on light.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np

from core import NuclearNorm, Settings, TruncatedNuclearNorm, WeightedNuclearNorm, read_sequence, reconstruct
from core.evaluation import errors_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SEQUENCE = "sample:balloon/circle"
GRAY, BLUE, RED, GREEN = "#808890", "#4a90e0", "#e0605a", "#3aa870"
RANKS = (1, 2, 3, 4, 5, 6)
ETAS = (0.005, 0.02, 0.05, 0.1, 0.3, 0.6, 0.9)
QUICK = Settings(rank=3, rotations="companion", rotation_rank=4, penalty=WeightedNuclearNorm(xi=0.05))
LEAST = 1e-4  # what is smaller is drawn here


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    style()
    sequence = read_sequence(SEQUENCE)
    rank_picture(sequence, folder / "rank.png")
    weights_picture(sequence, folder / "weights.png")
    eta_picture(sequence, folder / "eta.png")


def style() -> None:
    plt.rcParams.update(
        {
            "text.color": GRAY, "axes.labelcolor": GRAY, "axes.edgecolor": GRAY, "xtick.color": GRAY,
            "ytick.color": GRAY, "font.size": 10, "savefig.transparent": True, "legend.frameon": False,
            "axes.spines.top": False, "axes.spines.right": False,
        }
    )  # fmt: skip


def figures(sequence, settings) -> tuple[float, float]:
    """Return the reprojection RMS in pixels and the mean 3-D error in mm of a reconstruction."""
    found = errors_of(reconstruct(sequence, settings))
    return found["reprojection_px"], found["procrustes_mm"]


def curves(path: Path, label: str, xs, runs, *, height: float = 2.6, log: bool = False) -> None:
    """Draw both figures of runs over a parameter, by the name of each curve."""
    figure, left = plt.subplots(figsize=(5.6, height))
    right = left.twinx()
    right.spines["right"].set_visible(True)
    for (name, pairs), line in zip(runs.items(), ("--", "-")[-len(runs) :], strict=True):
        pixels, millimeters = zip(*pairs, strict=True)
        left.plot(xs, pixels, f"o{line}", color=BLUE)
        right.plot(xs, millimeters, f"s{line}", color=RED)
        left.plot([], [], line, color=GRAY, label=name)
    left.set_xlabel(label)
    left.set_ylabel("reprojection (px)", color=BLUE)
    right.set_ylabel("3-D error (mm)", color=RED)
    left.set_ylim(bottom=0)
    right.set_ylim(bottom=0)
    if log:
        left.set_xscale("log")
    if len(runs) > 1:
        left.legend(loc="upper center")
    save(figure, path)


def rank_picture(sequence, path: Path) -> None:
    rules = [(f"xi = {xi}", QUICK.with_changes(penalty=WeightedNuclearNorm(xi=xi))) for xi in (0.05, 0.5)]
    runs = {name: [figures(sequence, rule.with_changes(rank=K)) for K in RANKS] for name, rule in rules}
    curves(path, "rank K", RANKS, runs, height=2.8)


def eta_picture(sequence, path: Path) -> None:
    pairs = [figures(sequence, QUICK.with_changes(eta=eta)) for eta in ETAS]
    curves(path, "eta", ETAS, {"": pairs}, log=True)


def weights_picture(sequence, path: Path) -> None:
    rules = {
        "nuclear norm": NuclearNorm(mu=0.1),
        "truncated (2 free)": TruncatedNuclearNorm(mu=0.1, free=2),
        "weighted": WeightedNuclearNorm(xi=0.5),
    }
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.5), sharey=True)
    for axis, (name, penalty), color in zip(axes, rules.items(), (BLUE, GREEN, RED), strict=True):
        result = reconstruct(sequence, QUICK.with_changes(rank=6, penalty=penalty))
        sigma = np.linalg.svd(result.points.reshape(result.frame_count, -1), compute_uv=False)[:6]
        places = np.arange(1, 7)
        axis.bar(places, np.maximum(sigma / sigma[0], LEAST), color=color, alpha=0.75, width=0.6)
        axis.plot(places, np.maximum(result.weights / result.weights.max(), LEAST), "D-", color=GRAY)
        axis.set_yscale("log")
        axis.set_ylim(LEAST, 1.6)
        axis.set_xticks(places)
        axis.set_title(name, color=GRAY, fontsize=10)
        axis.set_xlabel("basis shape k")
    axes[0].set_ylabel("share of the largest")
    save(figure, path)


def save(figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "assets/help"))
