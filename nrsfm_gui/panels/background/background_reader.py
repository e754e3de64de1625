"""Read background images in a thread: the newest request first, then the next few images."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtGui import QImage

from core import InputError
from nrsfm_gui.engine.jobs import Job
from nrsfm_gui.panels.background.image_sources import ImageSource, open_source

AHEAD = 4  # pictures read in the direction of the last two requests


class BackgroundReader(Job):
    """Opens a source and reads its pictures by their number, until it is cancelled."""

    opened = pyqtSignal(int, object)  # the number of pictures, and their size
    read = pyqtSignal(int, object)  # a requested image, the null image where it cannot be read
    unreadable = pyqtSignal(str)  # why a picture cannot be read

    def __init__(self, path: Path) -> None:
        # Not a method that is bound to this object, which would then refer to itself and its pictures.
        super().__init__(BackgroundReader.serve)  # type: ignore[arg-type]  # the job it is called with
        self.path = path
        self._condition = threading.Condition()
        self._queue: deque[tuple[int, bool]] = deque()  # of pictures, and whether they are requested
        self._last = 0
        self.pictures: ImageSource | None = None

    def request(self, index: int) -> None:
        """Request an image; an earlier request that was not served yet is dropped."""
        with self._condition:
            step = 1 if index >= self._last else -1
            ahead = [(index + step * k, False) for k in range(1, AHEAD + 1)]
            self._queue, self._last = deque([(index, True), *ahead]), index
            self._condition.notify()

    def cancel(self) -> None:
        """End after the picture that is being read."""
        super().cancel()
        with self._condition:
            self._condition.notify()

    def serve(self) -> None:
        """Open the source and serve requests; the thread calls it."""
        self.pictures = pictures = open_source(self.path, lambda: self.stopping)
        try:
            self.opened.emit(pictures.count, pictures.size)
            while True:
                index, asked = self._next(pictures)
                try:
                    image = pictures.read(index)
                except InputError as refusal:
                    image = QImage()
                    if asked:
                        self.unreadable.emit(str(refusal))
                if asked:
                    self.read.emit(index, image)
        finally:
            pictures.release()

    def _next(self, pictures: ImageSource) -> tuple[int, bool]:
        """Wait for the next index, and whether it was requested. Raises Cancelled after a cancel."""
        with self._condition:
            while True:
                self.watch()
                while self._queue:
                    index, requested = self._queue.popleft()
                    if requested or (0 <= index < pictures.count and pictures.kept(index) is None):
                        return index, requested
                self._condition.wait()
