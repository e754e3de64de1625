"""How things are drawn, from the View menu: colors, trails, mesh, camera path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject
from PyQt6.QtWidgets import QFileDialog

from core import InputError
from nrsfm_gui.model.appearance import MESH_MODES
from nrsfm_gui.panels.appearance.mesh_files import SUFFIXES, read_triangulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from PyQt6.QtWidgets import QWidget

    from core import Sequence
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.appearance.appearance_panel import AppearancePanel
    from nrsfm_gui.scene.display import Display


class AppearanceController(QObject):
    """Changes the session's appearance, and shows it in the panel."""

    def __init__(
        self,
        session: Session,
        display: Display,
        panel: AppearancePanel,
        *,
        button: QWidget,
        drawn_by: Callable[[], str],
        show_cameras: Callable[[], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._notifier, self._display = session, session.notifier, display
        self._panel, self._button = panel, button
        self._drawn_by, self._show_cameras = drawn_by, show_cameras
        panel.appearance_requested.connect(session.set_appearance)
        panel.load.clicked.connect(lambda _checked: self.ask_for_triangulation())
        session.appearance_changed.connect(panel.set_appearance)
        session.sequence_changed.connect(self._update_loaded)
        display.scene_shown.connect(panel.set_scene)

    # -- what the actions call ------------------------------------------------------------------------------

    def change(self, **changes: Any) -> None:
        """Change some fields of the appearance."""
        self._session.change_appearance(**changes)

    def set_layer(self, layer: str, on: bool) -> None:
        """Show a layer or not."""
        self._session.set_appearance(self._session.appearance.with_layer(layer, on))

    def color_by_error(self, on: bool) -> None:
        """Color points by their error, or by their role."""
        self.change(color_by="error" if on else "role")

    def show_uncertainty(self, on: bool) -> None:
        """Color points by their uncertainty and draw it around them, or neither."""
        layers = self._session.appearance.with_layer("halos", on).layers
        self.change(color_by="uncertainty" if on else "role", layers=layers)

    def set_trails(self, on: bool) -> None:
        """Draw where the points were in the frames before, or not."""
        self.set_layer("trails", on)

    def set_path(self, on: bool) -> None:
        """Draw the cameras of all frames, and look at them, or not."""
        sequence = self._session.sequence
        self.set_layer("path", on)
        self._display.refresh()
        scene = self._display.scene
        if on and sequence is not None and scene is not None and scene.path is None:
            parallel = scene.camera is not None and scene.camera.orthogonal
            why = ": cameras of parallel rays have no place" if parallel else " yet: run the solver (Ctrl+R)"
            self._notifier.inform(f"There is no camera path{why}.")
        self._show_cameras()

    def cycle_mesh(self) -> None:
        """Draw the mesh in the next way: off, wire, shaded, both; off or wire where there are only edges."""
        appearance, scene = self._session.appearance, self._display.scene
        if scene is None or not (len(scene.edges) or len(scene.faces)):
            self._notifier.inform(
                "There is no mesh: this file gives none, and none was found in its shapes"
                f"{' yet: run the solver (Ctrl+R)' if scene is None or scene.estimate is None else ''}. "
                "Look… offers triangles between the tracks."
            )
            return
        modes = list(MESH_MODES) if len(scene.faces) else ["off", "wire"]
        now = appearance.mesh_mode
        now = now if now in modes else "wire" if "edges" in MESH_MODES[now] else "off"
        mode = modes[(modes.index(now) + 1) % len(modes)]
        self._notifier.show_status(f"Mesh: {mode}")
        self._session.set_appearance(appearance.with_mesh_mode(mode))

    def toggle_panel(self) -> None:
        """Open the panel of colors, trails, mesh and sizes, or close it."""
        if self._panel.isVisible():
            self._panel.hide()
        elif self._button.isVisible():
            self._panel.open_near(self._button, self._drawn_by())

    def ask_for_triangulation(self) -> None:
        """Ask for a file of triangles."""
        filters = f"Triangulations ({' '.join(f'*{suffix}' for suffix in SUFFIXES)})"
        dialog = QFileDialog(self._button.window(), "Load triangulation", "", filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self.load_triangulation(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def load_triangulation(self, path: Path) -> None:
        """Draw the triangles of a file, for this sequence and others of as many points."""
        sequence = self._session.sequence
        if sequence is None:
            return
        try:
            found = read_triangulation(path, sequence.point_count)
        except InputError as error:
            self._notifier.fail(str(error), "")
            return
        self._session.add_files([sequence], [path])
        mode = self._session.appearance.mesh_mode
        appearance = self._session.appearance.changed(mesh_source="loaded", triangulation=found)
        self._session.set_appearance(appearance.with_mesh_mode("both" if mode == "off" else mode))
        self._update_loaded(sequence)
        self._notifier.inform(f"{len(found.faces)} triangles of {path.name} are drawn.")

    # -- what the session has come to -----------------------------------------------------------------------

    def _update_loaded(self, sequence: Sequence) -> None:
        loaded = self._session.appearance.triangulation
        fits = loaded is not None and loaded.points == sequence.point_count
        self._panel.set_loaded(loaded.name if loaded is not None and fits else "")
