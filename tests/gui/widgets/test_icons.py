"""The SVG files of the icons: all can be drawn, in the color that is asked for, at any size."""

import numpy as np
from PyQt6.QtCore import QSize
from PyQt6.QtGui import QIcon, QImage, QPalette
from PyQt6.QtSvg import QSvgRenderer

from core.foundation import asset_folder
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.panels.timeline.transport import LOOPS, TIPS
from nrsfm_gui.shell.actions import ACTIONS
from nrsfm_gui.widgets.icons import icon
from nrsfm_gui.widgets.style import apply_theme

NAMES = sorted(path.stem for path in asset_folder("icons").glob("*.svg"))


def rgba(shown, side, mode=QIcon.Mode.Normal):
    """Return the (side, side, 4) bytes of an icon: red, green, blue, opacity."""
    picture = shown.pixmap(QSize(side, side), 1.0, mode).toImage()
    picture = picture.convertToFormat(QImage.Format.Format_RGBA8888)
    assert (picture.width(), picture.height()) == (side, side)
    bits = picture.constBits()
    bits.setsize(picture.sizeInBytes())
    return np.frombuffer(bits, np.uint8).reshape(side, side, 4).copy()


def test_every_drawing_is_valid_and_square(qapp):
    for name in NAMES:
        renderer = QSvgRenderer(str(asset_folder("icons") / f"{name}.svg"))
        assert renderer.isValid(), name
        assert renderer.viewBoxF().width() == renderer.viewBoxF().height(), name


def test_an_icon_is_drawn_in_the_colors_of_its_states(qapp):
    icons = [icon(name, disabled=QPalette.ColorRole.Mid) for name in NAMES if name != "application"]
    for theme in (DARK, LIGHT):
        apply_theme(theme)  # after they were made
        for shown in icons:
            for mode, color in ((QIcon.Mode.Normal, theme.text), (QIcon.Mode.Disabled, theme.border)):
                pixels = rgba(shown, 64, mode)
                solid = pixels[pixels[..., 3] == 255]
                assert len(solid) > 100
                assert (solid[:, :3] == [int(color[k : k + 2], 16) for k in (1, 3, 5)]).all()


def test_an_icon_is_as_crisp_at_a_fractional_scale_as_at_an_integer_one(qapp):
    shown = icon("stop")
    for side in (20, 25, 30, 50):  # 100, 125, 150 and 250 percent of a 20 x 20 square
        opacity = rgba(shown, side)[side // 2, :, 3]
        blurred = np.count_nonzero((opacity > 0) & (opacity < 255))
        assert blurred <= 2, side  # at most one pixel on either edge


def test_every_named_icon_has_a_drawing():
    table = {spec.icon for spec in ACTIONS if spec.icon}
    named = table | set(TIPS) | {name for name, _tip in LOOPS.values()}
    assert named | {"pause", "worst", "float", "close", "pin", "note", "application"} == set(NAMES)
