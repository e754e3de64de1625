"""The 3-D view and the session: requests of its color bar, failures of its renderer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from PyQt6.QtCore import QObject

from core import Alignment
from core.foundation import Floats
from core.reconstruction import Orientation, UprightRule, parse_upright
from nrsfm_gui.model.appearance import Appearance
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.view_camera import Viewpoint

View = tuple[Appearance, Alignment, frozenset[int], Viewpoint]


class SceneViewController(QObject):
    """Changes the session's appearance as 3-D views request, and lets changes of their cameras be undone."""

    def __init__(
        self,
        session: Session,
        display: Display,
        view: SceneView,
        parent: QObject | None = None,
        *,
        first_appearance: Callable[[], Appearance] = Appearance,
    ) -> None:
        super().__init__(parent)
        self._session, self._display, self._view = session, display, view
        self._first_appearance = first_appearance
        self._is_resetting = False
        display.without_opengl = not view.renderer.uses_opengl
        view.renderer.degraded.connect(self._on_degraded)
        session.sequence_changed.connect(self._on_sequence_changed)
        self.add_view(view)

    def set_follow(self, on: bool) -> None:
        """Move the view with the object, or hold it still."""
        self._session.change_appearance(follow=on)

    def add_view(self, view: SceneView) -> None:
        """Let the color bar of a view change the appearance."""
        view.color_bar.change_requested.connect(lambda changes: self._session.change_appearance(**changes))
        view.buttons.acts["follow"].triggered.connect(self.set_follow)
        view.camera.viewpoint_changed.connect(self._on_viewpoint_changed)
        self._session.undo_requested.connect(view.camera.end_gesture)

    def reset(self) -> None:
        """Show camera, layers, colors, alignment and hidden points as at first: one step of undo."""
        self._view.camera.end_gesture()
        session, before = self._session, self._seen()
        loaded = session.appearance.triangulation  # it stays on offer
        first = replace(self._first_appearance(), triangulation=loaded)
        self._show((first, session.first_alignment, frozenset(), before[3]))
        self._is_resetting = True  # the camera's part is recorded with the rest
        self._view.reset()
        self._view.set_orthographic(False)
        self._is_resetting = False
        session.record_view_change("everything", "view as at first", before, self._seen(), self._show)
        session.notifier.show_status("The view is as it was at first; Ctrl+Z undoes it")

    def save_view(self, key: str) -> None:
        """Keep with the session where the view is seen from."""
        camera, session = self._view.camera, self._session
        before, camera.saved_views = camera.saved_views, camera.saved_views | {key: camera.orbit}
        show = partial(setattr, camera, "saved_views")
        session.record_view_change(f"view {key}", f"view {key} saved", before, camera.saved_views, show)
        session.notifier.show_status(f"Saved as view {key}: the key {key} shows it again")

    def show_view(self, key: str) -> None:
        """Look from where a saved view was."""
        if key in self._view.camera.saved_views:
            self._view.show_saved(key)
        else:
            self._session.notifier.show_status(f"There is no view {key} yet: Ctrl+{key} saves this one")

    def _on_sequence_changed(self) -> None:
        self._view.camera.saved_views = {}
        self._view.set_camera_locked(False)

    def _seen(self) -> View:
        session = self._session
        return session.appearance, session.alignment, session.hidden, self._view.camera.viewpoint

    def _show(self, view: View) -> None:
        appearance, alignment, hidden, viewpoint = view
        self._session.set_appearance(appearance, undoable=False)
        self._session.set_alignment(alignment, undoable=False)
        self._session.set_hidden(hidden, undoable=False)
        self._display.refresh()  # a camera that follows the object is placed by what is shown
        self._view.set_viewpoint(viewpoint)

    def _on_viewpoint_changed(self, before: Viewpoint, after: Viewpoint, text: str) -> None:
        """Let a gesture be undone; a second view follows the first one."""
        if not self._is_resetting:
            self._session.record_view_change("viewpoint", text, before, after, self._view.set_viewpoint)

    # -- how it stands: a setting ---------------------------------------------------------------------------

    def set_up(self) -> None:
        """Make what is upwards in the view up."""
        self._say(lambda stands, view: {"up": stands.first @ -view[1]}, "Up is as in this view")

    def set_front(self) -> None:
        """Make the side that is seen the front."""
        self._say(lambda stands, view: {"front": stands.first @ -view[2]}, "This side is the front")

    def stand_on_points(self) -> None:
        """Put the floor through the selected points of this frame; of two, the upward axis."""
        scene, session = self._display.scene, self._session
        points = None if scene is None else scene.truth if scene.estimate is None else scene.estimate
        chosen = [] if points is None else [k for k in session.selection if np.isfinite(points[k]).all()]
        if points is None or len(chosen) < 2:
            session.notifier.show_status("Select two points above each other, or three or more on the floor")
            return
        places = points[chosen].T
        axis = np.linalg.svd(places - places.mean(axis=1, keepdims=True))[0][:, 0 if len(chosen) == 2 else 2]

        def said(stands: Orientation, _view: Floats) -> dict[str, Any]:
            up = {"up": stands.first @ (axis if axis @ stands.up >= 0 else -axis)}
            return up if len(chosen) == 2 else up | {"floor": (session.frame, tuple(chosen))}

        self._say(said, f"Up is along the {'two points' if len(chosen) == 2 else 'normal of the points'}")

    def stand_as_pictures(self) -> None:
        """Let it stand as the pictures do."""
        self._session.set_settings(self._session.settings.with_changes(upright=None))

    def _say(self, found: Callable[[Orientation, Floats], dict[str, Any]], sentence: str) -> None:
        """Change what was said about how it stands; directions are in the axes of the first camera."""
        session, framing = self._session, self._view.framing
        if framing is None or not framing.by_cameras:
            session.notifier.show_status("No camera is known yet: run the solver first (Ctrl+R)")
            return
        said = found(framing.orientation, self._view.rotation)
        said |= {name: tuple(value.tolist()) for name, value in said.items() if isinstance(value, np.ndarray)}
        known = session.settings.upright
        rule = replace(UprightRule() if known is None else parse_upright(known), **said)
        session.set_settings(session.settings.with_changes(upright=str(rule)))
        session.notifier.show_status(f"{sentence}; Ctrl+Z undoes it")

    def show_cameras(self) -> None:
        """Look at all cameras and the object from outside."""
        self._view.set_camera_locked(False)
        self._view.fit_cameras()

    def _on_degraded(self, sentence: str) -> None:
        self._display.without_opengl = True
        self._session.notifier.warn(f"{sentence}.")
