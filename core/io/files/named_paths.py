"""Paths that a file names: its video, its tracks. A file of somebody else can name any path.

Asking another computer for a file tells it who asks, and on Windows sends it a password's hash. So nothing
is looked at there unless the file that names it is there, too, nor what a relative path leads to out of its
folder.
"""

from __future__ import annotations

import re
from pathlib import Path

# Computers by name in paths of Windows, in URLs, and below the folder of an automounter.
_HOSTS = re.compile(r"//([^/]+)|([a-z][a-z0-9+.-]+):/|/net/([^/]+)")


def named_path(name: str, by: Path) -> Path | None:
    """Return the path that a file names, None where nothing is looked at unless a user asks for it."""
    folder = by.absolute().parent
    path = folder / name
    if _host(name) not in ("", _host(str(folder))):
        return None
    relative = path.is_relative_to(folder)
    return None if relative and ".." in re.split(r"[/\\]", name) else path


def _host(name: str) -> str:
    """Return the computer that a path is on, "" for this one."""
    found = _HOSTS.match(name.replace("\\", "/").lower())
    return next(filter(None, found.groups())) if found else ""
