"""Files with the tracks of a phone's video, and the dialog that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from core import simulate
from core.io.readers import inspect_file
from nrsfm_gui.importing.import_dialog import ImportDialog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from core.foundation import Bools, Floats


@dataclass(frozen=True)
class Tracks:
    """Tracks (T, N, 2) in pixels, and which are seen (T, N)."""

    xy: Floats
    visible: Bools


@pytest.fixture(scope="module")
def tracks() -> Tracks:
    """Return tracks of 12 frames and 20 points, of which a sixth is hidden."""
    made = simulate("paper", frames=12, points=20, noise=0.3, seed=2)
    visible = np.random.default_rng(0).uniform(size=(12, 20)) > 1 / 6
    visible[:2] = True
    return Tracks(made.tracks.transpose(0, 2, 1), visible)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write arrays to an npz file."""

    def write_npz(name: str = "video.npz", **arrays: np.ndarray) -> Path:
        np.savez(tmp_path / name, **arrays)
        return tmp_path / name

    return write_npz


@pytest.fixture
def make_dialog(qtbot, show) -> Iterator[Callable[..., ImportDialog]]:
    """Make a dialog that shows a file."""
    made: list[ImportDialog] = []

    def make(path: Path, **reading: str) -> ImportDialog:
        dialog = ImportDialog()
        made.append(dialog)
        with qtbot.waitSignal(dialog.ready):
            dialog.set_contents(inspect_file(path, **reading), reading)
        show(dialog)
        return dialog

    yield make
    for dialog in made:
        dialog.shut_down()
