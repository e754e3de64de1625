"""The bundled videos: short ones of a sheet that deforms, drawn by this project, with what is true of them.

They lie in `assets/videos` of a checkout, or inside the installed viewer. `tests/rendering.py` has
what `sheet.mp4` was drawn from: its true shapes and cameras.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..foundation.assets import asset_folder
from ..foundation.exceptions import InputError
from ..io.readers.samples import PREFIX

if TYPE_CHECKING:
    from pathlib import Path


def sample_videos() -> tuple[str, ...]:
    """Return the names of the bundled videos.

    >>> sample_videos()
    ('sheet',)
    """
    folder = asset_folder("videos")
    return () if folder is None else tuple(sorted(path.stem for path in folder.glob("*.mp4")))


def video_path(path: Path) -> Path:
    """Return the file of "sample:NAME", and any other path as it is.

    Raises InputError where there is no such sample.

    >>> from pathlib import Path
    >>> video_path(Path("sample:sheet")).name
    'sheet.mp4'
    """
    name = path.as_posix()
    if not name.startswith(PREFIX):
        return path
    names, folder = sample_videos(), asset_folder("videos")
    if folder is None or name.removeprefix(PREFIX) not in names:
        there = ", ".join(PREFIX + each for each in names) or "none installed"
        raise InputError(f"there is no video {name!r}; there are {there}")
    return folder / f"{name.removeprefix(PREFIX)}.mp4"
