"""Pictures of what an example leaves in its variables, for the gallery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

import core as nrsfm
from core.evaluation import HoldoutCurve

BUNDLED_PENALTIES = dict(nrsfm.PENALTIES)
FRAMES = 4  # of a reconstruction that are drawn
TRUTH_COLOR, ESTIMATE_COLOR = "#d62728", "#1f5fbf"


def draw_variables(block: Any, block_vars: Mapping[str, Any], gallery_conf: Mapping[str, Any]) -> str:
    """Draw reconstructions, curves of cross-validation and losses by method, and return their reST."""
    del block
    variables = block_vars["example_globals"]
    drawers = {"results": draw_results, "curve": draw_curve, "losses": draw_losses}
    if "results" not in variables:
        drawers["result"] = draw_frames
    written = []
    for name, draw in drawers.items():
        if name in variables:
            path = next(block_vars["image_path_iterator"])
            draw(variables[name]).savefig(path, dpi=100)
            written.append(path)
    return figure_rst(written, gallery_conf["src_dir"])


def reset_penalties(gallery_conf: Mapping[str, Any], name: str) -> None:
    """Forget the penalties that an example added."""
    del gallery_conf, name
    nrsfm.PENALTIES.clear()
    nrsfm.PENALTIES.update(BUNDLED_PENALTIES)


def draw_frames(result: nrsfm.Result) -> Figure:
    """Draw frames of a reconstruction."""
    frames = np.linspace(0, result.frame_count - 1, FRAMES).astype(int)
    figure = _draw_shapes({f"frame {frame}": (result, frame) for frame in frames})
    figure.suptitle(f"mean 3-D error {result.errors()['procrustes_mm']:.2f} mm", fontsize=10)
    return figure


def draw_results(results: Mapping[str, nrsfm.Result]) -> Figure:
    """Draw the middle frame of reconstructions by several methods."""
    return _draw_shapes(
        {
            f"{name}: {result.errors()['procrustes_mm']:.2f} mm": (result, result.frame_count // 2)
            for name, result in results.items()
        }
    )


def _draw_shapes(panels: Mapping[str, tuple[nrsfm.Result, int]]) -> Figure:
    """Draw frames of reconstructions (blue) over the ground truth (red), aligned frame by frame."""
    figure = Figure(figsize=(2.4 * len(panels), 2.6), layout="constrained")
    for place, (title, (result, frame)) in enumerate(panels.items()):
        truth = result.truth.points
        aligned = nrsfm.align(result.points, result.truth, nrsfm.Alignment()).apply(result.points)
        center = np.nanmean(truth, axis=(0, 2))
        radius = 0.8 * np.nanmax(np.abs(truth - center[:, None]))
        axes = figure.add_subplot(1, len(panels), place + 1, projection="3d")
        for points, color, mark in ((truth, TRUTH_COLOR, "o"), (aligned, ESTIMATE_COLOR, "^")):
            axes.scatter(*points[frame], s=9, c=color, marker=mark, linewidths=0, depthshade=False)
        for axis, middle in zip("xyz", center, strict=True):
            getattr(axes, f"set_{axis}lim")(middle - radius, middle + radius)
        axes.set_box_aspect((1, 1, 1), zoom=1.3)
        axes.set_axis_off()
        axes.set_title(title, fontsize=9)
    return figure


def draw_curve(curve: HoldoutCurve) -> Figure:
    """Draw the errors of observations that were used and of those that were hidden."""
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(curve.values, curve.held, "o-", color=ESTIMATE_COLOR, label="hidden")
    axes.plot(curve.values, curve.kept, "s--", color="#8a8a8a", label="used")
    axes.set(xscale="log", xlabel="value", ylabel="root mean square error, px")
    axes.legend(frameon=False)
    return figure


def draw_losses(losses: Mapping[str, list[float]]) -> Figure:
    """Draw how far each method is above the lowest loss of all, by iteration."""
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.add_subplot()
    lowest = min(min(each) for each in losses.values())
    for name, values in losses.items():
        axes.loglog(np.arange(1, len(values) + 1), np.array(values) / lowest - 1 + 1e-16, label=name)
    axes.set(xlabel="iteration", ylabel="loss above the lowest, relative")
    axes.legend(frameon=False)
    return figure
