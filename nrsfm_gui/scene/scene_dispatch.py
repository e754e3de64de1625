"""When the views get a scene: all at once, or one after the other, so that events are served between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QObject, QTimer

from nrsfm_gui.engine.throttle import FRAME_MILLISECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from nrsfm_gui.scene.scene import Scene

DRAG_MILLISECONDS = 80  # while the mouse changes parameters, until the other views follow


class SceneTarget(Protocol):
    """A view of the scene."""

    def set_scene(self, scene: Scene) -> None:
        """Show a scene."""

    def repaint(self) -> None:
        """Paint it before returning."""


class SceneDispatch(QObject):
    """Sends the newest scene to the views.

    Parameters
    ----------
    targets
        the views; the first is the one that is looked at meanwhile.
    is_dragging
        returns whether the mouse changes parameters now.
    """

    def __init__(
        self, targets: tuple[SceneTarget, ...], is_dragging: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._targets = targets
        self._is_dragging = is_dragging
        self._scene: Scene | None = None
        self._queue: list[SceneTarget] = []  # views that have not got the newest scene yet
        self._stage = QTimer(self)
        self._stage.setSingleShot(True)
        self._stage.timeout.connect(self._send_next)

    def send(self, scene: Scene, *, live: bool) -> None:
        """Send a scene to the views: before returning, unless a run goes on (`live`)."""
        self._scene = scene
        self._queue += [target for target in self._targets if target not in self._queue]
        if not live:
            while self._queue:
                self._queue.pop(0).set_scene(scene)
        elif self._is_dragging():
            first = self._targets[0]
            self._queue.remove(first)
            first.set_scene(scene)
            first.repaint()  # before the events of the mouse that have come meanwhile
            if not self._stage.isActive():
                self._stage.start(DRAG_MILLISECONDS)
        elif not self._stage.isActive():
            self._send_next()

    def stop(self) -> None:
        """Send no more."""
        self._stage.stop()

    def _send_next(self) -> None:
        """Send the scene to one view; the next one gets it a moment later."""
        if self._queue and self._scene is not None:
            self._queue.pop(0).set_scene(self._scene)
            self._stage.start(DRAG_MILLISECONDS if self._is_dragging() else FRAME_MILLISECONDS)
