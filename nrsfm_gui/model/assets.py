"""The folder of bundled files: `assets` in a checkout, `nrsfm_gui/assets` in an installed package; no Qt."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def asset_folder(name: str) -> Path | None:
    """Return a folder of the bundled files, None where it was not installed.

    Examples
    --------
    >>> asset_folder("icons").name
    'icons'
    """
    package = Path(__file__).resolve().parent.parent
    folders = (package / "assets" / name, package.parent / "assets" / name)
    return next((folder for folder in folders if folder.is_dir()), None)
