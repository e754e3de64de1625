"""A video as images by their number (PyAV), counted from 0 in display order.

MP4 and Matroska store the display time of every frame, which is read once without decoding. Other
containers, above all AVI, store the times of packets or none: where not every frame is a key frame, such a
video is decoded once to find the order of its frames.

The decoder gets the number of every packet as its time, and passes it on to the frame: so a frame is
identified by its packet wherever decoding began. Reading the next frame decodes one frame; any other read
starts at the key frame before it, or at the start of the file where the key frame is not found.

This is not left to imageio's reader by index (2.38 with PyAV): where it seeks, it gives wrong pictures of 6
of the 13 pairs of codec and container in the tests; where it does not, each step back decodes from the start.
It has no number of pictures for Matroska and MPEG, and counts those that an edit list cuts off.

Only files with pictures of their own are opened, not lists of other files. Their packets and the size of the
pictures are bounded by what a file may need.

Phones store the pictures as the sensor has them, and a matrix that turns them upright: all pictures here are
turned as the first one says, as players show them.

Pictures in files of their own, those of a folder or of a pattern of names, are read as a video, in the order
of the numbers in their names.

FFmpeg is C code that damaged files may crash or keep busy: the program uses `VideoServer`, in a process of
its own (`video`).
"""

from __future__ import annotations

import bisect
import fnmatch
import glob
import math
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from itertools import chain
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..foundation import InputError, Pixels
from ..foundation.processes import limit_memory, limit_processor, processor_count
from ..io.files.allowance import Allowance, memory_limit
from ..io.files.contents import naming

TIMED = {"mov", "matroska"}  # FFmpeg's names of the containers that store when every picture is shown
HIDING = {"vp8"}  # decoders for which some packets hold a picture that is never shown
PIXEL = 3  # bytes
IN_MEMORY = 16  # pictures, of the decoder and of those that are kept, that the largest ones leave space for
OF_PACKET = 500  # bytes that are kept of each
PASSED = 32  # frames kept as the decoder gave them
PATIENCE = 8  # frames ahead that are rather decoded than sought
MOST_THREADS = 8  # of the decoder, each with a picture of its own
OF_LIBRARY = 1_000_000_000  # bytes of address space that it may take besides, above all for its threads
CPU_SECONDS = 5  # for one packet
REPORT_SECONDS = 0.5  # between two signs of progress
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
AS_STORED = (1, 0, 0, 1)  # a, b, c, d of the display matrix of pictures that are stored upright


class Accepted(NamedTuple):
    """Files that are opened."""

    containers: str  # FFmpeg's names of the containers, and of the streams without one
    refusal: str  # of others: the end of a sentence


VIDEOS = Accepted(
    "asf,avi,dv,flv,gif,h264,hevc,ivf,m4v,matroska,mjpeg,mov,mp4,mpeg,mpegts,mpegvideo,mxf,nut,ogg,rm,webm,wtv,"
    "yuv4mpegpipe",
    "is no video; accepted are MP4, Matroska, AVI, MPEG and the like",
)
PICTURES = Accepted(
    "png_pipe,jpeg_pipe,bmp_pipe,tiff_pipe,webp_pipe,ppm_pipe,pgm_pipe",
    f"is no picture; accepted are {', '.join(PICTURE_SUFFIXES)}",
)


class VideoDecoder:
    """A video file, decoded in this process.

    `size`: width and height in pixels; `frame_rate`: frames per second, None where the file does not state
    it. Raises InputError where PyAV finds no video in the file.
    """

    def __init__(
        self, path: Path, progress: Callable[[], None] = lambda: None, accepted: Accepted = VIDEOS
    ) -> None:
        import av
        from av.video.reformatter import VideoReformatter

        self._progress, self._reformatter = progress, VideoReformatter()
        self._stored = path.stat().st_size
        self._most_pixels = memory_limit() // (IN_MEMORY * PIXEL)  # of a picture
        self.path = path
        self._accepted = accepted
        self._av = av
        self._errors = (av.FFmpegError, OSError)
        self._places: dict[tuple[int, int], int] = {}  # packets by position and size, {} where unknown
        self._key_times: dict[int, int | None] = {}  # of the packets of key frames, as the container has them
        self._frames: Iterator[tuple[int, Any]] | None = None  # the decoder, before picture `_next`
        self._next = 0
        self._passed: OrderedDict[int, Any] = OrderedDict()  # decoded on the way, for going backwards
        self._lost: set[int] = set()  # pictures that decoding from the start does not give, either
        try:
            self._container, self._stream = self._open()
            with naming(path):
                self._numbers = self._numbers_of_packets()
        except self._errors as error:
            raise InputError(f"{path} cannot be read as a video: {error.strerror or error}") from error
        # What the stream states is read now: after `close` its memory is given back.
        rate = self._stream.average_rate or self._stream.guessed_rate
        self.frame_rate = float(rate) if rate else None
        width, height = int(self._stream.width), int(self._stream.height)
        self.count = len(self._numbers)
        if not self.count:
            raise InputError(f"{path} holds no frames")
        keys = (key for key in self._key_times if key in self._numbers)
        self._keys = sorted((self._numbers[key], key) for key in keys)
        self._display = self._display_matrix()
        self.size = (height, width) if self._is_transposed() else (width, height)

    def read(self, index: int) -> Pixels:
        """Return a picture, (height, width, 3), on the memory of the library.

        `index`: its number, counted from 0. Raises InputError where it cannot be read.
        """
        try:
            frame = self._passed.get(index)
            if frame is None:
                frame = self._decoded(index)
            plane = self._reformatter.reformat(frame, format="rgb24").planes[0]
        except self._errors as error:
            self._frames = None
            raise InputError(f"{self.path}: frame {index + 1} cannot be read: {error}") from error
        shape, strides = (plane.height, plane.width, PIXEL), (plane.line_size, PIXEL, 1)
        pixels: Pixels = np.ndarray(shape, np.uint8, memoryview(plane), strides=strides)
        a, b, c, d = self._display
        if self._is_transposed():
            pixels, a, d = pixels.transpose(1, 0, 2), c, b
        return pixels[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1]

    def close(self) -> None:
        """Close the file."""
        self._frames = None
        self._passed.clear()
        self._container.close()

    def _display_matrix(self) -> tuple[int, ...]:
        """Return a, b, c, d: what is stored at (x, y) is shown at (a x + c y, b x + d y), but for a shift."""
        try:
            frame = self._decoded(0)
        except (InputError, *self._errors):  # which is told where the picture is read
            self._frames = None
            return AS_STORED
        try:
            data = frame.side_data.get("DISPLAYMATRIX")
        except ValueError:
            # PyAV gives no data where it does not know one kind, such as EXIF. The angle tells no mirroring.
            turn = np.deg2rad(frame.rotation)
            cosine, sine = round(np.cos(turn)), round(np.sin(turn))
            return cosine, -sine, sine, cosine
        if data is None:
            return AS_STORED
        entries = np.frombuffer(bytes(data), dtype=np.int32)
        return tuple(int(entries[place]) for place in (0, 1, 3, 4))

    def _is_transposed(self) -> bool:
        a, b, c, d = map(abs, self._display)
        return b + c > a + d

    def _open(self) -> tuple[Any, Any]:
        """Return the file and its video stream."""
        # Only what the container stores: times that FFmpeg fills in differ with where reading began.
        # Playlists and lists of files are no containers here: they would lead to other files.
        options = {
            "fflags": "+nofillin",
            "format_whitelist": self._accepted.containers,
            "protocol_whitelist": "file",
            "max_pixels": str(self._most_pixels),  # of pictures that FFmpeg decodes to know what is there
        }
        name = f"file:{self.path}"  # of which no beginning, such as "concat:", is taken for a protocol
        try:
            try:
                container = self._av.open(name, options=options)
            except UnicodeDecodeError:  # of a title or the like, by PyAV before 19
                container = self._av.open(name, options=options, metadata_errors="replace")
        except self._av.ArgumentError:  # by the list
            raise InputError(f"{self.path} {self._accepted.refusal}") from None
        if not container.streams.video:
            raise InputError(f"{self.path} holds no video")
        stream = container.streams.video[0]
        if stream.codec_context is None:
            raise InputError(f"{self.path} cannot be read as a video: PyAV has no decoder for it")
        if not (stream.width and stream.height):  # none that may be decoded tells it
            raise InputError(f"{self.path} cannot be read as a video: its pictures are damaged, or too large")
        most = self._most_pixels
        if int(stream.width) * int(stream.height) > most:
            raise InputError(
                f"{self.path} has pictures of {stream.width} x {stream.height}; accepted are up to "
                f"{most / 1e6:.3g} million pixels"
            )
        stream.codec_context.options = {"max_pixels": str(most)}  # of pictures that grow on the way
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = min(processor_count() + 1, MOST_THREADS)
        return container, stream

    def _packets(self) -> Iterator[Any]:
        for packet in self._container.demux(self._stream):
            self._progress()
            if packet.size:
                yield packet

    def _numbers_of_packets(self) -> dict[int, int]:
        """Return the number of the picture of every packet, by the number of the packet."""
        times, places, shown = [], [], []
        allowance = Allowance(self._stored)
        for number, packet in enumerate(self._packets()):
            allowance.use(OF_PACKET)
            times.append(packet.pts)
            places.append((packet.pos, packet.size))
            if packet.is_keyframe:
                self._key_times[number] = packet.pts if packet.dts is None else packet.dts
            if not packet.is_discard:  # cut off at the start, by an edit list
                shown.append(number)
        if len(set(places)) == len(places) and all(place is not None for place, _ in places):
            self._places = {place: number for number, place in enumerate(places)}
        timed = None not in times and len(set(times)) == len(times)
        timed = timed and not TIMED.isdisjoint(self._container.format.name.split(","))
        if timed and self._stream.codec_context.name not in HIDING:
            shown.sort(key=times.__getitem__)
        elif len(self._key_times) < len(times):
            shown = self._order_of_decoder()
        return {packet: number for number, packet in enumerate(shown)}

    def _order_of_decoder(self) -> list[int]:
        """Return the packets in the order in which their pictures come out of the decoder."""
        self._restart()
        shown = dict.fromkeys(packet for packet, _ in self._frames or ())  # damaged ones may give two
        self._frames = None
        return list(shown)

    def _decoded(self, index: int) -> Any:
        """Decode up to a frame, from where the decoder is or from the key frame before it."""
        if index not in self._lost:
            if self._frames is None or not self._next <= index < self._next + PATIENCE:
                self._seek(index)
            frame = self._decode_up_to(index)
            if frame is None:
                self._restart()
                frame = self._decode_up_to(index)
            if frame is not None:
                return frame
            self._lost.add(index)
        raise InputError(
            f"{self.path}: frame {index + 1} cannot be read: it is damaged, or the file is cut off"
        )

    def _decode_up_to(self, index: int) -> Any:
        """Decode up to a frame, None where it is not in the file."""
        for packet, frame in self._frames or ():
            number = self._numbers.get(packet, -1)
            if number < self._next:  # leads the key frame, and refers to what was not decoded
                continue
            self._passed[number] = frame
            self._passed.move_to_end(number)
            most = self._most_pixels * IN_MEMORY // (2 * frame.width * frame.height)
            if len(self._passed) > min(PASSED, most):
                self._passed.popitem(last=False)
            self._next = number + 1
            if number >= index:
                return frame if number == index else None
        self._frames = None
        return None

    def _seek(self, index: int) -> None:
        """Let decoding begin at the key frame before a picture, or further ahead."""
        place = bisect.bisect_right(self._keys, index, key=lambda key: key[0]) - 1
        wanted = self._keys[place][1] if place >= 0 else 0
        if self._places and self._key_times.get(wanted) is not None:
            try:
                self._container.seek(self._key_times[wanted], stream=self._stream)
                packets = self._packets()
                for packet in packets:
                    number = self._places.get((packet.pos, packet.size))
                    if number in self._key_times and number in self._numbers:
                        if number > wanted:
                            break
                        self._frames = self._decode(enumerate(chain((packet,), packets), number))
                        self._next = self._numbers[number]
                        return
            except self._errors:
                pass
        self._restart()

    def _restart(self) -> None:
        """Let decoding begin at the start of the file."""
        before = self._container
        self._container, self._stream = self._open()
        before.close()
        self._frames, self._next = self._decode(enumerate(self._packets())), 0

    def _decode(self, packets: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """Yield the frames of packets, and the number of the packet of each."""
        decoder = self._stream.codec_context
        for number, packet in chain(packets, ((0, None),)):  # None: what it still has
            if packet is not None:
                packet.pts, packet.dts = number, None
            try:
                frames = decoder.decode(packet)
            except self._av.FFmpegError:  # of a damaged packet, which has no picture
                continue
            yield from ((frame.pts, frame) for frame in frames if frame.pts is not None)


class PictureFiles:
    """A picture, or those of a folder or a pattern, of one size, decoded in this process.

    Raises InputError where there is none, or the first one cannot be read.
    """

    def __init__(self, path: Path, progress: Callable[[], None]) -> None:
        found = [path]
        if not path.is_file():
            found = (list_pictures if path.is_dir() else matching_pictures)(path, PICTURE_SUFFIXES)
        if not found:
            what = "is a folder without pictures" if path.is_dir() else "there is no such picture"
            raise InputError(f"{path}: {what}; accepted are {', '.join(PICTURE_SUFFIXES)}")
        self._files, self._progress, self.count = found, progress, len(found)
        self.frame_rate = None
        height, width, _ = self.read(0).shape
        self.size = width, height

    def read(self, index: int) -> Pixels:
        """Return a picture as `VideoDecoder.read` does."""
        with closing(VideoDecoder(self._files[index], self._progress, PICTURES)) as decoder:
            return decoder.read(0)


def is_video_file(path: Path) -> bool:
    """Return whether a path is read as one file of a video: that of no picture, folder or pattern."""
    pattern = not path.exists() and is_pattern(path)
    return not (pattern or path.is_dir() or path.suffix.lower() in PICTURE_SUFFIXES)


class VideoServer:
    """A video file, decoded for another process: what it needs of memory and of time is limited."""

    def __init__(self, path: Path, send: Callable[[object], None]) -> None:
        self._send, self._reported, self._granted = send, -math.inf, 0.0
        self._memory: SharedMemory | None = None
        self._path = path
        import av  # noqa: F401  # before memory is limited

        limit_memory(OF_LIBRARY + memory_limit())
        self._progress()
        try:
            kind = VideoDecoder if is_video_file(path) else PictureFiles
            self._decoder: VideoDecoder | PictureFiles = kind(path, self._progress)
        except MemoryError:
            raise InputError(f"{path} cannot be read as a video: it needs too much memory") from None

    def facts(self) -> tuple[int, tuple[int, int], float | None]:
        """Return the attributes `count`, `size` and `frame_rate` of the video."""
        return self._decoder.count, self._decoder.size, self._decoder.frame_rate

    def share(self, name: str) -> None:
        """Use memory that the other process has made, for the pictures that `read` writes."""
        if self._memory is not None:
            self._memory.close()
        self._memory = SharedMemory(name)

    def read(self, index: int, send: Callable[[object], None]) -> tuple[int, int, int]:
        """Write a picture to the memory, where it is large enough.

        `index`: its number, counted from 0. Raises InputError where it cannot be read.
        """
        self._send = send
        self._progress()
        try:
            rows = self._decoder.read(index)
        except MemoryError:
            raise InputError(
                f"{self._path}: frame {index + 1} cannot be read: it needs too much memory"
            ) from None
        if self._memory is not None and rows.size <= self._memory.size:
            np.copyto(np.ndarray(rows.shape, np.uint8, self._memory.buf), rows)
        height, width, colors = rows.shape
        return height, width, colors

    def _progress(self) -> None:
        used, now = time.process_time(), time.monotonic()
        if used > self._granted:
            self._granted = used + 1.0
            limit_processor(CPU_SECONDS)
        if now - self._reported > REPORT_SECONDS:
            self._reported = now
            self._send(True)


# -- pictures in files of their own --------------------------------------------------------------------------

MOST_FILES = 1_000_000  # in a folder
NUMBER = re.compile(r"%0?\d*d")  # in a pattern of names
SHOWN = re.compile(r"(?!\.)")  # the beginning of a name that is not hidden


def list_pictures(
    folder: Path,
    suffixes: Collection[str],
    fits: re.Pattern[str] = SHOWN,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Path]:
    """Return the pictures in a folder whose names fit from their begin on, in the order of their numbers."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_FILES:
                    raise InputError(f"{folder} holds too many files; accepted are up to {MOST_FILES}")
                if stopped():
                    raise InputError(f"{folder} is not opened: it was removed meanwhile")
                path = folder / entry.name
                if path.suffix.lower() in suffixes and fits.match(entry.name) and entry.is_file():
                    found.append(path)
    except OSError as error:
        raise InputError.of(error) from error
    return sorted(found, key=natural)


def matching_pictures(
    path: Path, suffixes: Collection[str], stopped: Callable[[], bool] = lambda: False
) -> list[Path]:
    """Return the pictures of a pattern with wildcards in its last part, or with a number as in %04d."""
    if not (is_pattern(path) and path.parent.is_dir()):
        return []
    shown = "" if path.name.startswith(".") else SHOWN.pattern
    name = fnmatch.translate(os.path.normcase(NUMBER.sub("\0", path.name))).replace("\0", r"\d+")
    return list_pictures(path.parent, suffixes, re.compile(shown + name), stopped)


def is_pattern(path: Path) -> bool:
    """Return whether the name of a path is a pattern."""
    return bool(NUMBER.search(path.name)) or glob.has_magic(path.name)


def natural(path: Path) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in names by their value: 2 before 10."""
    parts = re.split(r"(\d+)", path.name.lower())
    return [(1, int(part), part) if part.isdecimal() else (0, 0, part) for part in parts]
