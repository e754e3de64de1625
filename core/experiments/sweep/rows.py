"""The runs of a sweep, read from the lines of its folder into a DataFrame."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...foundation import InputError, replacing
from ...io.readers import memory_limit, parse_json, read_bytes
from ...reconstruction import Settings, settings_from_dict
from ...reconstruction.result import LARGEST_NUMBER
from ..job_store import RUNS, WITHOUT_RESULT, read_lines
from ..report import check_installed
from .frame import RENAMED_SETTINGS, SEQUENCE_COLUMNS, Sweep

if TYPE_CHECKING:
    import pandas as pd

ENDING_COLUMNS = ("status", "error")
NUMBER_COLUMNS = ("loss", "log10_loss", "gradient", "iterations")
ORIGIN_COLUMNS = ("data", "version", "command", "result", "key")
MEASURED_COLUMNS = ("seconds", "memory_mb")  # of rows with the same settings only these differ
TEXT_COLUMNS = (*SEQUENCE_COLUMNS, *ENDING_COLUMNS, *ORIGIN_COLUMNS)
START = "start"  # where the line of a run is
KNOWN_COLUMNS = (*TEXT_COLUMNS, *NUMBER_COLUMNS, *MEASURED_COLUMNS, START)
UNSHARED = ("error", "command", "result", "key")  # texts that every run has for itself
PLAN = "plan.json"  # in the folder of a sweep: how many runs it has in the end, and what is varied
PART_BYTES = 8_000_000  # of lines that are made a table at a time
LARGEST_COUNT = 2**63  # of a whole number; it is written as a number of no more digits
_KEY = re.compile("[0-9a-f]{32}")


def is_sweep_folder(path: Path) -> bool:
    """Return whether a folder holds the runs of a sweep, or those of one that has just begun."""
    file = path / RUNS
    if not os.path.exists(file):
        return False
    with suppress(InputError):
        line = None
        for line in read_lines(file):
            if line.row is not None:
                return _flat(line.row) is not None
        return line is None
    return False


def read_sweep(folder: Path) -> Sweep:
    """Return the runs of a sweep that have ended so far; raises InputError where there are none."""
    sweep = SweepReader(folder).read()
    if not len(sweep):
        raise InputError(f"{folder}: holds no runs of a sweep (runs.jsonl)")
    return sweep


@dataclass(frozen=True, eq=False)
class SweepRun:
    """What one run of a sweep was made of."""

    source: str  # of the sequence: a path, or the name of a sample
    reading: Mapping[str, Any]  # options that it was read with
    content: str  # hash of the sequence: tracks and all else that a result depends on
    settings: Settings


class SweepReader:
    """Reads the runs of a sweep, and later only what was appended since."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._last: Sweep | None = None
        self._inode = 0  # the number of the file that was read
        self._begin()

    def read(self) -> Sweep:
        """Return the runs that have ended so far; the same object as before where there is nothing new."""
        check_installed("pandas")
        file = self.folder / RUNS
        state = file.stat() if os.path.exists(file) else None
        if state is None or state.st_ino != self._inode or state.st_size < self._end:
            self._begin()
        before = self._end
        try:
            if state is not None:
                self._inode = state.st_ino
                self._read_from(file, self._end)
        except InputError:
            self._begin()  # the rows so far are of no use, and may need much memory
            raise
        plan = _read_plan(self.folder)
        known = None if self._last is None else (self._last.planned, self._last.swept)
        if self._last is None or self._end != before or known != plan:
            self._last = self._arranged(*plan)
        return self._last

    def load_run(self, key: str) -> SweepRun:
        """Return what a run was made of. Raises InputError where its line is gone, or of other settings."""
        found = (part[part["key"] == key] for part in self._parts)
        place = next(places.iloc[-1] for places in found if len(places))
        path = self.folder / RUNS
        line = next(read_lines(path, int(place[START])), None)
        row = None if line is None else line.row
        if row is None or row["key"] != key:
            raise InputError(f"{path}: the line of the run {key} is not there any more")
        reading = row.get("reading", {})
        if not isinstance(reading, dict):
            raise InputError(f"{path}: the reading options of the run {key} are no mapping")
        return SweepRun(place["sequence"], reading, place["data"], settings_from_dict(row["settings"]))

    def _begin(self) -> None:
        self._end = 0  # what of the file was read, in bytes
        self._parts: list[pd.DataFrame] = []  # what was read; a single one after `_join`
        self._settings: dict[str, None] = {}  # names, in the order of their first run
        self._metrics: dict[str, None] = {}
        self._damaged = 0
        self._last = None

    def _read_from(self, file: Path, begin: int) -> None:
        """Read what was appended to the file, as parts of limited size."""
        rows: list[dict[str, Any]] = []
        for line in read_lines(file, begin):
            self._end = line.end
            flat = None if line.row is None else _flat(line.row)
            if flat is None:
                self._damaged += 1
                continue
            settings, metrics = flat.pop("settings"), flat.pop("metrics")
            self._settings.update(dict.fromkeys(settings))
            self._metrics.update(dict.fromkeys(metrics))
            rows.append(settings | metrics | flat | {START: line.start})
            if line.end - begin > PART_BYTES:
                self._add(rows)
                rows, begin = [], line.end
        self._add(rows)

    def _add(self, rows: list[dict[str, Any]]) -> None:
        """Add runs as a part, and refuse more than may be in memory."""
        import pandas as pd

        if not rows:
            return
        self._parts.append(self._typed(pd.DataFrame(rows, dtype=object)))
        if self._size > memory_limit():
            self._join()
        if self._size > memory_limit():
            raise InputError(
                f"{self.folder}: its runs need more than {memory_limit() / 1e9:g} GB of memory, of which "
                f"{len(self._parts[0])} could be read (the environment variable NRSFM_FILE_MEMORY, in GB)"
            )

    @property
    def _size(self) -> int:
        return int(sum(part.memory_usage(deep=True).sum() for part in self._parts))

    def _typed(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Return the last line of every run, of those with a result where it has one; its columns typed."""
        import pandas as pd

        good = ~runs["status"].isin(WITHOUT_RESULT)
        runs = runs.iloc[good.argsort(kind="stable")].drop_duplicates("key", keep="last")
        numbers = {*NUMBER_COLUMNS, *MEASURED_COLUMNS, *self._metrics}.difference(TEXT_COLUMNS)
        columns = {}
        for name, values in runs.items():
            if name == START:
                columns[name] = values.astype(int)
            elif name in numbers:
                numeric = pd.to_numeric(values, errors="coerce")
                whole = all(type(value) is int for value in values.dropna())
                columns[name] = numeric.astype("Int64" if whole and values.notna().any() else float)
            elif name in UNSHARED:
                columns[name] = values
            else:
                order = pd.Index(sorted(values.dropna().unique(), key=_order), dtype=object)
                columns[name] = pd.Series(pd.Categorical(values, order, ordered=True), values.index)
        return pd.DataFrame(columns)

    def _join(self) -> None:
        import pandas as pd

        if len(self._parts) > 1:
            whole = pd.concat([part.astype(object) for part in self._parts], ignore_index=True)
            self._parts = [self._typed(whole)]

    def _arranged(self, planned: int | None, swept: tuple[str, ...]) -> Sweep:
        """Return the runs, sorted, with the order of their columns."""
        import pandas as pd

        self._join()
        metrics = [name for name in self._metrics if name not in KNOWN_COLUMNS]
        settings = [name for name in self._settings if name not in (*KNOWN_COLUMNS, *self._metrics)]
        columns = [
            *SEQUENCE_COLUMNS, *settings, *ENDING_COLUMNS, *NUMBER_COLUMNS, *metrics, *ORIGIN_COLUMNS,
            *MEASURED_COLUMNS,
        ]  # fmt: skip
        whole = self._parts[0] if self._parts else self._typed(pd.DataFrame(columns=columns, dtype=object))
        by = [name for name in (*SEQUENCE_COLUMNS, *settings, "version", "data") if whole[name].nunique()]
        runs = whole.sort_values([*by, "key"], ignore_index=True)[columns]
        numbers = (*NUMBER_COLUMNS, *metrics, *MEASURED_COLUMNS)
        held = tuple(name for name in numbers if runs[name].notna().any())
        return Sweep(self.folder, runs, tuple(settings), held, self._damaged, planned, swept)


def _order(value: str | float) -> tuple[int, float, str]:
    """Return what values of any kind are sorted by: numbers by size, then texts by the alphabet."""
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def _flat(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the known columns of a line, settings and metrics; None where it is no run of a sweep."""
    settings, metrics = row.get("settings"), row.get("metrics", {})
    if not isinstance(settings, Mapping) or not isinstance(metrics, Mapping) or "object" not in row:
        return None
    if _KEY.fullmatch(row["key"]) is None:  # it is the name of a file
        return None
    flat: dict[str, Any] = {name: _number(row.get(name)) for name in (*NUMBER_COLUMNS, *MEASURED_COLUMNS)}
    for name in TEXT_COLUMNS:
        value = _scalar(row.get(name))
        flat[name] = "" if value is None else str(value)
    measured = {str(name): _number(value) for name, value in metrics.items() if type(value) in (int, float)}
    return flat | {"settings": flat_settings(settings), "metrics": measured}


def write_plan(folder: Path, runs: int, swept: Sequence[str]) -> None:
    """Write how many runs a sweep has in the end, those that have ended among them, and what is varied."""
    with replacing(folder / PLAN) as temporary:
        temporary.write_text(json.dumps({"runs": runs, "swept": list(swept)}) + "\n", encoding="utf-8")


def _read_plan(folder: Path) -> tuple[int | None, tuple[str, ...]]:
    """Return how many runs there are in the end, None where that is not known, and what is varied."""
    try:
        plan = parse_json(read_bytes(folder / PLAN))
    except ValueError:  # InputError is one
        plan = None
    runs, swept = (plan.get("runs"), plan.get("swept")) if isinstance(plan, dict) else (None, None)
    names = [name for name in swept if isinstance(name, str)] if isinstance(swept, list) else []
    return runs if type(runs) is int and runs > 0 else None, tuple(names)


def flat_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings, numbers of the penalty among them, as numbers, texts and None by their options."""
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
    if value is None or type(value) is str:  # most are
        return value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if abs(value) < LARGEST_COUNT else None
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    return str(value)


def _number(value: Any) -> float | None:
    """Return a number of a result; None of a text, and of what is too large to be one."""
    number = _scalar(value)
    return None if number is None or isinstance(number, str) or abs(number) > LARGEST_NUMBER else number
