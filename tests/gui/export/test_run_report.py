"""The report of a run: what it says, that it stands by itself, and that a person can read it."""

import base64
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hands import files_of_at_most
from PyQt6.QtGui import QGuiApplication, QImage
from PyQt6.QtWidgets import QLabel
from reconstructions import build_shapes

from core import HistoryEntry, Settings, command_for, load_result, procrustes_mm, simulate
from core.foundation import Phase, PhaseKind
from nrsfm_gui.export import run_report
from nrsfm_gui.export.figures import error_plot, worst_frames
from nrsfm_gui.export.run_report import CHART, CHART_SCALE, PICTURE, TEMPLATE, report_page
from nrsfm_gui.model.history import History
from nrsfm_gui.model.numbers import MINUS
from nrsfm_gui.model.theme import LIGHT, PAPER
from nrsfm_gui.panels.loss.loss_curves import LossState
from nrsfm_gui.panels.loss.loss_plot import EVERYTHING, LossPlot
from nrsfm_gui.panels.numbers.numbers_panel import NumbersController, NumbersPanel
from nrsfm_gui.scene.scene import ErrorSeries
from nrsfm_gui.widgets.plots.plot_export import FigureSize, PlotFigure, figure_image, save_figure
from nrsfm_gui.widgets.style import palette

INSIDE = "data:image/png;base64,"


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=8, points=20, noise=0.3, seed=2)


def test_a_page_is_self_contained_and_has_the_numbers_of_the_core_and_the_plots_of_the_window(
    qtbot, plotted, tmp_path, near
):
    run = plotted.session.shown
    run.title, run.note = "<b>bold</b> & brave", "<script>alert(1)</script>"
    with qtbot.waitSignal(plotted.export_controller.saved):
        plotted.export_controller.save_report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    root = ElementTree.fromstring(page)  # whose tags match
    sources = [each.get(name) for each in root.iter() for name in ("src", "href") if name in each.attrib]
    assert len(sources) == 4 and all(each.startswith(INSIDE) for each in sources)
    assert page.count(f'width="{CHART.width()}" height="{CHART.height()}"') == 3 and len(page) < 400_000
    assert not re.search(r"<script|<link|@import|url\((?!#)", page)
    text = " ".join(" ".join(root.itertext()).split())
    error = procrustes_mm(run.last.geometry.points, run.sequence.truth)
    assert f"{error.mean:.3f} mm" in text or f"{error.mean:.2f} mm" in text
    assert "per-frame similarity" in text and f"{np.log10(run.last.best.loss):.4f}".replace("-", "−") in text
    worst = int(np.argmax(error.per_frame)) + 1
    (first,) = re.findall("<td>(.*?)</td>", page)[:1]  # of the worst frames
    assert first == str(worst) and "Worst frames" in text and "WNN" in text
    assert " ".join(command_for(run.sequence, run.settings).split()) in text and "from core import" in text
    assert "rank 2" in text and "numpy" in text
    assert list(tmp_path.iterdir()) == [tmp_path / "r.html"]
    assert "<b>bold" not in page and "&lt;script&gt;" in page  # names and notes are no markup
    check_pictures(plotted, page, near)


def pictures(page):
    """Return the pictures of a page by their titles."""
    return {
        each.get("alt"): QImage.fromData(base64.b64decode(each.get("src").removeprefix(INSIDE)))
        for each in ElementTree.fromstring(page).iter("img")
    }


def check_pictures(solved, page, near):
    """Compare the plots of a page with those of the window; they are on light paper."""
    found = pictures(page)
    assert list(found) == [
        "3-D view",
        "mean 3-D error of every frame, per-frame similarity",
        solved.loss_plot.plot_widget.accessibleName(),
        solved.spectrum_plot.canvas.accessibleName(),
    ]
    view, *charts = found.values()
    assert view.size() == PICTURE
    for image, color in zip(charts, (PAPER.accent, PAPER.accent, PAPER.residual), strict=True):
        assert image.size() == CHART * CHART_SCALE and near(image, PAPER.panel).mean() > 0.5
        axes = near(image, PAPER.border, tolerance=110)
        assert axes.sum(axis=1).max() > 0.7 * image.width()
        assert axes.sum(axis=0).max() > 0.6 * image.height()
        drawn = near(image, color, tolerance=90)
        assert drawn.any(axis=0).mean() > 0.2, color  # the curve, the diamonds and the line between them


@pytest.mark.slow
def test_a_page_of_a_refined_run_has_its_numbers_and_how_to_make_it_again(
    parts, sequence, add_solved_run, near
):
    settings = Settings(rank=2, rotations="truth", starts=1, isometry=0.2, noise=0.0)
    run = add_solved_run(parts.session, sequence, settings)
    page = report_page(run, build_shapes(run.sequence, run.last), b"", "none")
    assert f"{run.last.record.energy:.4f}".replace("-", MINUS) in page and "noise of the tracks" in page
    assert "<th>isometry</th><td>0.2</td>" in page and "<th>objective</th><td>depths</td>" in page
    spectrum = pictures(page)["singular values and their weights"]
    drawn = ~near(spectrum, PAPER.panel)[round(0.85 * spectrum.height())]
    assert (
        np.diff(drawn.astype(int)) == 1
    ).sum() == 6  # the bars are the modes that move: four between two axes
    assert "--isometry 0.2" in page and "isometry=0.2" in page and "--objective" not in page


def test_a_printed_page_is_no_narrow_screen():
    """A sheet of A4 is narrower than the screens that get the columns of a page one below the other."""
    style = TEMPLATE.read_text(encoding="utf-8")
    screen, paper = style.split("@media screen and (max-width: 760px)")[1].split("@media print")
    assert "grid-template-columns: 1fr;" in screen and "grid-template-columns" not in paper
    assert "@page { size: A4;" in paper and "break-inside: avoid" in paper


def test_a_report_at_an_earlier_moment_is_of_that_moment_and_its_code_is_never_cut(
    plotted, monkeypatch, near
):
    run = plotted.session.shown
    command = "nrsfm solve " + " ".join(f"--option{k}" for k in range(600))
    python = "\n".join(f"step{k:03} = 1" for k in range(600))
    for name, code in (("command_for", command), ("python_for", python)):
        monkeypatch.setattr(run_report, name, lambda *_, code=code: code)
    index, seen = run.snapshots.at(0)
    assert index < len(run.history) - 1
    page = report_page(run.as_of(0), build_shapes(run.sequence, seen), b"", "nothing")
    last = report_page(run, build_shapes(run.sequence, run.last), b"", "nothing")
    assert f"<pre>{command}</pre>" in page and f"<pre>{python}</pre>" in page
    losses = [re.findall('<div class="tile"><b>(.*?)</b>', each)[0] for each in (page, last)]
    assert losses[0] != losses[1]
    assert f"computing time, {seen.record.iteration} iterations" in page
    title = plotted.loss_plot.plot_widget.accessibleName()
    curves = [near(pictures(each)[title], PAPER.accent, tolerance=90) for each in (page, last)]
    assert curves[0].sum() < curves[1].sum()


@pytest.mark.slow
def test_what_is_saved_of_an_earlier_moment_is_of_the_parameters_of_then(qtbot, show, plotted, tmp_path):
    session, settings = plotted.session, plotted.session.settings
    session.set_settings(settings.with_changes(eta=0.3))
    qtbot.waitUntil(lambda: plotted.run_control.current is None and session.shown.settings.eta == 0.3)
    run = session.shown
    tick = next(tick for tick in run.history.ticks if tick.first == 0)
    assert tick.before.eta == settings.eta
    session.set_settings(settings.with_changes(eta=0.1))
    qtbot.waitUntil(lambda: plotted.run_control.current is None and run.settings.eta == 0.1)
    plotted.loss_controller.show_record(run.snapshots.indices[0])
    seen = session.seen
    assert session.moment is not None and seen.settings.eta == 0.3
    for name in ("r.npz", "r.html"):
        save = (
            plotted.export_controller.save_report
            if name == "r.html"
            else plotted.export_controller.save_reconstruction
        )
        with qtbot.waitSignal(plotted.export_controller.saved):
            save(tmp_path / name)
    result = load_result(tmp_path / "r.npz")
    assert result.eta == result.meta["settings"]["eta"] == 0.3
    assert result.loss == pytest.approx(seen.best.loss, rel=1e-12)
    assert result.iterations == len(result.history) - 1 == seen.record.iteration
    assert "<th>eta</th><td>0.3</td>" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with qtbot.waitSignal(plotted.export_controller.saved) as copied:
        plotted.export_controller.copy_recipe("Python program")
    assert "as it was at iteration" in copied.args[0]
    assert "eta=0.1" not in QGuiApplication.clipboard().text()
    numbers = show(NumbersPanel())
    controller = NumbersController(session, plotted.display, numbers)
    controller.flush()
    controller.shut_down()
    shown = [label.text() for label in numbers.findChildren(QLabel)]
    assert shown[shown.index("iterations") + 1] == str(seen.record.iteration)


def test_what_cannot_be_written_is_refused_and_a_full_disk_is_noticed(qtbot, plotted, tmp_path):
    """Qt's own writers end as if all were well on a full disk."""
    exporting = plotted.export_controller

    def refused(save):
        with qtbot.waitSignal(plotted.session.notifier.failed) as failed:
            save()
        assert not list(tmp_path.iterdir())
        return failed.args[0]

    for save in (
        lambda: exporting.save_report(tmp_path / "a.html"),
        lambda: exporting.save_view(tmp_path / "a.png"),
        lambda: exporting.save_figure("loss", tmp_path / "a.png"),
        lambda: exporting.save_figure("loss", tmp_path / "a.pdf"),
    ):
        with files_of_at_most(100):
            assert "cannot be written: File too large" in refused(save)
    for path, sentence in (
        ("r.doc", "accepted for reports is .html"),
        ("gone/r.html", "gone does not exist"),
    ):
        assert sentence in refused(lambda path=path: exporting.save_report(tmp_path / path))
    plotted.session.set_shown(None)
    assert "there is no reconstruction yet" in refused(lambda: exporting.save_report(tmp_path / "r.html"))


def test_worst_frames_come_first_and_unknown_ones_not_at_all():
    assert worst_frames(np.array([1.0, np.nan, 5.0, 3.0, np.nan]), 4) == [2, 3, 0]
    assert worst_frames(np.full(3, np.nan)) == []


def errors_of(per_frame, name="3-D error"):
    return ErrorSeries(per_frame, per_frame[:, None], "mm", name)


@pytest.mark.slow
def test_many_values_keep_their_extremes(qtbot, near):
    losses = np.exp(-np.linspace(0, 6, 50_000))
    losses[31_234] = 1e3
    plot = qtbot.addWidget(LossPlot())
    plot.setPalette(palette(LIGHT))
    history = History()
    history.extend(
        HistoryEntry(k, 1e-3 * k, float(loss), Phase(PhaseKind.REFINE)) for k, loss in enumerate(losses)
    )
    plot.header.mode.setCurrentText(EVERYTHING)
    plot.set_state(LossState({1: history}, 1))
    curve = near(figure_image(plot.figure, CHART, CHART_SCALE), PAPER.accent, tolerance=60)
    y, x = np.nonzero(curve[:, curve.shape[1] // 10 :])  # without the labels of the axis, which has its color
    top, left, right = np.median(x[y == y.min()]), x.min(), x.max()
    assert (top - left) / (right - left) == pytest.approx(31_234 / 50_000, abs=3e-3)


def test_odd_curves_are_drawn_too(qapp, tmp_path, near, read_pdf):
    for y in (np.full(5, np.nan), np.zeros(5), np.array([1, np.nan, 2, np.nan, 3.0]), np.array([4.0])):
        figure = PlotFigure(error_plot(errors_of(y, "a & b <error>")))
        save_figure(figure, path := tmp_path / "plot.pdf", FigureSize())
        image, words = read_pdf(path)
        assert "a&b<error>" in words and not re.search(r"nan|inf", words)
        assert near(image, PAPER.accent, tolerance=60).any() == np.isfinite(y).any()


def test_frames_without_an_error_leave_a_gap_and_no_area(qapp, near):
    y = np.full(40, 2.0)
    y[10:30] = np.nan
    image = figure_image(PlotFigure(error_plot(errors_of(y))), CHART, 1.0)
    curve = np.flatnonzero(near(image, PAPER.accent, tolerance=90)[10:60].any(axis=0))
    assert np.diff(curve).max() > 0.4 * CHART.width()  # between the parts, 21 of 40 frames
    middle = near(image, PAPER.panel, tolerance=6)[60:150, curve[0] : curve[-1]]
    assert middle.all(axis=0).sum() > 0.4 * CHART.width()
    assert (~middle).any(axis=0).sum() > 0.3 * CHART.width()
