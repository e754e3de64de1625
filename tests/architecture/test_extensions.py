"""A package of somebody else adds a penalty, a solver, a reader, a writer and a metric, each by one line.

It is written here, imported by a program of its own, and used from the command line and in the window.
"""

import ast
import json
import os
import sys
from pathlib import Path

import pytest
from programs import run_python

from core import load_result, simulate, write_csv

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
SCRATCH = '''
from dataclasses import replace

import core
import numpy as np
from core import METHODS, METRICS, PENALTIES, WRITERS
from core.io.readers import READERS, Reader
from core.io.writers import Writer
from core.solvers import Method


def read(file, options):
    """Read a table of tracks without its first line."""
    table = file.path.with_suffix(".csv")
    table.write_bytes(file.content.split(b"\\n", 1)[1])
    return replace(core.read_sequence(table), source=file.path.absolute())


def write(result, path, options):
    """Write the points of the first frame, one a line."""
    np.savetxt(path, result.points[0].T)
    return [path]


def longest_edge(result):
    """longest edge of the first frame"""
    return float(np.linalg.norm(np.ptp(result.points[0], axis=1)))


PENALTIES["geometric"] = GeometricWeights
METHODS["alternating"] = Method("Alternating", "alternating least squares", Alternating)
READERS[".scratch"] = Reader(".scratch", "Tracks of scratch", read)
WRITERS[".xyz"] = Writer(".xyz", "Points as text", write, "shapes")
METRICS["longest_edge"] = longest_edge
'''


def definitions(name):
    """Return the imports and classes of an example script."""
    nodes = ast.parse((EXAMPLES / f"{name}.py").read_text()).body
    kept = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef)]
    return ast.unparse(ast.Module(kept, []))


@pytest.fixture
def folder(tmp_path):
    """A folder with the package, and tracks that only its reader can read."""
    texts = definitions("own_penalty"), definitions("own_solver"), SCRATCH
    (tmp_path / "scratch.py").write_text("\n".join(texts))
    write_csv(simulate("balloon", frames=10, points=16, seed=2), tmp_path / "tracks.csv")
    (tmp_path / "tracks.scratch").write_text("scratch 1\n" + (tmp_path / "tracks.csv").read_text())
    (tmp_path / "tracks.csv").unlink()
    return tmp_path


def run(folder, program, *words):
    found = {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path[1:]]), "XDG_CONFIG_HOME": str(folder)}
    done = run_python("-W", "error", "-c", program, *words, cwd=folder, env=os.environ | found)
    assert done.returncode == 0, done.stderr
    return done.stdout


IN_COMMANDS = "import sys, scratch; from core.cli import main; sys.exit(main(sys.argv[1:]))"
OPTIONS = (
    *("--method", "alternating", "--penalty", "geometric", "--mu", "0.002", "--ratio", "4", "--rank", "3"),
    *("--camera", "perspective", "--intrinsics", "1400,1400,640,480", "--rotations", "tracks"),
)


@pytest.mark.slow
def test_the_command_line_uses_what_a_package_registers(folder):
    said = run(
        folder, IN_COMMANDS, "solve", "tracks.scratch", *OPTIONS, "--json", "--quiet",
        "-o", "a.npz", "-o", "a.xyz",
    )  # fmt: skip
    assert len((folder / "a.xyz").read_text().splitlines()) == 16
    meta = load_result(folder / "a.npz").meta
    assert meta["method"] == "alternating"
    assert meta["settings"]["penalty"] == {"kind": "geometric", "mu": 0.002, "ratio": 4.0}
    assert "--penalty geometric --mu 0.002 --ratio 4.0" in meta["command"]
    measured = json.loads(said)["errors"]["longest_edge"]
    assert measured > 0
    said = run(folder, IN_COMMANDS, "evaluate", "a.npz")
    assert f"{measured:.5g}" in said and "longest edge of the first frame" in said
    assert "geometric weights" in " ".join(run(folder, IN_COMMANDS, "solve", "--help-all").split())


IN_FOLDER = """
import sys, scratch
from core import InputError, list_sequences
from nrsfm_gui.sessions.opening import file_filters
print(*(entry.file.name for entry in list_sequences(sys.argv[1])))
print("*.scratch *.nrsfm" in file_filters(), "Tracks of scratch (*.scratch)" in file_filters())
try:
    list_sequences(sys.argv[2])
except InputError as error:
    print(error)
"""


def test_a_folder_lists_the_files_of_a_registered_reader(folder):
    (folder / "empty").mkdir()
    listed, filters, refusal = run(folder, IN_FOLDER, str(folder), str(folder / "empty")).splitlines()
    assert listed == "tracks.scratch"
    assert filters == "True True"
    assert " or .scratch files, up to two levels deep" in refusal


IN_WINDOW = """
import sys, scratch
from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QComboBox
from nrsfm_gui.main_window import MainWindow

begin = MainWindow.begin

def looked_at(window, arguments):
    begin(window, arguments)
    shown = {box.itemText(k) for box in window.findChildren(QComboBox) for k in range(box.count())}
    print("geometric weights" in " ".join(shown).lower(), "Alternating" in shown)

MainWindow.begin = looked_at
from nrsfm_gui.app import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_the_window_uses_what_a_package_registers(folder):
    solve = [word for word in OPTIONS if word not in ("--camera", "perspective")]
    said = run(
        folder, IN_WINDOW, "tracks.scratch", *solve, "--renderer", "software",
        "--run", "--export", "b.npz", "--export", "b.xyz", "--exit",
    )  # fmt: skip
    assert said == "True True\n"
    assert len((folder / "b.xyz").read_text().splitlines()) == 16
    result = load_result(folder / "b.npz")
    assert result.meta["settings"]["penalty"]["kind"] == "geometric"
    assert result.meta["method"] == "alternating"
