"""The window in all sizes and scales: nothing overlaps, no text is cut, the shape has most of the room.

Qt reads the scale when the application starts, so that each scale has a process of its own: it runs this
file, and writes what is wrong. Sizes are pixels of the screen, of which a scale leaves fewer to the window;
it is never smaller than its least size.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest
from hands import docks_rest, texts_of, visible_in
from programs import run_python

SIZES = (
    (800, 600), (1024, 768), (1280, 720), (1280, 800), (1366, 768), (1440, 900),
    (1600, 900), (1920, 1080), (2560, 1080), (2560, 1440), (3440, 1440), (3840, 2160),
)  # fmt: skip
LEAST_WIDTH = 0.5  # of the window that the 3-D view has


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_everything_fits_at_all_sizes(scale):
    path = os.pathsep.join(sys.path)
    environment = {**os.environ, "QT_SCALE_FACTOR": str(scale), "PYTHONWARNINGS": "error", "PYTHONPATH": path}
    made = run_python(__file__, env=environment)
    assert made.returncode == 0, made.stderr
    report = json.loads(made.stdout.splitlines()[-1])
    assert report["scale"] == scale and report["sizes"] == {1.0: 12, 1.5: 10, 2.0: 6}[scale]
    assert report["labels"] > 25 * report["sizes"]  # that were measured
    assert report["faults"] == []


def main():
    from PyQt6.QtTest import QTest

    from core import Settings, simulate
    from nrsfm_gui.app import make_application
    from nrsfm_gui.main_window import MainWindow
    from nrsfm_gui.model.app_store import AppStore
    from nrsfm_gui.model.arguments import SMALLEST_SIZE
    from nrsfm_gui.model.run import RunState
    from nrsfm_gui.model.theme import DARK

    application = make_application()
    with tempfile.TemporaryDirectory() as folder:
        store = AppStore(Path(folder) / "settings.json")
        window = MainWindow(store=store, software=True)
        session, scale = window.session, window.devicePixelRatioF()
        window.show()
        session.set_theme(DARK)
        session.set_live(False)
        session.set_settings(Settings(rank=2, rotations="companion", rotation_rank=2, objective="wnn"))
        window.sequence_opening.open_sequence(simulate("paper", frames=10, points=24, noise=0.3, seed=2))
        window.parameters_controller.run_from_scratch()
        while session.shown.state is not RunState.FINISHED:
            QTest.qWait(20)
        faults: list[str] = []
        labels = 0
        least_width, least_height = SMALLEST_SIZE
        # Where a scale leaves less than the least size, several are the same.
        sizes = {(max(round(w / scale), least_width), max(round(h / scale), least_height)) for w, h in SIZES}
        for width, height in sorted(sizes):
            window.resize(width, height)
            QTest.qWait(50)
            while not docks_rest(window):
                QTest.qWait(20)
            QTest.qWait(100)
            seen = visible_in(window)
            texts = list(texts_of(seen))
            for fault in (*overlaps(seen), *map(cut_text, texts), *misplaced(window)):
                if fault:
                    faults.append(f"{width}x{height}: {fault}")
            labels += len(texts)
        window.close()
    application.processEvents()
    report = {"scale": scale, "sizes": len(sizes), "labels": labels, "faults": faults}
    sys.stdout.write(f"{json.dumps(report)}\n")


def described(widget):
    name = widget.objectName() or widget.accessibleName() or getattr(widget, "text", str)()
    return f"{type(widget).__name__} “{name}” in {type(widget.parentWidget()).__name__}"


def cut_text(measured):
    """Return what is wrong with a text that has less room than it needs, else ""."""
    widget, text, needed, room = measured
    return f"{described(widget)}: “{text}” needs {needed} px and has {room}" if room < needed else ""


def overlaps(seen):
    """Return which widgets beside each other share pixels; messages and layers over views are meant to."""
    from PyQt6.QtCore import Qt

    from nrsfm_gui.widgets.banners import Banners

    children: dict = {}
    for widget in seen:
        layer = widget.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        if not layer and not isinstance(widget, Banners):
            children.setdefault(widget.parentWidget(), []).append(widget)
    for siblings in children.values():
        for one, two in itertools.combinations(siblings, 2):
            if one.geometry().intersects(two.geometry()):
                yield f"{described(one)} overlaps {described(two)}"


def misplaced(window):
    """Return which docks are outside, and whether the shape has less room than another panel."""
    from nrsfm_gui.shell.layout import docks, is_in_front

    view = window.scene_view
    if view.width() < LEAST_WIDTH * window.width():
        yield f"the 3-D view has {view.width()} of {window.width()} px"
    for dock in docks(window):
        if is_in_front(dock):
            if not window.rect().contains(dock.geometry()):
                yield f"{described(dock)} is outside"
            if dock.width() * dock.height() > view.width() * view.height():
                yield f"{described(dock)} is larger than the 3-D view"


if __name__ == "__main__":
    main()
