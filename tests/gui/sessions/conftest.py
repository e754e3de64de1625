"""Windows with runs that are done, and sessions of them."""

from __future__ import annotations

import pytest
from PyQt6.QtGui import QGuiApplication

from core import Settings, iterate, read_sequence, simulate, write_npz
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.sessions.session_file import SavedRun, SavedSequence, SavedSession

QUICK = Settings(rank=2, starts=2, rotations="truth")


@pytest.fixture
def sequence(tmp_path):
    path = tmp_path / "small.npz"
    write_npz(simulate("balloon", frames=14, points=16, seed=3), path)
    return read_sequence(path)


@pytest.fixture
def solved(qtbot, make_window, sequence):
    """Make windows with a run that is done."""

    def make(settings=QUICK):
        window = make_window(sequence, settings=settings)
        run = window.run_control.start(warm=False)
        qtbot.waitUntil(lambda: run.state is RunState.FINISHED, timeout=20_000)
        window.display.refresh()  # a first picture moves the camera to where all is seen
        return window, run

    return make


@pytest.fixture
def kept(sequence):
    """A session with one run, made without a window."""
    run = Run(1, sequence, QUICK, state=RunState.FINISHED)
    for update in iterate(sequence, QUICK):
        run.history.extend([update.record])
        run.last = update
    return SavedSession((SavedSequence(sequence, (SavedRun.of(run),), 1),), 0, QUICK)


@pytest.fixture
def saved_to():
    """Return `_saved_to`."""
    return _saved_to


def _saved_to(qtbot, window, path):
    window.session_saver.save_to(path)
    qtbot.waitUntil(lambda: not window.session_saver.busy and path.exists())
    return path


@pytest.fixture
def opened():
    """Return `_opened`."""
    return _opened


def _opened(qtbot, window, path):
    with qtbot.waitSignal(window.sequence_opening.opened):
        window.sequence_opening.open(path)


@pytest.fixture
def text_of():
    """Return `_text_of`."""
    return _text_of


def _text_of(window, recipe):
    getattr(window.export_controller, f"copy_{recipe}")()
    return QGuiApplication.clipboard().text()
