"""The rows of the table of actions, one module for each menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .edit import edit_rows
from .export import export_rows
from .file import file_rows
from .frames import frame_rows
from .help import help_rows
from .points import point_rows
from .run import run_rows
from .view import view_rows

if TYPE_CHECKING:
    from nrsfm_gui.actions import ActionSpec
    from nrsfm_gui.main_window import MainWindow

# The menus stand in this order.
MENUS = (file_rows, edit_rows, run_rows, view_rows, point_rows, frame_rows, export_rows, help_rows)


def all_rows(window: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of all menus, bound to a window."""
    return tuple(row for rows in MENUS for row in rows(window))
