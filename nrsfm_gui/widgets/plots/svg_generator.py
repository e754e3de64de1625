"""A paint device that writes what a QPainter draws as SVG 1.1.

Qt has QSvgGenerator for this. Its version in Qt 6.11 has three faults that a plot meets:

- After `QPainter.restore` it keeps the clip of the state that was left. Every item that is painted after a
  label is then clipped to the box of the label, and renderers that honor clips show nothing of it.
- It writes data coordinates with six digits below a transform: a curve whose values differ in the sixth
  digit becomes a staircase.
- It keeps lines thin by `vector-effect`, which librsvg and others do not support: they draw a line of one
  pixel as wide as a unit of the data.

The SVG exporter of pyqtgraph parses what QSvgGenerator writes and fails with the `Z` of Qt 6.11.

Here its page has another engine: geometry is mapped to the page before it is written, and the clip follows
every change that QPainter reports. Pens and brushes have one color, as those of plots do.
"""

from __future__ import annotations

import base64
import math
from itertools import zip_longest
from xml.etree import ElementTree

from PyQt6.QtCore import QBuffer, QIODevice, QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QImage,
    QPaintDevice,
    QPaintEngine,
    QPaintEngineState,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QTextItem,
)
from PyQt6.QtSvg import QSvgGenerator

from nrsfm_gui.widgets.labels import known

CAPS = {Qt.PenCapStyle.FlatCap: "butt", Qt.PenCapStyle.SquareCap: "square", Qt.PenCapStyle.RoundCap: "round"}
JOINS = {Qt.PenJoinStyle.BevelJoin: "bevel", Qt.PenJoinStyle.RoundJoin: "round"}
KIND = QPainterPath.ElementType
COMMANDS = {KIND.MoveToElement: "M", KIND.LineToElement: "L", KIND.CurveToElement: "C"}
LEAST_CELL = 2.0  # units of the page, from which pixels of a picture are seen as cells
CELL_PIXELS = 2  # that each unit of the page has then
LEAST_STEP = 0.1  # pixels between two vertices of a line
Sides = tuple[float, float]
CLIP_CHANGES = QPaintEngine.DirtyFlag.DirtyClipPath | QPaintEngine.DirtyFlag.DirtyClipRegion


class SvgGenerator(QSvgGenerator):
    """A page to paint on; `svg` is the document once the painter has ended.

    `size`: of the page in units of the drawing, which are CSS pixels; `centimeters`: width and height of the
    page on paper; None for as many CSS pixels as it has units.
    """

    def __init__(
        self, size: QSize, *, resolution: int, title: str, name: str, centimeters: Sides | None = None
    ) -> None:
        super().__init__()
        self.setSize(size)
        self.setResolution(resolution)
        self.setTitle(title)
        self._centimeters = centimeters
        self._engine = _SvgPaintEngine(name)

    @property
    def svg(self) -> str:
        """The document."""
        width, height = self._centimeters or (self.width(), self.height())
        unit = "cm" if self._centimeters else ""
        names = {"xmlns": "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink"}
        size = {"width": f"{width:g}{unit}", "height": f"{height:g}{unit}"}
        view = {"viewBox": f"0 0 {self.width()} {self.height()}"}
        root = ElementTree.Element("svg", names | {"version": "1.1"} | size | view)
        ElementTree.SubElement(root, "title").text = self.title()
        root.extend([self._engine.clips, *self._engine.groups])
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    def paintEngine(self) -> QPaintEngine:
        """Return what the painter draws with."""
        return self._engine


class _SvgPaintEngine(QPaintEngine):
    """Makes elements of primitives, clipped, in page coordinates."""

    def __init__(self, name: str) -> None:
        super().__init__(QPaintEngine.PaintEngineFeature.AllFeatures)
        self._name = name
        # In page coordinates; the painter stores whether it is enabled.
        self._clip: QPainterPath | None = None
        self._clip_names: dict[str, str] = {}  # by the data of the path
        self.clips = ElementTree.Element("defs")
        self.groups: list[ElementTree.Element] = []  # each with one clip or none

    def type(self) -> QPaintEngine.Type:
        return QPaintEngine.Type.User

    def begin(self, device: QPaintDevice | None) -> bool:
        return True

    def end(self) -> bool:
        return True

    def updateState(self, state: QPaintEngineState) -> None:
        """Follow the clip; after a restore QPainter repeats every clip of the state that is back."""
        changed = state.state() & CLIP_CHANGES
        if not changed:
            return
        if state.clipOperation() == Qt.ClipOperation.NoClip:
            self._clip = None
            return
        path = QPainterPath()
        if changed & QPaintEngine.DirtyFlag.DirtyClipPath:
            path = state.clipPath()
        else:
            path.addRegion(state.clipRegion())
        path = state.transform().map(path)
        if state.clipOperation() == Qt.ClipOperation.IntersectClip and self._clip is not None:
            path = self._clip.intersected(path)
        self._clip = path

    def drawPath(self, path: QPainterPath) -> None:
        self._add_path(path, filled=self._painter().brush().style() != Qt.BrushStyle.NoBrush)

    def drawPolygon(self, points: list[QPointF], mode: QPaintEngine.PolygonDrawMode) -> None:  # type: ignore[override]
        """Add a polygon, or a line, which is not filled."""
        path = QPainterPath(points[0])
        for point in points[1:]:
            path.lineTo(point)
        if mode == QPaintEngine.PolygonDrawMode.PolylineMode:
            self._add_path(path, filled=False)
            return
        path.closeSubpath()
        if mode == QPaintEngine.PolygonDrawMode.WindingMode:
            path.setFillRule(Qt.FillRule.WindingFill)
        self.drawPath(path)

    def drawTextItem(self, place: QPointF, item: QTextItem) -> None:
        look = _font(item.font()) | _paint("fill", self._painter().pen().color())
        where = {"x": _number(place.x()), "y": _number(place.y())} | self._transform()
        self._add("text", where | look | {"xml:space": "preserve"}).text = item.text()

    def drawPixmap(self, place: QRectF, pixmap: QPixmap, part: QRectF) -> None:
        picture = pixmap.copy(part.toAlignedRect())
        painter = self._painter()
        length = math.sqrt(abs(painter.transform().determinant()) * place.width() * place.height())
        larger = length / math.sqrt(max(picture.width() * picture.height(), 1))
        if larger >= LEAST_CELL and not painter.renderHints() & QPainter.RenderHint.SmoothPixmapTransform:
            # Renderers smooth pictures that they enlarge, whatever `image-rendering` says.
            picture = picture.scaled(picture.size() * round(CELL_PIXELS * larger))
        encoded = base64.b64encode(png_bytes(picture)).decode("ascii")
        sides = {"x": place.x(), "y": place.y(), "width": place.width(), "height": place.height()}
        where = {name: _number(value) for name, value in sides.items()} | self._transform()
        content = {"preserveAspectRatio": "none", "xlink:href": f"data:image/png;base64,{encoded}"}
        self._add("image", where | content)

    # -- elements --------------------------------------------------------------------------------------------

    def _painter(self) -> QPainter:
        return known(self.painter())

    def _transform(self) -> dict[str, str]:
        transform = self._painter().transform()
        if transform.isIdentity():
            return {}
        turned = (transform.m11(), transform.m12(), transform.m21(), transform.m22())
        numbers = [f"{value:.6g}" for value in turned] + [_number(transform.dx()), _number(transform.dy())]
        return {"transform": f"matrix({','.join(numbers)})"}

    def _add(self, tag: str, attributes: dict[str, str]) -> ElementTree.Element:
        """Add an element to a group with the present clip; return it."""
        painter, of_group = self._painter(), {}
        if painter.hasClipping() and self._clip is not None:
            data = _data(self._clip)
            if data not in self._clip_names:
                self._clip_names[data] = f"{self._name}-clip-{len(self._clip_names) + 1}"
                clip = ElementTree.SubElement(self.clips, "clipPath", id=self._clip_names[data])
                ElementTree.SubElement(clip, "path", d=data)
            of_group = {"clip-path": f"url(#{self._clip_names[data]})"}
        if not self.groups or self.groups[-1].attrib != of_group:
            self.groups.append(ElementTree.Element("g", of_group))
        if painter.opacity() < 1.0:
            attributes["opacity"] = f"{painter.opacity():.3g}"
        return ElementTree.SubElement(self.groups[-1], tag, attributes)

    def _add_path(self, path: QPainterPath, *, filled: bool) -> None:
        """Add a path that the painter gives in its own coordinates."""
        painter = self._painter()
        pen, transform = painter.pen(), painter.transform()
        look = {"fill": "none"}
        if filled:
            look = _paint("fill", painter.brush().color())
            if path.fillRule() == Qt.FillRule.OddEvenFill:
                look["fill-rule"] = "evenodd"
        if pen.style() != Qt.PenStyle.NoPen:
            look |= _stroke(pen, 1.0 if pen.isCosmetic() else math.sqrt(abs(transform.determinant())))
        elif not filled:
            return
        self._add("path", {"d": _data(transform.map(path))} | look)


def png_bytes(picture: QImage | QPixmap) -> bytes:
    """Return the PNG file of a picture: Qt's writers report no full disk, so Python writes what they make."""
    content = QBuffer()
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(content, "PNG")
    return bytes(content.data().data())


def _number(value: float) -> str:
    """Return a coordinate to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _data(path: QPainterPath) -> str:
    """Return the data of a path, without vertices that are not seen: a long run has a hundred per pixel."""
    elements = [path.elementAt(k) for k in range(path.elementCount())]
    parts, x, y = [], math.inf, math.inf
    for element, following in zip_longest(elements, elements[1:]):
        unseen = abs(element.x - x) < LEAST_STEP and abs(element.y - y) < LEAST_STEP
        inside = element.type == following.type == KIND.LineToElement if following is not None else False
        if not (unseen and inside):
            x, y = element.x, element.y
            # The further points of a curve follow it without a command.
            parts.append(f"{COMMANDS.get(element.type, '')}{_number(x)},{_number(y)}")
    return " ".join(parts)


def _paint(name: str, color: QColor) -> dict[str, str]:
    """Return a color as the attributes `fill` or `stroke`."""
    opacity = {f"{name}-opacity": f"{color.alphaF():.3g}"} if color.alpha() < 255 else {}
    return {name: color.name()} | opacity


def _stroke(pen: QPen, scale: float) -> dict[str, str]:
    width = (pen.widthF() or 1.0) * scale
    look = _paint("stroke", pen.color()) | {"stroke-width": _number(width)}
    look |= {"stroke-linecap": CAPS[pen.capStyle()], "stroke-linejoin": JOINS.get(pen.joinStyle(), "miter")}
    if pen.style() != Qt.PenStyle.SolidLine:
        look["stroke-dasharray"] = ",".join(_number(length * width) for length in pen.dashPattern())
        look["stroke-dashoffset"] = _number(pen.dashOffset() * width)
    return look


def _font(font: QFont) -> dict[str, str]:
    """Return the attributes of the font that is drawn with; elsewhere it may be another one."""
    found = QFontInfo(font)
    look = {"font-family": f"{found.family()}, sans-serif", "font-size": str(found.pixelSize())}
    look |= {} if found.weight() == 400 else {"font-weight": str(found.weight())}
    return look | ({"font-style": "italic"} if found.italic() else {})
