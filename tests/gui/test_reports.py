"""Reports: found, read, remembered; what is missing is said."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from PyQt6.QtCore import QUrl
from PyQt6.QtGui import QDesktopServices, QGuiApplication, QImage
from PyQt6.QtWidgets import QLineEdit, QPushButton

from core import InputError
from core.experiments.document import (
    Cell,
    Heading,
    Paragraph,
    Picture,
    Pictures,
    Row,
    Table,
    as_html,
    as_markdown,
)
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.reports.report_page import page_for
from nrsfm_gui.reports.reports import find_reports, report_at
from nrsfm_gui.reports.reports_window import ReportsWindow

if TYPE_CHECKING:
    from pathlib import Path


def make_report(
    folder: Path, title: str = "Table 1 & more", *, age: float = 0.0, pages=("html", "md")
) -> Path:
    """Write a report with two pictures, of which one is not there."""
    (folder / "pictures").mkdir(parents=True)
    red = QImage(800, 100, QImage.Format.Format_RGB32)
    red.fill(0xFF2020)
    red.save(str(folder / "pictures" / "one.png"))
    blocks = [
        Heading(title, 1),
        Paragraph("Made of `stand-ins`.", note=True),
        Table("Errors in mm", ("sequence", "ours"), (Row((Cell("dance"), Cell("12.3", strong=True))),)),
        Pictures((Picture("pictures/one.png", "Curves", 5000), Picture("pictures/gone.png", "Gone", 300))),
    ]
    for suffix in pages:
        page = folder / f"report.{suffix}"
        page.write_text(as_html(blocks, title) if suffix == "html" else as_markdown(blocks), encoding="utf-8")
        stamp = page.stat().st_mtime - age
        os.utime(page, (stamp, stamp))
    return folder


@pytest.fixture
def open_window(show, store):
    def make(*folders: Path) -> ReportsWindow:
        window = ReportsWindow(store, folders=list(folders))
        window.set_theme(DARK)
        show(window)
        return window

    return make


def press(window: ReportsWindow, title: str) -> None:
    next(b for b in window.findChildren(QPushButton) if b.text() == title and b.isVisibleTo(window)).click()


def test_reports_are_found_below_a_folder_newest_first_with_their_titles(tmp_path):
    make_report(tmp_path / "old", "Old", age=100)
    make_report(tmp_path / "new")
    make_report(tmp_path / "elsewhere" / "deep", "Elsewhere", age=50)
    (tmp_path / "no report").mkdir()
    found = find_reports([tmp_path, tmp_path / "absent"], [])
    assert [report.title for report in found] == ["Table 1 & more", "Old"]
    known = tmp_path / "elsewhere" / "deep" / "report.html"
    found = find_reports([tmp_path], [known, tmp_path / "new"])
    assert [report.title for report in found] == ["Table 1 & more", "Elsewhere", "Old"]


def test_markdown_alone_is_a_report_too(tmp_path):
    report = report_at(make_report(tmp_path / "one", pages=("md",)))
    assert (report.page.name, report.title) == ("report.md", "Table 1 & more")


@pytest.mark.parametrize("name", ["", "pictures", "pictures/one.png", "absent"])
def test_what_is_no_report_is_refused_with_what_is_accepted(tmp_path, name):
    make_report(tmp_path, pages=())
    with pytest.raises(InputError, match=r"accepted (is|are)"):
        report_at(tmp_path / name)


def test_without_reports_the_page_says_how_to_make_one(tmp_path, open_window):
    window = open_window(tmp_path)
    command = window.findChild(QLineEdit, "making")
    assert command.isVisibleTo(window)
    assert command.text().startswith("nrsfm reproduce table1")
    press(window, "Copy")
    assert QGuiApplication.clipboard().text() == command.text()
    make_report(tmp_path / "first")
    press(window, "Look again")
    assert not command.isVisibleTo(window)
    assert window.shown.title == "Table 1 & more"


@pytest.mark.parametrize("pages", [("html",), ("md",)])
def test_a_report_is_shown_with_its_tables_and_pictures_and_what_is_missing(
    tmp_path, near, open_window, pages
):
    make_report(tmp_path / "one", pages=pages)
    window = open_window(tmp_path)
    text = window.view.toPlainText()
    for words in ("Table 1 & more", "Made of stand-ins.", "Errors in mm", "dance", "12.3", "Curves"):
        assert words in text
    assert window.view.missing == {"pictures/gone.png"}
    assert near(window.view.grab().toImage(), "#ff2020", tolerance=4).sum() > 5000


def test_no_picture_is_wider_than_the_view_even_when_that_changes(qtbot, tmp_path, open_window):
    make_report(tmp_path / "one")
    window = open_window(tmp_path)
    for width in (1200, 800):
        window.resize(width, 700)
        qtbot.waitUntil(lambda: window.view.horizontalScrollBar().maximum() == 0)
        qtbot.waitUntil(
            lambda: abs(window.view.document().size().width() - window.view.viewport().width()) < 2
        )


def test_pictures_outside_the_folder_are_not_read(tmp_path, open_window):
    make_report(tmp_path / "one")
    secret = make_report(tmp_path / "two", "Other", age=9) / "pictures" / "one.png"
    page = tmp_path / "one" / "report.html"
    page.write_text(
        f'<h1>x</h1><img src="../two/pictures/one.png"><img src="{secret}"><img src="http://a.b/c.png">'
    )
    window = open_window(tmp_path)
    assert window.shown.title == "x"
    assert len(window.view.missing) == 3


@pytest.mark.parametrize(
    "name", [400 * "a" + ".png", 5000 * "b/" + "c.png", "a%00b.png", "%2e%2e/%2e%2e/x.png"]
)
def test_a_picture_whose_name_no_file_can_have_is_missing(tmp_path, open_window, name):
    make_report(tmp_path / "one")
    (tmp_path / "one" / "report.html").write_text(f'<h1>x</h1><img src="{name}"><p>after</p>')
    window = open_window(tmp_path)
    assert len(window.view.missing) == 1
    assert "after" in window.view.toPlainText()


def test_links_open_outside_relative_to_the_report(tmp_path, monkeypatch, open_window):
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda link: opened.append(link) or True)
    folder = make_report(tmp_path / "one")
    window = open_window(tmp_path)
    window.view.anchorClicked.emit(QUrl("pictures/one.png"))
    window.view.anchorClicked.emit(QUrl("https://example.org/a"))
    press(window, "Open in browser")
    press(window, "Open folder")
    expected = [folder / "pictures" / "one.png", "https://example.org/a", folder / "report.html", folder]
    assert [link.toLocalFile() or link.toString() for link in opened] == [str(entry) for entry in expected]
    assert window.messages.text == ""
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _link: False)
    press(window, "Open folder")
    assert "No program was found" in window.messages.text


def test_an_opened_report_is_remembered_and_one_that_is_gone_forgotten(tmp_path, store, open_window):
    elsewhere = make_report(tmp_path / "elsewhere" / "deep", "Elsewhere")
    make_report(tmp_path / "reports" / "near", "Near")
    window = open_window(tmp_path / "reports")
    assert window.list.count() == 1
    window.open_report(elsewhere)
    assert window.shown.title == "Elsewhere"
    assert open_window(tmp_path / "reports").list.count() == 2
    for name in ("report.html", "report.md"):
        (elsewhere / name).unlink()
    assert open_window(tmp_path / "reports").list.count() == 1
    window.open_report(elsewhere)
    assert "holds no report" in window.messages.text


def test_a_report_that_changed_is_read_again_where_it_was(tmp_path, open_window):
    folder = make_report(tmp_path / "one")
    make_report(tmp_path / "two", "Newer")
    window = open_window(tmp_path)
    window.open_report(folder)
    (folder / "report.html").write_text("<h1>Second edition</h1>")
    window.refresh()
    assert window.shown.title == "Second edition"
    assert "Second edition" in window.view.toPlainText()


def test_each_theme_has_its_own_ink(tmp_path, near, open_window):
    make_report(tmp_path / "one")
    window = open_window(tmp_path)
    for theme in (LIGHT, DARK):
        window.set_theme(theme)
        assert near(window.view.grab().toImage(), theme.text, tolerance=30).sum() > 100


def test_styles_and_scripts_of_a_page_are_left_out():
    page = page_for("<html><head><title>t</title></head><body><style>p{}</style><script>x</script><p>y", 500)
    assert "<style" not in page and "x" not in page.replace("</", "")
    assert "y" in page
