"""Files whose names are bytes that are no UTF-8: opened, shown, saved in sessions, exported beside."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QGuiApplication
from PyQt6.QtWidgets import QLabel, QTreeWidget

from core import Settings, load_result, simulate
from nrsfm_gui.export.export_request import MovieOptions
from nrsfm_gui.model.app_store import AppStore
from nrsfm_gui.sessions.session_file import read_session

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="names are text there")]
QUICK = Settings(rank=2, starts=1, objective="wnn", max_iterations=20)
MOVIE = MovieOptions(width=64, height=64, last=1)


def named(folder, end):
    """Return the path of a name that begins with a byte of no text, a tag and an ampersand."""
    return Path(os.fsdecode(os.fsencode(folder) + b"/\xff<b>&" + end.encode()))


@pytest.fixture
def opened(open_and_solve, tmp_path, drop):
    """A window with a run of a file with such a name, and the file."""
    path, sequence = named(tmp_path, "tracks.npz"), simulate("balloon", frames=6, points=16, seed=3)
    with open(path, "wb") as stream:
        np.savez(stream, tracks=sequence.tracks, K=sequence.intrinsics)
    return open_and_solve(QUICK, lambda window: drop(window, path)), path


def test_it_is_opened_and_shown_with_escapes(qtbot, opened, store):
    window, path = opened
    assert window.session.sequence.source == path
    assert window.windowTitle().startswith(r"\udcff<b>&tracks (perspective)")
    window.toolbars.fill_menus()
    (action,) = (action for action in window.findChildren(QAction) if action.data() == str(path))
    assert action.text().endswith(r"\udcff<b>&&tracks.npz") and r"\udcff&lt;b&gt;" in action.toolTip()
    with qtbot.waitSignal(window.sequence_opening.shown):
        action.trigger()
    shown = [label.text() for label in window.findChildren(QLabel)]
    for tree in window.findChildren(QTreeWidget):
        found = tree.findItems("", Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive)
        shown += [item.text(column) for item in found for column in range(tree.columnCount())]
    assert any(r"\udcff<b>&tracks" in text for text in shown)
    assert not any("\udcff" in text for text in (*shown, window.logbook.text()))
    store.sync()
    assert AppStore(store.file.path).recent() == [path]


def test_everything_is_written_beside_it(qtbot, opened, tmp_path):
    window, path = opened
    exporting, failures = window.export_controller, []
    window.session.notifier.failed.connect(failures.append)
    for end in ("result.npz", "result.mat", "table.csv", "shape.ply", "mesh.glb", "page.html"):
        exporting.save_result(named(tmp_path, end))
    exporting.save_view(named(tmp_path, "view.png"))
    exporting.save_figure("loss", named(tmp_path, "loss.pdf"))
    exporting.save_report(named(tmp_path, "report.html"))
    exporting.save_movie(named(tmp_path, "movie.png"), MOVIE)
    window.log_controller.save(named(tmp_path, "log.txt"))
    qtbot.waitUntil(lambda: not exporting.busy)
    assert failures == []
    written = {name.removeprefix(b"\xff<b>&").decode() for name in os.listdir(os.fsencode(tmp_path))}
    assert written >= {
        "result.npz", "result.mat", "table.csv", "shape.ply", "mesh.glb", "page.html",
        "view.png", "loss.pdf", "report.html", "movie_0001.png", "movie_0002.png", "log.txt",
    }  # fmt: skip
    assert load_result(named(tmp_path, "result.npz")).meta["source"] == str(path)
    assert r"\udcff&lt;b&gt;&amp;tracks" in named(tmp_path, "report.html").read_text(encoding="utf-8")
    exporting.save_result(named(tmp_path, "frames.pvd"))
    qtbot.waitUntil(lambda: bool(failures))
    assert "is no name that XML can hold" in failures[0]


def test_a_session_and_the_command_that_is_copied_have_it(qtbot, opened, tmp_path):
    window, path = opened
    window.export_controller.copy_recipe("command")
    line = QGuiApplication.clipboard().text()
    shown = line.replace("nrsfm solve", "printf %s", 1).split(" --")[0]
    assert subprocess.run(["sh", "-c", shown], capture_output=True, check=True).stdout == os.fsencode(path)
    session = named(tmp_path, "work.nrsfm")
    window.session_saver.save_to(session)
    qtbot.waitUntil(lambda: window.session_saver.file == session)
    assert window.windowTitle().startswith(r"\udcff<b>&work.nrsfm")
    assert read_session(session).sequences[0].sequence.source == path
    with qtbot.waitSignal(window.sequence_opening.shown):
        window.sequence_opening.open(session)
    assert window.session.sequence.source == path and len(window.session.runs) == 1
