"""Rows of the menu Edit: going back, copying, preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def edit_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Edit."""
    exporting = w.exporting
    return (
        ActionSpec("undo", "&Edit", "&Undo",
                   "Take back the last change of the parameters, or runs that were forgotten",
                   lambda: w.steering.undo(), ("Ctrl+Z",), with_sequence),
        ActionSpec("redo", "&Edit", "&Redo", "Do again what was undone last",
                   lambda: w.steering.redo(), ("Ctrl+Shift+Z",), with_sequence),
        ActionSpec("copy_python", "&Edit", "Copy as &Python",
                   "Copy the Python program that gives these numbers", exporting.copy_python,
                   ("Ctrl+Shift+P",), with_sequence, separated=True),
        ActionSpec("copy_command", "&Edit", "Copy as &command",
                   "Copy the command that gives these numbers", exporting.copy_command,
                   ("Ctrl+Shift+C",), with_sequence),
        ActionSpec("preferences", "&Edit", "Pre&ferences…",
                   "Theme, sizes, colors, threads, saving and drawing", w.habits.preferring.show,
                   ("Ctrl+,",), separated=True),
    )  # fmt: skip
