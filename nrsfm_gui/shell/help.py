"""Help in windows of their own: the method, the formats of files, the shortcuts; and "What is this?"."""

from __future__ import annotations

import html
import platform
from typing import TYPE_CHECKING

from PyQt6.QtCore import PYQT_VERSION_STR, QEvent, QObject, QSize, Qt, QUrl, qVersion
from PyQt6.QtGui import (
    QColor,
    QKeySequence,
    QShortcut,
    QTextCursor,
    QTextFormat,
    QTextTable,
    QTextTableFormat,
    QWhatsThisClickedEvent,
)
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QMessageBox,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWhatsThis,
    QWidget,
)

from core.foundation import PROGRAM, InputError, asset_folder, help_page, versions
from nrsfm_gui.model.arguments import version_text
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.text.help_pages import BIBTEX, SCENE, method_page, panel_help, with_copy_links
from nrsfm_gui.widgets.dialogs import bring_to_front, resize_within_screen
from nrsfm_gui.widgets.fields import copy_text, filled, with_tip
from nrsfm_gui.widgets.labels import PlainLabel
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from PyQt6.QtGui import QTextDocument
    from PyQt6.QtWidgets import QMainWindow

    from nrsfm_gui.model.theme import Theme

SIZE = QSize(900, 900)
HEADING_MARGINS = 22.0, 8.0  # above and below, pixels
CELL_PADDING = 6.0
CODE_MARGIN = 8.0
COPY_BIBTEX = "copy:bibtex"
PAGES = {  # titles of pages in Markdown
    "formats.md": "File formats",
    "own_tracks.md": "Your own tracks",
    "is_my_result_good.md": "Is my result good?",
}
COPY_CODE = "code"  # the scheme of a link that copies a block of code


class HelpController(QObject):
    """Opens the windows of help, and follows the links of "What is this?"."""

    def __init__(self, window: QMainWindow, *, scene_view: QWidget, timeline: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.page: MethodWindow | None = None  # made when it is first asked for
        self.pages: dict[str, MarkdownWindow] = {}  # by file, made when they are first asked for
        scene_view.setWhatsThis(panel_help(SCENE))
        for part in (scene_view, timeline, *docks(window)):
            part.installEventFilter(self)

    def show_page(self) -> None:
        """Show the method on one page, in a window of its own."""
        if self.page is None:
            self.page = MethodWindow(self._window)
        bring_to_front(self.page)

    def show_formats(self) -> None:
        """Show the formats of files, in a window of their own."""
        self._show_markdown("formats.md")

    def show_own_tracks(self) -> None:
        """Show how tracks of other programs get here, in a window of its own."""
        self._show_markdown("own_tracks.md")

    def show_result_help(self) -> None:
        """Show how far a result can be trusted, in a window of its own."""
        self._show_markdown("is_my_result_good.md")

    def _show_markdown(self, file: str) -> None:
        if file not in self.pages:
            self.pages[file] = MarkdownWindow(file, self._window)
        bring_to_front(self.pages[file])

    def show_shortcuts(self) -> None:
        """Show all shortcuts."""
        from nrsfm_gui.shell.shortcut_sheet import ShortcutSheet  # it loads the window of sweeps

        ShortcutSheet(self._window).open()

    def show_sweep_shortcuts(self, window: QWidget) -> None:
        """Show the shortcuts of the window of a sweep, over it; the others are found when it is cleared."""
        from nrsfm_gui.shell.shortcut_sheet import SWEEP_SECTION, ShortcutSheet

        sheet = ShortcutSheet(window)
        sheet.field.setText(SWEEP_SECTION)
        sheet.open()

    def show_about(self) -> None:
        """Show version and license."""
        box = QMessageBox(QMessageBox.Icon.NoIcon, f"About {PROGRAM}", about_text(), parent=self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        box.open()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:
        """Follow the link at the end of an explanation."""
        if isinstance(event, QWhatsThisClickedEvent):
            QWhatsThis.hideText()
            self.show_page()
            return True
        return super().eventFilter(watched, event)


class HelpWindow(Themed, QWidget):
    """Shows one page of help; a subclass has its title and its text."""

    title = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(self.title)
        self.browser = QTextBrowser()
        self.browser.setOpenLinks(False)
        self.browser.setAccessibleName(self.title)
        document = self.browser.document()
        assert document is not None
        document.setDocumentMargin(24)
        folder = asset_folder("help")
        if folder is not None:
            self.browser.setSearchPaths([str(folder)])
        self.browser.anchorClicked.connect(self.follow)
        self._status = PlainLabel(role="muted")
        close = with_tip(QPushButton("Close"), "Close", "Close this window (Esc)")
        close.clicked.connect(self.close)
        self._row = filled(QHBoxLayout(), (self._status, 1), close, margins=(12, 4, 12, 10))
        filled(QVBoxLayout(self), (self.browser, 1), self._row)
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


class MethodWindow(HelpWindow):
    """The method on one page, with the citations to copy."""

    title = "The method on one page"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        copy = QPushButton("Copy BibTeX")
        with_tip(copy, copy.text(), "Copy the citations of the paper and of the benchmark")
        copy.clicked.connect(self.copy_citations)
        self._row.insertWidget(1, copy)

    def copy_citations(self) -> None:
        """Copy the citations, and show that they were copied."""
        copy_text(BIBTEX)
        self._status.setText("Copied the citations of the paper and of the benchmark")

    def _show_text(self, theme: Theme) -> None:
        self.browser.setHtml(method_page(theme))

    def follow(self, link: QUrl) -> None:
        """Copy the citations, or go to a place of the page."""
        if link.toString() == COPY_BIBTEX:
            self.copy_citations()
        else:
            super().follow(link)


class MarkdownWindow(HelpWindow):
    """A page in Markdown, whose blocks of code have a link each that copies it."""

    def __init__(self, file: str, parent: QWidget | None = None) -> None:
        self.file, self.title = file, PAGES[file]
        self._codes: tuple[str, ...] = ()
        super().__init__(parent)

    def follow(self, link: QUrl) -> None:
        """Copy a block of code, or go to a place of the page."""
        if link.scheme() != COPY_CODE:
            super().follow(link)
            return
        copy_text(self._codes[int(link.path())])
        self._status.setText("Copied these lines")

    def _show_text(self, theme: Theme) -> None:
        try:
            page, self._codes = with_copy_links(help_page(self.file), COPY_CODE)
        except InputError as error:
            page = str(error)
        self.browser.setMarkdown(page)
        document = self.browser.document()
        assert document is not None
        _space_and_color(document, theme)


def _space_and_color(document: QTextDocument, theme: Theme) -> None:
    """Give Markdown what Qt leaves out: space above headings, ground behind code, quiet lines of tables."""
    block = document.begin()
    while block.isValid():
        shape = block.blockFormat()
        if shape.headingLevel() > 1:
            shape.setTopMargin(HEADING_MARGINS[0])
            shape.setBottomMargin(HEADING_MARGINS[1])
            QTextCursor(block).setBlockFormat(shape)
        elif shape.hasProperty(QTextFormat.Property.BlockCodeFence):
            shape.setBackground(QColor(theme.window))
            shape.setLeftMargin(CODE_MARGIN)
            QTextCursor(block).setBlockFormat(shape)
        block = block.next()
    root = document.rootFrame()
    assert root is not None
    for table in (frame for frame in root.childFrames() if isinstance(frame, QTextTable)):
        lines = table.format()
        lines.setBorderBrush(QColor(theme.border))
        lines.setBorderStyle(QTextTableFormat.BorderStyle.BorderStyle_Solid)
        lines.setCellPadding(CELL_PADDING)
        lines.setTopMargin(CELL_PADDING)
        table.setFormat(lines)


def system_text() -> str:
    """Return the versions of the application, of what it is made of, and of the system, in three lines."""
    parts = ", ".join(f"{name} {version}" for name, version in versions().items() if name != "core")
    return f"{version_text()}\nPyQt {PYQT_VERSION_STR}, Qt {qVersion()}, {parts}\n{platform.platform()}"


def about_text() -> str:
    """Return the text about the application: version, license and where its parts are loaded from."""
    return (
        f"<h3>{PROGRAM}</h3>"
        "<p>Non-rigid structure from motion with the weighted nuclear norm: open tracks, solve, watch it "
        "converge, compare with the ground truth, export.</p>"
        f"<p>{html.escape(system_text()).replace(chr(10), '<br>')}</p>"
        "<p>GNU General Public License, version 3 or later. There is no warranty.</p>"
    )
