"""Pictures by their number: a folder or a pattern of image files, or a video (PyAV).

A source is read by one thread at a time. Video frames are found by their time stamps, which are read once
without decoding; going on from one frame to the next decodes one, and any other begins at the key frame
before it.
"""

from __future__ import annotations

import bisect
import glob
import re
from abc import ABC, abstractmethod
from collections import OrderedDict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QSize
from PyQt6.QtGui import QImage, QImageReader

from core.arrays import InputError
from nrsfm_gui.words.installing import needs

if TYPE_CHECKING:
    from collections.abc import Sequence as Items

VIDEO_SUFFIXES = (".mp4", ".mov", ".avi", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".gif")
PASSED = 32  # frames kept as the decoder gave them
PATIENCE = 8  # frames ahead that are rather decoded than sought


class ImageSource(ABC):
    """Pictures of one size, counted from 0."""

    path: Path  # as it was asked for
    count: int

    @property
    @abstractmethod
    def size(self) -> QSize:
        """Width and height in pixels."""

    @abstractmethod
    def read(self, index: int) -> QImage:
        """Return a picture.

        Raises
        ------
        InputError
            where it cannot be read.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the file."""


class ImageFiles(ImageSource):
    """One file for every picture."""

    def __init__(self, path: Path, files: Items[Path]) -> None:
        self.path = path
        self._files = list(files)
        self.count = len(self._files)
        self._size = self.read(0).size()

    @property
    def size(self) -> QSize:
        """Width and height in pixels, of the first one."""
        return self._size

    def read(self, index: int) -> QImage:
        """Return a picture, turned as its camera notes."""
        reader = QImageReader(str(self._files[index]))
        reader.setAutoTransform(True)
        image = reader.read()
        if image.isNull():
            why = reader.errorString().rstrip(".").lower() or "unknown format"
            raise InputError(f"{self._files[index]} cannot be read as a picture: {why}")
        return image

    def close(self) -> None:
        """Do nothing: no file stays open."""


class Video(ImageSource):
    """A video file.

    Raises
    ------
    InputError
        where PyAV is not installed, or it finds no video in the file.
    """

    def __init__(self, path: Path) -> None:
        if find_spec("av") is None:
            raise InputError(needs("A video", "PyAV"))
        import av

        self.path = path
        self._error = av.FFmpegError
        try:
            self._container = av.open(str(path))
            if not self._container.streams.video:
                raise InputError(f"{path} holds no video")
            self._stream = self._container.streams.video[0]
            self._stream.thread_type = "AUTO"
            times = {packet.pts for packet in self._container.demux(self._stream) if packet.pts is not None}
        except (av.FFmpegError, OSError) as error:
            raise InputError(f"{path} cannot be read as a video: {error.strerror or error}") from error
        self._times = sorted(times)
        self.count = len(self._times)
        if not self.count:
            raise InputError(f"{path} holds no frames")
        self._frames: Any = None  # the decoder, behind frame `_next` - 1
        self._next = -1
        self._passed: OrderedDict[int, Any] = OrderedDict()  # decoded on the way, for going backwards

    @property
    def size(self) -> QSize:
        """Width and height in pixels."""
        return QSize(self._stream.width, self._stream.height)

    def read(self, index: int) -> QImage:
        """Return a picture."""
        try:
            frame = self._passed.get(index)
            return self._decoded(index) if frame is None else as_image(frame.to_ndarray(format="rgb24"))
        except (self._error, OSError) as error:
            self._frames = None
            raise InputError(f"{self.path}: frame {index + 1} cannot be read: {error}") from error

    def _decoded(self, index: int) -> QImage:
        """Decode up to a frame, from where the decoder is or from the key frame before it."""
        if not self._next <= index < self._next + PATIENCE or self._frames is None:
            self._container.seek(self._times[index], stream=self._stream)
            self._frames = self._container.decode(self._stream)
        for frame in self._frames:
            number = bisect.bisect_left(self._times, -1 if frame.pts is None else frame.pts)
            self._passed[number] = frame
            self._passed.move_to_end(number)
            if len(self._passed) > PASSED:
                self._passed.popitem(last=False)
            if frame.pts is not None and number >= index:
                self._next = number + 1
                return as_image(frame.to_ndarray(format="rgb24"))
        self._frames = None
        raise InputError(f"{self.path}: frame {index + 1} cannot be read: the file ends before it")

    def close(self) -> None:
        """Close the file."""
        self._frames = None
        self._passed.clear()
        self._container.close()


def open_source(path: Path) -> ImageSource:
    """Return the pictures that a path stands for, in the order of their numbers.

    A folder, a pattern (`frames/*.png`, `img_%04d.jpg`), a video, or one of numbered image files.

    Raises
    ------
    InputError
        where there is none, or they cannot be read.
    """
    if path.is_dir():
        files = [file for file in path.iterdir() if file.suffix.lower() in image_suffixes()]
        if not files:
            raise InputError(f"{path} holds no pictures; accepted are {', '.join(image_suffixes())}")
        return ImageFiles(path, sorted(files, key=natural))
    if not path.exists():
        files = _matching(path)
        if not files:
            raise InputError(f"{path} does not exist; give a folder, a pattern, an image or a video")
        return ImageFiles(path, files)
    if path.suffix.lower() in image_suffixes() and path.suffix.lower() != ".gif":
        return ImageFiles(path, _siblings(path))
    return Video(path)


def image_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the pictures that Qt reads here."""
    known = {"." + bytes(name.data()).decode().lower() for name in QImageReader.supportedImageFormats()}
    wanted = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
    return tuple(suffix for suffix in wanted if suffix in known)


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in names by their value: 2 before 10."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(1, int(part), part) if part.isdigit() else (0, 0, part) for part in parts]


def as_image(rgb: Any) -> QImage:
    """Return a picture of (height, width, 3) bytes."""
    height, width, _ = rgb.shape
    return QImage(rgb.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def _matching(path: Path) -> list[Path]:
    """Return the files of a pattern with wildcards, or with a number as in %04d."""
    pattern = re.sub(r"%0?\d*d", "*", str(path))
    if pattern == str(path) and not glob.has_magic(pattern):
        return []
    found = [Path(name) for name in glob.glob(pattern)]
    return sorted((file for file in found if file.suffix.lower() in image_suffixes()), key=natural)


def _siblings(path: Path) -> list[Path]:
    """Return the files whose names differ from a file's in the last number only."""
    match = re.match(r"(.*?)(\d+)(\D*)$", path.name)
    if match is None:
        return [path]
    head, _, tail = match.groups()
    fits = re.compile(re.escape(head) + r"\d+" + re.escape(tail) + "$")
    return sorted((file for file in path.parent.iterdir() if fits.match(file.name)), key=natural)
