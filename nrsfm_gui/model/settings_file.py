"""Settings as texts in a JSON file.

QSettings is not used: it restores any object that its file holds, and PyQt unpickles those of Python.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from PyQt6.QtCore import QLockFile

from core import InputError
from core.foundation import replacing
from core.io.readers import check_file, parse_json, read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST_BYTES = 16_000_000
LOCK_MILLISECONDS = 1000  # for which another window may write


class SettingsFile:
    """Texts by their names. Several windows can have the same file; a change by one is seen by the others.

    What cannot be written is kept in memory, and written with the next change.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._texts: dict[str, str] = {}  # those of the file
        self._unwritten: dict[str, str | None] = {}  # None where a text is removed
        self._version: tuple[int, ...] = ()  # of the file whose texts these are
        self._damaged = False

    @property
    def damaged(self) -> bool:
        """Whether there is a file that cannot be read: no text of it is known."""
        self._follow()
        return self._damaged

    def text(self, name: str) -> str:
        """Return a text, "" where there is none."""
        if name in self._unwritten:
            return self._unwritten[name] or ""
        self._follow()
        return self._texts.get(name, "")

    def change(self, changes: Mapping[str, str | None]) -> None:
        """Store texts, and remove those that are None."""
        self._unwritten |= changes
        self.write()

    def write(self) -> None:
        """Write the file with all changes; nobody but its owner may read it."""
        with suppress(OSError, InputError):  # texts that cannot be written are those of this process
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = QLockFile(f"{self.path}.lock")
            lock.tryLock(LOCK_MILLISECONDS)  # released when it is deleted
            self._follow()
            if self._damaged and self.path.is_file():  # somebody may have written it by hand
                os.replace(self.path, f"{self.path}.damaged")
            texts = {name: text for name, text in (self._texts | self._unwritten).items() if text is not None}
            with replacing(self.path, private=True) as temporary:
                temporary.write_text(json.dumps(texts, indent=1), encoding="utf-8")
            self._unwritten.clear()

    def _follow(self) -> None:
        """Read the file where it is another one than that which was read."""
        version: tuple[int, ...] = ()
        with suppress(OSError):
            found = os.stat(self.path)
            version = (found.st_ino, found.st_size, found.st_mtime_ns)
        if version == self._version:
            return
        self._version, self._texts, self._damaged = version, {}, False
        if version:
            try:
                self._texts = _texts_of(self.path)
            except InputError:
                self._damaged = True


def _texts_of(path: Path) -> dict[str, str]:
    size = check_file(path)
    if size > MOST_BYTES:
        raise InputError(f"{path}: has {size} bytes; accepted are up to {MOST_BYTES}")
    values = parse_json(read_bytes(path))
    if not isinstance(values, dict):
        raise InputError(f"{path}: is no JSON object")
    return {name: text for name, text in values.items() if isinstance(text, str)}
