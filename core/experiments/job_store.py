"""The results of finished jobs in a folder, which grows and is never rewritten.

    runs.jsonl             a line of JSON for every job that has ended: its key, how it ended, its facts
    results/<key>.npz      the arrays of a job

A line is appended in one piece. Where a process is killed while it writes, the last line is torn: it is not
read, and it is cut off when the file is next opened for writing. Where several lines have a key, the last
one with a result counts, else the last one.
"""

from __future__ import annotations

import errno
import json
import os
import time
from typing import Any, NamedTuple

import numpy as np

from ..foundation import InputError, check_writable, make_folder, replacing
from ..io.readers import check_file, load_arrays, parse_json, read_bytes

try:
    import fcntl
except ImportError:  # Windows, where the same file can be opened twice
    fcntl = None  # type: ignore[assignment]
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy.typing as npt

RUNS = "runs.jsonl"  # the file of lines
RESULTS = "results"  # the folder of the arrays
BUFFER = 1 << 20  # bytes that are read at a time
SYNC_SECONDS = 1.0  # between two times that lines are forced to the disk
WITHOUT_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # how a file system says that it has none
FAILED, TIME_LIMIT, DIED = "failed", "time limit", "died"  # how a job without a result ended
WITHOUT_RESULT = (FAILED, TIME_LIMIT, DIED)


class StoredLine(NamedTuple):
    """A line of a file of runs."""

    start: int  # where it begins, in bytes
    end: int  # where the next one begins
    row: dict[str, Any] | None  # None where it is damaged


def read_lines(path: Path, start: int = 0) -> Iterator[StoredLine]:
    """Yield the lines of a file from a byte on. Raises InputError where it cannot be read."""
    check_file(path)
    try:
        with path.open("rb", BUFFER) as stream:
            stream.seek(start)
            for line in stream:
                if not line.endswith(b"\n"):  # it is being written just now
                    return
                yield StoredLine(start, start + len(line), _parsed(line))
                start += len(line)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error


def has_result(row: Mapping[str, Any]) -> bool:
    """Return whether a job ended with a result: it did not fail, die or reach its time limit.

    >>> has_result({"status": "converged"}), has_result({"status": "failed"})
    (True, False)
    """
    return row.get("status") not in WITHOUT_RESULT


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        row = parse_json(line)
    except InputError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("key"), str) else None


class _Place(NamedTuple):
    """Where the line of a job is, and what it says of its result."""

    start: int  # in bytes
    good: bool  # whether there is one
    arrays: bool  # whether it has arrays


class JobStore:
    """A folder of finished jobs, open for more. Raises InputError where another process writes to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = make_folder(folder)
        self.path = folder / RUNS
        self._file = self._open()
        self._synced = time.monotonic()
        self._places: dict[str, _Place] = {}  # by key
        end = 0
        for line in read_lines(self.path):
            end = line.end
            if line.row is not None:
                self._remember(line.row, line.start)
        if end < os.fstat(self._file).st_size:  # the last line is torn
            os.ftruncate(self._file, end)

    def __enter__(self) -> JobStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Force what is written to the disk, and let other processes write."""
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all jobs that have ended."""
        return frozenset(self._places)

    def __contains__(self, key: str) -> bool:
        """Return whether a job has ended."""
        return key in self._places

    def has_result(self, key: str) -> bool:
        """Return whether a job has ended with a result, whose arrays can be read where it has some."""
        known = self._places.get(key)
        if known is None or not known.good:
            return False
        return not known.arrays or self.load_arrays(key) is not None

    def is_done(self, key: str, *, retry: bool) -> bool:
        """Return whether a job has ended; where it is to be retried, whether with a result."""
        return self.has_result(key) if retry else key in self

    def load_row(self, key: str) -> dict[str, Any] | None:
        """Return the facts of a job that has ended, None of any other."""
        known = self._places.get(key)
        line = None if known is None else next(read_lines(self.path, known.start), None)
        return None if line is None else line.row

    def append(self, row: Mapping[str, Any]) -> None:
        """Write the facts of a job as a line, in one piece; where that fails the file is as before."""
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        line += b"\n"
        place, rest = os.fstat(self._file).st_size, memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                os.fsync(self._file)
                self._synced = time.monotonic()
        except OSError as error:
            os.ftruncate(self._file, place)
            raise InputError(f"{self.path} cannot be written: {error.strerror or error}") from error
        finally:
            if os.fstat(self._file).st_size == place + len(line):  # also where Ctrl-C came just then
                self._remember(row, place)

    def arrays_path(self, key: str) -> Path:
        """Return the file of the arrays of a job."""
        return self.folder / RESULTS / f"{key}.npz"

    def save_arrays(self, key: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write the arrays of a job."""
        make_folder(self.folder / RESULTS)
        with replacing(self.arrays_path(key)) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)

    def load_arrays(self, key: str) -> dict[str, npt.NDArray[Any]] | None:
        """Return the arrays of a job, None where they are absent or damaged."""
        path = self.arrays_path(key)
        try:
            return load_arrays(read_bytes(path), path)
        except InputError:
            return None

    def _remember(self, row: Mapping[str, Any], start: int) -> None:
        good, before = has_result(row), self._places.get(row["key"])
        if good or before is None or not before.good:
            self._places[row["key"]] = _Place(start, good, bool(row.get("arrays")))

    def _open(self) -> int:
        """Return the file, locked where its file system has locks: some of clusters do not."""
        check_writable(self.path)
        file = -1
        try:
            file = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666
            )
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if file >= 0 and error.errno in WITHOUT_LOCKS:
                return file
            if file >= 0:
                os.close(file)
            if isinstance(error, BlockingIOError):
                raise InputError(
                    f"{self.path} is being written by another process; wait for it, or name another folder"
                ) from None
            raise InputError(f"{self.path} cannot be written: {error.strerror or error}") from error
        return file
