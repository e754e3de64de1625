"""Images by their number: a folder or a pattern of image files, or a video; a thread that reads them."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path

from PyQt6.QtCore import QBuffer, QByteArray, QSize, pyqtSignal
from PyQt6.QtGui import QImage, QImageReader

from core import InputError
from core.foundation import Pixels
from core.io.readers import Allowance, naming, read_bytes
from core.tracking import PICTURE_SUFFIXES, Video, list_pictures, matching_pictures
from nrsfm_gui.engine.jobs import Job

# By the first bytes of the content. Qt would find SVG, too, whatever the name: it reads other files, and
# what it draws need not end.
FORMATS = {
    rb"\x89PNG\r\n\x1a\n": b"png",
    rb"\xff\xd8\xff": b"jpeg",
    rb"BM": b"bmp",
    rb"II[*+]\0|MM\0[*+]": b"tiff",
    rb"RIFF....WEBP": b"webp",
    rb"P[25]\s": b"pgm",
    rb"P[36]\s": b"ppm",
}
PIXEL = 8  # bytes at most
KEPT_BYTES = 256 * 2**20
AHEAD = 4  # pictures read in the direction of the last two requests


class ImageSource:
    """Pictures of one size, counted from 0, with a cache; several users share it, the last one closes it."""

    def __init__(
        self,
        files: list[Path],
        size: QSize,
        read: Callable[[int], QImage],
        *,
        count: int | None = None,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        self.files, self.size = files, size
        self.count = len(files) if count is None else count
        self._read, self._close = read, close
        self._kept: OrderedDict[int, QImage] = OrderedDict()
        self._users = 1
        self._changing = threading.Lock()  # around what is kept, and the users
        self._reading = threading.Lock()  # around what reads, which is no friend of two threads

    def share(self) -> ImageSource:
        """Add a user and return the images."""
        with self._changing:
            self._users += 1
        return self

    def release(self) -> None:
        """Remove a user; called once by every user."""
        with self._changing:
            self._users -= 1
            last = self._users == 0
        if last:
            with self._reading:
                self._close()

    def kept(self, index: int) -> QImage | None:
        """Return a picture that is in memory."""
        with self._changing:
            return self._kept.get(index)

    def read(self, index: int) -> QImage:
        """Return a picture. Raises InputError where it cannot be read."""
        kept = self.kept(index)
        if kept is not None:
            return kept
        with self._reading:
            image = self._read(index)
        with self._changing:
            self._kept[index] = image
            total = sum(each.sizeInBytes() for each in self._kept.values())
            while total > KEPT_BYTES and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                total -= gone.sizeInBytes()
        return image


def as_image(rgb: Pixels) -> QImage:
    """Return a picture of (height, width, 3) bytes."""
    height, width, _ = rgb.shape
    return QImage(rgb.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def open_source(path: Path, stopped: Callable[[], bool] = lambda: False) -> ImageSource:
    """Return the images of a path, in the order of their numbers.

    A folder, a pattern (`frames/*.png`, `img_%04d.jpg`) of the names in one folder, a video, or one of
    numbered image files. A long video or folder is abandoned once `stopped` returns True. Raises InputError.
    """
    suffixes, refusal = image_suffixes(), ""
    try:
        if path.is_dir():
            files = list_pictures(path, suffixes, stopped=stopped)
            refusal = f"holds no pictures; accepted are {', '.join(suffixes)}"
        elif not path.exists():
            files = matching_pictures(path, suffixes, stopped)
            refusal = "does not exist; give a folder, a pattern, an image or a video"
        elif path.suffix.lower() in suffixes:
            files = _siblings(path, stopped)
        else:
            video = Video(path, stopped)
            size, read = QSize(*video.size), lambda index: as_image(video.read(index))
            return ImageSource([path], size, read, count=video.count, close=video.close)
    except OSError as error:
        raise InputError.of(error) from error
    if not files:
        raise InputError(f"{path} {refusal}")
    return ImageSource(files, _read_image(files[0]).size(), lambda index: _read_image(files[index]))


def image_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the pictures that Qt reads here."""
    known = {"." + bytes(name.data()).decode().lower() for name in QImageReader.supportedImageFormats()}
    return tuple(suffix for suffix in PICTURE_SUFFIXES if suffix in known)


def _read_image(file: Path) -> QImage:
    """Return an image, rotated by its orientation tag. Raises InputError where it cannot be read."""
    content = read_bytes(file)
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    reader = QImageReader(buffer, QByteArray(_format_of(content, file)))
    try:
        reader.setAutoDetectImageFormat(False)
        reader.setAutoTransform(True)
        size = reader.size()
        if size.isValid():
            with naming(file):
                Allowance(len(content)).use(size.width() * size.height() * PIXEL)
        image = reader.read()
        if image.isNull():
            why = reader.errorString().rstrip(".").lower() or "unknown format"
            raise InputError(f"{file} cannot be read as a picture: {why}")
        return image
    finally:
        reader.setDevice(None)  # first: the reader of a TIFF uses it until its own end


def _format_of(content: bytes, file: Path) -> bytes:
    for begin, name in FORMATS.items():
        if re.match(begin, content, re.DOTALL):
            return name
    raise InputError(
        f"{file} cannot be read as a picture: its content is of none of {', '.join(image_suffixes())}"
    )


def _siblings(path: Path, stopped: Callable[[], bool]) -> list[Path]:
    """Return the files whose names differ from a file's in the last number only."""
    match = re.match(r"(.*?)(\d+)(\D*)$", path.name)
    if match is None:
        return [path]
    head, _, tail = match.groups()
    fits = re.compile(re.escape(head) + r"\d+" + re.escape(tail) + "$")
    return list_pictures(path.parent, image_suffixes(), fits, stopped)


class BackgroundReader(Job):
    """Opens a source and reads its pictures until it is cancelled; the newest request comes first."""

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
