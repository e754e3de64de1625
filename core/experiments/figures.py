"""Figures as PNG files: shapes and the truth, reprojections, loss against time, time against size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundation.atomic import replacing
from ..foundation.exceptions import printable
from .report import check_installed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..foundation.types import Floats

FIGURE_DPI = 120
HALF_PAGE, FULL_PAGE = 580, 1176  # CSS pixels of an image in a report
FULL_PAGE_FROM = 10.0  # inches
TRUTH_COLOR, ESTIMATE_COLOR = "#c8202f", "#1f5fbf"
LINK_COLOR = "#a8adb8"  # between a true point and its estimate
OBSERVED_COLOR, REPROJECTED_COLOR = "#d62728", "#2ca02c"
LOSS_COLORS = ("#e07b1a", "#7a4fb5", "#3a8f6b", "#1f5fbf", "#15213b", "#b03060")
METHOD_COLORS = ("#1f5fbf", "#15213b", "#c8202f", "#e8928f", "#7a4fb5", "#3a8f6b", "#e07b1a", "#8a8a8a")
LEAST_EXCESS = 1e-15  # what rounding cannot distinguish is drawn here
EARLIEST_SECONDS = 1e-4


def _figure(width: float, height: float) -> Any:
    """Return an empty figure that belongs to no window.

    Raises InputError where matplotlib is not installed.
    """
    check_installed("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=FIGURE_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _title(text: str) -> str:
    """Return a title that may hold the name of a file: escaped, and without formulas."""
    return printable(text).replace("$", r"\$")


def _write(figure: Any, path: Path) -> int:
    """Write a figure and return its width in CSS pixels: that of half a page or of a full one."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png")
    return HALF_PAGE if figure.get_figwidth() < FULL_PAGE_FROM else FULL_PAGE


def draw_shapes(path: Path, truth: Floats, estimates: Mapping[str, Floats]) -> int:
    """Draw estimates (3, P), aligned, in blue and the truth (3, P) in red, side by side; return the width.

    The view is along the direction in which the truth is thinnest, turned a little.
    """
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    known = np.isfinite(truth).all(axis=0)
    center = truth[:, known].mean(axis=1, keepdims=True)
    basis, _, _ = np.linalg.svd(truth[:, known] - center, full_matrices=False)
    basis[:, 2] *= np.sign(np.linalg.det(basis))
    target = basis.T @ (truth - center)
    radius = 1.05 * float(np.abs(target[:, known]).max())
    figure = _figure(2.9 * len(estimates), 2.9)
    size = float(np.clip(900.0 / truth.shape[1], 1.5, 14.0))
    for index, (name, estimate) in enumerate(estimates.items()):
        axes = figure.add_subplot(1, len(estimates), index + 1, projection="3d")
        source = basis.T @ (estimate - center)
        pairs = np.stack((target, source))[:, :, known]  # (2, 3, n)
        axes.add_collection3d(
            Line3DCollection(list(pairs.transpose(2, 0, 1)), colors=LINK_COLOR, linewidths=0.6)
        )
        for points, color, mark in ((target, TRUTH_COLOR, "o"), (source, ESTIMATE_COLOR, "^")):
            axes.scatter(*points[:, known], s=size, c=color, marker=mark, depthshade=False, linewidths=0)
        axes.set(xlim=(-radius, radius), ylim=(-radius, radius), zlim=(-radius, radius))
        axes.set_box_aspect((1, 1, 1), zoom=1.35)
        axes.view_init(elev=55, azim=-60)
        axes.set_axis_off()
        axes.set_title(name, fontsize=9, y=0.98)
    return _write(figure, path)


def draw_reprojections(path: Path, observed: Floats, projected: Mapping[str, Floats], *, title: str) -> int:
    """Draw observations (2, P) as red circles, reprojections (2, P) as green ones; return the width."""
    low, high = observed.min(axis=1), observed.max(axis=1)
    margin = 0.05 * float((high - low).max())
    span = (high - low) + 2 * margin
    width = 3.0
    height = float(np.clip(width * span[1] / span[0], 1.8, 5.0)) + 0.35
    figure = _figure(width * len(projected), height)
    figure.suptitle(_title(title), fontsize=9)
    size = float(np.clip(9000.0 / observed.shape[1], 6.0, 40.0))
    for index, (name, values) in enumerate(projected.items()):
        axes = figure.add_subplot(1, len(projected), index + 1)
        for dots, color, scale in ((observed, OBSERVED_COLOR, 1.0), (values, REPROJECTED_COLOR, 0.35)):
            axes.scatter(*dots, s=scale * size, facecolors="none", edgecolors=color, linewidths=0.7)
        axes.set(xlim=(low[0] - margin, high[0] + margin), ylim=(high[1] + margin, low[1] - margin))
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(name, fontsize=9)
    return _write(figure, path)


def draw_loss_curves(path: Path, curves: Mapping[str, tuple[Floats, Floats]], *, title: str) -> int:
    """Draw log10 of losses against CPU seconds, a curve for every method; return the width.

    `curves`: by method: seconds (n,) and losses (n,).
    """
    figure = _figure(6.0, 3.6)
    axes = figure.add_subplot()
    lows = [float(losses.min()) for _, losses in curves.values()]
    highs = [float(losses[0]) for _, losses in curves.values()]
    for color, (name, (seconds, losses)) in zip(LOSS_COLORS, curves.items(), strict=False):
        shown = np.log10(np.maximum(losses, 1e-300))
        (line,) = axes.plot(seconds, shown, color=color, linewidth=1.5, label=name)
        axes.plot(seconds[-1:], shown[-1:], "o", color=line.get_color(), markersize=4)
    positive = [float(s[s > 0].min()) for s, _ in curves.values() if (s > 0).any()]
    axes.set_xscale("log")
    if positive:
        axes.set_xlim(left=min(positive))
    low, high = np.log10(min(lows)), np.log10(max(highs))
    axes.set_ylim(low - 0.06 * (high - low) - 1e-3, high + 0.06 * (high - low) + 1e-3)
    axes.set_xlabel("CPU seconds", fontsize=9)
    axes.set_ylabel("log$_{10}$ loss", fontsize=9)
    axes.set_title(_title(title), fontsize=10)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.legend(fontsize=8, frameon=False)
    return _write(figure, path)


def draw_excess_curves(
    path: Path, panels: Mapping[str, Mapping[str, tuple[Floats, Floats]]], titles: Mapping[str, str]
) -> None:
    """Draw excess against seconds on logarithmic axes, a panel for each problem and one legend for all.

    `panels`: by title: the curves, by method: seconds (n,) and relative excess (n,). Raises InputError where
    matplotlib is not installed or the file cannot be written.
    """
    across = min(len(panels), 2)
    down = -(-len(panels) // 2)
    figure = _figure(6.0 * across, 4.0 * down + 0.8)
    color = dict(zip(titles, METHOD_COLORS, strict=False))
    lines: dict[str, Any] = {}
    for index, (title, curves) in enumerate(panels.items()):
        axes = figure.add_subplot(down, across, index + 1)
        for method, (seconds, excess) in curves.items():
            (line,) = axes.loglog(
                np.maximum(seconds, EARLIEST_SECONDS),
                np.maximum(excess, LEAST_EXCESS),
                color=color[method],
                marker=".",
                markersize=4,
            )
            lines.setdefault(method, line)
        axes.set(title=_title(title), xlabel="CPU seconds", ylabel="loss / best loss - 1")
        axes.grid(alpha=0.3)
    order = [method for method in titles if method in lines]
    figure.legend(
        [lines[m] for m in order], [titles[m] for m in order], loc="outside lower center", ncols=across
    )
    _write(figure, path)


@dataclass(frozen=True, eq=False)
class GrowthPanel:
    """Curves of CPU seconds against a size of the problem."""

    title: str
    size_name: str
    sizes: Floats  # (n,)
    seconds: Mapping[str, Floats]  # (n,) each, by the label of the curve


def draw_growth(path: Path, panels: list[GrowthPanel]) -> None:
    """Draw CPU seconds against sizes on logarithmic axes, a panel for each size.

    Raises InputError where matplotlib is not installed or the file cannot be written.
    """
    figure = _figure(4.6 * len(panels), 4.4)
    for index, panel in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), index + 1)
        for (label, seconds), color in zip(panel.seconds.items(), METHOD_COLORS, strict=False):
            axes.loglog(panel.sizes, seconds, color=color, marker=".", label=label)
        axes.set_xticks(panel.sizes, [f"{size:g}" for size in panel.sizes])
        axes.set_xticks([], minor=True)
        axes.set(title=panel.title, xlabel=panel.size_name, ylabel="CPU seconds")
        axes.grid(alpha=0.3)
        axes.legend()
    _write(figure, path)
