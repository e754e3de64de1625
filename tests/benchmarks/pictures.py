"""Make the README's pictures: screenshots of the real application, driven by mouse events.

    xvfb-run -a -s '-screen 0 2600x1500x24' python tests/benchmarks/pictures.py [--only NAME ...] [-o FOLDER]

Without `-o` they go to assets/pictures. An arrow is drawn where the mouse is, since a picture of a window has
none. The animation needs Pillow (the `video` extra).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from frame import parser, timed
from hands import send_mouse
from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QDockWidget
from studio import SMALL, Studio

from core import PRESETS, Settings, write_challenge
from core.cli import main as command_line
from core.tracking import track_video, video_path
from nrsfm_gui.export.movie_files import pixels
from nrsfm_gui.model.theme import DARK, LIGHT, Theme
from nrsfm_gui.scene.scene import ErrorSeries

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "pictures"
LARGE, MIDDLE = (2560, 1440), (1600, 1000)
LARGEST_ANIMATION = 3_000_000  # bytes
LONGEST_ANIMATION = 70  # frames before the last ones
HEAVY_SHARE = 0.62  # of the height of the plot of the weights, where a weight is about 5
ARROW = ((0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12))


class Photographer(Studio):
    """A window, its pictures, and the errors that it shows."""

    def __init__(self, size: tuple[int, int] = SMALL, theme: Theme = DARK) -> None:
        super().__init__(size, theme)
        self.errors = np.zeros((0, 0))  # (F, P) of the run that is shown
        self.window.display.errors.series_changed.connect(self._note_errors)

    def _note_errors(self, kinds: tuple[ErrorSeries, ...]) -> None:
        if kinds:
            self.errors = kinds[0].per_point

    def act(self, *names: str) -> None:
        """Trigger actions of the table."""
        for name in names:
            self.window.toolbars.actions[name].trigger()
        self.settle(0.5)

    def picture(self, mouse: QPoint | None = None) -> QImage:
        """Return what the window shows, with an arrow where the mouse is."""
        image = self.window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        if mouse is not None:
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.translate(QPointF(mouse))
            painter.setPen(QPen(QColor("black"), 1))
            painter.setBrush(QColor("white"))
            painter.drawPolygon(QPolygonF([QPointF(x, y) for x, y in ARROW]))
            painter.end()
        return image

    def save(self, path: Path, mouse: QPoint | None = None) -> None:
        """Write what the window shows."""
        self.picture(mouse).save(str(path))


def live_drag(studio: Photographer, out: Path) -> None:
    """The weight of the second mode and of those after it is dragged up, and the shape gets better."""
    window = studio.window
    studio.open("sample:tearing/circle")
    studio.solve(Settings())
    window.session.set_frame(int(np.nanargmax(np.nanmean(studio.errors, axis=1))))
    window.session.set_live(True)
    studio.settle(1.0)
    canvas = window.parameters_panel.spectrum_plot.canvas
    viewport = canvas.viewport()
    start = canvas.pixel(2, float(canvas.shares[1])).toPoint()
    top = canvas.pixel(2, HEAVY_SHARE).toPoint().y()
    frames: list[QImage] = []

    def shoot(mouse: QPoint | None = None) -> None:
        studio.settle(0.09)
        frames.append(studio.picture(None if mouse is None else viewport.mapTo(window, mouse)))

    for _ in range(5):
        shoot(start)
    shift = Qt.KeyboardModifier.ShiftModifier
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, shift, start)
    mouse = start
    for share in (1 - np.cos(np.linspace(0, np.pi, 25)[1:])) / 2:
        mouse = QPoint(start.x(), round(start.y() + share * (top - start.y())))
        send_mouse(viewport, QEvent.Type.MouseMove, mouse, keys=shift)  # which brings the other weights along
        shoot(mouse)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, shift, mouse)
    while window.run_control.current is not None and len(frames) < LONGEST_ANIMATION:
        shoot()
    for _ in range(10):
        shoot()
    _save_animation(frames, out)


def _save_animation(frames: list[QImage], path: Path) -> None:
    from PIL import Image

    pictures = [Image.fromarray(pixels(frame)) for frame in frames]
    # One palette for all frames: what stays the same then costs nothing.
    palette = pictures[len(pictures) // 2].quantize(96, dither=Image.Dither.NONE)
    small = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    small[0].save(path, save_all=True, append_images=small[1:], duration=90, loop=0, optimize=True)
    size = path.stat().st_size
    print(f"{path.name}: {len(frames)} frames, {size / 1e6:.2f} MB")
    if size > LARGEST_ANIMATION:
        raise SystemExit(f"{path.name} has {size} bytes; the README takes {LARGEST_ANIMATION}")


def solved(sample: str, *acts: str, frame: int | None = None) -> Callable[[Photographer, Path], None]:
    """Return what makes the picture of a solved sample, at a frame and after some actions."""

    def make(studio: Photographer, out: Path) -> None:
        studio.open(f"sample:{sample}")
        studio.solve(PRESETS["recommended"])
        if frame is not None:
            studio.window.session.set_frame(frame)
        studio.act(*acts)
        studio.save(out)

    return make


def worst_frame(studio: Photographer, out: Path) -> None:
    """The worst frame, found by a click into the heat-strip where it is brightest."""
    studio.open("sample:stretch/circle")
    studio.solve(PRESETS["recommended"])
    window = studio.window
    studio.act("color_by_error")
    errors = np.nan_to_num(studio.errors)
    frame, point = np.unravel_index(errors.argmax(), errors.shape)
    strip = window.timeline.strip
    cells = [
        QPoint(x, y)
        for x in range(strip.width())
        for y in range(strip.height())
        if strip.cell_at(QPointF(x, y)) == (frame, point)
    ]
    place = cells[len(cells) // 2]
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    window.findChild(QDockWidget, "dock Points").raise_()
    studio.settle(0.5)
    studio.save(out, strip.mapTo(window, place))


def difference(studio: Photographer, out: Path) -> None:
    """Two runs differenced: color is their distance."""
    studio.open("sample:paper/circle")
    window = studio.window
    window.session.set_live(False)  # the second run is one of its own
    # Refined depths hardly depend on the rank.
    studio.solve(Settings(rank=4, starts=8, objective="wnn"))
    studio.solve(Settings(rank=2, starts=8, objective="wnn"))
    window.compare_controller.compare(window.session.runs[0])
    window.session.set_compare_mode("difference")
    window.session.set_frame(26)
    studio.settle(0.8)
    studio.save(out)


def own_video(studio: Photographer, out: Path) -> None:
    """The bundled video with its tracks, and the shape that they give."""
    last, _ = timed(track_video(video_path(Path("sample:sheet"))))
    studio.open(last.sequence())
    studio.solve(PRESETS["recommended"])
    session = studio.window.session
    session.set_appearance(session.appearance.changed(color_by="depth"))
    session.set_frame(44)
    studio.settle(1.0)
    studio.save(out)


def sweep(studio: Photographer, out: Path) -> None:
    """The window of a sweep: three ranks and five values of eta, three seeds each."""
    data, runs = studio.folder / "data", studio.folder / "ranks_and_eta"
    write_challenge(data, "balloon", paths=("circle",), frames=20, points=40)
    words = f"sweep {data} --camera perspective --set rank=2,3,4,6 eta=log:0.01:1:5 --seeds 0:3".split()
    assert command_line([*words, "--objective", "wnn", "-o", str(runs)]) == 0
    studio.window.sequence_opening.open(runs)
    controller = studio.window.sweep_controller
    studio.wait(lambda: controller.window is not None and controller.window.rows is not None)
    shown = controller.window
    shown.table.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    shown.choose(int(shown.order[0]))
    studio.settle(1.0)
    shown.grab().save(str(out))


PICTURES = {  # and the window that each is of
    "live_drag.gif": (live_drag, {"size": (1280, 860)}),
    "large_light.png": (solved("paper/tricky", "color_by_error", "trails"), {"size": LARGE, "theme": LIGHT}),
    "worst_frame.png": (worst_frame, {}),
    "camera_lock.png": (solved("paper/tricky", "camera_lock", frame=30), {}),
    "difference.png": (difference, {}),
    "own_video.png": (own_video, {"size": MIDDLE}),
    "sweep.png": (sweep, {"size": MIDDLE}),
}


def main() -> int:
    """Make what is asked for."""
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", choices=PICTURES, default=PICTURES)
    arguments.add_argument("-o", "--output", type=Path, default=FOLDER)
    options = arguments.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        make, window = PICTURES[name]
        with Photographer(**window) as studio:
            make(studio, options.output / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
