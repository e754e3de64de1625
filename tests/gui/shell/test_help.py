"""Help: the method on one page, an explanation of every panel, and the first steps of a new user."""

import re

import pytest
from hands import button_of
from PyQt6.QtCore import Qt, QUrl
from PyQt6.QtGui import QGuiApplication, QImage, QWhatsThisClickedEvent
from PyQt6.QtWidgets import QApplication, QMainWindow, QToolButton, QWidget

from core import Settings, simulate
from core.foundation import asset_folder, help_page
from core.reconstruction import VERDICT_KINDS
from nrsfm_gui.model.theme import DARK, LIGHT
from nrsfm_gui.shell.help import HelpController
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.text.help_pages import BIBTEX, method_page, panel_texts
from nrsfm_gui.widgets.style import apply_theme

NO_KEY = Qt.KeyboardModifier.NoModifier
QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=10, points=24, noise=0.3, seed=2)


@pytest.fixture
def window(make_window, sequence):
    return make_window(sequence, settings=QUICK)


@pytest.fixture
def pages(show):
    """Return what opens the windows of help over an empty one."""
    window = QMainWindow()
    show(window, 400, 300)
    return HelpController(window, scene_view=QWidget(window), timeline=QWidget(window))


# -- the formats ----------------------------------------------------------------------------------------


def test_the_formats_of_files_are_a_page_of_their_own(pages):
    pages.show_formats()
    text = pages.pages["formats.md"].browser.toPlainText()
    for words in ("--layout", "truth_reference", ".trajectories.csv", "session.json"):
        assert words in text
    assert pages.pages["formats.md"].windowTitle() == "File formats"
    pages.pages["formats.md"].close()


def test_how_far_a_result_can_be_trusted_is_a_page_that_explains_every_verdict(pages):
    pages.show_result_help()
    page = pages.pages["is_my_result_good.md"]
    text = " ".join(page.browser.toPlainText().split())
    assert page.windowTitle() == "Is my result good?"
    assert all(worth in text for worth in VERDICT_KINDS.values())
    page.close()


# -- own tracks -----------------------------------------------------------------------------------------


def test_the_lines_of_each_tracker_are_copied_by_their_link(pages):
    pages.show_own_tracks()
    page = pages.pages["own_tracks.md"]
    blocks = re.findall(r"^```python\n(.*?)^```$", help_page("own_tracks.md"), re.MULTILINE | re.DOTALL)
    links = re.findall(r'href="(code:\d+)"', page.browser.toHtml())
    assert len(links) == len(blocks) > 5
    for link, block in zip(links, blocks, strict=True):
        page.browser.anchorClicked.emit(QUrl(link))
        assert QGuiApplication.clipboard().text() == block
        compile(block, "block", "exec")
    page.close()


def test_lines_of_code_stand_on_a_ground_of_their_own_in_both_themes(qapp, pages):
    pages.show_own_tracks()
    page = pages.pages["own_tracks.md"]
    for theme in (DARK, LIGHT):
        apply_theme(qapp, theme)
        found = page.browser.document().find("core.write_tracks(").block().blockFormat()
        assert found.background().color().name() == theme.window
    page.close()


# -- the page -------------------------------------------------------------------------------------------


def test_pages_that_are_not_installed_are_reported_in_their_windows(pages, monkeypatch):
    monkeypatch.setattr("core.foundation.assets.asset_folder", lambda name: None)
    pages.show_formats()
    pages.show_own_tracks()
    pages.show_result_help()
    pages.show_page()
    assert len(pages.pages) == 3
    for page in (*pages.pages.values(), pages.page):
        text = page.browser.toPlainText().strip()
        assert text == "the page is not installed: the folder assets/help is missing"


def test_the_page_has_its_pictures_in_both_themes(qapp, pages):
    pages.show_page()
    browser = pages.page.browser
    for theme in (DARK, LIGHT):
        apply_theme(qapp, theme)
        assert theme.text in method_page(theme)
        assert "$" not in browser.toPlainText()
    names = re.findall(r"img src='([^']+)'", method_page(DARK))
    assert len(names) == 3
    for name in names:
        picture = QImage(str(asset_folder("help") / name))
        assert picture.width() > 400
        loaded = browser.loadResource(2, QUrl(name))  # 2: an image
        assert loaded is not None
    for word in ("rank K", "weights", "eta", "Iglesias", "Jensen"):
        assert word in browser.toPlainText()


def test_the_citations_are_copied_as_bibtex(qtbot, pages):
    pages.show_page()
    page = pages.page
    page.browser.anchorClicked.emit(QUrl("copy:bibtex"))
    assert QGuiApplication.clipboard().text() == BIBTEX
    assert BIBTEX.count("{") == BIBTEX.count("}")
    QGuiApplication.clipboard().clear()
    button_of(page, "Copy BibTeX").click()
    assert "@inproceedings" in QGuiApplication.clipboard().text()


# -- what is this ---------------------------------------------------------------------------------------


def test_every_panel_shows_what_it_is_and_has_a_button_for_it(window):
    for dock in docks(window):
        assert dock.windowTitle() in panel_texts(), dock.windowTitle()
        assert panel_texts()[dock.windowTitle()] in dock.whatsThis()
        texts = [button.text() for button in dock.titleBarWidget().findChildren(QToolButton)]
        assert "?" in texts, dock.windowTitle()
    assert window.scene_view.whatsThis()
    assert window.timeline.parentWidget().whatsThis()


def test_the_button_opens_an_explanation_whose_link_opens_the_page(window):
    dock = next(dock for dock in docks(window) if dock.windowTitle() == "Numbers")
    before = set(QApplication.topLevelWidgets())
    dock.titleBarWidget().question.click()
    opened = [each for each in QApplication.topLevelWidgets() if each not in before and each.isVisible()]
    assert opened
    QApplication.sendEvent(dock, QWhatsThisClickedEvent("help"))
    assert window.help_controller.page.isVisible()


def test_panels_are_floated_docked_and_closed_by_the_buttons_of_their_title(window):
    dock = next(dock for dock in docks(window) if dock.windowTitle() == "Loss")
    names = {button.accessibleName(): button for button in dock.titleBarWidget().findChildren(QToolButton)}
    names["Take Loss out"].click()
    assert dock.isFloating()
    names["Take Loss out"].click()
    assert not dock.isFloating()
    names["Close Loss"].click()
    assert dock.isHidden()


def test_the_page_fits_the_screen_and_closes_by_key(qtbot, pages):
    for key, held in ((Qt.Key.Key_Escape, NO_KEY), (Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier)):
        pages.show_page()
        page = pages.page
        qtbot.waitUntil(page.isActiveWindow)
        room = page.screen().availableSize()
        assert page.width() <= room.width() and page.height() <= room.height() - 40
        qtbot.keyClick(page.browser, key, held)
        assert not page.isVisible()


def test_every_line_of_the_contents_leads_to_its_place(qtbot, pages):
    pages.show_page()
    page = pages.page
    qtbot.waitUntil(page.isVisible)
    page.resize(700, 400)
    places = []
    for name in re.findall(r'href="#(\w+)"', method_page(DARK)):
        page.browser.verticalScrollBar().setValue(0)
        page.browser.anchorClicked.emit(QUrl(f"#{name}"))
        places.append(page.browser.verticalScrollBar().value())
    assert len(places) == 7 and places == sorted(places) and places[0] > 100
    assert len(set(places)) >= 4  # the last ones share the end of the page
