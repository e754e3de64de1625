"""Figures for papers: their size, colors and content, read by programs that did not write them."""

import re

import numpy as np
import pytest
from PyQt6.QtGui import QGuiApplication, QImage

from core import InputError
from nrsfm_gui.export.export_request import parse_frames
from nrsfm_gui.export.figures import make_figure
from nrsfm_gui.model.theme import DARK, PAPER
from nrsfm_gui.panels.guidance.guidance_panel import GuidancePlot
from nrsfm_gui.panels.points.points_panel import PointsController, PointsPanel
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.widgets.plots.plot_export import FIGURE_FORMATS, FigureSize
from nrsfm_gui.widgets.style import palette

COLUMN = FigureSize(8.5, 5.0, 150)  # a column of a paper
PIXELS = (502, 295)  # of it at 150 dots per inch


@pytest.mark.parametrize(
    ("text", "frames"),
    [("1, 3 6", (0, 2, 5)), ("4 4", (3, 3)), ("3 evenly", (0, 2, 5)), ("99", None), ("0", None), ("", None),
     ("a", None), ("25 evenly", None), ("0 evenly", None), ("1-3", None), ("9 evenly", (0, 1, 2, 3, 4, 5))],
)  # fmt: skip
def test_frames_of_a_row_are_numbers_or_evenly_spaced(text, frames):
    if frames is None:
        with pytest.raises(InputError, match=r"frames are .*; accepted are up to 24 of the frames 1 to 6"):
            parse_frames(text, 6)
    else:
        assert parse_frames(text, 6) == frames


def test_every_figure_has_its_size_on_paper_and_its_words_in_every_format(plotted, tmp_path, near, read_pdf):
    widget = plotted.loss_plot.plot_widget
    plotted.loss_plot.setPalette(palette(DARK))
    size = widget.size()
    for name in ("shapes", "loss", "tracks", "spectrum", "errors", "heat"):
        for suffix in FIGURE_FORMATS if name in ("shapes", "loss") else (".pdf",):
            path = tmp_path / f"{name}{suffix}"
            plotted.export_controller.save_figure(name, path, COLUMN, shapes="1, 6")
            content = path.read_bytes()
            if suffix == ".png":
                image = QImage(str(path))
                assert (image.width(), image.height()) == pytest.approx(PIXELS, abs=2)
                assert image.dotsPerMeterX() == 5906
                assert image.pixelColor(1, image.height() - 2).name() == PAPER.panel
            else:
                box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
                assert box is not None
                sides = [float(side) / 72 * 2.54 for side in box.groups()]
                assert sides == pytest.approx((8.5, 5.0), abs=0.02)
    for name, texts in (
        ("shapes", ("frame1", "frame6", "estimate", "groundtruth")),
        ("loss", ("computingtime(s)", "log10")),
        ("heat", ("frame", "point", "3-Derror")),
    ):
        words = read_pdf(tmp_path / f"{name}.pdf")[1]
        assert all(text in words for text in texts), (name, words)
    assert widget.size() == size and near(widget.grab().toImage(), DARK.panel, tolerance=4).mean() > 0.5


def test_a_row_has_each_frame_in_blue_and_red_and_a_heat_map_its_scale(solved, tmp_path, read_pdf, near):
    def drawn(name):
        path, size = tmp_path / "a.pdf", FigureSize(10.0, 6.0)
        solved.export_controller.save_figure(name, path, size, shapes="1, 3, 6")
        return read_pdf(path, (378, 227))[0]

    image = drawn("shapes")
    body = slice(round(0.12 * image.height()), None)  # below the legend
    for color in (PAPER.estimate, PAPER.truth):
        mask = near(image, color, tolerance=90)[body]
        counts = [int(part.sum()) for part in np.array_split(mask, 3, axis=1)]
        assert min(counts) > 10, (color, counts)
    image = drawn("heat")
    colors = {image.pixelColor(x, image.height() // 2).name() for x in range(0, image.width(), 3)}
    assert len(colors) > 6  # the errors of a row differ
    rows = range(10, image.height() - 30, 3)
    right = range(image.width() - 120, image.width() - 1)
    bar = max(({image.pixelColor(x, y).name() for y in rows} for x in right), key=len)
    assert len(bar) > 0.8 * len(rows)  # the scale is a gradient


def test_a_figure_of_nothing_is_refused_in_a_sentence(parts, tmp_path):
    said: list[str] = []
    parts.session.notifier.failed.connect(said.append)
    parts.export_controller.save_figure("errors", tmp_path / "errors.pdf", COLUMN)
    assert said == ["There is no figure of the error by frame: there is no reconstruction yet"]
    assert not list(tmp_path.iterdir())


def test_curves_of_selected_points_have_paper_colors_while_their_panel_is_hidden(
    qtbot, solved, tmp_path, near, read_pdf
):
    panel, exporting = PointsPanel(), solved.export_controller
    qtbot.addWidget(panel)
    panel.curves.setPalette(palette(DARK))
    panels = {"points": panel.curves.figure, "guidance": GuidancePlot().figure}
    for name, first in (("points", "select points first"), ("guidance", "run Guidance first")):
        with pytest.raises(InputError, match=first):
            make_figure(exporting.views, panels, name)
    PointsController(solved.session, solved.display, panel)
    exporting._figures["points"] = panel.curves.figure
    solved.session.set_selection((2, 4))
    exporting.save_figure("points", tmp_path / "points.pdf", COLUMN)
    image, words = read_pdf(tmp_path / "points.pdf", PIXELS)
    assert words.startswith("point3point5")
    assert near(image, PAPER.accent).any() and near(image, PAPER.panel).mean() > 0.5
    assert all(near(image, color, tolerance=4).mean() < 1e-3 for color in (DARK.panel, DARK.accent))


def test_the_names_of_axes_are_on_the_page(plotted):
    with plotted.loss_plot.figure.layout(FigureSize().pixels):
        widget = plotted.loss_plot.plot_widget
        names = [widget.getPlotItem().getAxis(side).label for side in ("left", "right", "bottom")]
        shown = [name for name in names if name.isVisible()]
        assert len(shown) >= 2
        for name in shown:
            area = name.mapRectToScene(name.boundingRect())
            assert area.left() >= 0 and area.right() <= widget.width(), name.toPlainText()


def test_a_picture_without_background_is_transparent_where_nothing_is_drawn(qtbot, solved):
    for software in (False, True):
        view = qtbot.addWidget(SceneView(software=software))
        view.resize(320, 240)
        view.set_scene(solved.display.scene)
        image = view.render_image(320, 240, labels=False, transparent=True)
        alpha = np.array(
            [[image.pixelColor(x, y).alpha() for x in range(0, 320, 4)] for y in range(0, 240, 4)]
        )
        assert (alpha == 0).mean() > 0.3 and (alpha == 255).sum() > 20
        assert image.pixelColor(1, 1).alpha() == 0
    solved.export_controller.copy_view()
    image = QGuiApplication.clipboard().image()
    assert not image.isNull() and image.hasAlphaChannel()
    assert image.pixelColor(image.width() - 2, image.height() // 2).alpha() == 0
