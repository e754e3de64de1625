"""`nrsfm formats`: the files that are read and written, and how tracks of other programs are brought here."""

from __future__ import annotations

import argparse

from ..foundation.assets import help_page
from ..io.readers import installed_plugins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description of `formats`."""
    parser.description = (
        "Print the formats of sequences and results, the arrays of a result file, and the session file, then "
        "the lines of Python that write the tracks of each tracker, and the readers that other packages add, "
        "as Markdown. The window shows the same pages (Help, File formats; Help, Your own tracks)."
    )


def run(args: argparse.Namespace) -> None:
    """Print the pages. Raises InputError where they are not installed."""
    print(help_page("formats.md"), help_page("own_tracks.md"), sep="\n", end="")
    if plugins := installed_plugins():
        print("\n## Readers of installed packages\n")
        print("\n".join(f"- {plugin}" for plugin in plugins))
