"""The weights of the singular values: a bar, a slider and a field for each value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QPainter
from PyQt6.QtWidgets import QGridLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.widgets.colors import qcolor
from nrsfm_gui.widgets.drag_number import DRAG_TIP, DragLabel, DragSlider, Scale
from nrsfm_gui.widgets.fields import NumberField
from nrsfm_gui.widgets.style import Themed

if TYPE_CHECKING:
    from PyQt6.QtGui import QPaintEvent

    from core.foundation import Floats

WEIGHTS = Scale(1e-6, 1e2, zero=True)
BAR_DECADES = 4  # a bar of no length is this many decades below the largest singular value
NEGLIGIBLE = 1e-9  # of the largest: shown as 0, the tip has the digits
ROWS_BEFORE_SCROLLING = 8
BROUGHT_ALONG = "Weights never decrease with k: moving one brings others along."
RESET_TIP = "A double click on its number k: what the rule gives."


def enforce_order(weights: list[float] | tuple[float, ...], moved: int) -> tuple[float, ...]:
    """Return non-decreasing weights: `moved` keeps its value, the others are raised or lowered to it."""
    pivot = weights[moved]
    return tuple(min(weight, pivot) if k < moved else max(weight, pivot) for k, weight in enumerate(weights))


def limit_weight(
    weights: list[float] | tuple[float, ...], moved: int, wanted: float
) -> tuple[float, int | None]:
    """Return the nearest value to `wanted` that keeps the order, and the index of the limiting weight."""
    if moved > 0 and wanted < weights[moved - 1]:
        return weights[moved - 1], moved - 1
    if moved + 1 < len(weights) and wanted > weights[moved + 1]:
        return weights[moved + 1], moved + 1
    return wanted, None


def describe_limit(weights: list[float] | tuple[float, ...], moved: int, barrier: int) -> str:
    """Return a sentence: which weight limits another one, and how to move both."""
    verb = "fall below" if barrier < moved else "rise above"
    return (
        f"a{moved + 1} cannot {verb} a{barrier + 1} = {weights[barrier]:.3g}: weights must not decrease. "
        "Shift brings the others along."
    )


class SingularBar(Themed, QWidget):
    """A horizontal bar of logarithmic length for one singular value, with its number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value: float | None = None
        self._largest = 1.0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Return space for the bar and its number."""
        return QSize(70, 20)

    def set_value(self, value: float | None, largest: float) -> None:
        """Show a singular value among others of which the largest is known; None shows a dash."""
        if (value, largest) == (self._value, self._largest) and self.toolTip():
            return
        self._value, self._largest = value, largest
        self.setToolTip("singular value of X#" if value is None else f"singular value of X#: {value:.6g}")
        self.update()

    def share(self) -> float:
        """Return the length of the bar, 0 to 1."""
        if self._value is None or self._value <= 0 or self._largest <= 0:
            return 0.0
        return min(max(1 + math.log10(self._value / self._largest) / BAR_DECADES, 0.0), 1.0)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Draw the bar behind the number."""
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(qcolor(self._theme.estimate, 0.45))
        painter.drawRoundedRect(QRectF(0, 3, self.share() * self.width(), self.height() - 6), 2, 2)
        painter.setPen(qcolor(self._theme.text))
        text = "–" if self._value is None else f"{self._value:.3g}"
        if self._value is not None and self._value < NEGLIGIBLE * self._largest:
            text = "0"
        painter.drawText(self.rect().adjusted(5, 0, -4, 0), Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


class WeightsEditor(QWidget):
    """One row for every singular value.

    Signals
    -------
    weights_edited(object)
        a tuple of non-decreasing floats: a slider or a field was moved.
    reset_requested(int)
        the label of a row (0-based) was clicked twice: its weight is to follow the rule again.
    """

    weights_edited = pyqtSignal(object)
    reset_requested = pyqtSignal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._weights: tuple[float, ...] = ()
        self._rows: list[tuple[DragLabel, SingularBar, DragSlider, NumberField]] = []
        self._brought = ""  # that a movement brought other weights along
        self._note = QLabel()
        self._note.setWordWrap(True)
        self._note.setProperty("role", "muted")
        self._warning = QLabel()
        self._warning.setWordWrap(True)
        self._warning.setProperty("role", "warning")
        self._warning.hide()
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(2, 1)
        for column, (title, tip) in enumerate(
            (
                ("k", "number of the singular value, largest first"),
                ("σ (log)", "singular values of the reconstruction X#, in calibrated units"),
                (
                    "weight a",
                    f"{WEIGHTS.lowest:g} to {WEIGHTS.highest:g}, logarithmic; far left is 0.\n"
                    f"{BROUGHT_ALONG}\n"
                    "Moving one makes the penalty explicit. Drag with Shift coarse, with Ctrl fine.\n"
                    "Click a slider, and arrow keys change its weight by 1 %.",
                ),
            )
        ):
            heading = QLabel(title)
            heading.setProperty("role", "muted")
            heading.setToolTip(tip)
            self._grid.addWidget(heading, 0, column)
        self._scroll = QScrollArea()
        self._scroll.setAccessibleName("Weights")
        self._scroll.setWidget(inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._scroll)
        layout.addWidget(self._warning)
        layout.addWidget(self._note)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights shown, (K,)."""
        return self._weights

    def set_values(
        self,
        weights: list[float] | tuple[float, ...] | Floats,
        singular_values: Floats | None,
        *,
        note: str = "",
    ) -> None:
        """Show weights and the singular values that they weigh.

        Parameters
        ----------
        weights
            (K,) non-decreasing.
        singular_values
            (K,) of the reconstruction, largest first; None where there is none yet.
        note
            a sentence below the rows.
        """
        if len(weights) != len(self._rows):
            self._rebuild(len(weights))
        given = tuple(float(weight) for weight in weights)
        if given != self._weights:
            self._brought = ""
        self._weights = given
        values = list(singular_values) if singular_values is not None else []
        largest = max(values, default=1.0)
        for k, (_label, bar, slider, field) in enumerate(self._rows):
            bar.set_value(float(values[k]) if k < len(values) else None, largest)
            slider.set_number(self._weights[k])
            if not field.hasFocus() or not field.isModified():
                _write(field, short(self._weights[k]))
        self._scroll.setVisible(bool(self._rows))
        sentences = [note, self._brought]
        if values and len(values) != len(self._rows) > 0:
            sentences.append(f"σ is of the run shown, which has {len(values)} of them.")
        note = " ".join(sentence for sentence in sentences if sentence)
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def _rebuild(self, count: int) -> None:
        for row in self._rows:
            for widget in row:
                self._grid.removeWidget(widget)
                widget.deleteLater()
        self._rows = []
        for k in range(count):
            slider = DragSlider(WEIGHTS)
            slider.setObjectName(f"weight {k + 1}")
            slider.setAccessibleName(f"weight {k + 1}")
            slider.setToolTip(f"weight a{k + 1}\n{DRAG_TIP}\n{BROUGHT_ALONG}\n{RESET_TIP}")
            slider.moved.connect(lambda weight, k=k: self.move_weight(k, weight))
            label = DragLabel(str(k + 1), slider)
            label.reset.connect(lambda k=k: self.reset_requested.emit(k))
            label.setProperty("role", "muted")
            label.setToolTip(slider.toolTip())
            bar = SingularBar()
            field = NumberField()
            field.setToolTip(f"weight a{k + 1}, 0 or more")
            field.setFixedWidth(70)
            field.setAccessibleName(f"weight {k + 1}")
            field.edited.connect(lambda k=k: self._on_weight_typed(k))
            for column, cell in enumerate((label, bar, slider, field)):
                self._grid.addWidget(cell, k + 1, column)
            self._rows.append((label, bar, slider, field))
        self._grid.setRowStretch(count + 1, 1)
        shown = min(count, ROWS_BEFORE_SCROLLING)
        row_height = self._rows[0][3].sizeHint().height() + 3 if self._rows else 0
        self._scroll.setFixedHeight(24 + shown * row_height)

    def move_weight(self, k: int, weight: float) -> None:
        """Move one weight (0-based) and the others with it, as its slider does."""
        weights = list(self._weights)
        weights[k] = weight
        self._set_warning("")
        self._weights = enforce_order(weights, k)
        others = sum(now != before for now, before in zip(self._weights, weights, strict=True))
        self._brought = BROUGHT_ALONG if others else ""
        for other, (_label, _bar, slider, field) in enumerate(self._rows):
            if other != k:
                slider.set_number(self._weights[other])
            _write(field, short(self._weights[other]))
        self.weights_edited.emit(self._weights)

    def _on_weight_typed(self, k: int) -> None:
        """Emit the weights with a typed value, even if they decrease: the receiver refuses those."""
        field = self._rows[k][3]
        try:
            weight = float(field.value() or 0.0)
        except ValueError as refusal:
            self._set_warning(f"weight {k + 1}: {refusal}")
            return
        weights = list(self._weights)
        weights[k] = weight
        self._weights = tuple(weights)
        self.weights_edited.emit(self._weights)

    def _set_warning(self, sentence: str) -> None:
        self._warning.setText(sentence)
        self._warning.setVisible(bool(sentence))

    def set_warning(self, sentence: str) -> None:
        """Show why the weights are refused, "" where they are not."""
        self._set_warning(sentence)


def _write(field: NumberField, text: str) -> None:
    """Put a text into a field, which is painted anew only where it is another one."""
    if field.text() != text:
        field.setText(text)


def short(weight: float) -> str:
    """Return a weight with at most three digits."""
    return format_number(float(f"{weight:.3g}"))
