"""A window whose session is exported."""

import pytest

from core import Settings, simulate

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2, starts=1, objective="wnn")


@pytest.fixture(scope="module")
def sequence():
    return simulate("paper", frames=6, points=20, noise=0.3, seed=2)


@pytest.fixture
def parts(window, sequence):
    """Return a window with a sequence, before any run."""
    window.session.set_settings(QUICK)
    window.session.set_sequence(sequence)
    window.display.refresh()
    return window


@pytest.fixture
def solved(qtbot, parts, add_solved_run, sequence):
    """Return the window with a run that is over, drawn."""
    add_solved_run(parts.session, sequence, QUICK)
    parts.display.refresh()
    qtbot.wait(1)
    return parts


@pytest.fixture
def plotted(solved):
    """Return the same, for what is exported of its plots."""
    return solved
