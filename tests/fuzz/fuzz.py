"""Damage files of every kind that the program reads, read them, and report what is no sentence.

    python tests/fuzz/fuzz.py --inputs 10000
    python tests/fuzz/fuzz.py --seed 7 --reader session --input 12

What an input is follows from the words of the second line alone. Exits with 1 where there are findings; they
are in out/fuzz, one file for each cause, with a text that says what it is.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from mutation import mutated  # noqa: E402
from readers import READERS  # noqa: E402
from seeds import Seed, make_seeds  # noqa: E402
from workers import Case, Outcome, Workers  # noqa: E402

from core.foundation.processes import processor_count  # noqa: E402

Cases = Iterator[tuple[str, str, Case]]


@dataclass
class Finding:
    """Inputs that ended in the same way at the same place."""

    reader: str
    name: str  # of the first input, as the command has it
    case: Case
    outcome: Outcome
    count: int = 1

    def write(self, folder: Path) -> Path:
        """Write the damaged file and what is known of it; return the file."""
        words = "".join(c if c.isalnum() else "_" for c in f"{self.reader} {self.outcome.cause}")[:100]
        path = folder / f"{words}{self.case.changed.suffix}"
        path.write_bytes(self.case.content)
        lines = (
            f"cause: {self.outcome.cause}",
            f"inputs: {self.count}, the first is {self.name}",
            f"in place of: {self.case.changed.name} of {self.case.path.name}",
            f"options: {' '.join(self.case.options)}",
            f"seconds: {self.outcome.seconds:.2f}, MB: {self.outcome.memory:.0f}",
            "",
            self.outcome.sentence,
        )
        path.with_name(f"{path.name}.txt").write_text("\n".join(lines), errors="backslashreplace")
        return path


class Report:
    """The outcomes of all inputs, by reader and by cause."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, float, float]] = []
        self.findings: dict[tuple[str, str], Finding] = {}

    def add(self, reader: str, name: str, case: Case, outcome: Outcome) -> None:
        """Count an input, and keep the first of each cause."""
        kind = "findings" if outcome.is_finding else outcome.kind
        self._rows.append((reader, kind, outcome.seconds, outcome.memory))
        if outcome.is_finding:
            known = self.findings.setdefault((reader, outcome.cause), Finding(reader, name, case, outcome, 0))
            known.count += 1

    @property
    def count(self) -> int:
        """The number of inputs."""
        return len(self._rows)

    def table(self) -> str:
        """Return the counts by reader as lines."""
        rows = pd.DataFrame(self._rows, columns=["reader", "kind", "seconds", "memory"])
        readers, kinds = rows.groupby("reader", sort=False), ("read", "refused", "findings")
        counts = {kind: (rows["kind"] == kind).groupby(rows["reader"], sort=False).sum() for kind in kinds}
        of_all = {"CPU s": readers["seconds"].sum().round(1), "slowest": readers["seconds"].max().round(2)}
        table = pd.DataFrame({"inputs": readers.size(), **counts, **of_all})
        table["MB"] = readers["memory"].max().round().astype(int)
        return table.rename_axis(None).to_string()


def make_case(seeds: dict[str, list[Seed]], seed: int, reader: str, number: int) -> Case:
    """Return one of the inputs of a reader.

    `seeds`: of `make_seeds`; `seed`: of the run; `reader`: a key of `READERS`; `number`: of the input.
    Returns the same for the same numbers.
    """
    random, own = Random(f"{seed} {reader} {number}"), seeds[reader]
    chosen, other = own[number % len(own)], random.choice(own)
    content = mutated(chosen.changed.read_bytes(), random, other.changed.read_bytes())
    return Case(READERS[reader].read, chosen.path, chosen.changed, content, chosen.options)


def planned(inputs: int, chosen: list[str]) -> Iterator[tuple[str, int]]:
    """Yield which inputs a run has: each reader its share, spread over the run."""
    total = sum(READERS[name].share for name in chosen)
    counts = {name: max(round(inputs * READERS[name].share / total), 1) for name in chosen}
    places = (((n + 0.5) / count, name, n) for name, count in counts.items() for n in range(count))
    yield from ((name, number) for _, name, number in sorted(places))


def damaged_cases(seeds: dict[str, list[Seed]], seed: int, plan: Iterator[tuple[str, int]]) -> Cases:
    """Yield the inputs of a plan, each with its reader and its name."""
    for reader, number in plan:
        name = f"--seed {seed} --reader '{reader}' --input {number}"
        yield reader, name, make_case(seeds, seed, reader, number)


def run(cases: Cases, workers: Workers, count: int) -> Report:
    """Read all inputs, as many as `count` at a time, and return what became of them."""
    report, lock = Report(), threading.Lock()

    def read() -> None:
        while True:
            with lock:
                following = next(cases, None)
            if following is None:
                return
            reader, name, case = following
            outcome = workers.run(case)
            with lock:
                report.add(reader, name, case, outcome)

    with ThreadPoolExecutor(count) as threads:
        for ended in [threads.submit(read) for _ in range(count)]:
            ended.result()
    return report


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table, write the findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="how many damaged files are read")
    parser.add_argument("--seed", type=int, default=0, help="another number damages other things")
    parser.add_argument("--reader", choices=list(READERS), help="only what this reads")
    parser.add_argument("--input", type=int, help="only this one of the reader's inputs; its end is printed")
    parser.add_argument("--workers", type=int, default=processor_count(), help="processes that read")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "fuzz", help="for findings")
    args = parser.parse_args(arguments)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="nrsfm-fuzz-seeds-") as folder, Workers() as workers:
        seeds = make_seeds(Path(folder) / "seeds")
        chosen = [args.reader] if args.reader else list(READERS)
        plan = planned(args.inputs, chosen) if args.input is None else iter([(chosen[0], args.input)])
        cases = damaged_cases(seeds, args.seed, plan)
        report = run(cases, workers, args.workers if args.input is None else 1)
        print(report.table())
        failed = sum(finding.count for finding in report.findings.values())
        passed, seconds = report.count - failed, time.monotonic() - start
        print(f"{passed} inputs passed, {failed} failed in {seconds:.0f} s")
        if not report.findings:
            return 0
        shutil.rmtree(args.output, ignore_errors=True)
        args.output.mkdir(parents=True)
        for finding in sorted(report.findings.values(), key=lambda each: -each.count):
            path = finding.write(args.output)
            print(f"{finding.reader}: {finding.outcome.cause}: {finding.count} inputs, {finding.name}")
            print(f"  {path}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
