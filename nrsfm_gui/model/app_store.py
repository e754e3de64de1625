"""What is stored between two starts: window geometry, docks, recent files, parameters of sequences, theme.

Everything is kept in a JSON file in the platform's place for settings; an entry that cannot be read (it may
be edited by the user) counts as absent.
QSettings is not used: it restores any object that its file holds, and PyQt unpickles those of Python.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from PyQt6.QtCore import QByteArray, QLockFile, QStandardPaths

from core import InputError, Settings
from core.foundation import PROGRAM, replacing
from core.io.readers import ReadingOptions, check_file, named_path, parse_json, read_bytes
from core.reconstruction import settings_from_dict, settings_to_dict
from nrsfm_gui.model.preferences import Preferences, from_values

ORGANIZATION = "nrsfm"
APPLICATION = PROGRAM
RECENT_FILES = 10
MOST_REMEMBERED = 100  # files whose import is remembered, and sequences whose parameters are
MOST_PIXELS = 99_999  # of a dock
# Part of the keys of geometry and docks: raised when the set of docks changes, to drop an old layout.
LAYOUT_VERSION = 4
LAYOUT = tuple(f"layout{LAYOUT_VERSION}/{part}" for part in ("geometry", "docks", "sizes"))
RECENT, REPORTS = "recent", "reports"  # what was opened last
KINDS = {"imports": dict, "sequences": dict, "presets": dict, RECENT: list, REPORTS: list}
MOST_BYTES = 16_000_000
LOCK_MILLISECONDS = 1000  # for which another window may write
Value = TypeVar("Value")
Given = TypeVar("Given")


@dataclass(frozen=True)
class StoredImport:
    """How a file was imported: the options of `read_sequence`, and what was answered about its camera."""

    reading: Mapping[str, Any] = field(default_factory=dict)
    intrinsics: str | tuple[float, float, float, float] | None = None
    camera_model: str | None = None


def _settings_of(values: object) -> Settings | None:
    try:
        return settings_from_dict(values) if isinstance(values, dict) else None
    except InputError:
        return None


def _base64(state: QByteArray) -> str:
    return bytes(state.toBase64().data()).decode("ascii")


def _from_base64(text: str) -> QByteArray:
    return QByteArray.fromBase64(text.encode("ascii", "replace"))


def _presets(values: Mapping[str, Any]) -> dict[str, Settings]:
    found = {name: _settings_of(each) for name, each in values.items()}
    return {name: settings for name, settings in found.items() if settings is not None}


def _texts(values: Iterable[object]) -> list[str]:
    return [text for text in values if isinstance(text, str)]


def _existing_folder(name: str) -> Path:
    """Return a folder, in place of one that is gone that of the user's documents."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    known = [Path(each) for each in (name, documents) if each]
    return next((folder for folder in known if os.path.isdir(folder)), Path.home())


class _Stored(Generic[Value, Given]):
    """An attribute that is stored by its name: as which kind, and how it is read and written."""

    def __init__(
        self, kind: type[Value], read: Callable[[Value], Given], write: Callable[[Given], Value]
    ) -> None:
        self._kind, self._read, self._write = kind, read, write

    def __set_name__(self, owner: type[AppStore], name: str) -> None:
        self._name = name

    def __get__(self, store: AppStore, owner: type[AppStore]) -> Given:
        return self._read(store.file.value(self._name, self._kind))

    def __set__(self, store: AppStore, given: Given) -> None:
        store.file.change({self._name: self._write(given)})


class AppStore:
    """Typed access to the stored settings."""

    theme = _Stored(str, str, str)  # its name, "" where none was chosen
    presets = _Stored(
        dict, _presets, lambda own: {name: settings_to_dict(each) for name, each in own.items()}
    )
    open_sections = _Stored(list, lambda names: tuple(_texts(names)), list)  # of the parameters
    sweep_geometry = _Stored(str, _from_base64, _base64)  # of the window of a sweep, empty where it is new
    offered_session = _Stored(str, str, str)  # the name of the unsaved one that was offered last, or ""
    steps_done = _Stored(
        list, lambda names: frozenset(_texts(names)), sorted
    )  # all where they were dismissed
    writing_folder = _Stored(str, _existing_folder, lambda folder: str(folder.absolute()))  # the last one

    def __init__(self, file: Path | None = None) -> None:
        self._elsewhere = file is not None
        self.file = SettingsFile(usual_file() if file is None else file)

    def layout(self) -> tuple[QByteArray, QByteArray, dict[str, int]] | None:
        """Return geometry, dock state and the sizes that a person gave to docks, as they were last."""
        geometry, docks = (self.file.value(name, str) for name in LAYOUT[:2])
        if not (geometry and docks):
            return None
        sizes = self.file.value(LAYOUT[2], dict)
        known = {name: size for name, size in sizes.items() if type(size) is int and 0 <= size <= MOST_PIXELS}
        return _from_base64(geometry), _from_base64(docks), known

    def set_layout(self, geometry: QByteArray, docks: QByteArray, sizes: Mapping[str, int]) -> None:
        """Remember geometry, dock state, and the sizes that a person gave to docks."""
        self.file.change(dict(zip(LAYOUT, (_base64(geometry), _base64(docks), dict(sizes)), strict=True)))

    def recent(self, key: str = RECENT) -> list[Path]:
        """Return the files (or reports) opened last, newest first, without those that are gone."""
        found = _texts(self.file.value(key, list))
        # Another computer is asked for a file when that is opened: it may not answer for a minute.
        elsewhere = [name for name in found if named_path(name, self.file.path) is None]
        return [Path(name) for name in found if name in elsewhere or os.path.exists(name)]

    def add_recent(self, path: Path, key: str = RECENT) -> None:
        """Add a file or folder, or a report, as the first of the recent ones."""
        path = path.absolute()
        others = [other for other in self.recent(key) if other != path]
        self.file.change({key: [str(other) for other in [path, *others][:RECENT_FILES]]})

    def imported(self, path: Path) -> StoredImport | None:
        """Return how a file was imported the last time, None where it was not."""
        entry = self.file.value("imports", dict).get(str(path.absolute()))
        if not isinstance(entry, dict):
            return None
        reading: dict[str, Any] = entry.get("reading", {})
        model, numbers = entry.get("camera_model"), entry.get("intrinsics")
        camera = {"camera_model": model, "intrinsics": numbers}
        try:
            ReadingOptions(**reading)
            settings_from_dict({name: value for name, value in camera.items() if value is not None})
        except (TypeError, ValueError):  # InputError is one
            return None
        return StoredImport(reading, tuple(numbers) if isinstance(numbers, list) else numbers, model)

    def set_imported(self, path: Path, how: StoredImport) -> None:
        """Remember how a file was imported."""
        entry = {**vars(how), "reading": dict(how.reading)}
        self._set_newest("imports", str(path.absolute()), entry)

    def parameters(self, content: str) -> Settings | None:
        """Return the parameters that a sequence had last, None where they were those of the preset."""
        return _settings_of(self.file.value("sequences", dict).get(content))

    def set_parameters(self, content: str, settings: Settings) -> None:
        """Remember the parameters of a sequence, unless they are those that every sequence begins with."""
        self._set_newest("sequences", content, settings_to_dict(settings) if settings != Settings() else None)

    def preferences(self) -> Preferences:
        """Return the preferences."""
        return from_values(self.file.values())[0]

    def refused(self) -> tuple[str, ...]:
        """Return the names of what is stored but cannot be read, and counts as absent."""
        values = self.file.values()
        file = [self.file.path.name] if self.file.damaged else []
        others = (key for key, kind in KINDS.items() if not isinstance(values.get(key, kind()), kind))
        return (*file, *from_values(values)[1], *others)

    def forget(self, names: Iterable[str]) -> None:
        """Remove entries, as what `refused` has named."""
        self.file.change(dict.fromkeys(names))

    def set_preferences(self, preferences: Preferences) -> None:
        """Store the preferences."""
        self.file.change(vars(preferences))

    def data_folder(self) -> Path:
        """Return the folder that sessions are saved to by themselves; it need not be there yet."""
        if self._elsewhere:
            return self.file.path.parent / "data"
        return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation))

    def sync(self) -> None:
        """Write to the disk what could not be written before."""
        self.file.write()

    def _set_newest(self, key: str, name: str, entry: dict[str, Any] | None) -> None:
        """Store an entry as the newest of a dictionary, which forgets the oldest ones; None removes it."""
        entries = {other: each for other, each in self.file.value(key, dict).items() if other != name}
        if entry is not None:
            entries[name] = entry
        self.file.change({key: dict(list(entries.items())[-MOST_REMEMBERED:])})


def usual_file() -> Path:
    """Return the file of the settings in the platform's place for them."""
    place = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericConfigLocation)
    return Path(place, ORGANIZATION, f"{APPLICATION}.json")


class SettingsFile:
    """Values by their names. Several windows can have the same file, and see the changes of each other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stored: dict[str, Any] = {}  # what the file holds
        self._unwritten: dict[str, Any] = {}  # None where a value is removed
        self._version: tuple[int, ...] = ()  # of the file that was read
        self._damaged = False

    @property
    def damaged(self) -> bool:
        """Whether there is a file that cannot be read: no value of it is known."""
        self._follow()
        return self._damaged

    def values(self) -> dict[str, Any]:
        """Return all values."""
        self._follow()
        everything = self._stored | self._unwritten
        return {name: value for name, value in everything.items() if value is not None}

    def value(self, name: str, kind: type[Value]) -> Value:
        """Return a value, an empty one where there is none of this kind."""
        value = self.values().get(name)
        return value if isinstance(value, kind) else kind()

    def change(self, changes: Mapping[str, Any]) -> None:
        """Store values, and remove those that are None."""
        self._unwritten |= changes
        self.write()

    def write(self) -> None:
        """Write the file where its values have changed; nobody but its owner may read it."""
        with suppress(OSError, InputError):  # values that cannot be written are those of this process
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = QLockFile(f"{self.path}.lock")
            lock.tryLock(LOCK_MILLISECONDS)  # released when it is deleted
            values = self.values()
            if self._damaged and self.path.is_file():  # somebody may have written it by hand
                os.replace(self.path, f"{self.path}.damaged")
            if values != self._stored:
                with replacing(self.path, private=True) as temporary:
                    temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")
            self._unwritten.clear()

    def _follow(self) -> None:
        """Read the file where it is another one than that which was read."""
        version: tuple[int, ...] = ()
        with suppress(OSError):
            found = os.stat(self.path)
            version = (found.st_ino, found.st_size, found.st_mtime_ns)
        if version == self._version:
            return
        self._version, self._stored, self._damaged = version, {}, False
        if version:
            try:
                self._stored = _read(self.path)
            except InputError:
                self._damaged = True


def _read(path: Path) -> dict[str, Any]:
    size = check_file(path)
    if size > MOST_BYTES:
        raise InputError(f"{path}: has {size} bytes; accepted are up to {MOST_BYTES}")
    values = parse_json(read_bytes(path))
    if not isinstance(values, dict):
        raise InputError(f"{path}: is no JSON object")
    return values
