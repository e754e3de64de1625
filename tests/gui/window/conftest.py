"""What several tests of the window share."""

import pytest

from nrsfm_gui.app import start_script
from nrsfm_gui.model.arguments import parse
from nrsfm_gui.model.run import RunState


@pytest.fixture
def run_script(qapp, make_window):
    """Do what a command line with --exit asks for in this process; return the exit code."""

    def run(*words):
        arguments, window = parse([*words, "--exit"]), make_window()
        window.begin(arguments)
        start_script(window, arguments)
        return qapp.exec()

    yield run
    qapp.setQuitOnLastWindowClosed(True)


@pytest.fixture
def solve(qtbot):
    """Run what a window shows, and wait until that is over; return the run."""

    def run(window, *, from_scratch=False):
        controller = window.parameters_controller
        controller.run_from_scratch() if from_scratch else controller.run()
        qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED)
        return window.session.shown

    return run


@pytest.fixture
def open_and_solve(qtbot, make_window):
    """Return a window in which a file was opened in some way and solved under some settings."""

    def solved(settings, open_file):
        window = make_window(settings=settings)
        window.session.set_live(False)
        with qtbot.waitSignal(window.sequence_opening.shown):
            open_file(window)
        window.session.set_settings(settings)
        run = window.run_control.start(warm=False)
        qtbot.waitUntil(lambda: not run.state.alive)
        window.display.finish()
        return window

    return solved
