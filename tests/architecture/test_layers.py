"""What says that it needs no Qt needs none, and nothing uses what another room keeps to itself."""

import importlib
import re

import pytest
from programs import run_python
from sources import ROOT, WINDOW, imports_of, name_of

QT = ("PyQt6", "pyqtgraph", "OpenGL")
ROOMS = {"core", *(name_of(path) for path in (ROOT / "core").rglob("__init__.py"))}
# The modules of the experiments are imported where they are used: each needs other packages.
EXPERIMENTS = {name_of(path) for path in (ROOT / "core" / "experiments").rglob("*.py")}


@pytest.mark.slow
def test_modules_that_state_no_qt_load_none():
    states = re.compile(r'""".*?no qt.*?"""', re.IGNORECASE | re.DOTALL)
    said = [name_of(path) for path in WINDOW if states.match(path.read_text("utf-8"))]
    assert len(said) > 20
    program = f"""
import importlib, sys
for name in {said}:
    importlib.import_module(name)
    found = {set(QT)} & sys.modules.keys()
    assert not found, (name, found)
"""
    done = run_python("-c", program, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_a_controller_is_tested_without_the_window():
    """Only tests of the window, of its docks and of the help that they have make a window."""
    tests = ROOT / "tests" / "gui"
    about_docks = {tests / "shell" / "test_help.py", tests / "shell" / "test_layout.py"}
    made = re.compile(r"\bmake_(shared_)?window\b")
    others = [path for path in tests.rglob("*.py") if path.parent not in (tests, tests / "window")]
    assert not [path for path in others if path not in about_docks and made.search(path.read_text("utf-8"))]


def test_the_window_imports_public_names_of_core_by_its_rooms_alone():
    used = [(path, *found) for path in WINDOW for found in imports_of(path)]
    used = [each for each in used if each[1].split(".")[0] == "core"]
    assert len(used) > 100
    wrong = []
    for path, module, name, line in used:
        public = not name.startswith("_")
        if module not in EXPERIMENTS and name:
            package = vars(importlib.import_module(module))
            public = module in ROOMS and name in package.get("__all__", package)
        if module not in ROOMS | EXPERIMENTS or not public:
            wrong.append(f"{path.relative_to(ROOT)}:{line} {module}.{name}")
    assert not wrong
