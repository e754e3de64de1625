"""Run the tests several times, each time in another order, and print what each run came to.

    python tests/benchmarks/random_order.py --runs 20 --busy 2

An order is that of a seed, and `pytest --order-seed SEED` runs it again. What pytest prints is in
out/random_order.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "out" / "random_order"
COUNT = re.compile(r"(\d+) (passed|failed|errors?)\b")
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - .*)?$", re.MULTILINE)
BUSY = [sys.executable, "-c", "while True: pass"]


def main() -> int:
    """Return 1 where a run did not pass."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each later one has the next")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests")
    parser.add_argument("--busy", type=int, default=0, help="processes that compute all the while")
    parser.add_argument("tests", nargs="*", help="which, as pytest names them; by default all")
    arguments = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    print(f"{'run':>4} {'seed':>6} {'passed':>7} {'failed':>7} {'wall s':>7} {'CPU s':>7}", flush=True)
    good = 0
    for run in range(arguments.runs):
        seed = arguments.seed + run
        load = [subprocess.Popen(BUSY) for _ in range(arguments.busy)]
        began, used = time.monotonic(), _cpu_seconds()
        try:
            code, text = _run_tests(seed, arguments.workers, arguments.tests)
            wall, cpu = time.monotonic() - began, _cpu_seconds() - used
        finally:
            for process in load:
                process.kill()
                process.wait()
        counts = {kind.rstrip("s"): int(number) for number, kind in COUNT.findall(text.rpartition("\n")[2])}
        failed = counts.get("failed", 0) + counts.get("error", 0)
        row = f"{run + 1:4} {seed:6} {counts.get('passed', 0):7} {failed:7} {wall:7.0f} {cpu:7.0f}"
        print(row if code == 0 or failed else f"{row}  pytest ended with code {code}", flush=True)
        for name in FAILURE.findall(text):
            print(f"       {name}", flush=True)
        good += code == 0
    print(f"{good} of {arguments.runs} runs passed")
    return int(good < arguments.runs)


def _run_tests(seed: int, workers: int, tests: list[str]) -> tuple[int, str]:
    """Return exit code and output of pytest; the files go to the workers in the order of the seed, too."""
    words = ["-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow",
        "--order-seed",
        str(seed),
        *words,
        *tests,
    ]
    environment = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
    log = LOGS / f"{seed}.log"
    with log.open("w") as output:
        done = subprocess.run(
            command, cwd=ROOT, env=environment | {"OPENBLAS_NUM_THREADS": "1"}, stdout=output, stderr=output
        )
    return done.returncode, log.read_text(errors="replace").rstrip()


def _cpu_seconds() -> float:
    """Return the CPU time of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
