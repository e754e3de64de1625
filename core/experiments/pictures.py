"""Pictures of a report, as PNG files: shapes beside the truth, reprojections, curves of the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundation.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..foundation.types import Floats

DPI = 120
HALF, WHOLE = 580, 1176  # CSS pixels of a picture, as the page of a report has room for
WHOLE_FROM = 10.0  # inches
TRUTH, ESTIMATE = "#c8202f", "#1f5fbf"
LINK = "#a8adb8"  # between a true point and its estimate
OBSERVED, REPROJECTED = "#d62728", "#2ca02c"
COLORS = ("#e07b1a", "#7a4fb5", "#3a8f6b", "#1f5fbf", "#15213b", "#b03060")


def _figure(width: float, height: float) -> Any:
    """Return an empty figure that belongs to no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _write(figure: Any, path: Path) -> int:
    """Write a figure and return its width in CSS pixels: that of half a page or of a whole one."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png")
    return HALF if figure.get_figwidth() < WHOLE_FROM else WHOLE


def compare_shapes(path: Path, truth: Floats, estimates: Mapping[str, Floats]) -> int:
    """Draw estimates (3, P), aligned, in blue and the truth (3, P) in red, side by side; return the width.

    The view is along the direction in which the truth is thinnest, turned a little.
    """
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    known = np.isfinite(truth).all(axis=0)
    center = truth[:, known].mean(axis=1, keepdims=True)
    axes, _, _ = np.linalg.svd(truth[:, known] - center, full_matrices=False)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    target = axes.T @ (truth - center)
    radius = 1.05 * float(np.abs(target[:, known]).max())
    figure = _figure(2.9 * len(estimates), 2.9)
    size = float(np.clip(900.0 / truth.shape[1], 1.5, 14.0))
    for index, (name, estimate) in enumerate(estimates.items()):
        one = figure.add_subplot(1, len(estimates), index + 1, projection="3d")
        source = axes.T @ (estimate - center)
        pairs = np.stack((target, source))[:, :, known]  # (2, 3, n)
        one.add_collection3d(Line3DCollection(list(pairs.transpose(2, 0, 1)), colors=LINK, linewidths=0.6))
        for points, color, mark in ((target, TRUTH, "o"), (source, ESTIMATE, "^")):
            one.scatter(*points[:, known], s=size, c=color, marker=mark, depthshade=False, linewidths=0)
        one.set(xlim=(-radius, radius), ylim=(-radius, radius), zlim=(-radius, radius))
        one.set_box_aspect((1, 1, 1), zoom=1.35)
        one.view_init(elev=55, azim=-60)
        one.set_axis_off()
        one.set_title(name, fontsize=9, y=0.98)
    return _write(figure, path)


def reprojections(path: Path, observed: Floats, projected: Mapping[str, Floats], *, title: str) -> int:
    """Draw observations (2, P) as red circles, reprojections (2, P) as green ones; return the width."""
    low, high = observed.min(axis=1), observed.max(axis=1)
    margin = 0.05 * float((high - low).max())
    span = (high - low) + 2 * margin
    width = 3.0
    height = float(np.clip(width * span[1] / span[0], 1.8, 5.0)) + 0.35
    figure = _figure(width * len(projected), height)
    figure.suptitle(title, fontsize=9)
    size = float(np.clip(9000.0 / observed.shape[1], 6.0, 40.0))
    for index, (name, values) in enumerate(projected.items()):
        one = figure.add_subplot(1, len(projected), index + 1)
        for dots, color, scale in ((observed, OBSERVED, 1.0), (values, REPROJECTED, 0.35)):
            one.scatter(*dots, s=scale * size, facecolors="none", edgecolors=color, linewidths=0.7)
        one.set(xlim=(low[0] - margin, high[0] + margin), ylim=(high[1] + margin, low[1] - margin))
        one.set_aspect("equal")
        one.set_xticks([])
        one.set_yticks([])
        one.set_title(name, fontsize=9)
    return _write(figure, path)


def loss_curves(path: Path, curves: Mapping[str, tuple[Floats, Floats]], *, title: str) -> int:
    """Draw log10 of losses against CPU seconds, a curve for every method; return the width.

    Parameters
    ----------
    path
        the file to write.
    curves
        by method: seconds (n,) and losses (n,).
    title
        of the panel.
    """
    figure = _figure(6.0, 3.6)
    one = figure.add_subplot()
    lows = [float(losses.min()) for _, losses in curves.values()]
    highs = [float(losses[0]) for _, losses in curves.values()]
    for color, (name, (seconds, losses)) in zip(COLORS, curves.items(), strict=False):
        shown = np.log10(np.maximum(losses, 1e-300))
        (line,) = one.plot(seconds, shown, color=color, linewidth=1.5, label=name)
        one.plot(seconds[-1:], shown[-1:], "o", color=line.get_color(), markersize=4)
    positive = [float(s[s > 0].min()) for s, _ in curves.values() if (s > 0).any()]
    one.set_xscale("log")
    if positive:
        one.set_xlim(left=min(positive))
    low, high = np.log10(min(lows)), np.log10(max(highs))
    one.set_ylim(low - 0.06 * (high - low) - 1e-3, high + 0.06 * (high - low) + 1e-3)
    one.set_xlabel("CPU seconds", fontsize=9)
    one.set_ylabel("log$_{10}$ loss", fontsize=9)
    one.set_title(title, fontsize=10)
    one.tick_params(labelsize=8)
    one.grid(alpha=0.25, linewidth=0.6)
    one.legend(fontsize=8, frameon=False)
    return _write(figure, path)
