"""The form of parameters, and hands for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from PyQt6.QtWidgets import QLabel

from core import Settings, WeightedNuclearNorm
from nrsfm_gui.panels.parameters.parameter_form import FOLDED
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.widgets.fields import Choice, NumberField

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@dataclass(frozen=True)
class Form:
    """Finds, reads and fills what the panel shows."""

    LEARNED: ClassVar = Settings(rank=3, penalty=WeightedNuclearNorm(xi=0.5))  # of the run in `learn`
    REFERENCE: ClassVar = np.array([20.0, 5.0, 1.0])  # its singular values before weighting

    panel: ParametersPanel
    qtbot: QtBot

    def field(self, name: str) -> NumberField:
        found = self.panel.findChild(NumberField, name)
        assert found is not None
        return found

    def note(self, name: str) -> str:
        found = self.panel.findChild(QLabel, f"{name}_note")
        assert found is not None
        return found.text() if found.isVisibleTo(self.panel) else ""

    def write(self, name: str, text: str) -> None:
        target = self.field(name)
        target.setFocus()
        target.selectAll()
        self.qtbot.keyClicks(target, text)

    def choose(self, name: str, key: str) -> None:
        choice = self.panel.findChild(Choice, name)
        assert choice is not None
        choice.set_key(key)
        choice.chosen.emit(key)

    def weights(self) -> list[NumberField]:
        """The fields of the single weights, in the section of the penalty."""
        found = self.panel.findChildren(NumberField)
        return [f for f in found if f.accessibleName().startswith("weight ") and f.isVisibleTo(self.panel)]

    def texts(self) -> str:
        found = self.panel.findChildren(QLabel)
        return " ".join(label.text() for label in found if label.isVisibleTo(self.panel))

    def learn(self) -> None:
        """Tell the panel what a run with its rotations chosen knows."""
        self.panel.set_settings(self.LEARNED)
        weights = self.LEARNED.penalty.weights(3, self.REFERENCE)
        self.panel.set_spectrum(self.LEARNED, weights, np.array([19.0, 4.0, 0.5]))


@pytest.fixture
def panel(show) -> ParametersPanel:
    panel = ParametersPanel()
    panel.set_open_sections(FOLDED)
    show(panel, 330, 900)
    return panel


@pytest.fixture
def form(panel, qtbot) -> Form:
    return Form(panel, qtbot)
