"""Windows of the help pages: the method, and the formats of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, QUrl
from PyQt6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QTextBrowser, QVBoxLayout, QWidget

from core.foundation import asset_folder
from nrsfm_gui.text.help_pages import BIBTEX, method_page
from nrsfm_gui.widgets.fit_to_screen import resize_within_screen
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

SIZE = QSize(900, 900)
COPY_BIBTEX = "copy:bibtex"


class HelpWindow(Themed, QWidget):
    """Shows one page of help; a subclass has its title and its text."""

    title = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(self.title)
        self.browser = QTextBrowser()
        self.browser.setOpenLinks(False)
        self.browser.setAccessibleName(self.title)
        self.browser.setToolTip("")
        document = self.browser.document()
        assert document is not None
        document.setDocumentMargin(24)
        folder = asset_folder("help")
        if folder is not None:
            self.browser.setSearchPaths([str(folder)])
        self.browser.anchorClicked.connect(self.follow)
        self._status = QLabel()
        self._status.setProperty("role", "muted")
        close = self._button("Close", "Close this window (Esc)")
        close.clicked.connect(self.close)
        self._row = row = QHBoxLayout()
        row.setContentsMargins(12, 4, 12, 10)
        row.addWidget(self._status, 1)
        row.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.browser, 1)
        layout.addLayout(row)
        for key in ("Esc", "Ctrl+W"):
            QShortcut(QKeySequence(key), self, self.close)
        self._follow_theme()
        resize_within_screen(self, SIZE)

    def _apply_theme(self, theme: Theme) -> None:
        """Show the page in the colors of a theme, at the place where it was."""
        bar = self.browser.verticalScrollBar()
        place = 0 if bar is None else bar.value()
        self._show_text(theme)
        if bar is not None:
            bar.setValue(place)

    def _show_text(self, theme: Theme) -> None:
        """Put the text of the page into the browser."""

    def follow(self, link: QUrl) -> None:
        """Go to the place of the page that a link names."""
        if link.hasFragment():
            self.browser.scrollToAnchor(link.fragment())

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        return button


class MethodWindow(HelpWindow):
    """The method on one page, with the citations to copy."""

    title = "The method on one page"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        copy = self._button("Copy BibTeX", "Copy the citations of the paper and of the benchmark")
        copy.clicked.connect(self.copy_citations)
        self._row.insertWidget(1, copy)

    def copy_citations(self) -> None:
        """Copy the citations, and say so."""
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(BIBTEX)
            self._status.setText("Copied the citations of the paper and of the benchmark")

    def _show_text(self, theme: Theme) -> None:
        self.browser.setHtml(method_page(theme))

    def follow(self, link: QUrl) -> None:
        """Copy the citations, or go to a place of the page."""
        if link.toString() == COPY_BIBTEX:
            self.copy_citations()
        else:
            super().follow(link)


class FormatsWindow(HelpWindow):
    """The files that are read and written."""

    title = "File formats"

    def _show_text(self, theme: Theme) -> None:
        folder = asset_folder("help")
        missing = "The page is not installed: the folder assets/help is missing."
        self.browser.setMarkdown(
            missing if folder is None else (folder / "formats.md").read_text(encoding="utf-8")
        )
