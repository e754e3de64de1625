"""Who may import whom: the contracts of pyproject.toml hold, and a breach of any of them is caught."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="import-linter is not installed")

ROOT = Path(__file__).parents[2]
# By the contract that each of them breaks: a module, and what it would import. Imports for types count, too.
BREACHES = {
    "The application: who may import whom": (
        "nrsfm_gui/model/session.py",
        "if TYPE_CHECKING:\n    from nrsfm_gui.main_window import MainWindow\n",
    ),
    "Widgets do not know the session": (
        "nrsfm_gui/widgets/labels.py",
        "from nrsfm_gui.model.session import Session\n",
    ),
    "No panel imports another": (
        "nrsfm_gui/panels/sequences/sequence_tree.py",
        "from nrsfm_gui.panels.loss.loss_plot import LossPlot\n",
    ),
    "The solver: who may import whom": (
        "core/foundation/linalg.py",
        "from ..reconstruction.settings import Settings\n",
    ),
    "The solver needs no window": ("core/solvers/solver.py", "from PyQt6.QtCore import QObject\n"),
}


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of the packages in a folder."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    environment = {**os.environ, "PYTHONPATH": str(root), "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=root, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def copy(tmp_path):
    """A copy of both packages and of the contracts."""
    for package in ("core", "nrsfm_gui"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_hold():
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"{name} KEPT" in done.stdout for name in BREACHES), done.stdout


@pytest.mark.slow
def test_a_breach_of_each_contract_is_caught(copy):
    for path, line in BREACHES.values():
        with (copy / path).open("a", encoding="utf-8") as file:
            file.write(line)
    done = lint_imports(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    for name, (path, _line) in BREACHES.items():
        assert f"{name} BROKEN" in done.stdout
        assert path.removesuffix(".py").replace("/", ".") in done.stdout


def test_nothing_but_the_application_names_the_main_window():
    allowed = {"app.py", "main_window.py"}
    modules = [path for path in (ROOT / "nrsfm_gui").rglob("*.py") if path.name not in allowed]
    assert len(modules) > 150
    named = [path for path in modules if "MainWindow" in path.read_text("utf-8").replace("QMainWindow", "")]
    assert not named
