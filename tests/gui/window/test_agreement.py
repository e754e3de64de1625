"""All that shows numbers of a run agrees at any moment: they are of one incumbent."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from patience import PATIENCE
from PyQt6.QtCore import QCoreApplication, QEventLoop
from PyQt6.QtWidgets import QLabel

from core import CameraModel, Settings, simulate
from core.foundation import DEPTHS, WNN
from nrsfm_gui.model.numbers import MINUS, NONE
from nrsfm_gui.scene.summaries import measure

MOMENTS = 200
LONGEST = 0.015  # seconds between two moments, at most
SEVERAL = Settings(rank=2, starts=4, objective="depths")  # of the rotations candidates are compared, too


def number(value, digits):
    return f"{value:.{digits}f}".replace("-", MINUS)


def headline(window):
    """Return the error, the reprojection error and the objective of the headline, as they are written."""
    lines = window.status_controller.headline.full_text.splitlines()
    if not lines:
        return NONE, NONE, NONE
    parts = lines[1].split(" · ")
    named = parts[-1].startswith(("log10 loss ", "energy "))
    loss = parts[-1].rpartition(" ")[2] if named else NONE
    return lines[0].split(" · ")[0], parts[1], loss


def numbers(window):
    """Return the same of the panel Numbers; of the loss its logarithm, with a digit more."""
    labels = [each for each in window.numbers_panel.findChildren(QLabel) if not each.isHidden()]
    texts = [each.text() for each in labels]
    error, pixels = (texts[texts.index(label) + 1] for label in ("mean 3-D error", "reprojection RMS"))
    error = error.split(" · ")[0]  # its part of the object is beside it
    if "energy" in texts:
        return error, pixels, texts[texts.index("energy") + 1]
    loss = texts[texts.index("loss") + 1]
    return error, pixels, loss.partition("(log10 ")[2].rstrip(")") or NONE


def row(window, run):
    """Return the same of the line of a run."""
    shown = next(each for each in window.sequences_panel.tree.open.runs if each.number == run)
    return shown.error, shown.reprojection, shown.loss


def curve_end(window, found):
    """Return the last value of the drawn curve of a run, None where nothing is drawn.

    Where the incumbent is of another stage than the axis, None is returned, too.
    """
    curves = window.loss_plot._curves
    curve = curves._curves[found.run]
    if curves.stage != curve.history.records[found.record].stage:
        return None
    values = curve.item.getData()[1] if curve.item.isVisible() else None
    return None if values is None or not len(values) else float(values[-1])


def disagreement(window):
    """Return what does not agree at this moment, "" where all does."""
    found, series = window.display.errors.incumbent, window.timeline.series
    said = headline(window)
    error, _, loss = said
    if found is None:
        return "" if numbers(window) == said == (NONE, NONE, NONE) else f"{said}, {numbers(window)}"
    known, listed, scene = numbers(window), row(window, found.run), window.scene_view._scene
    checks = {
        "headline and numbers": said[:2] == known[:2],
        "headline and row": said == listed,
        "headline and timeline": error == measure(series.per_point.mean(), series.unit),
        "caption and timeline": scene.ahead
        or scene.caption.startswith(
            f"frame {scene.frame + 1}: {measure(series.per_frame[scene.frame], series.unit)}"
        ),
    }
    end = curve_end(window, found)
    if loss == NONE:
        of_search = found.objective == DEPTHS  # whose energies are of coarse levels
        checks["no value"] = known[2] == NONE and (of_search or end is None)
    elif end is not None:
        checks["headline and curve"] = loss == number(end, 3)
        checks["numbers and curve"] = known[2] == number(end, 4)
    wrong = [name for name, agrees in checks.items() if not agrees]
    return f"{wrong}: {said}, {known}, {listed}, curve {end}, {scene.caption}" if wrong else ""


def pass_time(rng):
    """Serve events in pieces for a random time, some of them not at all."""
    until = time.perf_counter() + rng.uniform(0, LONGEST)
    while time.perf_counter() < until and rng.uniform() < 0.9:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, int(rng.integers(1, 8)))
        time.sleep(rng.uniform(0, LONGEST / 4))  # for the solver


@pytest.mark.slow
def test_all_that_shows_numbers_agrees_at_random_moments_of_a_run_and_of_one_that_is_steered(
    qtbot, make_window
):
    window = make_window(
        simulate("balloon", camera=CameraModel.ORTHOGONAL, frames=15, points=24), settings=SEVERAL
    )
    rng = np.random.default_rng(14)
    window.parameters_controller.run()
    moments, records, losses, objectives, steered = 0, set(), set(), set(), False
    ends = time.monotonic() + PATIENCE
    while (moments < MOMENTS or window.run_control.current is not None) and time.monotonic() < ends:
        pass_time(rng)
        assert disagreement(window) == ""
        moments += 1
        found = window.display.errors.incumbent
        records.add(found and (found.run, found.record))
        losses.add(found and found.value)
        objectives.add(found and (found.objective, found.value is None, curve_end(window, found) is None))
        if window.run_control.current is None and not steered:
            steered = True
            window.session.set_settings(replace(SEVERAL, isometry=0.6))
    qtbot.waitUntil(lambda: window.display.errors.incumbent.complete)
    assert disagreement(window) == ""
    assert moments >= MOMENTS and steered and window.display.errors.incumbent.run == 2
    assert len(records) > 4 and len(losses) > 2 and None in losses  # fewer where the machine is slow
    assert {(WNN, False, False), (DEPTHS, False, False)} <= objectives
