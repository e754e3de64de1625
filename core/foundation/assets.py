"""The folder of bundled files: `assets` in a checkout, `nrsfm_gui/assets` where the package is installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def asset_folder(name: str) -> Path | None:
    """Return a folder of the bundled files, None where it is not installed.

    Examples
    --------
    >>> asset_folder("icons").name
    'icons'
    """
    root = Path(__file__).resolve().parents[2]  # the folder of `core`
    folders = (root / "nrsfm_gui" / "assets" / name, root / "assets" / name)
    return next((folder for folder in folders if folder.is_dir()), None)
