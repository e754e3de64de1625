"""`nrsfm formats`: the files that are read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..foundation.assets import help_page

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description of `formats`."""
    parser.description = (
        "Print the formats of sequences and results, the arrays of a result file, and the session file, as "
        "Markdown. The window shows the same page (Help, File formats)."
    )


def run(args: argparse.Namespace) -> None:
    """Print the page.

    Raises
    ------
    InputError
        where it is not installed.
    """
    print(help_page("formats.md"), end="")
