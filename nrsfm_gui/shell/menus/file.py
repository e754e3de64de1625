"""Rows of the menu File: opening, saving, reports, leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def file_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu File."""
    opening = w.opening
    return (
        ActionSpec("open", "&File", "&Open file…", "Open a sequence, a session (.nrsfm) or a result (.npz)",
                   opening.ask_for_file, ("Ctrl+O",), icon="open"),
        ActionSpec("open_folder", "&File", "Open &folder…", "Open a folder of the NRSfM Challenge",
                   opening.ask_for_folder, ("Ctrl+Shift+O",)),
        ActionSpec("save", "&File", "&Save session", "Save sequence, runs, parameters and view in one file",
                   w.keeping.save, ("Ctrl+S",), with_sequence),
        ActionSpec("save_as", "&File", "Save session &as…", "Save the session in another file",
                   w.keeping.save_as, ("Ctrl+Shift+S",), with_sequence),
        ActionSpec("reports", "&File", "&Paper's experiments…",
                   "Open the newest report of `nrsfm reproduce` in the browser",
                   w.reports.open_newest, ("F2",), separated=True),
        ActionSpec("quit", "&File", "&Quit", "Stop the solver and close the window", w.close, ("Ctrl+Q",),
                   separated=True),
    )  # fmt: skip
