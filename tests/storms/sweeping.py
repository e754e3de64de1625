"""A small sweep, what its folder must hold at every moment, and what it must hold in the end."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from findings import HalfWritten, Lost, Wrong
from processes import LONGEST, Child, Report
from writings import VERSIONS

import core.cli.sweep  # noqa: F401
from core import InputError, write_challenge
from core.cli import main
from core.experiments.job_store import RUNS, JobStore, read_lines
from core.experiments.sweep.frame import records_of
from core.experiments.sweep.rows import MEASURED_COLUMNS, read_sweep

SETTINGS = "--rotations truth --objective wnn --starts 1".split()


class Sweep:
    """`nrsfm sweep` of a small object, which several processes compute."""

    def __init__(self, folder: Path, *, seeds: int, jobs: int) -> None:
        self._data = folder / "data"
        write_challenge(self._data, "paper", paths=["line"], frames=10, points=16, seed=1)
        self._words = ["--set", "rank=2", "--seeds", f"0:{seeds}", *SETTINGS, "--jobs", str(jobs)]

    def words(self, output: Path) -> list[str]:
        return ["sweep", str(self._data), "-o", str(output), *self._words]

    def check(self, output: Path) -> set[str]:
        """Return which runs have a row, in a sweep that may have been killed at any moment."""
        keys = set()
        path = output / RUNS
        for line in read_lines(path) if path.exists() else ():
            if line.row is None:
                raise HalfWritten(f"the line at byte {line.start} of {path.name}")
            keys.add(line.row["key"])
        try:
            with JobStore(output) as store:
                damaged = [key for key in keys if not store.has_result(key)]
        except InputError as refusal:
            raise Wrong(str(refusal)) from refusal
        if damaged:
            raise HalfWritten(f"the arrays of {', '.join(damaged)}")
        return keys


class Sweeping:
    """Sweeps, one after the other, each in a folder of its own; one that was disturbed goes on."""

    name = "sweep"

    def __init__(self, folder: Path, *, seeds: int, jobs: int) -> None:
        self._sweep, self._log = Sweep(folder, seeds=seeds, jobs=jobs), folder / "sweep.log"
        self._go_on(folder / "whole")
        self._rows = rows_of(folder / "whole")

    def prepare(self, folder: Path) -> None:
        folder.mkdir()

    def write(self, folder: Path, _version: int) -> None:
        output = folder / f"{sum(1 for _ in folder.iterdir())}"
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            code = main(self._sweep.words(output))
        if code:
            lines = said.getvalue().splitlines()
            raise InputError("\n".join(line for line in lines if line.startswith("nrsfm sweep: ")))

    def versions_in(self, folder: Path) -> set[int]:
        """Compare all sweeps, when the last one has gone on to its end, with one that nothing disturbed."""
        outputs = sorted(filter(Path.is_dir, folder.iterdir()), key=lambda path: int(path.name))
        for output in outputs[-1:]:
            known = self._sweep.check(output)
            self._go_on(output)
            if lost := known - self._sweep.check(output):
                raise Lost(f"{len(lost)} of {len(known)} rows")
        for output in outputs:
            self._compare(output)
        return set(range(VERSIONS))

    def _go_on(self, output: Path) -> None:
        def run(report: Report) -> None:
            report(f"{main(self._sweep.words(output))}")

        code, lines, printed = Child(run, self._log).end(LONGEST)
        if code or lines != ["0"]:
            raise Wrong(f"the sweep ended with {lines or code}: {printed[-500:]}")

    def _compare(self, output: Path) -> None:
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
    rows = records_of(read_sweep(output).runs)
    return [{name: row[name] for name in row if name not in MEASURED_COLUMNS} for row in rows]
