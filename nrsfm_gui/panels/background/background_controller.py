"""Pictures behind the tracks: an image sequence or a video in the 2-D view.

Coordinates of the tracks are those of the pictures: whole numbers are the centers of pixels, counted from 0
at the upper left, x to the right and y down, so that a picture of W x H pixels covers -0.5 to W - 0.5 and
-0.5 to H - 0.5. Frame f of the tracks, counted from 1, lies over picture f + offset.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PyQt6.QtCore import QObject, QSize

from core import InputError
from nrsfm_gui.panels.background.background_bar import BackgroundBar
from nrsfm_gui.panels.background.background_reader import BackgroundReader
from nrsfm_gui.panels.background.image_sources import VIDEO_SUFFIXES, image_suffixes
from nrsfm_gui.widgets.path_dialog import ask_for_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PyQt6.QtGui import QImage

    from core import Sequence
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.theme import Theme
    from nrsfm_gui.panels.background.background_reader import Pictures

OPACITY = 0.7
MOST_OUTSIDE = 0.5  # share of the tracks outside the picture from which on a sentence says so


@dataclass(frozen=True)
class _Chosen:
    """What is shown behind a sequence."""

    path: Path
    opacity: float = OPACITY
    offset: int = 0


class Background(QObject):
    """Opens pictures, and shows the one of the current frame as soon as it is read."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._session, self._view = window.session, window.tracks_view
        self._chosen: _Chosen | None = None
        self._reader: BackgroundReader | None = None
        self._leaving: set[BackgroundReader] = set()  # stopped, but not at their end yet
        self._count = 0
        self._told = False  # that a picture cannot be read
        self._of: dict[str, _Chosen] = {}  # by the digest of the sequences that were left
        self._digest = ""
        self.bar = BackgroundBar()
        self.bar.opacity_requested.connect(self.set_opacity)
        self.bar.offset_requested.connect(self.set_offset)
        self.bar.remove_requested.connect(self.remove)
        self._view.add_below(self.bar)
        self._session.frame_changed.connect(lambda _frame: self._show())
        self._session.sequence_changed.connect(self._change_sequence)

    @property
    def present(self) -> bool:
        """Whether there is a background."""
        return self._chosen is not None

    def ask(self) -> None:
        """Ask for a video, or for one of numbered images; a folder of images is taken by any of them."""
        images = " ".join(f"*{suffix}" for suffix in image_suffixes())
        videos = " ".join(f"*{suffix}" for suffix in VIDEO_SUFFIXES)
        filters = f"Images and videos ({images} {videos});;All files (*)"
        ask_for_path(
            self._window, "Background: one of numbered images, or a video", self.open, filters=filters
        )

    def open(self, path: Path, *, opacity: float = OPACITY, offset: int = 0) -> None:
        """Put pictures behind the tracks: a folder, a pattern, one of numbered images, or a video."""
        self._close()
        self._chosen = _Chosen(path.absolute(), opacity, offset)
        reader = self._reader = BackgroundReader(self._chosen.path, self)
        reader.opened.connect(self._take)
        reader.refused.connect(self._refuse)
        reader.read.connect(self._take_picture)
        reader.failed.connect(self._tell)
        self._show_bar("opening")
        self._window.update_situation()
        reader.start()

    def remove(self) -> None:
        """Take the background away."""
        self._close()
        self._chosen = None
        self.bar.hide()
        self._view.set_background(None, 1.0)
        self._window.update_situation()

    def set_opacity(self, opacity: float) -> None:
        """Let the background shine through; 0 is not seen, 1 is opaque."""
        if self._chosen is not None:
            self._chosen = replace(self._chosen, opacity=min(max(opacity, 0.0), 1.0))
            self._show()

    def set_offset(self, offset: int) -> None:
        """Shift the background by some frames."""
        if self._chosen is not None:
            self._chosen = replace(self._chosen, offset=offset)
            self._show()

    def set_theme(self, theme: Theme) -> None:
        """Take the colors of a theme."""
        self.bar.set_theme(theme)

    def state(self) -> dict[str, Any]:
        """Return what a session file keeps, {} where there is no background."""
        if self._chosen is None:
            return {}
        chosen = self._chosen
        return {"path": str(chosen.path), "opacity": chosen.opacity, "offset": chosen.offset}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Show again what `state` returned."""
        if state:
            self.open(Path(state["path"]), opacity=state["opacity"], offset=state["offset"])
        else:
            self.remove()

    def still(self) -> Still:
        """Return the background as of now; for movies."""
        pictures = self._reader.pictures if self._reader is not None else None
        return Still(self._chosen, pictures if self._count else None)

    def shut_down(self) -> None:
        """Let go of the file."""
        self._close()
        for reader in self._leaving:
            reader.wait()

    def _take(self, count: int, size: QSize) -> None:
        if self.sender() is not self._reader:
            return
        self._count = count
        self._show_bar(f"{count} pictures, {size.width()} × {size.height()} px")
        self._window.update_situation()
        self._show()
        sequence = self._session.sequence
        doubt = "" if sequence is None else doubts(sequence, size)
        if doubt:
            self._window.messages.note(doubt)

    def _refuse(self, sentence: str) -> None:
        if self.sender() is self._reader:
            self.remove()
            self._window.report(sentence, "")

    def _show(self) -> None:
        """Show the picture of the current frame: at once where it is in memory, else when it is read."""
        chosen, reader = self._chosen, self._reader
        if chosen is None or reader is None or not self._count:
            return
        index = self._session.frame + chosen.offset
        if not 0 <= index < self._count:
            self._view.set_background(None, chosen.opacity)
            return
        image = reader.kept(index)
        if image is not None:
            self._view.set_background(image, chosen.opacity)
        reader.request(index)

    def _take_picture(self, index: int, image: QImage) -> None:
        chosen = self._chosen
        if (
            chosen is None
            or self.sender() is not self._reader
            or index != self._session.frame + chosen.offset
        ):
            return
        self._told = self._told and image.isNull()
        self._view.set_background(None if image.isNull() else image, chosen.opacity)

    def _tell(self, sentence: str) -> None:
        """Say that a picture cannot be read, once until another one can."""
        if not self._told and self.sender() is self._reader:
            self._told = True
            self._window.report(sentence, "")

    def _show_bar(self, words: str) -> None:
        assert self._chosen is not None  # there is a background
        self.bar.set_values(f"{self._chosen.path.name}: {words}", self._chosen.opacity, self._chosen.offset)
        self.bar.show()

    def _change_sequence(self, sequence: Sequence) -> None:
        """Keep the background of the sequence that is left, and show again that of the new one."""
        if sequence.digest and sequence.digest == self._digest:
            return
        if self._digest and self._chosen is not None:
            self._of[self._digest] = self._chosen
        self._digest = sequence.digest
        known = self._of.pop(self._digest, None)
        self.remove()
        if known is not None:
            self.open(known.path, opacity=known.opacity, offset=known.offset)

    def _close(self) -> None:
        reader, self._reader, self._count, self._told = self._reader, None, 0, False
        if reader is not None:  # which may still be opening a long video
            self._leaving.add(reader)
            reader.finished.connect(lambda: self._forget(reader))
            reader.stop()
            if reader.isFinished():
                self._forget(reader)

    def _forget(self, reader: BackgroundReader) -> None:
        if reader in self._leaving:
            self._leaving.remove(reader)
            reader.deleteLater()


class Still:
    """A background as it was at one moment, whatever becomes of it in the window; to be closed."""

    def __init__(self, chosen: _Chosen | None, pictures: Pictures | None) -> None:
        self._chosen = chosen
        self._pictures = None if pictures is None else pictures.share()

    def picture(self, frame: int) -> tuple[QImage | None, float]:
        """Return picture and opacity of a frame, None where there is no picture; it waits for the picture."""
        chosen, pictures = self._chosen, self._pictures
        if chosen is None or pictures is None or not 0 <= frame + chosen.offset < pictures.count:
            return None, 1.0
        try:
            return pictures.read(frame + chosen.offset), chosen.opacity
        except InputError:
            return None, 1.0

    def close(self) -> None:
        """Let go of the pictures."""
        if self._pictures is not None:
            self._pictures.release()


def checked(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a background as it was read from a file, after a look at it.

    Raises
    ------
    InputError
        where it is none that `Background.state` gave.
    """
    if not state:
        return {}
    path, opacity, offset = (state.get(name) for name in ("path", "opacity", "offset"))
    numbers = type(opacity) in (int, float) and type(offset) is int
    if not (isinstance(path, str) and path and numbers and 0 <= float(str(opacity)) <= 1):
        raise InputError(
            f"the background is {dict(state)}; accepted are a path, an opacity from 0 to 1 and a whole offset"
        )
    return {"path": path, "opacity": float(str(opacity)), "offset": offset}


def doubts(sequence: Sequence, size: QSize) -> str:
    """Return a sentence where the tracks do not look as if they were measured in such pictures, else ""."""
    if sequence.units != "px":
        return (
            f"The tracks are in {sequence.units}, not in pixels of the background: they lie over it as if "
            "they were."
        )
    seen = np.moveaxis(sequence.tracks, 1, 0)[:, sequence.visible]
    inside = ((seen >= -0.5) & (seen <= np.array([[size.width()], [size.height()]]) - 0.5)).all(axis=0)
    if inside.mean() >= 1 - MOST_OUTSIDE:
        return ""
    return (
        f"{100 * (1 - inside.mean()):.0f} % of the tracks lie outside the background of {size.width()} × "
        f"{size.height()} px: is it of this sequence, and of this size?"
    )
