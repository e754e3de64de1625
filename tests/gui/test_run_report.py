"""The report of a run: what it says, that it stands by itself, and that a person can read it."""

from __future__ import annotations

import html.parser
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PyQt6.QtCore import QBuffer, QByteArray, QSize
from PyQt6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PyQt6.QtWidgets import QLabel

from core import Settings, command_for, load_result, procrustes_mm, simulate
from nrsfm_gui.export.movie_files import pixels
from nrsfm_gui.export.report_charts import HEIGHT, WIDTH, Mark, line_chart, spectrum_chart
from nrsfm_gui.export.run_report import make_report, worst_frames
from nrsfm_gui.export.run_report_html import html_report
from nrsfm_gui.export.run_report_pdf import pdf_report
from nrsfm_gui.model.nice_ticks import ticks
from nrsfm_gui.scene.shapes import build_shapes

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, starts=1)


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=8, points=20, noise=0.3, seed=2)


@pytest.fixture
def window(qtbot, make_window, sequence):
    window = make_window(sequence, settings=QUICK)
    window.run_from_scratch()
    qtbot.waitUntil(
        lambda: window.session.shown is not None and window.control.current is None, timeout=30_000
    )
    window.display.refresh()
    return window


class Reader(html.parser.HTMLParser):
    """Text, and where pictures come from; complains of tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.words, self.sources = [], [], []

    def handle_starttag(self, tag, attrs):
        self.sources += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_a_page_stands_by_itself_and_says_what_the_core_says(qtbot, window, tmp_path):
    run = window.session.shown
    with qtbot.waitSignal(window.exporting.saved, timeout=20_000):
        window.exporting.save_report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(page)
    assert not reader.open
    assert len(reader.sources) == 1 and reader.sources[0].startswith("data:image/png;base64,")
    assert not re.search(r"<script|<link|@import|url\(", page)
    text = " ".join(" ".join(reader.words).split())
    error = procrustes_mm(run.last.geometry.points, run.sequence.truth)
    assert f"{error.mean:.3f} mm" in text or f"{error.mean:.2f} mm" in text
    assert "per-frame similarity" in text and f"{np.log10(run.last.best.loss):.4f}".replace("-", "−") in text
    worst = int(np.argmax(error.per_frame)) + 1
    assert f"worst: {worst}" in text
    assert " ".join(command_for(run.sequence, QUICK).split()) in text and "from core import" in text
    assert "rank 2" in text and "numpy" in text


def test_a_pdf_has_one_page_that_is_not_empty(qtbot, window, tmp_path):
    pdf = pytest.importorskip("PyQt6.QtPdf")
    with qtbot.waitSignal(window.exporting.saved, timeout=20_000):
        window.exporting.save_report(tmp_path / "r.pdf")
    document = pdf.QPdfDocument(None)
    assert document.load(str(tmp_path / "r.pdf")) == pdf.QPdfDocument.Error.None_
    assert document.pageCount() == 1
    words = document.getAllText(0).text()
    for expected in ("paper circle", "per-frame similarity", "Worst frames", "nrsfm solve", "WNN"):
        assert expected in words
    page = QImage(595, 842, QImage.Format.Format_RGB888)
    page.fill(QColor("white"))
    painter = QPainter(page)
    painter.drawImage(0, 0, document.render(0, QSize(595, 842)))
    painter.end()
    rows = pixels(page).min(axis=2)
    ink = rows < 128
    assert ink.mean() > 0.01
    margins = np.ones_like(ink)
    margins[20:-20, 20:-20] = False
    assert not (ink & margins).any()


def test_code_of_a_pdf_is_whole_or_says_where_the_rest_is(window):
    pdf = pytest.importorskip("PyQt6.QtPdf")
    run = window.session.shown
    report = make_report(run, build_shapes(run.sequence, run.last), b"", "none")
    for length in (3, 40, 600):
        command = "nrsfm solve " + " ".join(f"--option{k}" for k in range(length))
        lines = [f"step{k:03} = 1" for k in range(length)]
        content = pdf_report(replace(report, command=command, python="\n".join(lines)))
        device, document = QBuffer(), pdf.QPdfDocument(None)
        device.setData(QByteArray(content))
        device.open(QBuffer.OpenModeFlag.ReadOnly)
        document.load(device)
        words = document.getAllText(0).text()
        assert document.pageCount() == 1
        assert ("Copy as command" if length == 600 else f"--option{length - 1}") in words
        shown = [int(number) for number in re.findall(r"step(\d+) = 1", words)]
        assert shown == list(range(len(shown)))
        if length == 3:
            assert len(shown) == length and "more lines" not in words
        elif shown:
            assert f"and {length - len(shown)} more lines: in the menu Edit, Copy as Python" in words
        else:
            assert "too long for this page: in the menu Edit, Copy as Python" in words


def test_a_report_at_an_earlier_moment_is_of_that_moment(window):
    run = window.session.shown
    index, seen = run.moments.at(0)
    assert index < len(run.history) - 1
    shapes = build_shapes(run.sequence, seen)
    report = make_report(run.as_of(0), shapes, b"", "nothing")
    last = make_report(run, build_shapes(run.sequence, run.last), b"", "nothing")
    assert report.tiles[0] != last.tiles[0]
    assert report.tiles[-1][1] == f"computing time, {seen.record.iteration} iterations"
    assert report.loss.count(",") < last.loss.count(",")


def test_what_is_saved_of_an_earlier_moment_is_of_the_parameters_of_then(qtbot, window, tmp_path):
    session = window.session
    session.set_settings(QUICK.with_changes(eta=0.3))
    qtbot.waitUntil(lambda: window.control.current is None and session.shown.settings.eta == 0.3)
    run = session.shown
    tick = next(tick for tick in run.history.ticks if tick.first == 0)
    assert tick.before.eta == QUICK.eta
    session.set_settings(QUICK.with_changes(eta=0.1))
    qtbot.waitUntil(lambda: window.control.current is None and run.settings.eta == 0.1)
    window.steering.look_at(run.moments.indices[0])
    seen = session.seen
    assert session.moment is not None and seen.settings.eta == 0.3
    for name in ("r.npz", "r.html"):
        save = window.exporting.save_report if name == "r.html" else window.exporting.save_reconstruction
        with qtbot.waitSignal(window.exporting.saved, timeout=20_000):
            save(tmp_path / name)
    result = load_result(tmp_path / "r.npz")
    assert result.eta == result.meta["settings"]["eta"] == 0.3
    assert result.loss == pytest.approx(seen.shown.loss, rel=1e-12)
    assert result.iterations == len(result.history) - 1 == seen.record.iteration
    assert "<th>eta</th><td>0.3</td>" in (tmp_path / "r.html").read_text(encoding="utf-8")
    window.exporting.copy_python()
    assert "as it was at iteration" in window.messages.text
    assert "eta=0.1" not in QGuiApplication.clipboard().text()
    shown = [label.text() for label in window.numbers.findChildren(QLabel)]
    assert shown[shown.index("iterations") + 1] == str(seen.record.iteration)


def test_names_and_notes_are_text_and_not_markup(window):
    run = window.session.shown
    run.title, run.note = "<b>bold</b> & brave", "<script>alert(1)</script>"
    page = html_report(make_report(run, build_shapes(run.sequence, run.last), b"", "<i>"))
    assert "<b>bold" not in page and "<script" not in page and "&lt;script&gt;" in page


def test_what_cannot_be_reported_is_refused(qtbot, make_window, sequence, window, tmp_path):
    with qtbot.waitSignal(window.exporting.failed) as failed:
        window.exporting.save_report(tmp_path / "r.doc")
    assert "accepted for reports are .html, .pdf" in failed.args[0]
    with qtbot.waitSignal(window.exporting.failed, timeout=10_000) as failed:
        window.exporting.save_report(tmp_path / "gone" / "r.pdf")
    assert "gone does not exist" in failed.args[0]
    window.session.set_shown(None)
    with qtbot.waitSignal(window.exporting.failed) as failed:
        window.exporting.save_report(tmp_path / "r.html")
    assert "there is no reconstruction yet" in failed.args[0]


@pytest.mark.parametrize("suffix", [".html", ".pdf", ".png", ".svg"])
def test_a_full_disk_is_noticed(qtbot, window, tmp_path, suffix):
    """Qt's own writers end as if all were well."""
    resource = pytest.importorskip("resource")
    folder = tmp_path / "full"
    folder.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with qtbot.waitSignal(window.exporting.failed, timeout=10_000) as failed:
            if suffix in (".html", ".pdf"):
                window.exporting.save_report(folder / f"a{suffix}")
            elif suffix == ".png":
                window.exporting.save_picture("view", folder / "a.png")
            else:
                window.exporting.save_plot("loss", folder / f"a{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "cannot be written: File too large" in failed.args[0]
    qtbot.waitUntil(lambda: not window.exporting.busy)
    assert not list(folder.iterdir())


def test_worst_frames_come_first_and_unknown_ones_not_at_all():
    assert worst_frames(np.array([1.0, np.nan, 5.0, 3.0, np.nan]), 4) == [2, 3, 0]
    assert worst_frames(np.full(3, np.nan)) == []


def polyline(svg):
    """Return the vertices of the curve of a chart."""
    tree = ElementTree.fromstring(svg)
    line = next(item for item in tree.iter() if item.tag.endswith("polyline"))
    return np.array([[float(number) for number in pair.split(",")] for pair in line.get("points").split()])


def test_a_curve_is_drawn_to_scale_and_ends_at_the_axes():
    x = np.arange(11.0)
    places = polyline(line_chart(x, 3 * x - 5, x_label="x", y_label="y"))
    assert np.allclose(np.diff(places[:, 0]), np.diff(places[:, 0])[0], atol=0.11)
    assert np.allclose(np.diff(places[:, 1]), np.diff(places[:, 1])[0], atol=0.11)
    assert np.diff(places[:, 1])[0] < 0  # larger values are higher up
    assert (places >= 0).all() and (places[:, 0] <= WIDTH).all() and (places[:, 1] <= HEIGHT).all()


def test_many_values_keep_their_extremes():
    y = np.sin(np.linspace(0, 60, 50_000))
    y[31_234] = 9.0
    svg = line_chart(np.arange(50_000.0), y, x_label="x", y_label="y")
    places = polyline(svg)
    assert len(places) < 2000 and len(svg) < 60_000
    top = places[places[:, 1].argmin()]
    left, right = places[0, 0], places[-1, 0]
    assert (top[0] - left) / (right - left) == pytest.approx(31_234 / 50_000, abs=2e-3)


@pytest.mark.parametrize(
    "y", [np.full(5, np.nan), np.zeros(5), np.array([1, np.nan, 2, np.nan, 3.0]), np.array([4.0])]
)
def test_odd_curves_are_drawn_too(y):
    marks = (Mark(1.0, "<worst>"),)
    svg = line_chart(np.arange(float(len(y))), y, x_label="a & b", y_label="y", marks=marks, filled=True)
    assert "nan" not in svg and "inf" not in svg
    ElementTree.fromstring(svg)


def test_bars_are_as_high_as_the_logarithms():
    svg = spectrum_chart(np.array([100.0, 10.0, 1.0, 0.0]), np.array([0.0, 0.1, 1.0, 1.0]))
    tree = ElementTree.fromstring(svg)
    bars = [item for item in tree.iter() if item.tag.endswith("rect")][:4]
    heights = [float(bar.get("height")) for bar in bars]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.11)
    assert heights[3] == 0
    assert "no singular values" in spectrum_chart(np.zeros(3), np.zeros(3))


def test_ticks_are_round_and_inside():
    for low, high in ((0, 1), (-3.2, 4.1), (1e-9, 3e-9), (12345, 12399)):
        found = ticks(low, high)
        assert 2 <= len(found) <= 8 and low - 1e-9 <= found[0] and found[-1] <= high + 1e-9
        step = found[1] - found[0]
        mantissa = step / 10.0 ** np.floor(np.log10(step) + 1e-9)
        assert min(abs(mantissa - wanted) for wanted in (1, 2, 5, 10)) < 1e-6
