"""Starting the application: the platform first, then Qt, then the window; and what happens when it breaks."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nrsfm_gui.model.arguments import Arguments, parse
from nrsfm_gui.platform_errors import NO_FONT, explained, import_qt

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QApplication

    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.scripted_run import ScriptedRun

SWITCH_INTERVAL = 0.001  # seconds after which the solver's thread releases the interpreter for the window
SCALE = "QT_SCALE_FACTOR"
FAILED = 2  # exit code where something that was asked for could not be done


def main(argv: Collection[str] | None = None) -> int:
    """Run the application; return its exit code."""
    arguments = parse(sys.argv[1:] if argv is None else argv)
    if arguments.desktop:
        return _change_desktop(arguments.desktop)
    prepare_platform(os.environ)
    import_qt(FAILED)
    from PyQt6.QtCore import QEvent, Qt

    from core.stop_signals import SIGNALED
    from nrsfm_gui.model.app_store import AppStore

    store = AppStore()
    preferences = store.preferences()
    with enlarged(os.environ, preferences.size), explained(os.environ, FAILED):
        app = make_application()
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.shell.stop_signals import StopSignals

    signals = StopSignals(app)
    # The command line is for this time, the preference for all others.
    renderer = preferences.renderer if arguments.renderer == "auto" else arguments.renderer
    # Without OpenGL only where asked to: off the screen it is faster even where no graphics card does it.
    window = MainWindow(store=store, software=renderer == "software")
    window.logbook.listen()
    window.defect_reporter.install()
    window.begin(arguments)
    if arguments.window_size is not None:
        window.setWindowState(Qt.WindowState.WindowNoState)  # it may have been maximized the last time
        window.resize(*arguments.window_size)
    window.show()
    if arguments.scripted or arguments.path:
        signals.received.connect(start_script(window, arguments).stop)
    else:
        signals.received.connect(lambda number: app.exit(SIGNALED + number))
    code = app.exec()
    # Qt's objects go in this order, and not in the one in which the interpreter happens to drop them.
    window.end()
    window.deleteLater()
    app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return code


def start_script(window: MainWindow, arguments: Arguments) -> ScriptedRun:
    """Do in a window what a command line asks for: open, run, draw, export, exit."""
    from nrsfm_gui.scripted_run import ScriptedRun

    script = ScriptedRun(arguments, window, window.session_saver)
    script.start()
    return script


def prepare_platform(environment: Any) -> None:
    """Choose X11 on a Wayland desktop that also has X: there, PyOpenGL and Qt must agree on the platform."""
    import faulthandler

    if sys.stderr is not None:
        faulthandler.enable()
    sys.setswitchinterval(SWITCH_INTERVAL)
    # One BLAS thread: at these sizes more of them are slower, and they starve the window.
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    both = environment.get("WAYLAND_DISPLAY") and environment.get("DISPLAY")
    if both and "QT_QPA_PLATFORM" not in environment:
        environment["QT_QPA_PLATFORM"] = "xcb"
        environment.setdefault("PYOPENGL_PLATFORM", "glx")


@contextmanager
def enlarged(environment: Any, percent: int) -> Iterator[None]:
    """Scale an application that is made inside this context, unless the environment sets a scale.

    Programs that it starts later are not scaled.
    """
    if percent == 100 or SCALE in environment:
        yield
        return
    environment[SCALE] = f"{percent / 100:g}"
    try:
        yield
    finally:
        del environment[SCALE]


def make_application() -> QApplication:
    """Return the QApplication, with what has to be set before it exists."""
    from PyQt6.QtCore import QCoreApplication, Qt
    from PyQt6.QtGui import QFontMetrics, QSurfaceFormat
    from PyQt6.QtWidgets import QApplication

    from nrsfm_gui.model.app_store import APPLICATION, ORGANIZATION
    from nrsfm_gui.shell.gc_in_gui_thread import Collector

    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    surface = QSurfaceFormat()
    surface.setVersion(3, 3)
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setDepthBufferSize(24)
    surface.setSamples(0)  # multisampling costs four times as much where OpenGL is done in software
    QSurfaceFormat.setDefaultFormat(surface)
    app = QApplication(sys.argv[:1])
    app.setOrganizationName(ORGANIZATION)
    app.setApplicationName(APPLICATION)
    app.setApplicationDisplayName(APPLICATION)
    app.setDesktopFileName(APPLICATION)
    Collector(app)
    if sys.stderr is not None and not QFontMetrics(app.font()).inFont("a"):
        sys.stderr.write(f"nrsfm-gui: {NO_FONT}\n")
    return app


def _change_desktop(action: str) -> int:
    from core import InputError
    from nrsfm_gui.desktop_entry import change_desktop
    from nrsfm_gui.model.standard_error import report

    try:
        sys.stdout.write(f"{change_desktop(action, os.environ)}\n")
    except InputError as refusal:
        report(str(refusal))
        return FAILED
    return 0
