"""What the command line asks for, done one after the other in the running application.

open -> (run to its end) -> picture -> exports -> (leave, with an exit code)
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PyQt6.QtCore import QCoreApplication, QObject, Qt, QTimer

from nrsfm_gui.widgets.plots.plots import save_image

if TYPE_CHECKING:
    from collections.abc import Callable

    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.arguments import Arguments
    from nrsfm_gui.model.run import Run

SETTLE_MILLISECONDS = 150  # for the last picture to reach the screen
FAILED = 2


class Script(QObject):
    """Drives a window as the arguments say; with `--exit`, any failure ends it with a sentence on stderr."""

    def __init__(self, window: MainWindow, arguments: Arguments, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._arguments = arguments
        self._exports = list(arguments.exports)
        self._over = False

    def start(self) -> None:
        """Begin once the sequence is open."""
        window = self._window
        window.reported.connect(self._fail)
        once = Qt.ConnectionType.SingleShotConnection
        window.opening.shown.connect(self._after_opening, once)  # type: ignore[call-arg]  # not in the stub
        window.control.ended.connect(self._after_run)
        window.exporting.saved.connect(self._after_export)
        QTimer.singleShot(0, self._check_paths)

    def _check_paths(self) -> None:
        """Refuse what could not be written before the solver spends its time."""
        from core.foundation import check_writable
        from core.io.writers import writer_for

        try:
            for path in self._exports:
                writer_for(path)
                check_writable(path)
            if self._arguments.screenshot is not None:
                check_writable(self._arguments.screenshot)
        except ValueError as refusal:  # InputError is one
            self._window.report(str(refusal), "")

    def _after_opening(self) -> None:
        if self._over:
            return
        settings = self._arguments.settings
        if settings is not None:  # a session or a result has brought its own
            self._window.steering.take(settings, followed=False)
        if self._arguments.run:
            refusal = self._window.parameters.refusal
            if refusal:
                self._fail(refusal)
                return
            self._window.run_from_scratch()
        else:
            self._later(self._picture)

    def _after_run(self, run: Run) -> None:
        from nrsfm_gui.model.run import RunState

        if run.state is RunState.FAILED:
            self._fail(run.message)
        elif not self._over:
            self._window.control.ended.disconnect(self._after_run)
            self._window.display.refresh()
            self._later(self._picture)

    def _picture(self) -> None:
        path = self._arguments.screenshot
        if path is not None and not self._over:
            try:
                save_image(self._window.grab().toImage(), path)
            except ValueError as refusal:  # InputError is one
                self._fail(str(refusal))
        self._next_export()

    def _next_export(self) -> None:
        if self._over:
            return
        if self._exports:
            self._window.exporting.save_reconstruction(self._exports.pop(0))
        else:
            self._finish(0)

    def _after_export(self, _sentence: str) -> None:
        self._next_export()

    def _fail(self, sentence: str) -> None:
        if self._over:
            return
        if self._arguments.exit:
            sys.stderr.write(f"nrsfm-gui: {sentence}\n")
        self._finish(FAILED)

    def _finish(self, code: int) -> None:
        self._over = True
        if self._arguments.exit:
            self._window.close()
            QCoreApplication.exit(code)

    def _later(self, function: Callable[[], object]) -> None:
        QTimer.singleShot(SETTLE_MILLISECONDS, function)
