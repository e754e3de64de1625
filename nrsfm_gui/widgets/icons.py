"""The icons: SVG files of `assets/icons`, drawn in colors of the palette at the resolution of the screen.

A drawing is black and white: `currentColor` stands for the color that is chosen here, whenever it is painted.
"""

from __future__ import annotations

from functools import lru_cache

from PyQt6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PyQt6.QtGui import QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PyQt6.QtSvg import QSvgRenderer

from core.foundation import asset_folder

Role = QPalette.ColorRole


@lru_cache(maxsize=256)
def _drawing(name: str, color: str) -> QSvgRenderer:
    folder = asset_folder("icons")
    if folder is None:
        raise FileNotFoundError("the folder assets/icons was not installed")
    text = (folder / f"{name}.svg").read_bytes()
    return QSvgRenderer(QByteArray(text.replace(b"currentColor", color.encode())))


def paint_icon(painter: QPainter, name: str, area: QRectF, color: str) -> None:
    """Paint the drawing `name` into a square area, in a color `"#rrggbb"`."""
    _drawing(name, color).render(painter, area)


class _SvgIconEngine(QIconEngine):
    """Draws an icon anew for each size and state."""

    def __init__(self, name: str, role: Role, disabled: Role) -> None:
        super().__init__()
        self._name, self._role, self._disabled = name, role, disabled

    def paint(self, painter: QPainter | None, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        assert painter is not None
        side = min(rect.width(), rect.height())
        area = QRectF(0.0, 0.0, side, side)
        area.moveCenter(QRectF(rect).center())
        palette = QGuiApplication.palette()
        if mode is QIcon.Mode.Disabled:
            color = palette.color(QPalette.ColorGroup.Disabled, self._disabled)
        else:
            color = palette.color(QPalette.ColorGroup.Active, self._role)
        paint_icon(painter, self._name, area, color.name())

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        picture = QPixmap(size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return picture

    def clone(self) -> QIconEngine:
        return _SvgIconEngine(self._name, self._role, self._disabled)


def icon(name: str, role: Role = Role.ButtonText, *, disabled: Role | None = None) -> QIcon:
    """Return the icon of `assets/icons/NAME.svg` in the color of a role; where it is disabled, of another."""
    return QIcon(_SvgIconEngine(name, role, role if disabled is None else disabled))
