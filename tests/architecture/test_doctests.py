"""The examples in docstrings print what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import core

ROOT = Path(__file__).resolve().parents[2]
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "core").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module", autouse=True)
def solved_once():
    """Let examples that begin with the same reconstruction share it."""
    solve, solved = core.reconstruct, {}

    def reconstruct(sequence, settings=None, **options):
        key = sequence.content, settings, str(sorted(options.items()))
        if "start" in options or key not in solved:
            solved[key] = solve(sequence, settings, **options)
        return solved[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "reconstruct", reconstruct)
        yield


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_a_module_print_what_they_say(name):
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried > 0 and failed == 0
