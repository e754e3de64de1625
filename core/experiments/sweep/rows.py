"""The runs of a sweep as a table in memory, read from its folder."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...foundation.atomic import replacing
from ...foundation.exceptions import InputError
from ...foundation.representation import one_line_repr
from ...io.readers import memory_limit, parse_json, read_bytes
from ...reconstruction.meta_kinds import LARGEST_NUMBER
from ...reconstruction.provenance import settings_from_dict
from ..job_store import RESULTS, has_result, read_lines, runs_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...reconstruction.settings import Settings

SEQUENCE_COLUMNS = ("object", "camera", "path", "sequence")
ENDING_COLUMNS = ("status", "error")
NUMBER_COLUMNS = ("loss", "log10_loss", "gradient", "iterations")
ORIGIN_COLUMNS = ("data", "version", "command", "result", "key")
MEASURED_COLUMNS = ("seconds", "memory_mb")  # of rows with the same settings only these differ
KNOWN_COLUMNS = (
    *SEQUENCE_COLUMNS, *ENDING_COLUMNS, *NUMBER_COLUMNS, *ORIGIN_COLUMNS, *MEASURED_COLUMNS
)  # fmt: skip
UNSHARED = {KNOWN_COLUMNS.index(name) for name in ("error", "command", "result", "key")}
RENAMED_SETTINGS = {"loss": "loss_function"}  # because the loss is a number of a result
PLAN = "plan.json"  # in the folder of a sweep: how many runs it has in the end, and what is varied
ROW_SIZE, TEXT_SIZE = 300, 100  # bytes of a row and of a shared text in memory, besides their content
MOST_COLUMNS = 1000
LARGEST_COUNT = 2**63  # of a whole number; it is written as a number of no more digits
_KEY = re.compile("[0-9a-f]{32}")
METRIC_ALIASES = {"mean_mm": "procrustes_mm"}


class SweepRow(Mapping[str, Any]):
    """A run of a sweep, by the names of the columns; what it does not have is None.

    The names are shared by all rows of a sweep, so that a row needs little more memory than its values.
    """

    __slots__ = ("_places", "file", "start", "values_by_place")

    def __init__(self, places: dict[str, int], values: tuple[Any, ...], file: Path, start: int) -> None:
        self._places = places
        self.values_by_place = values
        self.file = file
        self.start = start

    def __getitem__(self, name: str) -> Any:
        return self.value_at(self._places[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"SweepRow({self['key']})"

    def value_at(self, place: int) -> Any:
        """Return the value of a column by its place."""
        return self.values_by_place[place] if place < len(self.values_by_place) else None

    @property
    def size(self) -> int:
        """The bytes that it needs, about, without the texts that it shares with other rows."""
        values = self.values_by_place
        own = (
            sys.getsizeof(value)
            for place, value in enumerate(values)
            if value is not None and (type(value) is not str or place in UNSHARED)
        )
        return ROW_SIZE + sys.getsizeof(values) + sum(own)


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
    planned: int | None = None  # runs that there are in the end, None where that is not known
    swept: tuple[str, ...] = ()  # columns that have several values in the end

    __repr__ = one_line_repr

    @cached_property
    def varied(self) -> tuple[str, ...]:
        """The columns of sequences and settings that have more than one value, or will have.

        Where the program or a sequence was changed between runs, `version` and `data` are among them.
        """
        names = (*SEQUENCE_COLUMNS[:-1], *self.settings)
        varied = [name for name in names if name in self.swept or len({row[name] for row in self.rows}) > 1]
        return (*varied, *self.changed)

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Of `version` and `data` what was changed between runs of the same sequence."""
        states = {tuple(row[name] for name in ("sequence", "data", "version")) for row in self.rows}
        versions = {version for _, _, version in states}
        contents = {(sequence, data) for sequence, data, _ in states}
        changed = len(versions) > 1, len({sequence for sequence, _ in contents}) < len(contents)
        return tuple(name for name, several in zip(("version", "data"), changed, strict=True) if several)

    def result(self, row: Mapping[str, Any]) -> Path | None:
        """Return the result file of a run, None where there is none: it failed, or results were left out."""
        path = self.folder / RESULTS / f"{row['key']}.npz"
        return path if row["result"] and path.is_file() else None

    def number_name(self, name: str) -> str:
        """Return the name of a column of numbers. Raises InputError where no run has it."""
        found = METRIC_ALIASES.get(name, name)
        if found not in self.numbers:
            known = ", ".join(self.numbers) or "none"
            failed = "" if any(map(has_result, self.rows)) else ", because none of them has a result"
            raise InputError(f"the number is {name!r}; the runs of {self.folder} have {known}{failed}")
        return found

    def setting_name(self, name: str) -> str:
        """Return the name of a column of sequences or settings, given with dashes or underscores.

        Raises InputError where there is none.
        """
        found = name.replace("-", "_")
        found = RENAMED_SETTINGS.get(found, found)
        if found not in (*SEQUENCE_COLUMNS, *self.settings, "version", "data"):
            varied = ", ".join(self.varied) or "none"
            raise InputError(
                f"{name!r} is no setting of the runs of {self.folder}; several values have {varied}"
            )
        return found


def is_sweep_folder(path: Path) -> bool:
    """Return whether a folder holds the runs of a sweep, or those of one that has just begun."""
    empty = False
    with suppress(InputError):
        for file in runs_files(path):
            line = None
            for line in read_lines(file):
                if line.row is not None:
                    return _flat(line.row) is not None
            empty = empty or line is None
    return empty


def read_sweep(folder: Path) -> Sweep:
    """Return the runs of a sweep that have ended so far.

    Lines that are torn or damaged are left out. Of several lines of the same run the last one with a result
    counts, else the last one.

    Raises InputError where the folder holds no runs, or more than memory may be used for
    (`core.io.readers.memory_limit`).
    """
    sweep = SweepReader(folder).read()
    if not sweep.rows:
        raise InputError(f"{folder}: holds no runs of a sweep (runs.jsonl)")
    return sweep


@dataclass(frozen=True, eq=False)
class SweepRun:
    """What one run of a sweep was made of."""

    source: str  # of the sequence: a path, or the name of a sample
    reading: Mapping[str, Any]  # options that it was read with
    content: str  # hash of the sequence: tracks and all else that a result depends on
    settings: Settings

    __repr__ = one_line_repr


class SweepReader:
    """Reads the runs of a sweep, and later only what was appended since.

    >>> import tempfile
    >>> from core.experiments.sweep import SweepReader
    >>> reader = SweepReader(tempfile.mkdtemp())
    >>> reader.read().rows, reader.read().planned
    ((), None)
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._last: Sweep | None = None
        self._begin()

    def read(self) -> Sweep:
        """Return the runs that have ended so far; the same object as before where there is nothing new.

        A file that was replaced, or is shorter than before, is read again with all others.

        Raises InputError where a file cannot be read, or the runs need more than memory may be used for.
        """
        files = runs_files(self.folder)
        states = {file: file.stat() for file in files if file.is_file()}
        for file, (end, inode) in self._ends.items():
            state = states.get(file)
            if state is None or state.st_ino != inode or state.st_size < end:
                self._begin()
                break
        fresh: set[str] = set()
        damaged = self._damaged
        try:
            for file in files:
                self._read_file(file, states[file].st_ino if file in states else 0, fresh)
        except InputError:
            self._begin()  # the rows so far are of no use, and may need much memory
            raise
        plan = _read_plan(self.folder)
        known = None if self._last is None else (self._last.planned, self._last.swept)
        if self._last is None or fresh or (damaged, known) != (self._damaged, plan):
            self._last = self._arranged(*plan)
        return self._last

    def load_run(self, key: str) -> SweepRun:
        """Return what a run was made of.

        Raises InputError where its line is not there any more, or its settings are not those of this version.
        """
        path, start = self._rows[key].file, self._rows[key].start
        line = next(read_lines(path, start), None)
        row = None if line is None else line.row
        flat = None if row is None or row["key"] != key else _flat(row)
        if row is None or flat is None:
            raise InputError(f"{path}: the line of the run {key} is not there any more")
        reading = row.get("reading", {})
        if not isinstance(reading, dict):
            raise InputError(f"{path}: the reading options of the run {key} are no mapping")
        return SweepRun(flat["sequence"], reading, flat["data"], settings_from_dict(row["settings"]))

    def _begin(self) -> None:
        self._ends: dict[Path, tuple[int, int]] = {}  # what of each file was read, and the number of the file
        self._rows: dict[str, SweepRow] = {}  # by key
        self._size = 0  # bytes that these need, about
        self._shared: dict[str, str] = {}  # texts that many rows have
        self._places: dict[str, int] = {name: place for place, name in enumerate(KNOWN_COLUMNS)}
        self._settings: dict[str, None] = {}  # names, in the order of their first run
        self._metrics: dict[str, None] = {}
        self._damaged = 0
        self._last = None

    def _read_file(self, file: Path, inode: int, fresh: set[str]) -> None:
        """Read what was appended to a file, and add the keys of its runs."""
        end, _ = self._ends.get(file, (0, 0))
        for line in read_lines(file, end):
            end = line.end
            flat = None if line.row is None else _flat(line.row)
            if flat is None:
                self._damaged += 1
                continue
            before = self._rows.get(flat["key"])
            if before is None or has_result(flat) or not has_result(before):
                row = self._row(flat, file, line.start)
                self._size += row.size - (0 if before is None else before.size)
                self._check_size()
                self._rows[flat["key"]] = row
                fresh.add(flat["key"])
        self._ends[file] = end, inode

    def _row(self, flat: dict[str, Any], file: Path, start: int) -> SweepRow:
        """Return a flat line as a row, whose new names are columns from now on."""
        settings, metrics = flat.pop("settings"), flat.pop("metrics")
        self._settings.update(dict.fromkeys(settings))
        self._metrics.update(dict.fromkeys(metrics))
        values: list[Any] = [None] * len(self._places)
        for place, name in enumerate(KNOWN_COLUMNS):
            values[place] = flat.get(name)
        for name, value in (settings | metrics).items():
            place = self._places.setdefault(name, len(values))
            if place == len(values):
                values.append(value)
            elif place >= len(KNOWN_COLUMNS):
                values[place] = value
        for place, value in enumerate(values):
            if type(value) is str and place not in UNSHARED:
                if value not in self._shared:
                    self._shared[value] = value
                    self._size += TEXT_SIZE + sys.getsizeof(value)
                values[place] = self._shared[value]
        return SweepRow(self._places, tuple(values), file, start)

    def _check_size(self) -> None:
        """Refuse rows that need more memory than they may."""
        if len(self._places) > MOST_COLUMNS:
            raise InputError(
                f"{self.folder}: its runs have more than {MOST_COLUMNS} columns; accepted are {MOST_COLUMNS}"
            )
        if self._size > memory_limit():
            raise InputError(
                f"{self.folder}: its runs need more than {memory_limit() / 1e9:g} GB of memory, of which "
                f"{len(self._rows)} could be read (the environment variable NRSFM_FILE_MEMORY, in GB)"
            )

    def _arranged(self, planned: int | None, swept: tuple[str, ...]) -> Sweep:
        """Return the rows, sorted, with the order of their columns."""
        known = {*KNOWN_COLUMNS}
        metrics = [name for name in self._metrics if name not in known]
        settings = [name for name in self._settings if name not in known and name not in self._metrics]
        columns = (
            *SEQUENCE_COLUMNS,
            *settings,
            *ENDING_COLUMNS,
            *NUMBER_COLUMNS,
            *metrics,
            *ORIGIN_COLUMNS,
            *MEASURED_COLUMNS,
        )
        rows = [self._rows[key] for key in sorted(self._rows)]
        for name in reversed(
            (*SEQUENCE_COLUMNS, *settings, "version", "data")
        ):  # sorting keeps the order of what is equal
            place = self._places[name]
            values = sorted({row.value_at(place) for row in rows}, key=_order)
            if len(values) > 1:
                ranks = {value: rank for rank, value in enumerate(values)}
                order = [ranks[row.value_at(place)] for row in rows]
                rows = [rows[k] for k in sorted(range(len(rows)), key=order.__getitem__)]
        numbers = (*NUMBER_COLUMNS, *metrics, *MEASURED_COLUMNS)
        held = tuple(name for name in numbers if any(row[name] is not None for row in rows))
        return Sweep(self.folder, tuple(rows), columns, tuple(settings), held, self._damaged, planned, swept)


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
    measured = {str(name): _number(value) for name, value in metrics.items() if type(value) in (int, float)}
    for name in (*NUMBER_COLUMNS, *MEASURED_COLUMNS):
        flat[name] = _number(flat.get(name))
    for name in (*SEQUENCE_COLUMNS, *ENDING_COLUMNS, *ORIGIN_COLUMNS):
        flat[name] = "" if flat.get(name) is None else str(flat[name])
    return flat | {"settings": flat_settings(settings), "metrics": measured}


def write_plan(folder: Path, runs: int, swept: Sequence[str]) -> None:
    """Write how many runs a sweep has in the end, those that have ended among them, and what is varied.

    Raises InputError where it cannot be written.
    """
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
    return runs if type(runs) is int and runs > 0 else None, tuple(names[:MOST_COLUMNS])


def flat_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by their names on the command line: the numbers of the penalty are among them.

    Returns numbers, texts and None.
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


def distinct_values(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the values that rows have in some columns, each combination once, sorted."""
    return sorted_values(tuple(row[name] for name in names) for row in rows)


def sorted_values(values: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return combinations of values, each once: numbers by size, then texts by the alphabet, then None."""
    return sorted(set(values), key=lambda each: [_order(value) for value in each])
