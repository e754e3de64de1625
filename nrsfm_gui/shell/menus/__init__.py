"""The rows of the table of actions, one module for each menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.menus.edit import edit_rows
from nrsfm_gui.shell.menus.export import export_rows
from nrsfm_gui.shell.menus.file import file_rows
from nrsfm_gui.shell.menus.frames import frame_rows
from nrsfm_gui.shell.menus.help import help_rows
from nrsfm_gui.shell.menus.points import point_rows
from nrsfm_gui.shell.menus.run import run_rows
from nrsfm_gui.shell.menus.view import view_rows

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.shell.actions import ActionSpec

# The menus stand in this order.
MENUS = (file_rows, edit_rows, run_rows, view_rows, point_rows, frame_rows, export_rows, help_rows)


def all_rows(window: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of all menus, bound to a window."""
    return tuple(row for rows in MENUS for row in rows(window))
