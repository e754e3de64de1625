"""The shape at some frames as a Matplotlib figure, for notebooks and papers."""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...foundation.exceptions import InputError, needs
from ...reconstruction.result import Result
from .options import ExportOptions, aligned_shapes

SIDE = 2.6  # inches of a shape
COLOR, EDGE_COLOR = "#1f5fbf", "#9db7dd"
ABOVE, ASIDE = 12.0, 15.0  # degrees from which a shape is seen, and away from where it is widest


def shapes_figure(result: Result, frames: int | Collection[int] = 5) -> Any:
    """Draw the shape at some frames side by side, standing upright, from where it is widest, in one scale.

    Parameters
    ----------
    result
        a reconstruction of F frames.
    frames
        so many frames, evenly from the first to the last; or their indices, 0 to F - 1.

    Returns
    -------
    matplotlib.figure.Figure
        which a notebook shows, and whose `savefig` writes .pdf, .svg and .png.

    Raises
    ------
    InputError
        where there is no such frame, or Matplotlib (the extra `experiments`) is not installed.

    Examples
    --------
    >>> import core
    >>> sequence = core.simulate("paper", frames=12, points=20)
    >>> result = core.reconstruct(sequence, rank=2, starts=1, rotations="truth")
    >>> [axes.get_title() for axes in core.shapes_figure(result, frames=3).axes]
    ['frame 1', 'frame 7', 'frame 12']
    """
    if find_spec("matplotlib") is None:
        raise InputError(needs("A figure", "Matplotlib", "experiments"))
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    count, meshed = result.frame_count, result.with_mesh()
    given = np.asarray(frames)
    if given.ndim == 0 and given.dtype.kind in "iu":
        given = np.linspace(0, count - 1, int(np.clip(given, 0, count))).round().astype(int)
    listed = given.ndim == 1 and given.size and given.dtype.kind in "iu"
    if not (listed and np.isin(given, range(count)).all()):
        raise InputError(f"frames are {frames!r}; accepted are 1 or more, or some of 0 to {count - 1}")
    chosen: list[int] = given.tolist()
    # Matplotlib's z is up: a turn about x.
    upright = aligned_shapes(meshed, ExportOptions())[chosen]
    drawn = [np.stack([x - x.mean(), z.mean() - z, y - y.mean()]) for x, y, z in upright]
    radius = 1.05 * max(float(np.abs(each).max()) for each in drawn)
    flat = np.concatenate(drawn, axis=1)[:2]
    across = np.linalg.eigh(flat @ flat.T)[1][:, 1]  # where they are widest
    azimuth = float(np.degrees(np.arctan(across[1] / (across[0] or 1e-12)))) - 90.0 + ASIDE
    figure = Figure(figsize=(SIDE * len(drawn), SIDE), layout="constrained")
    size = float(np.clip(600.0 / result.point_count, 1.0, 12.0))
    for place, (frame, points) in enumerate(zip(chosen, drawn, strict=True)):
        axes: Any = figure.add_subplot(1, len(drawn), place + 1, projection="3d")
        if meshed.edges is not None:
            axes.add_collection3d(Line3DCollection(points.T[meshed.edges], colors=EDGE_COLOR, linewidths=0.6))
        axes.scatter(*points, s=size, c=COLOR, depthshade=False, linewidths=0)
        axes.set(xlim=(-radius, radius), ylim=(-radius, radius), zlim=(-radius, radius))
        axes.set_box_aspect((1, 1, 1), zoom=1.4)
        axes.view_init(elev=ABOVE, azim=azimuth)
        axes.set_axis_off()
        axes.set_title(f"frame {frame + 1}", fontsize=9, y=0.98)
    return figure
