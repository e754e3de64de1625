"""Help in windows of their own: the method, the formats of files, the shortcuts; and "What is this?"."""

from __future__ import annotations

import html
import platform

from PyQt6.QtCore import PYQT_VERSION_STR, QEvent, QObject, QSize, Qt, QUrl, qVersion
from PyQt6.QtGui import (
    QColor,
    QKeySequence,
    QShortcut,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTable,
    QTextTableFormat,
    QWhatsThisClickedEvent,
)
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QMessageBox,
    QTextBrowser,
    QVBoxLayout,
    QWhatsThis,
    QWidget,
)

from core.foundation import PROGRAM, InputError, asset_folder, help_page, versions
from nrsfm_gui.model.arguments import version_text
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.shell.actions import SWEEP_SECTION
from nrsfm_gui.shell.layout import docks
from nrsfm_gui.text.help_pages import SCENE, citations_of, method_page, panel_help, with_copy_links
from nrsfm_gui.widgets.dialogs import bring_to_front, resize_within_screen
from nrsfm_gui.widgets.fields import copy_text, filled, push_button
from nrsfm_gui.widgets.labels import PlainLabel, known
from nrsfm_gui.widgets.style import Themed

SIZE = QSize(900, 900)
HEADING_MARGINS = 22.0, 8.0  # above and below, pixels
CELL_PADDING = 6.0
CODE_MARGIN = 8.0
METHOD = "method.html"
PAGES = {  # titles by their files
    METHOD: "The method on one page",
    "formats.md": "File formats",
    "own_tracks.md": "Your own tracks",
    "is_my_result_good.md": "Is my result good?",
}
CITATIONS = "copy:bibtex"  # the link that copies the citations
COPIED_CITATIONS = "Copied the citations of the paper and of the benchmark"
CODE = "code"  # the scheme of a link that copies a block of code


class HelpController(QObject):
    """Opens the windows of help, and follows the links of "What is this?"."""

    def __init__(self, window: QMainWindow, *, scene_view: QWidget, timeline: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.pages: dict[str, HelpWindow] = {}  # by file, made when they are first asked for
        scene_view.setWhatsThis(panel_help(SCENE))
        for part in (scene_view, timeline, *docks(window)):
            part.installEventFilter(self)

    def show_page(self, file: str) -> None:
        """Show a page in a window of its own."""
        if file not in self.pages:
            self.pages[file] = HelpWindow(file, self._window)
        bring_to_front(self.pages[file])

    def show_shortcuts(self, sweep: QWidget | None = None) -> None:
        """Show all shortcuts; over the window of a sweep its own, until what is searched for is cleared."""
        from nrsfm_gui.shell.shortcut_sheet import ShortcutSheet  # it loads the window of sweeps

        sheet = ShortcutSheet(sweep or self._window)
        sheet.field.setText("" if sweep is None else SWEEP_SECTION)
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
            self.show_page(METHOD)
            return True
        return super().eventFilter(watched, event)


class HelpWindow(Themed, QWidget):
    """Shows one page of help: the method with citations to copy, or one in Markdown with code to copy."""

    def __init__(self, file: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(PAGES[file])
        self._file = file
        self._copied: dict[str, str] = {}  # by their links
        self.browser = QTextBrowser()
        self.browser.setOpenLinks(False)
        self.browser.setAccessibleName(PAGES[file])
        self._document.setDocumentMargin(24)
        folder = asset_folder("help")
        if folder is not None:
            self.browser.setSearchPaths([str(folder)])
        self.browser.anchorClicked.connect(self.follow)
        self._status = PlainLabel(role="muted")
        buttons = [push_button("Close", "Close this window (Esc)", self.close)]
        if file == METHOD:
            tip = "Copy the citations of the paper and of the benchmark"
            buttons.insert(0, push_button("Copy BibTeX", tip, lambda: self.follow(QUrl(CITATIONS))))
        row = filled(QHBoxLayout(), (self._status, 1), *buttons, margins=(12, 4, 12, 10))
        filled(QVBoxLayout(self), (self.browser, 1), row)
        for key in ("Esc", "Ctrl+W"):
            QShortcut(QKeySequence(key), self, self.close)
        self._follow_theme()
        resize_within_screen(self, SIZE)

    @property
    def _document(self) -> QTextDocument:
        return known(self.browser.document())

    def follow(self, link: QUrl) -> None:
        """Copy what a link stands for, or go to the place of the page that it names."""
        if link.toString() == CITATIONS and not self._copied:
            self._status.setText("The page with the citations is not installed")
        elif link.toString() in self._copied:
            copy_text(self._copied[link.toString()])
            self._status.setText(COPIED_CITATIONS if self._file == METHOD else "Copied these lines")
        elif link.hasFragment():
            self.browser.scrollToAnchor(link.fragment())

    def _apply_theme(self, theme: Theme) -> None:
        """Show the page in the colors of a theme, at the place where it was."""
        bar = known(self.browser.verticalScrollBar())
        place = bar.value()
        try:
            if self._file == METHOD:
                page = method_page(theme)
                self._copied = {CITATIONS: citations_of(page)}
                self.browser.setHtml(page)
            else:
                page, codes = with_copy_links(help_page(self._file), CODE)
                self._copied = {f"{CODE}:{k}": code for k, code in enumerate(codes)}
                self.browser.setMarkdown(page)
                _space_and_color(self._document, theme)
        except InputError as error:
            self.browser.setPlainText(str(error))
        bar.setValue(place)


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
    root = known(document.rootFrame())
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
        "<p>Non-rigid structure from motion: from the 2-D tracks of points on a deforming object in one "
        "moving camera to the 3-D shape of every frame.</p>"
        f"<p>{html.escape(system_text()).replace(chr(10), '<br>')}</p>"
        "<p>GNU General Public License, version 3 or later. There is no warranty.</p>"
    )
