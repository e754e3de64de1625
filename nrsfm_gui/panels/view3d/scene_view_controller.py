"""The 3-D view and the session: requests of its color bar, failures of its renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject

from nrsfm_gui.engine.throttle import PanelUpdater
from nrsfm_gui.model.session import REFINED

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
        self._solution = PanelUpdater(
            self._resolve_solution, lambda refined: view.set_solution(refined=refined), self
        )
        for signal in (
            session.shown_changed, session.run_changed, session.moment_changed, session.solution_changed
        ):  # fmt: skip
            signal.connect(self._solution.request)
        display.refreshed.connect(self._solution.flush)
        view.buttons.refined_requested.connect(self.show_refined)

    def show_refined(self, on: bool) -> None:
        """Show the refined depths of a run, or the bilinear solution that they were refined from."""
        self._session.set_solution(REFINED if on else "bilinear")

    def add_view(self, view: SceneView) -> None:
        """Let the color bar of a view change the appearance."""
        view.limits_requested.connect(lambda limits: self._change(limits=limits))
        view.color_map_requested.connect(lambda name: self._change(color_map=name))
        view.coloring_requested.connect(lambda key: self._change(color_by=key))
        view.follow_requested.connect(lambda on: self._change(follow=on))

    def show_cameras(self) -> None:
        """Look at all cameras and the object from outside."""
        self._view.set_camera_locked(False)
        self._view.fit_cameras()

    def _resolve_solution(self) -> bool | None:
        """Return whether refined depths are shown; None where the run has no other solution."""
        session = self._session
        last = None if session.shown is None else session.shown.last
        if last is None or not last.alternatives:
            return None
        seen = session.seen
        return seen is not None and seen.record.energy is not None

    def _change(self, **changes: Any) -> None:
        self._session.change_appearance(**changes)

    def _on_degraded(self, sentence: str) -> None:
        self._display.without_opengl = True
        self._session.notifier.warn(f"{sentence}.")
