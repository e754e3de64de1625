"""Plots of losses and of the spectrum, saved as pictures and as drawings."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PyQt6.QtCore import QSize
from PyQt6.QtGui import QColor, QImage, QPainter
from PyQt6.QtPdf import QPdfDocument
from PyQt6.QtSvg import QSvgRenderer
from PyQt6.QtWidgets import QTabWidget

from core.arrays import InputError
from nrsfm_gui.theme import DARK, LIGHT
from nrsfm_gui.views.loss_plot import LossPlot
from nrsfm_gui.views.plots import save_image, save_plot
from nrsfm_gui.views.spectrum_plot import SpectrumPlot


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
@pytest.mark.parametrize("which", ["loss", "spectrum"])
def test_plots_are_saved_whole_in_every_format(qtbot, plot, tmp_path, suffix, which, near, history):
    spectrum = SpectrumPlot()
    spectrum.set_theme(DARK)
    spectrum.resize(400, 300)
    qtbot.addWidget(spectrum)
    spectrum.show()
    spectrum.set_values(np.array([10.0, 3.0, 0.5]), np.array([0.01, 0.02, 0.5]))
    plot.set_histories({1: history(50)}, 1)
    path = tmp_path / f"plot{suffix}"
    widget = plot.plot_widget if which == "loss" else spectrum.plot_widget
    save_plot(widget, path)
    content = path.read_bytes()
    if suffix == ".png":
        image = QImage(str(path))
        assert image.size() == QSize(2000, 1200)
        color = DARK.accent if which == "loss" else DARK.residual
        assert near(image, color).sum() > 30
    elif suffix == ".svg":
        text = content.decode()
        assert "<svg" in text
        assert "</svg>" in text
        assert text.count("<path") + text.count("<polyline") > 5
        assert ("log10" if which == "loss" else "weight a") in text
    else:
        assert content.startswith(b"%PDF")
        assert b"%%EOF" in content[-16:]
    assert list(tmp_path.iterdir()) == [path]


def rendered(path: Path) -> QImage:
    """Return the picture of an exported plot, 2000 pixels wide, as another program would show it."""
    if path.suffix == ".png":
        return QImage(str(path))
    image = QImage(2000, 1200, QImage.Format.Format_RGB32)
    if path.suffix == ".svg":
        image.fill(QColor("white"))
        painter = QPainter(image)
        QSvgRenderer(str(path)).render(painter)
        painter.end()
        return image
    document = QPdfDocument(None)
    assert document.load(str(path)) is QPdfDocument.Error.None_
    assert document.pageCount() == 1
    image = document.render(0, image.size())
    document.close()
    return image


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_vector_plots_have_axes_labels_and_curve_where_the_picture_has_them(
    qtbot, plot, tmp_path, suffix, near, history, edges
):
    plot.set_theme(LIGHT)
    plot.set_histories({1: history(200)}, 1)
    qtbot.wait(30)
    for name in (".png", suffix):
        save_plot(plot.plot_widget, tmp_path / f"plot{name}")
    expected, found = (rendered(tmp_path / f"plot{name}") for name in (".png", suffix))
    for color in (LIGHT.accent, LIGHT.muted, LIGHT.border):  # curve, labels, lines of the axes
        before, after = (edges(near(image, color, tolerance=60)) for image in (expected, found))
        assert np.abs(before - after).max() <= 6, color
    # All of the labels, not only their outermost edges: the columns that are written on below the axis.
    written = [near(image, LIGHT.muted, tolerance=90)[1100:].any(axis=0) for image in (expected, found)]
    assert (written[0] == written[1]).mean() > 0.9


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_curve_that_leaves_the_axes_ends_there_in_every_format(
    plot, tmp_path, suffix, near, history, edges
):
    plot.set_histories({1: history(200, top=1e6)}, 1)
    plot.plot_widget.setYRange(4.2, 4.6, padding=0)
    plot.plot_widget.setXRange(0, 199, padding=0)
    path = tmp_path / f"plot{suffix}"
    save_plot(plot.plot_widget, path)
    if suffix == ".svg":  # Qt's renderer does not clip; other programs do, where the file says so
        root = ElementTree.parse(path).getroot()
        clipped = [
            inner
            for outer in root.iter("{http://www.w3.org/2000/svg}g")
            if "clip-path" in outer.attrib
            for inner in outer.iter()
            if inner.get("stroke") == DARK.accent
        ]
        assert clipped
        return
    bottom = edges(near(rendered(path), DARK.accent))[3]
    assert bottom < 1200 - 2 * plot.plot_widget.getPlotItem().getAxis("bottom").height() + 4


def test_a_plot_whose_tab_is_hidden_is_saved_as_if_it_were_shown(qtbot, show, tmp_path, history):
    plot, tabs = LossPlot(), QTabWidget()
    plot.set_theme(DARK)
    tabs.addTab(SpectrumPlot(), "weights")
    tabs.addTab(plot, "loss")
    show(tabs, 460, 300)
    plot.set_histories({1: history(200)}, 1)
    assert not plot.isVisible()
    save_plot(plot.plot_widget, tmp_path / "hidden.png")
    tabs.setCurrentWidget(plot)
    qtbot.wait(30)
    before = plot.plot_widget.size()
    save_plot(plot.plot_widget, tmp_path / "shown.png")
    assert plot.plot_widget.size() == before
    hidden, shown = (QImage(str(tmp_path / f"{name}.png")) for name in ("hidden", "shown"))
    assert hidden.size() == QSize(2000, 1200)
    assert hidden == shown


def test_a_format_that_is_not_known_is_refused(plot, tmp_path):
    with pytest.raises(InputError, match=r"\.gif; accepted for plots are \.png, \.svg, \.pdf"):
        save_plot(plot.plot_widget, tmp_path / "plot.gif")
    with pytest.raises(InputError, match=r"accepted for pictures is \.png"):
        save_image(QImage(4, 4, QImage.Format.Format_RGB32), tmp_path / "picture.jpg")
    with pytest.raises(InputError, match="does not exist"):
        save_plot(plot.plot_widget, Path("/nowhere/plot.png"))
