"""The flat overlay of the 3-D view: legend, caption, color bar, marked points."""

from __future__ import annotations

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.view3d.parts import MOST_RINGS, hollow_truth, sphere_pixels
from nrsfm_gui.scene.orbit_camera import Projection, image_window
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.widgets.color_bar import HEIGHT, WIDTH, paint_color_bar
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.picture_labels import (
    GROUND,
    LegendEntry,
    fitting_lines,
    paint_legend,
    paint_message,
    paint_point_numbers,
)

MARGIN = 12.0
CAPTION, MOST_LINES = 0.12, 2  # of the picture's height, and lines: the most that the caption fills
ABOVE = 6.0  # pixels between a message and the label below it
RING = 7.0  # radius around the selected point, pixels, and
AROUND = 4.0  # how much larger it is than the radius of the point at least


def paint_overlay(
    painter: QPainter,
    scene: Scene,
    projection: Projection,
    theme: Theme,
    *,
    hovered: int = -1,
    status: str = "",
    locked: bool = False,
    covered: list[QRectF] | None = None,
) -> None:
    """Paint the flat overlay; `covered` by controls, or None for a picture that has none but a color bar."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    if scene.message:
        paint_message(painter, scene.message, projection.width, projection.height, theme)
        return
    if locked:
        _paint_border(painter, scene, projection, theme)
    _paint_rings(painter, scene, projection, theme, hovered)
    caption = _paint_caption(painter, scene, projection, theme, status)
    legend = _paint_legend(painter, scene, theme, caption.bottom() + 4.0, projection.width)
    areas = [*(covered or ()), caption, legend]
    if scene.color_missing:
        areas.append(_paint_missing(painter, scene.color_missing, projection, theme, areas))
    if covered is None and scene.color_limits is not None and scene.colored:
        paint_color_bar(
            painter, QRectF(MARGIN, projection.height - MARGIN - HEIGHT, WIDTH, HEIGHT), theme,
            color_map=scene.appearance.color_map, limits=scene.color_limits, label=scene.color_title,
        )  # fmt: skip


def _paint_border(painter: QPainter, scene: Scene, projection: Projection, theme: Theme) -> None:
    """Paint the rectangle that holds all tracks: what the 2-D panel shows when it is fitted."""
    corners = image_window(scene.shapes.image_extent, projection.width, projection.height)
    (x0, y0), (x1, y1) = scene.shapes.image_extent * corners[0, 0] + corners[:2, 2]
    painter.setPen(QPen(qcolor(theme.muted, 0.8), 1.0, Qt.PenStyle.DashLine))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(QPointF(x0, y0), QPointF(x1, y1)))


def _paint_rings(painter: QPainter, scene: Scene, projection: Projection, theme: Theme, hovered: int) -> None:
    """Circle the points that are selected, the last one thicker, and the one under the mouse; number them."""
    both = {"estimate": scene.estimate, "truth": scene.truth}
    everywhere = [points for name, points in both.items() if points is not None and name in scene.layers]
    many = len(scene.selection) > MOST_RINGS  # those are marked otherwise
    last = () if scene.selected is None else (scene.selected,)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for indices, color, width in (
        (() if many else scene.selection, theme.selection, 1.6),
        ((hovered,) if hovered >= 0 else (), theme.text, 1.2),
        (last, theme.selection, 2.6),
    ):
        chosen = [index for index in indices if index < len(scene.drawn) and scene.drawn[index]]
        painter.setPen(QPen(qcolor(color), width))
        for points in everywhere if chosen else ():
            pixels, depth = projection.pixels(points[chosen])
            radii = np.maximum(sphere_pixels(scene, depth, projection) / 2 + AROUND, RING)
            known = np.isfinite(pixels).all(axis=1)
            for (x, y), radius in zip(pixels[known].tolist(), radii[known].tolist(), strict=True):
                painter.drawEllipse(QPointF(x, y), radius, radius)
    labeled = {"none": (), "selected": scene.selection, "all": range(len(scene.drawn))}
    numbered = [index for index in labeled[scene.appearance.labels] if scene.drawn[index]]
    if numbered and everywhere:
        pixels, _ = projection.pixels(everywhere[0][numbered])
        paint_point_numbers(painter, numbered, pixels, theme)


def _paint_missing(
    painter: QPainter, text: str, projection: Projection, theme: Theme, areas: list[QRectF]
) -> QRectF:
    """Paint the reason for missing colors in the lower left corner, above other labels."""
    flags = int(Qt.AlignmentFlag.AlignLeft) | int(Qt.TextFlag.TextWordWrap)
    room = QRectF(MARGIN, 0.0, projection.width - 2 * MARGIN, projection.height - MARGIN)
    place = QFontMetricsF(painter.font()).boundingRect(room, flags, text)
    place.moveBottom(room.bottom())
    for area in areas:
        if area.intersects(place):
            place.moveBottom(area.top() - ABOVE)
    painter.fillRect(place.adjusted(-3, 0, 3, 0), qcolor(theme.panel, GROUND))
    painter.setPen(qcolor(theme.muted))
    painter.drawText(place, flags, text)
    return place


def _paint_caption(
    painter: QPainter, scene: Scene, projection: Projection, theme: Theme, status: str
) -> QRectF:
    """Paint the caption in the upper left corner, in up to two lines; return its area."""
    text = scene.caption + (f" · {status}" if status else "")
    painter.save()
    font = QFont(painter.font())
    font.setBold(True)
    painter.setFont(font)
    metrics = QFontMetricsF(font)
    most = min(max(int(CAPTION * projection.height / metrics.height()), 1), MOST_LINES)
    lines = fitting_lines(text, metrics, projection.width - 2 * MARGIN, most)
    place = QRectF(MARGIN, MARGIN, max(map(metrics.horizontalAdvance, lines)), len(lines) * metrics.height())
    painter.fillRect(place.adjusted(-3, 0, 3, 0), qcolor(theme.panel, GROUND))
    painter.setPen(qcolor(theme.text))
    for row, line in enumerate(lines):
        painter.drawText(QPointF(MARGIN, MARGIN + row * metrics.height() + metrics.ascent()), line)
    painter.restore()
    return place


def _paint_legend(painter: QPainter, scene: Scene, theme: Theme, top: float, width: float) -> QRectF:
    """Paint the legend; return its area."""
    known, entries = scene.truth is not None and np.isfinite(scene.truth).any(), []
    if "estimate" in scene.layers and scene.estimate is not None and not scene.colored:
        entries.append(LegendEntry("estimate", theme.estimate))
    if "truth" in scene.layers and known:
        entries.append(LegendEntry(scene.truth_label, theme.truth_shape, hollow=hollow_truth(scene)))
    if "residuals" in scene.layers and known and scene.estimate is not None:
        entries.append(LegendEntry("residual", theme.truth, line=True))
    if "halos" in scene.layers and scene.std is not None:
        entries.append(LegendEntry("± 1 standard deviation", theme.estimate, hollow=True))
    if "estimate" in scene.layers and scene.other is not None and scene.appearance.color_by != "difference":
        entries.append(LegendEntry(scene.other_name or "compared run", theme.other))
    if "grid" in scene.layers and scene.floor is not None:
        entries.append(LegendEntry(f"grid {scene.floor.step:g} {scene.shapes.unit}", theme.muted, line=True))
    return paint_legend(painter, entries, theme, MARGIN, top, horizontal_to=width - MARGIN)
