"""Pictures in files of their own: those of a folder or of a pattern of names, by the numbers in these."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from typing import TYPE_CHECKING

from ..foundation.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

MOST_FILES = 1_000_000  # in a folder
NUMBER = re.compile(r"%0?\d*d")  # in a pattern of names
SHOWN = re.compile(r"(?!\.)")  # the beginning of a name that is not hidden


def list_pictures(
    folder: Path,
    suffixes: Collection[str],
    fits: re.Pattern[str] = SHOWN,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Path]:
    """Return the pictures in a folder whose names fit from their begin on, in the order of their numbers."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_FILES:
                    raise InputError(f"{folder} holds too many files; accepted are up to {MOST_FILES}")
                if stopped():
                    raise InputError(f"{folder} is not opened: it was removed meanwhile")
                path = folder / entry.name
                if path.suffix.lower() in suffixes and fits.match(entry.name) and entry.is_file():
                    found.append(path)
    except OSError as error:
        raise InputError.of(error) from error
    return sorted(found, key=natural)


def matching_pictures(
    path: Path, suffixes: Collection[str], stopped: Callable[[], bool] = lambda: False
) -> list[Path]:
    """Return the pictures of a pattern with wildcards in its last part, or with a number as in %04d."""
    if not (is_pattern(path) and path.parent.is_dir()):
        return []
    shown = "" if path.name.startswith(".") else SHOWN.pattern
    name = fnmatch.translate(os.path.normcase(NUMBER.sub("\0", path.name))).replace("\0", r"\d+")
    return list_pictures(path.parent, suffixes, re.compile(shown + name), stopped)


def is_pattern(path: Path) -> bool:
    """Return whether the name of a path is a pattern."""
    return bool(NUMBER.search(path.name)) or glob.has_magic(path.name)


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in names by their value: 2 before 10."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(1, int(part), part) if part.isdecimal() else (0, 0, part) for part in parts]
