"""Finished jobs as small files, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundation.atomic import replacing
from ..foundation.exceptions import InputError
from ..io.readers.npz_archive import load_arrays
from ..io.readers.source import read_bytes
from .job import JobResult

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

FACTS = "facts"


def made(folder: Path) -> Path:
    """Return a folder, made where it is absent.

    Raises
    ------
    InputError
        where it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror or error}") from error
    return folder


class Store:
    """A folder with one .npz per finished job, named after its key: arrays, and facts as JSON text.

    Raises
    ------
    InputError
        where the folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = made(folder)

    def load(self, key: str) -> JobResult | None:
        """Return what a job found, or None where it is not there; a damaged file is as good as none."""
        path = self._path(key)
        if not path.is_file():
            return None
        try:
            arrays: dict[str, npt.NDArray[Any]] = load_arrays(read_bytes(path), path)
            facts = json.loads(str(arrays.pop(FACTS)[()]))
        except (InputError, KeyError, IndexError, json.JSONDecodeError):
            return None
        return JobResult(facts, arrays)

    def save(self, key: str, finished: JobResult) -> None:
        """Keep what a job found.

        Raises
        ------
        InputError
            where the file cannot be written.
        """
        with replacing(self._path(key)) as temporary, temporary.open("wb") as stream:
            text = json.dumps(finished.facts, sort_keys=True)
            np.savez_compressed(stream, allow_pickle=False, **{FACTS: np.asarray(text)}, **finished.arrays)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"
