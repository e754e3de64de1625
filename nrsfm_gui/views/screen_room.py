"""Windows that are no larger than the screen they open on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QWidget

FRAME = QSize(16, 48)  # pixels that the frame of a window takes, about


def resize_within_screen(window: QWidget, size: QSize) -> None:
    """Give a window a size, or what its screen has room for."""
    screen = window.screen()
    window.resize(size if screen is None else size.boundedTo(screen.availableSize() - FRAME))
