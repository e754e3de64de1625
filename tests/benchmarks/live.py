"""Print how soon the picture follows the mouse that drags a parameter, and how late the window's events come.

    xvfb-run -a -s '-screen 0 1600x1000x24' python tests/benchmarks/live.py

For each size a sequence is solved in a real window of 1280 x 800. Then the mouse drags parameters of the
objective, one after the other: a weight in the plot and the sliders of eta and xi, or, of the depths, the
last weight of the modes and the sliders of isometry and of the smallest movement. Real mouse events, 60 in a
second, are posted by a thread of their own at fixed times, also while the window does not respond. For each
event the time is measured from when it was posted to when the 3-D view has painted, by OpenGL in software
where there is no card, a scene of an iterate whose settings are at least as new as those that the event led
to; what the display does with the painted window after that is not part of it. A timer of 16 ms counts how
late each of its ticks comes, from the first event to the last. The state of the machine is printed with each
figure: the time that a first update takes alone, and which share of the processors other processes used.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from dataclasses import dataclass

import numpy as np
from frame import Meanwhile, parser
from PyQt6.QtCore import QCoreApplication, QEvent, QObject, QPointF, Qt, QTimer
from PyQt6.QtGui import QMouseEvent, QPaintEvent
from PyQt6.QtWidgets import QWidget
from studio import Studio, Ticks

from core import Settings, iterate, simulate
from core.foundation import DEPTHS, WNN
from nrsfm_gui import panel_window
from nrsfm_gui.main_window import MainWindow
from nrsfm_gui.panels.view3d.scene_view import SceneView
from nrsfm_gui.widgets.drag_number import DragSlider

SIZES = {  # frames, points, objective: seconds at the 95th percentile
    (51, 211, WNN): 0.050,
    (193, 207, WNN): 0.050,
    (432, 405, WNN): 0.080,
    (100, 41, DEPTHS): 0.050,
}
SHARE = 0.95
PERIOD = 1 / 60  # seconds between two mouse events
SECONDS = 3.0  # of each drag
SWEEP = 30  # pixels to each side
ALONE = 41  # first updates that are timed by themselves
LATE, IN_TIME = 0.033, 0.99
DRAGGED = {WNN: ("weight", "eta", "xi"), DEPTHS: ("mode weight", "isometry", "smallest_movement")}
SETTINGS = {each: Settings(starts=1, rotations="truth", objective=each) for each in DRAGGED}


class Watch(QObject):
    """Notes when each mouse event was posted, what settings it led to, and when these were painted."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self._window = window
        self.posted: deque[float] = deque()  # by the thread, not received yet
        self._received: list[float] = []  # that led to no settings yet
        self._waiting: list[tuple[int, float]] = []  # version of the settings, when the event was posted
        self._versions: dict[Settings, int] = {}
        self._version = 0
        self.latencies: list[float] = []
        window.session.settings_changed.connect(self._count)

    def eventFilter(self, target: QObject | None, event: QEvent | None) -> bool:
        """Take note of a mouse event that arrives at the slider."""
        assert event is not None
        if event.type() == QEvent.Type.MouseMove and self.posted:
            self._received.append(self.posted.popleft())
        return False

    def _count(self, settings: Settings) -> None:
        self._version += 1
        self._versions[settings] = self._version
        self._waiting += [(self._version, at) for at in self._received]
        self._received.clear()

    def note_paint(self) -> None:
        """The view has painted: all events that it is the picture of are over."""
        drawn = self._window.display.drawn
        version = -1 if drawn is None else self._versions.get(drawn.settings, -1)
        now = time.perf_counter()
        self.latencies += [now - at for wanted, at in self._waiting if wanted <= version]
        self._waiting = [entry for entry in self._waiting if entry[0] > version]


def main() -> int:
    """Measure, print, and return 1 where a mark is missed."""
    arguments = parser(__doc__)
    arguments.add_argument("--size", action="append", help="FRAMESxPOINTSxOBJECTIVE, one with a mark; all")
    arguments.add_argument("--painter", action="store_true", help="paint without OpenGL")
    options = arguments.parse_args()
    sizes = options.size or ["x".join(map(str, size)) for size in SIZES]
    missed = False
    for size in sizes:
        frames, points, objective = size.split("x")
        missed |= not measured(int(frames), int(points), objective, software=options.painter)
    return int(missed)


def measured(frames: int, points: int, objective: str, *, software: bool) -> bool:
    """Drag in a window of its own, print what was measured, and return whether the marks were met."""
    mark, settings = SIZES[frames, points, objective], SETTINGS[objective]
    panel_window.SceneView = WatchedView  # type: ignore[misc]
    with Studio(software=software) as studio:
        window = studio.window
        watch = window.scene_view.watch = Watch(window)  # type: ignore[attr-defined]
        studio.open(simulate("paper", frames=frames, points=points))
        studio.settle(1.0)
        studio.solve(settings)
        studio.settle(1.0)
        print(f"{frames} x {points}, {objective}, {window.scene_view.renderer.sentence}")
        print(f"  a first update by itself, with nothing else going on: {1000 * alone(window):.1f} ms")
        meanwhile = Meanwhile()
        good = True
        for name in DRAGGED[objective]:
            studio.set_settings(settings)
            studio.wait_for_run()
            watch.latencies.clear()
            late = dragged(studio, watch, grip_of(window, name))
            good &= report(name, np.array(watch.latencies), late, mark)
        print(f"  {meanwhile}")
    return good


def alone(window: MainWindow) -> float:
    """Return how many seconds the first update after a small change takes where no window is painted."""
    session, took = window.session, []
    assert session.sequence is not None
    assert session.shown is not None
    update, base = session.shown.last, session.settings
    name = "eta" if base.objective == WNN else "isometry"
    for k in range(ALONE):
        settings = base.with_changes(**{name: getattr(base, name) * (1 + 0.01 * (k % 5))})
        began = time.perf_counter()
        stream = iterate(session.sequence, settings, start=update)
        update = next(stream)
        took.append(time.perf_counter() - began)
        stream.close()
    return float(np.median(took))


def report(name: str, latencies: np.ndarray, late: np.ndarray, mark: float) -> bool:
    """Print the figures of a drag and return whether they meet their marks."""
    most, in_time = float(np.quantile(latencies, SHARE)), float((late < LATE).mean())
    print(
        f"  {name}: {len(latencies)} events, to the painted picture median "
        f"{1000 * np.median(latencies):.0f} ms, {100 * SHARE:.0f} % {1000 * most:.0f} ms "
        f"(at most {1000 * mark:.0f} ms), worst {1000 * latencies.max():.0f} ms; ticks less than "
        f"{1000 * LATE:.0f} ms late {100 * in_time:.1f} % (at least {100 * IN_TIME:.0f} %)",
        flush=True,
    )
    return most <= mark and in_time >= IN_TIME


@dataclass(frozen=True)
class Grip:
    """What the mouse drags: a place of a widget, and the way on which it is moved."""

    widget: QWidget
    start: QPointF
    way: QPointF  # of a pixel
    keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier


def grip_of(window: MainWindow, name: str) -> Grip:
    """Return the slider of a parameter; of the weights the last but one, which pushes its neighbor."""
    panel = window.parameters_panel
    if name.endswith("weight"):
        canvas = panel.spectrum_plot.canvas
        panel.ensureWidgetVisible(canvas)
        count = len(canvas.shares)
        place = canvas.pixel(count - 1, float(canvas.shares[count - 2]))
        return Grip(canvas.viewport(), place, QPointF(0, 1), Qt.KeyboardModifier.ShiftModifier)
    slider = panel.findChild(DragSlider, f"drag {name}")
    panel.ensureWidgetVisible(slider)
    return Grip(slider, QPointF(slider.rect().center()), QPointF(1, 0))


def dragged(studio: Studio, watch: Watch, grip: Grip) -> np.ndarray:
    """Drag to and fro; return how many seconds late each tick of a timer came."""
    studio.settle(0.3)
    grip.widget.installEventFilter(watch)
    post(grip, QEvent.Type.MouseButtonPress, 0.0, Qt.MouseButton.LeftButton)
    mouse = threading.Thread(target=move, args=(grip, watch))
    ticks = Ticks()
    mouse.start()
    look = QTimer()
    look.timeout.connect(lambda: mouse.is_alive() or studio.app.exit())
    look.start(50)
    studio.app.exec()
    late = ticks.stop()
    mouse.join()
    post(grip, QEvent.Type.MouseButtonRelease, 0.0, Qt.MouseButton.LeftButton)
    studio.wait_for_run()
    grip.widget.removeEventFilter(watch)
    studio.settle(1.0)
    return late


def move(grip: Grip, watch: Watch) -> None:
    """Post mouse events at fixed times; runs in a thread of its own."""
    began = time.perf_counter()
    for count in range(round(SECONDS / PERIOD)):
        time.sleep(max(0.0, began + count * PERIOD - time.perf_counter()))
        away = abs((count + SWEEP) % (4 * SWEEP) - 2 * SWEEP) - SWEEP  # a triangle wave
        watch.posted.append(time.perf_counter())
        post(grip, QEvent.Type.MouseMove, -away, Qt.MouseButton.NoButton)


def post(grip: Grip, kind: QEvent.Type, away: float, button: Qt.MouseButton) -> None:
    """Post a mouse event to what is dragged, so many pixels from its start."""
    held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else Qt.MouseButton.LeftButton
    at = grip.start + away * grip.way
    event = QMouseEvent(kind, at, grip.widget.mapToGlobal(at), button, held, grip.keys)
    QCoreApplication.postEvent(grip.widget, event)


class WatchedView(SceneView):
    """The 3-D view, which tells of every picture that it has painted."""

    watch: Watch | None = None

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Paint, and tell."""
        super().paintEvent(event)
        if self.watch is not None:
            self.watch.note_paint()


if __name__ == "__main__":
    sys.exit(main())
