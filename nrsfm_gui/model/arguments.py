"""The command line of the application. No Qt here: `--help` and `--version` need none."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from core import Settings

DEFAULT_SIZE = (1440, 900)
SMALLEST_SIZE = (800, 560)
THEMES = ("dark", "light")
RENDERERS = ("auto", "opengl", "software")
READING = "reading_"  # what the names of parsed reading options begin with


@dataclass(frozen=True)
class Arguments:
    """The actions at the start of the application."""

    path: str = ""  # a file, a folder or "sample:NAME"; empty for the first bundled sample
    run: bool = False
    screenshot: Path | None = None
    exports: tuple[Path, ...] = ()
    exit: bool = False
    theme: str = ""  # empty for the one used last
    window_size: tuple[int, int] | None = None
    renderer: str = "auto"  # of the 3-D view
    first_steps: bool = False  # shown in a script, too
    desktop: str = ""  # "install" or "remove": the entry in the menu, and no window
    settings: Settings | None = None  # None for the parameters used last
    reading: Mapping[str, Any] = field(default_factory=dict)  # options of `read_sequence` for the path

    @property
    def scripted(self) -> bool:
        """Whether there is something to do once the sequence is shown."""
        return self.run or self.exit or self.screenshot is not None or bool(self.exports)

    @property
    def asks(self) -> bool:
        """Whether a file that is not clear may be asked about: nobody answers a script."""
        return not self.scripted and (self.settings is None or self.settings.intrinsics == "auto")


def parse(argv: Collection[str]) -> Arguments:
    """Return the arguments; ends the program with a sentence where they are wrong."""
    from core import InputError
    from core.cli import (
        FREQUENT,
        CheckedParser,
        add_reading_options,
        add_settings_options,
        declare,
        reading_from,
        settings_from,
    )
    from core.io.readers import READERS

    parser = CheckedParser(
        prog="nrsfm-gui", description="Non-rigid structure from motion: watch it converge."
    )
    own = ("path", "run", "screenshot", "exports", "exit", "theme", "window_size", "desktop", "version")
    parser.shorten_help("[PATH]", (*FREQUENT, *own))
    declare(
        parser,
        f"""
        PATH: a sequence ({", ".join(READERS)}), a session (.nrsfm), a result (.npz), a folder of the NRSfM
            Challenge or of a sweep, sample:NAME, or, not in a script, a video or a folder of pictures to
            follow points through; without it, the first bundled sample is shown
        --run: start the solver at once
        --screenshot PNG: save a picture of the window (after the run, with --run)
        --export FILE: save what is shown, by suffix: the reconstruction (see nrsfm export), a figure (.pdf,
            .png; NAME.heat.pdf, NAME.loss.pdf, ... of a plot) or a movie (.mp4, .gif; NAME.2d.mp4 of 2-D);
            several allowed
        --exit: leave when all that was asked for is done; 2 where something failed
        --theme: colors, for this time
        --window-size WxH: size of the window, for this time
        --renderer: how the 3-D view is painted; auto uses OpenGL where it works
        --first-steps: show the first steps, in a script too, if they are not done
        --version: show the version, and where it is loaded from
        """,
        path={"nargs": "?", "default": ""},
        screenshot=Path,
        export={"type": Path, "action": "append", "default": [], "dest": "exports"},
        theme={"choices": THEMES, "default": ""},
        window_size=_size,
        renderer={"choices": RENDERERS, "default": "auto"},
    )
    entry = {"dest": "desktop", "action": "store_const", "default": ""}
    declare(
        parser.add_mutually_exclusive_group(),
        """
        --install-desktop: add an entry to the menu of the desktop, which opens *.nrsfm files, and leave
        --remove-desktop: remove that entry, and leave
        """,
        install_desktop=entry | {"const": "install"},
        remove_desktop=entry | {"const": "remove"},
    )
    add_reading_options(parser)
    add_settings_options(parser)
    given = parser.parse_args(argv)
    if given.version:
        sys.stdout.write(version_text() + "\n")
        parser.exit(0)
    names = {entry.name for entry in fields(Arguments)}
    values = {name: value for name, value in vars(given).items() if name in names}
    values["exports"] = tuple(given.exports)
    others = {name: value for name, value in vars(given).items() if name not in names | {"version"}}
    try:
        if any(value is not None and not name.startswith(READING) for name, value in others.items()):
            values["settings"] = settings_from(given)
        return Arguments(**values, reading=reading_from(given))
    except InputError as refusal:
        parser.error(str(refusal))


def version_text() -> str:
    """Return the version and where the parts are loaded from."""
    import core
    from core import VERSION

    return f"nrsfm-gui {VERSION} (core loaded from {Path(core.__file__).parent})"


def _size(text: str) -> tuple[int, int]:
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        refusal = f"{text!r} is not accepted; give WIDTHxHEIGHT, like 1280x800"
        raise argparse.ArgumentTypeError(refusal) from None
    least_width, least_height = SMALLEST_SIZE
    if width < least_width or height < least_height:
        raise argparse.ArgumentTypeError(f"{text} is below {least_width}x{least_height}")
    return width, height
