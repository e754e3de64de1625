"""The plot items of the 2-D view: dots, rings and residuals, and their legend."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyqtgraph as pg
from PyQt6.QtGui import QColor

from core.foundation import Bools, Floats
from nrsfm_gui.model.names import error_name, point_label
from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.widgets.colors import color_table, qcolor, value_levels
from nrsfm_gui.widgets.picture_labels import LegendEntry
from nrsfm_gui.widgets.plots.dots2d import DotsItem, SegmentsItem
from nrsfm_gui.widgets.style import mixed

RING = 17  # diameter around the hovered point and the one that was selected last, pixels
SMALL_RING = 13  # around the other selected ones
MANY_SELECTED = 300  # from which on rings must be tight
DOUBTED = 0.5  # weight under a robust loss, below which a measured point is a ring
FAINTNESS = 0.6  # of predicted dots where points are many
SIZES = 3, 7  # least and largest diameter of a dot, pixels
SHARE = 0.4  # of the distance of neighbors, if points were spread over the picture, that a dot has
LARGE = 5  # diameter from which on rings can be told from dots
FAINT = 0.45  # opacity of what is hidden


class TracksDots:
    """The items of a plot that show the points of a scene."""

    def __init__(self, plot: pg.PlotWidget) -> None:
        self.residuals = SegmentsItem()
        dots = [DotsItem() for _ in range(9)]
        self.predicted, self.hidden, self.measured, self.reprojected, self.excluded = dots[:5]
        self.doubted, self.rings, self.last_ring, self.hover_ring = dots[5:]
        self._theme, self._faint, self._size = DARK, "", SIZES[1]
        for item in (self.residuals, *dots):
            plot.addItem(item)

    def set_colors(self, theme: Theme) -> None:
        """Use the colors of a theme; dots change color when they are shown again."""
        self._theme = theme
        self._faint = mixed(theme.reprojected, theme.panel, FAINTNESS)
        self.residuals.set_pen(qcolor(theme.residual))
        self.hover_ring.set_style([qcolor(theme.text)], RING, pen_width=1.2)
        self.last_ring.set_style([qcolor(theme.selection)], RING, pen_width=2.4)

    def set_scale(self, scene: Scene, per_pixel: tuple[float, float]) -> bool:
        """Give dots the diameter that suits the units of the plot per pixel; return whether it is another."""
        if not min(per_pixel) > 0:  # the plot has no room
            return False
        width, height = np.subtract(*scene.shapes.image_extent[::-1]) / per_pixel
        apart = np.sqrt(max(width * height, 0.0) / max(len(scene.visible), 1))
        was, self._size = self._size, round(float(np.clip(SHARE * apart, *SIZES)))
        return self._size != was

    def show_points(self, scene: Scene) -> None:
        """Show measured points as rings, reprojected ones as dots, and the residuals between them."""
        size, rings = self._size, self._size >= LARGE
        self.measured.set_style([qcolor(self._theme.measured)], size + rings, pen_width=1.6 if rings else 0.0)
        doubted = scene.visible & (False if scene.weights is None else scene.weights < DOUBTED)
        self.measured.set_dots(scene.measured[scene.visible & scene.drawn & ~doubted])
        self.doubted.set_style([qcolor(self._theme.warning)], size + 1, pen_width=1.6)
        self.doubted.set_dots(scene.measured[doubted & scene.drawn])
        self.hidden.set_style([qcolor(self._theme.measured, FAINT)], size + 1, pen_width=1.2)
        unseen = scene.drawn & ~scene.visible & _known(scene.measured)
        self.hidden.set_dots(scene.measured[unseen & ~scene.excluded])
        self.excluded.set_style([qcolor(self._theme.warning)], size + 1, pen_width=1.8, crossed=True)
        self.excluded.set_dots(scene.measured[unseen & scene.excluded])
        where = np.full_like(scene.measured, np.nan) if scene.reprojected is None else scene.reprojected
        known = _known(where) & scene.drawn
        seen = known & scene.visible
        self._show_reprojected(self.reprojected, scene, where, seen)
        self._show_reprojected(self.predicted, scene, where, known & ~scene.visible)
        joined = seen if "residuals" in scene.layers else np.zeros_like(seen)
        self.residuals.set_segments(np.stack([scene.measured[joined], where[joined]], axis=1))

    def _show_reprojected(self, item: DotsItem, scene: Scene, where: Floats, which: Bools) -> None:
        """Show some of the reprojected points (P, 2): in the colors of their errors, or all in one."""
        theme, size, predicted = self._theme, max(self._size - 2, 2), item is self.predicted
        levels = None
        if scene.color_values is not None and scene.color_limits is not None:
            item.set_style(_colors(scene.appearance.color_map), size)
            levels = value_levels(scene.color_values[which], scene.color_limits)
        elif predicted and self._size >= LARGE:
            item.set_style([qcolor(theme.reprojected)], size + 1, pen_width=1.2)
        else:  # rings of many would cover each other
            item.set_style([qcolor(self._faint if predicted else theme.reprojected)], size)
        item.set_dots(where[which], levels)

    def show_rings(self, scene: Scene, hovered: int) -> None:
        """Circle the hovered point (or none, -1) and the selected points that are drawn."""
        where = places(scene)
        shown = scene.drawn & _known(where)
        last = -1 if scene.selected is None else scene.selected
        many = len(scene.selection) > MANY_SELECTED
        small = self._size + 3 if many else SMALL_RING
        self.rings.set_style([qcolor(self._theme.selection)], small, pen_width=1.2 if many else 1.8)
        selection = np.array(scene.selection, dtype=int)
        for item, points in (
            (self.rings, selection[selection != last]),
            (self.last_ring, np.array([last])),
            (self.hover_ring, np.array([hovered])),
        ):
            chosen = points[(points >= 0) & (points < len(shown))]
            item.set_dots(where[chosen[shown[chosen]]])

    def legend(self, scene: Scene) -> list[LegendEntry]:
        """Return the entries of the legend, the most important ones first."""
        theme = self._theme
        entries = [LegendEntry("measured", theme.measured, hollow=self.measured.hollow)]
        if scene.reprojected is not None and not scene.colored:
            entries.append(LegendEntry("reprojected", theme.reprojected))
        if len(self.residuals.positions):
            words = "longest residuals" if self.residuals.reduced else "residual"
            entries.append(LegendEntry(words, theme.residual, line=True))
        if len(self.hidden.positions):
            entries.append(LegendEntry("hidden", mixed(theme.measured, theme.panel, FAINT), hollow=True))
        if len(self.doubted.positions):
            entries.append(LegendEntry(f"weight below {DOUBTED:g}", theme.warning, hollow=True))
        if len(self.excluded.positions):
            entries.append(LegendEntry("excluded", theme.warning, crossed=True))
        if len(self.predicted.positions) and not scene.colored:
            color = self.predicted.colors[0].name()
            entries.append(LegendEntry("predicted", color, hollow=self.predicted.hollow))
        return entries


def places(scene: Scene) -> Floats:
    """Return (P, 2) where points are measured, or else where they reproject."""
    if scene.reprojected is None:
        return scene.measured
    return np.where(_known(scene.measured)[:, None], scene.measured, scene.reprojected)


def drawn_places(scene: Scene) -> list[Floats]:
    """Return the (P, 2) places in the plot that belong to points, NaN for those that are not drawn."""
    found = [scene.measured] if scene.reprojected is None else [scene.measured, scene.reprojected]
    return [np.where(scene.drawn[:, None], each, np.nan) for each in found]


def described(scene: Scene, index: int) -> str:
    """Return number, position, error and state of a point as text."""
    parts = [point_label(index, scene.sequence.point_names)]
    x, y = scene.measured[index]
    if np.isfinite(x) and np.isfinite(y):
        parts.append(f"({x:.1f}, {y:.1f}) {scene.sequence.units}")
    if scene.excluded[index]:
        parts.append("excluded: hidden from the solver")
    elif not scene.visible[index]:
        parts.append("hidden")
    elif scene.residuals_px is not None:
        parts.append(f"residual {scene.residuals_px[index]:.3g} {scene.sequence.units}")
    if scene.weights is not None and scene.visible[index]:
        parts.append(f"weight {scene.weights[index]:.2g}")
    if scene.errors is not None and np.isfinite(scene.errors[index]):
        parts.append(f"{error_name(scene.sequence.truth_name)} {scene.errors[index]:.3g} {scene.shapes.unit}")
    return " · ".join(parts)


@lru_cache(maxsize=8)
def _colors(name: str) -> tuple[QColor, ...]:
    """Return the colors of a scale, lowest first."""
    return tuple(QColor(*color) for color in color_table(name)[:, :3].tolist())


def _known(where: Floats) -> Bools:
    """(P,) which of (P, 2) places are places; a sum of columns is faster than asking for all of a row."""
    return np.isfinite(where[:, 0] + where[:, 1])
