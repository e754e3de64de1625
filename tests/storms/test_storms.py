"""The storms at a few moments, and what they find where a program does not write as a whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
PATHS = f"{FOLDER}{os.pathsep}{FOLDER.parents[1]}"  # of this checkout, whatever is installed
ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": PATHS}

linux = pytest.mark.skipif(sys.platform != "linux", reason="the storms are for Linux")
pytestmark = [pytest.mark.slow, linux]


def python(*arguments):
    """Run Python in the folder of the storms; return the exit code and the rows of the table."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        env=ENVIRONMENT, cwd=FOLDER.parents[1], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, [line.strip("|").split("|") for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("name", "moments"), [("kills", 10), ("full-disk", 2), ("signals", 4)])
def test_a_storm_finds_nothing(name, moments):
    code, table = python(FOLDER / "storms.py", "--storm", name, "--moments", str(moments))
    title, count, *found = [cell.strip() for cell in table[-1]]
    assert (code, title, found) == (0, "all", ["0", "0", "0 otherwise wrong"]), table
    assert int(count) >= (14 if name == "full-disk" else moments)


PLANTED = """
import os, shutil, sys, tempfile
from pathlib import Path
from findings import render_rows
from kills import kill_while_writing
from writings import Exporting, written

def in_place(whole, path):
    with path.open("wb") as stream:
        stream.write(whole.read_bytes()[:100])
        stream.flush()
        os.listdir(path.parent)
        stream.write(whole.read_bytes()[100:])

def one_by_one(whole, path):
    shutil.copy(whole, path.parent / ".new")
    os.rename(path.parent / ".new", path)

def removed_before(whole, path):
    path.unlink()
    shutil.copy(whole, path)

class Careless(Exporting):
    def write(self, folder, version):
        for whole in sorted(self._whole[version].iterdir()):
            globals()[sys.argv[1]](whole, folder / whole.name)

with tempfile.TemporaryDirectory() as folder:
    (exporting,) = [each for each in written(Path(folder)) if each.name == sys.argv[2]]
    exporting.__class__ = Careless
    place = Path(folder, "kills")
    place.mkdir()
    print(render_rows([kill_while_writing(exporting, 20, 0, place)]))
"""


@pytest.mark.parametrize(
    ("how", "what", "column"),
    [
        ("in_place", "export of a page", "half-written"),
        ("one_by_one", "export of numbered frames", "half-written"),
        ("removed_before", "export of a page", "lost"),
    ],
)
def test_a_careless_program_is_found_out(how, what, column):
    code, (head, _line, row, _total) = python("-c", PLANTED, how, what)
    assert code == 0 and int(row[[cell.strip() for cell in head].index(column)]) > 0
