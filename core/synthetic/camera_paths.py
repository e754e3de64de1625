"""The six camera paths of the NRSfM Challenge, by name: positions and viewing directions of the camera."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..io.readers.challenge import PATHS

if TYPE_CHECKING:
    from ..foundation.types import Floats

DISTANCE = 450.0  # mm from the object, on average
FOCAL = 1400.0  # px
CENTER = (640.0, 480.0)  # px, of a 1280 x 960 image
INTRINSICS = np.array([[FOCAL, 0.0, CENTER[0]], [0.0, FOCAL, CENTER[1]], [0.0, 0.0, 1.0]])


def cameras(path: str, frames: int) -> tuple[Floats, Floats]:
    """Return world-to-camera rotations (F, 3, 3) and translations (F, 3) in mm along a path of `PATHS`.

    The camera's y points down and its z forward, as the world's do for a camera in front of the object.
    The target drifts by a few millimeters, so that the object does not stay in the middle of the image.
    """
    assert path in PATHS
    s = np.linspace(0, 1, frames)
    positions, roll = _positions(path, s)
    target = np.stack([8 * np.sin(5 * s), 5 * np.cos(4 * s), np.zeros(frames)], axis=1)
    return look_at(positions, target, roll)


def look_at(positions: Floats, target: Floats, roll: Floats) -> tuple[Floats, Floats]:
    """Return world-to-camera rotations (F, 3, 3) and translations (F, 3) of cameras that point at a target.

    `roll`: (F,) radians about the viewing direction.
    """
    forward = _unit(target - positions)
    right = _unit(np.cross([0.0, 1.0, 0.0], forward))
    down = np.cross(forward, right)
    cos, sin = np.cos(roll)[:, None], np.sin(roll)[:, None]
    rotations = np.stack([cos * right + sin * down, cos * down - sin * right, forward], axis=1)
    return rotations, -np.einsum("fab,fb->fa", rotations, positions)


def _positions(path: str, s: Floats) -> tuple[Floats, Floats]:
    """Return camera positions (F, 3) in mm and rolls (F,) in radians at times s (F,)."""
    roll, flat = np.zeros_like(s), np.ones_like(s)
    if path == "line":
        return DISTANCE * np.stack([2.2 * s - 1.1, -0.15 * flat, -0.85 * flat], axis=1), roll
    if path == "flyby":
        return DISTANCE * np.stack([3.0 * s - 1.5, 0.3 * s - 0.5, -1.0 + 0.4 * s], axis=1), roll
    distance = DISTANCE * flat
    if path == "circle":
        # The last frame is one step short of the first, as of a turntable.
        azimuth, elevation = 2 * np.pi * s * (len(s) - 1) / len(s), 0.25 * flat
    elif path == "semi_circle":
        azimuth, elevation = np.pi * (s - 0.5), 0.2 * flat
    elif path == "zigzag":
        azimuth, elevation = 0.9 * (2 * np.abs(2 * ((3 * s) % 1.0) - 1) - 1), 0.5 * (2 * s - 1)
    else:
        azimuth = 1.3 * np.sin(2 * np.pi * s) + 0.4 * np.sin(6 * np.pi * s + 1)
        elevation = 0.6 * np.sin(4 * np.pi * s + 0.5)
        distance = DISTANCE * (1 + 0.2 * np.sin(4 * np.pi * s))
        roll = 0.5 * np.sin(2 * np.pi * s + 2)
    level = np.cos(elevation)
    outward = np.stack([np.sin(azimuth) * level, -np.sin(elevation), -np.cos(azimuth) * level], axis=1)
    return distance[:, None] * outward, roll


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
