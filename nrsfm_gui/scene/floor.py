"""The floor below the object of a scene, and its grid. Numbers only.

The floor is perpendicular to the upward axis of the scene, below the lowest point of all frames. Its lines
are at multiples of a round step, so that they stay in place while the object moves over them, and fade out
around the object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nrsfm_gui.model.nice_ticks import nice_step, ticks
from nrsfm_gui.scene.orbit_camera import upright

if TYPE_CHECKING:
    from core.foundation import Floats
    from nrsfm_gui.scene.framing import Framing

REACH = 0.85  # of the diagonal of the object's box: the radius of the floor
BELOW = 0.03  # of it: from the lowest point down to the floor
CELLS = 12  # about so many across the floor
PIECES = 12  # of a line, each of one opacity
SHADES = 8  # different opacities
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
    def below(cls, framing: Framing, frame: int) -> Floor:
        """Return the floor below the object as it is in a frame."""
        size = float(np.linalg.norm(framing.box[1] - framing.box[0]))
        middle = framing.box.mean(axis=0) + framing.displacements[frame]
        level = framing.level - BELOW * size
        radius = REACH * size
        center = middle + (level - middle @ framing.up) * framing.up
        return cls(center, framing.up, level, nice_step(2.0 * radius, CELLS), radius)

    def segments(self) -> tuple[Floats, Floats]:
        """Return the lines of the grid as pairs of points (2M, 3), and their opacities (2M,), 0 to 1."""
        right, _, ahead = upright(self.up)
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
        return segments.reshape(-1, 3), opacity
