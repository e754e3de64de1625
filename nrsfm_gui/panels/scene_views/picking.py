"""Which point the mouse means: the nearest one as it is seen, pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.panels.scene_views.orbit_camera import Projection
    from nrsfm_gui.scene.scene import Scene

RADIUS = 12.0  # pixels


def nearest_of(candidates: list[Floats], position: tuple[float, float]) -> int:
    """Return the row of any of several (P, 2) pixels nearest to a pixel; -1 where none is within RADIUS."""
    best, found = RADIUS, -1
    for pixels in candidates:
        distance = np.hypot(*(pixels - position).T)
        distance = np.where(np.isfinite(distance), distance, np.inf)
        nearest = int(distance.argmin())
        if distance[nearest] < best:
            best, found = float(distance[nearest]), nearest
    return found


def shown_pixels(scene: Scene, projection: Projection) -> list[Floats]:
    """Return where points are seen in the 3-D picture, (P, 2) for each kind of them; NaN if not drawn."""
    shown = [("estimate", scene.estimate), ("truth", scene.truth)]
    found = []
    for name, points in shown:
        if points is not None and name in scene.layers:
            pixels, _ = projection.pixels(points)
            found.append(pixels if scene.drawn.all() else np.where(scene.drawn[:, None], pixels, np.nan))
    return found


def nearest_point(scene: Scene, projection: Projection, position: tuple[float, float]) -> int:
    """Return the index of the shown point nearest to a pixel of the 3-D picture, or -1."""
    return nearest_of(shown_pixels(scene, projection), position)
