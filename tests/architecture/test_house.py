"""The measures of the house hold, and a breach of each kind is caught, imports for types included."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from house import ROOT, House, circles

TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
# By a part of the sentence that names it: a module, and what is written below it.
BREACHES = {
    "core.data.connectivity, core.data.triangulation: these modules": (
        "core/data/triangulation.py",
        f"{TYPES}from .connectivity import Connectivity\n",
    ),
    "these folders import each other in a circle": (
        "core/data/hidden.py",
        f"{TYPES}from ..cameras.calibration import project\n",
    ),
    "core/data/alone.py: has 1 lines, and only core.data.masks imports it": (
        "core/data/masks.py",
        "from .alone import ALONE\n",
    ),
    "core/data/unused.py: no module imports it": ("core/data/unused.py", "UNUSED = 1\n"),
    "core/data/masks.py: has": ("core/data/masks.py", "\n" * 900),
    "nrsfm_gui/main_window.py: has": ("nrsfm_gui/main_window.py", "\n" * 200),
}


@pytest.fixture
def copy(tmp_path):
    """A copy of both packages and of their measures."""
    for package in ("core", "nrsfm_gui"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_measures_are_kept():
    assert House(ROOT).breaches() == []


def test_a_breach_of_each_measure_is_caught(copy):
    (copy / "core/data/alone.py").write_text("ALONE = 1\n", encoding="utf-8")
    for path, text in BREACHES.values():
        with Path(copy / path).open("a", encoding="utf-8") as file:
            file.write(text)
    for number in range(24):
        (copy / f"nrsfm_gui/engine/more_{number}.py").write_text("MORE = 1\n", encoding="utf-8")
    found = House(copy).breaches()
    for part in (*BREACHES, "nrsfm_gui/engine: has"):
        assert any(part in sentence for sentence in found), (part, found)


def test_a_circle_is_a_group_in_which_all_reach_each_other():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set(), "f": {"f"}}
    assert circles(graph) == [["a", "b", "c"], ["f"]]
