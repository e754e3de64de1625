"""Colors as drawing code wants them: QColor for painters, (N, 4) floats for OpenGL, one scale for errors."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PyQt6.QtGui import QColor

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.arrays import Floats
    from nrsfm_gui.theme import Theme

# The ends of the scale that have contrast with the panel: dark purple vanishes on black, yellow on white.
SPAN = {"dark": (0.12, 1.0), "light": (0.92, 0.0)}
LEVELS = 256


def qcolor(color: str, opacity: float = 1.0) -> QColor:
    """Return a "#rrggbb" string as a QColor of some opacity."""
    value = QColor(color)
    value.setAlphaF(opacity)
    return value


def rgba(color: str, opacity: float = 1.0) -> tuple[float, float, float, float]:
    """Return a "#rrggbb" string as four numbers between 0 and 1."""
    red, green, blue, _ = QColor(color).getRgbF()
    return float(red or 0.0), float(green or 0.0), float(blue or 0.0), opacity


@lru_cache(maxsize=4)
def error_table(theme_name: str) -> npt.NDArray[np.uint8]:
    """Return the color scale of errors, (256, 4) bytes: the larger, the more it stands out."""
    low, high = SPAN[theme_name]
    table = pg.colormap.get("viridis").map(np.linspace(low, high, LEVELS), mode="byte")
    table.setflags(write=False)
    return table


def error_levels(values: Floats, top: float) -> npt.NDArray[np.uint8]:
    """Return the position of each error in `error_table`; NaN becomes 0."""
    scaled = np.nan_to_num(values / top, nan=0.0, posinf=1.0, neginf=0.0) * (LEVELS - 1)
    return np.clip(scaled, 0, LEVELS - 1).astype(np.uint8)


def error_colors(values: Floats, top: float, theme: Theme) -> Floats:
    """Return (N, 4) colors of errors (N,) between 0 and `top`; NaN takes the theme's muted color."""
    colors = error_table(theme.name)[error_levels(values, top)] / 255.0
    colors[~np.isfinite(values)] = rgba(theme.muted)
    return colors
