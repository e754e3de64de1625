"""The reports of `nrsfm reproduce`: where they are, what they are called, and how to make one. No Qt."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PAGES = ("report.html", "report.md")  # the first one that is there is shown
FOLDER = "reports"
MAKING = f"nrsfm reproduce table1 -o {FOLDER}/table1"
TITLES = (re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL), re.compile(r"^# +(.+)$", re.MULTILINE))
HEAD = 20_000  # characters in which a report has its title


@dataclass(frozen=True)
class Report:
    """A report on disk."""

    page: Path  # absolute
    title: str
    modified: float  # seconds since 1970

    @property
    def folder(self) -> Path:
        """The folder that its pictures are relative to."""
        return self.page.parent

    def text(self) -> str:
        """Return the page.

        Raises
        ------
        InputError
            where it cannot be read.
        """
        return _read(self.page)


def report_at(path: Path) -> Report:
    """Return the report in a folder, or the one that a file is.

    Raises
    ------
    InputError
        where there is none, or it cannot be read.
    """
    path = path.absolute()
    page = path
    if os.path.isdir(path):
        page = next((path / name for name in PAGES if os.path.isfile(path / name)), path)
    if os.path.isdir(page) or not os.path.exists(page):
        raise InputError(f"{path} holds no report; accepted is a folder with {' or '.join(PAGES)}")
    if page.suffix.lower() not in (".html", ".htm", ".md"):
        raise InputError(f"{path} is no report; accepted are .html and .md")
    head = _read(page)[:HEAD]
    match = next((found for pattern in TITLES if (found := pattern.search(head))), None)
    words = html.unescape(re.sub(r"<[^>]+>", "", match[1])).strip() if match else ""
    return Report(page, words or page.parent.name, page.stat().st_mtime)


def find_reports(folders: Iterable[Path], known: Iterable[Path]) -> list[Report]:
    """Return the reports in folders (each itself one, or with reports below it) and known ones, newest first.

    What cannot be read is left out.
    """
    places = list(known)
    for folder in folders:
        try:
            below = [entry for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
        except OSError:
            below = []
        places += [place for place in (folder, *below) if any(os.path.isfile(place / name) for name in PAGES)]
    found: dict[Path, Report] = {}
    for place in places:
        try:
            report = report_at(place)
        except InputError:
            continue
        found[report.page.resolve()] = report
    return sorted(found.values(), key=lambda report: report.modified, reverse=True)


def _read(page: Path) -> str:
    try:
        return page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{page} cannot be read: {getattr(error, 'strerror', None) or error}") from error
