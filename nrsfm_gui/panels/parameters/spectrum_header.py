"""The line above the weights panel: what bars and diamonds are, the rule, and the way back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from nrsfm_gui.panels.parameters.penalty_editor import EXPLANATIONS, EXPLICIT, TITLES
from nrsfm_gui.widgets.fields import tool_button
from nrsfm_gui.widgets.sources import Choice

if TYPE_CHECKING:
    from nrsfm_gui.model.theme import Theme


class SpectrumHeader(QWidget):
    """A legend, a choice of the penalty, and a button.

    Signals
    -------
    rule_requested(str)
        a key of `core.penalties.linear.PENALTIES`, or "weights".
    """

    rule_requested = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__()
        self._legend = QLabel()
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        self._choice = Choice(EXPLANATIONS, titles=TITLES)
        self._choice.setMinimumContentsLength(8)
        self._choice.setToolTip("The rule that the weights follow, as in Parameters")
        self._choice.setAccessibleName("penalty")
        self._choice.chosen.connect(self.rule_requested)
        self._back = tool_button("To the rule", "")
        self._back.clicked.connect(lambda _checked: self.rule_requested.emit(self._rule))
        self._rule = "wnn"
        self.set_rule("wnn", "wnn")
        bar = QHBoxLayout(self)
        bar.setContentsMargins(8, 2, 4, 2)
        bar.addWidget(self._legend)
        bar.addWidget(self._choice, 1)
        bar.addWidget(self._back)

    @property
    def back(self) -> QToolButton:
        """The button that gives the rule back, there while weights are explicit."""
        return self._back

    def set_rule(self, kind: str, rule: str) -> None:
        """Show the penalty, and the rule to which weights that were set one by one can go back."""
        self._choice.set_key(kind)
        self._rule = rule
        self._back.setToolTip(f"Let the weights follow the {TITLES[rule]} again")
        self._back.setVisible(kind == EXPLICIT)

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self._legend.setText(
            f'<span style="color:{theme.estimate}">&#9632;</span> σ'
            f'&nbsp;&nbsp;<span style="color:{theme.residual}">&#9670;</span> weight'
        )
