"""Results to files, one format a module; the table `WRITERS` lists them."""

from .export import KINDS, WRITERS, Writer, export, writer_for
from .options import (
    ALIGNMENTS,
    COLORS,
    COORDINATES,
    DEFAULT_FPS,
    FRAMES,
    INTERPOLATIONS,
    ExportOptions,
    numbered,
)
from .page import shape_page

__all__ = [
    "ALIGNMENTS",
    "COLORS",
    "COORDINATES",
    "DEFAULT_FPS",
    "FRAMES",
    "INTERPOLATIONS",
    "KINDS",
    "WRITERS",
    "ExportOptions",
    "Writer",
    "export",
    "numbered",
    "shape_page",
    "writer_for",
]
