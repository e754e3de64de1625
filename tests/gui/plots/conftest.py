"""A loss plot, what it shows, and where something is in a picture of it."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PyQt6.QtGui import QImage

from core import Record
from nrsfm_gui.model.history import History
from nrsfm_gui.model.theme import DARK
from nrsfm_gui.panels.loss.loss_plot import LossPlot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def history():
    """Make histories of a falling loss, a hundredth of a second an iteration."""

    def make(count: int, *, phase: str = "refine", top: float = 1.0) -> History:
        made = History()
        made.extend(Record(k, 0.01 * k, top / (1 + k), phase) for k in range(count))
        return made

    return make


@pytest.fixture
def render_svg() -> Callable[..., QImage]:
    """Render an SVG file with librsvg; Qt's own renderer does not clip as other programs do."""
    program = shutil.which("rsvg-convert")
    if program is None:
        pytest.skip("rsvg-convert is absent; it is in the Debian package librsvg2-bin")

    def render(path: Path, *, zoom: int = 1) -> QImage:
        picture = path.with_suffix(".rendered.png")
        subprocess.run([program, "--zoom", str(zoom), "--output", str(picture), str(path)], check=True)
        image = QImage(str(picture))
        picture.unlink()
        return image

    return render


@pytest.fixture
def edges():
    """Find left, right, top and bottom of what a mask holds."""

    def find(mask: np.ndarray) -> np.ndarray:
        y, x = np.nonzero(mask)
        return np.array([x.min(), x.max(), y.min(), y.max()])

    return find


@pytest.fixture
def plot(show) -> LossPlot:
    plot = LossPlot()
    plot.set_theme(DARK)
    show(plot, 640, 360)
    return plot
