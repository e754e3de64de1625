"""All that shows numbers agrees at any moment of a session, and with the shape that is shown."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from patience import PATIENCE
from PyQt6.QtCore import QCoreApplication, QEventLoop
from PyQt6.QtWidgets import QLabel

from core import CameraModel, Settings, procrustes_mm, simulate
from core.foundation import DEPTHS, WNN, relative_distance
from nrsfm_gui.model.numbers import MINUS, NONE
from nrsfm_gui.model.run import RunState
from nrsfm_gui.model.run_names import run_name
from nrsfm_gui.scene.summaries import iterations, measure, percent_of, seconds

MOMENTS = 200
LONGEST = 0.015  # seconds between two moments, at most
LONGEST_PAUSE = 0.1  # seconds between two moments of a session that is steered, at most
SEVERAL = Settings(rank=2, starts=4, objective="depths")  # of the rotations candidates are compared, too


def number(value, digits):
    return f"{value:.{digits}f}".replace("-", MINUS)


def headline(window):
    """Return the error, the reprojection error and the objective of the headline, as they are written."""
    lines = window.status_controller.headline.full_text.splitlines()
    if not lines:
        return NONE, NONE, NONE
    parts = [part for part in lines[1].split(" · ") if not part.startswith("iteration ")]
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


def recomputed(iterate, sequence):
    """Return error, reprojection error and loss of the shape of an iterate, from nothing but its arrays."""
    shape = iterate.geometry
    error = min(procrustes_mm(sign * shape.points, sequence.truth).mean for sign in (1, -1))
    seen = shape.rotations @ shape.points + shape.translations[:, :, None]
    K = shape.intrinsics
    reprojected = K[:2, :2] @ seen[:, :2] + K[:2, 2:]
    away = np.linalg.norm(reprojected - sequence.tracks, axis=1)[sequence.visible]
    away[away < 1e-6] = 0.0  # it is rounding
    if iterate.energy is not None:  # of the last level, which the search reaches at its end
        final = number(iterate.energy, 3)
    else:
        loss = iterate.best.problem.loss(iterate.best.factors)
        final = NONE if iterate.final_loss is None else number(np.log10(loss), 3)
    return (
        measure(error, sequence.truth_units),
        measure(np.sqrt(np.mean(away**2)), sequence.units),
        final,
    )


def disagreement_with_shape(window):
    """Return what at this moment is not of the shape that is shown, "" where all is."""
    found = window.display.errors.incumbent
    if found is None:
        return ""
    session = window.session
    run = next((each for each in session.runs if each.number == found.run), None)
    if run is None or found.errors is None:
        return ""  # it was just forgotten
    expected, said = recomputed(found.iterate, run.sequence), headline(window)
    wrong = [] if said == expected or (said[:2] == expected[:2] and said[2] == NONE) else [f"headline {said}"]
    if numbers(window)[:2] != expected[:2]:
        wrong.append(f"numbers {numbers(window)}")
    scene = window.scene_view._scene
    if not scene.ahead and not np.isnan(scene.errors).any():
        drawn = np.linalg.norm(scene.estimate - scene.truth, axis=1).mean()
        if not scene.caption.startswith(f"frame {scene.frame + 1}: {measure(drawn, scene.error_unit)}"):
            wrong.append(f"caption {scene.caption}, drawn {drawn}")
    return f"{wrong}, recomputed {expected}" if wrong else ""


def disagreement_at_rest(window):
    """Return what does not agree with the shapes of all runs while nothing is under way."""
    session, wrong = window.session, []
    for run in session.runs:
        listed = next(each for each in window.sequences_panel.tree.open.runs if each.number == run.number)
        if listed.name != run_name(run.settings):
            wrong.append(f"name {listed.name}")
        of = session.seen if run is session.shown and session.moment is None else run.last
        error, pixels, value = recomputed(of, run.sequence)
        searched = of.energy is not None and listed.loss == NONE  # it was stopped on a coarse level
        if (listed.error, listed.reprojection, listed.loss) != (error, pixels, NONE if searched else value):
            wrong.append(f"row {listed}, recomputed {recomputed(of, run.sequence)}")
    run, status = session.shown, window.status_controller.line.full_text
    record = run.history.records[-1]
    if session.moment is None and f"{iterations(record)} iteration" not in status:
        wrong.append(f"status {status}")
    if session.moment is None and not status.endswith(f" in {seconds(record)}"):
        wrong.append(f"status {status}")
    if session.compared is not None:
        one, two = session.seen.geometry.points, session.seen_compared.geometry.points
        apart = min(relative_distance(sign * two, one) for sign in (1, -1))
        words = window.compare_panel._summary.full_text
        if not words.startswith(f"{percent_of(apart, 1.0)} of the object apart · mean distance "):
            wrong.append(f"compare {words}, recomputed {apart}")
    return "; ".join(wrong)


def disagreement(window, *, curve=True):
    """Return what does not agree at this moment, "" where all does; with the drawn `curve` or without."""
    found, series = window.display.errors.incumbent, window.timeline.series
    said = headline(window)
    error, _, loss = said
    if found is None:
        return "" if numbers(window) == said == (NONE, NONE, NONE) else f"{said}, {numbers(window)}"
    known, listed, scene = numbers(window), row(window, found.run), window.scene_view._scene
    checks = {
        "headline and numbers": said[:2] == known[:2],
        "headline and row": said == listed or not found.newest,  # the row of a run has its end
        "headline and timeline": error == measure(series.per_point.mean(), series.unit),
        "caption and timeline": scene.ahead
        or scene.caption.startswith(
            f"frame {scene.frame + 1}: {measure(series.per_frame[scene.frame], series.unit)}"
        ),
    }
    end = curve_end(window, found)
    if not curve:
        pass
    elif loss == NONE:
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


def act(window, rng):
    """Do something that a user may do at any moment of a session."""
    session, runs = window.session, window.session.runs
    what = rng.integers(9)
    if what == 0 and len(runs) < 6:
        window.parameters_controller.run()
    elif what in (1, 2):  # a drag: several changes in quick succession
        for _ in range(3):
            eta = round(float(rng.uniform(0.02, 0.5)), 3)
            session.set_settings(session.settings.with_changes(isometry=round(1.0 + eta, 3), rank=2))
            pass_time(rng)
    elif what == 3 and window.run_control.current is not None:
        window.run_control.cancel()
    elif what == 4:
        window.runs_controller.show(runs[rng.integers(len(runs))].number)
    elif what == 5:
        session.undo() if rng.uniform() < 0.7 else session.redo()
    elif what == 6 and session.shown is not None and len(session.shown.history):
        count = len(session.shown.history)
        session.set_moment(None if rng.uniform() < 0.5 else int(rng.integers(count)))
    elif what == 7:
        window.compare_controller.toggle()
    elif what == 8:
        session.set_frame(int(rng.integers(session.sequence.frame_count)))


def come_to_rest(qtbot, window):
    """Wait until no run is under way and all that is shown is up to date."""
    session = window.session
    qtbot.waitUntil(lambda: window.run_control.current is None and not window.run_control._threads)
    session.set_moment(None)
    window.display.refresh()

    def known():
        rows = window.sequences_panel.tree.open.runs
        found = window.display.errors.incumbent
        fresh = found is None or found.iterate is session.seen
        return fresh and len(rows) == len(session.runs) and all(each.error != NONE for each in rows)

    qtbot.waitUntil(known)
    if session.compared is not None:
        qtbot.waitUntil(lambda: "apart" in window.compare_panel._summary.full_text)
    window.session.notifier.show_status("")
    window.display.refresh()
    window.status_controller.flush()
    qtbot.waitUntil(lambda: not disagreement_at_rest(window))  # the errors of other runs come one by one


@pytest.mark.parametrize(
    ("moments", "seed"),
    [
        (40, 3),
        pytest.param(MOMENTS, 1, marks=pytest.mark.slow),
        pytest.param(MOMENTS, 2, marks=pytest.mark.slow),
    ],
)
def test_every_number_on_the_screen_is_of_the_shown_shape_at_random_moments_of_a_session(
    qtbot, make_window, tmp_path, moments, seed
):
    sequence = simulate("balloon", camera=CameraModel.ORTHOGONAL, frames=9, points=16)
    settings = SEVERAL.with_changes(starts=1)
    window = make_window(sequence, settings=settings)
    rng = np.random.default_rng(seed)
    window.parameters_controller.run()
    states, checked = set(), 0
    for moment in range(moments):
        act(window, rng)
        until = time.perf_counter() + rng.uniform(0, LONGEST_PAUSE)
        while time.perf_counter() < until:
            pass_time(rng)
        assert disagreement(window, curve=False) == ""  # it goes on beyond an earlier moment
        assert disagreement_with_shape(window) == ""
        checked += window.display.errors.incumbent is not None
        states.add(window.run_control.current is None)
        if moment % (moments // 2) == moments // 2 - 1:  # what is saved is the same when it is opened
            come_to_rest(qtbot, window)
            assert disagreement_at_rest(window) == "" and disagreement_with_shape(window) == ""
            before = [row(window, run.number)[:2] for run in window.session.runs], headline(window)[:2]
            path = tmp_path / f"{moment}.nrsfm"
            window.session_saver.save_to(path)
            qtbot.waitUntil(lambda saver=window.session_saver: not saver.busy)
            window.close()
            window = make_window()
            with qtbot.waitSignal(window.sequence_opening.shown):
                window.sequence_opening.open(path)
            come_to_rest(qtbot, window)
            assert (
                [row(window, run.number)[:2] for run in window.session.runs],
                headline(window)[:2],
            ) == before
            assert disagreement_at_rest(window) == "" and disagreement_with_shape(window) == ""
    assert False in states and checked > moments / 2  # some of them while a run was under way
    assert all(run.state in (RunState.FINISHED, RunState.STOPPED) for run in window.session.runs)
