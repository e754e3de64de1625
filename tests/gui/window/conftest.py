"""What several tests of the window share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nrsfm_gui.app import start_script
from nrsfm_gui.model.arguments import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PyQt6.QtWidgets import QApplication

    from nrsfm_gui.main_window import MainWindow


@pytest.fixture
def run_script(qapp: QApplication, make_window: Callable[..., MainWindow]) -> Iterator[Callable[..., int]]:
    """Do what a command line with --exit asks for in this process; return the exit code."""

    def run(*words: str) -> int:
        arguments, window = parse([*words, "--exit"]), make_window()
        window.begin(arguments)
        start_script(window, arguments)
        return qapp.exec()

    yield run
    qapp.setQuitOnLastWindowClosed(True)
