"""What is shown as often as it can be read, however often it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable

MILLISECONDS = 100


class Pace(QObject):
    """Calls a function at once, and then again only after a rest; of all wishes meanwhile the last is met.

    Parameters
    ----------
    function
        without parameters: it looks up what there is to show.
    parent
        as of any QObject.
    """

    def __init__(self, function: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._function = function
        self._wished = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(MILLISECONDS)
        self._rest.timeout.connect(self._go_on)

    def soon(self) -> None:
        """Call the function, now or as soon as the last call is long enough ago."""
        if self._rest.isActive():
            self._wished = True
        else:
            self.now()

    def now(self) -> None:
        """Call the function."""
        self._wished = False
        self._rest.start()
        self._function()

    def _go_on(self) -> None:
        if self._wished:
            self.now()
