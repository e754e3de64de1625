"""Limit windows to the size of their screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QSize

if TYPE_CHECKING:
    from PyQt6.QtWidgets import QDialog, QWidget

FRAME = QSize(16, 48)  # pixels of the frame of a window, about


def fits_on_screen(window: QWidget, times: float = 1.0) -> bool:
    """Return whether a window fits its screen at its smallest, were all so many times as large as it is."""
    screen, least = window.screen(), window.minimumSizeHint() * times
    return screen is None or least.boundedTo(screen.availableSize()) == least


def resize_within_screen(window: QWidget, size: QSize) -> None:
    """Resize a window, at most to the size of its screen."""
    screen = window.screen()
    window.resize(size if screen is None else size.boundedTo(screen.availableSize() - FRAME))


def show_on_screen(dialog: QDialog) -> None:
    """Show a dialog as high as its text needs, or as its screen allows.

    Qt gives it two thirds of a small screen at most, and cuts lines that are wrapped.
    """
    if not dialog.isVisible():
        dialog.ensurePolished()
        resize_within_screen(dialog, dialog.sizeHint())
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()
