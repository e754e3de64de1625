"""A report as it is read inside the application: links are for the browser, pictures from its folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize, Qt, QTimer, QUrl, pyqtSignal
from PyQt6.QtGui import QColor, QImage, QPainter, QTextDocument
from PyQt6.QtWidgets import QTextBrowser, QWidget

from nrsfm_gui.model.theme import DARK, Theme
from nrsfm_gui.reports.report_page import page_for, picture_widths, sheet

if TYPE_CHECKING:
    from pathlib import Path

    from PyQt6.QtGui import QResizeEvent

    from nrsfm_gui.reports.reports import Report

MARGIN = 28  # pixels around the text
NARROWEST = 200
MISSING_SIZE = QSize(420, 90)
RESIZE_MILLISECONDS = 150


class ReportView(QTextBrowser):
    """Shows one report.

    Signals
    -------
    link_requested(QUrl)
        a link out of the report was clicked; relative ones are made absolute.
    """

    link_requested = pyqtSignal(QUrl)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report: Report | None = None
        self._text = ""
        self._theme: Theme = DARK
        self._width = 0  # that the pictures were made for
        self._widths: dict[str, int] = {}  # of single pictures, by their path
        self.missing: set[str] = set()  # pictures that the report names and its folder does not hold
        self.setOpenLinks(False)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.WidgetWidth)
        self.document().setDocumentMargin(MARGIN)
        self.anchorClicked.connect(self._follow)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(RESIZE_MILLISECONDS)
        self._timer.timeout.connect(self._fit)

    def set_report(self, report: Report, text: str) -> None:
        """Show a report from its beginning, or from where it was where it is the same one."""
        again = self._report is not None and self._report.page == report.page
        place = self.verticalScrollBar().value() if again else 0
        self._report, self._text = report, text
        self._lay_out()
        self.verticalScrollBar().setValue(place)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._theme = theme
        if self._report is not None:
            self.set_report(self._report, self._text)

    def _lay_out(self) -> None:
        assert self._report is not None  # callers have one
        self._width = max(self.viewport().width() - 2 * MARGIN, NARROWEST)
        self.missing.clear()
        document = self.document()
        document.clear()
        document.setDefaultStyleSheet(sheet(self._theme))
        if self._report.page.suffix.lower() == ".md":
            self.setMarkdown(self._text)
        else:
            page = page_for(self._text, self._width)
            self._widths = picture_widths(page)
            self.setHtml(page)

    def _fit(self) -> None:
        """Make the pictures anew where the view has another width."""
        if self._report is not None and abs(self._width - (self.viewport().width() - 2 * MARGIN)) > 2:
            self.set_report(self._report, self._text)

    def loadResource(self, kind: int, name: QUrl) -> object:
        """Return a picture of the report's folder; one that is not there is said to be missing."""
        if kind != QTextDocument.ResourceType.ImageResource.value or self._report is None:
            return None
        relative, image = name.path(), QImage()
        path = _inside(self._report.folder, relative) if name.isRelative() else None
        if path is not None:
            image = self._read(str(path), self._widths.get(name.toString(), self._width))
        if image.isNull():
            self.missing.add(relative or name.toString())
            image = self._placeholder(f"The picture {relative or name.toString()} is missing")
        return image

    def _read(self, path: str, width: int) -> QImage:
        """Return a picture in the pixels that it is drawn with: smaller ones are smoothed here, not there."""
        image = QImage(path)
        pixels = round(width * self.devicePixelRatioF())
        if image.width() > pixels:
            image = image.scaledToWidth(pixels, Qt.TransformationMode.SmoothTransformation)
        return image

    def _placeholder(self, sentence: str) -> QImage:
        image = QImage(MISSING_SIZE, QImage.Format.Format_RGB32)
        image.fill(QColor(self._theme.raised))
        painter = QPainter(image)
        painter.setPen(QColor(self._theme.warning))
        inside = image.rect().adjusted(12, 8, -12, -8)
        painter.drawText(inside, int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap), sentence)
        painter.end()
        return image

    def _follow(self, link: QUrl) -> None:
        if self._report is None:
            return
        if not link.path() and link.hasFragment():
            self.scrollToAnchor(link.fragment())
            return
        base = QUrl.fromLocalFile(str(self._report.page))
        self.link_requested.emit(base.resolved(link))

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Fit the pictures a moment later."""
        super().resizeEvent(event)
        self._timer.start()


def _inside(folder: Path, relative: str) -> Path | None:
    """Return a file in a folder, None where there is none of that name, or it lies elsewhere."""
    folder = folder.resolve()
    try:
        path = (folder / relative).resolve()
    except (OSError, ValueError):  # a name that no file can have: too long, or with a null
        return None
    return path if path.is_relative_to(folder) and os.path.isfile(path) else None
