"""Results to files, one format a module; the table `WRITERS` lists them."""

from .export import KINDS, WRITERS, Writer, export, writer_for
from .figure import shapes_figure
from .options import (
    ALIGNMENTS,
    COLORS,
    COORDINATES,
    DEFAULT_FPS,
    INTERPOLATIONS,
    ExportOptions,
    check_numbered,
    numbered,
)
from .page import shape_page
from .shading import FLOOR, SHADING, sphere_diameter, typical_radius
