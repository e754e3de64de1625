"""The numbers of the reconstruction, of the frame and of the selected points that are shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, pyqtSignal

from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce, PanelUpdater
from nrsfm_gui.scene.frame_analysis import Findings, find
from nrsfm_gui.scene.frame_causes import frame_numbers
from nrsfm_gui.text.run_numbers import numbers, selection_numbers, selection_title, verdicts_on

if TYPE_CHECKING:
    from nrsfm_gui.model.numbers import LabeledValue
    from nrsfm_gui.model.session import Session
    from nrsfm_gui.panels.numbers.numbers_panel import NumbersPanel
    from nrsfm_gui.scene.display import Display
    from nrsfm_gui.scene.shapes import Shapes

Block = tuple[str, tuple["LabeledValue", ...]]  # a title, and the numbers below it


class NumbersController(QObject):
    """Shows numbers; what the frames suffer from is found once no run changes the reconstruction any more."""

    failed = pyqtSignal(str, str)  # a sentence and the traceback of a defect

    def __init__(
        self, session: Session, display: Display, panel: NumbersPanel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._display = session, display
        self._shapes: Shapes | None = None  # that were examined
        self._findings: Findings | None = None
        self._examined: Block = "", ()  # the numbers of the frame as of the last examination
        self._selected: Block = "", ()  # the numbers of the selected points
        self._jobs = Jobs(self, Order.NEWEST)
        self._rest = Debounce(self._on_rested, TYPING_MILLISECONDS, self)
        self._run = PanelUpdater(self._resolve_run, panel.set_numbers, self)
        self._verdicts = PanelUpdater(lambda: verdicts_on(session.seen_run), panel.set_verdicts, self)
        self._frame = PanelUpdater(self._resolve_frame, lambda block: panel.set_frame(*block), self)
        self._point = PanelUpdater(self._resolve_point, lambda block: panel.set_point(*block), self)
        for signal in (
            session.sequence_changed, session.settings_changed, session.shown_changed, session.runs_changed,
            session.run_changed, session.moment_changed,
        ):  # fmt: skip
            signal.connect(self._run.request)
            signal.connect(self._verdicts.request)
        display.errors.incumbent_changed.connect(self._run.run)
        display.errors.incumbent_changed.connect(self._verdicts.request)
        for signal in (display.scene_shown, session.run_changed):
            signal.connect(self._frame.request)
        display.scene_shown.connect(self._point.request)
        display.refreshed.connect(self.flush)
        self._run.request()

    def flush(self) -> None:
        """Show at once what has changed."""
        for updater in (self._run, self._verdicts, self._frame, self._point):
            updater.flush()

    def shut_down(self) -> None:
        """Wait for what is being examined."""
        self._rest.cancel()
        self._jobs.shut_down()

    def findings(self) -> Findings | None:
        """Return what is known of the frames of what is shown, examined now where it was not yet."""
        scene, sequence = self._display.scene, self._session.sequence
        if scene is None or sequence is None:
            return None
        if scene.shapes is not self._shapes:
            self._shapes, self._findings = scene.shapes, find(sequence, scene.shapes)
        return self._findings

    @property
    def _changing(self) -> bool:
        run = self._session.shown
        return run is not None and run.state.alive

    def _resolve_run(self) -> tuple[LabeledValue, ...]:
        session, found = self._session, self._display.errors.incumbent
        run = session.seen_run
        if run is not None and found is not None and run.number != found.run:
            run = next((other for other in session.runs if other.number == found.run), None)
        return tuple(numbers(run, found, session.sequence, session.settings, verdicts=False))

    def _resolve_frame(self) -> Block:
        scene = self._display.scene
        if scene is None or self._changing:
            self._examined = "", ()
            return self._examined
        if scene.shapes is not self._shapes:
            self._rest.request()
        else:
            found = tuple(frame_numbers(self._findings, scene.frame))
            self._examined = f"Frame {scene.frame + 1}", found
        return self._examined

    def _resolve_point(self) -> Block:
        scene = self._display.scene
        if scene is None or not scene.ahead:  # else those of all frames are not known yet
            self._selected = selection_title(scene), tuple(selection_numbers(scene))
        return self._selected

    def _on_rested(self) -> None:
        """Examine the frames in the background: that takes as long as several pictures."""
        scene, sequence = self._display.scene, self._session.sequence
        if scene is None or sequence is None or self._changing or scene.shapes is self._shapes:
            return
        shapes = scene.shapes
        done = partial(self._on_examined, shapes)
        self._jobs.start(Job(lambda _job: find(sequence, shapes), done=done, failed=self.failed))

    def _on_examined(self, shapes: Shapes, found: Findings | None) -> None:
        scene = None if self._jobs.over else self._display.scene
        if scene is not None and scene.shapes is shapes:
            self._shapes, self._findings = shapes, found
            self._frame.run()
