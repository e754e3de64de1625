"""The 3-D view and the session: requests of its color bar, failures of its renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject

if TYPE_CHECKING:
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.view3d.scene_view import SceneView
    from nrsfm_gui.scene.display import Display


class SceneViewController(QObject):
    """Changes the session's appearance as 3-D views request."""

    def __init__(
        self, session: Session, display: Display, view: SceneView, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display, self._view = session, display, view
        display.without_opengl = not view.uses_opengl
        view.degraded.connect(self._on_degraded)
        self.add_view(view)

    def add_view(self, view: SceneView) -> None:
        """Let the color bar of a view change the appearance."""
        view.limits_requested.connect(lambda limits: self._change(limits=limits))
        view.color_map_requested.connect(lambda name: self._change(color_map=name))
        view.coloring_requested.connect(lambda key: self._change(color_by=key))

    def show_cameras(self) -> None:
        """Look at all cameras and the object from outside."""
        self._view.set_camera_locked(False)
        self._view.fit()

    def _change(self, **changes: Any) -> None:
        self._session.change_appearance(**changes)

    def _on_degraded(self, sentence: str) -> None:
        self._display.without_opengl = True
        self._session.notifier.warn(f"{sentence}.")
