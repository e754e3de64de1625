"""The weights panel and the parameters show one penalty, and either changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow


class Weighing(QObject):
    """Connects the weights panel of a window to its parameters, so that a handle is one more of their fields.

    What is dragged goes through the parameters, which check it, tell the session and draw the panel again.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        plot, parameters = window.spectrum_plot, window.parameters
        plot.weights_edited.connect(parameters.set_weights)
        plot.rank_requested.connect(lambda rank: parameters.set_value("rank", rank))
        plot.rule_requested.connect(parameters.choose_penalty)
        parameters.penalty_shown.connect(plot.set_penalty)
