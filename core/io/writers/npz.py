"""The result file itself (`core.reconstruction.result`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...reconstruction.result import save_result

if TYPE_CHECKING:
    from pathlib import Path

    from ...reconstruction.result import Result
    from .options import ExportOptions


def write(result: Result, path: Path, options: ExportOptions) -> list[Path]:
    """Write the whole result; the options do not apply."""
    return [save_result(result, path)]
