"""Pictures behind the tracks: an image sequence or a video in the 2-D view.

Coordinates of the tracks are those of the pictures: whole numbers are the centers of pixels, counted from 0
at the upper left, x to the right and y down, so that a picture of W x H pixels covers -0.5 to W - 0.5 and
-0.5 to H - 0.5. Frame f of the tracks, counted from 1, lies over picture f + offset, but
over the frame of the video that the sequence names where it names them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PyQt6.QtCore import QObject, QSignalBlocker, QSize, Qt
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QWidget

from core import InputError, Sequence
from core.data import VIDEO_SUFFIXES
from core.foundation import printable
from nrsfm_gui.engine.jobs import Jobs
from nrsfm_gui.model.background import OPACITY, Background
from nrsfm_gui.model.session import Session
from nrsfm_gui.panels.background.image_sources import BackgroundReader, ImageSource, image_suffixes
from nrsfm_gui.widgets.dialogs import PathKind, ask_for_path
from nrsfm_gui.widgets.fields import Slider, SpinBox, filled, tool_button, with_tip
from nrsfm_gui.widgets.labels import ElidedLabel, PlainLabel

MOST_OFFSET = 1_000_000
SLIDER_WIDTHS = (36, 90)
MOST_OUTSIDE = 0.5  # share of the tracks outside the picture above which there is a warning


class BackgroundBar(QFrame):
    """Opacity and frame offset of a background; hidden where there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self._name = ElidedLabel()
        slider, tip = Slider(Qt.Orientation.Horizontal), "Opacity of the background, 0 to 100 %"
        self.opacity = with_tip(slider, "Opacity of the background in percent", tip)
        self.opacity.setRange(0, 100)
        self.opacity.setMinimumWidth(SLIDER_WIDTHS[0])
        self.opacity.setMaximumWidth(SLIDER_WIDTHS[1])
        tip = "Frame 1 of the tracks is frame 1 + this of the background"
        self.offset = with_tip(SpinBox(), "Frame offset of the background", tip)
        self.offset.setRange(-MOST_OFFSET, MOST_OFFSET)
        self.offset.setKeyboardTracking(False)
        self.offset.setFixedWidth(66)
        self.remove = tool_button("✕", "Remove the background", "Remove the background")
        parts: list[QWidget] = [self._name]
        for title, editor in (("opacity", self.opacity), ("offset", self.offset)):
            label = PlainLabel(title, role="muted")
            label.setToolTip(editor.toolTip())
            label.setBuddy(editor)
            parts += [label, editor]
        parts.append(self.remove)
        row = filled(QHBoxLayout(self), *parts, grows=self._name, spacing=6, margins=(8, 2, 4, 2))
        row.setStretchFactor(self.opacity, 1)
        self.hide()

    def set_values(self, words: str, opacity: float, offset: int) -> None:
        """Show what the background is. Emits nothing."""
        self._name.set_full_text(words)
        for editor, value in ((self.opacity, round(100 * opacity)), (self.offset, offset)):
            with QSignalBlocker(editor):
                editor.setValue(value)


class _BackgroundView(Protocol):
    """A view that can show pictures behind its content."""

    def set_background(self, image: QImage | None, opacity: float) -> None: ...
    def show_axes(self, on: bool) -> None: ...
    def add_below(self, widget: QWidget) -> None: ...


class BackgroundController(QObject):
    """Opens the pictures of the session's background, and shows that of the current frame once it is read."""

    def __init__(self, session: Session, view: _BackgroundView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._view, self._notifier = session, view, session.notifier
        self._reader: BackgroundReader | None = None
        self._jobs = Jobs(self)
        self._warned = False  # that a picture cannot be read
        self._pictured = False  # whether a picture was read
        self.bar = BackgroundBar()
        self.bar.opacity.valueChanged.connect(lambda percent: self._change(opacity=percent / 100))
        self.bar.offset.valueChanged.connect(lambda frames: self._change(offset=frames))
        self.bar.remove.clicked.connect(lambda _checked: self.remove())
        view.add_below(self.bar)
        session.background_changed.connect(self._on_background_changed)
        session.frame_changed.connect(lambda _frame: self._show_picture())

    @property
    def _images(self) -> ImageSource | None:
        """Those of the background, None until they are opened."""
        return None if self._reader is None else self._reader.pictures

    @property
    def busy(self) -> bool:
        """Whether a background is being opened, or its first picture is read."""
        return self._reader is not None and not self._pictured

    def ask(self) -> None:
        """Ask for a video, a folder of images, or one of those that are numbered."""
        images = " ".join(f"*{suffix}" for suffix in image_suffixes())
        videos = " ".join(f"*{suffix}" for suffix in VIDEO_SUFFIXES)
        filters = f"Images and videos ({images} {videos});;All files (*)"
        title = "Background: a video, a folder of images, or one of numbered ones"
        ask_for_path(self.bar, title, self.open, kind=PathKind.ANY, filters=filters)

    def open(self, path: Path, *, opacity: float = OPACITY, offset: int = 0) -> None:
        """Put pictures behind the tracks: a folder, a pattern, one of numbered images, or a video."""
        background = Background(path.absolute(), opacity, offset)
        self._close()
        if background == self._session.background:
            self._read(background)  # once more: the file may be another one by now
        else:
            self._session.set_background(background)

    def remove(self) -> None:
        """Remove the background."""
        self._session.set_background(None)

    def _change(self, **changes: Any) -> None:
        if self._session.background is not None:
            self._session.set_background(replace(self._session.background, **changes))

    def still(self) -> FrozenBackground:
        """Return the background as of now; for movies."""
        shared = None if self._images is None else self._images.share()
        return FrozenBackground(self._session.background, self._session.sequence, shared)

    def shut_down(self) -> None:
        """Close the file."""
        self._close()
        self._jobs.wait()

    # -- what the session and the reader have come to -------------------------------------------------------

    def _on_background_changed(self, background: Background | None) -> None:
        if background is None:
            self._close()
            self.bar.hide()
            self._view.show_axes(True)
            self._view.set_background(None, 1.0)
        elif self._reader is None or self._reader.path != background.path:
            self._read(background)
        else:
            self._update()

    def _read(self, background: Background) -> None:
        self._close()
        reader = self._reader = BackgroundReader(background.path)
        reader.opened.connect(self._on_opened)
        reader.failed.connect(self._on_failed)
        reader.read.connect(self._on_picture_read)
        reader.unreadable.connect(self._on_picture_unreadable)
        self._update()
        self._jobs.start(reader)

    def _on_opened(self) -> None:
        sequence, pictures = self._session.sequence, self._images
        if pictures is None or self.sender() is not self._reader:
            return
        self._update()
        if sequence is not None:
            self._session.add_files([sequence], pictures.files)
            if doubt := doubts(sequence, pictures.size):
                self._notifier.inform(doubt)

    def _on_failed(self, sentence: str, details: str) -> None:
        if self.sender() is self._reader:
            self.remove()
            self._notifier.fail(sentence, details)

    def _on_picture_read(self, index: int, image: QImage) -> None:
        background, session = self._session.background, self._session
        if background is None or self.sender() is not self._reader:
            return
        if index != background.picture(session.frame, session.sequence):
            return
        self._warned = self._warned and image.isNull()
        self._pictured = True
        self._view.set_background(None if image.isNull() else image, background.opacity)

    def _on_picture_unreadable(self, sentence: str) -> None:
        """Warn that a picture cannot be read, once until another one can."""
        if not self._warned and self.sender() is self._reader:
            self._warned = self._pictured = True
            self._notifier.fail(sentence)

    def _update(self) -> None:
        """Show the bar, and the picture of the frame: at once where it is in memory, else when it is read."""
        background, reader, pictures = self._session.background, self._reader, self._images
        if background is None or reader is None:
            return
        what = "opening"
        if pictures is not None:
            what = f"{pictures.count} pictures, {pictures.size.width()} × {pictures.size.height()} px"
        name = printable(background.path.name)
        self.bar.set_values(f"{name}: {what}", background.opacity, background.offset)
        self.bar.show()
        self._view.show_axes(False)
        self._show_picture()

    def _show_picture(self) -> None:
        background, reader, pictures = self._session.background, self._reader, self._images
        if background is None or reader is None or pictures is None:
            return
        index = background.picture(self._session.frame, self._session.sequence)
        there, image = 0 <= index < pictures.count, pictures.kept(index)
        if image is not None or not there:
            self._pictured = True
            self._view.set_background(image, background.opacity)
        if there:
            reader.request(index)

    def _close(self) -> None:
        reader, self._reader = self._reader, None
        self._warned = self._pictured = False
        if reader is not None:
            reader.cancel()  # it may still be opening a long video


@dataclass(frozen=True)
class FrozenBackground:
    """A copy of a background that later changes in the window do not affect; to be closed."""

    background: Background | None
    sequence: Sequence | None
    pictures: ImageSource | None  # a share of them

    def picture(self, frame: int) -> tuple[QImage | None, float]:
        """Return picture and opacity of a frame, None where there is no picture; it waits for the picture."""
        background, pictures = self.background, self.pictures
        if background is not None and pictures is not None:
            index = background.picture(frame, self.sequence)
            with suppress(InputError):
                return pictures.read(index) if 0 <= index < pictures.count else None, background.opacity
        return None, 1.0

    def close(self) -> None:
        """Close the pictures."""
        if self.pictures is not None:
            self.pictures.release()


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
