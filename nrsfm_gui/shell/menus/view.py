"""Rows of the menu View: the 3-D camera, colors, theme and panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nrsfm_gui.shell.actions import ActionSpec, with_background, with_sequence

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
        ActionSpec("turntable", "&View", "T&urntable", "Turn slowly around the object",
                   view.set_turntable, ("R",), with_sequence, checkable=True),
        ActionSpec("look", "&View", "Loo&k…", "Colors, their limits, trails, mesh, sizes and layers",
                   w.looks.toggle_panel, ("B",), with_sequence, separated=True),
        ActionSpec("color_by_error", "&View", "Color by &error", "Color points by their error",
                   w.looks.color_by_error, ("E",), checkable=True),
        ActionSpec("trails", "&View", "&Trails", "Show where each point was in the frames before",
                   w.looks.set_trails, ("T",), checkable=True),
        ActionSpec("mesh", "&View", "&Mesh: next way", "Draw the mesh as wire, shaded, both, or not at all",
                   w.looks.cycle_mesh, ("M",), with_sequence),
        ActionSpec("load_mesh", "&View", "Load tri&angulation…",
                   "Read triangles from .npz, .obj, .ply or .txt", w.looks.ask_for_triangulation, (),
                   with_sequence),
        ActionSpec("path", "&View", "Camera &path", "Show the cameras of all frames in the 3-D view",
                   w.looks.set_path, ("P",), checkable=True),
        ActionSpec("alignment", "&View", "Next &alignment of the truth",
                   "Lay the estimate over the ground truth in another way, and say which", w.aligning.cycle,
                   ("A",), with_sequence),
        ActionSpec("background", "&View", "&Background images or video…",
                   "Put an image sequence or a video behind the tracks", w.background.ask, (), with_sequence,
                   separated=True),
        ActionSpec("remove_background", "&View", "Remo&ve the background",
                   "Take the pictures behind the tracks away", w.background.remove, (), with_background),
        ActionSpec("theme", "&View", "&Light theme", "Dark or light colors", w.set_light, ("Ctrl+Shift+L",),
                   checkable=True, icon="theme", separated=True),
        ActionSpec("next_panel", "&View", "Next pane&l", "Move the keyboard to the next panel",
                   lambda: w.habits.panels.go(1), ("F6",), separated=True),
        ActionSpec("previous_panel", "&View", "Previous panel", "Move the keyboard to the panel before",
                   lambda: w.habits.panels.go(-1), ("Shift+F6",)),
        ActionSpec("reset_layout", "&View", "&Reset layout", "Put all panels back where they were at first",
                   w.reset_layout),
    )  # fmt: skip
