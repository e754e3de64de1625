"""Programs in processes of their own, which read and write nothing of whoever runs the tests."""

import os
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

ROOT = Path(__file__).parents[1]


def environment_of(folder, **variables):
    """Return the variables of a process that keeps its settings and data in a folder."""
    own = {
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
    }
    return os.environ | own | variables


def run_python(*words, **options):
    """Run Python with these words; return how it ended, and what it wrote."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
