"""Images by their number: a folder or a pattern of image files, or a video.

Only one thread at a time may read from a source.
"""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PyQt6.QtCore import QSize
from PyQt6.QtGui import QImage, QImageReader

from core import InputError
from core.io.readers import check_file
from core.tracking import Video

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from core.foundation import Pixels


class ImageSource(Protocol):
    """Pictures of one size, counted from 0."""

    path: Path  # as requested
    count: int

    @property
    def size(self) -> QSize:
        """Width and height in pixels."""

    def read(self, index: int) -> QImage:
        """Return a picture.

        Raises
        ------
        InputError
            where it cannot be read.
        """

    def close(self) -> None:
        """Close the file."""


class ImageFiles:
    """One file for every picture."""

    def __init__(self, path: Path, files: Collection[Path]) -> None:
        self.path = path
        self._files = list(files)
        self.count = len(self._files)
        self._size = self.read(0).size()

    @property
    def size(self) -> QSize:
        """Width and height in pixels, of the first one."""
        return self._size

    def read(self, index: int) -> QImage:
        """Return an image, rotated by its orientation tag."""
        check_file(self._files[index])
        reader = QImageReader(str(self._files[index]))
        reader.setAutoTransform(True)
        image = reader.read()
        if image.isNull():
            why = reader.errorString().rstrip(".").lower() or "unknown format"
            raise InputError(f"{self._files[index]} cannot be read as a picture: {why}")
        return image

    def close(self) -> None:
        """Do nothing: no file stays open."""


class VideoFrames:
    """The frames of a video."""

    def __init__(self, path: Path, stopped: Callable[[], bool]) -> None:
        self.path = path
        self._video = Video(path, stopped)
        self.count = self._video.count

    @property
    def size(self) -> QSize:
        """Width and height in pixels."""
        return QSize(*self._video.size)

    def read(self, index: int) -> QImage:
        """Return a frame."""
        return as_image(self._video.read(index))

    def close(self) -> None:
        """Close the file."""
        self._video.close()


def as_image(rgb: Pixels) -> QImage:
    """Return a picture of (height, width, 3) bytes."""
    height, width, _ = rgb.shape
    return QImage(rgb.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def open_source(path: Path, stopped: Callable[[], bool] = lambda: False) -> ImageSource:
    """Return the images of a path, in the order of their numbers.

    A folder, a pattern (`frames/*.png`, `img_%04d.jpg`), a video, or one of numbered image files. A long
    video is abandoned once `stopped` returns True.

    Raises
    ------
    InputError
        where there is none, or they cannot be read, or the system refuses to look for them.
    """
    try:
        return _source_of(path, stopped)
    except OSError as error:
        raise InputError.of(error) from error


def image_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the pictures that Qt reads here."""
    known = {"." + bytes(name.data()).decode().lower() for name in QImageReader.supportedImageFormats()}
    wanted = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
    return tuple(suffix for suffix in wanted if suffix in known)


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in names by their value: 2 before 10."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(1, int(part), part) if part.isdigit() else (0, 0, part) for part in parts]


def _source_of(path: Path, stopped: Callable[[], bool]) -> ImageSource:
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
    return VideoFrames(path, stopped)


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
