"""The folder of bundled files: `assets` in a checkout, `nrsfm_gui/assets` where the package is installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .exceptions import InputError


@cache
def asset_folder(name: str) -> Path | None:
    """Return a folder of the bundled files, None where it is not installed."""
    root = Path(__file__).resolve().parents[2]  # the folder of `core`
    folders = (root / "nrsfm_gui" / "assets" / name, root / "assets" / name)
    return next((folder for folder in folders if folder.is_dir()), None)


def help_page(name: str) -> str:
    """Return the text of a file of `assets/help`."""
    folder = asset_folder("help")
    if folder is None or not (folder / name).is_file():
        missing = "the folder assets/help" if folder is None else folder / name
        raise InputError(f"the page is not installed: {missing} is missing")
    return (folder / name).read_text(encoding="utf-8")
