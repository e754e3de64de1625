"""The reports page: what was found, one of them to read, and how to make one where there is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PyQt6.QtCore import QDateTime, QLocale, QSize, QStandardPaths, Qt, QUrl
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMainWindow,
    QProgressBar,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from core import InputError
from nrsfm_gui.reports.no_reports import NoReports
from nrsfm_gui.reports.report_maker import ReportMaker
from nrsfm_gui.reports.report_view import ReportView
from nrsfm_gui.reports.reports import FOLDER, Report, find_reports, report_at
from nrsfm_gui.widgets.fields import push_button
from nrsfm_gui.widgets.fit_to_screen import resize_within_screen, show_whole
from nrsfm_gui.widgets.labels import ElidedLabel
from nrsfm_gui.widgets.message_bar import MessageBar
from nrsfm_gui.widgets.path_dialog import ask_for_path

if TYPE_CHECKING:
    from PyQt6.QtGui import QKeyEvent, QShowEvent

    from nrsfm_gui.model.app_store import SettingsStore
    from nrsfm_gui.model.theme import Theme

SIZE = QSize(1180, 820)
LIST_WIDTH = 330
PROGRESS_WIDTH = 240
DOCUMENTS_FOLDER = "NRSfM reports"
FILTER = "Reports (*.html *.htm *.md);;All files (*)"


def report_folders() -> list[Path]:
    """Return where reports are looked for: below the working folder and below the documents."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return [Path.cwd() / FOLDER, Path(documents) / DOCUMENTS_FOLDER]


class ReportsWindow(QMainWindow):
    """Lists and shows reports, beside the main window.

    Parameters
    ----------
    store
        keeps the reports that were opened last.
    folders
        where others are looked for.
    """

    def __init__(
        self, store: SettingsStore, *, folders: list[Path] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._folders = report_folders() if folders is None else folders
        self._reports: list[Report] = []
        self.setWindowTitle("Paper's experiments – NRSfM Studio")
        resize_within_screen(self, SIZE)
        self.messages = MessageBar()
        self.list = QListWidget()
        self.list.setAccessibleName("Reports")
        self.list.setToolTip("The reports that were found or opened, newest first")
        self.list.setObjectName("reports")
        self.list.currentRowChanged.connect(self._show_row)
        self.maker = ReportMaker(self)
        self.maker.progressed.connect(self._show_progress)
        self.maker.made.connect(self._show_made)
        self.maker.stopped.connect(self._show_stopped)
        self.maker.failed.connect(self._show_failed)
        self._standing = ElidedLabel()
        self._progress = QProgressBar()
        self._progress.setRange(0, 1000)
        self._progress.setTextVisible(False)
        self._making = QWidget()
        self._making.hide()
        self.view = ReportView()
        self.view.setAccessibleName("Report")
        self.view.link_requested.connect(self.open_outside)
        self._path = ElidedLabel()
        self._path.setProperty("role", "muted")
        self._pages = QStackedWidget()
        self._build()

    # -- what it shows --------------------------------------------------------------------------------------

    @property
    def shown(self) -> Report | None:
        """The report that is shown."""
        row = self.list.currentRow()
        return self._reports[row] if 0 <= row < len(self._reports) else None

    def refresh(self) -> None:
        """Look for reports again; the one that is shown stays, or is the newest."""
        before = self.shown
        self._reports = find_reports(self._folders, self._store.recent_reports())
        self.list.blockSignals(True)
        self.list.clear()
        for report in self._reports:
            self.list.addItem(_item(report))
        self.list.blockSignals(False)
        pages = [report.page for report in self._reports]
        row = pages.index(before.page) if before is not None and before.page in pages else 0
        self._pages.setCurrentIndex(1 if self._reports else 0)
        if self._reports:
            self.list.setCurrentRow(row)
            self._show_row(row)

    def open_report(self, path: str | Path) -> None:
        """Show the report in a folder or a file, and remember it; says so where there is none."""
        try:
            report = report_at(Path(path))
        except InputError as refusal:
            self.messages.warn(str(refusal))
            return
        self.messages.hide()
        self._store.add_recent_report(report.page)
        self.refresh()
        pages = [known.page.resolve() for known in self._reports]
        self.list.setCurrentRow(pages.index(report.page.resolve()))

    def ask_for_report(self) -> None:
        """Ask for a report, and show it."""
        known = (folder for folder in self._folders if os.path.isdir(folder))
        before = self.shown.folder if self.shown else next(known, Path())
        ask_for_path(self, "Open a report", self.open_report, start=before, filters=FILTER)

    def open_in_browser(self) -> None:
        """Open the report that is shown where links are opened."""
        if self.shown is not None:
            self.open_outside(QUrl.fromLocalFile(str(self.shown.page)))

    def open_outside(self, link: QUrl) -> None:
        """Open a page, a picture or a folder with the program that the desktop has for it."""
        if not QDesktopServices.openUrl(link):
            self.messages.warn(f"No program was found that opens {link.toDisplayString()}")

    def ask_for_making(self) -> None:
        """Ask which report to make; blocks nothing."""
        from nrsfm_gui.reports.make_report import MakeReportDialog  # loads the experiments

        if self.maker.busy:
            self.messages.note("A report is being made; stop it to make another one.")
            return
        folder = next((folder for folder in self._folders if os.path.isdir(folder)), self._folders[-1])
        dialog = MakeReportDialog(folder, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.requested.connect(self.make_report)
        show_whole(dialog)

    def make_report(self, words: list[str]) -> None:
        """Make the report of `nrsfm reproduce WORDS`."""
        self.messages.hide()
        self.maker.start(words)

    def shut_down(self) -> None:
        """Stop what is being made."""
        self.maker.shut_down()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.messages.set_theme(theme)
        self.view.set_theme(theme)

    # -- how it is built ------------------------------------------------------------------------------------

    def _build(self) -> None:
        buttons = QHBoxLayout()
        buttons.addWidget(push_button("Open report…", "Show a report from any folder", self.ask_for_report))
        buttons.addWidget(
            push_button("Make report…", "Run experiments of the paper again", self.ask_for_making)
        )
        buttons.addWidget(push_button("Look again", "Look for reports again", self.refresh))
        buttons.addStretch(1)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(8, 8, 4, 8)
        column.addWidget(self.list, 1)
        column.addLayout(buttons)
        self._pages.addWidget(NoReports(self._folders))
        self._pages.addWidget(self._report_page())
        splitter = QSplitter()
        splitter.addWidget(left)
        splitter.addWidget(self._pages)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([LIST_WIDTH, SIZE.width() - LIST_WIDTH])
        splitter.setChildrenCollapsible(False)
        whole = QWidget()
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.messages)
        layout.addWidget(splitter, 1)
        row = QHBoxLayout(self._making)
        row.setContentsMargins(8, 0, 8, 8)
        row.addWidget(self._standing, 1)
        self._progress.setFixedWidth(PROGRESS_WIDTH)
        row.addWidget(self._progress)
        row.addWidget(push_button("Stop", "Stop; what is finished is kept", self.maker.stop))
        layout.addWidget(self._making)
        self.setCentralWidget(whole)

    def _report_page(self) -> QWidget:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(4, 8, 8, 8)
        row = QHBoxLayout()
        row.addWidget(self._path, 1)
        row.addWidget(push_button("Open in browser", "Open this report in the browser", self.open_in_browser))
        row.addWidget(push_button("Open folder", "Open the folder of this report", self._open_folder))
        layout.addLayout(row)
        layout.addWidget(self.view, 1)
        return page

    # -- what happens in it ---------------------------------------------------------------------------------

    def _show_row(self, row: int) -> None:
        if not 0 <= row < len(self._reports):
            return
        report = self._reports[row]
        try:
            text = report.text()
        except InputError as refusal:
            self.messages.warn(str(refusal))
            return
        self._path.set_whole(str(report.page))
        self.view.set_report(report, text)

    def _show_progress(self, standing: str, fraction: float) -> None:
        self._making.show()
        self._standing.set_whole(standing)
        self._progress.setValue(round(1000 * fraction))

    def _show_made(self, page: Path) -> None:
        self._making.hide()
        self.open_report(page)
        self.messages.note(f"The report is ready: {page}")

    def _show_stopped(self, sentence: str) -> None:
        self._making.hide()
        self.messages.note(sentence)

    def _show_failed(self, sentence: str) -> None:
        self._making.hide()
        self.messages.warn(f"The report was not made: {sentence}")

    def _open_folder(self) -> None:
        if self.shown is not None:
            self.open_outside(QUrl.fromLocalFile(str(self.shown.folder)))

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Close on Escape."""
        assert event is not None
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent | None) -> None:
        """Look for reports whenever the page is opened."""
        super().showEvent(event)
        self.refresh()


def _item(report: Report) -> QListWidgetItem:
    when = QDateTime.fromSecsSinceEpoch(round(report.modified))
    date = QLocale().toString(when, QLocale.FormatType.ShortFormat)
    item = QListWidgetItem(f"{report.title}\n{report.folder.name} · {date}")
    item.setToolTip(str(report.page))
    return item
