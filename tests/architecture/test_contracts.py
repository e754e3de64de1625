"""Who may import whom: the contracts of pyproject.toml hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="import-linter is not installed")

ROOT = Path(__file__).parents[2]


@pytest.mark.slow  # `make lint` checks it, too
def test_the_contracts_hold():
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_but_the_application_names_the_main_window():
    allowed = {"app.py", "main_window.py"}
    modules = [path for path in (ROOT / "nrsfm_gui").rglob("*.py") if path.name not in allowed]
    assert len(modules) > 150
    named = [path for path in modules if "MainWindow" in path.read_text("utf-8").replace("QMainWindow", "")]
    assert not named
