"""The runs of a sweep as a table in memory, read from its folder."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...foundation.exceptions import InputError
from ...foundation.representation import one_line_repr
from ...io.readers import memory_limit
from ..job_store import RESULTS, has_result, read_lines, runs_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SEQUENCE_COLUMNS = ("object", "camera", "path", "sequence")
ENDING_COLUMNS = ("status", "error")
NUMBER_COLUMNS = ("loss", "log10_loss", "gradient", "iterations")
ORIGIN_COLUMNS = ("data", "version", "command", "result", "key")
MEASURED_COLUMNS = ("seconds", "memory_mb")  # of rows with the same settings only these differ
RENAMED_SETTINGS = {"loss": "loss_function"}  # because the loss is a number of a result
MEMORY_RATIO = 8  # bytes in memory of a byte in the files
MOST_COLUMNS = 1000
_KEY = re.compile("[0-9a-f]{32}")
METRIC_ALIASES = {"mean_mm": "procrustes_mm"}


@dataclass(frozen=True, eq=False)
class Sweep:
    """The runs of a sweep, one flat mapping each.

    The columns are the sequence (object, camera, path, sequence), all settings by their names on the command
    line, how the run ended (status, error), its numbers (loss, log10_loss, gradient, iterations, and every
    metric), where it is from (data, version, command, result, key), and seconds and memory_mb. What a run
    does not have is None.
    """

    folder: Path
    rows: tuple[Mapping[str, Any], ...]  # by sequence, then by settings
    columns: tuple[str, ...]
    settings: tuple[str, ...]  # those of the columns that are settings
    numbers: tuple[str, ...]  # those that are numbers of results, and that any run has
    damaged: int = 0  # lines that could not be read

    __repr__ = one_line_repr

    @property
    def varied(self) -> tuple[str, ...]:
        """The columns of sequences and settings that have more than one value."""
        names = (*SEQUENCE_COLUMNS[:-1], *self.settings)
        return tuple(name for name in names if len({row[name] for row in self.rows}) > 1)

    def result(self, row: Mapping[str, Any]) -> Path | None:
        """Return the result file of a run, None where there is none: it failed, or results were left out."""
        path = self.folder / RESULTS / f"{row['key']}.npz"
        return path if row["result"] and path.is_file() else None

    def number_name(self, name: str) -> str:
        """Return the name of a column of numbers.

        Parameters
        ----------
        name
            its name; "mean_mm" is that of procrustes_mm.

        Raises
        ------
        InputError
            where no run has it.
        """
        name = METRIC_ALIASES.get(name, name)
        if name not in self.numbers:
            known = ", ".join(self.numbers) or "none, because no run has a result"
            raise InputError(f"the number is {name!r}; the runs of {self.folder} have {known}")
        return name

    def setting_name(self, name: str) -> str:
        """Return the name of a column of sequences or settings, given with dashes or underscores.

        Raises
        ------
        InputError
            where there is none.
        """
        found = name.replace("-", "_")
        found = RENAMED_SETTINGS.get(found, found)
        if found not in (*SEQUENCE_COLUMNS, *self.settings):
            varied = ", ".join(self.varied) or "none"
            raise InputError(
                f"{name!r} is no setting of the runs of {self.folder}; several values have {varied}"
            )
        return found


def is_sweep_folder(path: Path) -> bool:
    """Return whether a folder holds the runs of a sweep.

    Parameters
    ----------
    path
        anything.

    Returns
    -------
    bool
        by the first line that can be read.
    """
    with suppress(InputError):
        for file in runs_files(path):
            for _, row in read_lines(file):
                if row is not None:
                    return _flat(row) is not None
    return False


def read_sweep(folder: Path) -> Sweep:
    """Return the runs of a sweep that have ended so far.

    Lines that are torn or damaged are left out. Of several lines of the same run the last one with a result
    counts, else the last one.

    Parameters
    ----------
    folder
        of `nrsfm sweep`.

    Returns
    -------
    Sweep
        one row for each run.

    Raises
    ------
    InputError
        where the folder holds no runs, or more than memory may be used for (`core.io.readers.memory_limit`).
    """
    kept: dict[str, Mapping[str, Any]] = {}
    damaged = 0
    files = runs_files(folder)
    needed = MEMORY_RATIO * sum(file.stat().st_size for file in files if file.is_file())
    if needed > memory_limit():
        raise InputError(
            f"{folder}: its runs need {needed / 1e9:.1f} GB of memory; accepted are {memory_limit() / 1e9:g} "
            "GB (the environment variable NRSFM_FILE_MEMORY, in GB)"
        )
    for file in files:
        for _, row in read_lines(file):
            flat = None if row is None else _flat(row)
            if flat is None:
                damaged += 1
            elif has_result(flat) or flat["key"] not in kept or not has_result(kept[flat["key"]]):
                kept[flat["key"]] = flat
    if not kept:
        raise InputError(f"{folder}: holds no runs of a sweep (runs.jsonl)")
    return _arranged(folder, list(kept.values()), damaged)


def _arranged(folder: Path, rows: list[Mapping[str, Any]], damaged: int) -> Sweep:
    """Return rows that all have the same columns, sorted."""
    known = {*SEQUENCE_COLUMNS, *ENDING_COLUMNS, *NUMBER_COLUMNS, *ORIGIN_COLUMNS, *MEASURED_COLUMNS}
    settings = _united(row["settings"] for row in rows)
    metrics = [name for name in _united(row["metrics"] for row in rows) if name not in known]
    settings = [name for name in settings if name not in known and name not in metrics]
    columns = (
        *SEQUENCE_COLUMNS,
        *settings,
        *ENDING_COLUMNS,
        *NUMBER_COLUMNS,
        *metrics,
        *ORIGIN_COLUMNS,
        *MEASURED_COLUMNS,
    )
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{folder}: its runs have {len(columns)} columns; accepted are {MOST_COLUMNS}")
    flat: list[Mapping[str, Any]] = rows
    for k, row in enumerate(rows):  # in place, because there may be a million
        flat[k] = {name: (row["settings"] | row["metrics"] | row).get(name) for name in columns}
    flat.sort(key=lambda row: [_order(row[name]) for name in (*SEQUENCE_COLUMNS, *settings, "key")])
    numbers = (*NUMBER_COLUMNS, *metrics, *MEASURED_COLUMNS)
    held = tuple(name for name in numbers if any(row[name] is not None for row in flat))
    return Sweep(folder, tuple(flat), columns, tuple(settings), held, damaged)


def _united(groups: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of all groups, each once, in the order of their first group."""
    names: dict[str, None] = {}
    for group in groups:
        names.update(dict.fromkeys(group))
    return list(names)


def _order(value: Any) -> tuple[int, float, str]:
    """Return what values of any kind are sorted by: numbers, then texts, then None."""
    if value is None:
        return 2, 0.0, ""
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def _flat(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a line with settings and metrics as flat mappings; None where it is no run of a sweep."""
    settings, metrics = row.get("settings"), row.get("metrics", {})
    if not isinstance(settings, Mapping) or not isinstance(metrics, Mapping) or "object" not in row:
        return None
    if _KEY.fullmatch(row["key"]) is None:  # it is the name of a file
        return None
    flat = {str(name): _scalar(value) for name, value in row.items() if name not in ("settings", "metrics")}
    named = {name: value for name, value in metrics.items() if isinstance(value, int | float)}
    for name in (*NUMBER_COLUMNS, *MEASURED_COLUMNS):
        if isinstance(flat.get(name), str):
            flat[name] = None
    for name in (*SEQUENCE_COLUMNS, *ENDING_COLUMNS, *ORIGIN_COLUMNS):
        flat[name] = "" if flat.get(name) is None else sys.intern(str(flat[name]))
    return flat | {
        "settings": flat_settings(settings),
        "metrics": {str(name): _scalar(value) for name, value in named.items()},
    }


def flat_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by their names on the command line: the numbers of the penalty are among them.

    Parameters
    ----------
    settings
        as `settings_to_dict` returns them.

    Returns
    -------
    dict[str, Any]
        numbers, texts and None.
    """
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "penalty" and isinstance(value, Mapping):
            flat["penalty"] = _scalar(value.get("kind"))
            flat |= {
                "weights" if number == "a" else str(number): _scalar(given)
                for number, given in value.items()
                if number != "kind"
            }
        elif name == "options" and isinstance(value, Mapping):
            flat |= {str(option): _scalar(given) for option, given in value.items()}
        else:
            flat[RENAMED_SETTINGS.get(name, str(name))] = _scalar(value)
    return flat


def _scalar(value: Any) -> str | int | float | None:
    """Return a value as a cell has it: a number, a text, or None; numbers that are not finite are None."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    return None if value is None else str(value)


def distinct_values(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the values that rows have in some columns, each combination once, sorted.

    Parameters
    ----------
    rows
        of a sweep.
    names
        of its columns.

    Returns
    -------
    list[tuple[Any, ...]]
        numbers by size, texts by the alphabet.
    """
    found = {tuple(row[name] for name in names) for row in rows}
    return sorted(found, key=lambda values: [_order(value) for value in values])
