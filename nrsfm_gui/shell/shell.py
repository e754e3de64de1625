"""What every application of a kind has, beside what this one is about: finding actions, the log, defects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, Qt

from nrsfm_gui.model.log_records import Logbook
from nrsfm_gui.panels.log.log_controller import LogKeeping
from nrsfm_gui.shell.command_palette_controller import Palette
from nrsfm_gui.shell.defects import Defects
from nrsfm_gui.shell.first_steps import FirstSteps
from nrsfm_gui.shell.help_controller import Helping
from nrsfm_gui.shell.panel_navigation import Panels
from nrsfm_gui.shell.preferences_controller import Preferring
from nrsfm_gui.shell.state_cards import States

if TYPE_CHECKING:
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.arguments import Arguments
    from nrsfm_gui.model.theme import Theme


class Habits(QObject):
    """Owns the parts of a window that serve it without being about a sequence."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.logbook = Logbook(self)
        self.log_keeping = LogKeeping(window, self.logbook)
        self.defects = Defects(window, self.logbook)
        self.palette = Palette(window)
        self.preferring = Preferring(window)
        self.helping = Helping(window)
        self.first_steps = FirstSteps(window)
        self.states = States(window)
        self.panels = Panels(window)

    def begin(self, arguments: Arguments) -> None:
        """Be of help to a person: first steps, and results in words; a script has no need of them."""
        self.states.announces = not arguments.scripted
        if not arguments.exit:
            # Once, when there is something to see.
            self._window.opening.shown.connect(
                self.preferring.check_size,
                Qt.ConnectionType.SingleShotConnection,  # type: ignore[call-arg]  # not in the stub
            )
        if arguments.first_steps or not arguments.scripted:
            self.first_steps.begin()

    def listen(self) -> None:
        """Take the exceptions that nobody catches, and what Python and Qt say, in the whole process."""
        self.logbook.listen()
        self.defects.install()

    def shut_down(self) -> None:
        """Leave what the whole process says as it was; defects are still taken while the window closes."""
        self.logbook.stop_listening()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.palette.set_theme(theme)
        self._window.log_panel.set_theme(theme)
        self.helping.set_theme(theme)
        self.first_steps.set_theme(theme)
        self.states.set_theme(theme)
        self.panels.set_theme(theme)
