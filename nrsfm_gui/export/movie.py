"""Movies of the views: frames painted one at a time while the window is idle, written in a thread.

The 3-D and the 2-D view are painted by views of their own that are never shown, of the size that is wanted
and from a copy of what is drawn: the window goes on with its own frame. A movie of the whole window shows
every frame in it for the moment of the picture, and removes it before anything reaches the screen.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtGui import QColor, QImage, QPainter
from PyQt6.QtWidgets import QWidget

from core import InputError
from core.foundation import check_replaceable, check_writable, printable, protecting
from core.io.writers import check_numbered, numbered
from nrsfm_gui.engine.jobs import Job
from nrsfm_gui.export.export_request import MovieOptions
from nrsfm_gui.export.movie_files import format_for
from nrsfm_gui.export.tasks import Task
from nrsfm_gui.model.session import Session
from nrsfm_gui.model.theme import Theme
from nrsfm_gui.panels.background.background_controller import BackgroundController
from nrsfm_gui.panels.view2d.tracks_view import TracksView
from nrsfm_gui.panels.view3d.scene_view import SceneView, labeled_size
from nrsfm_gui.scene.display import Display
from nrsfm_gui.scene.scene import Scene
from nrsfm_gui.widgets.style import palette

View = TypeVar("View", SceneView, TracksView)

AHEAD = 4  # pictures that wait for the writer
FULL_MILLISECONDS = 8  # until the next look, where so many wait
WAIT_SECONDS = 0.05  # for a picture, before the writer checks whether it was cancelled


@dataclass(frozen=True, eq=False)
class ViewSources:
    """What the pictures of an export are made of."""

    session: Session
    display: Display
    scene_view: SceneView
    tracks_view: TracksView
    background: BackgroundController
    window: QWidget


class Painter(Protocol):
    """Paints the pictures of a movie, in the thread of the window."""

    def picture(self, frame: int, turned: float) -> QImage:
        """Return the picture of a frame, turned by some degrees."""

    def close(self) -> None:
        """Release the resources."""


class ScenePainter:
    """A copy of the 3-D view of the window, in another size and, where one is given, another theme."""

    def __init__(
        self, views: ViewSources, options: MovieOptions, *, theme: Theme | None = None, marks: bool = True
    ) -> None:
        self._options, self._marks = options, marks
        self.scene = _scenes_of(views, marks=marks)
        locked = views.scene_view.camera.locked
        view, scene = views.scene_view, views.display.scene
        _, self._size = labeled_size(options.width, options.height)
        self._orbit = None if locked else view.orbit_for(*self._size)
        self._follow = views.session.appearance.follow
        self._framing = scene.shapes.framing if scene is not None and view.camera.fitted else None
        turns = options.one_turn or options.turn or view.camera.turning
        if self._orbit is not None and self._framing is not None and turns:
            self._orbit = self._framing.fit_around(self._orbit, *self._size, follow=self._follow)
            self._framing = None
        self._view = unseen(SceneView(software=True), options)
        self._view.setPalette(palette(theme or views.session.theme))
        self._view.set_camera_locked(locked)

    def picture(self, frame: int, turned: float) -> QImage:
        """Return the picture of a frame."""
        self._view.set_scene(self.scene(frame))
        orbit = self._orbit
        if orbit is not None and self._framing is not None:
            orbit = self._framing.fit(orbit, *self._size, frame, follow=self._follow)
        orbit = orbit.turned(turned, 0.0) if orbit is not None else None
        return self._view.render_image(
            self._options.width, self._options.height, orbit,
            labels=self._marks, transparent=self._options.transparent,
        )  # fmt: skip

    def fit(self, *frames: int) -> None:
        """Fill the picture with what some frames have, seen from the same direction."""
        known = []
        for scene in map(self.scene, frames):
            shapes = [points for points in (scene.estimate, scene.truth) if points is not None]
            known += [points[np.isfinite(points).all(axis=1)] - scene.displacement for points in shapes]
        points = np.concatenate(known) if known else np.empty((0, 3))
        if self._orbit is not None and len(points):
            self._orbit, self._framing = self._orbit.fitted(points, *self._size), None

    def close(self) -> None:
        """Drop the view."""
        self._view.deleteLater()


class TracksPainter:
    """A copy of the 2-D view of the window, in another size; its parameters are those of `ScenePainter`."""

    def __init__(
        self, views: ViewSources, options: MovieOptions, *, theme: Theme | None = None, marks: bool = True
    ) -> None:
        self._scene = _scenes_of(views, marks=marks)
        self._shown = views.tracks_view.range_shown
        self.view = unseen(TracksView(), options)
        self.view.show_axes(views.tracks_view.axes_shown)
        self.view.setPalette(palette(theme or views.session.theme))
        self._background = views.background.still()

    def picture(self, frame: int, _turned: float) -> QImage:
        """Return the picture of a frame."""
        self.show_frame(frame)
        return self.view.grab_image()

    def show_frame(self, frame: int) -> None:
        """Show a frame in the view."""
        self.view.set_scene(self._scene(frame))
        self.view.set_background(*self._background.picture(frame))
        self.view.show_range(self._shown)

    def close(self) -> None:
        """Drop the view and the background."""
        self.view.deleteLater()
        self._background.close()


class WindowPainter:
    """The complete window, scaled to the requested size."""

    def __init__(self, views: ViewSources, options: MovieOptions) -> None:
        self._views, self._options = views, options
        self._sequence = views.session.sequence
        views.session.notifier.clear()  # which would go away in the middle of the movie

    def picture(self, frame: int, _turned: float) -> QImage:
        """Show a frame, grab the picture, and show the frame of before."""
        session, display = self._views.session, self._views.display
        if session.sequence is not self._sequence:
            raise InputError("The movie of the window is not written: another sequence was opened meanwhile")
        before = session.frame
        session.set_frame(frame)
        display.refresh()
        image = self._views.window.grab().toImage()
        session.set_frame(before)
        display.refresh()
        return fitted(image, self._options.width, self._options.height, session.theme.window)

    def close(self) -> None:
        """Leave the window as it is."""


PAINTERS = {"3d": ScenePainter, "2d": TracksPainter, "window": WindowPainter}


class MovieTask(Task):
    """Paints and writes a movie. Raises InputError where it cannot be begun."""

    def __init__(self, views: ViewSources, path: Path, options: MovieOptions) -> None:
        sequence = views.session.sequence
        if sequence is None:
            raise InputError(f"{path} is not written: there is no sequence yet")
        if options.last >= sequence.frame_count:
            raise InputError(f"there are {sequence.frame_count} frames; frame {options.last + 1} is not one")
        made = format_for(path)
        width, height = made.size(options.width, options.height)
        options = replace(options, width=width, height=height)
        self._shots = options.shots()
        inputs = views.session.inputs()
        with protecting(inputs):  # before anything is painted
            if made.numbered:
                check_numbered(path, len(self._shots))
                check_replaceable(numbered(path, index) for index in range(len(self._shots)))
            else:
                check_writable(path)
        self._queue: queue.Queue[QImage | Exception] = queue.Queue(AHEAD)
        self._painter: Painter = PAINTERS[options.view](views, options)

        def write(_job: Job) -> str:
            with protecting(inputs):
                files = made.write(path, self._images(), options.fps)
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            return f"Saved {files[0]}{more}: {len(self._shots)} pictures, {width} × {height}"

        super().__init__(f"Making {printable(path.name)}", path, write)
        self.in_window = options.view != "window"  # a line in the window would be in the pictures
        self._next = 0
        self._timer = QTimer(self)  # the next picture is painted when the window has served its events
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._paint)
        self.started.connect(self._timer.start)

    def discard(self) -> None:
        """Paint no more, and drop what was painted."""
        self._timer.stop()
        self._painter.close()
        self._queue.queue.clear()
        super().discard()

    def _paint(self) -> None:
        """Paint one picture; the window gets its turn before the next."""
        if self.stopping or self._next == len(self._shots):
            return
        if self._queue.full():
            self._timer.start(FULL_MILLISECONDS)
            return
        try:
            self._queue.put(self._painter.picture(*self._shots[self._next]))
        except Exception as problem:
            self._queue.put(problem)  # to be raised in the thread, so that it ends and reports
            return
        self._next += 1
        self._timer.start(0)

    def _images(self) -> Iterator[QImage]:
        """Yield the pictures as they are painted; called in the thread that writes."""
        total = len(self._shots)
        for done in range(total):
            self.watch(done, total)
            while True:
                try:
                    image = self._queue.get(timeout=WAIT_SECONDS)
                    break
                except queue.Empty:
                    self.watch(done, total)
            if isinstance(image, Exception):
                raise image
            yield image
        self.watch(total, total)


def _scenes_of(views: ViewSources, *, marks: bool) -> Callable[[int], Scene]:
    """Return what gives the scene of a frame, as it is drawn now; without `marks` nothing is selected."""
    scenes = views.display.scenes()
    return scenes if marks else lambda frame: replace(scenes(frame), selected=None, selection=())


def unseen(view: View, options: MovieOptions) -> View:
    """Return a view that is laid out in a size but never reaches the screen."""
    view.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    view.setMinimumSize(1, 1)
    view.resize(options.width, options.height)
    view.show()
    return view


def fitted(image: QImage, width: int, height: int, color: str) -> QImage:
    """Return a picture of just that size: scaled, and centered on a color where its shape differs."""
    scaled = image.scaled(
        width, height, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    scaled.setDevicePixelRatio(1.0)
    if (scaled.width(), scaled.height()) == (width, height):
        return scaled
    page = QImage(width, height, QImage.Format.Format_RGB32)
    page.fill(QColor(color))
    painter = QPainter(page)
    painter.drawImage((width - scaled.width()) // 2, (height - scaled.height()) // 2, scaled)
    painter.end()
    return page
