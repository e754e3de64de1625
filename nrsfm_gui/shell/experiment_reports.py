"""The reports of `nrsfm reproduce`, opened in the browser."""

from __future__ import annotations

import os
from pathlib import Path

from PyQt6.QtCore import QObject, QUrl
from PyQt6.QtGui import QDesktopServices
from PyQt6.QtWidgets import QWidget

from nrsfm_gui.model.app_store import REPORTS, AppStore
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.widgets.dialogs import ask_for_path
from nrsfm_gui.widgets.fields import copy_text

COMMAND = "nrsfm reproduce table1 -o reports/table1"
PLACES = ("report.html", "*/report.html", "reports/*/report.html")  # below the working folder
SUFFIXES = (".html", ".htm")
FILTER = "Reports (*.html *.htm)"


class ExperimentReports(QObject):
    """Opens the newest report, or a chosen one, and stores its path."""

    def __init__(self, store: AppStore, notifier: Notifier, parent: QWidget) -> None:
        super().__init__(parent)
        self._store, self._notifier, self._parent = store, notifier, parent

    def open_newest(self) -> None:
        """Open the report that was written last, of those in the working folder and those opened before."""
        found = (page.resolve() for place in PLACES for page in Path.cwd().glob(place))
        own = (page for page in found if page.is_relative_to(Path.cwd().resolve()))  # no links elsewhere
        pages = {page for page in own if page.with_suffix(".md").is_file()}  # `nrsfm reproduce` writes both
        pages |= {page for page in self._store.recent(REPORTS) if os.path.isfile(page)}
        if pages:
            self.open(max(pages, key=os.path.getmtime))
            return
        self._notifier.inform(
            f"{Path.cwd()} holds no report of the paper's experiments. This command makes one: {COMMAND}",
            action=(("Copy the command", self._copy_command), ("Open a report…", self.ask)),
        )

    def ask(self) -> None:
        """Ask for a report, and open it."""
        known = self._store.recent(REPORTS)
        start = known[0].parent if known else Path.cwd()
        ask_for_path(self._parent, "Open a report", self.open, start=start, filters=FILTER)

    def open(self, page: Path) -> None:
        """Open a report in the browser; nothing else, which the desktop could start as a program."""
        if page.resolve().suffix.lower() not in SUFFIXES or not os.path.isfile(page):
            self._notifier.warn(
                f"{page} is no report; accepted are files that end in {' or '.join(SUFFIXES)}"
            )
            return
        if not QDesktopServices.openUrl(QUrl(page.absolute().as_uri())):
            self._notifier.warn(f"No program was found that opens {page}")
            return
        self._store.add_recent(page, REPORTS)
        self._notifier.inform(f"Opened {page} in the browser", action=("Open another…", self.ask))

    def _copy_command(self) -> None:
        copy_text(COMMAND)
        self._notifier.inform(f"Copied: {COMMAND}")
