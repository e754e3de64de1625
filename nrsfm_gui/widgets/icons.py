"""The icons of the tool bar, drawn as paths in the colors of the theme, sharp at any scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 20  # the drawings below are in a 20 x 20 square
SCALES = (1, 2, 3)


def _polygon(path: QPainterPath, *corners: tuple[float, float]) -> None:
    path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
    path.closeSubpath()


def _open(path: QPainterPath) -> None:
    _polygon(path, (2, 16), (2, 4), (8, 4), (10, 6.5), (17, 6.5), (17, 9), (5.5, 9))
    _polygon(path, (3.5, 16), (6.5, 10.3), (19, 10.3), (16.2, 16))


def _run(path: QPainterPath) -> None:
    _polygon(path, (5, 3), (17, 10), (5, 17))


def _pause(path: QPainterPath) -> None:
    path.addRect(QRectF(4.5, 3.5, 4, 13))
    path.addRect(QRectF(11.5, 3.5, 4, 13))


def _step(path: QPainterPath) -> None:
    _polygon(path, (4, 3.5), (13, 10), (4, 16.5))
    path.addRect(QRectF(14, 3.5, 2.6, 13))


def _stop(path: QPainterPath) -> None:
    path.addRoundedRect(QRectF(4, 4, 12, 12), 1.5, 1.5)


def _forget(path: QPainterPath) -> None:
    for corners in (
        ((5, 6.5), (5.9, 17), (14.1, 17), (15, 6.5)),
        ((3.2, 5), (16.8, 5)),
        ((8, 2.6), (12, 2.6)),
        ((8.4, 9), (8.6, 14)),
        ((11.6, 9), (11.4, 14)),
    ):
        line = QPainterPath(QPointF(*corners[0]))
        for corner in corners[1:]:
            line.lineTo(*corner)
        path.addPath(_stroked(line, 1.5))


def _theme(path: QPainterPath) -> None:
    ring = QPainterPath()
    ring.addEllipse(QRectF(3.5, 3.5, 13, 13))
    path.addPath(_stroked(ring, 1.6))
    path.moveTo(10, 3.5)
    path.arcTo(QRectF(3.5, 3.5, 13, 13), 90, -180)
    path.closeSubpath()


def _fit(path: QPainterPath) -> None:
    for sx, sy in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        corner = QPainterPath(QPointF(10 - 6.5 * sx, 10 - 2.5 * sy))
        corner.lineTo(10 - 6.5 * sx, 10 - 6.5 * sy)
        corner.lineTo(10 - 2.5 * sx, 10 - 6.5 * sy)
        path.addPath(_stroked(corner, 1.8))


def _live(path: QPainterPath) -> None:
    pulse = QPainterPath(QPointF(1.5, 11))
    for x, y in ((6, 11), (8.5, 4), (12, 16), (14, 11), (18.5, 11)):
        pulse.lineTo(x, y)
    path.addPath(_stroked(pulse, 1.8))


def _export(path: QPainterPath) -> None:
    tray = QPainterPath(QPointF(3.5, 11))
    tray.lineTo(3.5, 16.5)
    tray.lineTo(16.5, 16.5)
    tray.lineTo(16.5, 11)
    path.addPath(_stroked(tray, 1.8))
    path.addRect(QRectF(9.1, 7, 1.8, 6))
    _polygon(path, (10, 2), (14.2, 7.6), (5.8, 7.6))


def _reports(path: QPainterPath) -> None:
    sheet = QPainterPath(QPointF(11.5, 2.5))
    for x, y in ((4, 2.5), (4, 17.5), (16, 17.5), (16, 7), (11.5, 2.5), (11.5, 7), (16, 7)):
        sheet.lineTo(x, y)
    path.addPath(_stroked(sheet, 1.6))
    for x, height in ((6.4, 2.5), (9.2, 5.5), (12, 4)):
        path.addRect(QRectF(x, 15.5 - height, 1.7, height))


def _float(path: QPainterPath) -> None:
    back, front = QPainterPath(QPointF(7, 6)), QPainterPath()
    for x, y in ((7, 2.5), (17.5, 2.5), (17.5, 13), (14, 13)):
        back.lineTo(x, y)
    front.addRect(QRectF(2.5, 7, 10.5, 10.5))
    for part in (back, front):
        path.addPath(_stroked(part, 2.2))


def _close(path: QPainterPath) -> None:
    for sign in (1, -1):
        line = QPainterPath(QPointF(10 - 6 * sign, 4))
        line.lineTo(10 + 6 * sign, 16)
        path.addPath(_stroked(line, 2.4))


DRAWINGS: dict[str, Callable[[QPainterPath], None]] = {
    "open": _open,
    "run": _run,
    "pause": _pause,
    "step": _step,
    "stop": _stop,
    "forget": _forget,
    "theme": _theme,
    "fit": _fit,
    "live": _live,
    "export": _export,
    "reports": _reports,
    "float": _float,
    "close": _close,
}


def _stroked(path: QPainterPath, width: float) -> QPainterPath:
    from PyQt6.QtGui import QPainterPathStroker

    stroker = QPainterPathStroker(QPen(Qt.GlobalColor.black, width))
    stroker.setCapStyle(Qt.PenCapStyle.RoundCap)
    stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return stroker.createStroke(path)


def icon(name: str, color: str, *, disabled: str) -> QIcon:
    """Return an icon of `DRAWINGS` in a color, and in another for its disabled state."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    DRAWINGS[name](path)
    return path_icon(path, SIZE, QColor(color), QColor(disabled))


def path_icon(path: QPainterPath, side: float, color: QColor, disabled: QColor) -> QIcon:
    """Return an icon that fills a path, drawn in a square of that side, in both states and at each scale."""
    result = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, disabled)):
        for scale in SCALES:
            picture = QPixmap(int(side * scale), int(side * scale))
            picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.scale(scale, scale)
            painter.fillPath(path, shade)
            painter.end()
            picture.setDevicePixelRatio(scale)
            result.addPixmap(picture, mode)
    return result


def application_icon(ground: str, mesh: str) -> QIcon:
    """Return the icon of the window: a bent sheet of triangles on a rounded square."""
    side = 64
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QColor(ground))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawRoundedRect(QRectF(2, 2, 60, 60), 12, 12)
    nodes = [(12, 22), (32, 12), (52, 20), (10, 40), (31, 34), (53, 43), (20, 54), (42, 55)]
    edges = [
        (0, 1),
        (1, 2),
        (0, 3),
        (0, 4),
        (1, 4),
        (2, 4),
        (2, 5),
        (4, 5),
        (3, 4),
        (3, 6),
        (4, 6),
        (4, 7),
        (5, 7),
        (6, 7),
    ]
    painter.setPen(QPen(QColor(mesh), 2.2))
    for one, two in edges:
        painter.drawLine(QPointF(*nodes[one]), QPointF(*nodes[two]))
    painter.setBrush(QColor(mesh))
    for x, y in nodes:
        painter.drawEllipse(QPointF(x, y), 2.8, 2.8)
    painter.end()
    return QIcon(picture)
