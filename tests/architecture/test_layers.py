"""What says that it needs no Qt needs none, and nothing uses what another module keeps to itself."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WINDOW = sorted((ROOT / "nrsfm_gui").rglob("*.py"))
VIEWS = [path for path in WINDOW if "widgets" in path.parts]
QT = ("PyQt6", "pyqtgraph", "OpenGL")


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path):
    """Return (line, module or name in it) of everything that a file imports, for types only, too."""
    package = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            found += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return found


@pytest.mark.slow
def test_modules_that_state_no_qt_load_none():
    said = [name_of(path) for path in WINDOW if "no qt" in (ast.get_docstring(tree_of(path)) or "").lower()]
    assert len(said) > 20
    program = f"""
import importlib, sys
for name in {said}:
    importlib.import_module(name)
    found = {set(QT)} & sys.modules.keys()
    assert not found, (name, found)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_nothing_reaches_into_what_another_module_keeps_to_itself():
    wrong = []
    for path in WINDOW:
        where = path.relative_to(ROOT)
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Attribute) or node.attr.startswith("__"):
                continue
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "os")
            if node.attr.startswith("_") and not own:
                wrong.append(f"{where}:{node.lineno} {ast.unparse(node)}")
        for line, name in imported(path):
            part = name.split(".")[-1]
            if part.startswith("_") and not part.startswith("__"):
                wrong.append(f"{where}:{line} {name}")
    assert not wrong


def test_a_controller_is_tested_without_the_window():
    """Only tests of the window, of its docks and of the help that they have make a window."""
    tests = ROOT / "tests" / "gui"
    about_docks = {tests / "shell" / "test_help.py", tests / "shell" / "test_layout.py"}
    wrong = []
    for path in sorted(tests.rglob("*.py")):
        if path.parent in (tests, tests / "window") or path in about_docks:
            continue
        tree = tree_of(path)
        names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        if "make_window" in names or any("main_window" in name for _line, name in imported(path)):
            wrong.append(str(path.relative_to(ROOT)))
    assert not wrong


ROOMS = {
    f"core.{'.'.join(path.parent.relative_to(ROOT / 'core').parts)}"
    for path in (ROOT / "core").rglob("__init__.py")
    if path.parent != ROOT / "core"
}
# The modules of the experiments are imported where they are used: each needs other packages.
EXPERIMENTS = {
    f"core.{'.'.join(path.relative_to(ROOT / 'core').with_suffix('').parts)}"
    for path in (ROOT / "core" / "experiments").rglob("*.py")
}


def core_modules(path):
    """Return (line, module) of everything that a file imports from core, for types only, too."""
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append((node.lineno, node.module))
    return [(line, name) for line, name in found if name.split(".")[0] == "core"]


def test_the_window_imports_core_by_its_rooms_alone():
    used = [(path, line, name) for path in WINDOW for line, name in core_modules(path)]
    assert len(used) > 100
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, line, name in used
        if name != "core" and name not in ROOMS | EXPERIMENTS
    ]
    assert not wrong


def test_names_that_the_window_imports_from_core_are_public():
    wrong = []
    for path in WINDOW:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module.split(".")[0] == "core":
                names = [alias.name for alias in node.names]
                if node.module in EXPERIMENTS:
                    names = [name for name in names if name.startswith("_")]
                else:
                    module = importlib.import_module(node.module)
                    names = [name for name in names if name not in getattr(module, "__all__", vars(module))]
                wrong += [f"{path.relative_to(ROOT)}:{node.lineno} {node.module}.{name}" for name in names]
    assert not wrong
