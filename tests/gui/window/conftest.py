"""What several tests of the window share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nrsfm_gui.model.arguments import parse
from nrsfm_gui.scripted_run import ScriptedRun

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
        script = ScriptedRun(
            arguments,
            window.session,
            window.run_control,
            window.sequence_opening,
            window.parameters_controller,
            window.export_controller,
            window.session_saver,
            display=window.display,
            window=window,
        )
        script.start()
        return qapp.exec()

    yield run
    qapp.setQuitOnLastWindowClosed(True)
