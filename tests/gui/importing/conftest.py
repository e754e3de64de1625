"""Files with the tracks of a phone's video, and the dialog that shows them."""

from types import SimpleNamespace

import numpy as np
import pytest

from core import simulate
from core.io.readers import inspect_file
from nrsfm_gui.importing.import_dialog import ImportDialog


@pytest.fixture(scope="module")
def tracks():
    """Return pixels `xy` (12, 20, 2) and `visible` (12, 20), of which a sixth is hidden."""
    made = simulate("paper", frames=12, points=20, noise=0.3, seed=2)
    visible = np.random.default_rng(0).uniform(size=(12, 20)) > 1 / 6
    visible[:2] = True
    return SimpleNamespace(xy=made.tracks.transpose(0, 2, 1), visible=visible)


@pytest.fixture
def write(tmp_path):
    """Write arrays to an npz file."""

    def write_npz(name="video.npz", **arrays):
        np.savez(tmp_path / name, **arrays)
        return tmp_path / name

    return write_npz


@pytest.fixture
def make_dialog(qtbot, show):
    """Make a dialog that shows a file."""
    made: list[ImportDialog] = []

    def make(path, **reading):
        dialog = ImportDialog()
        made.append(dialog)
        with qtbot.waitSignal(dialog.ready):
            dialog.set_contents(inspect_file(path, **reading), reading)
        show(dialog)
        return dialog

    yield make
    for dialog in made:
        dialog.shut_down()
