"""Sessions with their files, and runs that are done."""

import pytest
from PyQt6.QtGui import QGuiApplication
from sharing import called_by_tests

from core import Settings, read_sequence, simulate, write_npz
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.sessions.session_file import SavedRun, SavedSequence, SavedSession

QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")


@pytest.fixture
def sequence(tmp_path):
    path = tmp_path / "small.npz"
    write_npz(simulate("balloon", frames=14, points=16, seed=3), path)
    return read_sequence(path)


def ended_run(solve_once, sequence, settings=QUICK):
    """Return a run that the solver has finished."""
    run = Run(1, sequence, settings, state=RunState.FINISHED)
    for index, iterate in enumerate(solve_once(sequence, settings)):
        run.history.extend([iterate.record])
        run.snapshots.add(index, iterate)
        run.last = iterate
    return run


@pytest.fixture
def solved(make_window, sequence, solve_once):
    """Make windows with a run that is done."""

    def make(settings=QUICK, **options):
        window = make_window(sequence, settings=settings, **options)
        run = ended_run(solve_once, sequence, settings)
        window.session.append_run(run)
        window.display.refresh()  # a first picture moves the camera to where all is seen
        return window, run

    return make


@pytest.fixture
def kept(sequence, solve_once):
    """A session with one run, made without a window."""
    run = SavedRun.of(ended_run(solve_once, sequence))
    return SavedSession((SavedSequence(sequence, (run,), 1, QUICK),), 0)


@pytest.fixture
def opened(qtbot):
    """Let a window open a path, and wait until all of it is on view."""

    def open_path(window, path):
        with qtbot.waitSignal(window.sequence_opening.shown):
            window.sequence_opening.open(path)

    return open_path


@called_by_tests
def text_of(window, recipe):
    """Return what a window copies as "python" or as "command"."""
    getattr(window.export_controller, f"copy_{recipe}")()
    return QGuiApplication.clipboard().text()
