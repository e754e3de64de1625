"""Plots of losses and of the spectrum, saved as pictures and as drawings."""

from pathlib import Path

import numpy as np
import pyqtgraph as pg
import pytest
from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QGraphicsRectItem, QTabWidget
from scipy.ndimage import binary_dilation

from core import InputError
from core.foundation import Phase, PhaseKind
from nrsfm_gui.model.theme import DARK, LIGHT, PAPER
from nrsfm_gui.panels.loss.loss_curves import LossState
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
from nrsfm_gui.panels.parameters.spectrum_state import SpectrumState
from nrsfm_gui.widgets.plots.plot_export import FigureSize, save_figure, save_image
from nrsfm_gui.widgets.style import palette

SIZE = FigureSize(13.229, 7.9375, 192)  # 500 x 300 units of a drawing, 1000 x 600 pixels of a PNG


def save(shown, path):
    save_figure(shown.figure, path, SIZE)


@pytest.fixture
def spectrum(show):
    spectrum = SpectrumPlot()
    spectrum.setPalette(palette(DARK))
    show(spectrum, 400, 300)
    spectrum.set_state(SpectrumState((0.01, 0.02, 0.5), (10.0, 3.0, 0.5)))
    return spectrum


def covers(mask, other, *, within=4):
    """Return the share of the pixels of another mask that are close to a pixel of a mask."""
    return (binary_dilation(mask, iterations=within) & other).sum() / max(other.sum(), 1)


@pytest.mark.parametrize("which", ["loss", "spectrum"])
def test_vector_plots_show_what_the_picture_shows(
    qtbot, plot, spectrum, tmp_path, which, near, history, read_pdf
):
    falling = history(60, phase=Phase(PhaseKind.ROTATIONS, 1, 3))
    falling.extend(history(200).records[60:])
    plot.set_state(LossState({1: falling}, 1))
    shown = plot if which == "loss" else spectrum
    shown.setPalette(palette(LIGHT))
    qtbot.wait(30)
    for suffix in (".png", ".pdf"):
        save(shown, tmp_path / f"plot{suffix}")
    expected, found = QImage(str(tmp_path / "plot.png")), read_pdf(tmp_path / "plot.pdf")[0]
    # The curve, the labels and the axes of the loss; the diamonds, the labels and the axes of the spectrum.
    colors = {"loss": (PAPER.accent, PAPER.muted, PAPER.border), "spectrum": (PAPER.residual, PAPER.border)}
    for color in colors[which]:
        before, after = (near(image, color, tolerance=60) for image in (expected, found))
        assert before.sum() > 500 and after.sum() > 500, color
        if color != PAPER.border:  # lines are as wide, but for those of the axes
            assert before.sum() == pytest.approx(after.sum(), rel=0.1), color
        assert covers(after, before) > 0.97, color
        # A line of one pixel that lies between two has half the color in a picture.
        assert covers(near(expected, color, tolerance=100), after) > 0.97, color


def test_a_curve_that_leaves_the_axes_ends_there(plot, item, tmp_path, near, history, read_pdf):
    plot.set_state(LossState({1: history(200, top=1e6)}, 1))
    plot.plot_widget.setRange(xRange=(0, 199), yRange=(4.2, 4.6), padding=0)
    save(plot, path := tmp_path / "plot.pdf")
    rows = near(read_pdf(path)[0], PAPER.accent).any(axis=1)
    assert np.flatnonzero(rows)[-1] < 600 - 2 * item.getAxis("bottom").height() + 4


def test_a_curve_whose_values_hardly_differ_is_no_staircase(plot, item, tmp_path, near, read_pdf):
    """Coordinates of the data need more digits than coordinates of the page."""
    low, fall = -7.123456, 2e-7
    x = np.arange(200.0)
    item.addItem(pg.PlotCurveItem(x, low - fall * x, pen=pg.mkPen(PAPER.accent)))
    plot.plot_widget.setRange(xRange=(0, 199), yRange=(low - 199 * fall, low), padding=0)
    save(plot, path := tmp_path / "plot.pdf")
    y, x = np.nonzero(near(read_pdf(path)[0], PAPER.accent, tolerance=60))
    line = np.polynomial.Polynomial.fit(x, y, 1)
    assert len(x) > 700 and np.abs(line(x) - y).max() < 4


def test_what_only_serves_the_mouse_is_left_out_of_exports(plot, spectrum, tmp_path, history, near, read_pdf):
    def picture():
        save(plot, tmp_path / "loss.png")
        return QImage(str(tmp_path / "loss.png"))

    plot.set_state(LossState({1: history(200)}, 1))
    before = picture()  # the line of the iteration that is shown stands at the end of the curve
    plot.set_moment(60)
    assert plot._cursor.line.isVisible() and picture() == before
    items = spectrum.canvas.scene().items()
    rectangles = [item for item in items if isinstance(item, QGraphicsRectItem) and item.isVisible()]
    (frame,) = (each for each in rectangles if each.pen().style() == Qt.PenStyle.DashLine)
    save(spectrum, tmp_path / "spectrum.pdf")
    image, words = read_pdf(tmp_path / "spectrum.pdf")
    with spectrum.figure.layout(SIZE.pixels):
        place = frame.mapRectToScene(frame.rect())  # for one more basis shape
    # Two pixels to each unit of the page; the lower half of the place is at the axis.
    area = QRectF(2 * place.left(), 2 * place.top(), 2 * place.width(), place.height()).adjusted(-2, -2, 2, 0)
    assert near(image.copy(area.toRect()), PAPER.panel).all() and "+" not in words
    assert frame.isVisible()


def test_a_figure_names_the_curves_that_it_shows_above_the_plot(plot, tmp_path, history, legend_of, read_pdf):
    far = history(100, top=1e6)
    plot.set_state(LossState({1: history(200), 2: far, 3: history(150)}, 1, {1: "A", 2: "B", 3: "C"}))
    plot.plot_widget.setYRange(-3.0, 1.0, padding=0)
    save(plot, path := tmp_path / "loss.pdf")
    words = read_pdf(path)[1]
    assert legend_of(plot) == ["1 A", "3 C"]
    plot.plot_widget.setYRange(-3.0, 7.0, padding=0)
    assert legend_of(plot) == ["1 A", "3 C", "2 B"]
    assert "1A3C" in words and "2B" not in words


def test_a_plot_whose_tab_is_hidden_is_saved_as_if_it_were_shown(qtbot, show, tmp_path, history):
    plot, tabs = LossPlot(), QTabWidget()
    plot.setPalette(palette(DARK))
    tabs.addTab(SpectrumPlot(), "weights")
    tabs.addTab(plot, "loss")
    show(tabs, 460, 300)
    plot.set_state(LossState({1: history(200)}, 1))
    assert not plot.isVisible()
    save(plot, tmp_path / "hidden.png")
    tabs.setCurrentWidget(plot)
    qtbot.wait(30)
    before = plot.plot_widget.size()
    save(plot, tmp_path / "shown.png")
    assert plot.plot_widget.size() == before
    hidden, shown = (QImage(str(tmp_path / f"{name}.png")) for name in ("hidden", "shown"))
    assert hidden.size() == QSize(1000, 600)
    assert hidden == shown


def test_a_format_that_is_not_known_is_refused(plot, tmp_path):
    with pytest.raises(InputError, match=r"\.gif; accepted for figures are \.png, \.pdf"):
        save(plot, tmp_path / "plot.gif")
    with pytest.raises(InputError, match=r"accepted for pictures is \.png"):
        save_image(QImage(4, 4, QImage.Format.Format_RGB32), tmp_path / "picture.jpg")
    with pytest.raises(InputError, match="does not exist"):
        save(plot, Path("/nowhere/plot.png"))


def test_long_names_of_runs_share_the_width_of_the_page(plot, tmp_path, history, read_pdf):
    many = "rank 4, xi 0.1, weights 0.179, 0.179, 1, in many words"
    histories = {number: history(60) for number in (1, 2, 3)}
    plot.set_state(LossState(histories, 1, {number: f"{number} {many}" for number in histories}))
    save(plot, path := tmp_path / "loss.pdf")
    words = read_pdf(path)[1]
    assert words.count("rank4") == words.count("…") == 3 and "manywords" not in words
    plot.set_state(LossState(histories, 1, {number: f"{number} short" for number in histories}))
    save(plot, path)
    assert read_pdf(path)[1].count("short") == 3
