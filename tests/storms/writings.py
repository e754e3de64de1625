"""What is written while a storm rages: sessions, automatic copies of them, exports of results.

Of each there are several versions, numbered from 0, the first of which is there before. In a process of its
own they are written one after the other, over and over, and what is found afterwards must be the last that
was written, or the one after it, as a whole.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path

from findings import HalfWritten, Lost
from PyQt6.QtCore import QCoreApplication, QEventLoop

from core import InputError, Settings, iterate, reconstruct, save_result, simulate
from core.cli import main
from core.io.readers import read_bytes
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.model.run import Run, RunState
from nrsfm_gui.model.session import OpenSequence
from nrsfm_gui.sessions.autosave import CLOSED, Autosave, closed_sessions
from nrsfm_gui.sessions.recovery import lost_sessions
from nrsfm_gui.sessions.session_file import SavedSession, read_session, write_session

Writing = "SessionSaving | Autosaving | Exporting | Sweeping"

VERSIONS = 4
QUICK = Settings(rank=2, starts=2, rotations="truth", objective="wnn")


def written(folder: Path, *, frames: int = 12, points: int = 30) -> tuple[Writing, ...]:
    """Return everything that is written; what it needs is made in a folder."""
    sequences = [simulate("paper", frames=frames, points=points, seed=seed) for seed in range(VERSIONS)]
    results = []
    for version, sequence in enumerate(sequences):
        results.append(folder / f"result-{version}.npz")
        save_result(reconstruct(sequence, QUICK), results[-1])
    run = Run(1, sequences[0], QUICK, state=RunState.FINISHED)
    for step in iterate(sequences[0], QUICK):
        run.history.extend([step.record])
        run.last = step
    sessions = [
        SavedSession((OpenSequence(sequences[0], QUICK, [replace(run, title=f"{version}")]),))
        for version in range(VERSIONS)
    ]
    return (
        SessionSaving(sessions, folder),
        Autosaving(sessions, folder),
        Exporting("export of a result", results, "a.npz", [], folder),
        Exporting("export of numbered frames", results, "a.ply", ["--all-frames"], folder),
        Exporting("export of a series of meshes", results, "a.pvd", [], folder),
        Exporting("export of a page", results, "a.html", [], folder),
    )


class SessionSaving:
    name = "save of a session"

    def __init__(self, sessions: Sequence[SavedSession], folder: Path) -> None:
        self._sessions = sessions
        self._first = write_session(sessions[0], folder / "first.nrsfm")

    def prepare(self, folder: Path) -> None:
        folder.mkdir()
        shutil.copy(self._first, folder / "my.nrsfm")

    def write(self, folder: Path, version: int) -> None:
        write_session(self._sessions[version], folder / "my.nrsfm")

    def versions_in(self, folder: Path) -> set[int]:
        return {version_of(folder / "my.nrsfm")}


def version_of(path: Path) -> int:
    if not path.exists():
        raise Lost(f"{path.name} is not there")
    try:
        saved = read_session(path)
    except InputError as refusal:
        raise HalfWritten(str(refusal)) from refusal
    (entry,) = saved.sequences
    return int(entry.runs[0].title)


class Autosaving:
    """A window that saves by itself; with every third version, another session is opened in it."""

    name = "autosave"

    def __init__(self, sessions: Sequence[SavedSession], folder: Path) -> None:
        self._sessions = sessions
        self._first = write_session(sessions[0], folder / "closed.nrsfm")
        self._version = 0
        self._refusals: list[str] = []
        self._autosave: Autosave | None = None  # of the process that writes

    def prepare(self, folder: Path) -> None:
        folder.mkdir()
        shutil.copy(self._first, folder / f"{CLOSED}0.nrsfm")

    def write(self, folder: Path, version: int) -> None:
        self._version = version
        if self._autosave is None:
            self._begin(folder)
        self._autosave.schedule_save()
        self._loop.exec()
        if not self._refusals and version % 3 == 2:
            self._autosave.begin_session(None, keep=True)
            self._autosave.forget()  # which waits until the last session is written
            self._app.processEvents()
        if self._refusals:
            raise InputError(self._refusals.pop())

    def _begin(self, folder: Path) -> None:
        self._app = QCoreApplication([])
        self._loop = QEventLoop()
        notifier = Notifier(self._app)
        saved = self._sessions.__getitem__
        self._autosave = Autosave(folder, lambda: saved(self._version), lambda: 0.001, notifier, self._app)
        self._autosave.saved.connect(self._loop.quit)
        notifier.failed.connect(self._refuse)
        self._autosave.not_kept.connect(self._refuse)

    def _refuse(self, *refused: object) -> None:
        self._refusals.append(" ".join(each for each in refused if isinstance(each, str)))
        self._loop.quit()

    def versions_in(self, folder: Path) -> set[int]:
        """Read the sessions that the next window offers, and the one that was closed last."""
        offered = lost_sessions(folder)
        for lost in offered:
            lost.release()
        return {version_of(path) for path in (*closed_sessions(folder)[:1], *(lost.path for lost in offered))}


class Exporting:
    """A result in another format, written by `nrsfm export`."""

    def __init__(self, name: str, results: Sequence[Path], file: str, words: list[str], folder: Path) -> None:
        self.name = name
        self._results, self._file, self._words = results, file, words
        self._whole = [folder / f"{name.split()[-1]}-{version}" for version in range(len(results))]
        for version, reference in enumerate(self._whole):
            reference.mkdir()
            self.write(reference, version)
        self._prints = [fingerprints(reference) for reference in self._whole]

    def prepare(self, folder: Path) -> None:
        shutil.copytree(self._whole[0], folder)

    def write(self, folder: Path, version: int) -> None:
        words = ["export", str(self._results[version]), *self._words, "-o", str(folder / self._file)]
        with redirect_stderr(io.StringIO()) as said:
            if main(words):
                raise InputError(said.getvalue())

    def versions_in(self, folder: Path) -> set[int]:
        """Compare all files with those of the versions."""
        found = fingerprints(folder)
        for version, expected in enumerate(self._prints):
            if found == expected:
                return {version}
        missing = set(self._prints[0]) - set(found)
        known = {(name, each) for expected in self._prints for name, each in expected.items()}
        damaged = [name for name, each in found.items() if (name, each) not in known]
        if missing and not damaged:
            raise Lost(f"{', '.join(sorted(missing))} of {self._file} are not there")
        raise HalfWritten(f"damaged: {', '.join(damaged)}" if damaged else "files of several versions")


def fingerprints(folder: Path) -> dict[str, str]:
    """Return a hash of the content of every file that can be seen; of an archive, without its times."""
    found = {}
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):
            try:
                found[path.name] = hashlib.sha256(_content(path)).hexdigest()
            except (InputError, zipfile.BadZipFile) as error:
                found[path.name] = str(error)
    return found


def _content(path: Path) -> bytes:
    content = read_bytes(path)
    if path.suffix != ".npz":
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"".join(name.encode() + archive.read(name) for name in archive.namelist())
