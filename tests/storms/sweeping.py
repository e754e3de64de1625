"""A small sweep, what its folder must hold at every moment, and what it must hold in the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from findings import HalfWritten, Lost, Wrong
from processes import Child, FileOperations, Report

import core.cli.sweep  # noqa: F401
from core import InputError, write_challenge
from core.cli import main
from core.experiments.job_store import RUNS, JobStore, read_lines
from core.experiments.sweep.frame import records_of
from core.experiments.sweep.rows import MEASURED_COLUMNS, read_sweep

LONGEST = 600.0  # seconds
SETTINGS = "--rotations truth --objective wnn --starts 1".split()


class Sweep:
    """`nrsfm sweep` of a small object, which several processes compute."""

    def __init__(self, folder: Path, *, seeds: int, jobs: int, finish: bool = True) -> None:
        self.data = folder / "data"
        write_challenge(self.data, "paper", paths=["line"], frames=10, points=16, seed=1)
        self._words = ["--set", "rank=2", "--seeds", f"0:{seeds}", *SETTINGS, "--jobs", str(jobs)]
        self.seconds, self.operations, self._rows = 0.0, 0, []
        if finish:
            self._finish(folder)

    def _finish(self, folder: Path) -> None:
        whole, log = folder / "whole", folder / "whole.log"
        began = time.monotonic()
        _, lines, printed = self.start(whole, log).end(LONGEST)
        self.seconds = time.monotonic() - began
        if len(lines) < 2 or lines[-1].split()[0] != "0":
            raise RuntimeError(f"the sweep ended with {lines}:\n{printed}")
        self.operations = int(lines[-1].split()[1])
        self._rows = rows_of(whole)

    def words(self, output: Path) -> list[str]:
        return ["sweep", str(self.data), "-o", str(output), *self._words]

    def start(
        self, output: Path, log: Path, *, killed_at: int = 0, first: Callable[[], object] = lambda: None
    ) -> Child:
        """Return a process that runs the command, and reports its exit code and its file operations."""

        def run(report: Report) -> None:
            report("begun")
            first()
            operations = FileOperations(killed_at)
            code = main(self.words(output))
            report(f"{code} {operations.count}")

        return Child(run, log)

    def check(self, output: Path, known: set[str]) -> set[str]:
        """Return which runs have a row, in a sweep that may have been killed at any moment."""
        keys = set()
        path = output / RUNS
        for line in read_lines(path) if path.exists() else ():
            if line.row is None:
                raise HalfWritten(f"the line at byte {line.start} of {path.name}")
            keys.add(line.row["key"])
        if known - keys:
            raise Lost(f"{len(known - keys)} of {len(known)} rows")
        try:
            with JobStore(output) as store:
                damaged = [key for key in keys if not store.has_result(key)]
        except InputError as refusal:
            raise Wrong(str(refusal)) from refusal
        if damaged:
            raise HalfWritten(f"the arrays of {', '.join(damaged)}")
        return keys

    def check_finished(self, output: Path) -> None:
        """Compare a sweep that has ended with the one that nothing disturbed."""
        rows = rows_of(output)
        if len(rows) < len(self._rows):
            raise Lost(f"{len(self._rows) - len(rows)} of {len(self._rows)} runs")
        if rows != self._rows:
            raise Wrong("the table is not that of the sweep that nothing disturbed")
        left = [path.name for path in output.rglob(".nrsfm-*")]
        if left:
            raise Wrong(f"temporary files are left: {', '.join(left)}")


def rows_of(output: Path) -> list[dict[str, Any]]:
    """Return the rows of a sweep without what is measured anew by every run."""
    return [
        {name: value for name, value in row.items() if name not in MEASURED_COLUMNS}
        for row in records_of(read_sweep(output).runs)
    ]
