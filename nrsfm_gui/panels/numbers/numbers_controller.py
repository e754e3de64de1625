"""What the frame that is shown suffers from: found once for all frames, told to the panel of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer

from nrsfm_gui.engine.throttle import Pace
from nrsfm_gui.scene.frame_analysis import Findings, find
from nrsfm_gui.text.frame_causes import frame_numbers

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.scene.shapes import Shapes

REST_MILLISECONDS = 150  # a shape that a hand moves is not examined


class FrameDetails(QObject):
    """Examines the reconstruction that is shown once no run changes it any more."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._shapes: Shapes | None = None  # that were examined
        self._findings: Findings | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MILLISECONDS)
        self._rest.timeout.connect(self._examine)
        self._numbers = Pace(self._show, self)
        window.display.scene_shown.connect(lambda _scene: self._numbers.soon())
        window.session.run_changed.connect(lambda _run: self._numbers.soon())

    def findings(self) -> Findings | None:
        """Return what is known of the frames of what is shown, examined now where it was not yet."""
        scene, sequence = self._window.display.scene, self._window.session.sequence
        if scene is None or sequence is None:
            return None
        if scene.shapes is not self._shapes:
            self._shapes, self._findings = scene.shapes, find(sequence, scene.shapes)
        return self._findings

    @property
    def _changing(self) -> bool:
        run = self._window.session.shown
        return run is not None and run.state.alive

    def _show(self) -> None:
        scene = self._window.display.scene
        if scene is None or self._changing:
            self._window.numbers.set_frame("", [])
        elif scene.shapes is not self._shapes:
            self._rest.start()
        else:
            self._window.numbers.set_frame(
                f"Frame {scene.frame + 1}", frame_numbers(self._findings, scene.frame)
            )

    def _examine(self) -> None:
        if not self._changing:
            self.findings()
            self._show()
