"""The floor below the object of a scene, and its grid. Numbers only.

The floor is perpendicular to the upward axis of the scene, below the lowest point of all frames. Its lines
are at multiples of a round step, so that they stay in place while the object moves over them, and fade out
around the object. The shadow on it is that of `core.io.writers.FLOOR`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from core.foundation import Floats, read_only
from core.io.writers import FLOOR
from nrsfm_gui.model.numbers import nice_step, ticks
from nrsfm_gui.scene.framing import Framing
from nrsfm_gui.scene.orbit_camera import upright

CELLS = 12  # about so many across the floor
PIECES = 12  # of a line, each of one opacity
SHADES = 8  # different opacities
SHADOW_POINTS = 4000  # that the shadow is found from, about
CLEAR = 0.3  # of the radius, where the lines are not faded


@dataclass(frozen=True, eq=False)
class Floor:
    """A round floor that ends around the object."""

    center: Floats  # (3,) below the object
    up: Floats  # (3,) unit vector, away from the floor
    level: float  # x . up of its points x
    step: float  # side of a cell of the grid, in the unit of the scene
    radius: float

    @classmethod
    @lru_cache(maxsize=4)  # it stays while the object deforms
    def below(cls, framing: Framing, frame: int) -> Floor:
        """Return the floor below the object as it is in a frame."""
        size = float(np.linalg.norm(framing.box[1] - framing.box[0]))
        middle = framing.box.mean(axis=0) + framing.displacements[frame]
        level = framing.orientation.floor - FLOOR.below * size
        radius = FLOOR.reach * size
        center = middle + (level - middle @ framing.up) * framing.up
        return cls(center, framing.up, level, nice_step(2.0 * radius, CELLS), radius)

    @cached_property
    def segments(self) -> tuple[Floats, Floats]:
        """The lines of the grid as pairs of points (2M, 3), and their opacities (2M,), 0 to 1."""
        right, _, ahead = self._axes
        pairs = []
        for along, across in ((right, ahead), (ahead, right)):
            middle = float(self.center @ across)
            lines = ticks(middle - self.radius, middle + self.radius, self.step)
            half = np.sqrt(np.maximum(self.radius**2 - np.square(lines - middle), 0.0))
            cuts = self.center @ along + half[:, None] * np.linspace(-1.0, 1.0, PIECES + 1)
            ends = np.stack([cuts[:, :-1], cuts[:, 1:]], axis=2)  # (lines, PIECES, 2)
            points = ends[..., None] * along + lines[:, None, None, None] * across + self.level * self.up
            pairs.append(points.reshape(-1, 2, 3))
        segments = np.concatenate(pairs)
        away = np.linalg.norm(segments.mean(axis=1) - self.center, axis=1) / self.radius
        opacity = np.clip((1.0 - away) / (1.0 - CLEAR), 0.0, 1.0)
        opacity = np.repeat(np.ceil(SHADES * opacity) / SHADES, 2)
        return read_only(segments.reshape(-1, 3)), read_only(opacity)

    def shadow(self, points: Floats) -> tuple[Floats, Floats]:
        """Return places (FLOOR.side^2, 3) on the floor, and how dark points (P, 3) make them, 0 to 1."""
        right, _, ahead = self._axes
        known = np.flatnonzero(np.isfinite(points).all(axis=1))
        offset = points[known[:: max(1, len(known) // SHADOW_POINTS)]] - self.center
        weights = np.exp(-np.maximum(offset @ self.up, 0.0) / (FLOOR.height * self.radius))
        counts = np.zeros((FLOOR.side, FLOOR.side))
        cells = (FLOOR.side - 1) / (2.0 * self.radius)
        u, v = (cells * (offset @ axis + self.radius) for axis in (right, ahead))
        inside = (u >= 0) & (u < FLOOR.side - 1) & (v >= 0) & (v < FLOOR.side - 1)
        column, row = u[inside].astype(int), v[inside].astype(int)
        du, dv, weights = u[inside] - column, v[inside] - row, weights[inside]
        for down, share_down in ((0, 1.0 - dv), (1, dv)):  # a point belongs to the four places around it
            for aside, share in ((0, 1.0 - du), (1, du)):
                cell = (row + down) * FLOOR.side + column + aside
                counts += np.bincount(cell, weights * share_down * share, counts.size).reshape(counts.shape)
        blurred = _blur() @ counts @ _blur().T
        usual = len(offset) / (FLOOR.footprint * (cells * self.radius) ** 2)
        return self._places, 1.0 - np.exp(-blurred.ravel() / max(usual, 1e-12))

    @cached_property
    def _axes(self) -> Floats:
        """(3, 3) rows: unit vectors along the floor to the right, downward, and ahead."""
        return upright(self.up)

    @cached_property
    def _places(self) -> Floats:
        """(FLOOR.side^2, 3) where the shadow is found, row by row."""
        right, _, ahead = self._axes
        side = np.linspace(-self.radius, self.radius, FLOOR.side)
        across, along = np.meshgrid(side, side)
        return read_only(self.center + across.reshape(-1, 1) * right + along.reshape(-1, 1) * ahead)


@lru_cache(maxsize=1)
def _blur() -> Floats:
    """Return the matrix (FLOOR.side, FLOOR.side) of a Gaussian along one axis of the shadow."""
    side = np.linspace(-1.0, 1.0, FLOOR.side)
    weights = np.exp(-0.5 * np.square((side[:, None] - side) / FLOOR.blur))
    return np.asarray(weights / weights.sum(axis=1).max())
