"""The actions that the command line requests, one after the other in the running application.

open -> (run to its end) -> picture -> exports -> (leave, with an exit code)

A signal stops the run; its best point until then is exported, and the exit code is that of the signal.
"""

from __future__ import annotations

import signal

from PyQt6.QtCore import QCoreApplication, QObject, Qt, QTimer
from PyQt6.QtGui import QGuiApplication

from core.foundation import check_outputs, protecting
from core.stop_signals import SIGNALED
from nrsfm_gui.export.export_controller import kind_of
from nrsfm_gui.model.arguments import Arguments
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.standard_error import report
from nrsfm_gui.panel_window import PanelWindow
from nrsfm_gui.sessions.session_saver import SessionSaver
from nrsfm_gui.widgets.plots.plot_export import save_image

SETTLE_MILLISECONDS = 150  # for the last picture to reach the screen
FAILED = 2


class ScriptedRun(QObject):
    """Does what the arguments ask for; with `--exit`, any failure ends it with a sentence on stderr."""

    def __init__(self, arguments: Arguments, window: PanelWindow, saver: SessionSaver) -> None:
        super().__init__(window)
        self._arguments, self._window, self._saver = arguments, window, saver
        self._session, self._control = window.session, window.run_control
        self._exporting = window.export_controller
        self._exports = list(arguments.exports)
        self._written: list[str] = []  # of the exports
        self._ran = self._over = False
        self._signal: signal.Signals | None = None  # that stopped it

    def start(self) -> None:
        """Begin once the sequence is open."""
        self._session.notifier.failed.connect(self._on_failed)
        once = Qt.ConnectionType.SingleShotConnection
        self._window.sequence_opening.shown.connect(self._on_opened, once)  # type: ignore[call-arg]  # not in the stub
        self._control.ended.connect(self._on_run_ended)
        self._exporting.saved.connect(self._on_exported)
        QTimer.singleShot(0, self._check_paths)  # in the event loop, so that a failure can end it

    def stop(self, number: int) -> None:
        """Stop the run at a signal, and leave when its best point is exported; Ctrl-C then leaves at once."""
        if self._over or self._signal is not None:
            if self._over or number == signal.SIGINT:
                QCoreApplication.exit(SIGNALED + number)
            return
        self._signal = signal.Signals(number)
        if self._control.current is not None:
            self._control.cancel()
        elif not self._ran:
            self._finish(0)

    def _check_paths(self) -> None:
        """Refuse what could not be written before the solver spends its time."""
        outputs = [("--export", path) for path in self._exports]
        if self._arguments.screenshot is not None:
            outputs.append(("--screenshot", self._arguments.screenshot))
        try:
            for path in self._exports:
                kind_of(path)
            check_outputs(outputs, self._session.inputs())
        except ValueError as refusal:  # InputError is one
            self._session.notifier.fail(str(refusal))

    def _on_opened(self) -> None:
        self._check_paths()  # now it is known which files the sequence consists of
        if self._over:
            return
        settings = self._arguments.settings
        if settings is not None:  # a session or a result has brought its own
            self._control.ignore_settings(settings)  # they are set for the run that follows
            self._session.set_settings(settings)
        controller = self._window.parameters_controller
        if not self._arguments.run:
            self._picture_later()
        elif controller.refusal:
            self._on_failed(controller.refusal)
        else:
            controller.run_from_scratch()

    def _on_run_ended(self, run: Run) -> None:
        self._ran = True
        if run.state is RunState.FAILED:
            self._on_failed(run.message)
        elif not self._over:
            self._control.ended.disconnect(self._on_run_ended)
            if self._signal is not None:
                self._next_export()
            else:
                self._window.display.refresh()
                self._picture_later()

    def _picture(self) -> None:
        if self._exporting.views.background.busy and not self._over:
            self._picture_later()
            return
        path = self._arguments.screenshot
        if path is not None and not self._over:
            try:
                self._window.display.finish()
                with protecting(self._session.inputs()):
                    save_image(self._window.grab().toImage(), path)
            except ValueError as refusal:  # InputError is one
                self._on_failed(str(refusal))
        self._next_export()

    def _next_export(self) -> None:
        if self._exports and not self._over:
            self._exporting.save_file(self._exports[0])
        elif not self._over:
            self._finish(0)

    def _on_exported(self, _sentence: str) -> None:
        if not self._over:
            self._written.append(str(self._exports.pop(0)))
            self._next_export()

    def _on_failed(self, sentence: str) -> None:
        if self._over:
            return
        if self._exports and self._ran and self._session.shown is not None and self._session.shown.last:
            sentence = f"{sentence.rstrip('.')}. {self._saver.write_copy()}"
        if self._arguments.exit or self._signal is not None:
            report(sentence)
        self._finish(FAILED)

    def _finish(self, code: int) -> None:
        self._over = True
        if self._signal is not None:
            what = f"; the best so far is in {', '.join(self._written)}" if self._written else ""
            report(f"stopped by {self._signal.name}{what}")
            QCoreApplication.exit(SIGNALED + self._signal)
        elif self._arguments.exit:
            # Qt would end the program with code 0 as its last window closes, before or after this does.
            QGuiApplication.setQuitOnLastWindowClosed(False)
            self._window.close()
            QCoreApplication.exit(code)

    def _picture_later(self) -> None:
        """Save the picture once the window has drawn what it shows."""
        QTimer.singleShot(SETTLE_MILLISECONDS, self._picture)
