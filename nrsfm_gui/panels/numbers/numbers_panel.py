"""The panel Numbers: the numbers of the run, of the frame and of the selected points that are shown."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from itertools import zip_longest

from PyQt6.QtCore import QObject, Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QGridLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from core.reconstruction import VERDICT_ACTIONS, Verdict
from nrsfm_gui.engine.jobs import Job, Jobs, Order
from nrsfm_gui.engine.throttle import TYPING_MILLISECONDS, Debounce, PanelUpdater
from nrsfm_gui.model.numbers import LabeledValue
from nrsfm_gui.model.session import Session
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.frame_analysis import Findings, find
from nrsfm_gui.scene.frame_causes import frame_numbers
from nrsfm_gui.scene.shapes import Shapes
from nrsfm_gui.text.run_numbers import numbers, selection_numbers, selection_title, verdicts_on
from nrsfm_gui.widgets.dock_title import mark_dock_of
from nrsfm_gui.widgets.fields import filled, push_button, tool_button
from nrsfm_gui.widgets.labels import PlainLabel, known, plain_tip

Block = tuple[str, tuple["LabeledValue", ...]]  # a title, and the numbers below it


class NumbersPanel(QScrollArea):
    """Lists of labeled values: of the selected point, of the frame, of the reconstruction."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # The selection comes first: below the numbers of the run it would not be visible.
        self._point, self._frame, self._main = _Block(), _Block(), _Block()
        self._main.heading.setText("Reconstruction")
        self._verdicts = _Verdicts()
        self.verdict_chosen, self.verdict_dismissed = self._verdicts.chosen, self._verdicts.dismissed
        hint = "Click a point in the 3-D or 2-D view to see its numbers."
        empty = "The numbers of the reconstruction appear here when there is one."
        self._hint, self._empty = (PlainLabel(text, role="muted", wraps=True) for text in (hint, empty))
        content = QWidget()
        parts = (self._point, self._verdicts, self._frame, self._main, self._empty, self._hint)
        filled(QVBoxLayout(content), *parts, None, spacing=10, margins=(12, 6, 12, 10))
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(90)
        self._title_main()

    def set_numbers(self, numbers: Collection[LabeledValue]) -> None:
        """Show the numbers of the reconstruction."""
        self._main.set_rows(numbers)
        self._empty.setVisible(not numbers)

    def set_verdicts(self, verdicts: tuple[Verdict, ...]) -> None:
        """Show what may be wrong with the reconstruction and what can be done, and mark the tab."""
        self._verdicts.set_verdicts(verdicts)
        count = len(verdicts)
        mark_dock_of(self, f"{count} remark{'s' * (count > 1)}" if count else "")
        self._title_main()

    def set_frame(self, title: str, numbers: Collection[LabeledValue]) -> None:
        """Show the numbers of the frame that is shown; none are given where nothing is known of it."""
        self._frame.heading.setText(title)
        self._frame.set_rows(numbers)
        self._title_main()

    def set_point(self, title: str, numbers: Collection[LabeledValue]) -> None:
        """Show the numbers of a point; none are given where no point is selected."""
        appears = bool(numbers) and self._point.isHidden()
        self._point.heading.setText(title)
        self._point.set_rows(numbers)
        self._hint.setVisible(not numbers)
        self._title_main()
        if appears:  # one may have scrolled down
            known(self.verticalScrollBar()).setValue(0)

    def _title_main(self) -> None:
        above = (self._point, self._frame, self._verdicts)
        self._main.show_title(any(not part.isHidden() for part in above))


class _Verdicts(QWidget):
    """A heading, and sentences with buttons; hidden where there are none."""

    chosen = pyqtSignal(object)  # the action of what may be wrong with the reconstruction was pressed
    dismissed = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setColumnStretch(0, 1)
        self._grid.setContentsMargins(0, 0, 0, 0)
        heading = PlainLabel("What may be wrong", role="heading")
        filled(QVBoxLayout(self), heading, _line(), self._grid, spacing=6)
        self.hide()

    def set_verdicts(self, verdicts: tuple[Verdict, ...]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = known(item.widget())  # there is nothing else in it
            widget.hide()
            widget.deleteLater()
        for row, verdict in enumerate(verdicts):
            sentence = PlainLabel(verdict.sentence, wraps=True)
            sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(sentence, row, 0)
            tip, dismiss = "Show this no more (Ctrl+Z shows it again)", partial(self.dismissed.emit, verdict)
            close = tool_button("✕", tip, "Dismiss this remark", dismiss)
            self._grid.addWidget(close, row, 2, Qt.AlignmentFlag.AlignTop)
            if verdict.action is None:
                continue
            meaning = VERDICT_ACTIONS[verdict.action]
            tip, choose = f"{meaning[0].upper()}{meaning[1:]}", partial(self.chosen.emit, verdict)
            button = push_button(verdict.action.capitalize(), tip, choose)
            self._grid.addWidget(button, row, 1, Qt.AlignmentFlag.AlignTop)
        self.setVisible(bool(verdicts))


class _Block(QWidget):
    """A heading, a line and pairs of label and value; hidden where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.heading, self._line = PlainLabel(role="heading"), _line()
        self._grid = QGridLayout()
        filled(QVBoxLayout(self), self.heading, self._line, self._grid, spacing=6)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[PlainLabel, PlainLabel]] = []
        self.hide()

    def show_title(self, on: bool) -> None:
        self.heading.setVisible(on)
        self._line.setVisible(on)

    def set_rows(self, numbers: Collection[LabeledValue]) -> None:
        while len(self._rows) < len(numbers):
            row = len(self._rows)
            label, value = PlainLabel(role="muted"), PlainLabel(wraps=True)
            label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
            value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            self._grid.addWidget(label, row, 0)
            self._grid.addWidget(value, row, 1)
            self._rows.append((label, value))
        for (label, value), number in zip_longest(self._rows, numbers):
            label.setVisible(number is not None)
            value.setVisible(number is not None)
            if number is not None:
                for part, text in ((label, number.label), (value, number.value)):
                    part.setToolTip(plain_tip(number.tip))
                    part.setText(text)
        self.setVisible(bool(numbers))


def _line() -> QFrame:
    line = QFrame()
    line.setProperty("role", "line")
    return line


class NumbersController(QObject):
    """Shows numbers; what the frames suffer from is found once no run changes the reconstruction any more."""

    def __init__(self, session: Session, display: Display, panel: NumbersPanel) -> None:
        super().__init__(panel)
        self._session, self._display = session, display
        self._shapes: Shapes | None = None  # that were examined
        self._findings: Findings | None = None
        self._examined: Block = "", ()  # the numbers of the frame as of the last examination
        self._selected: Block = "", ()  # the numbers of the selected points
        self._jobs = Jobs(self, Order.NEWEST)
        self._rest = Debounce(self._on_rested, TYPING_MILLISECONDS, self)
        self._run = PanelUpdater(self._resolve_run, panel.set_numbers, self)
        self._run.add(lambda: verdicts_on(session.seen_run), panel.set_verdicts)
        self._frame = PanelUpdater(self._resolve_frame, lambda block: panel.set_frame(*block), self)
        self._point = PanelUpdater(self._resolve_point, lambda block: panel.set_point(*block), self)
        self._run.follow(
            session.sequence_changed, session.settings_changed, session.shown_changed, session.runs_changed,
            session.run_changed, session.moment_changed,
        )  # fmt: skip
        display.errors.incumbent_changed.connect(self._run.run)
        self._frame.follow(display.scene_shown, session.run_changed)
        self._point.follow(display.scene_shown)
        display.refreshed.connect(self.flush)
        self._run.request()

    def flush(self) -> None:
        """Show at once what has changed."""
        for updater in (self._run, self._frame, self._point):
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
        done, failed = partial(self._on_examined, shapes), self._session.notifier.fail
        self._jobs.start(Job(lambda _job: find(sequence, shapes), done=done, failed=failed))

    def _on_examined(self, shapes: Shapes, found: Findings | None) -> None:
        scene = None if self._jobs.over else self._display.scene
        if scene is not None and scene.shapes is shapes:
            self._shapes, self._findings = shapes, found
            self._frame.run()
