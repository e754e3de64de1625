"""Results to files, one format a module; the table `WRITERS` lists them."""

from .export import WRITERS, Writer, export, writer_for
from .options import ALIGNMENTS, COLORS, COORDINATES, FRAMES, INTERPOLATIONS, ExportOptions, numbered
from .page import shape_page

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
    "shape_page",
    "writer_for",
]
