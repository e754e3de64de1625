"""The form of parameters, and hands for it."""

import numpy as np
import pytest
from hands import choose, type_into
from PyQt6.QtWidgets import QLabel, QWidget

from core import Settings, WeightedNuclearNorm
from nrsfm_gui.panels.parameters.parameter_texts import FOLDED
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.widgets.fields import Choice, NumberField


class Form:
    """Finds, reads and fills what the panel shows."""

    LEARNED = Settings(rank=3, penalty=WeightedNuclearNorm(xi=0.5))  # of the run in `learn`
    REFERENCE = np.array([20.0, 5.0, 1.0])  # its singular values before weighting

    def __init__(self, panel):
        self.panel = panel

    def field(self, name):
        found = self.panel.findChild(NumberField, name)
        assert found is not None
        return found

    def widget(self, name):
        """The editor of any parameter."""
        return self.panel.findChild(QWidget, name)

    def note(self, name):
        found = self.panel.findChild(QLabel, f"{name}_note")
        assert found is not None
        return found.text() if found.isVisibleTo(self.panel) else ""

    def write(self, name, text):
        type_into(self.field(name), text)

    def choose(self, name, key):
        choice = self.panel.findChild(Choice, name)
        assert choice is not None
        choose(choice, key)

    def weights(self):
        """The fields of the single weights, in the section of the penalty."""
        found = self.panel.findChildren(NumberField)
        return [f for f in found if f.accessibleName().startswith("weight ") and f.isVisibleTo(self.panel)]

    def texts(self):
        found = self.panel.findChildren(QLabel)
        return " ".join(label.text() for label in found if label.isVisibleTo(self.panel))

    def learn(self):
        """Tell the panel what a run with its rotations chosen knows."""
        self.panel.set_settings(self.LEARNED)
        self.panel.penalty.set_spectrum(self.REFERENCE, np.array([19.0, 4.0, 0.5]))


@pytest.fixture
def panel(show):
    panel = ParametersPanel()
    panel.sections.set_open(FOLDED)
    return show(panel, 330, 900)


@pytest.fixture
def form(panel):
    return Form(panel)
