from __future__ import annotations

import pytest
from sharing import called_by_tests

from core import write_challenge


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A balloon along two paths, by both cameras."""
    root = tmp_path_factory.mktemp("objects")
    write_challenge(root, "balloon", paths=("circle", "zigzag"), frames=9, points=16, seed=3)
    return root


@called_by_tests
def cells(text: str, heading: str) -> list[list[str]]:
    """Return the rows of the first Markdown table below a heading."""
    part = text.split(heading, 1)[1].split("\n## ", 1)[0]
    table = "|" + part.split("\n|", 1)[1].split("\n\n", 1)[0]
    lines = [line[2:-2].split(" | ") for line in table.splitlines()]
    return [[cell.strip("* ").replace("−", "-") for cell in line] for line in lines]
