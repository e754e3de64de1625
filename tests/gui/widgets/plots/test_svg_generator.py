"""What a painter draws on an SVG page, rendered by another program, against what it draws on an image."""

from xml.etree import ElementTree

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from nrsfm_gui.widgets.plots.svg_generator import SvgGenerator

SIZE = QSize(200, 120)
RED = QColor("#c02020")


def clips(painter):
    """Draw after a clip that was restored, within an intersection, and without any."""
    painter.setClipRect(QRectF(10, 10, 90, 90))
    painter.save()
    painter.setClipRect(QRectF(20, 20, 5, 5))
    painter.restore()
    painter.fillRect(QRectF(0, 0, 60, 60), RED)
    painter.save()
    painter.scale(50, -20)
    painter.setClipRect(QRectF(1.3, -4, 0.3, 1), Qt.ClipOperation.IntersectClip)
    painter.fillRect(QRectF(0, -6, 4, 6), RED)
    painter.restore()
    painter.setClipping(False)
    painter.fillRect(QRectF(120, 0, 80, 120), RED)


def lines(painter):
    """Draw thin lines in coordinates that are far from square, and a thick one in its own."""
    painter.save()
    painter.translate(0, 120)
    painter.scale(2000, -1e-3)
    pen = QPen(RED, 3)
    pen.setCosmetic(True)
    painter.setPen(pen)
    painter.drawPolyline(QPolygonF([QPointF(0.005, 1e4), QPointF(0.05, 1e5), QPointF(0.09, 2e4)]))
    painter.restore()
    painter.scale(2, 2)
    painter.setPen(QPen(RED, 4, Qt.PenStyle.DashLine, Qt.PenCapStyle.FlatCap))
    painter.drawLine(QPointF(5, 50), QPointF(95, 50))


def shapes(painter):
    """Draw a transparent circle, a curve, and a star by either rule."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(192, 32, 32, 128))
    painter.drawEllipse(QRectF(5, 5, 40, 60))
    star = QPolygonF([QPointF(80 + 30 * np.sin(k * 2.513), 40 - 30 * np.cos(k * 2.513)) for k in range(5)])
    painter.drawPolygon(star)
    painter.translate(70, 0)
    painter.setOpacity(0.5)
    painter.setBrush(RED)
    painter.drawPolygon(star, Qt.FillRule.WindingFill)
    path = QPainterPath(QPointF(-60, 110))
    path.cubicTo(-30, 60, 30, 140, 60, 90)
    painter.setOpacity(1.0)
    painter.strokePath(path, QPen(RED, 3))


def pictures(painter):
    pixmap = QPixmap(40, 40)
    pixmap.fill(RED)
    painter.fillRect(QRectF(150, 0, 20, 20), RED)
    painter.translate(60, 20)
    painter.rotate(30)
    painter.drawPixmap(QRectF(0, 0, 60, 30), pixmap, QRectF(5, 5, 20, 20))


def cells(painter):
    image = QImage(2, 2, QImage.Format.Format_RGB32)
    for place, color in enumerate(("red", "green", "blue", "black")):
        image.setPixelColor(place % 2, place // 2, QColor(color))
    painter.drawImage(QRectF(20, 10, 90, 60), image)


def painted(device, draw):
    painter = QPainter(device)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw(painter)
    painter.end()


def gray(image):
    picture = image.convertToFormat(QImage.Format.Format_Grayscale8)
    bits = picture.constBits().asarray(picture.sizeInBytes())
    raw = np.frombuffer(bits, np.uint8).reshape(picture.height(), picture.bytesPerLine())
    return raw[:, : picture.width()].astype(float)


def page():
    return SvgGenerator(SIZE, resolution=96, title="a <page>", name="page")


@pytest.mark.parametrize("draw", [clips, lines, shapes, pictures, cells])
def test_a_page_shows_what_an_image_shows(qapp, tmp_path, render_svg, draw):
    device, image = page(), QImage(SIZE, QImage.Format.Format_RGB32)
    path = tmp_path / "page.svg"

    def on_white(painter):
        painter.fillRect(QRectF(0, 0, 200, 120), QColor("white"))
        draw(painter)

    for target in (device, image):
        painted(target, on_white)
    path.write_text(device.svg, encoding="utf-8")
    expected, found = gray(image), gray(render_svg(path))
    drawn = expected < 250
    assert drawn.sum() > 500
    # Edges may differ by the smoothing of the two programs, areas may not.
    difference = np.abs(expected - found)
    assert difference.sum() / drawn.sum() < 1.5 and difference.max() < 64


def test_text_stays_text(qapp):
    device = page()

    def draw(painter):
        font = painter.font()
        font.setPixelSize(20)
        font.setBold(True)
        font.setItalic(True)
        painter.setFont(font)
        painter.setPen(RED)
        painter.rotate(90)
        painter.drawText(QPointF(10, -30), 'σ < 5 & "x"')

    painted(device, draw)
    assert device.svg.endswith("</svg>\n")
    root = ElementTree.fromstring(device.svg)
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "a <page>"
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert "".join(text.text for text in texts) == 'σ < 5 & "x"'
    look = {"font-size": "20", "font-weight": "700", "font-style": "italic", "fill": RED.name()}
    look["transform"] = "matrix(0,1,-1,0,0,0)"
    for text in texts:
        assert look.items() <= text.attrib.items() and text.get("font-family").endswith(", sans-serif")
