"""Automatic saving of the session: some time after a change, at the end of each run, when the window closes.

Every process writes one file of its own, next to a lock that ends with the process. So a file whose lock is
free belongs to a process that ended without closing its window, and is offered at the next start of the
application. A session that was closed without being saved is kept: the file of its process is written once
more, and renamed. Wherever that fails, the file stays. No such session replaces another one; of those that
nobody has opened again the newest MOST_CLOSED are kept, and the menu of recent files lists them.
"""

from __future__ import annotations

import math
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from PyQt6.QtCore import QLockFile, QObject, QTimer, pyqtSignal

from core import InputError
from core.foundation import make_folder
from nrsfm_gui.engine.jobs import Job, Jobs
from nrsfm_gui.model.notifier import Notifier
from nrsfm_gui.sessions.session_file import SUFFIX, SavedSession, write_session

Mark = tuple[int, int]  # of a file: what differs where it was replaced
MARK = ".opened"  # suffix of an empty file beside a session: it is being opened
PREFIX = "autosave-"  # of the file of a process
CLOSED = "closed-"  # of the file of a session that was closed without being saved
MOST_CLOSED = 5


class LockedFile:
    """A session file of a process, next to a lock that ends with the process."""

    def __init__(self, path: Path) -> None:
        self.path, self.mark = path, path.with_suffix(MARK)
        self._lock = QLockFile(str(path.with_suffix(".lock")))
        self._lock.setStaleLockTime(0)  # a lock is stale only when its process has ended, whatever its age

    def lock(self) -> bool:
        """Acquire the lock, unless another process has it; return whether it is held."""
        return self._lock.tryLock(0)

    def write(self, saved: SavedSession) -> None:
        """Write a session; the user chose neither the place nor the content, so nobody else may read it."""
        self.lock_first()
        write_session(saved, self.path, private=True)

    def lock_first(self) -> None:
        """Acquire the lock before the file exists, so that no other process treats the file as lost."""
        if self._lock.isLocked() and os.path.exists(self._lock.fileName()):
            return
        make_folder(self.path.parent)
        if self._lock.isLocked():  # somebody has removed the folder with all that is in it
            with suppress(OSError):
                self.path.with_suffix(".lock").touch()  # Qt warns where there is nothing to remove
            self.release()
        if not self.lock():
            raise InputError(f"no file can be made in {self.path.parent}")

    def release(self) -> None:
        """Release the lock: a file that is there is offered at the next start."""
        self._lock.unlock()

    def remove(self) -> None:
        """Delete the file and its mark, not the lock; in a folder that cannot be written they stay."""
        for file in (self.path, self.mark):
            with suppress(OSError):
                file.unlink()

    def describe_rest(self) -> str:
        """Return a sentence about what is left of a session that could not be written elsewhere."""
        try:
            when = time_text(self.path.stat().st_mtime)
        except OSError:
            return "Nothing of the session is saved"
        return f"The session as it was at {when} is kept in {self.path}, and offered at the next start"


class Autosave(QObject):
    """Writes the session in the background."""

    saved = pyqtSignal()  # the session is in the file of this process
    # A session that was left and not kept, why, and the traceback of a defect.
    not_kept = pyqtSignal(object, str, str)

    def __init__(
        self,
        folder: Path,
        snapshot: Callable[[], SavedSession | None],
        seconds: Callable[[], float],
        notifier: Notifier,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._folder, self._snapshot, self._seconds = folder, snapshot, seconds
        self._notifier = notifier
        self.own = _new_file(folder)  # of this process; locked with the first saving
        self._failing = self._over = False
        self._changes = self._written = 0  # of the open session; how many of them are in a file
        self._jobs = Jobs(self)
        self._jobs.ended.connect(self._wait)
        self._timer = QTimer(self)  # no Throttle: its interval is a preference, and 0 is never
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.save)

    def schedule_save(self, most: float = math.inf) -> None:
        """Save the change after the time of the preferences, or so many milliseconds."""
        self._changes += 1
        self._wait(most)

    def _wait(self, most: float = math.inf) -> None:
        """Save what is not saved after the time of the preferences, or so many milliseconds."""
        if self._written == self._changes or self._over or 0 <= self._timer.remainingTime() <= most:
            return
        wait = min(1000 * self._seconds(), most)
        if wait > 0:
            self._timer.start(round(wait))

    def save(self) -> None:
        """Save now, in the background, where something has changed."""
        if self._jobs or self._written == self._changes or self._over:
            return
        self._timer.stop()
        saved, changes = self._snapshot(), self._changes
        if saved is not None:
            self._jobs.start(
                Job(lambda _job: self._write_own(saved, changes), done=self._on_saved, failed=self._on_failed)
            )

    def begin_session(self, path: Path | None, *, keep: bool) -> bool:
        """Leave the open session for another one; with `keep`, the one that is left is kept as a closed one.

        `path`: a file of the folder to use as that of this process, protected by its lock, so that a session
        that is opened again always has a file. None where there is none.
        """
        saved = self._snapshot() if keep else None
        self._stop()  # what is being written is of the session before
        left, self.own = self.own, _new_file(self._folder)
        adopted = path is not None and self._adopt(path)
        if saved is None:
            left.remove()
            left.release()
        else:
            self._jobs.start(
                Job(
                    lambda _job: self._keep(saved, left),
                    failed=lambda why, details: self.not_kept.emit(saved, why, details),
                )
            )
        return adopted

    def _adopt(self, path: Path) -> bool:
        try:
            self.own.lock_first()
            path.replace(self.own.path)
        except (InputError, OSError):
            return False
        return True

    def forget(self) -> None:
        """Delete the file of this process: its content is saved elsewhere, or not needed."""
        self._stop()
        self.own.remove()

    @property
    def up_to_date(self) -> bool:
        """Whether the file of this process holds every change of the open session."""
        return self.own.path.is_file() and self._written == self._changes

    def keep(self) -> None:
        """Keep the open session as a closed one, in this thread; a failure leaves its own file."""
        self._jobs.wait()
        saved, changes = self._snapshot(), self._changes
        if saved is not None:
            self._write_own(saved, changes)
            self._close(self.own)

    def shut_down(self, *, discard: bool) -> None:
        """Stop; the file of this process stays without `discard`, and is offered at the next start."""
        if self._over:
            return
        self._stop()
        self._over = True
        if discard:
            self.own.remove()
        self.own.release()

    def _stop(self) -> None:
        """End what is being written, and wait for no time: all that there is needs no saving."""
        self._timer.stop()
        self._jobs.wait()
        self._written = self._changes

    def _keep(self, saved: SavedSession, left: LockedFile) -> None:
        """Keep a session that was left as a closed one."""
        try:
            left.write(saved)
            self._close(left)
        except (InputError, OSError) as error:
            raise InputError(f"{InputError.of(error)}. {left.describe_rest()}") from error
        finally:
            left.release()

    def _close(self, own: LockedFile) -> None:
        """Rename a file of this process to that of a closed session, and delete the oldest of those."""
        others = closed_sessions(self._folder)
        own.path.replace(own.path.with_name(own.path.name.replace(PREFIX, CLOSED, 1)))
        for path in others[MOST_CLOSED - 1 :]:
            with suppress(OSError):  # another window has deleted or opened it
                path.unlink()

    def _write_own(self, saved: SavedSession, changes: int) -> None:
        self.own.write(saved)
        self._written = changes

    def _on_saved(self, _value: object) -> None:
        if self._failing:
            self._failing = False
            self._notifier.inform("The session is saved by itself again.")
        self.saved.emit()

    def _on_failed(self, sentence: str, details: str) -> None:
        if not self._failing:  # it is tried again
            self._failing = True
            refusal = f"The session is not saved by itself at the moment: {sentence.rstrip('.')}."
            self._notifier.fail(refusal, details)


def _new_file(folder: Path) -> LockedFile:
    return LockedFile(folder / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}")


def closed_sessions(folder: Path) -> list[Path]:
    """Return the sessions that were closed without being saved, the newest first."""
    found = ((mark_of(path), path) for path in folder.glob(f"{CLOSED}*{SUFFIX}"))
    times = {path: mark[1] for mark, path in found if mark is not None}
    return sorted(times, key=lambda path: times[path], reverse=True)


def time_text(seconds: float) -> str:
    """Return a time in seconds since 1970 as text: "18:32 today"."""
    when = datetime.fromtimestamp(seconds)
    return f"{when:%H:%M} today" if when.date() == datetime.now().date() else f"{when:%H:%M on %d %B %Y}"


def mark_of(path: Path) -> Mark | None:
    """Return what differs where a file was replaced, None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
