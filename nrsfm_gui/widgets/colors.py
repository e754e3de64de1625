"""Colors: QColor for painters, (N, 4) bytes for images, color scales for values."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PyQt6.QtGui import QColor

from core.foundation import Floats
from nrsfm_gui.model.theme import Theme

Rgba: TypeAlias = npt.NDArray[np.uint8]  # (..., 4)

# The part of the scales that has contrast with either panel: dark purple vanishes on black, yellow on white.
# It is the same in both themes, so that a color has the same meaning in every picture.
SPAN = (0.14, 0.92)
DARKER = {"magma": 0.12, "inferno": 0.12}  # how much more of the dark end is left out
LEVELS = 256


@lru_cache(maxsize=256)
def qcolor(color: str, opacity: float = 1.0) -> QColor:
    """Return a "#rrggbb" string as a QColor of some opacity, which is shared: not to be changed."""
    value = QColor(color)
    value.setAlphaF(opacity)
    return value


@lru_cache(maxsize=64)
def rgba_bytes(color: str, opacity: float = 1.0) -> Rgba:
    """Return a "#rrggbb" string as four bytes."""
    value = np.array([*QColor(color).getRgb()[:3], round(255 * opacity)], dtype=np.uint8)
    value.setflags(write=False)
    return value


def filled(color: str, count: int, opacity: float = 1.0) -> Rgba:
    """Return (count, 4) times the same color."""
    return np.tile(rgba_bytes(color, opacity), (count, 1))


@lru_cache(maxsize=16)
def color_table(name: str) -> Rgba:
    """Return a color scale of `appearance.COLOR_MAPS`, (256, 4): the larger, the lighter."""
    low, high = SPAN
    shares = np.linspace(low + DARKER.get(name, 0.0), high, LEVELS)
    table: Rgba = pg.colormap.get(name).map(shares, mode="byte")
    table.setflags(write=False)
    return table


def value_levels(values: Floats, limits: tuple[float, float]) -> npt.NDArray[np.uint8]:
    """Return the index of each value in a `color_table` between two limits; NaN becomes 0."""
    low, high = limits
    scaled = np.nan_to_num((values - low) / (high - low), nan=0.0, posinf=1.0, neginf=0.0) * (LEVELS - 1)
    return np.clip(scaled, 0, LEVELS - 1).astype(np.uint8)


def value_colors(values: Floats, limits: tuple[float, float], name: str, theme: Theme) -> Rgba:
    """Return colors (N, 4) of values (N,); NaN gets the muted color of the theme."""
    colors: Rgba = color_table(name)[value_levels(values, limits)]
    colors[~np.isfinite(values)] = rgba_bytes(theme.muted)
    return colors
