"""One line of progress that rewrites itself, where stderr is a terminal."""

from __future__ import annotations

import math
import shutil
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from ..reconstruction.progress import Iterate

INTERVAL = 0.1  # seconds between two drawings


class ProgressLine:
    """Estimated time left, iteration, log loss, rate and phase; silent where the stream is no terminal."""

    def __init__(self, stream: TextIO, *, shown: bool = True) -> None:
        self._stream = stream
        self._shown = shown and stream.isatty()
        self._began = self._drawn = time.monotonic()
        self._width = 0

    def show(self, update: Iterate) -> None:
        """Draw an update, at most ten times a second."""
        now = time.monotonic()
        if self._shown and now - self._drawn >= INTERVAL:
            self._drawn = now
            self.write(progress_text(update, now - self._began))

    def write(self, text: str) -> None:
        """Draw a text at once."""
        if not self._shown:
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0


def progress_text(update: Iterate, elapsed: float) -> str:
    """Return the line: the rate counts computing time, the time left assumes equally long phases."""
    record = update.record
    parts = []
    if 0 < update.fraction < 1:
        parts.append(f"{100 * update.fraction:.0f} %")
        parts.append(f"ETA {elapsed * (1 - update.fraction) / update.fraction:.0f} s")
    parts.append(f"iteration {record.iteration}")
    if record.loss > 0:
        parts.append(f"log10 loss {math.log10(record.loss):.5f}")
    if record.seconds > 0:
        parts.append(f"{record.iteration / record.seconds:.0f} it/s")
    return "  ".join([*parts, update.phase])
