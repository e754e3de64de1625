"""Rows of the menu Points: selecting points, and what is done with the selected ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec, with_reconstruction, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def point_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Points."""
    select, worst = w.selecting, w.worst
    return (
        ActionSpec("select_all", "&Points", "Select &all", "Select all points that are drawn",
                   select.select_all, ("Ctrl+A",), with_sequence),
        ActionSpec("invert_selection", "&Points", "In&vert selection",
                   "Select the points that are drawn and not selected", select.invert, ("Ctrl+I",),
                   with_sequence),
        ActionSpec("deselect", "&Points", "&Deselect",
                   "Select no point; where none is selected, play all frames again, or show one run alone",
                   select.escape,
                   ("Escape",), with_sequence),
        ActionSpec("worst_point", "&Points", "&Worst point of this frame",
                   "Select the point with the largest error in the frame that is shown; again: the next one",
                   worst.go_to_point, ("Shift+W",), with_reconstruction, separated=True),
        ActionSpec("hide_points", "&Points", "&Hide selected", "Leave the selected points out of all views",
                   select.hide, ("H",), with_sequence, separated=True),
        ActionSpec("isolate_points", "&Points", "&Isolate selected", "Draw the selected points only",
                   select.isolate, ("I",), with_sequence),
        ActionSpec("show_points", "&Points", "&Show all", "Draw all points again", select.show_all,
                   ("Shift+H",), with_sequence),
        ActionSpec("label_points", "&Points", "&Number selected",
                   "Write the numbers of the selected points beside them, or do not", select.toggle_labels,
                   ("N",), with_sequence),
    )  # fmt: skip
