"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of real and Challenge-like data; the test is skipped where it is absent."""
    folder = Path(os.environ.get("NRSFM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent; set NRSFM_DATA to the folder that holds challenge_like/ and real/")
    return folder
