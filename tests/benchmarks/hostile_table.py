"""What becomes of every file that once broke the program: a Markdown table of sentences, seconds and memory.

    python tests/benchmarks/hostile_table.py > hostile_table.md

Each command is a process of its own. Seconds of the processor and peak of the memory are those of it and of
the processes that it starts, with all that a start needs. Sessions, settings, and the results and sequences
that only the window broke at are opened in the window, which is drawn on no display. Exits with 1 where a
command ends in anything but a sentence of at most four lines, or needs more than it may.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

from frame import DATA, Table, parser

ROOT = Path(__file__).resolve().parents[2]
SECONDS, MEGABYTES = 5.0, 2000.0  # that a command may need
WALL_SECONDS = 120.0  # after which it is ended
MOST_LINES, WIDTH = 4, 110
READ, BAD = "(read)", " **not as it should be**"
NRSFM, WINDOW = [sys.executable, "-m", "core"], [sys.executable, "-m", "nrsfm_gui"]
CONFIGURATION = Path("nrsfm", "nrsfm-gui.json")  # where the window has its settings, below XDG_CONFIG_HOME
VIDEO_SUFFIXES = (".avi", ".gif", ".mkv", ".mov", ".mp4", ".mpg", ".webm", ".y4m")
SAMPLE = "sample:balloon/circle"
READ_BY = {  # the words before a file, by how its name begins, and what is written
    "cams_": (f"solve {SAMPLE} --rotations", "result.npz"),
    "result_start_": (f"solve {SAMPLE} --start", "result.npz"),
    "result_export_": ("export", "shape.ply"),
    "result_": ("evaluate", ""),
    "store_": (f"solve {SAMPLE} --intrinsics", "result.npz"),
}


def commands(path: Path, folder: Path) -> Iterator[list[str]]:
    """Yield the commands that read a file, by its name and suffix; what they write is put into the folder."""
    name, shown = path.name, [*WINDOW, str(path), "--exit"]
    if path.suffix == ".ini":
        yield [*WINDOW, "--exit"]
    elif path.suffix == ".nrsfm" or name.startswith("window_"):
        yield shown
    else:
        otherwise = ("track", "tracks.npz") if path.suffix in VIDEO_SUFFIXES else ("info", "")
        words, written = next((READ_BY[each] for each in READ_BY if name.startswith(each)), otherwise)
        yield [*NRSFM, *words.split(), str(path), *(["-o", str(folder / written)] if written else [])]
    if path.is_dir():
        yield [*NRSFM, "solve", str(path), "--max-iterations", "3", "-o", str(folder / "result.npz")]
    if name.startswith("result_open_"):
        yield shown


def run(command: list[str], settings: Path | None, folder: Path) -> tuple[str, str, float, float]:
    """Run a command to its end, or to the end of its time; return it, its sentence, seconds and MB."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen", "OPENBLAS_NUM_THREADS": "1",
        **{f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE")},
    }  # fmt: skip
    if settings is not None:
        place = folder / "config" / CONFIGURATION
        place.parent.mkdir(parents=True)
        shutil.copyfile(settings, place)
    with (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        end = time.monotonic() + WALL_SECONDS
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.05)
    _, status, used = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    said = (folder / "errors").read_text(errors="backslashreplace").strip()
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6
    few = process.returncode == 0 or len(textwrap.wrap(re.sub(r"/\S*/", "", said), WIDTH)) <= MOST_LINES
    fine = process.returncode in (0, 2) and "Traceback" not in said and said.count("\n") < MOST_LINES and few
    fine = fine and seconds < SECONDS and megabytes < MEGABYTES and said.replace("\n", " ").isprintable()
    sentence = READ if process.returncode == 0 else said or f"(exit code {process.returncode})"
    words = [Path(word).name if word.startswith("/") else word for word in command[3:]]
    program = "nrsfm" if command[2] == "core" else "nrsfm-gui"
    return f"`{' '.join([program, *words])}`", sentence + BAD * (not fine), seconds, megabytes


def main() -> int:
    """Print a row for every file and command."""
    arguments = parser(__doc__)
    arguments.add_argument("files", nargs="*", type=Path, help="instead of those of $NRSFM_DATA/hostile")
    files = arguments.parse_args().files or [
        path for path in sorted((DATA / "hostile").iterdir()) if path.name != "README.md"
    ]
    table = Table("file", "command", "sentence", "CPU s :.2f", "peak MB :.0f")
    for path in files:
        with tempfile.TemporaryDirectory() as folder:
            for number, command in enumerate(commands(path, Path(folder))):
                place = Path(folder, str(number))
                place.mkdir()
                program, said, *used = run(command, path if path.suffix == ".ini" else None, place)
                sentence = said.replace(f"{path.parent}/", "").replace("|", "\\|").replace("\n", " ")
                table.row(path.name, program, sentence, *used)
    _, _, sentences, seconds, megabytes = zip(*table.rows, strict=True)
    bad = sum(each.endswith(BAD) for each in sentences)
    print(f"\n{len(files)} files, {len(table.rows)} commands, {bad} not as they should be;")
    print(f"at most {max(seconds):.2f} s of the processor and {max(megabytes):.0f} MB.")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
