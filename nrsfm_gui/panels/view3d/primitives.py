"""Colored points, segments and triangles, which both renderers draw alike. Numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from core.foundation import read_only

if TYPE_CHECKING:
    from PyQt6.QtGui import QColor

    from core.foundation import Floats, Ints
    from nrsfm_gui.scene.orbit_camera import Projection
    from nrsfm_gui.widgets.colors import Rgba

RIM = 0.6  # brightness of the rim of a dot relative to its inside, so that neighbors stay apart


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Round dots of a size in pixels."""

    positions: Floats  # (N, 3)
    colors: Rgba  # (N, 4) bytes
    size: float

    def same(self, other: object) -> bool:
        """Whether drawing the other would give the same picture."""
        return isinstance(other, PointCloud) and self.size == other.size and _equal(self, other)


@dataclass(frozen=True, eq=False)
class LineSegments:
    """Thin lines between pairs of points."""

    positions: Floats  # (N, 3), NaN where no line ends
    colors: Rgba  # (N, 4) bytes
    ends: Ints  # (M, 2) rows of `positions`

    @property
    def pairs(self) -> Floats:
        """(M, 2, 3) where the lines go from and to."""
        return self.positions[self.ends]

    @classmethod
    def between(cls, positions: Floats, colors: Rgba) -> LineSegments:
        """Return lines between consecutive pairs of points (2M, 3)."""
        return cls(positions, colors, _consecutive(len(positions) // 2))

    def same(self, other: object) -> bool:
        """Whether drawing the other would give the same picture."""
        return isinstance(other, LineSegments) and _equal(self, other) and _alike(self.ends, other.ends)


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """A surface whose corners have colors, shaded already."""

    positions: Floats  # (N, 3)
    colors: Rgba  # (N, 4) bytes
    faces: Ints  # (T, 3) rows of `positions`
    solid: bool  # whether it hides what is behind it, where the picture has depth

    def same(self, other: object) -> bool:
        """Whether drawing the other would give the same picture."""
        return (
            isinstance(other, TriangleMesh)
            and self.solid == other.solid
            and _equal(self, other)
            and _alike(self.faces, other.faces)
        )


Part: TypeAlias = PointCloud | LineSegments | TriangleMesh


@dataclass(frozen=True, eq=False)
class RenderRequest:
    """How parts are rendered."""

    projection: Projection
    background: QColor
    size: tuple[int, int]  # width and height of the picture, pixels
    ratio: float = 1.0  # pixels of the picture to one of the projection
    smooth: bool = True  # whether lines get soft edges, which cost more than all else without a graphics card


def line_ends(parts: dict[str, Part]) -> int:
    """Return how many ends all the lines have."""
    return sum(part.ends.size for part in parts.values() if isinstance(part, LineSegments))


def _equal(one: Part, two: Part) -> bool:
    return np.array_equal(one.positions, two.positions) and np.array_equal(one.colors, two.colors)


def _alike(one: Ints, two: Ints) -> bool:
    return one is two or np.array_equal(one, two)


@lru_cache(maxsize=16)
def _consecutive(count: int) -> Ints:
    return read_only(np.arange(2 * count).reshape(-1, 2), np.int64)
