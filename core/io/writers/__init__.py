"""Results to files, one format a module; the table `WRITERS` lists them."""

from .export import WRITERS, Writer, export, writer_for
from .options import ALIGNMENTS, COLORS, COORDINATES, FRAMES, INTERPOLATIONS, ExportOptions, numbered

__all__ = [
    "ALIGNMENTS",
    "COLORS",
    "COORDINATES",
    "FRAMES",
    "INTERPOLATIONS",
    "WRITERS",
    "ExportOptions",
    "Writer",
    "export",
    "numbered",
    "writer_for",
]
