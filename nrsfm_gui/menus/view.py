"""Rows of the menu View: the 3-D camera, colors, theme and panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.actions import ActionSpec, with_sequence

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


def view_rows(w: MainWindow) -> tuple[ActionSpec, ...]:
    """Return the rows of the menu View."""
    view = w.scene_view
    presets = (("front", "1"), ("side", "2"), ("top", "3"), ("iso", "4"))
    return (
        ActionSpec("fit", "&View", "&Fit", "Show the whole sequence in both views", w.fit, ("F",),
                   with_sequence, icon="fit"),
        *(
            ActionSpec(name, "&View", f"From the {name}" if name != "iso" else "Oblique",
                       f"Look from the {name}" if name != "iso" else "Look from above and aside",
                       lambda name=name: view.set_axis_preset(name), (key,), with_sequence,
                       separated=name == "front")
            for name, key in presets
        ),
        ActionSpec("orthographic", "&View", "&Orthographic", "Parallel rays in the 3-D view",
                   view.set_orthographic, ("5",), checkable=True, separated=True),
        ActionSpec("camera_lock", "&View", "Lock to the &camera",
                   "See the 3-D view through the camera of the current frame", view.set_camera_locked, ("C",),
                   checkable=True),
        ActionSpec("color_by_error", "&View", "Color by &error", "Color points by their error",
                   w.looks.color_by_error, ("E",), checkable=True),
        ActionSpec("alignment", "&View", "Next &alignment of the truth",
                   "Lay the estimate over the ground truth in another way, and say which", w.aligning.cycle,
                   ("A",), with_sequence),
        ActionSpec("background", "&View", "&Background images or video…",
                   "Put an image sequence or a video behind the tracks", w.background.ask, (), with_sequence,
                   separated=True),
        ActionSpec("remove_background", "&View", "Remo&ve the background",
                   "Take the pictures behind the tracks away", w.background.remove, (), with_sequence),
        ActionSpec("theme", "&View", "&Light theme", "Dark or light colors", w.set_light, ("Ctrl+Shift+L",),
                   checkable=True, icon="theme", separated=True),
        ActionSpec("reset_layout", "&View", "&Reset layout", "Put all panels back where they were at first",
                   w.reset_layout),
    )  # fmt: skip
