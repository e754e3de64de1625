"""Print the files that one movement of a weight enters in the window, from the mouse to the painted picture.

    xvfb-run -a -s '-screen 0 1600x1000x24' python tests/benchmarks/trace_weight.py

A sequence is solved in a real window with live parameters on. One mouse event then moves a handle of the
weights panel, and `sys.setprofile` counts the project's own files that are entered until the 3-D view has
painted a scene of the moved weights, and how often each panel was drawn until then and until all has settled.
Only the thread of the window is traced: the solver's own arithmetic runs in another one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from PyQt6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PyQt6.QtGui import QMouseEvent

from core import simulate
from core.reconstruction import Settings
from nrsfm_gui import main_window
from nrsfm_gui.app import make_application, prepare_platform
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.panels.loss.loss_plot import LossPlot
from nrsfm_gui.panels.numbers.numbers_panel import NumbersPanel
from nrsfm_gui.panels.parameters.kind_editors import PenaltyEditor
from nrsfm_gui.panels.parameters.parameters_panel import ParametersPanel
from nrsfm_gui.panels.parameters.spectrum_plot import SpectrumPlot
from nrsfm_gui.panels.parameters.weights_list import WeightsList
from nrsfm_gui.panels.sequences.sequences_panel import SequencesPanel
from nrsfm_gui.panels.timeline.timeline import Timeline
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.shell.toolbars import Toolbars

if TYPE_CHECKING:
    from types import CodeType, FrameType

ROOT = Path(__file__).parents[2]
SETTLED_SECONDS = 1.5
DEADLINE_SECONDS = 30.0
PIXELS = 9  # that the handle is moved up
DRAWS = {
    "weights: list": WeightsList.set_values,
    "weights: plot": SpectrumPlot._show,
    "parameters: penalty": PenaltyEditor._show_weights,
    "parameters: form": ParametersPanel.set_settings,
    "runs": SequencesPanel.set_rows,
    "numbers": NumbersPanel.set_numbers,
    "loss": LossPlot.refresh,
    "timeline": Timeline.set_series,
    "3-D view": SceneView.set_scene,
    "2-D view": TracksView.set_scene,
    "actions": Toolbars.show_situation,
}


class Trace:
    """Counts the files and the draws that the thread of the window enters."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()
        self.draws: Counter[str] = Counter()
        self._panels: dict[CodeType, str] = {draw.__code__: panel for panel, draw in DRAWS.items()}
        self._names: dict[str, str] = {}

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Count a call."""
        if event != "call":
            return
        code = frame.f_code
        name = self._names.get(code.co_filename)
        if name is None:
            path = Path(code.co_filename)
            inside = path.is_relative_to(ROOT / "core") or path.is_relative_to(ROOT / "nrsfm_gui")
            name = self._names[code.co_filename] = str(path.relative_to(ROOT)) if inside else ""
        if name:
            self.files[name] += 1
        panel = self._panels.get(code)
        if panel is not None:
            self.draws[panel] += 1


def main() -> int:
    """Trace one movement, and print what it passed through."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", action="store_true", help="list the files that were entered")
    parser.add_argument(
        "--again", action="store_true", help="trace a second movement, of the run that follows"
    )
    parser.add_argument(
        "--painter", action="store_true", help="paint without OpenGL, as where no card has it"
    )
    arguments = parser.parse_args()
    prepare_platform(os.environ)
    app = make_application()
    folder = tempfile.TemporaryDirectory()
    store = AppStore(Path(folder.name, "settings.json"))
    window = main_window.MainWindow(store=store, software=arguments.painter)
    window.resize(1280, 800)
    window.show()
    window.session.set_settings(Settings(starts=1, rotations="truth", objective="wnn"))
    window.parameters_panel.set_settings(window.session.settings)
    window.sequence_opening.open_sequence(simulate("paper", frames=51, points=211, noise=0.3, seed=2))
    window.parameters_controller.run()
    wait(lambda: window.session.shown is not None and not window.session.shown.state.alive)
    settle(SETTLED_SECONDS)

    plot = window.parameters_panel.spectrum_plot
    canvas = plot.canvas
    position = place_of(plot)
    send(canvas, QEvent.Type.MouseMove, position, pressed=False)
    send(canvas, QEvent.Type.MouseButtonPress, position)
    settle(0.5)
    for time_ in range(2 if arguments.again else 1):
        if time_:
            settle(SETTLED_SECONDS)
        position = position - QPointF(0, PIXELS)
        print_trace(app, window, canvas, position, files=arguments.files)
    send(canvas, QEvent.Type.MouseButtonRelease, position)
    settle(0.2)
    window.close()
    return 0


def print_trace(
    app: object, window: main_window.MainWindow, canvas: object, position: QPointF, *, files: bool
) -> None:
    """Move the handle once; print what was entered until the picture was painted, and until all settled."""
    trace, painted = Trace(), []
    paint = SceneView.paintEvent

    def paint_and_look(view: SceneView, event: object) -> None:
        paint(view, event)
        drawn = window.display.drawn
        if drawn is not None and drawn.settings == window.session.settings and not painted:
            painted.append(
                (len(trace.files), sum(trace.files.values()), Counter(trace.draws), Counter(trace.files))
            )

    SceneView.paintEvent = paint_and_look
    before = window.session.settings
    sys.setprofile(trace)
    send(canvas, QEvent.Type.MouseMove, position)
    wait(lambda: bool(painted))
    settle(SETTLED_SECONDS)
    sys.setprofile(None)
    SceneView.paintEvent = paint
    assert window.session.settings != before
    count, calls, draws, entered = painted[0]
    print(f"{'':24}until the picture is painted    until all has settled")
    print(f"{'files entered':24}{count:28}{len(trace.files):25}")
    print(f"{'calls':24}{calls:28}{sum(trace.files.values()):25}")
    for panel in DRAWS:
        print(f"{panel:24}{draws[panel]:28}{trace.draws[panel]:25}")
    if files:
        for name, times in sorted(entered.items()):
            print(f"{times:8} {name}")


def place_of(plot: SpectrumPlot) -> QPointF:
    """Return where the last handle is, in the coordinates of the canvas."""
    last = len(plot.weights) - 1
    return plot.canvas.pixel(last + 1, float(plot.canvas.picture.shares[last]))


def send(canvas: object, kind: QEvent.Type, position: QPointF, *, pressed: bool = True) -> None:
    """Send a mouse event to the canvas, as Qt does."""
    button = Qt.MouseButton.LeftButton if kind != QEvent.Type.MouseMove else Qt.MouseButton.NoButton
    buttons = Qt.MouseButton.LeftButton if pressed else Qt.MouseButton.NoButton
    target = canvas.viewport()
    event = QMouseEvent(
        kind,
        position,
        QPointF(target.mapToGlobal(position.toPoint())),
        button,
        buttons,
        Qt.KeyboardModifier.NoModifier,
    )
    QCoreApplication.sendEvent(target, event)


def wait(reached: object) -> None:
    """Serve events until something is so."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not reached():
        QCoreApplication.processEvents()
        if time.monotonic() > deadline:
            raise TimeoutError("the window did not get there")


def settle(seconds: float) -> None:
    """Serve events for some time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        QCoreApplication.processEvents()


if __name__ == "__main__":
    raise SystemExit(main())
