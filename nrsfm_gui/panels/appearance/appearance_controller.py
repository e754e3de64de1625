"""How things are drawn, from the View menu: colors, trails, mesh, camera path, turntable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject
from PyQt6.QtGui import QAction
from PyQt6.QtWidgets import QFileDialog

from core import InputError
from nrsfm_gui.model.appearance import LAYERS, MESH_MODES, Appearance
from nrsfm_gui.model.mesh import chosen_mesh
from nrsfm_gui.panels.appearance.appearance_panel import AppearancePanel
from nrsfm_gui.scene.mesh_files import SUFFIXES, read_triangulation

if TYPE_CHECKING:
    from core import Sequence
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.theme import Theme


class Looks(QObject):
    """Changes the appearance that a window's display draws with, and owns the panel that shows it."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._view, self._display = window.scene_view, window.display
        self._actions: dict[str, QAction | None] = {}  # those that are checked
        self.panel = AppearancePanel(self._view)
        self.panel.appearance_requested.connect(self._display.set_appearance)
        self.panel.load_requested.connect(self.ask_for_triangulation)
        self._display.appearance_changed.connect(self._show)
        self._display.scene_shown.connect(self.panel.set_scene)
        self._view.buttons.look_requested.connect(self.toggle_panel)
        self._view.limits_requested.connect(lambda limits: self.change(limits=limits))
        self._view.color_map_requested.connect(lambda name: self.change(color_map=name))
        self._view.coloring_requested.connect(lambda key: self.change(color_by=key))
        self._view.turntable_changed.connect(lambda on: self._check("turntable", on))
        self._view.degraded.connect(self._take_degraded)
        window.session.sequence_changed.connect(self._show_sources)

    # -- what the actions call ------------------------------------------------------------------------------

    def change(self, **changes: Any) -> None:
        """Change some fields of the appearance."""
        self._display.set_appearance(self._display.appearance.changed(**changes))

    def set_layer(self, layer: str, on: bool) -> None:
        """Show a layer or not."""
        self._display.set_appearance(self._display.appearance.with_layer(layer, on))

    def color_by_error(self, on: bool) -> None:
        """Color points by their error, or by their role."""
        self.change(color_by="error" if on else "role")

    def set_trails(self, on: bool) -> None:
        """Draw where the points were in the frames before, or not."""
        self.set_layer("trails", on)

    def set_path(self, on: bool) -> None:
        """Draw the cameras of all frames, and look at them, or not."""
        sequence = self._window.session.sequence
        self.set_layer("path", on)
        self._display.refresh()
        scene = self._display.scene
        if on and sequence is not None and scene is not None and scene.path is None:
            self._window.messages.note(
                "There is no camera path: cameras of parallel rays have no place."
                if scene.camera is not None and scene.camera.orthogonal
                else "There is no camera path yet: run the solver (Ctrl+R)."
            )
        self._view.set_camera_locked(False)
        self._view.fit()

    def cycle_mesh(self) -> None:
        """Draw the mesh in the next way: off, wire, shaded, both."""
        appearance, sequence = self._display.appearance, self._window.session.sequence
        modes = list(MESH_MODES)
        if sequence is not None and not _has_mesh(sequence, appearance):
            appearance = appearance.changed(mesh_source="tracks").with_mesh_mode("wire")
            self._window.messages.note(
                "This file has no mesh: triangles between its tracks are drawn. Look… offers others."
            )
        else:
            mode = modes[(modes.index(appearance.mesh_mode) + 1) % len(modes)]
            appearance = appearance.with_mesh_mode(mode)
            self._window.chrome.say(f"Mesh: {mode}")
        self._display.set_appearance(appearance)

    def toggle_panel(self) -> None:
        """Open the panel of colors, trails, mesh and sizes, or close it."""
        if self.panel.isVisible():
            self.panel.hide()
        elif self._view.buttons.isVisible():
            self.panel.open_beside(self._view.buttons.look, self._view.drawn_by)

    def ask_for_triangulation(self) -> None:
        """Ask for a file of triangles."""
        filters = f"Triangulations ({' '.join(f'*{suffix}' for suffix in SUFFIXES)})"
        dialog = QFileDialog(self._window, "Load triangulation", "", filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.load_triangulation(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def load_triangulation(self, path: Path) -> None:
        """Draw the triangles of a file, for this sequence and others of as many points."""
        sequence = self._window.session.sequence
        if sequence is None:
            return
        try:
            found = read_triangulation(path, sequence.point_count)
        except InputError as error:
            self._window.report(str(error), "")
            return
        mode = self._display.appearance.mesh_mode
        appearance = self._display.appearance.changed(mesh_source="loaded", triangulation=found)
        self._display.set_appearance(appearance.with_mesh_mode("both" if mode == "off" else mode))
        self._show_sources(sequence)
        self._window.messages.note(f"{len(found.faces)} triangles of {path.name} are drawn.")

    # -- what is shown --------------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.panel.set_theme(theme)

    def _show(self, appearance: Appearance) -> None:
        self.panel.set_appearance(appearance)
        self._check("color_by_error", appearance.color_by == "error")
        self._check("trails", "trails" in appearance.layers)
        self._check("path", "path" in appearance.layers)
        for layer in LAYERS:
            self._check(f"layer {layer}", layer in appearance.layers)

    def _check(self, name: str, on: bool) -> None:
        """Check an action of a menu without triggering it; `toggled` of a layer finds nothing to change."""
        if name not in self._actions:
            self._actions[name] = self._window.findChild(QAction, name)
        action = self._actions[name]
        if action is not None:
            action.setChecked(on)

    def _show_sources(self, sequence: Sequence) -> None:
        loaded = self._display.appearance.triangulation
        fits = loaded is not None and loaded.points == sequence.point_count
        self.panel.set_sources(
            in_file=sequence.edges is not None or sequence.faces is not None,
            loaded=loaded.name if loaded is not None and fits else "",
        )

    def _take_degraded(self, sentence: str) -> None:
        self._display.without_opengl = True
        self._window.messages.warn(f"{sentence}.")


def _has_mesh(sequence: Sequence, appearance: Appearance) -> bool:
    mesh = chosen_mesh(sequence, appearance.mesh_source, appearance.triangulation)
    return bool(len(mesh.edges) or len(mesh.faces))
