"""MATLAB's level 5 file, with the variables of the result file under the same names.

Frames come first as in the result file: `points(f, :, :)` is 3 x P. Indices (edges, faces, truth_frames,
truth_reference) stay 0-based; `meta` is JSON text for `jsondecode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundation.atomic import replacing
from ...reconstruction.result import arrays_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...reconstruction.result import Result
    from .options import ExportOptions


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the whole result; the options do not apply."""
    from scipy.io import savemat  # slow to import, and needed by this format alone

    with replacing(path) as temporary:
        savemat(temporary, arrays_of(result), appendmat=False, do_compression=True, oned_as="column")
    return [path]
