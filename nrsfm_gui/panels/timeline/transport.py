"""The buttons of the timeline: frame, playback, speed, loop, worst frame, kind of error."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPalette
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from nrsfm_gui.panels.timeline.frame_picture import TimelineState
from nrsfm_gui.panels.timeline.playback import FRAMES_PER_SECOND, SPEEDS, Loop
from nrsfm_gui.scene.comparison import SERIES_NAME
from nrsfm_gui.widgets.fields import ComboBox, NumberField, filled, tool_button, with_tip
from nrsfm_gui.widgets.icons import icon
from nrsfm_gui.widgets.labels import PlainLabel, known

TIPS = {
    "first": "First frame (Home)",
    "previous": "Previous frame (J)",
    "play": "Play or stop (Space)",
    "next": "Next frame (L)",
    "last": "Last frame (End)",
}
LOOPS = {  # icon and tip
    Loop.AGAIN: ("loop", "After the last frame: begin again. Click for back and forth."),
    Loop.BACK: ("back", "After the last frame: go back. Click for playing once."),
    Loop.ONCE: ("once", "After the last frame: stop. Click for a loop."),
}
WORST_TIP = "Go to the frame with the largest mean error; again: to the next one (W)"
DIFFER_TIP = "Go to the frame in which the runs differ most; again: to the next one (W)"
NO_KIND = "Which errors are shown: after a run"
SORT_TIP = "Order of the points below: by number, or by mean error with the worst on top"
FIELD_WIDTH = 50
FADED = QPalette.ColorRole.Mid  # of icons of what is disabled: that of borders
BUTTON_PADDING, ROW_SPACING = 26, 2  # pixels around the text of a button, and between two
SWITCH, ORDER = "⇄", "⇅"  # another kind of error, another order


class Transport(QWidget):
    """The playback controls. Setters emit nothing."""

    frame_requested = pyqtSignal(int)  # 0-based
    playing_requested = pyqtSignal(bool)
    speed_requested = pyqtSignal(float)  # times the usual rate
    loop_requested = pyqtSignal(object)  # Loop
    worst_requested = pyqtSignal()
    change_requested = pyqtSignal(dict)  # of fields of the state: another kind of errors, another order

    def __init__(self) -> None:
        super().__init__()
        self._state = TimelineState()
        self._playing, self._loop = False, Loop.AGAIN
        tip = "Frame: type a number, or step with the arrow keys"
        self._field = with_tip(NumberField(integer=True), "frame", tip)
        self._field.setObjectName("frame")
        self._field.setFixedWidth(FIELD_WIDTH)
        self._field.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._field.edited.connect(self._on_frame_typed)
        self._field.editingFinished.connect(lambda: self.set_state(self._state))
        self._field.returnPressed.connect(self._field.clearFocus)  # the keys of the views step on from there
        self._label, self._rate = PlainLabel(), PlainLabel(role="muted")
        self._label.setIndent(4)
        self._rate.setToolTip("Frames per second that are drawn")
        self._rate.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._rate.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._buttons = {
            name: self._button(name, tip, partial(self._press, name)) for name, tip in TIPS.items()
        }
        self._speed = with_tip(ComboBox(), "speed", f"Speed: 1× is {FRAMES_PER_SECOND:g} frames per second")
        self._speed.addItems([f"{speed:g}×" for speed in SPEEDS])
        self._speed.setCurrentIndex(SPEEDS.index(1.0))
        self._speed.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._speed.currentIndexChanged.connect(lambda index: self.speed_requested.emit(SPEEDS[index]))
        self._again = self._button("loop", "", self._on_loop_clicked)
        self._worst = self._button("worst", WORST_TIP, self.worst_requested.emit)
        self._worst.setText("Worst")
        self._worst.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._kind = self._button("kind", "", self._on_kind_clicked)
        self._sort = self._button("sort", SORT_TIP, self._on_sort_clicked)
        self._sort.setCheckable(True)
        self._sort.setText(f"by point {ORDER}")
        words = (f"reprojection {SWITCH}", f"by point {ORDER}")
        widths = [self.fontMetrics().horizontalAdvance(word) + BUTTON_PADDING for word in words]
        for button, width in zip((self._kind, self._sort), widths, strict=True):
            button.setAutoRaise(False)  # so that they look like buttons
            button.setFixedWidth(width)
        # Fixed, or the axes would move with the text of the buttons.
        self.setFixedWidth(sum(widths) + ROW_SPACING)
        rows = (
            (self._field, self._label, self._rate),
            (*self._buttons.values(), None),
            (self._speed, self._again, self._worst, None),
            (self._kind, self._sort, None),
        )
        layouts = [filled(QHBoxLayout(), *row, grows=self._rate, spacing=ROW_SPACING) for row in rows]
        filled(QVBoxLayout(self), None, *layouts, None, spacing=3)
        self.set_loop(Loop.AGAIN)
        self._show_kind()
        self.set_playing(False)

    def set_state(self, state: TimelineState) -> None:
        """Show the frame, which errors are shown, and whether there are others to choose."""
        before, self._state = self._state, state
        for part in (*self._buttons.values(), self._worst, self._field):
            part.setEnabled(state.count > 1)
        self._label.setText(f"of {state.count}" if state.count else "no frames")
        self._field.set_value(state.frame + 1 if state.count else None)
        if (state.kinds, state.chosen) != (before.kinds, before.chosen):
            self._show_kind()

    def set_playing(self, playing: bool) -> None:
        """Show whether frames are playing."""
        self._playing = playing
        self._buttons["play"].setIcon(icon("pause" if playing else "play", disabled=FADED))
        if not playing:
            self._rate.clear()

    def set_rate(self, rate: float) -> None:
        """Show how many frames per second are drawn."""
        self._rate.setText(f"{rate:.0f} fps")

    def set_loop(self, loop: Loop) -> None:
        """Show what comes after the last frame."""
        self._loop = loop
        name, tip = LOOPS[loop]
        self._again.setIcon(icon(name, disabled=FADED))
        self._again.setToolTip(tip)
        self._again.setAccessibleName(f"after the last frame: {loop.value}")

    def _show_kind(self) -> None:
        shown, others = self._state.series, len(self._state.kinds) > 1
        name = "" if shown is None else shown.name
        short = name.removesuffix(" error")
        self._kind.setText(f"{short} {SWITCH}" if others else short or "error")
        self._kind.setEnabled(others)
        title, tip = ("Apart", DIFFER_TIP) if name == SERIES_NAME else ("Worst", WORST_TIP)
        with_tip(self._worst, tip, tip).setText(title)
        only = f"Shown: {name}, the only kind of error there is." if name else NO_KIND
        self._kind.setToolTip(f"Shown: {name}. Click for the next kind." if others else only)

    def _button(self, name: str, tip: str, pressed: Callable[[], object]) -> QToolButton:
        button = tool_button("", tip, tip, pressed, object_name=name, keyboard=False)
        button.setIconSize(QSize(16, 16))
        if name in (*TIPS, "worst"):
            button.setIcon(icon(name, disabled=FADED))
        button.setAutoRepeat(name in ("previous", "next"))
        return button

    def _press(self, name: str) -> None:
        last, frame = max(self._state.count - 1, 0), self._state.frame
        targets = {"first": 0, "previous": frame - 1, "next": frame + 1, "last": last}
        if name == "play":
            self.playing_requested.emit(not self._playing)
        else:
            self.frame_requested.emit(min(max(targets[name], 0), last))

    def _on_loop_clicked(self) -> None:
        kinds = list(Loop)
        self.set_loop(kinds[(kinds.index(self._loop) + 1) % len(kinds)])
        self.loop_requested.emit(self._loop)

    def _on_kind_clicked(self) -> None:
        names = [kind.name for kind in self._state.kinds]
        shown = names.index(known(self._state.series).name)  # the button is disabled where there is none
        self.change_requested.emit({"chosen": names[(shown + 1) % len(names)]})

    def _on_sort_clicked(self) -> None:
        self._sort.setText(f"by error {ORDER}" if self._sort.isChecked() else f"by point {ORDER}")
        self.change_requested.emit({"by_error": self._sort.isChecked()})

    def _on_frame_typed(self) -> None:
        with suppress(ValueError):  # it is being typed
            number = self._field.value()
            if number is not None and number >= 1:
                self.frame_requested.emit(min(int(number), self._state.count) - 1)
