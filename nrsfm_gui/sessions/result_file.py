"""A result of `nrsfm solve` opened in the window: a run that is done, and the sequence that it is of."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core import CameraModel, HistoryEntry, InputError, Sequence, load_result
from core.cameras import to_pixels
from core.reconstruction import start_from
from nrsfm_gui.model.run import RunState
from nrsfm_gui.sessions.session_data import Recorded, read_unchanged
from nrsfm_gui.sessions.session_file import SavedRun

if TYPE_CHECKING:
    from core import Result

OF_A_RESULT = {"B.npy", "C.npy", "weights.npy", "meta.npy"}


@dataclass(frozen=True, eq=False)
class OpenedResult:
    """A result as the session takes it."""

    sequence: Sequence
    run: SavedRun  # its number is given by the session


def is_result(path: Path) -> bool:
    """Return whether a file holds the arrays that only a result has."""
    try:
        with zipfile.ZipFile(path) as archive:
            return OF_A_RESULT <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def read_opened_result(path: Path) -> OpenedResult:
    """Read a result and its sequence: from its file where that is as it was, else from the result itself.

    Raises
    ------
    InputError
        where the result cannot be read, or not gone on from.
    """
    result = load_result(path)
    sequence = _from_its_file(result) or _from_itself(result, path)
    update = start_from(result, sequence, path)
    lines = result.history.tolist()
    records = tuple(HistoryEntry(int(line[0]), line[1], line[2], update.phase) for line in lines)
    run = SavedRun(
        number=1,
        settings=update.settings,
        warm_from=None,
        shown_before=None,
        state=RunState.FINISHED,
        message=update.phase,
        title=f"opened: {path.stem}",
        note="",
        pinned=False,
        records=records,
        ticks=(),
        update=update,
    )
    return OpenedResult(sequence, run)


def _from_its_file(result: Result) -> Sequence | None:
    """Return the sequence that the result was made of, None where that is gone or has changed."""
    names = ("source", "digest", "content", "reading")
    source, known, content, reading = (result.meta.get(name) for name in names)
    if not isinstance(source, str) or not known or not isinstance(reading, dict | None):
        return None
    try:
        sequence = read_unchanged(Path(source), Recorded(known, content or "", reading or {}))
    except (InputError, TypeError, ValueError):
        return None
    same = sequence is not None and sequence.visible.shape == result.visible.shape
    return sequence if same else None


def _from_itself(result: Result, path: Path) -> Sequence:
    """Return the sequence as far as the result knows it: its tracks in their units, truth, edges, faces."""
    meta, seen = result.meta, result.visible
    metric = bool((meta.get("low_rank") or {}).get("metric", True))  # else K is a scale and no camera's
    tracks = np.where(seen[:, None], to_pixels(result.tracks, result.intrinsics), np.nan)
    return Sequence(
        tracks,
        seen,
        result.camera,
        str(meta.get("name") or path.stem),
        intrinsics=result.intrinsics if metric and result.camera is CameraModel.PERSPECTIVE else None,
        truth=result.truth,
        edges=result.edges,
        faces=result.faces,
        units=str(meta.get("units") or "px"),
        truth_units=str(meta.get("truth_units") or "mm"),
        provenance=f"the tracks that {path.name} keeps",
    )
