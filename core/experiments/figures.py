"""Figures as PNG files: shapes and the truth, reprojections, loss against time, time against size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..foundation import Floats, printable, replacing
from .report import ReportImage, check_installed

Curves: TypeAlias = "Mapping[str, tuple[Floats, Floats]]"  # x (n,) and y (n,), by the name of the curve
FIGURE_DPI = 120
HALF_PAGE, FULL_PAGE = 580, 1176  # CSS pixels of an image in a report
FULL_PAGE_FROM = 10.0  # inches
TRUTH_COLOR, ESTIMATE_COLOR = "#c8202f", "#1f5fbf"
LINK_COLOR = "#a8adb8"  # between a true point and its estimate
OBSERVED_COLOR, REPROJECTED_COLOR = "#d62728", "#2ca02c"
METHOD_COLORS = ("#1f5fbf", "#15213b", "#c8202f", "#e8928f", "#7a4fb5", "#3a8f6b", "#e07b1a", "#8a8a8a")
PANEL_SIZE = 6.0, 4.0  # inches


def _figure(width: float, height: float) -> Any:
    """Return an empty figure without a window. Raises InputError where matplotlib is not installed."""
    check_installed("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=FIGURE_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _title(text: str) -> str:
    """Return a title that may hold the name of a file: escaped, and without formulas."""
    return printable(text).replace("$", r"\$")


def _write(figure: Any, path: Path, caption: str) -> ReportImage:
    """Write a figure; return it as a report beside its folder has it, half a page or a full one wide."""
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png")
    width = HALF_PAGE if figure.get_figwidth() < FULL_PAGE_FROM else FULL_PAGE
    return ReportImage(f"{path.parent.name}/{path.name}", caption, width)


def draw_shapes(path: Path, truth: Floats, estimates: Mapping[str, Floats], caption: str) -> ReportImage:
    """Draw aligned estimates (3, P) blue, the truth (3, P) red, along the direction where that is thin."""
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
    return _write(figure, path, caption)


def draw_reprojections(
    path: Path, observed: Floats, projected: Mapping[str, Floats], caption: str, *, title: str
) -> ReportImage:
    """Draw observations (2, P) as red circles, reprojections (2, P) as green ones."""
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
    return _write(figure, path, caption)


def draw_curves(
    path: Path,
    panels: Mapping[str, Curves],
    labels: tuple[str, str],
    caption: str = "",
    *,
    titles: Mapping[str, str] | None = None,
    across: int = 2,
    size: tuple[float, float] = PANEL_SIZE,
    powers: bool = False,
    ticks: bool = False,
) -> ReportImage:
    """Draw curves on logarithmic axes, a panel for each problem.

    `panels`: curves by title; `labels`: of the axes; `titles`: those of the curves by name, for one legend
    below all panels, None for one in each; `across`: panels in a row; `size`: inches of a panel; `powers`:
    whether y are logarithms already; `ticks`: whether the axis of x has the numbers of the points.
    """
    across = min(len(panels), across)
    down = -(-len(panels) // across)
    figure = _figure(size[0] * across, size[1] * down + (0.8 if titles else 0.0))
    color = dict(zip(titles, METHOD_COLORS, strict=False)) if titles else {}
    lines: dict[str, Any] = {}
    for index, (title, curves) in enumerate(panels.items()):
        axes = figure.add_subplot(down, across, index + 1)
        for place, (name, (x, y)) in enumerate(curves.items()):
            shown = color.get(name, METHOD_COLORS[place])
            (lines[name],) = axes.plot(x, y, color=shown, marker=".", markersize=4, label=name)
        axes.set(title=_title(title), xlabel=labels[0], ylabel=labels[1], xscale="log")
        axes.set_yscale("linear" if powers else "log")
        if ticks:
            axes.set_xticks(x, [f"{each:g}" for each in x])
            axes.set_xticks([], minor=True)
        axes.grid(alpha=0.3)
        if not titles:
            axes.legend(fontsize=8)
    if titles:
        order = [name for name in titles if name in lines]
        figure.legend(
            [lines[name] for name in order], [titles[name] for name in order],
            loc="outside lower center", ncols=across,
        )  # fmt: skip
    return _write(figure, path, caption)
