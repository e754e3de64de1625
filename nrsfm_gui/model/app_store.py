"""What is stored between two starts: window geometry, docks, recent files, parameters of sequences, theme.

Everything is kept in a JSON file in the platform's place for settings; an entry that cannot be read (it may
be edited by the user) counts as absent.
QSettings is not used: it restores any object that its file holds, and PyQt unpickles those of Python.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

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
Value = TypeVar("Value", str, dict[str, Any], list[Any])


@dataclass(frozen=True)
class StoredImport:
    """How a file was imported: the options of `read_sequence`, and what was answered about its camera."""

    reading: Mapping[str, Any] = field(default_factory=dict)
    intrinsics: str | tuple[float, float, float, float] | None = None
    camera_model: str | None = None


class AppStore:
    """Typed access to the stored settings."""

    def __init__(self, file: Path | None = None) -> None:
        self._elsewhere = file is not None
        self._file = SettingsFile(usual_file() if file is None else file)

    def layout(self) -> tuple[QByteArray, QByteArray, dict[str, int]] | None:
        """Return geometry, dock state and the sizes that a person gave to docks, as they were last."""
        geometry, docks = (self._file.value(name, str) for name in LAYOUT[:2])
        if not (geometry and docks):
            return None
        sizes = self._file.value(LAYOUT[2], dict)
        known = {name: size for name, size in sizes.items() if type(size) is int and 0 <= size <= MOST_PIXELS}
        return _from_base64(geometry), _from_base64(docks), known

    def set_layout(self, geometry: QByteArray, docks: QByteArray, sizes: Mapping[str, int]) -> None:
        """Remember geometry, dock state, and the sizes that a person gave to docks."""
        self._file.change(dict(zip(LAYOUT, (_base64(geometry), _base64(docks), dict(sizes)), strict=True)))

    def sweep_geometry(self) -> QByteArray:
        """Return place and size of the window of a sweep, empty where it is new."""
        return _from_base64(self._file.value("sweep_geometry", str))

    def set_sweep_geometry(self, geometry: QByteArray) -> None:
        """Remember place and size of the window of a sweep."""
        self._set("sweep_geometry", _base64(geometry))

    def recent(self, key: str = RECENT) -> list[Path]:
        """Return the files (or reports) opened last, newest first, without those that are gone."""
        found = self._names(key)
        # Another computer is asked for a file when that is opened: it may not answer for a minute.
        elsewhere = [name for name in found if named_path(name, self._file.path) is None]
        return [Path(name) for name in found if name in elsewhere or os.path.exists(name)]

    def add_recent(self, path: Path, key: str = RECENT) -> None:
        """Add a file or folder, or a report, as the first of the recent ones."""
        path = path.absolute()
        others = [other for other in self.recent(key) if other != path]
        self._set(key, [str(other) for other in [path, *others][:RECENT_FILES]])

    def imported(self, path: Path) -> StoredImport | None:
        """Return how a file was imported the last time, None where it was not."""
        entry = self._file.value("imports", dict).get(str(path.absolute()))
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
        return _settings_of(self._file.value("sequences", dict).get(content))

    def set_parameters(self, content: str, settings: Settings) -> None:
        """Remember the parameters of a sequence, unless they are those that every sequence begins with."""
        self._set_newest("sequences", content, settings_to_dict(settings) if settings != Settings() else None)

    def presets(self) -> dict[str, Settings]:
        """Return the parameters that a person named, by their names."""
        found = {name: _settings_of(values) for name, values in self._file.value("presets", dict).items()}
        return {name: settings for name, settings in found.items() if settings is not None}

    def set_presets(self, presets: Mapping[str, Settings]) -> None:
        """Remember the parameters that a person named."""
        self._set("presets", {name: settings_to_dict(each) for name, each in presets.items()})

    def open_sections(self) -> tuple[str, ...]:
        """Return the sections of the parameters that were open last."""
        return tuple(self._names("open_sections"))

    def set_open_sections(self, names: Iterable[str]) -> None:
        """Remember which sections of the parameters are open."""
        self._set("open_sections", list(names))

    def theme(self) -> str:
        """Return the name of the theme, "" where none was chosen."""
        return self._file.value("theme", str)

    def set_theme(self, name: str) -> None:
        """Remember the theme."""
        self._set("theme", name)

    def preferences(self) -> Preferences:
        """Return the preferences."""
        return from_values(self._file.values())[0]

    def refused(self) -> tuple[str, ...]:
        """Return the names of what is stored but cannot be read, and counts as absent."""
        values = self._file.values()
        file = [self._file.path.name] if self._file.damaged else []
        others = (key for key, kind in KINDS.items() if not isinstance(values.get(key, kind()), kind))
        return (*file, *from_values(values)[1], *others)

    def forget(self, names: Iterable[str]) -> None:
        """Remove entries, as what `refused` has named."""
        self._file.change(dict.fromkeys(names))

    def set_preferences(self, preferences: Preferences) -> None:
        """Store the preferences."""
        self._file.change(vars(preferences))

    def offered_session(self) -> str:
        """Return the name of the unsaved session that was offered last, "" where there was none."""
        return self._file.value("offered_session", str)

    def set_offered_session(self, name: str) -> None:
        """Store the name of the unsaved session that was offered."""
        self._set("offered_session", name)

    def steps_done(self) -> frozenset[str]:
        """Return which of the first steps were done; all where they were dismissed."""
        return frozenset(self._names("steps_done"))

    def set_steps_done(self, steps: frozenset[str]) -> None:
        """Remember which of the first steps were done."""
        self._set("steps_done", sorted(steps))

    def writing_folder(self) -> Path:
        """Return the folder that was written to last, by default that of the user's documents."""
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        known = [Path(name) for name in (self._file.value("writing_folder", str), documents) if name]
        return next((folder for folder in known if os.path.isdir(folder)), Path.home())

    def set_writing_folder(self, folder: Path) -> None:
        """Remember the folder that was written to last."""
        self._set("writing_folder", str(folder.absolute()))

    def data_folder(self) -> Path:
        """Return the folder that sessions are saved to by themselves; it need not be there yet."""
        if self._elsewhere:
            return self._file.path.parent / "data"
        return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation))

    def sync(self) -> None:
        """Write to the disk what could not be written before."""
        self._file.write()

    def _names(self, key: str) -> list[str]:
        return [name for name in self._file.value(key, list) if isinstance(name, str)]

    def _set_newest(self, key: str, name: str, entry: dict[str, Any] | None) -> None:
        """Store an entry as the newest of a dictionary, which forgets the oldest ones; None removes it."""
        entries = {other: each for other, each in self._file.value(key, dict).items() if other != name}
        if entry is not None:
            entries[name] = entry
        self._set(key, dict(list(entries.items())[-MOST_REMEMBERED:]))

    def _set(self, name: str, value: object) -> None:
        self._file.change({name: value})


def _settings_of(values: object) -> Settings | None:
    try:
        return settings_from_dict(values) if isinstance(values, dict) else None
    except InputError:
        return None


def _base64(state: QByteArray) -> str:
    return bytes(state.toBase64().data()).decode("ascii")


def _from_base64(text: str) -> QByteArray:
    return QByteArray.fromBase64(text.encode("ascii", "replace"))


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
