"""Rows of the menu Export: files and pictures of what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec, with_reconstruction, with_runs, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def export_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu Export."""
    exporting = w.exporting
    return (
        ActionSpec("export", "E&xport", "&Export…",
                   "Everything that can be exported: shapes, glTF, tables, movies, pictures, plots, a report",
                   exporting.ask, ("Ctrl+E",), with_sequence, icon="export"),
        ActionSpec("export_report", "E&xport", "Repor&t of this run…",
                   "One HTML page on the run that is shown: settings, numbers, plots, worst frames",
                   exporting.ask_for_report, (), with_reconstruction, icon="reports"),
        ActionSpec("export_result", "E&xport", "&Reconstruction…",
                   "Save the reconstruction that is shown, in the format that the suffix names",
                   exporting.ask_for_reconstruction, (), with_reconstruction, separated=True),
        ActionSpec("export_frames", "E&xport", "&All frames as PLY or OBJ…",
                   "One numbered file for every frame",
                   exporting.ask_for_frames, (), with_reconstruction),
        ActionSpec("export_view", "E&xport", "3-D &view as picture…", "Save the 3-D view as .png",
                   exporting.ask_for_view, ("Ctrl+Shift+E",), with_sequence, separated=True),
        ActionSpec("export_tracks", "E&xport", "2-&D view as picture…", "Save the 2-D view as .png",
                   exporting.ask_for_tracks, (), with_sequence),
        ActionSpec("export_loss", "E&xport", "&Loss plot…", "Save the loss plot as .png, .svg or .pdf",
                   exporting.ask_for_loss, (), with_runs),
        ActionSpec("export_spectrum", "E&xport", "Plot of the &weights…",
                   "Save the singular values and weights as .png, .svg or .pdf",
                   exporting.ask_for_spectrum, (), with_reconstruction),
    )  # fmt: skip
