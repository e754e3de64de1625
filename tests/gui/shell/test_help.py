"""Help: the method on one page, pages with lines to copy, and an explanation of every panel."""

import re
from pathlib import Path

import pytest
from hands import button_of
from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtGui import QGuiApplication, QImage, QWhatsThisClickedEvent
from PyQt6.QtWidgets import QApplication, QLabel, QMainWindow, QToolButton, QWidget

from core.foundation import asset_folder, help_page
from core.reconstruction import VERDICT_KINDS
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.shell.help import METHOD, PAGES, HelpController, about_text
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.text.help_pages import method_page, panel_texts
from nrsfm_gui.widgets.style import apply_theme


@pytest.fixture
def page_of(show):
    """Return a function that opens a page of help over an empty window."""
    window = show(QMainWindow(), 400, 300)
    controller = HelpController(window, scene_view=QWidget(window), timeline=QWidget(window))

    def opened(file):
        controller.show_page(file)
        return controller.pages[file]

    yield opened
    for page in controller.pages.values():
        page.close()


def test_the_text_about_the_application_says_what_the_readme_says():
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    aim = readme.split("\n\n")[1].partition(", in a window")[0].replace("\n", " ")
    assert f"<p>{aim}.</p>" in about_text()


def test_the_formats_and_every_verdict_have_their_place_on_a_page(page_of):
    page = page_of("formats.md")
    assert page.windowTitle() == "File formats"
    for words in ("--layout", "truth_reference", ".trajectories.csv", "session.json"):
        assert words in page.browser.toPlainText()
    text = " ".join(page_of("is_my_result_good.md").browser.toPlainText().split())
    assert all(worth in text for worth in VERDICT_KINDS.values())


def test_the_lines_of_each_tracker_are_copied_by_their_link_and_have_a_ground_of_their_own(qapp, page_of):
    page = page_of("own_tracks.md")
    blocks = re.findall(r"^```python\n(.*?)^```$", help_page("own_tracks.md"), re.MULTILINE | re.DOTALL)
    links = re.findall(r'href="(code:\d+)"', page.browser.toHtml())
    assert len(links) == len(blocks) > 5
    for link, block in zip(links, blocks, strict=True):
        page.browser.anchorClicked.emit(QUrl(link))
        assert QGuiApplication.clipboard().text() == block
        compile(block, "block", "exec")
    for theme in (DARK, LIGHT):
        apply_theme(theme)
        found = page.browser.document().find("core.write_tracks(").block().blockFormat()
        assert found.background().color().name() == theme.window


def test_pages_that_are_not_installed_are_reported_in_their_windows(page_of, monkeypatch):
    monkeypatch.setattr("core.foundation.assets.asset_folder", lambda name: None)
    for file in PAGES:
        text = page_of(file).browser.toPlainText().strip()
        assert text == "the page is not installed: the folder assets/help is missing"


def test_without_its_page_no_citations_are_copied(page_of, monkeypatch, tmp_path):
    monkeypatch.setattr("core.foundation.assets.asset_folder", lambda name: tmp_path)
    QGuiApplication.clipboard().setText("before")
    page = page_of(METHOD)
    assert page.browser.toPlainText() == f"the page is not installed: {tmp_path / METHOD} is missing"
    button_of(page, "Copy BibTeX").click()
    said = [label.text() for label in page.findChildren(QLabel)]
    assert said == ["The page with the citations is not installed"]
    assert QGuiApplication.clipboard().text() == "before"


def test_the_page_has_its_pictures_in_both_themes(qapp, page_of):
    browser = page_of(METHOD).browser
    for theme in (DARK, LIGHT):
        apply_theme(theme)
        assert theme.muted in browser.toHtml()
        assert "$" not in browser.toPlainText()
    names = re.findall(r"img src='([^']+)'", method_page(DARK))
    assert len(names) == 3
    for name in names:
        assert QImage(str(asset_folder("help") / name)).width() > 400
        assert browser.loadResource(2, QUrl(name)) is not None  # 2: an image


def test_the_citations_are_copied_as_bibtex(page_of):
    page = page_of(METHOD)
    page.browser.anchorClicked.emit(QUrl("copy:bibtex"))
    copied = QGuiApplication.clipboard().text()
    assert re.findall(r"^@\w+\{(\w+),$", copied, re.MULTILINE) == [
        "iglesias2020accurate",
        "jensen2020benchmark",
    ]
    assert copied.endswith("\n}\n") and copied.count("{") == copied.count("}")
    QGuiApplication.clipboard().clear()
    button_of(page, "Copy BibTeX").click()
    assert QGuiApplication.clipboard().text() == copied


def test_the_page_fits_the_screen_leads_to_its_places_and_closes_by_key(qtbot, page_of):
    page = page_of(METHOD)
    room = page.screen().availableSize()
    assert page.width() <= room.width() and page.height() <= room.height() - 40
    page.resize(700, 400)
    places = []
    for name in re.findall(r'href="#(\w+)"', method_page(DARK)):
        page.browser.verticalScrollBar().setValue(0)
        page.browser.anchorClicked.emit(QUrl(f"#{name}"))
        places.append(page.browser.verticalScrollBar().value())
    assert len(places) == 7 and places == sorted(places) and places[0] > 100
    assert len(set(places)) >= 4  # the last ones share the end of the page
    qtbot.waitUntil(page.isActiveWindow)
    qtbot.keyClick(page.browser, Qt.Key.Key_Escape)
    assert not page.isVisible()


def test_every_panel_explains_itself_and_is_floated_docked_and_closed_by_its_buttons(make_window):
    window = make_window()
    for dock in docks(window):
        assert panel_texts()[dock.windowTitle()] in dock.whatsThis()
        assert "?" in {button.text() for button in dock.titleBarWidget().findChildren(QToolButton)}
    assert window.scene_view.whatsThis() and window.timeline.parentWidget().whatsThis()
    dock = next(dock for dock in docks(window) if dock.windowTitle() == "Loss")
    before = set(QApplication.topLevelWidgets())
    dock.titleBarWidget().question.click()
    assert any(each.isVisible() for each in set(QApplication.topLevelWidgets()) - before)
    QApplication.sendEvent(dock, QWhatsThisClickedEvent("help"))
    assert window.help_controller.pages[METHOD].isVisible()
    names = {button.accessibleName(): button for button in dock.titleBarWidget().findChildren(QToolButton)}
    names["Take Loss out"].click()
    assert dock.isFloating()
    names["Take Loss out"].click()
    assert not dock.isFloating()
    names["Close Loss"].click()
    assert dock.isHidden()
