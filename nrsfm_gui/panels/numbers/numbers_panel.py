"""The panel Numbers: the numbers of a run, of the frame and of the selected points, with units."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QGridLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from core.reconstruction import VERDICT_ACTIONS
from nrsfm_gui.widgets.dock_title import mark_dock_of
from nrsfm_gui.widgets.fields import filled, push_button, tool_button
from nrsfm_gui.widgets.labels import PlainLabel, plain_tip

if TYPE_CHECKING:
    from collections.abc import Collection

    from core.reconstruction import Verdict
    from nrsfm_gui.model.numbers import LabeledValue


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
            bar = self.verticalScrollBar()
            assert bar is not None  # a scroll area has one
            bar.setValue(0)

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
            widget = item.widget()
            assert widget is not None  # there is nothing else in it
            widget.hide()
            widget.deleteLater()
        for row, verdict in enumerate(verdicts):
            sentence = PlainLabel(verdict.sentence, wraps=True)
            sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(sentence, row, 0)
            close = tool_button("✕", "Show this no more (Ctrl+Z shows it again)", "Dismiss this remark")
            close.clicked.connect(lambda _checked, verdict=verdict: self.dismissed.emit(verdict))
            self._grid.addWidget(close, row, 2, Qt.AlignmentFlag.AlignTop)
            if verdict.action is None:
                continue
            meaning = VERDICT_ACTIONS[verdict.action]
            button = push_button(
                verdict.action.capitalize(),
                f"{meaning[0].upper()}{meaning[1:]}",
                partial(self.chosen.emit, verdict),
            )
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
