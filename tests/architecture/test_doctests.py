"""The examples in docstrings print what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "core").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_a_module_print_what_they_say(name):
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried > 0 and failed == 0
