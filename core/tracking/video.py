"""A video as images by their number, decoded in a process of its own.

FFmpeg is C code that damaged files may crash, keep busy, or let take the memory: what happens to its process
is a sentence here. Pictures come through memory that both processes share, which has no name once both have
it, so that nothing of it is left when they are killed.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import numpy as np

from ..foundation import InputError, Pixels, needs
from ..foundation.processes import POLL_SECONDS, ProcessDied, WorkerProcess, why_ended
from ..io.files.contents import check_file
from ..io.readers.challenge import PREFIX, bundled_videos
from .decoding import PIXEL, VideoServer, is_video_file

SHARED = Path("/dev/shm")  # where Linux has the memory that processes share; small in containers
MOST_SECONDS = 20.0  # without a sign of progress
MOST_DEATHS = 3  # of processes that decode one video


class Video:
    """A video file, or pictures in files of their own: a folder, or a pattern such as `img_%04d.png`.

    `size`: width and height in pixels; `frame_rate`: frames per second, None where the file does not state
    it. Raises InputError where PyAV is not installed, or it finds no video in the file.
    """

    def __init__(self, path: Path, stopped: Callable[[], bool] = lambda: False) -> None:
        if find_spec("av") is None:
            raise InputError(needs("A video", "PyAV", "video"))
        if is_video_file(path):
            check_file(path)
        self.path = path
        self._process: WorkerProcess | None = None
        self._memory: SharedMemory | None = None
        self._deaths = 0
        self._quiet = 0.0  # polls since the last sign of progress
        self.count, self.size, self.frame_rate = self._open(stopped)

    def read(self, index: int) -> Pixels:
        """Return a picture, (height, width, 3).

        `index`: its number, counted from 0. Raises InputError where it cannot be read. Where the process of
        the decoder has ended, the next picture is read by a new one.
        """
        what = f"{self.path}: frame {index + 1} cannot be read"
        if self._process is None:
            if self._deaths > MOST_DEATHS:
                raise InputError(f"{what}: the decoder has ended {self._deaths} times")
            if self._open(lambda: False)[:2] != (self.count, self.size):
                self.close()
                raise InputError(f"{what}: the file has changed")
        shape = self._call(what, "read", index, receive=self._watch)
        if self._memory is None or self._memory.size < np.prod(shape):
            self._share(what, int(np.prod(shape)))
            shape = self._call(what, "read", index, receive=self._watch)
        assert self._memory is not None
        return np.ndarray(shape, np.uint8, self._memory.buf).copy()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.__exit__()
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _open(self, stopped: Callable[[], bool]) -> tuple[int, tuple[int, int], float | None]:
        """Start a process, and return what the video states."""

        def watch(content: object) -> None:
            if stopped():
                raise InputError(f"{self.path} is not opened: it was removed meanwhile")
            self._watch(content)

        what = f"{self.path} cannot be read as a video"
        self._process = WorkerProcess()
        try:
            self._call(what, VideoServer, self.path, receive=watch, keep=True)
            facts: tuple[int, tuple[int, int], float | None] = self._call(what, "facts", timeout=MOST_SECONDS)
            self._share(what, PIXEL * facts[1][0] * facts[1][1])
        except BaseException:
            self.close()
            raise
        return facts

    def _share(self, what: str, size: int) -> None:
        """Let the process write pictures of so many bytes to memory that both have."""
        if self._memory is not None:
            self._memory.close()
        # More than there is room for can be shared; a process that writes to it is killed.
        free = shutil.disk_usage(SHARED).free if SHARED.is_dir() else size
        if free < size:
            raise InputError(f"{what}: a picture has {size} bytes; {SHARED} has {free}")
        try:
            self._memory = SharedMemory(create=True, size=max(size, 1))
        except OSError as error:
            raise InputError(f"{what}: no memory can be shared: {error.strerror}") from None
        name = self._memory.name
        try:
            self._call(what, "share", name, timeout=MOST_SECONDS)
        finally:
            self._memory.unlink()  # its name; it lasts as long as one of the two has it

    def _call(self, what: str, function: Callable[..., Any] | str, *arguments: Any, **options: Any) -> Any:
        """Return what `WorkerProcess.call` does; say what it was for where the process ends."""
        assert self._process is not None
        self._quiet = -math.inf if function is VideoServer else 0  # until a new process has its libraries
        try:
            return self._process.call(function, *arguments, **options)
        except InputError:
            raise
        except ProcessDied as end:
            why = why_ended(end.code)
        except TimeoutError:
            why = f"no sign of progress in {MOST_SECONDS:g} s"
        except BaseException:  # the answer to this would be taken for that to the next call
            self.close()
            raise
        self.close()
        self._deaths += 1
        raise InputError(f"{what}: {why}")

    def _watch(self, content: object) -> None:
        # Counted by what this process has waited for: it may itself have been stopped for a while.
        self._quiet = 0 if content is not None else self._quiet + 1
        if self._quiet * POLL_SECONDS > MOST_SECONDS:
            raise TimeoutError


# -- bundled videos ------------------------------------------------------------------------------------------


def sample_videos() -> tuple[str, ...]:
    """Return the names of the bundled videos."""
    return tuple(bundled_videos())


def video_path(path: Path) -> Path:
    """Return the file of "sample:NAME", and any other path as it is."""
    name, videos = path.as_posix(), bundled_videos()
    if not name.startswith(PREFIX):
        return path
    if name.removeprefix(PREFIX) not in videos:
        there = ", ".join(PREFIX + each for each in videos) or "none installed"
        raise InputError(f"there is no video {name!r}; there are {there}")
    return videos[name.removeprefix(PREFIX)]
