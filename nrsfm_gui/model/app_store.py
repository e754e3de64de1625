"""What is stored between two starts: window geometry, docks, recent files, parameters of sequences, theme.

Everything is kept as plain text in a JSON file in the platform's place for settings; an entry that cannot be
read (of an older version, or edited by the user) counts as absent.
QSettings is not used: it restores any object that its file holds, and PyQt unpickles those of Python.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QByteArray, QLockFile, QStandardPaths

from core import InputError, Settings
from core.foundation import PROGRAM, replacing
from core.io.readers import ReadingOptions, check_file, named_path, parse_json, read_bytes
from core.reconstruction import settings_from_dict, settings_to_dict
from nrsfm_gui.model.preferences import Preferences, from_texts

ORGANIZATION = "nrsfm"
APPLICATION = PROGRAM
RECENT_FILES = 10
MOST_IMPORTS = 100  # files whose import is remembered
MOST_SEQUENCES = 100  # whose parameters are remembered
MOST_DIGITS = 5  # of the size of a dock in pixels
# Part of the keys of geometry and docks: raised when the set of docks changes, to drop an old layout.
LAYOUT_VERSION = 4
LAYOUT = tuple(f"layout{LAYOUT_VERSION}/{part}" for part in ("geometry", "docks", "sizes"))


MOST_BYTES = 16_000_000
LOCK_MILLISECONDS = 1000  # for which another window may write


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
        geometry, docks, sizes = (self._file.text(name) for name in LAYOUT)
        if not (geometry and docks):
            return None
        pairs = (each.partition("=") for each in sizes.split())
        known = {name: size for name, _, size in pairs if size.isdecimal() and len(size) <= MOST_DIGITS}
        return _from_base64(geometry), _from_base64(docks), {name: int(size) for name, size in known.items()}

    def set_layout(self, geometry: QByteArray, docks: QByteArray, sizes: Mapping[str, int]) -> None:
        """Remember geometry, dock state, and the sizes that a person gave to docks."""
        written = " ".join(f"{name}={size}" for name, size in sizes.items())
        self._file.change(dict(zip(LAYOUT, (_base64(geometry), _base64(docks), written), strict=True)))

    def sweep_geometry(self) -> QByteArray:
        """Return place and size of the window of a sweep, empty where it is new."""
        return _from_base64(self._file.text("sweep_geometry"))

    def set_sweep_geometry(self, geometry: QByteArray) -> None:
        """Remember place and size of the window of a sweep."""
        self._set("sweep_geometry", _base64(geometry))

    def forget_layout(self) -> None:
        """Drop geometry and dock state."""
        self.forget(LAYOUT)

    def recent(self) -> list[Path]:
        """Return the files and folders opened last, newest first, without those that are gone."""
        return self._paths("recent")

    def add_recent(self, path: Path) -> None:
        """Add a file or folder as the first of the recent ones."""
        self._add_path("recent", path)

    def clear_recent(self) -> None:
        """Forget the recent files."""
        self.forget(["recent"])

    def imported(self, path: Path) -> StoredImport | None:
        """Return how a file was imported the last time, None where it was not."""
        entry = self._dictionary("imports").get(str(path.absolute()))
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
        name = str(path.absolute())
        others = {key: value for key, value in self._dictionary("imports").items() if key != name}
        newest = dict(list(others.items())[-MOST_IMPORTS + 1 :])
        newest[name] = {**vars(how), "reading": dict(how.reading)}
        self._set("imports", json.dumps(newest))

    def recent_reports(self) -> list[Path]:
        """Return the reports opened last, newest first, without those that are gone."""
        return self._paths("reports")

    def add_recent_report(self, page: Path) -> None:
        """Add a report as the first of the recent ones."""
        self._add_path("reports", page)

    def parameters(self, content: str) -> Settings | None:
        """Return the parameters that a sequence had last, None where they were those of the preset."""
        return _settings_of(self._dictionary("sequences").get(content))

    def set_parameters(self, content: str, settings: Settings) -> None:
        """Remember the parameters of a sequence, unless they are those that every sequence begins with."""
        stored = {key: value for key, value in self._dictionary("sequences").items() if key != content}
        if settings != Settings():
            stored[content] = settings_to_dict(settings)
        self._set("sequences", json.dumps(dict(list(stored.items())[-MOST_SEQUENCES:])))

    def presets(self) -> dict[str, Settings]:
        """Return the parameters that a person named, by their names."""
        found = {name: _settings_of(values) for name, values in self._dictionary("presets").items()}
        return {name: settings for name, settings in found.items() if settings is not None}

    def set_presets(self, presets: Mapping[str, Settings]) -> None:
        """Remember the parameters that a person named."""
        self._set("presets", json.dumps({name: settings_to_dict(each) for name, each in presets.items()}))

    def open_sections(self) -> tuple[str, ...]:
        """Return the sections of the parameters that were open last."""
        return tuple(filter(None, self._file.text("open_sections").split(",")))

    def set_open_sections(self, names: Iterable[str]) -> None:
        """Remember which sections of the parameters are open."""
        self._set("open_sections", ",".join(names))

    def theme(self) -> str:
        """Return the name of the theme, "" where none was chosen."""
        return self._file.text("theme")

    def set_theme(self, name: str) -> None:
        """Remember the theme."""
        self._set("theme", name)

    def preferences(self) -> Preferences:
        """Return the preferences."""
        return from_texts(self._file.text)[0]

    def refused(self) -> tuple[str, ...]:
        """Return the names of what is stored but cannot be read, and counts as absent."""
        _preferences, names = from_texts(self._file.text)
        kinds = {"imports": dict, "sequences": dict, "presets": dict, "recent": list, "reports": list}
        return (
            *([self._file.path.name] if self._file.damaged else []),
            *names,
            *(key for key, kind in kinds.items() if not isinstance(self._json(key, kind()), kind)),
        )

    def forget(self, names: Iterable[str]) -> None:
        """Remove what `refused` has named."""
        self._file.change(dict.fromkeys(names))

    def set_preferences(self, preferences: Preferences) -> None:
        """Store the preferences."""
        self._file.change({name: str(value) for name, value in vars(preferences).items()})

    def offered_session(self) -> str:
        """Return the time of the unsaved session that was offered last, "" where there was none."""
        return self._file.text("offered_session")

    def set_offered_session(self, when: str) -> None:
        """Store the time of the unsaved session that was offered."""
        self._set("offered_session", when)

    def steps_done(self) -> frozenset[str]:
        """Return which of the first steps were done; all where they were dismissed."""
        return frozenset(self._file.text("steps_done").split())

    def set_steps_done(self, steps: frozenset[str]) -> None:
        """Remember which of the first steps were done."""
        self._set("steps_done", " ".join(sorted(steps)))

    def writing_folder(self) -> Path:
        """Return the folder that was written to last, by default that of the user's documents."""
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        known = [Path(name) for name in (self._file.text("writing_folder"), documents) if name]
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

    def _json(self, key: str, absent: object) -> Any:
        """Return the value of a JSON text, None where it is none."""
        text = self._file.text(key)
        try:
            return parse_json(text) if text else absent
        except InputError:
            return None

    def _dictionary(self, key: str) -> dict[str, Any]:
        entries = self._json(key, {})
        return entries if isinstance(entries, dict) else {}

    def _paths(self, key: str) -> list[Path]:
        names = self._json(key, [])
        if not isinstance(names, list):
            return []
        found = [name for name in names if isinstance(name, str)]
        # Another computer is asked for a file when that is opened: it may not answer for a minute.
        elsewhere = [name for name in found if named_path(name, self._file.path) is None]
        return [Path(name) for name in found if name in elsewhere or os.path.exists(name)]

    def _add_path(self, key: str, path: Path) -> None:
        path = path.absolute()
        others = [other for other in self._paths(key) if other != path]
        names = [str(other) for other in [path, *others][:RECENT_FILES]]
        self._set(key, json.dumps(names))

    def _set(self, name: str, text: str) -> None:
        self._file.change({name: text})


def _settings_of(values: object) -> Settings | None:
    """Return settings from the values that are stored of them, None where they cannot be read."""
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
    """Texts by their names. Several windows can have the same file; a change by one is seen by the others."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._texts: dict[str, str] = {}  # those of the file
        self._unwritten: dict[str, str | None] = {}  # None where a text is removed
        self._version: tuple[int, ...] = ()  # of the file whose texts these are
        self._damaged = False

    @property
    def damaged(self) -> bool:
        """Whether there is a file that cannot be read: no text of it is known."""
        self._follow()
        return self._damaged

    def text(self, name: str) -> str:
        """Return a text, "" where there is none."""
        if name in self._unwritten:
            return self._unwritten[name] or ""
        self._follow()
        return self._texts.get(name, "")

    def change(self, changes: Mapping[str, str | None]) -> None:
        """Store texts, and remove those that are None."""
        self._unwritten |= changes
        self.write()

    def write(self) -> None:
        """Write the file where its texts have changed; nobody but its owner may read it."""
        with suppress(OSError, InputError):  # texts that cannot be written are those of this process
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = QLockFile(f"{self.path}.lock")
            lock.tryLock(LOCK_MILLISECONDS)  # released when it is deleted
            self._follow()
            if self._damaged and self.path.is_file():  # somebody may have written it by hand
                os.replace(self.path, f"{self.path}.damaged")
            texts = {name: text for name, text in (self._texts | self._unwritten).items() if text is not None}
            if texts != self._texts:
                with replacing(self.path, private=True) as temporary:
                    temporary.write_text(json.dumps(texts, indent=1), encoding="utf-8")
            self._unwritten.clear()

    def _follow(self) -> None:
        """Read the file where it is another one than that which was read."""
        version: tuple[int, ...] = ()
        with suppress(OSError):
            found = os.stat(self.path)
            version = (found.st_ino, found.st_size, found.st_mtime_ns)
        if version == self._version:
            return
        self._version, self._texts, self._damaged = version, {}, False
        if version:
            try:
                self._texts = _texts_of(self.path)
            except InputError:
                self._damaged = True


def _texts_of(path: Path) -> dict[str, str]:
    size = check_file(path)
    if size > MOST_BYTES:
        raise InputError(f"{path}: has {size} bytes; accepted are up to {MOST_BYTES}")
    values = parse_json(read_bytes(path))
    if not isinstance(values, dict):
        raise InputError(f"{path}: is no JSON object")
    return {name: text for name, text in values.items() if isinstance(text, str)}
