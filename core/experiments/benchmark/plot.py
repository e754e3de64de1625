"""Pictures of the benchmark: excess of the loss against CPU seconds, and time against size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from .contestants import CONTESTANTS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from ...foundation.types import Floats
    from .growth import Growth
    from .runs import BenchmarkRun

LEAST_EXCESS = 1e-15  # what cannot be told from rounding is drawn here
EARLIEST = 1e-4  # seconds
DPI = 120
COLORS = ("#1f5fbf", "#15213b", "#c8202f", "#e8928f", "#7a4fb5", "#3a8f6b", "#e07b1a", "#8a8a8a")


def figure(width: float, height: float) -> Any:
    """Return an empty figure that belongs to no window.

    Raises
    ------
    InputError
        where matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "no picture, because matplotlib is not installed; install the extra `experiments`"
        ) from error
    made = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(made)
    return made


def draw_curves(path: Path, outcomes: Collection[BenchmarkRun]) -> None:
    """Draw a panel for every problem: the relative excess over the best loss against CPU seconds.

    Raises
    ------
    InputError
        where matplotlib is not installed or the file cannot be written.
    """
    groups: dict[str, list[BenchmarkRun]] = {}
    for outcome in outcomes:
        case = outcome.case
        groups.setdefault(f"{case.problem}, {case.size}, K = {case.rank}", []).append(outcome)
    best = {title: min(outcome.loss for outcome in group) for title, group in groups.items()}
    panels: dict[str, dict[str, tuple[Floats, Floats]]] = {
        title: {
            outcome.method: (
                np.array([mark.seconds for mark in outcome.marks]),
                np.minimum.accumulate([mark.loss for mark in outcome.marks]) / best[title] - 1,
            )
            for outcome in group
            if outcome.marks
        }
        for title, group in groups.items()
    }
    titles = {name: contestant.title for name, contestant in CONTESTANTS.items()}
    draw_panels(path, panels, titles)


def draw_panels(
    path: Path, panels: Mapping[str, Mapping[str, tuple[Floats, Floats]]], titles: Mapping[str, str]
) -> None:
    """Draw excess against seconds on logarithmic axes, one panel beside the other, one legend for all.

    Parameters
    ----------
    path
        the PNG file.
    panels
        by title: the curves, by method: seconds (n,) and relative excess (n,).
    titles
        of the methods, in the order of the legend.

    Raises
    ------
    InputError
        where matplotlib is not installed or the file cannot be written.
    """
    across = min(len(panels), 2)
    down = -(-len(panels) // 2)
    whole = figure(6.0 * across, 4.0 * down + 0.8)
    color = dict(zip(titles, COLORS, strict=False))
    lines: dict[str, Any] = {}
    for index, (title, curves) in enumerate(panels.items()):
        axes = whole.add_subplot(down, across, index + 1)
        for method, (seconds, excess) in curves.items():
            (line,) = axes.loglog(
                np.maximum(seconds, EARLIEST),
                np.maximum(excess, LEAST_EXCESS),
                color=color[method],
                marker=".",
                markersize=4,
            )
            lines.setdefault(method, line)
        axes.set(title=title, xlabel="CPU seconds", ylabel="loss / best loss - 1")
        axes.grid(alpha=0.3)
    order = [method for method in titles if method in lines]
    whole.legend(
        [lines[m] for m in order], [titles[m] for m in order], loc="outside lower center", ncols=across
    )
    write(whole, path)


def draw_growth(path: Path, growths: Collection[Growth]) -> None:
    """Draw CPU seconds per iteration, whole time and posing against F, P and K, with their slopes.

    Raises
    ------
    InputError
        where matplotlib is not installed or the file cannot be written.
    """
    whole = figure(4.6 * len(growths), 4.4)
    for index, growth in enumerate(growths):
        axes = whole.add_subplot(1, len(growths), index + 1)
        for (name, seconds), color in zip(growth.series().items(), COLORS, strict=False):
            label = f"{name}: slope {growth.slope(name):.2f}"
            axes.loglog(growth.values, seconds, color=color, marker=".", label=label)
        axes.set_xticks(growth.values, [f"{value:g}" for value in growth.values])
        axes.set_xticks([], minor=True)
        axes.set(title=growth.title, xlabel=growth.parameter, ylabel="CPU seconds")
        axes.grid(alpha=0.3)
        axes.legend()
    write(whole, path)


def write(made: Any, path: Path) -> None:
    """Write a figure as PNG.

    Raises
    ------
    InputError
        where the file cannot be written.
    """
    with replacing(path) as temporary:
        made.savefig(temporary, format="png")
