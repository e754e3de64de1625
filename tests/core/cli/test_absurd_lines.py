"""Command lines that make no sense: every one ends with a sentence, and nothing that was there is changed.

Each is a line that works, with one to three words replaced, added, repeated or removed. `--lines 1500` tries
more of them than the quick test.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rendering import render

from core import simulate, write_csv, write_npz
from core.cli import COMMANDS, main
from core.cli.command_line import CheckedParser
from core.foundation import printable

SECONDS = 20  # after which a line is stopped as by Ctrl-C: that it runs long is no error
QUICK = "--rank 2 --rotations truth --objective wnn --iterates 2"

# Lines that end soon; of those that would run long, the folder is a file.
LINES = {
    "info": ["info tracks.npz", "info tracks.csv --json", "info folder"],
    "track": ["track video.mp4 --points 9 --quiet -o out.npz"],
    "simulate": ["simulate paper --path line --camera orthogonal --frames 5 --points 15 -o out"],
    "solve": [
        f"solve tracks.npz {QUICK} -o out.npz",
        f"solve folder/paper --path line {QUICK} -o out.ply --history out.csv --json",
        "solve tracks.csv --rank 2 --iterates 2 --camera perspective -o a.mat --then=--eta=0.1",
    ],
    "guide": ["guide tracks.npz --rank 2 --rotations truth --folds 1 --over eta --values 0.1"],
    "evaluate": ["evaluate result.npz --json", "evaluate result.npz --align sequence --truth truth.npz"],
    "export": ["export result.npz -o out.ply --all-frames", "export result.npz -o out.glb --fps 25"],
    "formats": ["formats"],
    "sweep": [
        "sweep tracks.npz --set rank=2,3 xi=log:1e-3:1:3 --seeds 0:2 --jobs 1 --timeout 1 -o text.txt",
        "sweep swept --table mean_mm --by rank --markdown",
    ],
    "reproduce": ["reproduce table1 --data folder --jobs 1 --seconds 0.1 -o text.txt"],
    "benchmark": [
        "benchmark --sizes 8x15 --rank 2 --methods bilinear --seconds 0.1 -o text.txt",
        "benchmark --growth --seconds 0.1 -o text.txt",
    ],
}  # fmt: skip
LONG = ("sweep", "reproduce", "benchmark")

NUMBERS = [
    "0", "-1", "1", "2", "-0.0", "0.5", 20 * "9", "-" + 20 * "9", "9223372036854775807", "nan", "-nan",
    "inf", "-inf", "1e150", "-1e150", "1e400", "5e-324", "1e-150", "0x10", "1_000", "1,5", "１２", "٣", "½",
    "1e", "+7",
]  # fmt: skip
TEXTS = [
    "", " ", "-", "--", "---", "=", ",", ",,,", ":", ";", "'", '"', "a=", "=b", "a=b", "1:2:3", "1/0",
    "0/0", "1:0", "log:1:2:0", "lin:0:1:1e9", "log:-1:1:3", "[1", "none", "None", "true", "~", "~none", "*",
    "%s", "%(prog)s", "{}", "{0.__class__}", "$HOME", "`id`", "@text.txt", "3-17=85mm", "size=nanmm",
    "1-1=0mm", "1x1", "0x0", "99999999999x1", "1,2,3,4", "nan,nan,nan,nan", "3:2", "1:999999999999",
    "--rank 2", "--rank", "--then '--rank 2'", "'", "rank=2", "rank=", "rank=2,", "rank=two",
    "xi=log:0:1:5", "frame=a,point=b",
]  # fmt: skip
UNPRINTABLE = [
    "\n", "\t", "\r", "\x00", "\x07", "\x1b[2J", "\x1b]0;title\x07", "\x7f", "\x85", "\x9b31m", "\u2028",
    "\u202e", "\u2066", "\u200b", "\u200d", "a\u200db", "\u00ad", "\ufeff", "\ufffe", "\udcff",
    "\udcff\udcfe.npz", "\ud800", "\U000e0001", "\U0010ffff", "e\u0301", "å", "日本", "مرحبا", "🧑‍🚀",
    "🧑", "a\nb\nc\nd\ne\nf",
]  # fmt: skip
PATHS = [
    "absent", "absent.npz", "absent/a.npz", "text.txt", "empty.npz", "folder", "folder/paper", "pipe",
    "pipe.npz", "/dev/null", "/dev/zero", "loop.npz", "dangling.npz", ".", "..", "/", "//",
    "/proc/self/mem", "tracks.npz", "tracks.csv", "result.npz", "truth.npz", "video.mp4",
    "swept", "sample:", "sample:absent", "sample:../..", "sample:balloon/circle", "out.npz", "out.ply",
    "out.csv", "out.png", "out.stl", "out.", ".npz", "tracks.npz/a", "~/absent.npz", 300 * "a",
    300 * "a/" + "a.npz", 5000 * "é",
]  # fmt: skip
VALUES = [NUMBERS, TEXTS, UNPRINTABLE, PATHS]
NO_FOLDERS = ["text.txt", "tracks.npz", "pipe", "/dev/null", "text.txt/a", "loop.npz", "", 300 * "a", "\x00"]


@cache
def options_of(command: str) -> list[argparse.Action]:
    """Return the options of a command."""
    parser = CheckedParser()
    import_module(f"core.cli.{command}").add_arguments(parser)
    return [action for action in parser._actions if action.option_strings]


def absurd_line(number: int) -> list[str]:
    """Return the words of one of the lines, always the same for a number."""
    choose = random.Random(number)
    command = list(COMMANDS)[number % len(COMMANDS)]
    words = choose.choice(LINES[command]).split()
    for _ in range(choose.choice((1, 1, 2, 3))):
        change = choose.choice((_with_option, _with_option, _with_option, _with_word, _without_word))
        if words:
            change(words, command, choose)
    return words


def _value(choose: random.Random, kind: Any = None) -> str:
    """Return a value, mostly one that suits an option of a kind."""
    suited = {int: NUMBERS, float: NUMBERS, Path: PATHS}.get(kind)
    value = choose.choice(suited if suited and choose.random() < 0.6 else choose.choice(VALUES))
    if choose.random() < 0.1:
        value += choose.choice(choose.choice(VALUES))
    return value


def _with_option(words: list[str], command: str, choose: random.Random) -> None:
    """Give an option, mostly one of the command, mostly with a value."""
    whose = command if choose.random() < 0.9 else choose.choice(list(COMMANDS))
    action = choose.choice(options_of(whose))
    flag = choose.choice(action.option_strings)
    listed = action.choices and choose.random() < 0.3
    value = str(choose.choice(list(action.choices))) if listed else _value(choose)
    if command in LONG and "--output" in action.option_strings:
        value = choose.choice(NO_FOLDERS)
    given = [] if action.nargs == 0 and choose.random() < 0.8 else [value]
    joined = given and choose.random() < 0.5
    place = choose.randint(min(1, len(words)), len(words))
    words[place:place] = [f"{flag}={value}"] if joined else [flag, *given]


def _with_word(words: list[str], command: str, choose: random.Random) -> None:
    """Replace a word."""
    place = choose.randrange(len(words))
    if not (command in LONG and words[place - 1] == "-o"):
        words[place] = _value(choose)


def _without_word(words: list[str], command: str, choose: random.Random) -> None:
    """Remove a word, or give one twice."""
    place = choose.randrange(len(words))
    if choose.random() < 0.3:
        words.insert(place, words[place])
    elif not (command in LONG and words[place] in ("-o", "text.txt")):
        del words[place]


@pytest.fixture(scope="module")
def inputs(folder, solved, tmp_path_factory):
    """A folder with the files that the lines name."""
    made = tmp_path_factory.mktemp("absurd")
    sequence = simulate("paper", frames=8, points=18)
    write_npz(sequence, made / "tracks.npz")
    write_csv(sequence, made / "tracks.csv")
    np.savez(made / "truth.npz", S=np.random.default_rng(0).normal(size=(14, 3, 24)))
    render("paper", frames=5, size=(96, 72)).write(made / "video.mp4")
    shutil.copytree(folder, made / "folder" / "paper")
    shutil.copy(solved, made / "result.npz")
    (made / "text.txt").write_text("not a number\n")
    (made / "empty.npz").touch()
    (made / "swept").mkdir()
    (made / "loop.npz").symlink_to("loop.npz")
    (made / "dangling.npz").symlink_to("absent/target.npz")
    return made


def problem_of(words: list[str], capsys) -> str:
    """Run a line, and return what is wrong with how it ends; "" where nothing is."""
    rung = []

    def ring(_number, _frame):
        rung.append(None)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        code = main(words)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    printed, said = capsys.readouterr()
    if rung:
        return "" if code == 130 else f"code {code} after Ctrl-C: {said!r}"
    if code not in (0, 2):
        return f"code {code}: {said!r}"
    if code == 2 and not said.startswith("nrsfm"):
        return f"no sentence: {said!r}"
    if said.count("\n") > 4 or len(said) > 1000:
        return f"{len(said)} characters in {said.count(chr(10))} lines: {said[:300]!r}"
    for text in (printed, said):
        bad = {c for c in text if c != "\n" and printable(c) != c}
        if bad:
            return f"prints {bad}: {text[:300]!r}"
    return ""


@pytest.fixture
def place(inputs, tmp_path, monkeypatch):
    """Make the folder of inputs anew, and work in it."""
    made = tmp_path / "place"

    def make() -> Path:
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(inputs, made, symlinks=True, copy_function=os.link)
        for pipe in ("pipe", "pipe.npz"):
            os.mkfifo(made / pipe)
        monkeypatch.chdir(made)
        return made

    return make


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for name in LINES if name not in LONG for line in LINES[name]])
def test_the_lines_work_as_they_are(line, place, capsys):
    place()
    assert main(line.split()) == 0, capsys.readouterr().err


@pytest.mark.slow
def test_an_absurd_line_ends_with_a_sentence(place, capsys, pytestconfig):
    found = {}
    for number in range(pytestconfig.getoption("lines")):
        place()
        words = absurd_line(number)
        problem = problem_of(words, capsys)
        if problem:
            found[number] = f"{words}\n    {problem}"
    assert not found, "\n".join(f"{number}: {text}" for number, text in found.items())
