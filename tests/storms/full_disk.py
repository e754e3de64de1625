"""A disk that is full at each write in turn: with room for no page of memory, for one, for two, and so on.

The disk is a tmpfs of its own, in a namespace that ends with the storm. Where none can be mounted, no file
may become larger than so many pages (RLIMIT_FSIZE).
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

from findings import StormRow, Wrong
from kills import LONGEST, check_whole
from processes import Child, Report
from writings import Writing

from core import InputError

PAGE = resource.getpagesize()
DISK_BYTES = 32 << 20
MOST_LINES = 4  # of what is said
VERSION = 2  # that is written; with it, what saves by itself writes a session that was left, too
NAMESPACE = "NRSFM_STORMS_NAMESPACE"  # environment variable of a process that may mount what only it sees


def in_namespace(arguments: list[str]) -> int | None:
    """Run a script again where it may mount a disk that only it sees; return its exit code."""
    words = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if NAMESPACE in os.environ or shutil.which("unshare") is None:
        return None
    mount = [*words, "mount", "-t", "tmpfs", "none", "/mnt"]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return None
    command = [*words, sys.executable, sys.argv[0], *arguments]
    return subprocess.run(command, env=os.environ | {NAMESPACE: "1"}, check=False).returncode


class SmallDisk:
    """A folder in which little can be written; a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"
        self._mounted = NAMESPACE in os.environ

    def __enter__(self) -> SmallDisk:
        if self._mounted:
            options = f"size={DISK_BYTES}"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(self.folder)], check=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._mounted:
            subprocess.run(["umount", str(self.folder)], check=True)

    @property
    def least(self) -> int:
        """How many pages it has at least: where all files are limited, so is that of what is printed."""
        return 0 if self._mounted else 1

    @property
    def kind(self) -> str:
        return "a tmpfs" if self._mounted else "RLIMIT_FSIZE"

    def fill(self, pages: int) -> None:
        if self._mounted:
            with self._ballast.open("wb") as stream:
                found = os.statvfs(self.folder)
                os.posix_fallocate(stream.fileno(), 0, found.f_bavail * found.f_frsize - pages * PAGE)

    def limit(self, pages: int) -> None:
        """Keep the files of this process from becoming larger, where the disk itself is large."""
        if not self._mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (pages * PAGE, resource.RLIM_INFINITY))

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)


def fill_while_writing(writing: Writing, moments: int, disk: SmallDisk, logs: Path) -> StormRow:
    """Write a version over version 0 where there is room for more and more pages, until it is written."""
    row = StormRow(f"full disk: {writing.name}", notes=[f"{disk.kind}, pages of {PAGE} bytes"])
    for pages in range(disk.least, disk.least + moments):
        folder, done = disk.folder / f"{writing.name}-{pages}", False

        def write(report: Report, folder: Path = folder, pages: int = pages) -> None:
            disk.limit(pages)
            try:
                writing.write(folder, VERSION)
            except InputError as refusal:
                report(" / ".join(str(refusal).splitlines()))
            else:
                report("written")

        with row.noting(f"room for {pages} pages"):
            writing.prepare(folder)
            disk.fill(pages)
            code, lines, printed = Child(write, logs / f"{folder.name}.log").end(LONGEST)
            disk.free()
            check_end(code, printed)
            done = lines == ["written"]
            if not done:
                check_said("".join(lines))
            check_whole(writing, folder, {VERSION if done else 0})
        disk.free()
        shutil.rmtree(folder, ignore_errors=True)
        if done:
            row.notes.append(f"there is room for all with {pages} pages")
            break
    return row


def check_end(code: int, printed: str) -> None:
    if code or "Traceback" in printed:
        raise Wrong(f"it ended with {code}: {printed[-500:]}")


def check_said(sentence: str) -> None:
    if not sentence or len(sentence.split(" / ")) > MOST_LINES:
        raise Wrong(f"what is said is {sentence!r}")
