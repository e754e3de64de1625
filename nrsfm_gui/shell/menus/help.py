"""Rows of the menu Help: what there is, and how it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def help_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Help."""
    return (
        ActionSpec("palette", "&Help", "&Find an action…",
                   "Type a few letters of an action, a sample or a recent file, and do it",
                   w.habits.palette.open, ("Ctrl+K",)),
        ActionSpec("shortcuts", "&Help", "&Shortcuts", "All actions and their keys",
                   w.habits.helping.show_shortcuts, ("F1",)),
        ActionSpec("method", "&Help", "The &method on one page",
                   "What the rank, the weights and eta do, with pictures and the citations",
                   w.habits.helping.show_page, ("F3",), separated=True),
        ActionSpec("whats_this", "&Help", "&What is this?", "Click a panel to read what it is for",
                   w.habits.helping.ask_what, ("Shift+F1",)),
        ActionSpec("first_steps", "&Help", "First s&teps", "Show the first steps again",
                   w.habits.first_steps.restart),
        ActionSpec("about", "&Help", "&About", "Version, licence, where the parts are loaded from",
                   w.habits.helping.show_about, separated=True),
    )  # fmt: skip
