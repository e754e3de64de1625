"""A window of its own for the help page: it is read beside the work, not instead of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, QUrl
from PyQt6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QTextBrowser, QVBoxLayout, QWidget

from core.foundation import asset_folder
from nrsfm_gui.text.method_page import BIBTEX, method_page
from nrsfm_gui.widgets.fit_to_screen import resize_within_screen

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme

SIZE = QSize(900, 900)
COPY_BIBTEX = "copy:bibtex"


class HelpWindow(QWidget):
    """Shows "The method on one page"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("The method on one page")
        self.browser = QTextBrowser()
        self.browser.setOpenLinks(False)
        self.browser.setAccessibleName("The method on one page")
        self.browser.setToolTip("")
        document = self.browser.document()
        assert document is not None
        document.setDocumentMargin(24)
        folder = asset_folder("help")
        if folder is not None:
            self.browser.setSearchPaths([str(folder)])
        self.browser.anchorClicked.connect(self._follow)
        self._said = QLabel()
        self._said.setProperty("role", "muted")
        copy = self._button("Copy BibTeX", "Copy the citations of the paper and of the benchmark")
        copy.clicked.connect(self.copy_citations)
        close = self._button("Close", "Close this window (Esc)")
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.setContentsMargins(12, 4, 12, 10)
        row.addWidget(self._said, 1)
        row.addWidget(copy)
        row.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.browser, 1)
        layout.addLayout(row)
        for key in ("Esc", "Ctrl+W"):
            QShortcut(QKeySequence(key), self, self.close)
        resize_within_screen(self, SIZE)

    def set_theme(self, theme: Theme) -> None:
        """Show the page in the colors of a theme, at the place where it was."""
        bar = self.browser.verticalScrollBar()
        place = 0 if bar is None else bar.value()
        self.browser.setHtml(method_page(theme))
        if bar is not None:
            bar.setValue(place)

    def copy_citations(self) -> None:
        """Copy the citations, and say so."""
        clipboard = QGuiApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(BIBTEX)
            self._said.setText("Copied the citations of the paper and of the benchmark")

    def _follow(self, link: QUrl) -> None:
        if link.toString() == COPY_BIBTEX:
            self.copy_citations()
        elif link.hasFragment():
            self.browser.scrollToAnchor(link.fragment())

    def _button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAccessibleName(text)
        return button
