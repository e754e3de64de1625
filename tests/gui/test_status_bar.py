"""The status bar: what the solver does, the point under the mouse, the sequence, the memory."""

from __future__ import annotations

import numpy as np
from PyQt6.QtWidgets import QProgressBar

from core import simulate
from core.settings import Settings
from nrsfm_gui.habits import memory
from nrsfm_gui.state.runs import RunState
from nrsfm_gui.views.memory_label import MemoryLabel

QUICK = Settings(rank=2, rotations="companion", rotation_rank=2)


def test_memory_grows_by_what_is_taken():
    before = memory.resident_bytes()
    block = np.ones(16_000_000)  # 128 MB, written to
    after = memory.resident_bytes()
    assert 0.9 * block.nbytes < after - before < 1.3 * block.nbytes


def test_the_label_is_hidden_where_the_system_does_not_tell(qtbot, monkeypatch, tmp_path):
    label = MemoryLabel()
    qtbot.addWidget(label)
    label.show()
    label.refresh()
    assert label.text().endswith(" MB")
    assert 20 < int(label.text().split()[0]) < 8000
    monkeypatch.setattr(memory, "STATM", tmp_path / "absent")
    label.refresh()
    assert label.isHidden()


def test_the_bar_shows_solver_point_frame_and_sequence(qtbot, make_window):
    window = make_window(simulate("paper", frames=8, points=20, noise=0.3, seed=2), settings=QUICK)
    bar = window.statusBar()
    assert "8 frames" in window.chrome._facts.text()
    window.run()
    progress = bar.findChild(QProgressBar)
    assert progress.isVisible()
    qtbot.waitUntil(lambda: window.session.shown.state is RunState.FINISHED, timeout=30_000)
    qtbot.waitUntil(lambda: not progress.isVisible())
    assert "converged" in window.chrome._activity.whole
    window.navigation.go_to(4)
    qtbot.waitUntil(lambda: window.display.scene.frame == 4)
    window.presenter.show_hover(6)
    for part in ("frame 5", "point 7", "px", "mm"):
        assert part in window.chrome._hover.text()
    window.presenter.show_hover(-1)
    assert window.chrome._hover.text() == ""
