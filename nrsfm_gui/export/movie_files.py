"""Pictures one after the other into a file: numbered PNG, animated GIF (Pillow), MP4 (PyAV).

The parameters of a writer are the path, an iterator of pictures of one size, and the frames per second. It
runs in a thread of its own, and leaves a complete file or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PyQt6.QtGui import QImage
from pyqtgraph.functions import ndarray_from_qimage

from core import InputError
from core.foundation import needs, replacing, replacing_many
from core.io.writers import numbered
from nrsfm_gui.widgets.plots.plot_export import png_bytes

Writer = Callable[[Path, Iterator[QImage], float], list[Path]]

CODECS = ("libx264", "mpeg4")  # the better one first
QUALITY = {"libx264": {"crf": "18", "preset": "veryfast"}, "mpeg4": {"qscale": "3"}}
BIT_RATE = 8_000_000  # of mpeg4, which has no constant quality
COLORS = 255  # of a GIF; one more is for what does not change


@dataclass(frozen=True)
class MovieFormat:
    """One kind of movie."""

    label: str
    write: Writer
    module: str = ""  # that it needs, of the extra "video"
    numbered: bool = False  # whether there is a file for every picture
    even: bool = False  # whether width and height have to be

    @property
    def missing(self) -> str:
        """A sentence about what has to be installed first, "" where nothing has."""
        if not self.module or find_spec(self.module) is not None:
            return ""
        name = {"PIL": "Pillow", "av": "PyAV"}[self.module]
        return needs(self.label, name, "video")

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size that is made of a size that is wanted."""
        return (width + width % 2, height + height % 2) if self.even else (width, height)


def write_png(path: Path, images: Iterator[QImage], _fps: float) -> list[Path]:
    """Write name_0001.png, name_0002.png, ...; all of them appear, or none."""
    written = []
    with replacing_many(path) as folder:
        for index, image in enumerate(images):
            written.append(numbered(path, index))
            (folder / written[-1].name).write_bytes(png_bytes(image))
    return written


def write_gif(path: Path, images: Iterator[QImage], fps: float) -> list[Path]:
    """Write an animation that repeats; GIF counts time in hundredths of a second."""
    from PIL import Image

    def pictures() -> Iterator[Image.Image]:
        palette = None
        for image in images:
            picture = Image.fromarray(pixels(image))
            # One palette and no dithering: what stands still stays the same, and is not stored again.
            palette = palette or picture.quantize(COLORS)
            yield picture.quantize(palette=palette, dither=Image.Dither.NONE)

    others = pictures()
    with replacing(path) as temporary:
        next(others).save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=others,
            duration=max(20, 10 * round(100 / fps)),
            loop=0,
        )
    return [path]


def write_mp4(path: Path, images: Iterator[QImage], fps: float) -> list[Path]:
    """Write H.264, or MPEG-4 where the library has no encoder for it, that every player shows."""
    import av

    codec = next((name for name in CODECS if name in av.codecs_available), None)
    if codec is None:
        raise InputError(f"{path} cannot be written: this PyAV has no encoder for H.264 or MPEG-4")
    with replacing(path) as temporary:
        try:
            with av.open(str(temporary), "w", format="mp4", options={"movflags": "faststart"}) as container:
                rate = Fraction(fps).limit_denominator(1001)
                stream = container.add_stream(codec, rate=rate, options=QUALITY[codec])
                assert isinstance(stream, av.VideoStream)  # as all of CODECS are
                stream.pix_fmt = "yuv420p"
                stream.bit_rate = 0 if codec == "libx264" else BIT_RATE
                for image in images:
                    if not stream.codec_context.is_open:
                        stream.width, stream.height = image.width(), image.height()
                    frame = av.VideoFrame.from_ndarray(pixels(image), format="rgb24")
                    container.mux(stream.encode(frame))
                container.mux(stream.encode(None))
        except av.FFmpegError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    return [path]


FORMATS = {
    ".mp4": MovieFormat("MP4 movie", write_mp4, module="av", even=True),
    ".gif": MovieFormat("Animated GIF", write_gif, module="PIL"),
    ".png": MovieFormat("Numbered PNG pictures", write_png, numbered=True),
}


def format_for(path: Path) -> MovieFormat:
    """Return the kind of movie that a suffix names. Raises InputError where it cannot be written here."""
    chosen = FORMATS.get(path.suffix.lower())
    if chosen is None:
        found = path.suffix or "no suffix"
        raise InputError(f"{path} has {found}; accepted for movies are {', '.join(FORMATS)}")
    if chosen.missing:
        raise InputError(chosen.missing)
    return chosen


def pixels(image: QImage) -> npt.NDArray[np.uint8]:
    """Return the pixels (height, width, 3) of a picture, red first."""
    rgb = image.convertToFormat(QImage.Format.Format_RGB888)
    found: npt.NDArray[np.uint8] = ndarray_from_qimage(rgb).copy()
    return found
