"""The rows of the panel Numbers for the selected points: one in full, several by mean and worst. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nrsfm_gui.model.numbers import NONE, Number
from nrsfm_gui.scene.summaries import measure
from nrsfm_gui.text.run_numbers import point_numbers

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.scene.scene import Scene


def selection_title(scene: Scene | None) -> str:
    """Return what the lines are about."""
    if scene is None or not scene.selection:
        return "Selected point"
    where = f"frame {scene.frame + 1}"
    if len(scene.selection) == 1:
        return f"Point {scene.selection[0] + 1}, {where}"
    return f"{len(scene.selection)} points, {where}"


def selection_numbers(scene: Scene | None) -> list[Number]:
    """Return the lines for the selected points in the frame that is shown; none where nothing is selected."""
    if scene is None or not scene.selection:
        return []
    if len(scene.selection) == 1:
        return point_numbers(scene, scene.selection[0])
    chosen = np.array(scene.selection)
    rows = [
        Number(
            "measured",
            f"{int(scene.visible[chosen].sum())} of {len(chosen)}",
            "Selected points that are seen in this frame.",
        )
    ]
    for name, values, unit, how in (
        ("reprojection error", scene.residuals_px, scene.track_unit, ""),
        ("3-D error", scene.errors, scene.error_unit, f" {scene.shapes.alignment_name.capitalize()}."),
    ):
        if values is not None:
            rows += _mean_and_worst(name, chosen, values[chosen], unit, how)
    return rows


def _mean_and_worst(name: str, points: np.ndarray, values: Floats, unit: str, how: str) -> list[Number]:
    known = np.isfinite(values)
    if not known.any():
        return [Number(f"mean {name}", NONE)]
    worst = int(np.argmax(np.where(known, values, -np.inf)))
    mean = measure(float(values[known].mean()), unit)
    largest = f"{measure(float(values[worst]), unit)} (point {points[worst] + 1})"
    return [
        Number(f"mean {name}", mean, f"Over the selected points of this frame that have one.{how}"),
        Number(f"worst {name}", largest, f"Of the selected points in this frame.{how}"),
    ]
