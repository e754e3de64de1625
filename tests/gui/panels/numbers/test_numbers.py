"""The numbers of the run and of the points that are shown."""

from dataclasses import replace

import pytest
from PyQt6.QtWidgets import QLabel

from core import HistoryEntry, Settings, simulate
from core.foundation import Phase, PhaseKind
from core.reconstruction import Verdict
from nrsfm_gui.model.numbers import MINUS
from nrsfm_gui.panels.numbers.numbers_panel import NumbersController, NumbersPanel
from nrsfm_gui.scene.summaries import relative_measure


@pytest.fixture
def numbers(show, session, undrawn_display):
    panel = show(NumbersPanel(), 300, 400)
    controller = NumbersController(session, undrawn_display, panel)
    yield panel
    controller.shut_down()


def texts(numbers):
    return [label.text() for label in numbers.findChildren(QLabel) if label.isVisibleTo(numbers)]


def test_numbers_show_whether_the_run_was_made_with_the_parameters_of_the_panel(
    qtbot, session, undrawn_display, numbers, add_three_runs
):
    add_three_runs(session)
    undrawn_display.refresh()

    def reported():
        return next(text for text in texts(numbers) if "of the panel" in text)

    qtbot.waitUntil(lambda: reported() == "those of the panel")
    session.set_settings(session.settings.with_changes(rank=4, eta=0.1))
    qtbot.waitUntil(lambda: reported() == "not those of the panel: rank, eta")
    session.set_settings(session.shown.settings)
    qtbot.waitUntil(lambda: reported() == "those of the panel")


def test_the_numbers_of_several_points_are_their_mean_and_their_worst(
    qtbot, session, undrawn_display, numbers, add_run, known, make_iterate
):
    session.set_sequence(known.sequence)
    add_run(session, make_iterate(known, noise=0.02), Settings(rank=3))
    session.set_frame(5)
    session.set_selection((2, 9, 14))
    undrawn_display.refresh()
    scene = undrawn_display.scene
    qtbot.waitUntil(lambda: "3 points, frame 6" in texts(numbers))
    errors = scene.errors[[2, 9, 14]]
    assert relative_measure(errors.mean(), "mm", scene.shapes.size, short=True) in texts(numbers)
    assert any(text.endswith(f"(point {(2, 9, 14)[int(errors.argmax())] + 1})") for text in texts(numbers))
    session.set_point(2)
    undrawn_display.refresh()
    qtbot.waitUntil(lambda: "Point 3, frame 6" in texts(numbers))


@pytest.mark.slow
def test_the_numbers_of_a_refined_run_have_its_energy_its_noise_and_what_may_be_wrong(
    qtbot, session, undrawn_display, numbers, add_solved_run
):
    sequence = simulate("paper", frames=8, points=16, noise=0.3, seed=2)
    quick = Settings(rank=2, starts=1, rotations="truth", noise=0.25)
    run = add_solved_run(session, sequence, quick)
    verdict = Verdict("mirrored", "Frames 3-5 may be mirrored.", (2, 4), "mirror")
    run.last = replace(run.last, verdicts=(verdict,))
    session.report_run(run)
    undrawn_display.refresh()
    qtbot.waitUntil(lambda: "energy" in texts(numbers))
    assert f"{MINUS}{-run.last.record.energy:.4f}" in texts(numbers) and "0.250 px" in texts(numbers)
    assert verdict.sentence in texts(numbers)
    run.last = run.snapshots.at(0)[1]
    session.report_run(run)
    qtbot.waitUntil(lambda: "energy" not in texts(numbers))


@pytest.mark.parametrize(("method", "named"), [("bmm", True), ("bilinear", False)])
def test_a_loss_below_that_of_the_result_is_named_where_only_the_result_counts(
    qtbot, session, undrawn_display, numbers, add_run, known, make_iterate, method, named
):
    session.set_sequence(known.sequence)
    run = add_run(session, make_iterate(known, noise=0.01), Settings(rank=2, method=method))
    loss = run.last.best.loss
    for number, best in ((9, 0.5 * loss), (10, loss)):
        phase = Phase(PhaseKind.MATRIX, name="BMM")
        run.history.extend([HistoryEntry(number, 0.1 * number, loss, phase, best=best)])
    session.report_run(run)
    undrawn_display.refresh()
    qtbot.waitUntil(lambda: any(text.startswith(f"{loss:.4g} (log10") for text in texts(numbers)))
    assert ("lowest on the way" in texts(numbers)) is named
    assert any(text.startswith(f"{0.5 * loss:.4g} (log10") for text in texts(numbers)) is named
