"""The weights of the singular values as a list of exact numbers, and the order that they have to keep."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from core.foundation import Floats
from nrsfm_gui.model.numbers import format_number
from nrsfm_gui.widgets.drag_number import Scale
from nrsfm_gui.widgets.fields import NumberField, filled, grid_layout, with_tip
from nrsfm_gui.widgets.labels import PlainLabel

WEIGHTS = Scale(1e-6, 1e2, zero=True)
MODE_WEIGHTS = Scale(0.1, 1e2, zero=True)  # of the modes of the depths, of which 1 is the usual one
SUPPRESSED = 20.0  # weight of a mode from which it hardly occurs
NEGLIGIBLE = 1e-9  # of the largest singular value: shown as 0, the tip has the digits
HEADINGS = (
    ("k", "number of the singular value, largest first"),
    ("σ", "singular values of the reconstruction X#, in calibrated units"),
    ("weight a", "0 or more; weights never decrease with k. Typing one makes the penalty explicit."),
)


def enforce_order(weights: tuple[float, ...], moved: int) -> tuple[float, ...]:
    """Return non-decreasing weights: `moved` keeps its value, the others are raised or lowered to it."""
    pivot = weights[moved]
    return tuple(min(weight, pivot) if k < moved else max(weight, pivot) for k, weight in enumerate(weights))


def suppress_behind(weights: tuple[float, ...], kept: int) -> tuple[float, ...]:
    """Return weights of modes that suppress all behind the first `kept`; again, they give these back."""
    rank = sum(weight < SUPPRESSED for weight in weights)
    usual = max(1.0, *(weight for weight in weights if weight < SUPPRESSED)) if rank else 1.0
    given = tuple(usual if weight >= SUPPRESSED else weight for weight in weights)
    if kept in (rank, len(weights)):
        return given
    return (*given[:kept], *(max(weight, SUPPRESSED) for weight in weights[kept:]))


def limit_weight(weights: tuple[float, ...], moved: int, wanted: float) -> tuple[float, int | None]:
    """Return the nearest value to `wanted` that keeps the order, and the index of the limiting weight."""
    if moved > 0 and wanted < weights[moved - 1]:
        return weights[moved - 1], moved - 1
    if moved + 1 < len(weights) and wanted > weights[moved + 1]:
        return weights[moved + 1], moved + 1
    return wanted, None


def describe_limit(weights: tuple[float, ...], moved: int, barrier: int, letter: str) -> str:
    """Return in a few letters, for a narrow panel, which weight limits another one."""
    sign = "≥" if barrier < moved else "≤"
    return f"{letter}{moved + 1} {sign} {letter}{barrier + 1} = {weights[barrier]:.3g}."


class WeightsList(QWidget):
    """One row of numbers for every singular value."""

    # A tuple of floats: a field was typed into. They may decrease; the receiver refuses those.
    weights_edited = pyqtSignal(object)
    rebuilt = pyqtSignal()  # there are other fields

    def __init__(self) -> None:
        super().__init__()
        self.weights: tuple[float, ...] = ()  # the weights shown, (K,)
        self._rows: list[tuple[PlainLabel, PlainLabel, NumberField]] = []
        self._note = PlainLabel(role="muted", wraps=True)
        self.warning = PlainLabel(role="warning", wraps=True)  # why the weights are refused
        for label in (self._note, self.warning):
            label.hide()
        self._table = QWidget()
        self._grid = grid_layout(self._table, 10, 3)
        self._grid.setColumnStretch(2, 1)
        for column, (title, tip) in enumerate(HEADINGS):
            heading = PlainLabel(title, role="muted")
            heading.setToolTip(tip)
            self._grid.addWidget(heading, 0, column)
        filled(QVBoxLayout(self), self._table, self.warning, self._note, spacing=4)

    def set_values(
        self, weights: tuple[float, ...] | Floats, singular_values: Floats | None, *, note: str = ""
    ) -> None:
        """Show weights and the singular values that they weigh.

        `weights`: (K,) non-decreasing; `singular_values`: (K,) of the reconstruction, largest first; None
        where there is none yet.
        """
        if len(weights) != len(self._rows):
            self._rebuild(len(weights))
        self.weights = tuple(float(weight) for weight in weights)
        values = list(singular_values) if singular_values is not None else []
        largest = max(values, default=1.0)
        for k, (_label, sigma, field) in enumerate(self._rows):
            value = float(values[k]) if k < len(values) else None
            sigma.setText("–" if value is None else "0" if value < NEGLIGIBLE * largest else f"{value:.3g}")
            sigma.setToolTip("" if value is None else f"singular value of X#: {value:.6g}")
            if not field.hasFocus() or not field.isModified():
                text = short(self.weights[k])
                if field.text() != text:  # else the cursor stays
                    field.setText(text)
        self._table.setVisible(bool(self._rows))
        if values and len(values) != len(self._rows) > 0:
            note = f"{note} σ is of the run shown, which has {len(values)} of them.".strip()
        self._note.show_text(note)

    def _rebuild(self, count: int) -> None:
        for row in self._rows:
            for widget in row:
                self._grid.removeWidget(widget)
                widget.deleteLater()
        self._rows = []
        for k in range(count):
            label, sigma = PlainLabel(str(k + 1), role="muted"), PlainLabel()
            field = with_tip(NumberField(), f"weight {k + 1}", f"weight a{k + 1}, 0 or more")
            sigma.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            field.edited.connect(lambda k=k: self._on_weight_typed(k))
            for column, cell in enumerate((label, sigma, field)):
                self._grid.addWidget(cell, k + 1, column)
            self._rows.append((label, sigma, field))
        self.rebuilt.emit()

    def _on_weight_typed(self, k: int) -> None:
        """Emit the weights with a typed value, even if they decrease: the receiver refuses those."""
        try:
            weight = float(self._rows[k][2].value() or 0.0)
        except ValueError as refusal:
            self.warning.show_text(f"weight {k + 1}: {refusal}")
            return
        self.weights = (*self.weights[:k], weight, *self.weights[k + 1 :])
        self.weights_edited.emit(self.weights)


def short(weight: float) -> str:
    """Return a weight with at most three digits."""
    return format_number(float(f"{weight:.3g}"))
