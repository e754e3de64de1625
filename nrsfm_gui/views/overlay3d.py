"""What is written over the 3-D picture: axis labels, legend, caption, color bar, the marked points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from .axes3d import Rectangle, rulers, without_overlaps
from .colorbar import paint_color_bar
from .colors import qcolor
from .legend import GROUND, LegendEntry, paint_legend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nrsfm_gui.scene import Scene
    from nrsfm_gui.theme import Theme

    from .orbit import Projection

MARGIN = 12.0
RING = 7.0  # radius around the selected point, pixels


def paint_overlay(
    painter: QPainter,
    scene: Scene,
    projection: Projection,
    theme: Theme,
    *,
    hovered: int = -1,
    note: str = "",
    covered: Iterable[QRectF] = (),
) -> None:
    """Paint all that is flat over a picture of the scene.

    Parameters
    ----------
    painter
        active on something of the projection's size.
    scene, projection, theme
        what the picture shows, from where, in which colors.
    hovered
        index of the point under the mouse, or -1.
    note
        the state of the view that needs saying: "camera of frame 51", "orthographic".
    covered
        where something lies over the picture: no label of an axis is written under it.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    if scene.message:
        paint_message(painter, scene.message, projection.width, projection.height, theme)
        return
    for index, color, width in ((hovered, theme.text, 1.2), (scene.selected, theme.selection, 2.4)):
        _paint_ring(painter, scene, projection, -1 if index is None else index, QPen(qcolor(color), width))
    caption = _paint_caption(painter, scene, theme, note)
    legend = _paint_legend(painter, scene, theme, caption.bottom() + 4.0, projection.width)
    areas = [*covered, caption, legend]
    if scene.colored and scene.color_top is not None:
        area = QRectF(MARGIN, projection.height - MARGIN - 34.0, 190.0, 34.0)
        paint_color_bar(painter, area, theme, top=scene.color_top, label=scene.color_label)
        areas.append(area)
    if "grid" in scene.layers and scene.extent is not None:
        _paint_rulers(painter, scene, projection, theme, areas)


def _font(painter: QPainter, *, scale: float = 1.0, bold: bool = False) -> QFont:
    font = QFont(painter.font())
    if font.pointSizeF() > 0:
        font.setPointSizeF(font.pointSizeF() * scale)
    font.setBold(bold)
    return font


def paint_message(painter: QPainter, message: str, width: int, height: int, theme: Theme) -> None:
    """Write a message in the middle."""
    painter.setPen(qcolor(theme.muted))
    area = QRectF(24, 0, max(width - 48, 0), height)
    painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap), message)


def _paint_rulers(
    painter: QPainter, scene: Scene, projection: Projection, theme: Theme, areas: list[QRectF]
) -> None:
    assert scene.extent is not None  # the caller asks only where there is one
    painter.save()
    painter.setFont(_font(painter, scale=0.88))
    metrics = QFontMetricsF(painter.font())
    found = rulers(scene.extent, projection, scene.unit)
    covered = [(area.left(), area.top(), area.right(), area.bottom()) for area in areas if not area.isEmpty()]
    covered += _around(projection.width, projection.height)  # half a number says another one
    for ruler in without_overlaps(found, metrics.horizontalAdvance("0"), metrics.height(), covered=covered):
        painter.setPen(QPen(qcolor(theme.muted, 0.7), 1.0))
        painter.drawLine(QPointF(*ruler.start), QPointF(*ruler.end))
        for label in ruler.labels:
            painter.setPen(qcolor(theme.text if label.title else theme.muted))
            area = QRectF(label.x - 60, label.y - 10, 120, 20)
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, label.text)
    painter.restore()


def _around(width: float, height: float) -> list[Rectangle]:
    """Return what lies on the four sides of a picture."""
    far = float("inf")
    return [(-far, -far, 0, far), (width, -far, far, far), (-far, -far, far, 0), (-far, height, far, far)]


def _paint_ring(painter: QPainter, scene: Scene, projection: Projection, index: int, pen: QPen) -> None:
    if index < 0:
        return
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for name, points in (("estimate", scene.estimate), ("truth", scene.truth)):
        if points is None or name not in scene.layers or index >= len(points):
            continue
        pixel, _ = projection.pixels(points[index])
        if np.isfinite(pixel).all():
            painter.drawEllipse(QPointF(*pixel), RING, RING)


def _paint_caption(painter: QPainter, scene: Scene, theme: Theme, note: str) -> QRectF:
    """Write the caption in the upper left corner; return where it stands."""
    text = scene.caption + (f" · {note}" if note else "")
    painter.save()
    painter.setFont(_font(painter, bold=True))
    metrics = QFontMetricsF(painter.font())
    place = QRectF(MARGIN, MARGIN, metrics.horizontalAdvance(text), metrics.height())
    painter.fillRect(place.adjusted(-3, 0, 3, 0), qcolor(theme.panel, GROUND))
    painter.setPen(qcolor(theme.text))
    painter.drawText(QPointF(MARGIN, MARGIN + metrics.ascent()), text)
    painter.restore()
    return place


def _paint_legend(painter: QPainter, scene: Scene, theme: Theme, top: float, width: float) -> QRectF:
    """Paint what the colors stand for; return where."""
    known = scene.truth is not None and bool(np.isfinite(scene.truth).any())
    present = [
        (
            "estimate",
            scene.estimate is not None and not scene.colored,
            LegendEntry("estimate", theme.estimate),
        ),
        ("truth", known, LegendEntry("ground truth", theme.truth)),
        (
            "residuals",
            known and scene.estimate is not None,
            LegendEntry("residual", theme.residual, line=True),
        ),
    ]
    entries = [entry for layer, there, entry in present if there and layer in scene.layers]
    return paint_legend(painter, entries, theme, MARGIN, top, horizontal_to=width - MARGIN)
