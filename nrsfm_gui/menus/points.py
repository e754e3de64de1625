"""Rows of the menu Points: selecting points, and what is done with the selected ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.actions import ActionSpec, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def point_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Points."""
    return (
        ActionSpec("deselect", "&Points", "&Deselect", "Select no point", lambda: w.session.set_point(-1),
                   ("Escape",), with_sequence),
    )  # fmt: skip
