"""Every sentence that a reader refuses a file with is short, in all tests of this folder."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from core import InputError
from core.foundation import processes
from core.foundation.processes import ProcessPool
from core.io.files import sandbox

WIDTH, MOST_LINES = 110, 4


def lines_of(sentence: str) -> list[str]:
    """Return a sentence as a terminal shows it, without the folders of the files that it names."""
    return textwrap.wrap(re.sub(r"/\S*/", "", sentence), WIDTH)


@pytest.fixture
def sandboxed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read files in a process with limits, as the program does."""
    pool = ProcessPool()
    monkeypatch.setattr(sandbox, "_processes", lambda: pool)
    for limit in (processes.limit_memory, processes.limit_processor, processes.lift_limits):
        monkeypatch.setattr(sandbox, limit.__name__, limit)
    yield
    pool.close()


@pytest.fixture(autouse=True)
def sentences(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the sentence of every refusal of a test, and count its lines at the end."""
    collected: list[str] = []

    def collect(error: InputError, *arguments: Any) -> None:
        collected.append(" ".join(map(str, arguments)))

    monkeypatch.setattr(InputError, "__init__", collect)
    yield collected
    too_long = [sentence for sentence in collected if len(lines_of(sentence)) > MOST_LINES]
    assert not too_long
