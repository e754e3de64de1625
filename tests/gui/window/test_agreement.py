"""All that shows numbers agrees at any moment of a session, and with the shape that is shown."""

import time
from dataclasses import dataclass
from shutil import copy

import numpy as np
import pytest
from PyQt6.QtCore import QCoreApplication, QEventLoop
from PyQt6.QtWidgets import QLabel

from core import CameraModel, Settings, iterate, procrustes_mm, simulate
from core.foundation import DEPTHS, WNN, PhaseKind, procrustes, relative_distance
from nrsfm_gui.model.names import run_name
from nrsfm_gui.model.numbers import MINUS, NONE
from nrsfm_gui.model.run import RunState
from nrsfm_gui.scene.summaries import iterations, measure, objective_value, percent_of, seconds
from nrsfm_gui.sessions.autosave import PREFIX

MOMENTS = 200
LONGEST = 0.015  # seconds of a piece of a pause, at most
LONGEST_PAUSE = 0.1  # seconds between two moments, at most
REST = 9  # what is done to come to rest
ROUNDING = 1e-6  # of a value that is computed again
SEVERAL = Settings(rank=2, starts=4, objective="depths")  # of the rotations candidates are compared, too
BRIEF = SEVERAL.with_changes(starts=1, rotations="truth")


def headline(window):
    """Return the error, the reprojection error and the objective of the headline, as they are written."""
    lines = window.status_controller.headline.full_text.splitlines()
    if not lines:
        return NONE, NONE, NONE
    parts = lines[1].split(" · ")
    named = parts[-1].startswith(("log10 loss ", "energy "))
    loss = parts.pop().rpartition(" ")[2] if named else NONE
    return lines[0].split(" · ")[0], parts[-1], loss


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
    shown = next(each for each in window.sequences_panel.tree.open.runs if each.number == run)
    return shown.error, shown.reprojection, shown.loss


def agrees(text, value, digits):
    """Return whether a text is a value with so many digits, or the dash of none."""
    if value is None or text == NONE:
        return value is None and text == NONE
    return abs(float(text.replace(MINUS, "-")) - value) <= 0.5 * 10.0**-digits + ROUNDING


@dataclass(frozen=True)
class Recomputed:
    """Error, reprojection error and value of the objective of a shape, from nothing but its arrays."""

    error: str
    pixels: str
    value: float | None  # a base-10 logarithm of a loss, or an energy

    @classmethod
    def of(cls, iterate, run, energies):
        """Recompute the numbers of an iterate; `energies` are the objectives of runs that a file has."""
        sequence, shape = run.sequence, iterate.geometry
        error = min(procrustes_mm(sign * shape.points, sequence.truth).mean for sign in (1, -1))
        seen = shape.rotations @ shape.points + shape.translations[:, :, None]
        K = shape.intrinsics
        reprojected = K[:2, :2] @ seen[:, :2] + K[:2, 2:]
        away = np.linalg.norm(reprojected - sequence.tracks, axis=1)[sequence.visible]
        away[away < 1e-6] = 0.0  # it is rounding
        pixels = measure(np.sqrt(np.mean(away**2)), sequence.units)
        return cls(measure(error, sequence.truth_units), pixels, objective_of(iterate, run, energies))

    def fits(self, said, digits=3):
        """Return whether texts of error, reprojection error and value say the same."""
        return said[:2] == (self.error, self.pixels) and agrees(said[2], self.value, digits)


def objective_of(iterate, run, energies):
    """Return the value of what a run minimizes at the shape of an iterate, None while it searches."""
    if iterate.record.energy is None:
        loss = iterate.best.problem.loss(iterate.best.factors)
        return None if iterate.final_loss is None else float(np.log10(loss))
    objective = iterate.depth and iterate.depth.objective
    if objective is None and iterate.log is None:  # it was read from a file
        objective = energies.get(run.number)
    if objective is None or iterate.earlier is not None:  # which is shown until the search has ended
        return None
    value, _ = objective.value_and_gradient(objective.start(iterate.depth.best))
    return value / objective.problem.visible.size


def curve_disagreement(window, found, value):
    """Return what of the drawn curve is not the value of the shown shape; None where its axis is another."""
    curves = window.loss_plot._curves
    curve, item = curves._curves[found.run], curves._curves[found.run].item
    record = curve.history.records[found.record]
    *_, stage, _changes = curve.drawn
    if stage != curve.history.stage_of(found.record):
        return None
    x, y = item.getData() if item.isVisible() else (None, None)
    x, y = (np.zeros(0) if each is None else each for each in (x, y))
    ends_here = found.newest and curves._state.shown == found.run
    if not ends_here and not curve.history.settled[found.record]:  # its parameters were passed on the way
        return None
    if ends_here and len(x) and x[-1] > record.seconds + ROUNDING:
        return f"curve ends at {x[-1]} s, shown is {record.seconds} s"
    if value is None:  # the energies of a search are of coarse levels
        return "curve without a value" if found.objective == WNN and ends_here and len(x) else ""
    until = int(np.searchsorted(x, record.seconds + ROUNDING))
    first = int(np.searchsorted(x, record.seconds - ROUNDING))  # several records have the time of a change
    drawn = y[until - 1 : until] if ends_here else y[max(min(first, until - 1), 0) : until]
    return "" if (np.abs(drawn - value) <= ROUNDING).any() else f"curve at {drawn}"


def disagreement_with_shape(window, energies):
    """Return what is not of the shape that is shown, "" where all is, and what was compared."""
    found, session = window.display.errors.incumbent, window.session
    run = None if found is None else next((each for each in session.runs if each.number == found.run), None)
    if run is None or found.errors is None:
        return "", None  # it was just forgotten
    expected = Recomputed.of(found.iterate, run, energies)
    on_curve = curve_disagreement(window, found, expected.value)
    wrong = [on_curve] if on_curve else []
    if not expected.fits(headline(window)):
        wrong.append(f"headline {headline(window)}")
    if not expected.fits(numbers(window), 4):
        wrong.append(f"numbers {numbers(window)}")
    if found.newest and not expected.fits(row(window, found.run)):
        wrong.append(f"row {row(window, found.run)}")
    scene, series = window.scene_view._scene, window.timeline.state.series
    if measure(series.per_point.mean(), series.unit) != expected.error:
        wrong.append(f"timeline {series.per_point.mean()}")
    if not scene.ahead and not np.isnan(scene.errors).any():
        drawn = np.linalg.norm(scene.estimate - scene.truth, axis=1).mean()
        if not scene.caption.startswith(f"frame {scene.frame + 1}: {measure(drawn, scene.shapes.unit)}"):
            wrong.append(f"caption {scene.caption}, drawn {drawn}")
        if not np.isclose(series.per_frame[scene.frame], drawn):
            wrong.append(f"timeline {series.per_frame[scene.frame]}, drawn {drawn}")
    place = f"{run.state} {run.history.records[found.record].phase} of run {run.number}"
    said = f"{wrong}, recomputed {expected}, {place}" if wrong else ""
    return said, (found.objective, expected.value is not None, on_curve is not None)


def disagreement_at_rest(window, energies):
    """Return what does not agree with the shapes of all runs while nothing is under way."""
    session, wrong = window.session, []
    for run in session.runs:
        listed = next(each for each in window.sequences_panel.tree.open.runs if each.number == run.number)
        if listed.name != run_name(run.settings):
            wrong.append(f"name {listed.name}")
        said = listed.error, listed.reprojection, listed.loss
        expected = None if run.last is None else Recomputed.of(run.last, run, energies)
        if not (said == (NONE, NONE, NONE) if expected is None else expected.fits(said)):
            wrong.append(f"row {listed}, recomputed {expected}")
    run, status = session.shown, window.status_controller.line.full_text
    record = run.history.records[-1] if len(run.history) else None  # it was stopped before the first
    spent = f"{iterations(record)} iteration", f" in {seconds(record)}"
    if record and not (spent[0] in status and status.endswith(spent[1])):
        wrong.append(f"status {status}")
    if session.compared is not None:
        wrong += compare_disagreements(window, energies)
    return "; ".join(wrong)


def laid_over_truth(points, sequence):
    """Return shapes over the ground truth, by a similarity per frame, mirrored where that is nearer."""
    sign = min((1, -1), key=lambda sign: procrustes_mm(sign * points, sequence.truth).mean)
    return procrustes(sign * points, sequence.truth.points).apply(sign * points)


def compare_disagreements(window, energies):
    """Return what Compare shows otherwise than both shapes have it."""
    session, wrong = window.session, []
    shown = (session.shown, session.seen), (session.compared, session.seen_compared)
    one, two = (laid_over_truth(iterate.geometry.points, run.sequence) for run, iterate in shown)
    apart = min(relative_distance(sign * two, one) for sign in (1, -1))
    words = window.compare_panel.summary.full_text
    if not words.startswith(f"{percent_of(apart, 1.0)} of the object apart · mean distance "):
        wrong.append(f"compare {words}, recomputed {apart}")
    table = window.compare_controller._stage.table._rows
    rows = {each.name: (each.first, each.second) for each in table if each.number}
    values = next(rows[name] for name in ("minimized value", "log10 loss", "energy") if name in rows)
    for place, (run, seen) in enumerate(shown):
        expected = Recomputed.of(seen, run, energies)
        said = rows["3-D error"][place].split(" · ")[0], rows["reprojection"][place]
        if not expected.fits((*said, values[place].rpartition(" ")[2]), 4):
            wrong.append(f"compare {said}, {values[place]}, recomputed {expected}")
    return wrong


def pass_time(rng):
    """Serve events in pieces for a random time, some of them not at all."""
    until = time.perf_counter() + rng.uniform(0, LONGEST)
    while time.perf_counter() < until and rng.uniform() < 0.9:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, int(rng.integers(1, 8)))
        time.sleep(rng.uniform(0, LONGEST / 4))  # for the solver


def act(window, what, rng, qtbot):
    """Do something that a user may do at any moment of a session."""
    session, runs = window.session, window.session.runs
    if what == 0 and len(runs) < 16:
        objective = (DEPTHS, WNN)[len(runs) % 2]
        session.set_settings(session.settings.with_changes(objective=objective))
        window.parameters_controller.run()
    elif what in (1, 2):  # a drag: several changes in quick succession
        for _ in range(3):
            name = "eta" if session.settings.objective == WNN else "isometry"
            session.set_settings(session.settings.with_changes(**{name: round(rng.uniform(0.02, 0.5), 3)}))
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
    elif what == REST:
        come_to_rest(qtbot, window)


def come_to_rest(qtbot, window):
    """Wait until no run is under way and all that is shown is up to date."""
    session, errors = window.session, window.display.errors
    qtbot.waitUntil(lambda: window.run_control.current is None and not window.run_control._threads)
    session.set_moment(None)

    def known():
        window.display.refresh()
        begun = [run for run in session.runs if run.last is not None]  # one that was stopped at once has none
        found = [errors.of_run(run, exact=True) for run in begun]
        rows = [row(window, run.number) for run in begun]
        return None not in found and rows == [texts_of(each, session.sequence) for each in found]

    qtbot.waitUntil(known)
    if session.compared is not None:
        qtbot.waitUntil(lambda: "apart" in window.compare_panel.summary.full_text)
    session.notifier.show_status("")
    window.display.refresh()
    window.status_controller.flush()


def texts_of(found, sequence):
    """Return error, reprojection error and value of an incumbent, as the line of its run has them."""
    value, errors = objective_value(found.value, found.objective, digits=3), found.errors
    return measure(errors.error, errors.unit), measure(errors.reprojection, sequence.units), value


def reopen(qtbot, window, path, *, lost):
    """Open a session; a `lost` one is recovered from what a killed process leaves."""
    saver, opening = window.session_saver, window.sequence_opening
    if not lost:
        with qtbot.waitSignal(opening.shown):
            opening.open(path)
        return
    saver.folder.mkdir(parents=True, exist_ok=True)
    copy(path, saver.folder / f"{PREFIX}999999999-0.nrsfm")
    saver.begin(scripted=False)
    with qtbot.waitSignal(opening.opened):
        saver.recovery.bar.buttons["Recover"].click()


def test_every_number_is_of_the_shown_shape_while_a_continued_run_searches_for_its_own(qtbot, make_window):
    sequence = simulate("balloon", camera=CameraModel.ORTHOGONAL, frames=9, points=16)
    window = make_window(sequence, settings=BRIEF)
    *_, before = iterate(sequence, BRIEF)
    still = []
    for changes in ({"rank": 1}, {"seed": 1}):  # another bilinear solution, and the same
        settings, steps = BRIEF.with_changes(**changes), []
        for step in iterate(sequence, settings, start=before):
            steps.append(step)
            if step.phase.kind in [each.phase.kind for each in steps[:-1]]:
                continue
            run = window.session.add_run(settings)
            run.last, run.state = step, RunState.STOPPED
            run.history.extend(each.record for each in steps)
            window.session.report_run(run)
            come_to_rest(qtbot, window)
            assert disagreement_with_shape(window, {})[0] == disagreement_at_rest(window, {}) == ""
            text = window.status_controller.headline.full_text
            still.append((step.phase.kind, "\nstill the shape of the run before · " in text))
            if step.phase.kind is PhaseKind.ALL_POINTS:
                break
    kinds = PhaseKind.REFINE, PhaseKind.DEPTH_START, PhaseKind.ALL_POINTS
    assert still == [*zip(kinds, (False, False, True), strict=True), *((kind, True) for kind in kinds)]


@pytest.mark.parametrize(
    ("moments", "seed"),
    [
        (6, 27),
        pytest.param(60, 3, marks=pytest.mark.slow),
        *(pytest.param(MOMENTS, seed, marks=(pytest.mark.slow, pytest.mark.kernels)) for seed in (1, 2, 4)),
    ],
)
def test_every_number_on_the_screen_is_of_the_shown_shape_at_random_moments_of_a_session(
    qtbot, make_window, tmp_path, saved_to, moments, seed
):
    sequence = simulate("balloon", camera=CameraModel.ORTHOGONAL, frames=9, points=16)
    window = make_window(sequence, settings=BRIEF if moments < 10 else SEVERAL.with_changes(starts=1))
    rng, energies = np.random.default_rng(seed), {}
    actions = rng.integers(REST + 1, size=moments)  # at once: what else is drawn depends on time
    window.parameters_controller.run()
    states, compared = set(), []
    for moment in range(moments):
        act(window, actions[moment], rng, qtbot)
        rests = actions[moment] == REST
        until = time.perf_counter() + rng.uniform(0, 0 if rests else LONGEST_PAUSE)
        while time.perf_counter() < until:
            pass_time(rng)
        wrong, of = disagreement_with_shape(window, energies)
        assert wrong == ""
        assert not rests or disagreement_at_rest(window, energies) == ""
        compared.append(of)
        states.add("rest" if rests else "under way" if window.run_control.current else "over")
        if moment % (moments // 2) == moments // 2 - 1:  # what is saved is the same when it is opened
            come_to_rest(qtbot, window)
            assert disagreement_at_rest(window, energies) == ""
            before = [row(window, run.number) for run in window.session.runs], headline(window)
            depths = {run.number: run.last.depth for run in window.session.runs if run.last is not None}
            energies |= {n: each.objective for n, each in depths.items() if each and each.objective}
            path = saved_to(window, tmp_path / f"{moment}.nrsfm")
            window.close()
            window = make_window()
            reopen(qtbot, window, path, lost=moment < moments // 2)
            come_to_rest(qtbot, window)
            after = [row(window, run.number) for run in window.session.runs], headline(window)
            assert after == before
            assert disagreement_at_rest(window, energies) == ""
            wrong, of = disagreement_with_shape(window, energies)
            assert wrong == ""
            compared.append(of)
    assert {"rest", "under way"} <= states and sum(of is not None for of in compared) > moments / 5
    kinds = {of[:2] for of in compared if of}
    often = {(WNN, True), (DEPTHS, True)}  # objectives, and whether they have a value
    assert often <= kinds if moments == MOMENTS else often & kinds
    assert (DEPTHS, True, True) in compared or moments < MOMENTS  # with the curve
    assert all(run.state in (RunState.FINISHED, RunState.STOPPED) for run in window.session.runs)
