"""A result as named arrays: the result file itself, and MATLAB's level 5 file with the same variables.

Frames come first in both: `points(f, :, :)` is 3 x P. Indices (edges, faces, truth_frames, truth_reference)
stay 0-based; coordinates are those of the solver, y down, whatever is up (`meta.upright` is what was said
about it); `meta` is JSON text for `jsondecode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundation.atomic import replacing
from ...reconstruction.result import arrays_of, save_result

if TYPE_CHECKING:
    from pathlib import Path

    from ...reconstruction.result import Result
    from .options import ExportOptions


def write_npz(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all of the result; the options do not apply."""
    return [save_result(result, path)]


def write_mat(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write all of the result; the options do not apply."""
    from scipy.io import savemat  # slow to import, and needed by this format alone

    with replacing(path) as temporary:
        savemat(temporary, arrays_of(result), appendmat=False, do_compression=True, oned_as="column")
    return [path]
